"""001 §5: few set bits need more noise than the draft says."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from krand_lab.statements.worst_case import equal_laws
from krand_lab.statements.worst_case.comparison import compare
from krand_lab.statements.worst_case.divergence import (
    check_means,
    counts_of_bits,
    mean_ratio,
    pattern_chi_squared,
    phi,
)
from krand_lab.statements.worst_case.domains import (
    AT_MOST,
    EXACTLY,
    Domain,
    range_of_users,
    roomy,
    sizes,
)
from krand_lab.statements.worst_case.maximality import dense_cases, outlier
from krand_lab.statements.worst_case.profiles import Bound, Case, profile

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


@pytest.mark.parametrize("domain", [d for d in (*EXACTLY, *AT_MOST) if d.options <= 2 * d.set_bits])
def test_no_more_options_than_bits(domain: Domain) -> None:
    """With C ≤ 2m options the vectors are vectors of 2m bits, and nothing exceeds these."""
    bound = Bound.of([profile(c) for c in dense_cases(2, 2 * domain.set_bits, THIRD)])
    for tally in compare(domain.cases(2, THIRD), [bound])[0].values():
        assert tally.cases > 0
        assert tally.failures == 0


@pytest.mark.parametrize("domain", [*EXACTLY, *AT_MOST])
def test_largest_chi_squared(domain: Domain) -> None:
    """The largest χ² of a domain is 2φ^(2m) - 2φ^m if C ≥ 3m, and less with fewer options."""
    q, m = Fraction(1, 7), domain.set_bits
    triples = [(c.background[0], c.y, c.y_prime) for c in domain.cases(2, q)]
    largest = max(pattern_chi_squared(counts_of_bits(*t), q) for t in triples)
    limit = 2 * phi(q) ** (2 * m) - 2 * phi(q) ** m
    assert largest == limit if domain.options >= 3 * m else largest < limit


def test_the_third_background_has_the_largest_mean() -> None:
    """Without the third background, the outlier pair alone has not the largest mean."""
    domain, q = Domain(1, 3, True), Fraction(1, 5)
    star = domain.outlier(4, q)
    pairs = [(c, max(map(mean_ratio, (star, star.swapped())))) for c in domain.cases(4, q)]
    assert check_means(pairs).failures > 0


def test_remark_by_hand() -> None:
    """10 with the outlier 01 has the law of 00 with the outlier 11, and a third category not."""
    q = Fraction(1, 4)
    law = equal_laws.ratio_law(outlier(3, 2, q))
    assert equal_laws.ratio_law(Domain(1, 4, True).outlier(3, q)) == law
    assert equal_laws.ratio_law(Domain(1, 4, True).third(3, q)) != law
    assert not equal_laws.remark_5(Case(((0, 0, 1),), (1, 0, 0), (0, 1, 0), q))


def test_sizes_are_ordered_and_told() -> None:
    """Fewest users come first, no limit is passed, and the limits are told."""
    found = list(sizes(EXACTLY))
    assert [n for n, _, _ in found] == sorted(n for n, _, _ in found)
    for domain, users in EXACTLY.items():
        assert max(n for n, d, _ in found if d == domain) == users
        limits = rf"$2 \le N \le {users}$" if users > 2 else "$N = 2$"
        told = f"{limits} with $m = {domain.set_bits}$, $C = {domain.options}$"
        assert told in range_of_users(EXACTLY)
