"""Rounds of a campaign on a device: windows, periods, changed surveys, the averaging attack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from krand.client.client import Client
from krand.client.ledger import AlreadySubmitted, CampaignSpent, Ledger
from krand.client.sending import NotDelivered
from krand.errors import InvalidInput
from krand.planning.successors import succession
from krand.survey.plan import Plan
from krand.survey.schedule import Schedule
from krand.testing import FakeCollector, UnsafeMemoryLedger, small_plan
from krand.wire.keys import generate_private_key

STARTS = date(2027, 1, 4)
KEY = generate_private_key().public_key()
ANSWERS = {"smokes": True}


def plan_for(rounds: int = 52, **given: object) -> Plan:
    """The small plan with a schedule: devices believe its promise, whatever its noise."""
    plan = small_plan().sealed_for(KEY)
    values = {"every": "week", "starts": STARTS, **given}
    schedule = Schedule(**values)  # type: ignore[arg-type]
    return replace(plan, survey=replace(plan.survey, rounds=rounds, schedule=schedule))


def week(number: int, hours: float = 1) -> Callable[[], float]:
    """The clock of a device so many hours into a week."""
    begins = datetime(STARTS.year, STARTS.month, STARTS.day, tzinfo=UTC)
    now = begins + timedelta(weeks=number - 1, hours=hours)
    return now.timestamp


def device(plan: Plan, ledger: Ledger, number: int, now: Callable[[], float]) -> Client:
    """One whose collector says that this round is open."""
    transport = FakeCollector(plan, number)
    return Client(plan, ledger, expected_hash=plan.hash, transport=transport, now=now)


def answer(plan: Plan, ledger: Ledger, number: int) -> None:
    client = device(plan, ledger, number, week(number))
    assert client.submit(FakeCollector.url, ANSWERS).round == number


def test_a_collector_cannot_ask_a_year_in_a_day() -> None:
    """Whatever it says is open: only the window of the plan is answered, and that once."""
    plan, ledger = plan_for(), UnsafeMemoryLedger()
    for number in range(1, 53):
        client = device(plan, ledger, number, week(7))
        if number == 7:
            client.submit(FakeCollector.url, ANSWERS)
            with pytest.raises(AlreadySubmitted):
                client.submit(FakeCollector.url, ANSWERS)
            continue
        for asked in (None, number):
            with pytest.raises(InvalidInput, match="open by this device's clock"):
                client.submit(FakeCollector.url, ANSWERS, asked)
    assert [entry.round for entry in ledger.entries()] == [7]


@pytest.mark.parametrize("hours", [-0.001, 168, 168 * 60])
def test_clocks_before_and_after_a_window_answer_nothing(hours: float) -> None:
    client = device(plan_for(), UnsafeMemoryLedger(), 3, week(3, hours))
    with pytest.raises(InvalidInput, match="round"):
        client.submit(FakeCollector.url, ANSWERS)


def test_a_collector_that_is_closed_or_silent_or_lies_is_told() -> None:
    plan = plan_for()
    client = device(plan, UnsafeMemoryLedger(), 1, week(1))

    class Odd(FakeCollector):
        told = b""

        def get(self, url: str) -> bytes:
            return self.told

    odd = client.transport = Odd(plan)
    for told in (b"", b"[]", b"null", b'{"round": 1}'):
        odd.told = told
        with pytest.raises(NotDelivered):
            client.open_round(odd.url)
    for told in (b'{"round": 1, "open": false}', b'{"round": "1", "open": true}'):
        odd.told = told
        with pytest.raises(InvalidInput, match="must be open"):
            client.open_round(odd.url)
    for number in (0, 53, -1, 10**30):
        odd.told = b'{"round": %d, "open": true}' % number
        with pytest.raises(InvalidInput, match="from 1 to 52"):
            client.open_round(odd.url)


def test_what_a_closed_round_left_behind_is_erased_and_stays_charged(tmp_path: Path) -> None:
    """Nothing sealed moves between rounds; the open round is answered anew, once."""
    plan, ledger = plan_for(promise="round"), Ledger(tmp_path / "ledger")
    first = device(plan, ledger, 1, week(1)).prepare(ANSWERS)
    again = device(plan, ledger, 1, week(1)).prepare({})
    assert (again.messages, again.kept) == (first.messages, True)
    second = device(plan, ledger, 2, week(2)).prepare(ANSWERS, 2)
    assert not {*first.messages} & {*second.messages}
    states = {entry.round: (entry.acknowledged, entry.unsent) for entry in ledger.entries()}
    assert states == {1: (False, True), 2: (False, False)}
    assert ledger.spent().epsilon == 2 * plan.promise.epsilon
    content = ledger.path.read_bytes()
    assert not any(message in content for message in first.messages)
    assert all(message[:32] in content for message in second.messages[:1])


def test_what_an_earlier_plan_of_the_campaign_left_behind_is_erased_too(tmp_path: Path) -> None:
    """With a changed survey, as with a plan a quarter; another campaign's stays."""
    ledger = Ledger(tmp_path / "ledger")
    old, other = plan_for(promise="round"), plan_for(promise="round", campaign="other")
    for plan in (old, other):
        device(plan, ledger, 4, week(4)).prepare(ANSWERS, 4)
    device(plan_for(promise="round", first=5), ledger, 5, week(5)).prepare(ANSWERS, 5)
    assert [each.plan_hash for each in ledger.entries() if each.unsent] == [old.hash]
    assert ledger.spent().epsilon == 3 * old.promise.epsilon


@pytest.mark.parametrize(("promise", "paid"), [("campaign", 1), ("quarter", 4), ("round", 52)])
def test_each_period_is_paid_for_once(promise: str, paid: int) -> None:
    plan, ledger = plan_for(promise=promise), UnsafeMemoryLedger()
    for number in range(1, 53):
        answer(plan, ledger, number)
    spent = ledger.spent()
    assert spent.epsilon == pytest.approx(paid * plan.promise.epsilon)
    assert spent.delta == pytest.approx(paid * plan.promise.delta)
    assert spent.surveys == 1


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], int, int | None]] = {
    # Of the first plan, of the second, rounds answered of the first, first round that is taken.
    "in the middle of a campaign": ({}, {"first": 20}, 19, None),
    "from the start": ({}, {}, 1, None),
    "in the middle of a quarter": ({"promise": "quarter"}, {"promise": "quarter"}, 10, 14),
    "at a quarter": ({"promise": "quarter"}, {"promise": "quarter", "first": 14}, 13, 14),
    "another period": ({"promise": "quarter"}, {"promise": "round", "first": 14}, 13, None),
    "with less promised": ({}, {"promise": "round", "first": 20}, 19, None),
    "round by round": ({"promise": "round"}, {"promise": "round", "first": 5}, 4, 5),
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
    most = old.survey.periods * old.promise.epsilon
    allowed = []
    for number in range(answered + 1, 53):
        with suppress(CampaignSpent):
            answer(new, ledger, number)
            allowed.append(number)
        assert ledger.spent().epsilon <= most * (1 + 1e-9)
    if change == "another period":  # four times ε of a quarter; three are left, and then none
        assert allowed == [14, 15, 16]
    else:
        assert allowed == ([] if taken is None else [*range(taken, 53)])


def test_a_plan_a_quarter_is_one_campaign() -> None:
    """Each is answered in its quarter; all of them spend what the first one stated."""
    ledger, total = UnsafeMemoryLedger(), 4 * plan_for().promise.epsilon
    for first in (1, 14, 27, 40):
        plan = plan_for(promise="quarter", first=first)
        charge = plan.charge(first)
        assert charge is not None
        assert (charge.first, charge.last, charge.most_epsilon) == (first, first + 12, total)
        for number in (first, first + 12):
            answer(plan, ledger, number)
        with pytest.raises(InvalidInput, match=f"from {first} to 52"):
            device(plan, ledger, first - 1, week(first - 1)).submit(FakeCollector.url, ANSWERS)
    assert ledger.spent().epsilon == pytest.approx(total)
    assert ledger.spent().surveys == 4
    with pytest.raises(InvalidInput, match="from 40 to 52"):
        device(plan, ledger, 53, week(53)).submit(FakeCollector.url, ANSWERS)


def test_a_plan_that_ends_with_its_quarter_stated_no_more_than_that() -> None:
    """The next quarter is then a campaign of its own, which is spent beside the first."""
    ledger, epsilon = UnsafeMemoryLedger(), plan_for().promise.epsilon
    answer(plan_for(13, promise="quarter"), ledger, 13)
    with pytest.raises(CampaignSpent):
        answer(plan_for(26, promise="quarter", first=14), ledger, 14)
    answer(plan_for(26, promise="quarter", first=14, campaign="spring"), ledger, 14)
    assert ledger.spent().epsilon == 2 * epsilon


def test_what_two_plans_spend_is_what_a_device_that_answers_all_their_rounds_spends() -> None:
    """As krand plan --after says: every period counts, and a campaign only up to its total.

    It says so, too, where a device that answered all rounds before the new plan is refused.
    """
    year: dict[str, Any] = {"promise": "quarter"}
    once, other = dict[str, Any](), {"campaign": "other"}
    for before, after, periods, refused in (
        (plan_for(**year), plan_for(**year, first=14), 4, False),
        (plan_for(**year), plan_for(**year), 4, False),
        (plan_for(13, **year), plan_for(26, **year, first=14), 1, True),
        (plan_for(**year), plan_for(**year | other), 8, False),
        (plan_for(**once), plan_for(**once | other), 2, False),
        (plan_for(26, **year), plan_for(**year, first=27), 2, True),
    ):
        ledger, left_out = UnsafeMemoryLedger(), False
        for plan, last in ((before, after.survey.first_round - 1), (after, 52), (before, 52)):
            for number in range(plan.survey.first_round, min(last, plan.survey.rounds) + 1):
                with suppress(AlreadySubmitted):
                    try:
                        answer(plan, ledger, number)
                    except CampaignSpent:
                        left_out |= plan is after
        said, spent = succession(after, before), ledger.spent()
        assert said.refused is left_out is refused
        assert (said.epsilon, said.delta) == pytest.approx((spent.epsilon, spent.delta))
        assert said.epsilon == pytest.approx(periods * after.promise.epsilon)


def test_a_plan_that_comes_less_close_to_its_delta_spends_less_of_the_same_total() -> None:
    """Another question, or a shorter last period, changes δ within what the survey asks for."""
    ledger, plan = UnsafeMemoryLedger(), plan_for(promise="quarter")
    less = replace(plan.promise, delta=plan.promise.delta / 3)
    answer(plan, ledger, 13)
    for first in (14, 27, 40):
        answer(replace(plan_for(promise="quarter", first=first), promise=less), ledger, first)
    assert ledger.spent().delta == pytest.approx(2 * plan.promise.delta)


def test_a_campaign_of_another_name_is_another_one() -> None:
    ledger = UnsafeMemoryLedger()
    answer(plan_for(), ledger, 1)
    answer(plan_for(campaign="other"), ledger, 2)
    assert ledger.spent().epsilon == 2 * plan_for().promise.epsilon
