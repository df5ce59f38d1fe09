"""Thousands of simulated years at once: counts with noise drawn from the laws of a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.mixed_surveys import drawn
from krand.analysis.mechanisms.mixers import DummyModel, dummies_of
from krand.analysis.trends.changes import Change, found_changes
from krand.analysis.trends.series import Counted, Key, LineKind, Series
from krand.survey.plan import Plan

PEOPLE = 5_000

Wholes = NDArray[np.int64]


def law_in(plan: Plan) -> DummyModel:
    """The law of a count of the first question."""
    return dummies_of(plan, plan.blocks[0], PEOPLE)


def noisy(plan: Plan, true: Wholes, seed: int) -> Wholes:
    """Unbiased counts: the true ones, and what all mixers' dummies are off their mean."""
    law, random = law_in(plan), np.random.default_rng(seed)
    dummies = sum(drawn(law.law, true.shape, random) for _ in range(law.mixes))
    return np.asarray(true + dummies - law.mixes * law.law.mean)


def years_of(plan: Plan, counts: Wholes) -> list[Series]:
    """Each row as an answer over rounds."""
    law = law_in(plan)
    return [
        Series(
            key=Key(LineKind.ANSWER, "question", str(number)),
            label=str(number),
            counted={
                place + 1: Counted(people=PEOPLE, count=float(count), error=law.sigma, law=law)
                for place, count in enumerate(row)
            },
            breaks=(),
        )
        for number, row in enumerate(counts)
    ]


def changes_in(
    plan: Plan, counts: Wholes, answers: int = 1, error_rate: float = 0.05
) -> Sequence[tuple[Change, ...]]:
    """The changes found in every row, if a year has so many answers."""
    series, rounds = years_of(plan, counts), counts.shape[1]
    limit = error_rate / (plan.survey.rounds - 1) / answers
    limits = {each.key: dict.fromkeys(range(1, rounds + 1), limit) for each in series}
    found = found_changes(series, limits)
    return [found.get(each.key, ()) for each in series]


def found_within(plan: Plan, size: int, rounds: int, years: int, seed: int) -> float:
    """How often a jump by so many people in round 27 is found within so many rounds."""
    true = np.full((years, 52), 1_000)
    true[:, 26:] += size
    found = changes_in(plan, noisy(plan, true, seed)[:, : 26 + rounds])
    # a year of 52 planned rounds, of which the last are still to come
    return float(np.mean([any(c.found > 26 and c.difference > 0 for c in each) for each in found]))
