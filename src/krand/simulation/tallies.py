"""Tallies of answers whose noise has a seed: the same numbers every time, and nobody is hidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd, check_round


def unsafe_simulated_tally(plan: Plan, answers: Any, seed: int, round_number: int = 1) -> Tally:
    """The tally that these answers could give, with noise from a seed, and without any file.

    For examples and tests that must show the same numbers each time. `answers` is Arrow data, such
    as a data frame or what `simulated_table` gives. Each count is drawn from its exact law, but
    from the seed, which anybody can repeat; results say that they are a simulation. The plan must
    be one of bit linkage in which devices add the noise.

    >>> from krand import make_results
    >>> from krand.simulation import simulated_table, unsafe_simulated_tally
    >>> from krand.testing import small_plan
    >>> plan = small_plan()
    >>> tally = unsafe_simulated_tally(plan, simulated_table(plan.survey, 100, seed=1), seed=1)
    >>> str(make_results(plan, tally).provenance)
    'simulation'
    """
    if plan.survey.trust.chain or plan.survey.linkage is Linkage.RECORD:
        rule = "must be a plan of bit linkage in which devices add the noise"
        raise InvalidInput("plan", rule, plan.survey.id)
    check_round(plan, round_number)
    true, people = _true_counts(plan, answers)
    check_crowd(plan, people)
    rng = np.random.default_rng([seed, round_number])
    noises = np.concatenate([np.full(block.positions, block.noise) for block in plan.blocks])
    counts = rng.binomial(true, 1 - noises) + rng.binomial(people - true, noises)
    return Tally(
        plan_hash=plan.hash,
        linkage=Linkage.BIT,
        positions=plan.layout.positions,
        round=round_number,
        people=people,
        crowd=people,
        responses=people,
        counts=counts.astype(np.int64),
    )


def _true_counts(plan: Plan, answers: Any) -> tuple[Counts, int]:
    """How many people have each position set, and how many there are."""
    from krand.tables.answers import read_answers
    from krand.tables.columns import encode_columns

    true, people = np.zeros(plan.layout.positions, np.int64), 0
    for chunk in read_answers(answers, plan.layout).chunks:
        encoded = encode_columns(plan.layout, chunk.columns)
        if encoded.mistakes:
            raise encoded.mistakes[0].error
        true += np.bincount(encoded.positions, minlength=len(true))
        people += chunk.height
    return true, people
