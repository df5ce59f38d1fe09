"""What remains when others work together: every number is computed from the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand.planning.coalitions import Coalition, Remainder, Remains, coalitions_of
from krand.planning.making import make_plan, promise_for
from krand.promise import NoiseSource, Policy
from krand.survey.questions import YesNo
from krand.survey.survey import Survey, Trust
from krand.testing import small_plan
from krand.wording.coalitions import coalition_text, remains_text

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
MIXED = Survey(
    id="s",
    policy=POLICY,
    questions=(YesNo(name="a"),),
    trust=Trust(noise=NoiseSource.MIXERS, mixers=3),
)


def row_of(rows: tuple[Remainder, ...], coalition: Coalition, people: int) -> Remainder:
    (found,) = (row for row in rows if (row.coalition, row.people) == (coalition, people))
    return found


def test_devices_lose_with_everybody_who_colludes() -> None:
    """The promise of a crowd of N - c; without the collector, or the crowd, only ε₀."""
    plan = small_plan()
    policy, rows = plan.survey.policy, coalitions_of(plan)
    deltas = []
    for coalition, people in (
        (Coalition.ANALYST, 0),
        (Coalition.PEOPLE, 1),
        (Coalition.PEOPLE, 50),
    ):
        row = row_of(rows, coalition, people)
        found = promise_for(plan, replace(policy, colluding=people))
        assert (row.remains, row.epsilon) == (Remains.PROMISE, 2)
        assert (row.delta, row.eta) == (found.delta, found.eta)
        deltas.append(found.delta)
    assert deltas == sorted(set(deltas))
    for coalition, people in ((Coalition.ALL_BUT_ONE_MIXER, 99), (Coalition.ALL_MIXERS, 0)):
        row = row_of(rows, coalition, people)
        assert (row.remains, row.epsilon) == (Remains.LOCAL, plan.promise.local_epsilon)
        assert row.delta is None


def test_one_honest_mixer_keeps_the_promise() -> None:
    """Whoever else colludes; without any honest mixer nothing is left."""
    plan = make_plan(MIXED)
    rows = coalitions_of(plan)
    kept = [row for row in rows if row.remains is Remains.PROMISE]
    assert {row.delta for row in kept} == {plan.promise.delta}
    most = row_of(rows, Coalition.ALL_BUT_ONE_MIXER, 11)
    assert (most.remains, most.mixers) == (Remains.PROMISE, 2)
    for lost in (row_of(rows, Coalition.ALL_MIXERS, 0), row_of(rows, Coalition.EVERYBODY, 11)):
        assert (lost.remains, lost.epsilon, lost.mixers) == (Remains.NOTHING, None, 3)


@pytest.mark.parametrize("mixers", [1, 3])
def test_every_row_has_words(mixers: int) -> None:
    """Who it is, and what is left, for one mixer and for several."""
    plan = make_plan(replace(MIXED, trust=Trust(noise=NoiseSource.MIXERS, mixers=mixers)))
    rows = coalitions_of(plan)
    said = [coalition_text(row, plan) for row in rows]
    assert len(set(said)) == len(rows)
    assert ("the analyst and the collector" in said) == (mixers == 1)
    assert ("the analyst, all other people and 2 of 3 mixers" in said) == (mixers == 3)
    assert remains_text(rows[0], plan).startswith("ε = 1, δ = ")
    assert remains_text(rows[-1], plan) == "no protection"


def test_with_eta_the_words_name_eta() -> None:
    """The promise is told as it was made."""
    plan = make_plan(replace(MIXED, policy=Policy(epsilon=1.0, eta=1e-3, minimum_crowd=12)))
    assert "η = " in remains_text(coalitions_of(plan)[0], plan)
