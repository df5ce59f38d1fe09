"""What is certified against the exact worst of all backgrounds, in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from krand.accounting import bits as one_bit
from krand.accounting.mechanism import Effort, Mechanism
from krand.promise import Assurance, Linkage, ResponseFormat
from krand_lab.enumeration import exact_worst, report_law, vectors

QS = (Fraction(1, 20), Fraction(1, 4), Fraction(2, 5))
LAMBDAS = (Fraction(11, 10), Fraction(2), Fraction(5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "bits", "copies", "set_bits"),
    [
        (2, 1, 2, None),
        (3, 1, 2, None),
        (4, 1, 3, None),
        (2, 2, 2, None),
        (3, 2, 2, None),
        (3, 2, 1, 1),
        (4, 3, 1, 1),
        (2, 4, 1, 2),
        (2, 3, 2, 1),
    ],
)
def test_records_are_covered_whatever_the_others_answer(crowd, bits, copies, set_bits):
    """Copies and sparse answers: δ and η promised are at least those of the worst background."""
    domain = list(vectors(bits, max_set_bits=set_bits))
    for q, lam in product(QS, LAMBDAS):
        worst = exact_worst(crowd, domain, q, lam, copies=copies).value
        responses = ResponseFormat(
            bits, linkage=Linkage.RECORD, copies=copies, max_set_bits=set_bits
        )
        mechanism = Mechanism(responses, crowd, math.log(lam))
        delta = max(worst.delta_forward, worst.delta_reverse)
        eta = max(worst.eta_forward, worst.eta_reverse)
        assert mechanism.delta(float(q)).bounds.upper >= float(delta) * (1 - 1e-12)
        assert mechanism.eta(float(q)).bounds.upper >= float(eta) * (1 - 1e-12)


def count_law(answers: tuple[int, ...], q: Fraction) -> dict[int, Fraction]:
    """The number of reported ones."""
    law = {0: Fraction(1)}
    for answer in answers:
        flips = report_law((answer,), q)
        after: dict[int, Fraction] = {}
        for (seen, p), (report, r) in product(law.items(), flips.items()):
            after[seen + report[0]] = after.get(seen + report[0], Fraction(0)) + p * r
        law = after
    return law


def exact_bits(crowd: int, bits: int, q: Fraction, lam: Fraction) -> Fraction:
    """δ of bits in batches of their own, the worst over backgrounds and changes of mind."""
    others = range(crowd)
    worst = Fraction(0)
    pairs = {}
    for ones, own in product(others, (0, 1)):
        background = (1,) * ones + (0,) * (crowd - 1 - ones)
        pairs[ones, own] = count_law((*background, own), q)
    for setting in product(product(others, (0, 1)), repeat=bits):
        total = Fraction(0)
        for outcome in product(range(crowd + 1), repeat=bits):
            before, after = Fraction(1), Fraction(1)
            for (ones, own), seen in zip(setting, outcome, strict=True):
                before *= pairs[ones, own].get(seen, Fraction(0))
                after *= pairs[ones, 1 - own].get(seen, Fraction(0))
            total += max(Fraction(0), after - lam * before)
        worst = max(worst, total)
    return worst


@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (4, 2), (2, 3)])
def test_bits_are_covered_whatever_the_others_answer(crowd, bits):
    """Bit linkage: the composed certificate holds for every mixture of backgrounds."""
    for q, lam in product(QS, LAMBDAS):
        exact = float(exact_bits(crowd, bits, q, lam))
        found = Mechanism(ResponseFormat(bits), crowd, math.log(lam)).delta(float(q)).bounds.upper
        assert found >= exact * (1 - 1e-12)
        assert found <= exact * 1.35 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("assurance", list(Assurance)[:2])
@pytest.mark.parametrize("bits", [40, 300, 600, 1000])
@pytest.mark.parametrize("crowd", [2, 10, 10**4])
def test_long_records_with_little_noise_have_no_privacy(crowd, bits, assurance):
    """Probabilities far below floating point do not turn into privacy: δ falls from 1 with q."""
    mechanism = Mechanism(ResponseFormat(bits, linkage=Linkage.RECORD), crowd, 1.0, assurance)
    noises = (0.001, 0.05, 0.15, 0.236, 0.3, 0.4, 0.49, 0.4999)
    uppers = [mechanism.delta(q, Effort.FULL).bounds.upper for q in noises]
    assert uppers[0] > 0.95
    assert all(after <= here * (1 + 1e-6) + 1e-12 for here, after in pairwise(uppers))
    etas = [mechanism.eta(q, Effort.QUICK).bounds.upper for q in noises[:4]]
    assert etas[0] > 0.95
    assert all(eta >= delta * (1 - 1e-6) for eta, delta in zip(etas, uppers, strict=False))


@pytest.mark.parametrize("people", [3, 800])
@pytest.mark.parametrize("copies", [1, 16])
def test_what_is_told_outright_is_told_in_both_directions(people, copies):
    """The masses of one direction are e^-150 in the other, and were lost: eta was 8e-30, not 1."""
    responses = ResponseFormat(2, linkage=Linkage.BIT, copies=copies, max_set_bits=1)
    mechanism = Mechanism(responses, people, 100.0, Assurance.OUTLIER)
    for q in (1e-5, 1e-9):
        for effort in Effort:
            found = mechanism.eta(q, effort).bounds
            assert found.forward.upper >= found.forward.lower
            assert found.reverse.upper >= found.reverse.lower
    count, copies = mechanism.bit_shape(1e-5)
    ((loss, _),) = one_bit.survey_losses({1e-5: count}, people, False, 8, copies)
    law = loss.reversed()
    assert law.mass.sum() + law.infinite == pytest.approx(1.0, abs=1e-6)
