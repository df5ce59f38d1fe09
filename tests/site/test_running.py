"""`krand run`: real processes over real sockets, killed whenever it hurts."""

from __future__ import annotations

import io
import json
import random
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from collecting import submitted
from command_line import done, refused, told
from components import require
from effort import LONG
from krand.analysis.results_file import read_results
from krand.collector.opening import open_spool, read_batches
from krand.errors import Unavailable
from krand.files import write_atomically
from krand.partners.identity import read_identity
from krand.planning.making import make_plan
from krand.site.checks import publish
from krand.site.making import folder_of
from krand.site.part import Say
from krand.site.passing_on import Releasing
from krand.site.site_file import read_site
from krand.survey.plan_file import read_plan
from krand.survey.reading import read_survey
from krand.survey.survey_folder import SurveyFolder, folder_beside
from krand.wire.keys import generate_private_key
from site_processes import (
    BY_DEVICES,
    MIXED,
    PEOPLE,
    WAIT_SECONDS,
    answered,
    is_alive,
    kill,
    page,
    running,
    started_in,
)


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("uvicorn")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    file = tmp_path / "team.toml"
    file.write_text(MIXED, encoding="utf-8")
    return file


@pytest.mark.check
@pytest.mark.parametrize("text", [MIXED, BY_DEVICES], ids=["mixers", "devices"])
def test_a_survey_file_is_enough(tmp_path: Path, text: str) -> None:
    """It serves a form, and when the survey is closed it writes the report; no step is asked for.

    Interrupted between closing and report, the same command goes on.
    """
    file = tmp_path / "survey.toml"
    file.write_text(f"invited = {2 * PEOPLE}\n{text}", encoding="utf-8")
    folder = folder_beside(file)
    with running(file) as site:
        url = site.wait("serving")["url"]
        assert "is about readers of the results" in site.wait("one hand")["what"]
        entrance = site.wait("console")["url"]
        own, _, _ = entrance.partition("?")
        assert page(own)[0] == 401
        _, _, cookie = page(entrance)
        answered(folder, url)
        assert page(f"{url}/")[0] == 200
        _, shown, _ = page(urljoin(own, "/"), cookie)
        assert 'data-part="collector" data-state="running"' in shown
        assert f'href="{urlsplit(own).path}"' in shown
        code, shown, _ = page(f"{own}/watch", cookie)
        assert (code, " so far</strong>" in shown) == (200, True)
        assert site.end(signal.SIGINT) == 0
    assert told("close", file, "--yes")["closed"]["people"] == PEOPLE
    with running(file) as site:
        assert site.wait("serving")["url"] == url
        report = Path(site.wait("reported")["report"])
        assert report.is_file()
        source = report.read_text(encoding="utf-8")
        assert source.startswith("<!doctype html>")
        shown = " ".join(re.sub("<[^>]*>", " ", source).split())
        assert f"of the {2 * PEOPLE} people who were invited 50 %" in shown
        results = read_results(folder.analyst / "results.json")
        assert (results.people, results.plan.hash) == (PEOPLE, read_plan(folder.plan).hash)
        assert results.kept
        assert site.process.wait(WAIT_SECONDS) == 0
    assert told("close", file, "--yes")["closed"] is None


@pytest.mark.check
def test_a_survey_is_closed_and_read_in_the_browser(survey: Path) -> None:
    """By whoever has the token, from our own pages; krand run stays for it. --no-console shows."""
    folder = folder_beside(survey)
    with running(survey, None, "--no-console") as site:
        status = site.wait("status")["url"]
        _, _, cookie = page(status)
        assert page(urljoin(status, "/surveys/team/close"), cookie, "yes=yes")[0] == 404
        answered(folder, site.wait("serving")["url"])
    with running(survey) as site:
        entrance = site.wait("console")["url"]
        own, _, _ = entrance.partition("?")
        _, _, cookie = page(entrance)
        assert page(f"{own}/close", "", "yes=yes")[0] == 401
        assert page(f"{own}/close", cookie, "yes=yes", Origin="http://evil.example")[0] == 403
        assert page(f"{own}/watch", cookie, Host="evil.example")[0] == 421
        for missing in ("questions", "promise", "partners"):
            assert page(f"{own}/{missing}", cookie)[0] == 404
        assert page(f"{own}/close", cookie, "yes=yes")[0] == 303
        site.wait("stays")
        site.wait("reported")
        _, shown, _ = page(f"{own}/results", cookie)
        assert 'id="report-link"' in shown
        code, shown, _ = page(f"{own}/report", cookie)
        assert (code, shown) == (200, (folder.analyst / "report.html").read_text("utf-8"))
        assert site.end(signal.SIGINT) == 0


@pytest.mark.check
def test_parts_and_supervisor_survive_being_killed(survey: Path) -> None:
    """kill -9 of each part: it is started again. kill -9 of the supervisor: no part is left.

    Everybody who was acknowledged is counted once, and the batch is released once.
    """
    folder = folder_beside(survey)
    with running(survey) as site:
        url = site.wait("serving")["url"]
        answered(folder, url, PEOPLE // 2)
        before = len(site.events)
        for part in ("collector", "passing on", "analyst", "console"):
            since = len(site.events)
            kill(site.number_of(part))
            assert site.wait("died", since, part=part)["code"] == -signal.SIGKILL
            site.wait("started", since, part=part)
        site.wait("serving", before)
        answered(folder, url, PEOPLE // 2)
        kill(site.process.pid)
        site.process.wait()
        parts = started_in(site)
        site.wait_until(lambda: not any(map(is_alive, parts)))
    done("close", survey, "--yes")
    with running(survey) as site:
        site.wait_until(lambda: any(folder.batches(1).glob("*.parquet")))
        kill(site.process.pid)
        site.process.wait()
    with running(survey) as site:
        assert site.wait("reported")["people"] == PEOPLE
    batches = read_batches(read_plan(folder.plan), folder.spool(1))
    assert [(batch.state.value, batch.people) for batch in batches] == [("released", PEOPLE)]
    assert len(list(folder.batches(1).glob("*.parquet"))) == 1


@pytest.mark.check
@pytest.mark.loop
def test_killed_at_random_it_releases_and_reports_once(survey: Path) -> None:
    """Supervisor and parts are killed at any moment, again and again; the same command goes on."""
    folder, randomly = folder_beside(survey), random.Random(27)
    with running(survey) as site:
        answered(folder, site.wait("serving")["url"])
    done("close", survey, "--yes")
    seen = set[bytes]()
    for _ in range(60 if LONG else 2):
        with running(survey) as site:
            for part in ("passing on", "analyst"):
                site.wait("started", part=part)
            time.sleep(randomly.uniform(0, 6))
            victims = [site.process.pid, *map(site.number_of, ("passing on", "analyst"))]
            with suppress(ProcessLookupError):  # it was faster
                kill(randomly.choice(victims))
        seen |= {path.read_bytes() for path in folder.batches(1).glob("*.parquet")}
    with running(survey) as site:
        assert site.wait("reported")["people"] == PEOPLE
    seen |= {path.read_bytes() for path in folder.batches(1).glob("*.parquet")}
    assert len(seen) == 1


def test_the_status_of_a_survey_needs_its_file_alone(survey: Path) -> None:
    """Or its folder; the same as with its plan and spool, which are not given beside it."""
    folder = folder_of(survey)
    open_spool(read_plan(folder.plan), folder.spool(1), 1).close()
    named = f"--plan {folder.plan} --spool {folder.spool(1)}"
    found = told("status", survey)
    assert found == told("status", folder.path) == told("status", named)
    assert [batch["state"] for batch in found["batches"]] == ["open"]
    assert "when krand close closes" in done("status", survey).output
    assert "when krand release --close closes" in done("status", named).output
    assert refused("status", survey, named)["field"] == "survey"
    assert refused("status")["field"] == "survey"


WATCHER = """
import os, sys
log = os.open(os.environ["KRAND_OPENED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def hear(event, arguments):
    if event in ("open", "sqlite3.connect") and not isinstance(arguments[0], int):
        os.write(log, f"{os.getpid()} {os.fsdecode(arguments[0])}\\n".encode())
sys.addaudithook(hear)
"""


@pytest.mark.check
def test_every_process_reads_the_keys_of_its_role_alone(
    tmp_path: Path, survey: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python tells every file that is opened: nobody but the analyst's part opens its key."""
    (tmp_path / "watcher").mkdir()
    (tmp_path / "watcher" / "sitecustomize.py").write_text(WATCHER, encoding="utf-8")
    folder, opened = folder_of(survey), tmp_path / "opened"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "watcher"))
    monkeypatch.setenv("KRAND_OPENED", str(opened))
    with running(survey) as site:
        answered(folder, site.wait("serving")["url"])
        done("close", survey, "--yes")
        site.wait("reported")
    parts = {e["process"]: e["part"] for e in site.events if e["event"] == "started"}
    parts[site.process.pid] = "supervisor"
    lines = [line.split(" ", 1) for line in opened.read_text(encoding="utf-8").splitlines()]

    def openers(ending: str) -> set[str | None]:
        return {
            parts.get(int(number)) for number, path in lines if path.split("?")[0].endswith(ending)
        }

    assert openers("analyst/key.pem") == {"analyst"}
    assert openers("collector/identity.pem") == {"collector", "passing on"}
    assert openers("store/mixer.sqlite") == {"passing on"}
    assert openers("plan.json") >= {"supervisor", *parts.values()}


@dataclass
class SetClock:
    """A clock that somebody sets."""

    time: float

    def wall(self) -> float:
        return self.time

    def steady(self) -> float:
        return 0.0


def test_the_last_day_closes_a_survey(tmp_path: Path) -> None:
    """Whoever came by then is released; nobody has to be there. A clock that was set does not."""
    file = tmp_path / "team.toml"
    file.write_text(f"closes = 2027-01-01\n{MIXED}", encoding="utf-8")
    folder = folder_of(file)
    plan, said = read_plan(folder.plan), io.BytesIO()
    (own,), identity = read_site(folder.site_file).surveys, read_identity(folder.identity)
    with open_spool(plan, folder.spool(1)) as spool:
        spool.add([submitted(number, spool.config.format) for number in range(PEOPLE)])
    clock = SetClock(datetime(2027, 1, 1, 23, tzinfo=UTC).timestamp())
    Releasing(own, plan, identity, Say(said), clock).look()
    releasing = Releasing(own, plan, identity, Say(said), clock)
    clock.time += 2 * 86_400
    with pytest.raises(Unavailable, match="the clock has moved"):
        releasing.look()
    assert said.getvalue() == b""
    Releasing(own, plan, identity, Say(said), clock).look()
    events = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [(event["event"], event["people"]) for event in events] == [
        ("closed", PEOPLE),
        ("released", PEOPLE),
    ]
    assert len(list(folder.batches(1).glob("*.chain.json"))) == 1


def test_a_site_is_named_after_its_survey(tmp_path: Path) -> None:
    """As far as a name may be long."""
    file = tmp_path / "team.toml"
    file.write_text(f'title = "{"é" * 150}"\n{BY_DEVICES}', encoding="utf-8")
    assert read_site(folder_of(file).site_file).name == "é" * 100


@pytest.mark.check
def test_surveys_are_added_and_ended_while_it_runs(tmp_path: Path, survey: Path) -> None:
    """A changed file is looked at; one with mistakes is named, and the old one stays in force."""
    first = folder_of(survey)
    (tmp_path / "canteen.toml").write_text(BY_DEVICES, encoding="utf-8")
    second = folder_of(tmp_path / "canteen.toml")
    file = tmp_path / "site.toml"
    file.write_text(site_of(first), encoding="utf-8")
    with running(file) as site:
        url = site.wait("serving", survey=str(first.path))["url"]
        since = len(site.events)
        write_atomically("site", file, site_of(first, second))
        other = site.wait("serving", since, survey=str(second.path))["url"]
        assert page(f"{url}/")[0] == page(f"{other}/")[0] == 200
        assert not [e for e in site.events[since:] if e.get("survey") == str(first.path)]
        write_atomically("site", file, site_of(first, second) + "x = 1\n")
        assert "x: is not a key" in site.wait("mistaken", since)["what"]
        assert page(f"{url}/")[0] == 200
        since = len(site.events)
        write_atomically("site", file, site_of(second))
        site.wait("ended", since, survey=str(first.path), part="collector")
        assert page(f"{other}/")[0] == 200
        with pytest.raises(ConnectionRefusedError):
            page(f"{url}/")


def site_of(*folders: SurveyFolder) -> str:
    surveys = "".join(
        f'[[survey]]\nfolder = "{folder.path.name}"\nroles = ["collector", "analyst"]\n'
        f'listen = "127.0.0.1:0"\n'
        for folder in folders
    )
    return f'[site]\nname = "The works council"\nstatus = "127.0.0.1:0"\n{surveys}'


def test_a_published_survey_cannot_be_edited(survey: Path) -> None:
    """Neither its file, nor the plan in its folder: another one would be another survey."""
    folder = folder_of(survey)
    publish(folder, read_plan(folder.plan))
    for old, new in (
        ("epsilon = 1.0", "epsilon = 2.0"),
        ("delta = 1e-6", "delta = 1e-7"),
    ):
        assert old in MIXED
        survey.write_text(MIXED.replace(old, new), encoding="utf-8")
        error = refused("run", survey, "--check")
        assert error["field"] == "survey"
        assert "cannot be edited, only ended" in error["hint"]
    survey.write_text(MIXED, encoding="utf-8")
    assert told("run", survey, "--check")["surveys"] == [str(folder.path)]
    other = make_plan(read_survey(survey)).sealed_for(generate_private_key().public_key())
    other.mixed_by(read_plan(folder.plan).mixing.mixers).save(folder.plan, overwrite=True)
    error = refused("run", folder.site_file, "--check")
    assert "must be the one that was published" in str(error["problems"])
    assert refused("close", survey, "--yes")["field"] == "plan"


def test_what_a_site_lacks_is_told_at_once(survey: Path) -> None:
    folder = folder_of(survey)
    for path in (folder.identity, folder.analyst_key, folder.signature(1)):
        path.unlink()
    text = folder.site_file.read_text(encoding="utf-8")
    folder.site_file.write_text(f"{text}\n[[survey]]\nfolder = 'x'\nroles = ['analyst']\n")
    problems = refused("run", folder.site_file, "--check")["problems"]
    assert problems[-1]["path"] == "survey[1].folder"
    folder.site_file.write_text(text)
    problems = refused("run", folder.site_file, "--check")["problems"]
    assert [problem["rule"].partition(" of mixer")[0] for problem in problems] == [
        "must have collector/identity.pem",
        "must have analyst/key.pem",
        "signature",
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (MIXED.replace('"mixers"', '"mixers"\nmixers = 3'), "trust.mixers"),
        (MIXED.replace("epsilon = 1.0", "epsilon = -1"), "team.toml"),
    ],
)
def test_a_survey_that_cannot_run_here_leaves_nothing(survey: Path, text: str, field: str) -> None:
    survey.write_text(text, encoding="utf-8")
    assert refused("run", survey)["field"] == field
    assert [path.name for path in survey.parent.iterdir()] == ["team.toml"]


def test_a_folder_is_the_site_in_it(survey: Path) -> None:
    """One without a site is refused in one line, with what to do instead."""
    for folder in (survey.parent, Path()):
        error = refused("run", folder, at=survey.parent)
        assert (error["field"], error["rule"]) == (
            "file",
            "must have a site.toml if it is a folder",
        )
        assert error["hint"].endswith(f"krand web {folder}")
    site = folder_of(survey).path
    assert told("run", site, "--check") == told("run", survey, "--check")


@pytest.mark.parametrize("text", ["", "# to be written\n"])
def test_an_empty_file_is_no_site(survey: Path, text: str) -> None:
    survey.write_text(text, encoding="utf-8")
    error = refused("run", survey)
    assert (error["rule"], error["value"]) == ("must be a survey or a site, not empty", str(survey))
    assert "[[question]]" in error["hint"]


def test_a_survey_without_questions_is_a_survey(survey: Path) -> None:
    survey.write_text(MIXED.partition("[[question]]")[0], encoding="utf-8")
    (problem,) = refused("run", survey)["problems"]
    assert (problem["path"], problem["rule"]) == ("question", "must be given")


@pytest.mark.check
def test_only_one_process_runs_a_site(survey: Path) -> None:
    """It runs even where its state cannot be written: the disk may be full."""
    in_the_way = folder_of(survey).path / "state" / "status.json"
    in_the_way.mkdir(parents=True)
    with running(survey) as site:
        site.wait("serving")
        assert "runs already" in refused("run", survey, code=75)["message"]


def test_missing_invitations_are_named_with_the_command_that_makes_them(survey: Path) -> None:
    """Then the same command runs."""
    survey.write_text(f"invitations = true\n{MIXED}", encoding="utf-8")
    (problem,) = refused("run", survey, "--check")["problems"]
    assert problem["rule"] == "must have invitations.json"
    done(problem["hint"].removeprefix("krand "))
    assert told("run", survey, "--check")["surveys"]


def test_a_survey_below_the_crowd_ends_with_erase_and_without_results(tmp_path: Path) -> None:
    """The message is where the organiser asks; then krand run ends, and ends again."""
    file = tmp_path / "canteen.toml"
    file.write_text(BY_DEVICES, encoding="utf-8")
    with running(file) as site:
        site.wait("serving")
        assert "--erase" in refused("close", file, "--yes")["hint"]
        assert told("close", file, "--yes", "--erase")["closed"]["state"] == "erased"
        assert site.process.wait(WAIT_SECONDS) == 0
        assert [e["people"] for e in site.events if e["event"] == "missed"] == [0]
    with running(file) as site:
        assert site.process.wait(WAIT_SECONDS) == 0
