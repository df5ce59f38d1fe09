"""What a dishonest person can do to an estimate, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, tally_of
from krand.analysis.estimates.questions import estimate_question
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.questions import Choice, YesNo

A, C = YesNo(name="a"), Choice(name="c", choices=Choices("xyz"))


def test_tokens_of_a_submission_can_all_be_the_same() -> None:
    """A client fills a lane with one position: the estimate moves by just the bound."""
    plan = plan_of([A, C], [0.1, 0.02], 1_000)
    honest = tally_of(plan, 1_000, np.array([400, 300, 200, 100]))
    shift = {block.name: block.shift for block in plan.blocks}
    added = plan.blocks[1].room
    attacked = replace(honest, counts=honest.counts + np.array([0, added, 0, 0]))
    before, after = (estimate_question(plan, t, "c").rows[0].count for t in (honest, attacked))
    assert after - before == pytest.approx(shift["c"].too_high)
    assert shift["c"].too_high == pytest.approx(added / 0.96)
    assert shift["a"].too_low == pytest.approx(1 / 0.8)


def test_a_record_counts_once_at_every_position() -> None:
    """Copies do not help: all of a client's vectors move a count by one person's worth."""
    plan = plan_of([A, C], 0.2, 1_000, linkage=Linkage.RECORD, copies=4)
    honest = tally_of(plan, 1_000, np.array([1_500, 1_000, 1_000, 1_000]))
    attacked = replace(honest, counts=honest.counts + 4)
    before, after = (estimate_question(plan, t, "a").rows[0].count for t in (honest, attacked))
    shift = plan.blocks[0].shift
    assert after - before == pytest.approx(shift.too_high) == pytest.approx(shift.too_low)
    assert shift.too_high == pytest.approx(1 / 0.6)
