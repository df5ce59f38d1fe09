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
from krand import Client
from krand.analysis.results_file import read_results
from krand.partners.identity import read_identity
from krand.partners.siblings import Siblings
from krand.partners.talking import Conversation, held_keys
from krand.site.checks import route_of, signatures_in
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder, folder_beside
from krand.testing import FileClock, UnsafeMemoryLedger
from partners.processes import POLICY, Served, mixer_serving
from site_processes import PEOPLE, answered, free_port, is_open, kill, pair_with, paired, running

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
            survey = paired(tmp_path, [first.address, second.address])
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
            for part in ("passing on", "receiver", "analyst"):
                since = len(site.events)
                kill(site.number_of(part))
                site.wait("started", since, part=part)
            stack.enter_context(mixer(tmp_path, "union", ports[1]))
            assert site.wait("reported")["people"] == PEOPLE
            for name in ("university", "union"):
                done_by = site.wait("partner", name=name, answers=True, held=0)
                assert done_by["erased"] == [{"round": 1, "reason": "mixed"}]
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
        survey = paired(tmp_path, [served.address])
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


def test_a_plan_a_quarter_goes_on_with_new_keys(tmp_path: Path) -> None:
    """Five months of one campaign, at one address: every round once, every quarter paid for once.

    The first plan is ended with its quarter. Mixers have other keys for the next one.
    """
    starts = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    schedule = f'[schedule]\nevery = "month"\nstarts = {starts.date()}\npromise = "quarter"\n'
    clock, ledgers = FileClock(str(tmp_path / "clock")), [UnsafeMemoryLedger() for _ in range(7)]
    form, reports, plans = free_port(), list[int](), list[Plan]()
    with ExitStack() as stack:
        partners = [stack.enter_context(mixer(tmp_path, name)) for name in ("north", "south")]
        addresses = [each.address for each in partners]
        survey = paired(tmp_path, addresses, rounds=5, schedule=schedule, form=form)
        for rounds in ((1, 2, 3), (4, 5)):
            folder = folder_beside(survey)
            plan = read_plan(folder.plan)
            plans.append(plan)
            assert plan.survey.schedule is not None
            clock.set(plan.survey.schedule.window(rounds[0])[0] + 3600)
            with running(survey, clock) as site:
                url = site.wait("serving")["url"]
                assert url.endswith(f":{form}")
                for number in rounds:
                    devices = devices_of(plan, folder, ledgers, clock)
                    begins, ends = plan.survey.schedule.window(number)
                    clock.set(begins + 3600)
                    site.wait_until(partial(is_open, devices[0], url, number))
                    for device in devices[number % 3 :]:
                        assert device.submit(url, {"fair": True}).round == number
                    if number == 3:
                        done("close --end --yes", survey)
                    else:
                        clock.set(ends + 1)
                    reports.append(site.wait("reported", round=number)["people"])
                page = site.wait("followed", rounds=number)["page"]
            if number == 3:
                text = survey.read_text(encoding="utf-8").replace('"team"', '"team-2"')
                more = 'promise = "quarter"\ncampaign = "team"\nfirst = 4\n'
                survey = tmp_path / "team-2.toml"
                survey.write_text(text.replace('promise = "quarter"\n', more), encoding="utf-8")
                pair_with(survey, addresses, form, "--identity", folder.identity)
    assert reports == [6, 5, 7, 6, 5]
    assert Path(page).parent == folder.analyst
    first, second = ({*plan.mixing.mixers[1].keys} for plan in plans)
    assert first.isdisjoint(second)
    promise = plans[0].promise.epsilon
    spent = [each.spent().epsilon for each in ledgers]
    assert spent == [promise, *[2 * promise] * 6]  # the first one was away in the second quarter


def devices_of(
    plan: Plan, folder: SurveyFolder, ledgers: list[UnsafeMemoryLedger], clock: FileClock
) -> list[Client]:
    """A device with each ledger."""
    signatures = signatures_in(folder)
    return [
        Client(plan, ledger, expected_hash=plan.hash, signatures=signatures, now=clock.steady)
        for ledger in ledgers
    ]
