"""The averaging attack: all rounds of somebody who always answers the same, ledger on and off.

The attacker knows what everybody else answered, sees every noisy count, and guesses yes or no by
the likelihood of all of them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from scipy.stats import norm

from krand import Client, Schedule, make_plan, parse_survey
from krand.client.ledger import CampaignSpent
from krand.survey.plan import Plan
from krand.testing import FakeCollector, UnsafeMemoryLedger
from krand.wire.keys import generate_private_key
from krand.wording.promises import right_guess

pytestmark = pytest.mark.check

ROUNDS, TRIES = 52, 20_000
STARTS = date(2027, 1, 4)
TEXT = """
id = "app"
[policy]
epsilon = 1
delta = 1e-6
[trust]
noise = "mixers"
[[question]]
name = "crashed"
type = "yes_no"
"""


def right_guesses(plan: Plan, rounds: int) -> float:
    """How often the most likely answer is the true one, over people who say yes or no alike."""
    (lane,) = plan.lanes
    weights = np.array(plan.law_of(lane).weights, float)
    law = weights / weights.sum()
    draw = np.random.default_rng(52)
    truth = draw.integers(0, 2, TRIES)
    seen = draw.choice(len(law), (TRIES, rounds), p=law) + truth[:, None]
    with np.errstate(divide="ignore"):
        said_no = np.log([*law, 0.0])[seen].sum(axis=1)
        said_yes = np.log([0.0, *law])[seen].sum(axis=1)
    coin = draw.random(TRIES) < 0.5
    guess = np.where(said_yes == said_no, coin, said_yes > said_no)
    return float((guess == truth).mean())


def answered(plans: list[tuple[Plan, int]], *, has_ledger: bool) -> int:
    """How often a device answers when it is asked under these plans, each in its own week."""
    ledger, count = UnsafeMemoryLedger(), 0
    for plan, number in plans:
        assert plan.survey.schedule is not None
        opens = plan.survey.schedule.window(number)[0]
        client = Client(
            plan,
            ledger if has_ledger else UnsafeMemoryLedger(),
            expected_hash=plan.hash,
            transport=FakeCollector(plan, number),
            now=lambda opens=opens: opens,  # type: ignore[misc]
        )
        with suppress(CampaignSpent):
            client.submit(FakeCollector.url, {"crashed": True})
            count += 1
    return count


def test_a_year_of_one_answer_stays_within_the_promise() -> None:
    """52 rounds under one promise: σ is 30.4, and the attacker is right about as often as not."""
    survey = replace(
        parse_survey(TEXT), rounds=ROUNDS, schedule=Schedule(every="week", starts=STARTS)
    )
    plan = make_plan(survey)
    sigma = plan.precision_of("crashed").sigma
    assert sigma == pytest.approx(30.4, abs=0.1)
    found = right_guesses(plan, ROUNDS)
    expected = norm.cdf(math.sqrt(ROUNDS) / (2 * sigma))  # by the normal law
    assert found == pytest.approx(expected, abs=5 * 0.5 / math.sqrt(TRIES))
    assert found < right_guess(1.0, 1e-6)


def test_a_survey_that_changes_every_week_needs_the_ledger() -> None:
    """Each plan promises ε = 1 for its only round. Without a ledger, 52 of them tell the answer."""
    key, survey = generate_private_key().public_key(), parse_survey(TEXT)
    weekly = make_plan(survey)
    crowd = "delta = 1e-4\nminimum_crowd = 100"
    devices = parse_survey(TEXT.replace("mixers", "devices").replace("delta = 1e-6", crowd))
    sealed, plans = make_plan(devices).sealed_for(key), []
    for number in range(1, ROUNDS + 1):
        # The same campaign, from another week on each time.
        schedule = Schedule(every="week", starts=STARTS, first=number)
        changed = replace(devices, rounds=number, schedule=schedule)
        plans.append((replace(sealed, survey=changed), number))
    alone = answered(plans, has_ledger=False)
    charged = answered(plans, has_ledger=True)
    assert (alone, charged) == (ROUNDS, 1)
    assert right_guesses(weekly, alone) > 0.99
    assert right_guesses(weekly, charged) <= right_guess(1.0, 1e-6) + 5 * 0.5 / math.sqrt(TRIES)
