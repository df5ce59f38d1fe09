"""Random small crowds, and their exact privacy by visiting every outcome.

This shares no code with krand's engine: a law is an array with one axis for each kind of report
(its index is how often that report was seen), and a person is added by shifting and adding arrays.
Every probability is off by less than ERROR, relatively, so the exact δ lies between two numbers.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from krand.accounting.calibration import assess
from krand.promise import (
    DUMMY_GRID,
    AtMost,
    Block,
    DummyLaw,
    ExactlyOne,
    FreeBits,
    Linkage,
    Promise,
    ResponseFormat,
)
from krand_lab.enumeration import exact_worst

Floats = NDArray[np.float64]
Answer = tuple[int, ...]
Law = Sequence[Fraction]
Pair = tuple[Law, Law]

ERROR = 1e-12
"""Far above the error of some dozen products and sums of floats, and of e^ε."""
SMALLEST = 1e-250
"""e^100 times less is still a number with all its digits."""
MOST_CELLS = 60_000


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd and what it reports."""

    responses: ResponseFormat
    crowd: int
    colluding: int
    noise: float
    epsilon: float

    @property
    def honest(self) -> int:
        return self.crowd - self.colluding

    def promise(self) -> Promise:
        return assess(self.responses, self.noise, self.crowd, self.epsilon, self.colluding)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What krand said of a case, and between which numbers the truth lies."""

    case: Case
    stated: float
    truth: tuple[float, float]

    @property
    def holds(self) -> bool:
        return self.stated >= self.truth[0]


def judge(case: Case, chance: random.Random) -> Judgement:
    return Judgement(case, case.promise().delta, exact_delta(case, chance))


# --- what may be answered ---------------------------------------------------------------------


def answers(blocks: Sequence[Block]) -> list[Answer]:
    """Every true answer that these blocks allow."""
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(_of_block, blocks))]


def _of_block(block: Block) -> list[Answer]:
    every = itertools.product((0, 1), repeat=block.options)
    match block:
        case ExactlyOne():
            return [v for v in every if sum(v) == 1]
        case AtMost(most, _):
            return [v for v in every if sum(v) <= most]
        case _:
            return list(every)


def possible(responses: ResponseFormat) -> list[Answer]:
    """Every true answer of one person."""
    most = responses.max_set_bits
    return answers(responses.blocks if most is None else (AtMost(most, responses.bits),))


def worst_delta(
    crowd: int, domain: Iterable[Answer], q: Fraction, lam: Fraction, copies: int = 1
) -> Fraction:
    """The δ of linked records: the worst background and pair of answers, in whole numbers."""
    worst = exact_worst(crowd, domain, q, lam, copies).value
    return max(worst.delta_forward, worst.delta_reverse)


# --- laws of counts, in fractions ---------------------------------------------------------------


def convolved(*laws: Law) -> list[Fraction]:
    """The law of the sum of independent counts, each given by its chances of 0, 1, …"""
    total = [Fraction(1)]
    for law in laws:
        longer = [Fraction(0)] * (len(total) + len(law) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(law)):
            longer[i + j] += a * b
        total = longer
    return total


def binomial_law(n: int, chance: Fraction) -> list[Fraction]:
    return [math.comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)]


def dummies_law(law: DummyLaw) -> list[Fraction]:
    """What one mixer adds to a position."""
    return [Fraction(weight, DUMMY_GRID) for weight in law.weights]


def count_laws(crowd: int, ones: int, q: Fraction) -> Pair:
    """The number of reported ones if so many others answer 1, and the last person 0, or 1."""
    others = convolved(binomial_law(ones, 1 - q), binomial_law(crowd - 1 - ones, q))
    return convolved(others, [1 - q, q]), convolved(others, [q, 1 - q])


def dummies_delta(laws: Sequence[DummyLaw], signs: Sequence[int], factor: Fraction) -> Fraction:
    """δ of dummies by all outcomes: one position of each law is moved by its sign."""
    total = Fraction(0)
    weights = [dict(enumerate(dummies_law(law))) for law in laws]
    for outcome in itertools.product(*(range(-1, len(law) + 1) for law in weights)):
        places = list(zip(weights, outcome, signs, strict=True))
        here = math.prod((law.get(x, Fraction(0)) for law, x, _ in places), start=Fraction(1))
        moved = math.prod((law.get(x - s, Fraction(0)) for law, x, s in places), start=Fraction(1))
        total += max(Fraction(0), here - factor * moved)
    return total


def excess(top: Law, bottom: Law, lam: Fraction) -> Fraction:
    """Σ (top - λ·bottom)⁺, from the definition of δ."""
    pairs = zip(top, bottom, strict=True)
    return sum((max(a - lam * b, Fraction(0)) for a, b in pairs), Fraction(0))


def worst_of_pairs(ways: Iterable[Sequence[Pair]], lam: Fraction) -> Fraction:
    """δ of independent counts, each with the worst of the pairs of laws that it may have."""

    def together(laws: Iterable[Law]) -> list[Fraction]:
        return [math.prod(masses) for masses in itertools.product(*laws)]

    return max(
        excess(together(first for first, _ in pairs), together(second for _, second in pairs), lam)
        for pairs in itertools.product(*ways)
    )


def worst_of_bits(crowd: int, noises: Sequence[Fraction], lam: Fraction) -> Fraction:
    """δ of bits that are counted apart: the worst over backgrounds and changes of mind."""
    laws = [[count_laws(crowd, ones, q) for ones in range(crowd)] for q in noises]
    return worst_of_pairs([[*each, *(pair[::-1] for pair in each)] for each in laws], lam)


# --- the exact δ ------------------------------------------------------------------------------


def exact_delta(case: Case, chance: random.Random, mixed: int = 3) -> tuple[float, float]:
    """Two numbers around the largest δ over all backgrounds of one answer and some mixed ones.

    All crowds in which everybody else answers alike are visited, for they are often the worst.
    """
    domain = answers(case.responses.blocks)
    others = case.honest - 1
    crowds: list[tuple[Answer, ...]] = [(x,) * others for x in domain]
    crowds += [tuple(chance.choice(domain) for _ in range(others)) for _ in range(mixed)]
    least = most = 0.0
    for crowd in crowds:
        for first, second in _pairs(case, crowd, domain):
            low, high = _hockey_stick(first, second, case.epsilon)
            least, most = max(least, low), max(most, high)
    return least, most


def _hockey_stick(first: Floats, second: Floats, epsilon: float) -> tuple[float, float]:
    """Σ (second - λ·first)⁺, from below and from above."""
    lam = math.exp(epsilon)
    sure = np.where(second > SMALLEST, second, 0.0)  # `first` may have lost its digits below
    low = np.maximum(0.0, sure * (1 - ERROR) - lam * (1 + ERROR) * first).sum()
    high = np.maximum(0.0, second * (1 + ERROR) - lam * (1 - ERROR) * first).sum()
    return float(low) * (1 - ERROR), float(high) * (1 + ERROR)


def _pairs(
    case: Case, crowd: Sequence[Answer], domain: Sequence[Answer]
) -> Iterator[tuple[Floats, Floats]]:
    """The laws of what is seen, for every ordered pair of answers of one more person."""
    if case.responses.linkage is Linkage.RECORD:
        yield from _record_pairs(case, crowd, domain)
    else:
        yield from _bit_pairs(case, crowd, domain)


def _record_pairs(
    case: Case, crowd: Sequence[Answer], domain: Sequence[Answer]
) -> Iterator[tuple[Floats, Floats]]:
    q, copies, rounds = case.noise, case.responses.copies, case.responses.rounds
    total = copies * case.honest
    kinds = list(itertools.product((0, 1), repeat=case.responses.bits))
    law = np.zeros((total + 1,) * (len(kinds) - 1))  # the last kind is what remains
    law[(0,) * law.ndim] = 1.0
    for person in crowd:
        law = _with_reports(law, _report(person, kinds, q), copies)
    laws = {y: _with_reports(law, _report(y, kinds, q), copies).ravel() for y in domain}
    for y, other in itertools.permutations(domain, 2):
        yield _repeated(laws[y], rounds), _repeated(laws[other], rounds)


def _report(answer: Answer, kinds: Sequence[Answer], q: float) -> list[float]:
    """The probability of every report of this answer."""
    flips = [sum(a != b for a, b in zip(answer, kind, strict=True)) for kind in kinds]
    return [math.exp(f * math.log(q) + (len(answer) - f) * math.log1p(-q)) for f in flips]


def _with_reports(law: Floats, report: Sequence[float], copies: int) -> Floats:
    for _ in range(copies):
        grown = report[-1] * law
        for axis, weight in enumerate(report[:-1]):
            after: list[slice] = [slice(None)] * law.ndim
            before = after.copy()
            after[axis], before[axis] = slice(1, None), slice(None, -1)
            grown[tuple(after)] += weight * law[tuple(before)]
        law = grown
    return law


def _bit_pairs(
    case: Case, crowd: Sequence[Answer], domain: Sequence[Answer]
) -> Iterator[tuple[Floats, Floats]]:
    """Every position is a count of its own; only where the two answers differ does it matter."""
    q, copies, rounds = case.noise, case.responses.copies, case.responses.rounds
    counts: list[tuple[Floats, Floats]] = []
    for bits in zip(*crowd, strict=True):
        law = np.ones(1)
        for bit in bits:
            law = _with_bit(law, bit, q, copies)
        counts.append((_with_bit(law, 0, q, copies), _with_bit(law, 1, q, copies)))
    seen = set()
    for y, other in itertools.permutations(domain, 2):
        change = tuple((a, b) if a != b else None for a, b in zip(y, other, strict=True))
        if change in seen:
            continue
        seen.add(change)
        first = second = np.ones(1)
        for law_pair, bits in zip(counts, change, strict=True):
            if bits is not None:
                for _ in range(rounds):
                    first = np.outer(first, law_pair[bits[0]]).ravel()
                    second = np.outer(second, law_pair[bits[1]]).ravel()
        yield first, second


def _with_bit(law: Floats, bit: int, q: float, copies: int) -> Floats:
    zero, one = (q, 1 - q) if bit else (1 - q, q)
    for _ in range(copies):
        law = np.append(zero * law, 0.0) + np.append(0.0, one * law)
    return law


def _repeated(law: Floats, rounds: int) -> Floats:
    result = law
    for _ in range(rounds - 1):
        result = np.outer(result, law).ravel()
    return result


# --- random cases -----------------------------------------------------------------------------


def random_case(chance: random.Random) -> Case:
    """A case small enough to be visited outcome by outcome."""
    while True:
        blocks = _random_blocks(chance)
        bits = sum(block.options for block in blocks)
        crowd = chance.randint(2, 12)
        colluding = chance.randint(0, crowd - 2) if chance.random() < 0.25 else 0
        linkage = chance.choice((Linkage.BIT, Linkage.RECORD))
        copies = chance.choice((1, 1, 1, 2, 3))
        rounds = chance.choice((1, 1, 1, 2))
        responses = ResponseFormat(
            bits, linkage=linkage, copies=copies, rounds=rounds, structure=blocks
        )
        noise = _random_noise(chance)
        epsilon = _random_epsilon(chance, responses, noise)
        case = Case(responses, crowd, colluding, noise, epsilon)
        if _cells(case) <= MOST_CELLS and len(answers(blocks)) <= 12:
            return case


def _random_blocks(chance: random.Random) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for _ in range(chance.choice((1, 1, 2, 2, 3))):
        options = chance.randint(1, 3)
        kinds: list[Block] = [FreeBits(options), AtMost(chance.randint(1, options), options)]
        if options > 1:
            kinds.append(ExactlyOne(options))
        blocks.append(chance.choice(kinds))
    return tuple(blocks)


def _random_noise(chance: random.Random) -> float:
    """Small and large noise alike."""
    return min(0.4999, math.exp(chance.uniform(math.log(1e-6), math.log(0.5))))


def _random_epsilon(chance: random.Random, responses: ResponseFormat, noise: float) -> float:
    """Any ε from .001 to 100, one near the largest loss, or one that equals a loss."""
    loss = math.log1p(-noise) - math.log(noise)
    most = responses.sensitivity * responses.copies * responses.rounds
    epsilon = chance.choice(
        (
            math.exp(chance.uniform(math.log(1e-3), math.log(100.0))),
            chance.uniform(0.3, 1.05) * most * loss,
            chance.randint(1, most) * loss,
        )
    )
    return min(100.0, max(1e-3, epsilon))


def _cells(case: Case) -> int:
    """How many outcomes one pair of laws has."""
    each = case.honest * case.responses.copies + 1
    if case.responses.linkage is Linkage.RECORD:
        return each ** int((2**case.responses.bits - 1) * case.responses.rounds)
    return each ** int(case.responses.sensitivity * case.responses.rounds)
