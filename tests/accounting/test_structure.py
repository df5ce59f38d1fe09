"""Records made of several questions: one law, one certificate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log

import pytest

from krand.accounting.backgrounds import Pattern, record_patterns
from krand.accounting.calibration import plan_noise
from krand.accounting.mechanism import Mechanism
from krand.errors import InvalidInput
from krand.promise import (
    Assurance,
    AtMost,
    Block,
    ExactlyOne,
    FreeBits,
    Linkage,
    Policy,
    ResponseFormat,
)
from krand_lab.enumeration import Vector, exact_worst, vectors


def record(*blocks: Block, copies: int = 1) -> ResponseFormat:
    positions = sum(block.options for block in blocks)
    return ResponseFormat(positions, linkage=Linkage.RECORD, copies=copies, structure=blocks)


def answers(*blocks: Block) -> list[Vector]:
    """Every true answer that these parts allow."""
    parts = []
    for block in blocks:
        match block:
            case AtMost(set_bits, options):
                parts.append(list(vectors(options, max_set_bits=set_bits)))
            case ExactlyOne(options):
                parts.append(list(vectors(options, exactly=1)))
            case FreeBits(bits):
                parts.append(list(vectors(bits)))
    return [sum(joined, ()) for joined in product(*parts)]


SMALL: list[tuple[tuple[Block, ...], int]] = [
    ((FreeBits(1), AtMost(1, 2)), 3),
    ((FreeBits(2), ExactlyOne(2)), 2),
    ((AtMost(1, 3),), 3),
    ((ExactlyOne(3), FreeBits(1)), 2),
]


@pytest.mark.parametrize(("blocks", "crowd"), SMALL)
@pytest.mark.parametrize("q", [Fraction(1, 5), Fraction(2, 5)])
def test_the_certificate_covers_every_background(
    blocks: tuple[Block, ...], crowd: int, q: Fraction
) -> None:
    """Exact enumeration of all backgrounds and all pairs of allowed answers stays below it."""
    lam = Fraction(2)
    worst = exact_worst(crowd, answers(*blocks), q, lam).value
    bound = Mechanism(record(*blocks), crowd, log(2)).delta(float(q)).bounds.upper
    assert float(max(worst.delta_forward, worst.delta_reverse)) <= bound * (1 + 1e-12)


@pytest.mark.check
def test_one_part_is_the_plain_record() -> None:
    """A structure of one part says the same as bits and max_set_bits."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6)
    plain = ResponseFormat(20, linkage=Linkage.RECORD, max_set_bits=2)
    assert plan_noise(policy, record(AtMost(2, 20))).noise == plan_noise(policy, plain).noise
    free = ResponseFormat(20, linkage=Linkage.RECORD)
    assert plan_noise(policy, record(FreeBits(20))).noise == plan_noise(policy, free).noise


@pytest.mark.check
@pytest.mark.parametrize("assurance", [Assurance.CERTIFIED, Assurance.OUTLIER])
def test_knowing_the_structure_saves_noise(assurance: Assurance) -> None:
    """A choice among ten is less to hide than ten free bits, and more than one."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6, assurance=assurance)
    choice = plan_noise(policy, record(FreeBits(5), AtMost(1, 10))).noise
    free = plan_noise(policy, record(FreeBits(15))).noise
    less = plan_noise(policy, record(FreeBits(6))).noise
    assert less < choice < free


@pytest.mark.check
def test_copies_of_mixed_records_are_composed() -> None:
    """More copies need more noise and give more precision."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6)
    one = plan_noise(policy, record(FreeBits(3), AtMost(1, 4)))
    four = plan_noise(policy, record(FreeBits(3), AtMost(1, 4), copies=4))
    assert four.noise > one.noise
    assert four.precision.sigma < one.precision.sigma
    assert four.promise.local_epsilon < 4 * one.promise.local_epsilon


def test_patterns_of_parts_add_up() -> None:
    """Free bits are opposite; of a choice both the draft's pair and the third answer are kept."""
    found = record_patterns([FreeBits(3), AtMost(1, 4)], 0.1)
    assert Pattern(5, 0, 0) in found
    assert Pattern(4, 1, 1) in found


def test_a_structure_has_as_many_positions_as_the_record() -> None:
    """And does not come with a second opinion on set bits."""
    with pytest.raises(InvalidInput, match="structure"):
        ResponseFormat(4, linkage=Linkage.RECORD, structure=(FreeBits(3),))
    with pytest.raises(InvalidInput, match="max_set_bits"):
        ResponseFormat(3, linkage=Linkage.RECORD, max_set_bits=1, structure=(FreeBits(3),))
