"""A survey with two partners: `krand pair`, `krand mix serve` twice, `krand run`; no file is moved.

Real processes over real sockets, TLS by identity.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from command_line import done, refused, told
from components import require
from krand import Client, InvalidInput
from krand.analysis.results_file import read_results
from krand.client.sending import NotDelivered
from krand.collector.opening import open_spool
from krand.partners.identity import read_identity
from krand.partners.siblings import Siblings
from krand.partners.talking import Conversation, held_keys
from krand.site.checks import route_of, signatures_in
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import folder_beside
from krand.testing import FileClock, UnsafeMemoryLedger
from partners.processes import POLICY, Served, mixer_serving
from site_processes import PEOPLE, answered, free_port, is_open, kill, paired, running

pytestmark = pytest.mark.check

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


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("uvicorn")
    require("mnemonic")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))


@contextmanager
def mixer(folder: Path, name: str, port: int = 0) -> Iterator[Served]:
    """A partner's service, for everybody within limits."""
    policy = folder / "policy.toml"
    policy.write_text(POLICY.replace("most_rounds = 2", "most_rounds = 5"), encoding="utf-8")
    options = ("--name", name, "--no-anchor", "--policy", policy)
    with mixer_serving(folder / name, *options, port=port) as served:
        yield served


def test_answers_pass_through_both_partners_to_the_report(tmp_path: Path) -> None:
    """A partner that is down is waited for; parts and partners are killed on the way.

    The organiser sees that partners answer, and their signed erasures. A collector's folder that is
    restored from a copy releases nothing that the next party has.
    """
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        first = stack.enter_context(mixer(tmp_path, "university", ports[0]))
        with mixer(tmp_path, "union", ports[1]) as second:
            survey = paired(tmp_path, [first.address, second.address], batches=2)
            kill(second.process.pid)
        folder = folder_beside(survey)
        assert told("run", survey, "--check")["surveys"] == [str(folder.path)]
        with running(survey) as site:
            site.wait("receiving")
            site.wait("partner", name="university", answers=True, held=1)
            silent = site.wait("partner", name="union", answers=False)
            assert "cannot be reached" in silent["what"]
            answered(folder, site.wait("serving")["url"])
        shutil.copytree(folder.collector, tmp_path / "older")
        done("close", survey, "--yes")
        with running(survey) as site:
            site.wait("released", people=PEOPLE)
            site.wait("passed on", to="university", what="")
            done("close", survey, "--yes --erase")  # no second batch comes
            for part in ("passing on", "receiver", "analyst"):
                since = len(site.events)
                kill(site.number_of(part))
                site.wait("started", since, part=part)
            stack.enter_context(mixer(tmp_path, "union", ports[1]))
            assert site.wait("reported")["people"] == PEOPLE
            for name in ("university", "union"):
                done_by = site.wait("partner", name=name, answers=True, held=0)
                assert done_by["erased"] == [{"round": 1, "reason": "closed"}]
        shutil.rmtree(folder.collector)
        shutil.copytree(tmp_path / "older", folder.collector)
        done("close", survey, "--yes")
        with running(survey) as site:
            trouble = site.wait("trouble", part="passing on")["what"]
            assert "university has it already" in trouble
    results = read_results(folder.analyst / "results.json")
    assert (results.people, results.kept) == (PEOPLE, True)
    assert read_plan(folder.plan).survey.trust.analyst_runs == (1,)
    assert results.siblings == Siblings(lists=("university", "union"), plans=())
    assert len(list(folder.incoming.glob("*.parquet"))) == 1
    assert not list(folder.batches(1).glob("*.parquet"))


def test_another_analyst_gets_everything_by_one_link(tmp_path: Path) -> None:
    """Its site gives the key and takes the plan; the organiser has neither key nor results."""
    institute = tmp_path / "institute"
    institute.mkdir()
    (institute / "site.toml").write_text(
        INSTITUTE.replace("PORT", str(free_port())), encoding="utf-8"
    )
    with (
        mixer(tmp_path, "university") as served,
        running(institute / "site.toml") as analyst,
    ):
        survey = paired(tmp_path, [served.address], analyst=analyst.wait("awaited")["link"])
        folder = folder_beside(survey)
        with running(survey) as site:
            answered(folder, site.wait("serving")["url"])
            done("close", survey, "--yes")
            assert analyst.wait("reported")["people"] == PEOPLE
            assert not [one for one in site.events if one["event"] == "reported"]
        assert told("run", institute / "site.toml", "--check")["surveys"]
    plan, results = read_plan(folder.plan), institute / "team.krand" / "analyst" / "results.json"
    assert plan.survey.trust.analyst_runs == ()
    assert read_results(results).siblings == Siblings(lists=("university",), plans=())
    assert not any(folder.analyst.iterdir())


def test_a_route_that_leads_here_needs_its_receiver(tmp_path: Path) -> None:
    """Otherwise the last mixer would try for days."""
    with mixer(tmp_path, "university") as served:
        survey = paired(tmp_path, [served.address], batches=2)
    folder = folder_beside(survey)
    text = folder.site_file.read_text(encoding="utf-8")
    without = text.partition("[receiver]")[0] + "[[survey]]" + text.partition("[[survey]]")[2]
    folder.site_file.write_text(without, encoding="utf-8")
    (problem,) = refused("run", survey, "--check")["problems"]
    assert "[receiver]" in problem["rule"]
    folder.site_file.write_text(text, encoding="utf-8")
    route = json.loads(folder.route.read_bytes())
    route["number"] = 2
    folder.route.write_text(json.dumps(route), encoding="utf-8")
    (problem,) = refused("run", survey, "--check")["problems"]
    assert "signed by the plan's organiser" in problem["rule"]


def test_rounds_of_a_schedule_pass_through_both_partners(tmp_path: Path) -> None:
    """Three days, three mixers: each round is reported, and its keys are erased when it is.

    The second day is left out; its keys are erased when partners are asked.
    """
    today = datetime.now(UTC).date()
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp()
    schedule = f'[schedule]\nevery = "day"\nstarts = {today}\n'
    clock = FileClock(str(tmp_path / "clock"))
    clock.set(midnight + 3600)
    with ExitStack() as stack:
        partners = [stack.enter_context(mixer(tmp_path, name)) for name in ("north", "south")]
        addresses = [each.address for each in partners]
        survey = paired(tmp_path, addresses, rounds=3, schedule=schedule)
        folder = folder_beside(survey)
        plan, identity = read_plan(folder.plan), read_identity(folder.identity)
        route = route_of(folder, plan)
        assert route is not None
        site = stack.enter_context(running(survey, clock))
        url = site.wait("serving")["url"]
        for number, then, left in ((1, 3, 2), (3, 4, 1)):
            clock.set(midnight + (number - 1) * 86400 + 3600)
            if number > 1:
                site.wait("opened", round=number)
            answered(folder, url, 4 + number, clock.steady)
            clock.set(midnight + (then - 1) * 86400 + 1)
            assert site.wait("reported", round=number)["people"] == 4 + number
            for station in route.stations:
                if station.hop > 1:
                    with Conversation(identity, station.address) as talk:
                        assert held_keys(talk, station, plan) == left
        assert Path(site.wait("followed", rounds=2)["page"]).is_file()
        site.end()
        site = stack.enter_context(running(survey, clock))
        for name in ("north", "south"):
            site.wait("partner", name=name, answers=True, held=0)


def test_a_campaign_goes_on_with_new_keys_for_each_period(tmp_path: Path) -> None:
    """Five months, a quarter at a time, at one address: every round once, every period paid once.

    Mixers have no key of a later quarter; whoever asks for one of its rounds is refused.
    """
    starts = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    schedule = f'[schedule]\nevery = "month"\nstarts = {starts.date()}\n'
    schedule += 'promise = "quarter"\nkeys = "period"\n'
    clock, ledgers = FileClock(str(tmp_path / "clock")), [UnsafeMemoryLedger() for _ in range(7)]
    clock.set(starts.timestamp() + 3600)
    with ExitStack() as stack:
        partners = [stack.enter_context(mixer(tmp_path, name)) for name in ("north", "south")]
        addresses = [each.address for each in partners]
        survey = paired(tmp_path, addresses, rounds=5, schedule=schedule, form=free_port())
        folder, later = folder_beside(survey), tmp_path / "team-2.toml"
        site = stack.enter_context(running(survey, clock))
        url = site.wait("serving")["url"]
        reports = []
        for number in range(1, 6):
            plan = read_plan(folder.plan)
            schedule_now = plan.survey.schedule
            assert schedule_now is not None
            begins, ends = schedule_now.window(number)
            clock.set(begins + 3600)
            devices = [
                Client(
                    plan,
                    ledger,
                    expected_hash=plan.hash,
                    signatures=signatures_in(folder),
                    now=clock.steady,
                )
                for ledger in ledgers
            ]
            site.wait_until(partial(is_open, devices[0], url, number))
            for device in devices[number % 3 :]:
                assert device.submit(url, {"fair": True}).round == number
            if number == 2:
                assert "end with round 3" in site.wait("keys end")["what"]
                assert "end with round 3" in done("status", survey).output
                changed = survey.read_text(encoding="utf-8").replace('"team"', '"team-2"')
                changed = changed.replace("keys =", 'campaign = "team"\nfirst = 4\nkeys =')
                later.write_text(changed, encoding="utf-8")
                done("pair --no-anchor", later, "--site", folder.site_file)
                site.wait("changed", surveys=2)
            clock.set(ends + 1)
            reports.append(site.wait("reported", round=number)["people"])
            last = plan.survey.last_round
            route, identity = route_of(folder, plan), read_identity(folder.identity)
            assert route is not None
            for station in route.stations:
                if station.hop > 1:
                    with Conversation(identity, station.address) as talk:
                        assert held_keys(talk, station, plan) == last - number
            if number == last == 3:
                folder = folder_beside(later)
                serving = site.wait("serving", survey=str(folder.path))
                assert serving["url"] == url
                clock.set(ends + 3600)
                with pytest.raises(InvalidInput, match="from 1 to 3"):
                    devices[0].submit(url, {"fair": True}, 4)
                with pytest.raises(InvalidInput, match="from 1 to 3"):
                    open_spool(plan, tmp_path / "spool", 4)
                with pytest.raises(NotDelivered, match="404"):  # the address has another plan now
                    devices[0].submit(url, {"fair": True})
        page = site.wait("followed", rounds=5)["page"]
        assert reports == [6, 5, 7, 6, 5]
        events = [(e["event"], e.get("round")) for e in site.events]
        assert [events.count(("round closed", n)) for n in range(1, 6)] == [1] * 5
    assert Path(page).parent == folder.analyst
    promise = read_plan(folder.plan).promise.epsilon
    spent = [each.spent().epsilon for each in ledgers]
    assert spent == [promise, *[2 * promise] * 6]  # the first one was away in the second period
