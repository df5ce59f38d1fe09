"""Results of surveys that nobody was asked: people are simulated, and noise comes from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally, empty_tally
from krand.demo.randomness import simulated_random
from krand.mixing.dummies import draw_lane
from krand.planning.making import make_plan
from krand.simulation.population import simulated_answers
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.reading import read_survey
from krand.tables.columns import Column, Encoded, column_of, encode_columns
from krand.tables.randomizing import add_reported_counts

SEED = 1
BATCH = "0" * 64
"""Mixers pass on batches; this one was never written."""

Counts = NDArray[np.int64]


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
    empty = empty_tally(plan.hash, plan.survey.linkage, plan.layout.positions)
    tally = replace(
        empty,
        round=number,
        people=people,
        crowd=people,
        responses=people,
        counts=_reported(plan, encoded, people, SEED * number),
    )
    return _mixed(plan, tally) if plan.survey.trust.noise.has_dummies else tally


def _reported(plan: Plan, encoded: Encoded, people: int, seed: int) -> Counts:
    """What the devices send, with their noise if they add any."""
    if not plan.survey.trust.noise.has_flips:
        return np.bincount(encoded.positions, minlength=plan.layout.positions)
    counts = np.zeros(plan.layout.positions, np.int64)
    add_reported_counts(plan, encoded, people, simulated_random(seed, "devices"), counts)
    return counts


def _mixed(plan: Plan, tally: Tally) -> Tally:
    """The same with the dummies of every mixer."""
    random, counts, nulls = simulated_random(SEED, "mixers"), tally.counts.copy(), []
    for lane in plan.lanes:
        tokens = counts[lane.offset : lane.offset + lane.positions]
        nulls.append(tally.people * lane.messages - int(tokens.sum()))
        for _ in range(plan.survey.trust.mixers):
            dummies = draw_lane(plan, lane, random)
            tokens += dummies.tokens
            nulls[-1] += dummies.nulls
    lane_nulls = np.array(nulls, np.int64)
    return replace(
        tally, counts=counts, nulls=int(lane_nulls.sum()), lane_nulls=lane_nulls, batches=(BATCH,)
    )
