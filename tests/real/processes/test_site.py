"""`krand run` in processes: a survey from its file to the report, with kills; rounds by a clock."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import krand
from chaos import Program, free_port, is_alive, until
from command_line import done, refused, told
from components import require
from real.processes.organisations import (
    DAY,
    HOUR,
    MIDNIGHT,
    Partner,
    Site,
    SiteClock,
    kill,
    survey_text,
)
from real.processes.test_kills import sent

for name in ("uvicorn", "starlette"):
    require(name)

WATCHER = """
import os, sys
log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def hear(event, arguments):
    if event in ("open", "sqlite3.connect") and not isinstance(arguments[0], int):
        os.write(log, f"{{os.getpid()}} {{os.fsdecode(arguments[0])}}\\n".encode())
sys.addaudithook(hear)
"""


class Watched:
    """Python tells every file that a process opens."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder / "watcher", folder / "opened"

    def environment(self) -> dict[str, str]:
        self._folder.mkdir(exist_ok=True)
        code = WATCHER.format(log=str(self._log))
        (self._folder / "sitecustomize.py").write_text(code, encoding="utf-8")
        paths = [str(self._folder), *filter(None, sys.path)]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def openers(self, ending: str) -> set[int]:
        """The processes that have opened a file of this name."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {int(number) for number, path in pairs if path.split("?")[0].endswith(ending)}


def status_of(url: str, body: bytes | None = None) -> int:
    """How a page answers a browser without a token."""
    try:
        with urlopen(Request(url, body)) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_a_survey_file_is_enough_whoever_is_killed(tmp_path: Path) -> None:
    """A form, a console behind a token, one batch, the report; each part reads its own keys."""
    survey, watched = tmp_path / "team.toml", Watched(tmp_path)
    survey.write_text(survey_text(1, 1), encoding="utf-8")
    clock: Any = watched
    site = Site(survey, clock)
    try:
        url = site.url()
        assert "is about readers of the results" in site.program.wait("one hand")["what"]
        console = site.program.wait("console")["url"].partition("?")[0]
        assert status_of(f"{url}/") == 200
        assert [status_of(console), status_of(f"{console}/close", b"yes=yes")] == [401, 401]
        assert "runs already" in refused("run", survey, code=75)["message"]
        people = 0
        for part in ("collector", "passing on", "analyst", "console"):
            people += site.device().submit({"fair": True})  # in round 1
            since = len(site.events)
            kill(site.parts()[part])
            assert site.program.wait("died", since, part=part)["code"] == -signal.SIGKILL
            site.program.wait("started", since, part=part)
            if part == "collector":
                site.program.wait("serving", since)
        kill(site.process)
        site.again()
        assert site.url() == url, "links that people have stay good"
        assert told("status", survey)["state"] == "open"
        done("close", survey, "--yes")
        site.program.wait("released")
        kill(site.process)
        site.again()
        assert site.program.wait("reported")["people"] == people
        assert site.program.process.wait(300) == 0, "it ends with the report"
    finally:
        site.end()
    (results,) = site.results().values()
    assert (results.people, results.kept, results.plan.hash) == (people, True, site.plan.hash)
    assert (site.folder / "analyst" / "report.html").read_text("utf-8").startswith("<!doctype")
    assert len([*site.folder.rglob("collector/batches/**/*.batch")]) == 1
    parts = {e["process"]: e["part"] for e in site.events if e["event"] == "started"}
    known = {parts.get(each, "") for each in watched.openers("analyst/key.pem")}
    assert "collector" not in known
    assert "passing on" not in known
    other = krand.generate_private_key().public_key().public_bytes_raw().hex()
    file, text = site.folder / "plan.json", site.plan.bytes.decode()
    file.write_text(text.replace(site.plan.analyst_key, other), encoding="utf-8")
    problems = refused("run", site.folder / "site.toml", "--check")["problems"]
    assert "must be the one that was published" in str(problems)
    file.write_text(text, encoding="utf-8")
    survey.write_text(survey.read_text("utf-8").replace("epsilon = 2.0", "epsilon = 1.0"))
    assert "cannot be edited, only ended" in refused("run", survey, "--check")["hint"]


def test_rounds_open_and_close_by_a_clock_that_nobody_may_set(tmp_path: Path) -> None:
    """What comes late is refused; a round without anybody has no results; a jump does nothing."""
    survey, clock = tmp_path / "team.toml", SiteClock(str(tmp_path / "clock"))
    survey.write_text(survey_text(1, 3), encoding="utf-8")
    clock.set(MIDNIGHT + HOUR)
    site = Site(survey, clock)
    try:
        site.url()
        late, came, unsent = site.device(clock.steady), Counter[int](), None
        for number in (1, 2, 3):
            clock.set(MIDNIGHT + (number - 1) * DAY + HOUR)
            if number > 1:
                site.program.wait("opened", round=number)
                with pytest.raises(krand.InvalidInput, match="open by this device's clock"):
                    late.deliver(unsent, number - 1)  # type: ignore[arg-type]
            if number == 2:
                since = len(site.events)
                clock.jump(5 * DAY)
                trouble = site.program.wait("trouble", since)["what"]
                assert "the clock has moved by more than a day" in trouble
                clock.set(clock.steady())
            else:
                for _ in range(3):
                    until(partial(sent, site, site.device(clock.steady), number))
                    came[number] += 1
            unsent = late.prepare({"fair": True}, number)
        clock.set(MIDNIGHT + 3 * DAY + HOUR)
        assert site.program.process.wait(300) == 0
    finally:
        site.end()
    events = [(each["event"], each.get("round")) for each in site.events]
    assert [number for event, number in events if event == "missed"] == [2]
    assert {number: each.people for number, each in site.results().items()} == came
    assert late.ledger.spent().epsilon == late.plan.survey.policy.epsilon, (
        "one promise for all rounds"
    )
    (*_, page) = (each["page"] for each in site.events if each["event"] == "followed")
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")


SITE = '[site]\nname = "The works council"\nstatus = "127.0.0.1:0"\n'
OWN = '[[survey]]\nfolder = "{}"\nroles = ["collector", "analyst"]\nlisten = "127.0.0.1:0"\n'


@pytest.mark.nightly
def test_surveys_are_added_and_ended_while_it_runs(tmp_path: Path) -> None:
    """A changed file is looked at; one with mistakes is named, and the old one stays in force."""
    folders = []
    for name in ("team", "canteen"):
        survey = tmp_path / f"{name}.toml"
        survey.write_text(survey_text(1, 1).replace('"team"', f'"{name}"'), encoding="utf-8")
        folders += told("run", survey, "--check")["surveys"]
    first, second = (OWN.format(Path(folder).name) for folder in folders)
    file = tmp_path / "site.toml"

    def written(text: str) -> int:
        file.with_suffix(".new").write_text(text, encoding="utf-8")
        file.with_suffix(".new").replace(file)
        return len(site.events)

    file.write_text(SITE + first, encoding="utf-8")
    with Program("run", file, "--json", errors=tmp_path / "log") as site:
        url = site.wait("serving", survey=folders[0])["url"]
        since = written(SITE + first + second)
        other = site.wait("serving", since, survey=folders[1])["url"]
        assert [status_of(f"{each}/") for each in (url, other)] == [200, 200]
        since = written(SITE + first + second + "x = 1\n")
        assert "x: is not a key" in site.wait("mistaken", since)["what"]
        assert status_of(f"{url}/") == 200
        since = written(SITE + second)
        site.wait("ended", since, survey=folders[0], part="collector")
        assert status_of(f"{other}/") == 200
        with pytest.raises(OSError, match="refused"):
            status_of(f"{url}/")
        processes = [e["process"] for e in site.events if e["event"] == "started"]
    until(lambda: not any(map(is_alive, processes)))
    assert json.dumps(site.events)


INSTITUTE = """\
[site]
name = "Institute of Examples"
status = "127.0.0.1:0"

[receiver]
listen = "127.0.0.1:PORT"

[[survey]]
folder = "team.krand"
roles = ["analyst"]
"""


@pytest.mark.nightly
def test_another_analyst_gets_everything_by_one_link(tmp_path: Path) -> None:
    """Its site gives the key and takes the plan; the organiser has neither key nor results."""
    institute, survey = tmp_path / "institute", tmp_path / "team.toml"
    institute.mkdir()
    text = INSTITUTE.replace("PORT", str(free_port()))
    (institute / "site.toml").write_text(text, encoding="utf-8")
    survey.write_text(survey_text(2, 1), encoding="utf-8")
    partner = Partner(tmp_path, "university")
    try:
        with Program("run", institute / "site.toml", "--json", errors=tmp_path / "log") as analyst:
            link = analyst.wait("awaited")["link"]
            named = ("--mixer", partner.link, "--analyst", link)
            done("pair", survey, "--no-anchor --form-at 127.0.0.1:0", *named)
            site = Site(survey)
            try:
                for _ in range(3):
                    site.device().submit({"fair": True})
                done("close", survey, "--yes")
                assert analyst.wait("reported")["people"] == 3
                assert not [one for one in site.events if one["event"] == "reported"]
            finally:
                site.end()
        assert not any((site.folder / "analyst").iterdir()), "the organiser has what it must not"
        found = krand.read_results(institute / "team.krand" / "analyst" / "results.json")
        assert (found.people, found.plan.hash) == (3, site.plan.hash)
    finally:
        partner.end()
