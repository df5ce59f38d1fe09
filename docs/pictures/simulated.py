"""Results of surveys that nobody was asked: people are simulated, and noise comes from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally, empty_tally
from krand.demo.devices import mixed_tally
from krand.demo.randomness import simulated_random
from krand.planning.making import make_plan
from krand.simulation.population import simulated_answers
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.reading import read_survey
from krand.tables.columns import Column, Encoded, column_of, encode_columns
from krand.tables.randomizing import add_reported_counts

SEED = 1


def simulated_results(survey_file: Path, people: int) -> Results:
    """The results of so many simulated people; the same on every run."""
    plan = make_plan(read_survey(survey_file))
    candidates = _candidates(plan, survey_file.with_suffix(".txt"))
    answers = {
        name: _renamed(column, candidates.get(name, ()))
        for name, column in simulated_answers(plan.survey, people, SEED).items()
    }
    tally = _tally(plan, encode_columns(plan.layout, answers), people)
    return make_results(plan, tally, ResultsOptions(candidates=candidates))


def simulated_rounds(survey_file: Path, people: int) -> list[Results]:
    """Results of every round; from the eighth on four times as many say yes."""
    plan = make_plan(read_survey(survey_file))
    found = []
    for number in range(1, plan.survey.rounds + 1):
        answers = simulated_answers(plan.survey, people, number)
        for question in plan.survey.questions:
            if isinstance(question, YesNo):
                yes = np.arange(people) % 100 < (3 if number < 8 else 12)
                answers[question.name] = column_of(question, yes.tolist())
        tally = _tally(plan, encode_columns(plan.layout, answers), people, number)
        found.append(make_results(plan, tally, ResultsOptions()))
    return found


def _candidates(plan: Plan, words_file: Path) -> dict[str, list[str]]:
    """The words to look for, where a file of that name lists some."""
    if not words_file.exists():
        return {}
    words = words_file.read_text(encoding="utf-8").split()
    return {question.name: words for question in plan.survey.questions}


def _renamed(column: Column, words: Sequence[str]) -> Column:
    """Simulated words mean nothing: the most frequent ones become words that do."""
    return replace(column, values=[*words, *column.values[len(words) :]]) if words else column


def _tally(plan: Plan, encoded: Encoded, people: int, number: int = 1) -> Tally:
    if plan.survey.trust.chain:
        counts = np.bincount(encoded.positions, minlength=plan.layout.positions)
        found = mixed_tally(plan, counts, people, simulated_random(SEED, "mixers"))
        return replace(found, round=number)
    counts = np.zeros(plan.layout.positions, np.int64)
    random = simulated_random(SEED * number, "devices")
    add_reported_counts(plan, encoded, people, random, counts)
    empty = empty_tally(plan.hash, plan.survey.linkage, plan.layout.positions)
    return replace(
        empty, round=number, people=people, crowd=people, responses=people, counts=counts
    )
