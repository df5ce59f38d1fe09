"""Results of surveys that nobody was asked: people are simulated, and noise comes from a seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from krand.analysis.results import Results, make_results
from krand.analysis.tally import Tally, empty_tally
from krand.demo.devices import Chance, mixed_tally
from krand.planning.making import make_plan
from krand.simulation.population import simulated_answers
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.reading import read_survey
from krand.tables.columns import Column, Encoded, encode_columns
from krand.tables.randomizing import reported_counts

SEED = 1


def simulated_results(survey_file: Path, people: int) -> Results:
    """The results of so many simulated people; the same on every run."""
    plan = make_plan(read_survey(survey_file))
    answers = simulated_answers(plan.survey, people, SEED)
    return make_results(plan, _tally(plan, encode_columns(plan.layout, answers), people))


def simulated_rounds(survey_file: Path, people: int) -> list[Results]:
    """Results of every round; from the eighth on four times as many say yes."""
    plan = make_plan(read_survey(survey_file))
    found = []
    for number in range(1, plan.survey.rounds + 1):
        answers = simulated_answers(plan.survey, people, number)
        for question in plan.survey.questions:
            if isinstance(question, YesNo):
                yes = np.arange(people) % 100 < (3 if number < 8 else 12)
                answers[question.name] = Column((True, False), np.where(yes, 0, 1), people)
        tally = _tally(plan, encode_columns(plan.layout, answers), people, number)
        found.append(make_results(plan, tally))
    return found


def _tally(plan: Plan, encoded: Encoded, people: int, number: int = 1) -> Tally:
    if plan.survey.trust.chain:
        counts = np.bincount(encoded.positions, minlength=plan.layout.positions)
        found = mixed_tally(plan, counts, people, Chance(SEED).noise("mixers"))
        return replace(found, round=number)
    random = Chance(SEED * number).noise("devices")
    counts = reported_counts(plan, [(encoded, people)], random)
    empty = empty_tally(plan.hash, plan.survey.linkage, plan.layout.positions)
    return replace(
        empty, round=number, people=people, crowd=people, responses=people, counts=counts
    )
