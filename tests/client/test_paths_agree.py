"""Tokens and vectors are two ways to report the same thing: one law, checked as a whole.

Every chi-square test is made at α = 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from krand.client.randomizer import reported_positions, reported_vectors
from krand.promise import Linkage, Policy
from krand.randomness.generator import SecureRandom, secure_random
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey
from oracle import ALPHA
from plans import numerators_of, plan_with_noise, with_numerators

Bits = NDArray[np.int64]
Report = Callable[[Plan, Iterable[int], SecureRandom], NDArray[np.int64]]

GRID = 2**32
SURVEY = Survey(
    id="habits",
    policy=Policy(epsilon=1.0, delta=1e-6, minimum_crowd=1000),
    questions=(
        PickAny(name="picks", choices=Choices(["a", "b", "c", "d"])),
        YesNo(name="smokes"),
        Choice(name="engine", choices=Choices(["e", "f", "g", "h"])),
    ),
)
POSITIONS = layout_of(SURVEY).positions
"""Nine: one more than a byte."""
ANSWERS = (
    {},
    {"picks": ["b"], "engine": "e"},
    {"picks": ["a", "b", "c", "d"], "smokes": True, "engine": "h"},
)
TRUTHS = tuple(encode(layout_of(SURVEY), person) for person in ANSWERS)
CROWDS, PEOPLE = 800, 12
"""People of a crowd answer in turn as ANSWERS says."""
NOISES = {"many flips": round(0.25 * GRID), "few flips": round(0.015 * GRID)}


def as_tokens(numerator: int, report: Report = reported_positions) -> Bits:
    """What all people report, one row each, by the positions they name."""
    plan = plan_with_noise(SURVEY, numerator)
    rows = np.zeros((CROWDS * PEOPLE, POSITIONS), np.int64)
    for person, row in enumerate(rows):
        row[report(plan, TRUTHS[person % len(TRUTHS)], secure_random())] = 1
    return rows


@lru_cache
def as_vectors(numerator: int) -> Bits:
    """What all people report, one row each, by the vectors they send."""
    plan = plan_with_noise(replace(SURVEY, linkage=Linkage.RECORD), numerator)
    people = range(CROWDS * PEOPLE)
    sent = [reported_vectors(plan, TRUTHS[p % len(TRUTHS)], secure_random()) for p in people]
    return np.unpackbits(np.concatenate(sent), axis=1)[:, :POSITIONS].astype(np.int64)


def pattern_counts(rows: Bits) -> list[Bits]:
    """For each kind of person, how often each pattern of nine bits was reported."""
    numbers = rows @ (1 << np.arange(POSITIONS))
    kinds = range(len(TRUTHS))
    return [np.bincount(numbers[k :: len(TRUTHS)], minlength=2**POSITIONS) for k in kinds]


def pattern_laws(numerator: int) -> list[NDArray[np.float64]]:
    """Every position flips with q, independently of all others."""
    q = numerator / GRID
    laws = []
    for truth in TRUTHS:
        number = sum(1 << position for position in truth)
        flips = np.bitwise_count(np.arange(2**POSITIONS) ^ number)
        laws.append(q**flips * (1 - q) ** (POSITIONS - flips))
    return laws


def count_counts(rows: Bits) -> list[Bits]:
    """For each position, how often each count of a crowd occurred."""
    counts = rows.reshape(CROWDS, PEOPLE, POSITIONS).sum(axis=1)
    return [np.bincount(column, minlength=PEOPLE + 1) for column in counts.T]


def count_laws(numerator: int) -> list[NDArray[np.float64]]:
    """A count is the number of ones that stayed and of zeros that rose."""
    q, laws = numerator / GRID, []
    for position in range(POSITIONS):
        ones = sum(position in truth for truth in TRUTHS) * PEOPLE // len(TRUTHS)
        stayed = stats.binom.pmf(np.arange(ones + 1), ones, 1 - q)
        rose = stats.binom.pmf(np.arange(PEOPLE - ones + 1), PEOPLE - ones, q)
        laws.append(np.convolve(stayed, rose))
    return laws


def departs(observed: Bits, law: NDArray[np.float64]) -> bool:
    """Whether a chi-square test denies the law; what is expected less than ten times is pooled."""
    expected = law * observed.sum()
    often = expected >= 10
    seen = np.append(observed[often], observed[~often].sum())
    due = np.append(expected[often], expected[~often].sum())
    kept = due > 0
    if due[-1] < 10:  # too few for a chi-square: joined with the least frequent of the others
        least = int(np.argmin(due[:-1]))
        seen[least] += seen[-1]
        due[least] += due[-1]
        kept[-1] = False
    return bool(stats.chisquare(seen[kept], due[kept]).pvalue < ALPHA)


def differ(left: Bits, right: Bits) -> bool:
    """Whether a chi-square test of two samples tells them apart."""
    both = np.stack([left, right])
    often = both.sum(axis=0) >= 20
    pooled = np.column_stack([both[:, often], both[:, ~often].sum(axis=1)])
    return bool(stats.chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue < ALPHA)


def flips(rows: Bits) -> Bits:
    """How often each position was reported as what it is not."""
    truth = np.array([[p in ones for p in range(POSITIONS)] for ones in TRUTHS])
    return (rows.reshape(-1, *truth.shape) ^ truth).sum(axis=(0, 1))


def far(gaps: NDArray[np.float64], variance: float) -> bool:
    """Whether the flips of all positions are too many or too few."""
    return bool(stats.chi2.sf((gaps**2).sum() / variance, POSITIONS) < ALPHA)


def law_complaints(rows: Bits, numerator: int) -> list[str]:
    """One path against the exact law: what people report, what crowds count, flips in all."""
    q = numerator / GRID
    patterns = zip(pattern_counts(rows), pattern_laws(numerator), strict=True)
    counts = zip(count_counts(rows), count_laws(numerator), strict=True)
    found = [f"person {kind}" for kind, pair in enumerate(patterns) if departs(*pair)]
    found += [f"position {place}" for place, pair in enumerate(counts) if departs(*pair)]
    return found + ["flips"] * far(flips(rows) - len(rows) * q, len(rows) * q * (1 - q))


def path_complaints(left: Bits, right: Bits, numerator: int) -> list[str]:
    """Two paths against each other; of the law only the variance of flips is used."""
    q = numerator / GRID
    patterns = zip(pattern_counts(left), pattern_counts(right), strict=True)
    counts = zip(count_counts(left), count_counts(right), strict=True)
    found = [f"person {kind}" for kind, pair in enumerate(patterns) if differ(*pair)]
    found += [f"position {place}" for place, pair in enumerate(counts) if differ(*pair)]
    return found + ["flips"] * far(flips(left) - flips(right), 2 * len(left) * q * (1 - q))


@pytest.mark.parametrize("noise", NOISES)
def test_tokens_and_vectors_have_one_law(noise: str) -> None:
    """The counts of crowds and the reports of people follow the exact law, by both paths alike."""
    tokens, vectors = as_tokens(NOISES[noise]), as_vectors(NOISES[noise])
    assert law_complaints(tokens, NOISES[noise]) == []
    assert law_complaints(vectors, NOISES[noise]) == []
    assert path_complaints(tokens, vectors, NOISES[noise]) == []


def with_less_noise(plan: Plan, truth: Iterable[int], random: SecureRandom) -> NDArray[np.int64]:
    """A planted fault: 0.9 q."""
    less = [numerator * 9 // 10 for numerator in numerators_of(plan)]
    return reported_positions(with_numerators(plan, less), truth, random)


def with_a_lost_flip(plan: Plan, truth: Iterable[int], random: SecureRandom) -> NDArray[np.int64]:
    """A planted fault: the last position of all is never flipped."""
    found, last = set(reported_positions(plan, truth, random).tolist()), POSITIONS - 1
    return np.array(sorted(found - {last} | {last} & set(truth)), np.int64)


def with_equal_blocks(plan: Plan, truth: Iterable[int], random: SecureRandom) -> NDArray[np.int64]:
    """A planted fault: the flips of the last block are those of the first, q of each is right."""
    flips = set(reported_positions(plan, (), random).tolist())
    flips = {p for p in flips if p < 5} | {p + 5 for p in flips if p < 4}
    return np.array(sorted(flips ^ set(truth)), np.int64)


@pytest.mark.check
@pytest.mark.parametrize("fault", [with_less_noise, with_a_lost_flip, with_equal_blocks])
def test_a_path_with_a_fault_is_caught(fault: Report) -> None:
    """By the exact law, and by comparison with the other path."""
    numerator = NOISES["many flips"]
    broken = as_tokens(numerator, fault)
    assert law_complaints(broken, numerator) != []
    assert path_complaints(broken, as_vectors(numerator), numerator) != []
