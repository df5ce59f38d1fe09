"""Invitations: one code is one submission, retries included, and the collector learns no code."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import krand
from chaos import files_in, quick_folder
from command_line import done
from components import require
from rounds import ACCEPTED, KNOWN, Collector, Round

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
        return self.round.study.at / "invitations.json"

    def body(self, code: str) -> bytes:
        """What a device of whoever has this code sends."""
        return self.round.sent(invitation=code)


@pytest.fixture
def invited() -> Iterator[Invited]:
    with quick_folder() as folder:
        round = Round.begun(folder, invitations=True)
        done(
            f"invite plan.json --count {COUNT} --url https://form.example/ -o links.csv", at=folder
        )
        with (folder / "links.csv").open(encoding="utf-8", newline="") as stream:
            codes = [row["link"].partition("#")[2] for row in csv.DictReader(stream)]
        yield Invited(round, codes)


def test_one_code_is_one_submission(invited: Invited) -> None:
    """On any device; a guessed code is refused, however it comes, and stores nothing."""
    study, (first, second, *_) = invited.round.study, invited.codes
    with invited.round.served(invitations=invited.file) as collector:
        study.client(url=collector.url).submit({"fair": True}, invitation=first)
        with pytest.raises(krand.UsedInvitation):
            study.client(url=collector.url).submit({"fair": False}, invitation=first)
        body = invited.body(second)
        guess = body[:3] + os.urandom(16) + body[19:]
        for kind in ("application/octet-stream", "application/octet-stream; a=b"):
            way, headers = collector.way_in, {"Content-Type": kind}
            assert collector.ask("POST", way, guess, headers).said == (403, "invitation")
        assert [collector.post(body), collector.post(body)] == [ACCEPTED, KNOWN]
        sent = [collector.post(invited.body(code)) for code in invited.codes[2:12]]
        assert sent == [ACCEPTED] * 10
        assert invited.round.close()["released"]["people"] == 12


def asked(collector: Collector, name: bytes) -> str:
    """What is told about whoever would submit under this id."""
    headers = {"Content-Type": "application/octet-stream"}
    answer = collector.ask("POST", f"{collector.root}/invitation", name, headers)
    return answer.said[1]


def test_a_code_can_be_asked_about_but_not_when_it_was_used(invited: Invited) -> None:
    """A stranger's is unknown; nobody's counts as used before 32 people have come."""
    bodies = [invited.body(code) for code in invited.codes[:32]]
    with invited.round.served(invitations=invited.file) as collector:
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
    with invited.round.served(invitations=invited.file) as collector:
        for body in bodies:
            collector.post(body)
    file, spool = invited.file.read_bytes(), b"\0".join(files_in(invited.round.spool).values())
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
    for name in ("invitations.json", "links.csv"):
        assert invited.file.with_name(name).stat().st_mode & 0o077 == 0


def test_the_survey_decides_whether_a_collector_needs_them(invited: Invited) -> None:
    """Neither forgotten nor given for nothing."""
    with pytest.raises(krand.InvalidInput, match="must be given"), invited.round.served():
        pass
    with quick_folder() as folder:
        given = Round.begun(folder).served(invitations=invited.file)
        with pytest.raises(krand.InvalidInput, match="leave it out"), given:
            pass
