"""Rounds of a survey with known answers: each tally is drawn from the plan's own laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.mixed_surveys import mixed_tallies
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.questions import Question
from krand.survey.survey import Survey, Together, Trust
from schedules import days


def yearly_plan(
    questions: Sequence[Question],
    rounds: int = 52,
    mixers: int = 1,
    together: Sequence[Sequence[str]] = (),
) -> Plan:
    """ε = 1 and δ = 10⁻⁶ for all rounds together."""
    return make_plan(
        Survey(
            id="weekly",
            policy=Policy(epsilon=1.0, delta=1e-6, minimum_crowd=2),
            questions=tuple(questions),
            rounds=rounds,
            schedule=days(rounds),
            together=tuple(Together(tuple(names)) for names in together),
            trust=Trust(noise=mechanisms.MIXERS, mixers=mixers),
        )
    )


def results_of_round(
    plan: Plan,
    number: int,
    true: Sequence[int],
    people: int,
    seed: int,
    options: ResultsOptions | None = None,
) -> Results:
    """One round: how many people truly set each position."""
    counts = np.array([true], dtype=np.int64)
    (tally,) = mixed_tallies(plan, counts, people, 1, seed * 1_000 + number)
    name = f"{seed * 1_000 + number:064x}"
    return make_results(plan, replace(tally, round=number, batches=(name,)), options)
