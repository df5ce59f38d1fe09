"""A year of weekly rounds with 5,000 people who come and go: one `krand run`, by a test's clock."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from components import require
from effort import LONG
from krand import Client, Receipt, read_plan, read_results
from krand.collector.opening import read_batches
from krand.collector.store import State
from krand.site.checks import signatures_in
from krand.survey.survey_folder import SurveyFolder, folder_beside
from krand.testing import FileClock, UnsafeMemoryLedger
from partners.processes import POLICY, mixer_serving
from site_processes import is_open, paired, running

pytestmark = pytest.mark.check

ROUNDS, PEOPLE = (52, 5_000) if LONG else (3, 60)
WEEK = 7 * 86400.0
AT_ONCE = 8
"""Devices that send together: the collector writes what comes together at once."""


@dataclass(frozen=True)
class Person:
    """Somebody with a device, from the first round that they are there to the last."""

    device: Client
    first: int
    last: int
    often: float
    yes: float

    def takes_part(self, number: int, draw: random.Random) -> bool:
        return self.first <= number <= self.last and draw.random() < self.often


def people_of(folder: SurveyFolder, clock: FileClock, draw: random.Random) -> list[Person]:
    """A third comes late, a third leaves early, and everybody skips rounds."""
    plan, signatures = read_plan(folder.plan), signatures_in(folder)

    def device() -> Client:
        ledger, now = UnsafeMemoryLedger(), clock.steady
        return Client(plan, ledger, expected_hash=plan.hash, signatures=signatures, now=now)

    return [
        Person(
            device=device(),
            first=draw.randint(1, ROUNDS) if draw.random() < 1 / 3 else 1,
            last=draw.randint(1, ROUNDS) if draw.random() < 1 / 3 else ROUNDS,
            often=draw.uniform(0.5, 1),
            yes=draw.random(),
        )
        for _ in range(PEOPLE)
    ]


def submitted(url: str, number: int, person: Person, answer: bool) -> Receipt:
    return person.device.submit(url, {"fair": answer}, number)


@pytest.mark.loop
@pytest.mark.parametrize("mixers", [1, 3])
def test_a_year_of_rounds_with_people_who_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mixers: int
) -> None:
    """Every round is released once, with all that were acknowledged; charged is one campaign."""
    for component in ("uvicorn", "mnemonic"):
        require(component)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    today, draw = datetime.now(UTC).date(), random.Random(30)
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp()
    clock = FileClock(str(tmp_path / "clock"))
    clock.set(midnight + 3600)
    sent, yes = Counter[int](), Counter[int]()
    with ExitStack() as stack:
        policy = tmp_path / "policy.toml"
        policy.write_text(POLICY.replace("rounds = 2", f"rounds = {ROUNDS}"), encoding="utf-8")
        serving = (
            mixer_serving(tmp_path / name, "--name", name, "--no-anchor", "--policy", policy)
            for name in ("north", "south")[: mixers - 1]
        )
        addresses = [stack.enter_context(each).address for each in serving]
        schedule = f'[schedule]\nevery = "week"\nstarts = {today}\n'
        survey = paired(tmp_path, addresses, rounds=ROUNDS, schedule=schedule)
        folder = folder_beside(survey)
        people = people_of(folder, clock, draw)
        site = stack.enter_context(running(survey, clock))
        url = site.wait("serving")["url"]
        for number in range(1, ROUNDS + 1):
            clock.set(midnight + (number - 1) * WEEK + 3600)
            site.wait_until(partial(is_open, people[0].device, url, number))
            came = [person for person in people if person.takes_part(number, draw)]
            answers = [draw.random() < person.yes for person in came]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for receipt in pool.map(partial(submitted, url, number), came, answers):
                    assert (receipt.round, receipt.is_valid) == (number, True)
            sent[number], yes[number] = len(came), sum(answers)
        clock.set(midnight + ROUNDS * WEEK + 3600)
        for number in sent:
            assert site.wait("reported", round=number)["people"] == sent[number]
        site.wait("followed", rounds=ROUNDS)
        told = Counter((one["event"], one.get("part"), one.get("round")) for one in site.events)
    assert told["started", "collector", None] == 1
    assert [told["released", "passing on", number] for number in range(ROUNDS + 2)] == [
        0 < number <= ROUNDS for number in range(ROUNDS + 2)
    ]
    plan = read_plan(folder.plan)
    for number in sent:
        (batch,) = read_batches(plan, folder.spool(number), number)
        assert (batch.state, batch.people) == (State.RELEASED, sent[number])
        results = read_results(folder.results("results.json", number, ROUNDS))
        assert (results.round, results.people, results.kept) == (number, sent[number], True)
        (row,) = (one for one in results.questions[0].rows if one.label == "yes")
        assert abs(row.count - yes[number]) <= 6 * row.standard_error
    spent = {person.device.ledger.spent().epsilon for person in people}
    assert spent == {0, plan.promise.epsilon}
