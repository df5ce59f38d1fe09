"""What goes on for months: a year of rounds, clocks at random, plans of a quarter: at night."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from chaos import free_port, until
from command_line import done
from components import require
from effort import EFFORT
from krand import read_plan
from krand.testing import UnsafeMemoryLedger
from real.processes.organisations import (
    DAY,
    HOUR,
    MIDNIGHT,
    Partner,
    Site,
    SiteClock,
    kill,
    paired,
    survey_text,
)
from real.processes.test_kills import sent

pytestmark = pytest.mark.nightly
for name in ("uvicorn", "starlette", "mnemonic"):
    require(name)

ROUNDS, PEOPLE = min(52, 4 + EFFORT), 4 * EFFORT


@pytest.mark.parametrize("mixers", [1, 3])
def test_a_year_of_rounds_with_people_who_come_and_go(tmp_path: Path, mixers: int) -> None:
    """Every round has all that were acknowledged, once; everybody pays for one promise."""
    draw, came = random.Random(), Counter[int]()
    clock = SiteClock(str(tmp_path / "clock"))
    clock.set(MIDNIGHT + HOUR)
    with ExitStack() as stack:
        partners = [Partner(tmp_path, name) for name in ("north", "south")[: mixers - 1]]
        for partner in partners:
            stack.callback(partner.end)
        survey = tmp_path / "team.toml"
        if mixers > 1:
            paired(tmp_path, partners, ROUNDS)
        else:
            survey.write_text(survey_text(1, ROUNDS), encoding="utf-8")
        site = Site(survey, clock)
        stack.callback(site.end)
        site.url()
        people = [site.device(clock.steady) for _ in range(PEOPLE)]
        for number in range(1, ROUNDS + 1):
            clock.set(MIDNIGHT + (number - 1) * DAY + HOUR)
            for device in draw.sample(people, draw.randint(PEOPLE // 2, PEOPLE)):
                until(partial(sent, site, device, number), what=f"round {number}")
                came[number] += 1
        clock.set(MIDNIGHT + ROUNDS * DAY + HOUR)
        until(lambda: len(site.results()) == ROUNDS, 3000, what="all results")
        results = site.results()
    for number, each in results.items():
        (row,) = (one for one in each.questions[0].rows if one.label == "yes")
        assert each.people == came[number]
        assert abs(row.count - came[number]) <= 6 * row.standard_error
    promise = people[0].plan.survey.policy.epsilon
    assert {device.ledger.spent().epsilon for device in people} <= {0, promise}


def test_killed_and_with_clocks_that_jump_rounds_keep_their_schedule(tmp_path: Path) -> None:
    """kill -9 of any part or of all, clocks that are a week off: nothing lost, nothing twice."""
    kills, rounds, draw, came = 6 * EFFORT, 3, random.Random(), Counter[int]()
    survey, clock = tmp_path / "team.toml", SiteClock(str(tmp_path / "clock"))
    survey.write_text(survey_text(1, rounds), encoding="utf-8")
    clock.set(MIDNIGHT + HOUR)
    site = Site(survey, clock)
    try:
        site.url()
        for number in range(1, rounds + 1):
            clock.set(MIDNIGHT + (number - 1) * DAY + HOUR)
            for _ in range(-(-kills // rounds)):
                until(partial(sent, site, site.device(clock.steady), number), what=f"{number}")
                came[number] += 1
                clock.jump(draw.choice((-7, 0, 7)) * DAY)
                part = draw.choice(("site", "collector", "passing on", "analyst", "console"))
                if part == "site":
                    kill(site.process)
                    clock.set(clock.steady())
                    site.again()
                elif part in site.parts():
                    kill(site.parts()[part])
                clock.set(clock.steady() + draw.random() * HOUR / kills)
        clock.set(MIDNIGHT + rounds * DAY + HOUR)
        until(lambda: len(site.results()) == rounds, 3000, what="all results")
    finally:
        site.end()
    assert {number: each.people for number, each in site.results().items()} == came
    assert len([*site.folder.rglob("collector/batches/**/*.batch")]) == rounds


def test_a_plan_a_quarter_goes_on_with_new_keys(tmp_path: Path) -> None:
    """Every month once, every quarter paid for once; and no key serves two of them."""
    starts = datetime.now(UTC).replace(day=1).date()
    monthly = f'every = "month"\nstarts = {starts}\npromise = "quarter"\n'
    daily = f'every = "day"\nstarts = {datetime.now(UTC).date()}\n'
    text = survey_text(2, 5).replace(daily, monthly)
    clock, ledgers = SiteClock(str(tmp_path / "clock")), [UnsafeMemoryLedger() for _ in range(4)]
    people, keys = Counter[int](), list[set[str]]()
    north, identity = Partner(tmp_path, "north"), tmp_path / "team-1.krand/collector/identity.pem"
    try:
        for first, rounds in ((1, (1, 2, 3)), (4, (4, 5))):
            survey = tmp_path / f"team-{first}.toml"
            more = f'campaign = "team"\nfirst = {first}\n' if first > 1 else ""
            named = text.replace('"team"', f'"team-{first}"' if first > 1 else '"team"')
            survey.write_text(named.replace(monthly, monthly + more), encoding="utf-8")
            own = f"--no-anchor --form-at 127.0.0.1:0 --address https://127.0.0.1:{free_port()}"
            known = ("--identity", identity) if first > 1 else ()
            done("pair", survey, own, "--mixer", north.link, *known)
            plan = read_plan(survey.with_suffix(".krand") / "plan.json")
            schedule = plan.survey.schedule
            assert schedule is not None
            keys.append({*plan.mixers[1].keys})
            clock.set(schedule.window(rounds[0])[0] + HOUR)
            site = Site(survey, clock)
            try:
                for number in rounds:
                    clock.set(schedule.window(number)[0] + HOUR)
                    for ledger in ledgers[number % 2 :]:
                        until(partial(sent, site, site.device(clock.steady, ledger), number))
                        people[number] += 1
                done("close --end --yes", survey)
                until(lambda site=site, rounds=rounds: len(site.results()) == len(rounds), 600)
                for number, each in site.results().items():
                    assert each.people == people[number]
            finally:
                site.end()
    finally:
        north.end()
    assert keys[0].isdisjoint(keys[1])
    promise = plan.survey.policy.epsilon
    assert [ledger.spent().epsilon for ledger in ledgers] == [2 * promise] * 4
