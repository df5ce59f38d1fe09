"""All rounds of somebody who always answers the same, with the promise of all of them and without.

The attacker knows what everybody else answered, sees every noisy count, and guesses yes or no by
the likelihood of all of them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import krand
import oracle
import steps
import world
from krand.testing import FakeCollector, UnsafeMemoryLedger

WEEKS, TRIES = 52, 4_000
CHANCE = 5 * 0.5 / math.sqrt(TRIES)
STARTS = date(2027, 1, 4)
ONE_ROUND = math.e / (1 + math.e) + 1e-6
"""How often a guess is right at most if a plan keeps ε = 1."""


def answered(plans: list[tuple[krand.Plan, int]], ledger: UnsafeMemoryLedger | None) -> int:
    """How often a device answers when it is asked under these plans, each in its own week."""
    count = 0
    for plan, number in plans:
        assert plan.survey.schedule is not None
        opens = plan.survey.schedule.window(number)[0]
        client = steps.device(
            plan,
            ledger,
            transport=FakeCollector(plan, number),
            now=lambda opens=opens: opens,  # type: ignore[misc]
        )
        with suppress(krand.CampaignSpent):
            client.submit({"fair": True})
            count += 1
    return count


def test_a_survey_that_changes_every_week_needs_the_ledger() -> None:
    """Each plan promises its ε for its only round. Without a ledger, 52 of them tell the answer."""
    sealed, plans = steps.named(world.plan("tiny")), []
    for number in range(1, WEEKS + 1):  # the same campaign, from another week on each time
        schedule = krand.Schedule(every="week", starts=STARTS, promise="round", first=number)
        changed = sealed.survey.changed(rounds=number, schedule=schedule)
        plans.append((replace(sealed, survey=changed), number))
    alone, charged = answered(plans, None), answered(plans, UnsafeMemoryLedger())
    assert (alone, charged) == (WEEKS, 1)
    plan = world.plan("trio")
    weights = plan.law_of(plan.lanes[0]).weights
    assert oracle.right_guesses(weights, alone, TRIES, 1) > 0.9
    assert oracle.right_guesses(weights, charged, TRIES, 2) <= ONE_ROUND + CHANCE


def test_a_year_under_one_promise_tells_no_more_than_one_round() -> None:
    """The noise of a plan with several rounds is for all of them together."""
    year = f'rounds = {WEEKS}\n[schedule]\nevery = "week"\nstarts = {STARTS}\n[policy]'
    text = world.survey_file("trio").read_text("utf-8").replace("mixers = 3", "mixers = 1")
    plan = krand.make_plan(krand.parse_survey(text.replace("[policy]", year)))
    found = oracle.right_guesses(plan.law_of(plan.lanes[0]).weights, WEEKS, TRIES, 3)
    assert 0.5 < found <= ONE_ROUND + CHANCE, f"{found:.3f} of the guesses are right"


def test_a_ledger_is_not_made_through_a_link(tmp_path: Path) -> None:
    """One that leads nowhere is refused; one to a ledger elsewhere is its owner's choice."""
    (tmp_path / "ledger").symlink_to(tmp_path / "planted")
    with pytest.raises(krand.InvalidInput, match="ledger"):
        krand.Ledger(tmp_path / "ledger")
    assert not (tmp_path / "planted").exists()
    krand.Ledger(tmp_path / "planted")
    krand.Ledger(tmp_path / "ledger")
