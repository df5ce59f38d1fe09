"""Surveys with known answers, answered by thousands of simulated crowds.

Two ways that give the same distribution. The randomizer flips every bit of every report
independently with q. So of the kd reports with a true one at a position, Bin(kd, p) report it, of
the others Bin(k(N-d), q), and positions are independent given the answers: two binomials for each
position are as good as a crowd. For whole records the reports of the people with one pattern are a
multinomial over all patterns. `randomized_tally` asks the real randomizer, one person at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.values import Interval
from krand.analysis.tally import Tally
from krand.client.randomizer import reported_positions, reported_vectors
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.randomness.generator import SecureRandom
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Question
from krand.survey.survey import Survey, Together
from plans import planned_by_test

Wholes = NDArray[np.int64]


def plan_of(
    questions: Sequence[Question],
    noise: float | Sequence[float],
    people: int,
    together: Sequence[Sequence[str]] = (),
    linkage: Linkage = Linkage.BIT,
    copies: int = 1,
) -> Plan:
    """A plan with this very noise, for all blocks or each; what it promises does not matter."""
    groups = tuple(Together(tuple(names)) for names in together)
    policy = Policy(epsilon=1.0, minimum_crowd=people, delta=1e-6)
    survey = Survey(
        id="simulated",
        policy=policy,
        questions=tuple(questions),
        together=groups,
        linkage=linkage,
        copies=copies,
    )
    blocks = len(layout_of(survey).blocks)
    noises = [noise] * blocks if isinstance(noise, float) else noise
    numerators = tuple(round(q * NOISE_GRID) for q in noises)
    return planned_by_test(survey, numerators)


def true_counts(plan: Plan, crowd: Mapping[tuple[tuple[str, object], ...], int]) -> Wholes:
    """The people behind every position, where so many give each set of answers."""
    counts = np.zeros(plan.layout.positions, dtype=np.int64)
    for answers, people in crowd.items():
        counts[list(encode(plan.layout, dict(answers)))] += people
    return counts


def noisy_counts(
    plan: Plan, true: Wholes, people: int, repeats: int, random: np.random.Generator
) -> Wholes:
    """What is counted at every position, in so many surveys of the same crowd."""
    copies = plan.survey.copies
    noise = np.concatenate([np.full(block.positions, block.noise) for block in plan.blocks])
    size = (repeats, len(true))
    kept = random.binomial(copies * true, 1 - noise, size)
    return kept + random.binomial(copies * (people - true), noise, size)


@cache
def _hash_of(plan: Plan) -> str:
    """Once for each plan: it is asked for a thousand times."""
    return plan.hash


def tally_of(plan: Plan, people: int, counts: Wholes, **more: object) -> Tally:
    """A tally of these counts."""
    linked = plan.survey.linkage is Linkage.RECORD
    responses = people * plan.survey.copies if linked else people
    values: dict[str, Any] = {"round": 1, "crowd": people, **more}
    return Tally(
        plan_hash=_hash_of(plan),
        linkage=plan.survey.linkage,
        positions=plan.layout.positions,
        people=people,
        responses=responses,
        counts=counts,
        **values,
    )


def simulated_tallies(
    plan: Plan, true: Wholes, people: int, repeats: int, seed: int
) -> Iterator[Tally]:
    """Tallies of simulated surveys of one crowd, by binomials."""
    random = np.random.default_rng(seed)
    for counts in noisy_counts(plan, true, people, repeats, random):
        yield tally_of(plan, people, counts)


def noisy_tables(plan: Plan, patterns: Wholes, repeats: int, random: np.random.Generator) -> Wholes:
    """Reported patterns of whole records, for a crowd with so many people of each pattern."""
    bits = plan.layout.positions
    channel = _channel(bits, plan.blocks[0].noise)
    tables = np.zeros((repeats, 2**bits), dtype=np.int64)
    for pattern in np.flatnonzero(patterns):
        responses = plan.survey.copies * patterns[pattern]
        tables += random.multinomial(responses, channel[pattern], repeats)
    return tables


@cache
def _channel(bits: int, q: float) -> NDArray[np.float64]:
    """How likely every pattern is reported for every true one."""
    channel = np.ones((1, 1))
    for _ in range(bits):
        channel = np.kron(channel, [[1 - q, q], [q, 1 - q]])
    return channel


def record_tallies(plan: Plan, patterns: Wholes, repeats: int, seed: int) -> Iterator[Tally]:
    """Tallies of simulated surveys of whole records."""
    random = np.random.default_rng(seed)
    people, bits = int(patterns.sum()), plan.layout.positions
    ones = np.array(list(itertools.product((0, 1), repeat=bits)))
    for table in noisy_tables(plan, patterns, repeats, random):
        yield tally_of(plan, people, table @ ones, table=table)


def randomized_tally(plan: Plan, crowd: Sequence[Sequence[int]]) -> Tally:
    """The tally of a crowd, each given by the positions they set, by the real randomizer."""
    bits, random = plan.layout.positions, SecureRandom()
    if plan.survey.linkage is Linkage.BIT:
        counts = np.zeros(bits, dtype=np.int64)
        for ones in crowd:
            counts[reported_positions(plan, ones, random)] += 1
        return tally_of(plan, len(crowd), counts)
    rows = np.concatenate([reported_vectors(plan, ones, random) for ones in crowd])
    vectors = np.unpackbits(rows, axis=1, count=bits).astype(np.int64)
    places = vectors @ (1 << np.arange(bits)[::-1])
    table = np.bincount(places, minlength=2**bits)
    return tally_of(plan, len(crowd), vectors.sum(axis=0), table=table)


def inside(interval: Interval, value: float) -> bool:
    """Whether it holds the value, but for rounding."""
    return interval.low - 1e-9 <= value <= interval.high + 1e-9
