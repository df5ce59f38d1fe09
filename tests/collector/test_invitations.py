"""Invitations: one code is one submission, retries included, and the collector learns no code."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import krand
from chaos import files_in, quick_folder
from command_line import done
from components import require
from parties import Recorder
from rounds import ACCEPTED, KNOWN, OCTETS, Collector, Round

require("starlette")
require("uvicorn")

COUNT = 40


@dataclass(frozen=True)
class Invited:
    """A round to which people are invited, and their codes."""

    round: Round
    codes: list[str]

    @property
    def file(self) -> Path:
        """What the collector knows of them."""
        return self.round.party.at / "invitations" / f"{self.round.plan.hash}.json"

    def submit(self, url: str, code: str, **given: Any) -> None:
        """The person who has this code answers."""
        self.round.chain.device(url, **given).submit({"fair": True}, invitation=code)

    def body(self, code: str) -> bytes:
        """What a device of whoever has this code sends."""
        sent = Recorder(self.round.plan, 1, self.round.chain.signatures)
        self.submit(Recorder.url, code, transport=sent)
        return sent.body


@pytest.fixture
def invited() -> Iterator[Invited]:
    with quick_folder() as folder:
        round = Round.begun(folder, invitations=True)
        round.public.mkdir(mode=0o700, parents=True, exist_ok=True)
        (round.public / "plan.json").write_bytes(round.plan.bytes)
        yield Invited(round, new_codes(round, COUNT))


def new_codes(round: Round, count: int) -> list[str]:
    """So many more people are invited."""
    links = round.at / f"links-{count}.csv"
    plan = round.public / "plan.json"
    done("invite", plan, f"--count {count} --url https://form.example/ -o", links)
    assert links.stat().st_mode & 0o077 == 0
    with links.open(encoding="utf-8", newline="") as stream:
        return [row["link"].partition("#")[2] for row in csv.DictReader(stream)]


def test_one_code_is_one_submission(invited: Invited) -> None:
    """On any device; a guessed code is refused, however it comes, and stores nothing."""
    first, second, *_ = invited.codes
    with invited.round.served() as collector:
        invited.submit(collector.url, first)
        with pytest.raises(krand.UsedInvitation):
            invited.submit(collector.url, first)
        body = invited.body(second)
        guess = body[:3] + os.urandom(16) + body[19:]
        for kind in ("application/octet-stream", "application/octet-stream; a=b"):
            way, headers = collector.way_in, {"Content-Type": kind}
            assert collector.ask("POST", way, guess, headers).said == (403, "invitation")
        assert [collector.post(body), collector.post(body)] == [ACCEPTED, KNOWN]
        sent = [collector.post(invited.body(code)) for code in invited.codes[2:12]]
        assert sent == [ACCEPTED] * 10
        assert invited.round.close(erase=True)["people"] == 12


def asked(collector: Collector, name: bytes) -> str:
    """What is told about whoever would submit under this id."""
    headers = {"Content-Type": "application/octet-stream"}
    answer = collector.ask("POST", f"{collector.root}/invitation", name, headers)
    return answer.said[1]


def test_a_code_can_be_asked_about_but_not_when_it_was_used(invited: Invited) -> None:
    """A stranger's is unknown; nobody's counts as used before 32 people have come."""
    bodies = [invited.body(code) for code in invited.codes[:32]]
    with invited.round.served() as collector:
        assert asked(collector, os.urandom(16)) == "unknown"
        assert asked(collector, bodies[0][3:18]) == "body"
        for body in bodies[:31]:
            assert asked(collector, body[3:19]) == "unused"
            assert collector.post(body) == ACCEPTED
            assert asked(collector, body[3:19]) == "unused"
        assert asked(collector, bodies[31][3:19]) == "unused"


def test_neither_file_nor_folder_tells_codes_or_who_used_them(invited: Invited) -> None:
    """The collector's file has digests alone; its folder has other ones of whoever came."""
    bodies = [invited.body(code) for code in invited.codes]
    with invited.round.served() as collector:
        for body in bodies:
            collector.post(body)
    file, spool = (
        invited.file.read_bytes(),
        b"\0".join(files_in(invited.round.party.at / "rounds").values()),
    )
    for code, body in zip(invited.codes, bodies, strict=True):
        assert code.encode() not in file + spool
        assert body[3:19] not in spool
        assert body[3:19].hex().encode() not in file + spool
    (digests,) = json.loads(file)["rounds"]
    assert len({*digests}) == COUNT
    assert digests == sorted(digests), "their order does not tell whose they are"
    for digest in digests:
        assert bytes.fromhex(digest) not in spool
        assert digest.encode() not in spool
    assert invited.file.stat().st_mode & 0o077 == 0


def test_whoever_is_invited_while_people_answer_is_let_in(invited: Invited) -> None:
    with invited.round.served() as collector:
        assert collector.post(invited.body(invited.codes[0])) == ACCEPTED
        (code,) = new_codes(invited.round, 1)
        assert collector.post(invited.body(code)) == ACCEPTED


def test_without_invitations_nobody_is_asked_for_one() -> None:
    with quick_folder() as folder, Round.begun(folder).served() as collector:
        asking = collector.ask("POST", f"{collector.root}/invitation", bytes(16), OCTETS)
        assert asking.said == (404, "invitation")
        assert collector.send([0]) == [ACCEPTED]
