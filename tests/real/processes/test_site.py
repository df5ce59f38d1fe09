"""`krand run` in processes: from a survey file to its report, with kills; the console; a site."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import krand
from chaos import Program, typed, until
from command_line import done, refused, told
from components import require
from real.processes.team import Team

for name in ("uvicorn", "starlette"):
    require(name)


def status_of(url: str, body: bytes | None = None) -> int:
    """How a page answers a browser without a token."""
    try:
        with urlopen(Request(url, body)) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def results_of(folder: Path) -> krand.Results:
    (found,) = folder.glob("results/*/results.json")
    return krand.read_results(found)


def test_a_survey_file_is_enough_whoever_is_killed(tmp_path: Path) -> None:
    """The same command goes on, at the same address; everybody who was acknowledged is counted."""
    team = Team(tmp_path)
    with team.running() as program:
        team.answer(6)
        program.end(signal.SIGKILL)
    with team.running() as program:
        team.answer(4)
        assert program.end() == 0, "it ends when it is told to"
    assert [each["open"] for each in told("run", team.survey, "--status")["surveys"]] == [True]
    with team.running() as program:
        team.answer(4)
        (now,) = told("run", team.survey, "--status")["surveys"]
        assert now["people"] == {"at_least": 10, "step": 5}
        assert "At least 10 people have come" in done("run", team.survey, "--status").stdout
        assert team.close(program) == 14
        assert program.process.wait(300) == 0, "it ends with the report"
    results = results_of(team.folder)
    assert (results.people, results.kept, results.plan.hash) == (14, True, team.plan_hash)
    found = team.folder / "results" / results.plan.survey.id
    done("verify", found / "results.json", found / "tally.json", "--plan", found / "plan.json")
    assert (found / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert told("run", team.survey, "--status")["surveys"][0]["rounds"][0]["over"] is True
    edited = team.survey.read_text("utf-8").replace("epsilon = ", "epsilon = 1", 1)
    team.survey.write_text(edited, encoding="utf-8")
    assert "cannot be edited" in refused("run", team.survey, "--check")["hint"]


def test_too_few_end_it_without_results(tmp_path: Path) -> None:
    """Only if that is said; their messages are gone."""
    team = Team(tmp_path)
    with team.running() as program:
        team.answer(3)
        assert refused("run", team.survey, "--close --erase")["field"] == "yes"
        assert refused("run", team.survey, "--close --yes")["field"] == "people"
        assert [each["open"] for each in told("run", team.survey, "--status")["surveys"]] == [True]
        told("run", team.survey, "--close --yes --erase")
        program.wait("missed")
        assert program.process.wait(300) == 0
    assert not [*team.folder.glob("results/*/results.json")]


class Pages:
    """A browser at the console."""

    def __init__(self, entrance: str) -> None:
        self._opener = build_opener(HTTPCookieProcessor())
        self.home = entrance.partition("?")[0]
        self.get("", token=entrance.rpartition("=")[2])

    def get(self, path: str, **query: str) -> str:
        asked = f"{self.home}{path}" + (f"?{urlencode(query)}" if query else "")
        return str(self._opener.open(asked).read().decode())

    def post(self, path: str, **form: str) -> str:
        answer = self._opener.open(f"{self.home}{path}", urlencode(form).encode())
        return str(answer.read().decode())


def test_from_a_title_to_the_report_in_the_console(tmp_path: Path) -> None:
    """Written, published, answered, closed and read there; the program goes on."""
    folder = tmp_path / "surveys"
    folder.mkdir()
    with Program("run", folder, "--json", errors=tmp_path / "log") as program:
        entrance = program.wait("console")["url"]
        home = entrance.partition("?")[0]
        assert [status_of(home), status_of(f"{home}surveys/x/close", b"yes=yes")] == [401, 401]
        pages = Pages(entrance)
        pages.post("", title="How are we?")
        place = "surveys/how-are-we"
        text = krand_file(folder)
        text.write_text(text.read_text("utf-8").replace('text = ""', 'text = "Well?"'), "utf-8")
        pages.post(f"{place}/publish", yes="yes", links="", closes="")
        until(lambda: 'id="published"' in pages.get(f"{place}/publish"))
        (told_of,) = told("run", folder, "--status")["surveys"]
        url, _, plan_hash = told_of["form"].rstrip("/").rpartition("/")
        for number in range(6):
            ledger = krand.Ledger(tmp_path / f"ledger-{number}")
            krand.Client.open(url, plan_hash, ledger).submit({"question_1": number < 4})
        assert "At least 5 so far" in pages.get(f"{place}/watch")
        pages.post(f"{place}/close", yes="yes")
        until(lambda: 'id="report-link"' in pages.get(f"{place}/results"))
        assert pages.get(f"{place}/report").startswith("<!doctype html>")
        values = json.loads(pages.get(f"{place}/files/results.json"))
        assert values["people"] == 6
        assert program.process.poll() is None, "its report is read there"


def krand_file(folder: Path) -> Path:
    return folder / "how-are-we" / "survey.toml"


def test_an_analyst_elsewhere_has_the_only_key(tmp_path: Path) -> None:
    """It gives a line and takes a link; the organiser has neither key nor results."""
    team = Team(tmp_path)
    institute = tmp_path / "institute"
    line: Any = told("keygen", institute)["analyst"]
    own = typed("pair", team.survey, f"--url {team.url} --local --json --no-wait --analyst", line)
    # A browser that another test left open has its loop in this process, where none begins then.
    paired = subprocess.check_output([sys.executable, "-m", "krand", *own])
    plan_hash = json.loads(paired)["plan"]
    with team.running() as program:
        site = tmp_path / "site.toml"
        link = f"{team.url}/{plan_hash}/"
        site.write_text(
            f'name = "Institute"\nfolder = "institute"\nroles = ["analyst"]\nsurveys = ["{link}"]\n'
            'console = "127.0.0.1:0"\n'
        )
        with Program("run", site, "--local --json", errors=tmp_path / "log") as analyst:
            team.answer(14)
            told("run", team.survey, "--close --yes")
            assert analyst.wait("reported")["people"] == 14
        assert program.process.poll() is None or program.process.returncode == 0
    assert results_of(institute).people == 14
    assert not [*team.folder.glob("keys/analyst.pem"), *team.folder.glob("results/*/*.json")]
