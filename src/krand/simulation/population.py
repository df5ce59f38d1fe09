"""Simulated people who answer a survey: for demonstrations, benchmarks and trials before the start.

What a population is like depends on the survey's id and on each question's name alone; the seed
only says which people of it are met. So two seeds are two crowds of one population, and a question
keeps its answers when another one is added.

Answers are skewed as real ones are, and depend on each other: every person has a disposition, and
every question leans one way or the other with it (a Gaussian copula with one factor).

This is a simulation: its numbers are no secret, and a device never uses it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from krand.errors import InternalError
from krand.promise import check_whole
from krand.survey.questions import Leveled, Number, PickAny, Question, Words, YesNo
from krand.survey.survey import Survey
from krand.tables.columns import SILENT, Column, asked_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_PEOPLE, MAX_SEED = 10**8, 2**64 - 1
SILENT_SHARES = (0.02, 0.08)
"""How many people leave a question unanswered, from one question to another."""
LEANING = (0.3, 0.7)
"""How strongly the answers to a question go with people's dispositions."""
STEEPNESS = 1.1
"""Of Zipf's law, by which the first choices of a list are the common ones."""
PICKED = 2.0
"""How many of a long list are picked, on average; of a short one, a third of it."""
VOCABULARY = 2_000
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]


def simulated_answers(survey: Survey, people: int, seed: int) -> dict[str, Column]:
    """A column of answers to each question, as `encode_columns` takes them.

    People answer only what they are asked.
    """
    check_whole("people", people, 1, MAX_PEOPLE)
    check_whole("seed", seed, 0, MAX_SEED)
    disposition = np.random.default_rng([seed, *_name("", "")]).standard_normal(people)
    columns = {
        question.name: _answers(survey.id, question, disposition, seed)
        for question in survey.questions
    }
    return dict(asked_columns(survey.questions, columns).columns)


def plain_answers(column: Column) -> list[Any]:
    """Everybody's answer as a person would give it: a value, a list, or None for no answer."""
    values: Any = column.values
    if isinstance(values, np.ndarray):
        whole = bool(np.all(values == np.floor(values)))
        values = (values.astype(np.int64) if whole else values).tolist()
    if column.rows is None:
        return [None if code == SILENT else values[code] for code in column.codes.tolist()]
    lists: list[Any] = [None] * column.height
    for row, code in zip(column.rows.tolist(), column.codes.tolist(), strict=True):
        if code != SILENT:
            lists[row] = [*(lists[row] or ()), values[code]]
    return lists


@dataclass(frozen=True, slots=True, eq=False)
class _Crowd:
    """People before one question."""

    ranks: Floats
    """Where everybody stands among all people in this question, from 0 to 1."""
    silent: NDArray[np.bool_]
    chance: np.random.Generator
    """What else happens to these people."""
    taste: np.random.Generator
    """What the population is like: the same for every seed."""

    def levels(self, shares: Floats) -> Ints:
        """Which answer everybody gives, so that each is given by its share of people."""
        return np.searchsorted(np.cumsum(shares)[:-1], self.ranks, side="right")

    def heard(self, codes: Ints) -> Ints:
        """The codes, but of those who say anything."""
        return np.where(self.silent, SILENT, codes)


def _answers(survey_id: str, question: Question, disposition: Floats, seed: int) -> Column:
    name = _name(survey_id, question.name)
    taste, chance = np.random.default_rng(name), np.random.default_rng([seed, *name])
    people = len(disposition)
    leaning = taste.uniform(*LEANING) * taste.choice([-1, 1])
    own = math.sqrt(1 - leaning**2) * chance.standard_normal(people)
    silent = chance.random(people) < taste.uniform(*SILENT_SHARES)
    crowd = _Crowd(ndtr(leaning * disposition + own), silent, chance, taste)
    return _given(question, crowd)


@singledispatch
def _given(question: Question, crowd: _Crowd) -> Column:
    """What a crowd answers; a kind that is not named below gives one of its levels."""
    if not isinstance(question, Leveled):
        raise InternalError(f"no simulated answers to {question!r}")
    answers = [question.answer_at(level) for level in range(question.levels)]
    kinds = len(answers)
    shares = _hump(kinds, crowd.taste) if question.numeric else _zipf(kinds, crowd.taste)
    return Column(answers, crowd.heard(crowd.levels(shares)), len(crowd.ranks))


@_given.register
def _(question: YesNo, crowd: _Crowd) -> Column:
    yes = 0.03 + 0.9 * crowd.taste.beta(1.5, 4)
    codes = crowd.levels(np.array([yes, 1 - yes]))
    return Column((True, False), crowd.heard(codes), len(codes))


@_given.register
def _(question: Number, crowd: _Crowd) -> Column:
    people = len(crowd.ranks)
    return Column(_numbers(question, crowd), crowd.heard(np.arange(people)), people)


@_given.register
def _(question: PickAny, crowd: _Crowd) -> Column:
    choices = question.choices
    picks = _counts(crowd, min(PICKED, len(choices) / 3), question.most_ones)
    return _several(choices, crowd, picks)


@_given.register
def _(question: Words, crowd: _Crowd) -> Column:
    words = 1 + _counts(crowd, 0.5, question.at_most - 1)
    return _several(_vocabulary(crowd.taste), crowd, words)


def _name(survey_id: str, question: str) -> list[int]:
    """A seed of its own for each question of each survey."""
    digest = hashlib.sha256(f"{survey_id}\n{question}".encode()).digest()
    return [int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])]


def _zipf(kinds: int, taste: np.random.Generator) -> Floats:
    """Shares that fall with the place in the list, though not without exception."""
    weights = np.arange(1, kinds + 1) ** -STEEPNESS * np.exp(0.25 * taste.standard_normal(kinds))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _hump(levels: int, taste: np.random.Generator) -> Floats:
    """Shares that rise and fall, most often with the top below the middle."""
    top = (levels - 1) * taste.uniform(0.15, 0.45)
    shares = np.exp(-0.5 * ((np.arange(levels) - top) / max(0.8, levels / 4)) ** 2)
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _numbers(question: Number, crowd: _Crowd) -> Floats:
    """Numbers with a hump, more often below the middle bin; whole where the edges are."""
    shares = _hump(question.levels, crowd.taste)
    levels = crowd.levels(shares)
    before = np.cumsum(shares) - shares
    inside = np.clip((crowd.ranks - before[levels]) / shares[levels], 0, 1)
    values = _placed(question, levels, inside)
    whole = question.integer or all(edge == int(edge) for edge in question.edges)
    return np.asarray(np.floor(values) if whole else values, dtype=np.float64)


def _placed(question: Number, levels: Ints, inside: Floats) -> Floats:
    """Numbers that lie evenly inside their bin, or thin out beyond the outermost edge."""
    edges = np.array(question.edges, dtype=np.float64)
    lows = np.concatenate([[-np.inf] * question.open_below, edges])[levels]
    highs = np.concatenate([edges[not question.open_below :], [np.inf]])[levels]
    tiny = np.finfo(np.float64).tiny
    below = edges[0] + (edges[1] - edges[0]) * np.log(np.maximum(inside, tiny))
    above = edges[-1] - (edges[-1] - edges[-2]) * np.log(np.maximum(1 - inside, tiny))
    with np.errstate(invalid="ignore"):  # of the outermost bins, which have one edge only
        between = lows + inside * (highs - lows)
    values = np.where(np.isinf(lows), below, np.where(np.isinf(highs), above, between))
    # Rounding must not leave the bin.
    return np.asarray(np.clip(values, lows, np.nextafter(highs, -np.inf)), dtype=np.float64)


def _counts(crowd: _Crowd, mean: float, limit: int) -> Ints:
    """How many things everybody names: most few, some many, nobody more than the limit."""
    wanted = np.floor(np.log1p(-crowd.ranks.clip(0, 1 - 1e-12)) / math.log(mean / (1 + mean)))
    return np.asarray(np.minimum(wanted, limit), dtype=np.int64)


def _several(values: Any, crowd: _Crowd, counts: Ints) -> Column:
    """So many draws by everybody; what comes twice is named once."""
    people, kinds = len(counts), len(values)
    rows = np.repeat(np.arange(people), np.where(crowd.silent, 0, counts))
    ends = np.cumsum(_zipf(kinds, crowd.taste))[:-1]
    drawn = np.searchsorted(ends, crowd.chance.random(len(rows)), side="right")
    rows, codes = np.divmod(np.unique(rows * kinds + drawn), kinds)
    return Column(values, codes, people, rows)


def _vocabulary(taste: np.random.Generator) -> list[str]:
    """Words that mean nothing, the most common one first."""
    base = len(SYLLABLES)
    numbers = taste.choice(base**3, VOCABULARY, replace=False).tolist()
    return [
        SYLLABLES[n // base**2] + SYLLABLES[n // base % base] + SYLLABLES[n % base] for n in numbers
    ]
