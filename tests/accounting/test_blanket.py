"""The privacy blanket: its weights, its identity, its worst pair, and that it is never below."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from enumerated_crowds import answers, worst_delta
from krand.accounting.blanket import blanket_law
from krand.accounting.channel import ReportLaw, local_epsilon
from krand.accounting.ratio import upper_delta
from krand.promise import AtMost, Block, ExactlyOne, FreeBits
from krand_lab.enumeration import Vector, report_law

Exponents = tuple[int, int]


def smallest(block: Block, q: Fraction) -> dict[Vector, Fraction]:
    """min_x K(x)(v), by looking at every answer."""
    laws = [report_law(x, q) for x in answers([block])]
    return {v: min(law[v] for law in laws) for v in laws[0]}


def used(block: Block, q: Fraction) -> dict[Vector, Fraction]:
    """The weights the blanket uses: the minimum, or a simpler one below it for "at most m"."""
    if isinstance(block, AtMost):
        nobody = report_law((0,) * block.options, q)
        return {v: nobody[v] * (q / (1 - q)) ** block.set_bits for v in nobody}
    return smallest(block, q)


def exponent(ratio: Fraction, q: Fraction) -> int:
    """n with ratio = (p/q)^n, exactly."""
    n = round(math.log(ratio) / math.log((1 - q) / q))
    assert ratio == ((1 - q) / q) ** n
    return n


def groups(block: Block, y: Vector, z: Vector, q: Fraction) -> dict[Exponents, Fraction]:
    """Blanket weight of the reports with the same two ratios, by looking at every report."""
    of_y, of_z = report_law(y, q), report_law(z, q)
    found: dict[Exponents, Fraction] = defaultdict(Fraction)
    for v, weight in used(block, q).items():
        found[exponent(of_y[v] / weight, q), exponent(of_z[v] / weight, q)] += weight
    return found


def linked(parts: Sequence[dict[Exponents, Fraction]]) -> dict[Exponents, Fraction]:
    """Reports travel together: weights multiply, exponents add."""
    total: dict[Exponents, Fraction] = {(0, 0): Fraction(1)}
    for part in parts:
        grown: dict[Exponents, Fraction] = defaultdict(Fraction)
        for (a, b), w in total.items():
            for (c, d), x in part.items():
                grown[a + c, b + d] += w * x
        total = grown
    return total


def law_of(found: dict[Exponents, Fraction], q: Fraction) -> ReportLaw:
    keys = sorted(found)
    return ReportLaw(
        local_epsilon(float(q)),
        np.log([float(found[k]) for k in keys]),
        np.array([a for a, _ in keys]),
        np.array([b for _, b in keys]),
    )


def weights_of(law: ReportLaw) -> dict[Exponents, float]:
    total: dict[Exponents, float] = defaultdict(float)
    for a, b, weight in zip(law.first, law.second, np.exp(law.log_reference), strict=True):
        total[int(a), int(b)] += float(weight)
    return total


def opposite(block: Block) -> tuple[Vector, Vector]:
    """The pair that the module's theorem calls the worst."""
    match block:
        case FreeBits(bits):
            return (0,) * bits, (1,) * bits
        case AtMost(m, options):
            rest = options - 2 * m
            return (1,) * m + (0,) * (m + rest), (0,) * m + (1,) * m + (0,) * rest
        case ExactlyOne(options):
            return (1, 0) + (0,) * (options - 2), (0, 1) + (0,) * (options - 2)


QS = [Fraction(1, 100), Fraction(1, 5), Fraction(2, 5)]
BLOCKS: list[Block] = [
    FreeBits(1),
    FreeBits(2),
    FreeBits(4),
    ExactlyOne(2),
    ExactlyOne(3),
    ExactlyOne(5),
    AtMost(1, 2),
    AtMost(1, 4),
    AtMost(2, 4),
    AtMost(2, 6),
]
LINKED: list[list[Block]] = [
    [FreeBits(2), ExactlyOne(3)],
    [ExactlyOne(2), ExactlyOne(4)],
    [AtMost(1, 3), FreeBits(1)],
    [AtMost(1, 2), ExactlyOne(3)],
    [ExactlyOne(3), FreeBits(1), AtMost(1, 2)],
]


@pytest.mark.parametrize("q", [1e-9, 0.01, 0.2, 0.4999])
def test_mass_of_the_blanket(q: float) -> None:
    """γ is (2q)^L for free bits, (q/p)^m for at most m, (q/p)(1-q^C)+(p/q)q^C for one-hot."""
    p = 1 - q
    assert blanket_law(q, [FreeBits(1)]).mass == pytest.approx(2 * q, rel=1e-12)
    for n in (2, 3, 7, 40):
        assert blanket_law(q, [FreeBits(n)]).mass == pytest.approx((2 * q) ** n, rel=1e-11)
        one_hot = (q / p) * (1 - q**n) + (p / q) * q**n
        assert blanket_law(q, [ExactlyOne(n)]).mass == pytest.approx(one_hot, rel=1e-11)
        sparse = blanket_law(q, [AtMost(n, 2 * n)]).mass
        assert sparse == pytest.approx((q / p) ** n, rel=1e-11)


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize("block", BLOCKS)
def test_weights_by_enumeration(block: Block, q: Fraction) -> None:
    """Every group of reports has the weight and the ratios found by looking at all reports."""
    expected = groups(block, *opposite(block), q)
    found = weights_of(blanket_law(float(q), [block]))
    assert found.keys() == expected.keys()
    for key, weight in expected.items():
        assert found[key] == pytest.approx(float(weight), rel=1e-12)


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize("block", [b for b in BLOCKS if isinstance(b, AtMost)])
def test_at_most_stays_below_the_minimum(block: AtMost, q: Fraction) -> None:
    """For at most m set bits the weights never exceed min_x K(x)(v), whatever the report."""
    lowest, taken = smallest(block, q), used(block, q)
    assert all(taken[v] <= lowest[v] for v in lowest)
    assert any(taken[v] == lowest[v] for v in lowest)


@pytest.mark.parametrize("block", [AtMost(2, 3), AtMost(3, 3), AtMost(1, 1)])
def test_crowded_blocks_are_treated_as_free_bits(block: Block) -> None:
    """Where disjoint answers do not fit the block is bounded by that of free bits."""
    law, free = blanket_law(0.2, [block]), blanket_law(0.2, [FreeBits(block.options)])
    assert weights_of(law) == weights_of(free)
    below = smallest(block, Fraction(1, 5))
    assert all(Fraction(1, 5) ** block.options <= w for w in below.values())


@pytest.mark.parametrize("blocks", LINKED)
def test_linked_blocks_multiply(blocks: list[Block]) -> None:
    """The law of linked blocks is the product of their laws, found by looking at all reports."""
    q = Fraction(1, 5)
    expected = linked([groups(b, *opposite(b), q) for b in blocks])
    found = weights_of(blanket_law(float(q), blocks))
    assert found.keys() == expected.keys()
    for key, weight in expected.items():
        assert found[key] == pytest.approx(float(weight), rel=1e-12)
    mass = math.prod(blanket_law(float(q), [b]).mass for b in blocks)
    assert blanket_law(float(q), blocks).mass == pytest.approx(mass, rel=1e-12)


def average_over_messages(
    found: dict[Exponents, Fraction], crowd: int, q: Fraction, lam: Fraction
) -> Fraction:
    """E over M ~ Bin(N-1, γ) of E[(mean of M+1 scores)⁺], sequence by sequence (Balle et al.)."""
    gamma, rho = sum(found.values()), (1 - q) / q
    scores = [(w / gamma, (rho**b - lam * rho**a) * gamma) for (a, b), w in found.items()]
    total = Fraction(0)
    for others in range(crowd):
        chance = math.comb(crowd - 1, others) * gamma**others * (1 - gamma) ** (crowd - 1 - others)
        for messages in product(scores, repeat=others + 1):
            mean = sum(score for _, score in messages) / (others + 1)
            if mean > 0:
                total += chance * math.prod(w for w, _ in messages) * mean
    return total


@pytest.mark.slow
@pytest.mark.parametrize("lam", [Fraction(1), Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize("q", [Fraction(1, 10), Fraction(2, 5)])
@pytest.mark.parametrize("block", [FreeBits(1), FreeBits(2), ExactlyOne(3), AtMost(1, 2)])
@pytest.mark.parametrize("crowd", [2, 3, 5])
def test_average_over_the_number_of_messages_is_one_sum(
    crowd: int, block: Block, q: Fraction, lam: Fraction
) -> None:
    """Scores 0 outside the blanket give the average over M exactly (the identity in `ratio`)."""
    expected = average_over_messages(groups(block, *opposite(block), q), crowd, q, lam)
    found = upper_delta(blanket_law(float(q), [block]), crowd, math.log(lam))
    assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-13)
    assert found >= float(expected) * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("lam", [Fraction(11, 10), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("q", [Fraction(1, 20), Fraction(1, 5), Fraction(2, 5)])
@pytest.mark.parametrize(
    ("blocks", "crowd"),
    [
        ([FreeBits(1)], 2),
        ([FreeBits(1)], 6),
        ([FreeBits(2)], 2),
        ([FreeBits(2)], 4),
        ([ExactlyOne(3)], 2),
        ([ExactlyOne(3)], 4),
        ([AtMost(1, 2)], 4),
        ([AtMost(1, 3)], 3),
        ([ExactlyOne(2), FreeBits(1)], 3),
    ],
)
def test_blanket_covers_every_background(
    blocks: list[Block], crowd: int, q: Fraction, lam: Fraction
) -> None:
    """The bound is at least the exact worst over all backgrounds and all pairs of answers."""
    truth = worst_delta(crowd, answers(blocks), q, lam)
    bound = upper_delta(blanket_law(float(q), blocks), crowd, math.log(lam))
    assert bound >= float(truth) * (1 - 1e-12)


@pytest.mark.check
@pytest.mark.parametrize(
    "blocks",
    [
        [FreeBits(3)],
        [AtMost(1, 3)],
        [AtMost(2, 4)],
        [ExactlyOne(3), FreeBits(1)],
        [ExactlyOne(2), ExactlyOne(3)],
        [AtMost(1, 2), FreeBits(1)],
        [AtMost(1, 2), AtMost(1, 2)],
        [AtMost(1, 2), ExactlyOne(3)],
    ],
)
def test_opposite_answers_are_the_worst_pair(blocks: list[Block]) -> None:
    """No pair of answers, equal in some blocks or overlapping, has a larger bound."""
    for q in (Fraction(1, 20), Fraction(3, 10), Fraction(9, 20)):
        laws = {tuple(sorted(found.items())): law_of(found, q) for found in every_pair(blocks, q)}
        assert len(laws) > 1
        for crowd, lam in ((2, 1.5), (3, 4.0), (6, 1.1), (9, 2.0)):
            epsilon = math.log(lam)
            values = [upper_delta(law, crowd, epsilon) for law in laws.values()]
            top = upper_delta(blanket_law(float(q), blocks), crowd, epsilon)
            assert max(values) == pytest.approx(top, rel=1e-6, abs=1e-14)


def every_pair(blocks: Sequence[Block], q: Fraction) -> Iterator[dict[Exponents, Fraction]]:
    """The blanket's groups for every ordered pair of different records, block by block."""
    per_block = []
    for block in blocks:
        found = [groups(block, y, z, q) for y, z in product(answers([block]), repeat=2)]
        per_block.append({tuple(sorted(g.items())): g for g in found}.values())
    for parts in product(*per_block):
        total = linked(parts)
        if any(a != b for a, b in total):
            yield total


@pytest.mark.parametrize(
    ("crowd", "bits", "q", "lam"),
    [(1000, 5, 0.28, 2.0), (10**5, 20, 0.33, math.e), (10**7, 40, 0.37, math.e**2)],
)
def test_distance_of_free_bits_in_large_crowds(crowd: int, bits: int, q: float, lam: float) -> None:
    """The fewer bits two answers differ in, the smaller the bound, also in crowds of millions."""
    bounds = [
        upper_delta(free_pair(q, bits, distance), crowd, math.log(lam), refine=True)
        for distance in (1, bits // 2, bits - 1, bits)
    ]
    for less, more in pairwise(bounds):
        assert less <= more * 1.002
    assert bounds[0] < 0.99 * bounds[-1]


def free_pair(q: float, bits: int, distance: int) -> ReportLaw:
    """Answers that differ in so many of the bits: where they agree both ratios are p/q or 1."""
    law = blanket_law(q, [FreeBits(distance)])
    if distance == bits:
        return law
    agree = blanket_law(q, [FreeBits(bits - distance)])
    return law.times(ReportLaw(agree.log_odds, agree.log_reference, agree.second, agree.second))


@pytest.mark.parametrize(
    ("crowd", "bits", "epsilon", "delta", "noise"),
    [
        (10**7, 40, 2.0, 1e-3, 0.37021),
        (10**7, 40, 2.0, 1e-6, 0.38165),
        (1000, 5, math.log(2), 5e-4, 0.28376),
    ],
)
def test_printed_noise_levels(
    crowd: int, bits: int, epsilon: float, delta: float, noise: float
) -> None:
    """A least noise meets its δ, and a fiftieth of a percent less does not."""
    for factor, meets in ((1.0002, True), (0.9998, False)):
        law = blanket_law(noise * factor, [FreeBits(bits)])
        assert (upper_delta(law, crowd, epsilon, refine=True) <= delta) is meets
