"""Invitations: one code is one submission, retries included, and the collector learns no code."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from collecting import OCTETS, quick_folder, served
from collector.crowds import messages_of, plan_of
from command_line import run
from components import require
from krand.collector.invitations import check_invitations, read_invitations
from krand.collector.opening import config_of
from krand.collector.progress import Seldom
from krand.collector.settings import Settings
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.invitations import invited_id, read_code
from krand.wire.submissions import submission_bytes
from schedules import days

require("starlette")
require("uvicorn")

COUNT, FORM = 40, "https://form.example/"


def invited_plan(rounds: int = 1) -> Plan:
    open_to_all = plan_of(1000)
    survey = replace(open_to_all.survey, invitations=True, rounds=rounds, schedule=days(rounds))
    return replace(open_to_all, survey=survey)


PLAN = invited_plan()


def invite(folder: Path, *more: object, plan: Plan = PLAN) -> Result:
    (folder / "plan.json").write_bytes(plan.bytes)
    return run(f"invite plan.json --count {COUNT} --url {FORM} -o links.csv", *more, at=folder)


def codes_in(folder: Path) -> list[bytes]:
    with (folder / "links.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["number"] for row in rows] == [str(n) for n in range(1, COUNT + 1)]
    assert all(row["link"].startswith(f"{FORM}#") for row in rows)
    return [read_code(row["link"].partition("#")[2]) for row in rows]


def body_with(code: bytes, number: int = 1) -> bytes:
    return submission_bytes(1, invited_id(PLAN.hash, 1, code), tuple(messages_of(number)))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with quick_folder() as found:
        assert invite(found).exit_code == 0
        yield found


def test_links_and_digests_are_private_and_belong_together(folder: Path) -> None:
    """Every code is admitted, and another is not; nothing of a code is in the collector's file."""
    codes = codes_in(folder)
    assert len(set(codes)) == COUNT
    known = read_invitations(folder / "links.json", PLAN, 1)
    assert len(known.digests) == COUNT
    assert all(known.admit(invited_id(PLAN.hash, 1, code)) for code in codes)
    assert not known.admit(invited_id(PLAN.hash, 1, bytes(16)))
    assert not known.admit(invited_id(PLAN.hash, 2, codes[0]))
    text = (folder / "links.json").read_text(encoding="ascii")
    for code in codes:
        assert code.hex() not in text
        assert invited_id(PLAN.hash, 1, code).hex() not in text
    for name in ("links.csv", "links.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("crowd", "expected", "said"),
    [
        (1000, None, "40 links for a crowd of at least 1,000 people: even if everybody answers"),
        (30, 50, "40 links, but the survey expects 50 people"),
        (30, 40, ""),
    ],
)
def test_too_few_links_are_warned_of(
    crowd: int, expected: int | None, said: str, tmp_path: Path
) -> None:
    """Nothing could be released; or fewer people than the plan's margins are for."""
    plan = plan_of(crowd)
    survey = replace(plan.survey, invitations=True, expected=expected)
    done = invite(tmp_path, plan=replace(plan, survey=survey))
    assert done.exit_code == 0
    assert bool(done.stderr) is bool(said)
    assert said in " ".join(done.stderr.split())


def test_links_are_never_replaced_by_accident(folder: Path) -> None:
    """Whoever has a link would be refused."""
    before = (folder / "links.csv").read_bytes(), (folder / "links.json").read_bytes()
    again = invite(folder)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert before == ((folder / "links.csv").read_bytes(), (folder / "links.json").read_bytes())


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("--count 10000001", "count"),
        ("--url form.example", "url"),
        ("--url 'https://form.example/#x'", "url"),
        ("--url 'https://a/\r\nx'", "url"),
    ],
)
def test_what_cannot_be_a_link_is_refused(tmp_path: Path, more: str, field: str) -> None:
    """And nothing is written."""
    told = invite(tmp_path, more, "--json")
    assert (told.exit_code, json.loads(told.stdout)["error"]["field"]) == (2, field)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_a_survey_that_is_open_to_all_has_no_links(tmp_path: Path) -> None:
    """The error says what to write into the survey."""
    told = invite(tmp_path, plan=plan_of(1000))
    assert told.exit_code == 2
    assert "invitations = true" in told.stderr


def test_every_round_has_its_own_digests(tmp_path: Path) -> None:
    """So rounds cannot be linked by them."""
    plan = invited_plan(rounds=2)
    assert invite(tmp_path, plan=plan).exit_code == 0
    first, second = (read_invitations(tmp_path / "links.json", plan, n) for n in (1, 2))
    assert len(first.digests) == len(second.digests) == COUNT
    assert not first.digests & second.digests


@pytest.mark.parametrize(
    "change",
    [
        {"format": "krand-invitations-2"},
        {"mailed": -1},
        {"more": 1},
        {"plan": "00" * 32},
        {"key": "00"},
        {"key": 1},
        {"rounds": []},
        {"rounds": [["00" * 16, "00" * 16]]},
        {"rounds": [["ff" * 16, "00" * 16]]},
        {"rounds": [["FF" * 16]]},
        {"rounds": [[1]]},
        {"rounds": {"1": []}},
    ],
)
def test_a_file_that_krand_did_not_write_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    """With its field; the key is not repeated."""
    values = json.loads((folder / "links.json").read_text(encoding="ascii"))
    (tmp_path / "x.json").write_text(json.dumps(values | change), encoding="ascii")
    with pytest.raises(InvalidInput, match="krand invite") as error:
        read_invitations(tmp_path / "x.json", PLAN, 1)
    assert values["key"] not in str(error.value)


def test_the_survey_decides_whether_a_collector_needs_them(folder: Path) -> None:
    """Neither forgotten nor given for nothing."""
    with pytest.raises(InvalidInput, match=r"--invitations invitations\.json"):
        check_invitations(PLAN, None, 1)
    with pytest.raises(InvalidInput, match="leave it out"):
        check_invitations(plan_of(1000), folder / "links.json", 1)
    assert check_invitations(plan_of(1000), None, 1) is None
    assert check_invitations(PLAN, folder / "links.json", 1) is not None


def test_one_code_is_one_submission(folder: Path) -> None:
    """Retries are known, other answers with the code too; guessed codes are 403, on both ways."""
    codes, known = codes_in(folder), check_invitations(PLAN, folder / "links.json", 1)
    path = f"/v1/{PLAN.hash}/submissions"
    sent = [(codes[0], 1), (codes[0], 2), (bytes(16), 1), (codes[1], 1)]
    with served(config_of(PLAN), Settings(plan=PLAN, invitations=known)) as collector:
        for extra, first in (("", "accepted"), ("; a=b", "known")):
            headers = {"Content-Type": f"application/octet-stream{extra}"}
            answers = [collector.ask("POST", path, body_with(*one), headers) for one in sent]
            assert [(answer.status, answer.told) for answer in answers] == [
                (202, first),
                (202, "known"),
                (403, "invitation"),
                (202, first),
            ]
        assert collector.people() == 2


def test_a_code_can_be_asked_about_but_not_when_it_was_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown at once, used only when 32 people have come; asking changes nothing."""
    monkeypatch.setattr(Seldom, "_group", lambda _: MINIMUM_GROUP)
    codes, known = codes_in(folder), check_invitations(PLAN, folder / "links.json", 1)
    names = [invited_id(PLAN.hash, 1, code) for code in codes]
    root = f"/v1/{PLAN.hash}"
    with served(config_of(PLAN), Settings(plan=PLAN, invitations=known)) as collector:

        def ask(path: str, body: bytes, headers: dict[str, str] = OCTETS) -> tuple[int, str]:
            answer = collector.ask("POST", path, body, headers)
            return answer.status, answer.told

        path = f"{root}/invitation"
        assert ask(path, bytes(16)) == (200, "unknown")
        assert ask(path, names[0][:15]) == (422, "body")
        assert ask(path, names[0] + b"x") == (413, "body")
        assert ask(path, names[0], {"Content-Type": "text/plain"}) == (415, "content-type")
        assert ask(f"/v1/{'0' * 64}/invitation", names[0]) == (404, "plan")
        for number, code in enumerate(codes[:MINIMUM_GROUP]):
            assert ask(path, names[0]) == (200, "unused")
            assert ask(f"{root}/submissions", body_with(code, number + 1))[0] == 202
        assert ask(path, names[0]) == ask(path, names[MINIMUM_GROUP - 1]) == (200, "used")
        assert ask(path, names[-1]) == (200, "unused")
        assert collector.people() == MINIMUM_GROUP


def test_a_copy_of_spool_and_digests_does_not_tell_which_codes_were_used(folder: Path) -> None:
    """The spool's ids are digested with another key: neither ids, codes nor digests are in it."""
    codes, known = codes_in(folder), read_invitations(folder / "links.json", PLAN, 1)
    with quick_folder() as place:
        key_file = place / "elsewhere.key"
        with Spool(place / "spool", config_of(PLAN), key_file) as spool:
            read = spool.config.format.read
            spool.add([read(body_with(code, n)) for n, code in enumerate(codes)])
        stored = b"".join(path.read_bytes() for path in (place / "spool").iterdir())
        assert any(each in stored for each in messages_of(1))  # some may be cut by a page's end
        ids = [invited_id(PLAN.hash, 1, code) for code in codes]
        for found in (*codes, *ids, *known.digests):
            assert found not in stored
            assert found.hex().encode() not in stored


def test_whoever_has_code_spool_and_its_key_learns_that_the_code_was_used(folder: Path) -> None:
    """Not what was said with it; the threat model says so."""
    codes = codes_in(folder)
    with quick_folder() as place, Spool(place / "spool", config_of(PLAN)) as spool:
        first, second = (spool.config.format.read(body_with(code)) for code in codes[:2])
        spool.add([first])
        assert spool.known([first, second]) == [True, False]
