"""001 §5: few set bits need more noise than the draft says."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from krand_lab.statements.worst_case.divergence import (
    counts_of_bits,
    pattern_chi_squared,
    phi,
)
from krand_lab.statements.worst_case.domains import (
    AT_MOST,
    EXACTLY,
    Domain,
    roomy,
)

THIRD = Fraction(1, 3)


@pytest.mark.parametrize("domain", [*EXACTLY, *AT_MOST])
def test_domains(domain: Domain) -> None:
    """A domain holds the vectors it says, and its outlier pair and third answer among them."""
    c, m = domain.options, domain.set_bits
    size = comb(c, m) if domain.exactly else sum(comb(c, i) for i in range(m + 1))
    assert len(set(domain.answers)) == size
    star = domain.outlier(2, THIRD)
    assert {star.y, star.y_prime, *star.background} <= set(domain.answers)
    assert counts_of_bits(star.y, star.y, star.y_prime) == (2 * m, 0, 0)
    if domain in roomy({domain: 2}):
        third = domain.third(3, THIRD)
        assert set(third.background) <= set(domain.answers)
        assert counts_of_bits(third.background[0], third.y, third.y_prime) == (m, m, m)
    else:
        assert c < 3 * m


@pytest.mark.parametrize("domain", [*EXACTLY, *AT_MOST])
def test_largest_chi_squared(domain: Domain) -> None:
    """The largest χ² of a domain is 2φ^(2m) - 2φ^m if C ≥ 3m, and less with fewer options."""
    q, m = Fraction(1, 7), domain.set_bits
    triples = [(c.background[0], c.y, c.y_prime) for c in domain.cases(2, q)]
    largest = max(pattern_chi_squared(counts_of_bits(*t), q) for t in triples)
    limit = 2 * phi(q) ** (2 * m) - 2 * phi(q) ** m
    assert largest == limit if domain.options >= 3 * m else largest < limit
