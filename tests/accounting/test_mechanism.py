"""What is certified against the exact worst of all backgrounds, in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from enumerated_crowds import possible, worst_of_bits
from krand.accounting.bounds import Effort
from krand.accounting.mechanism import Mechanism
from krand.promise import AtMost, Block, ExactlyOne, FreeBits, Linkage, ResponseFormat
from krand_lab.enumeration import exact_worst

QS = (Fraction(1, 20), Fraction(1, 5), Fraction(1, 4), Fraction(2, 5), Fraction(9, 20))
LAMBDAS = (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(5))


def record(*blocks: Block) -> dict[str, object]:
    return {"bits": sum(block.options for block in blocks), "structure": blocks}


RECORDS = [
    *(({"bits": bits}, crowd) for bits, crowd in ((1, 2), (1, 4), (2, 2), (2, 3), (2, 4), (3, 2))),
    ({"bits": 1, "copies": 2}, 2),
    ({"bits": 1, "copies": 2}, 3),
    ({"bits": 1, "copies": 3}, 4),
    ({"bits": 2, "copies": 2}, 2),
    ({"bits": 2, "copies": 2}, 3),
    ({"bits": 2, "max_set_bits": 1}, 3),
    ({"bits": 3, "max_set_bits": 1}, 4),
    ({"bits": 4, "max_set_bits": 2}, 2),
    ({"bits": 3, "max_set_bits": 1, "copies": 2}, 2),
    (record(FreeBits(1), AtMost(1, 2)), 3),
    (record(FreeBits(2), ExactlyOne(2)), 2),
    (record(AtMost(1, 3)), 3),
    (record(ExactlyOne(3), FreeBits(1)), 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("shape", "crowd"), RECORDS)
def test_records_are_covered_whatever_the_others_answer(shape, crowd, q, lam):
    """Copies, sparse answers and several questions: δ and η are those of the worst background."""
    responses = ResponseFormat(linkage=Linkage.RECORD, **shape)
    worst = exact_worst(crowd, possible(responses), q, lam, copies=responses.copies).value
    mechanism = Mechanism(responses, crowd, math.log(lam))
    delta = max(worst.delta_forward, worst.delta_reverse)
    eta = max(worst.eta_forward, worst.eta_reverse)
    assert mechanism.delta(float(q))[0] >= float(delta) * (1 - 1e-12)
    assert mechanism.eta(float(q))[0] >= float(eta) * (1 - 1e-12)


@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (4, 2), (2, 3)])
def test_bits_are_covered_whatever_the_others_answer(crowd, bits):
    """Bit linkage: the composed certificate holds for every mixture of backgrounds."""
    for q, lam in product(QS[::2], LAMBDAS[::2]):
        exact = float(worst_of_bits(crowd, [q] * bits, lam))
        found, _ = Mechanism(ResponseFormat(bits), crowd, math.log(lam)).delta(float(q))
        assert found >= exact * (1 - 1e-12)
        assert found <= exact * 1.35 + 1e-9


@pytest.mark.check
@pytest.mark.parametrize("bits", [40, 120, 1000])
@pytest.mark.parametrize("crowd", [2, 10, 10**4])
def test_long_records_with_little_noise_have_no_privacy(crowd, bits):
    """Probabilities far below floating point do not turn into privacy: δ falls from 1 with q."""
    mechanism = Mechanism(ResponseFormat(bits, linkage=Linkage.RECORD), crowd, 1.0)
    noises = (0.001, 0.15, 0.236, 0.4, 0.4999)
    uppers = [mechanism.delta(q, Effort.FULL)[0] for q in noises]
    assert uppers[0] > 0.95
    assert all(after <= here * (1 + 1e-6) + 1e-12 for here, after in pairwise(uppers))
    etas = [mechanism.eta(q, Effort.QUICK)[0] for q in noises[:3]]
    assert etas[0] > 0.95
    assert all(eta >= delta * (1 - 1e-6) for eta, delta in zip(etas, uppers, strict=False))
