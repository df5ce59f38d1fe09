"""Rounds of a campaign on a device: windows, periods, changed surveys, the averaging attack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import krand
import steps
from krand.testing import FakeCollector, UnsafeMemoryLedger, small_plan

STARTS = date(2027, 1, 4)
KEY = krand.generate_private_key()
ANSWERS = {"smokes": True}


def plan_for(rounds: int = 52, **given: object) -> krand.Plan:
    """The small plan with a schedule: devices believe its promise, whatever its noise."""
    plan = steps.named(small_plan(), KEY)
    values: dict[str, Any] = {"every": "week", "starts": STARTS, **given}
    schedule = krand.Schedule(**values)
    return replace(plan, survey=plan.survey.changed(rounds=rounds, schedule=schedule))


def week(number: int, hours: float = 1) -> Callable[[], float]:
    """The clock of a device so many hours into a week."""
    begins = datetime(STARTS.year, STARTS.month, STARTS.day, tzinfo=UTC)
    now = begins + timedelta(weeks=number - 1, hours=hours)
    return now.timestamp


def device(
    plan: krand.Plan, ledger: krand.Ledger, number: int, now: Callable[[], float]
) -> krand.Client:
    """One whose collector says that this round is open."""
    transport = FakeCollector(plan, number)
    return steps.device(plan, ledger, transport=transport, now=now)


def answer(plan: krand.Plan, ledger: krand.Ledger, number: int) -> None:
    client = device(plan, ledger, number, week(number))
    assert client.submit(ANSWERS) == number


def test_a_collector_cannot_ask_a_year_in_a_day() -> None:
    """Whatever it says is open: only the window of the plan is answered, and that once."""
    plan, ledger = plan_for(), UnsafeMemoryLedger()
    for number in range(1, 53):
        client = device(plan, ledger, number, week(7))
        if number == 7:
            client.submit(ANSWERS)
            with pytest.raises(krand.AlreadySubmitted):
                client.submit(ANSWERS)
            continue
        for asked in (None, number):
            with pytest.raises(krand.InvalidInput, match="open by this device's clock"):
                client.submit(ANSWERS, asked)
    assert [entry.round for entry in ledger.entries()] == [7]


@pytest.mark.parametrize(
    ("hours", "is_open"), [(-0.001, False), (0, True), (167.999, True), (168, False)]
)
def test_a_window_begins_and_ends_by_the_devices_clock(hours: float, is_open: bool) -> None:
    client = device(plan_for(), UnsafeMemoryLedger(), 3, week(3, hours))
    if is_open:
        assert client.submit(ANSWERS) == 3
    else:
        with pytest.raises(krand.InvalidInput, match="round: must be open by this device's clock"):
            client.submit(ANSWERS)


def test_a_collector_that_is_closed_or_silent_or_lies_is_told() -> None:
    plan = plan_for()
    client = device(plan, UnsafeMemoryLedger(), 1, week(1))

    class Odd(FakeCollector):
        told = b""

        def get(self, url: str) -> Any:
            return replace(super().get(url), content=self.told)

    odd = client.transport = Odd(plan)
    for told in (
        b"",
        b"[]",
        b"null",
        b'{"round": 1}',
        b"[" * 4_000,
        b'{"round": 1, "open": false}',
        b'{"round": "1", "open": true}',
    ):
        odd.told = told
        with pytest.raises(krand.InvalidInput, match="must be open"):
            client.submit(ANSWERS)
    for number in (0, 53, -1, 10**30):
        odd.told = b'{"round": %d, "open": true}' % number
        with pytest.raises(krand.InvalidInput, match="from 1 to 52"):
            client.submit(ANSWERS)
    assert client.ledger.entries() == ()


def test_what_a_closed_round_left_behind_is_erased_and_stays_charged(tmp_path: Path) -> None:
    """Nothing sealed moves between rounds, also if the survey was changed in between."""
    plan, ledger = plan_for(promise="round"), krand.Ledger(tmp_path / "ledger")
    first = device(plan, ledger, 1, week(1)).prepare(ANSWERS)
    assert first.messages[0] in (tmp_path / "ledger").read_bytes()
    second = device(plan, ledger, 2, week(2)).prepare(ANSWERS, 2)
    assert not {*first.messages} & {*second.messages}
    assert first.messages[0] not in (tmp_path / "ledger").read_bytes()
    states = {entry.round: (entry.acknowledged, entry.unsent) for entry in ledger.entries()}
    assert states == {1: (False, True), 2: (False, False)}
    with pytest.raises(krand.AlreadySubmitted):
        device(plan, ledger, 1, week(1)).prepare(ANSWERS)
    device(plan_for(promise="round", first=5), ledger, 5, week(5)).prepare(ANSWERS, 5)
    unsent = [(each.plan_hash, each.round) for each in ledger.entries() if each.unsent]
    assert sorted(unsent) == [(plan.hash, 1), (plan.hash, 2)]
    assert ledger.spent().epsilon == pytest.approx(3 * plan.survey.policy.epsilon)


@pytest.mark.parametrize(("promise", "paid"), [("campaign", 1), ("quarter", 4), ("round", 52)])
def test_each_period_is_paid_for_once(promise: str, paid: int) -> None:
    plan, ledger = plan_for(promise=promise), UnsafeMemoryLedger()
    for number in range(1, 53):
        answer(plan, ledger, number)
    spent = ledger.spent()
    assert spent.epsilon == pytest.approx(paid * plan.survey.policy.epsilon)
    assert spent.delta == pytest.approx(paid * plan.survey.policy.delta)
    assert spent.surveys == 1


QUARTER: dict[str, Any] = {"promise": "quarter"}
ROUND: dict[str, Any] = {"promise": "round"}
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], int, range]] = {
    # Of the first plan, of the second, rounds answered of the first, rounds that are then taken.
    "from the start": ({}, {}, 1, range(0)),
    "in the middle of a quarter": (QUARTER, QUARTER, 10, range(14, 53)),
    "at a quarter": (QUARTER, {**QUARTER, "first": 14}, 13, range(14, 53)),
    "with less promised": ({}, {**ROUND, "first": 20}, 19, range(0)),
    "round by round": (ROUND, {**ROUND, "first": 5}, 4, range(5, 53)),
    # Four times ε of a quarter; three are left, and then none.
    "another period": (QUARTER, {**ROUND, "first": 14}, 13, range(14, 17)),
    "of another name": ({}, {"campaign": "other"}, 1, range(2, 53)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_survey_stays_in_its_campaign(change: str) -> None:
    """An option added in week 20 does not start a new ε; with a new period it goes on."""
    before, after, answered, taken = CHANGES[change]
    ledger, old = UnsafeMemoryLedger(), plan_for(**before)
    for number in range(1, answered + 1):
        answer(old, ledger, number)
    new = plan_for(**after, time_zone="Europe/Berlin")
    assert new.hash != old.hash
    most = old.survey.periods * old.survey.policy.epsilon * (1 + (change == "of another name"))
    allowed = []
    for number in range(answered + 1, 53):
        with suppress(krand.CampaignSpent):
            answer(new, ledger, number)
            allowed.append(number)
        assert ledger.spent().epsilon <= most * (1 + 1e-9)
    assert allowed == [*taken]


def test_a_campaign_has_one_plan() -> None:
    """There is no survey that begins in the middle of one promise."""
    with pytest.raises(krand.InvalidInput, match="its only period has a plan already"):
        plan_for(first=20)


def test_a_plan_a_quarter_is_one_campaign() -> None:
    """Each is answered in its quarter; all of them spend what the first one stated."""
    ledger, total = UnsafeMemoryLedger(), 4 * plan_for().survey.policy.epsilon
    for first in (1, 14, 27, 40):
        plan = plan_for(promise="quarter", first=first)
        for number in (first, first + 12):
            answer(plan, ledger, number)
        with pytest.raises(krand.InvalidInput, match=f"from {first} to 52"):
            device(plan, ledger, first - 1, week(first - 1)).submit(ANSWERS)
    assert ledger.spent().epsilon == pytest.approx(total)
    assert ledger.spent().surveys == 4


def test_a_campaign_spends_what_its_first_plan_stated() -> None:
    """One that ends with its quarter stated no more; one that asks for less δ states less."""
    plan = plan_for(13, promise="quarter")
    ledger, policy = UnsafeMemoryLedger(), plan.survey.policy
    answer(plan, ledger, 13)
    with pytest.raises(krand.CampaignSpent):
        answer(plan_for(26, promise="quarter", first=14), ledger, 14)
    answer(plan_for(26, promise="quarter", first=14, campaign="spring"), ledger, 14)
    assert ledger.spent().epsilon == pytest.approx(2 * policy.epsilon)
    ledger, less = UnsafeMemoryLedger(), policy.changed(delta=policy.asked / 3)
    answer(plan_for(promise="quarter"), ledger, 13)
    others = [plan_for(promise="quarter", first=first) for first in (14, 27)]
    others = [replace(each, survey=each.survey.changed(policy=less)) for each in others]
    answer(others[0], ledger, 14)
    assert ledger.spent().delta == pytest.approx(4 * less.asked), "as much as it states in all"
    with pytest.raises(krand.CampaignSpent):
        answer(others[1], ledger, 27)
