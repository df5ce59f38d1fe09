"""What some dishonest people can do to an estimate, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, tally_of
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.results import worst_shifts
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.questions import Choice, YesNo

A, C = YesNo(name="a"), Choice(name="c", choices=Choices("xyz"))


def test_tokens_of_a_submission_can_all_be_the_same() -> None:
    """Ten clients fill a lane with one position: the estimate moves by just the bound."""
    plan = plan_of([A, C], [0.1, 0.02], 1_000)
    honest = tally_of(plan, 1_000, np.array([400, 300, 200, 100]))
    shift = {found.name: found for found in worst_shifts(plan, honest, 10)}
    added = 10 * plan.blocks[1].room
    attacked = replace(honest, counts=honest.counts + np.array([0, added, 0, 0]))
    before, after = (estimate_question(plan, t, "c").rows[0].count for t in (honest, attacked))
    assert after - before == pytest.approx(shift["c"].too_high)
    assert shift["c"].too_high == pytest.approx(added / 0.96)
    assert shift["a"].too_low == pytest.approx(10 / 0.8)


def test_the_plan_says_what_one_client_can_do() -> None:
    """Before anybody is asked, the same as afterwards; and nobody can do nothing."""
    for changes in ({}, {"linkage": Linkage.RECORD, "copies": 3}):
        plan = plan_of([A, C], 0.1, 100, **changes)
        tally = tally_of(plan, 100, np.array([50, 30, 20, 10]))
        assert tuple(b.shift for b in plan.blocks) == worst_shifts(plan, tally, 1)
        assert worst_shifts(plan, tally, 0)[0].too_high == 0


def test_a_record_counts_once_at_every_position() -> None:
    """Copies do not help: all of a client's vectors move a count by one person's worth."""
    plan = plan_of([A, C], 0.2, 1_000, linkage=Linkage.RECORD, copies=4)
    honest = tally_of(plan, 1_000, np.array([1_500, 1_000, 1_000, 1_000]))
    attacked = replace(honest, counts=honest.counts + 4 * 7)
    before, after = (estimate_question(plan, t, "a").rows[0].count for t in (honest, attacked))
    (shift, _) = worst_shifts(plan, honest, 7)
    assert after - before == pytest.approx(shift.too_high) == pytest.approx(shift.too_low)
    assert shift.too_high == pytest.approx(7 / 0.6)


@pytest.mark.parametrize("corrupted", [-1, 1_001])
def test_corrupted_clients_are_part_of_the_crowd(corrupted: int) -> None:
    """Not fewer than none, not more than all."""
    plan = plan_of([A], 0.1, 1_000)
    with pytest.raises(InvalidInput, match="corrupted"):
        worst_shifts(plan, tally_of(plan, 1_000, np.array([500])), corrupted)
