"""001 §5: few set bits need more noise than the draft says."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from krand.accounting.backgrounds import sparse_patterns
from krand_lab.enumeration import exact_outlier, exact_privacy, exact_worst, vectors
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements.verdict import Verdict, keys_of
from krand_lab.statements.worst_case import domains, equal_laws, sparse
from krand_lab.statements.worst_case.comparison import Measure, compare
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

THIRD, TWO_FIFTHS = Fraction(1, 3), Fraction(2, 5)
FEW_NOISES = (THIRD, Fraction(1, 4), TWO_FIFTHS)
CACHED = (sparse._worst_of_twice, sparse._tallies, sparse._means, sparse._chi_squares)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    """All verdicts, for few noises and at most three users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(domains, "NOISES", FEW_NOISES)
        for name in ("EXACTLY", "AT_MOST"):
            small = {d: min(users, 3) for d, users in getattr(domains, name).items()}
            patch.setattr(sparse, name, small)
        for function in CACHED:
            function.cache_clear()
        found = [verdict_of(key) for key in keys_of("sparse")]
        for function in CACHED:
            function.cache_clear()
    return {verdict.statement.key: verdict for verdict in found}


@pytest.mark.check
def test_verdicts(verdicts: dict[str, Verdict]) -> None:
    """The equivalence of the remark holds; that the pair is the worst fails in every reading."""
    assert {key: v.holds for key, v in verdicts.items()} == {
        "001-5.5-outlier-eta": False,
        "001-5.5-outlier-delta": False,
        "001-5.10-two-bits-eta": False,
        "001-5.10-two-bits-delta": False,
        "001-5-set-bits-outlier-eta": False,
        "001-5-set-bits-outlier-delta": False,
        "001-5-set-bits-eta": False,
        "001-5-set-bits-delta": False,
        "001-5-remark": True,
    }
    for verdict in verdicts.values():
        if not verdict.holds:
            assert verdict.correction is not None
            assert verdict.correction.failures == 0
            assert verdict.correction.cases > 30
            assert "It fails in" in verdict.statement.comment


@pytest.mark.check
def test_smallest_counterexample_of_one_hot(verdicts: dict[str, Verdict]) -> None:
    """Two users, three categories: the other holds the third one, δ is 86/729 against 72/729."""
    for key in ("001-5.5-outlier-delta", "001-5.10-two-bits-delta", "001-5-set-bits-delta"):
        assert verdicts[key].printed.first_failure == (
            r"$N = 2$, $q = \frac{1}{3}$, the other holds $001$, the user changes from $100$ to "
            r"$010$; at $\lambda = 2$, $\delta = \frac{86}{729}$ against $\frac{8}{81}$"
        )
    third = exact_privacy([(0, 0, 1)], (1, 0, 0), (0, 1, 0), THIRD, Fraction(2))
    assert third.delta_forward == third.delta_reverse == Fraction(86, 729)
    star = exact_outlier(2, 2, THIRD, Fraction(2))
    assert max(star.delta_forward, star.delta_reverse) == Fraction(8, 81)
    worst = exact_worst(2, vectors(2), THIRD, Fraction(2)).value
    assert max(worst.delta_forward, worst.delta_reverse) == Fraction(8, 81)


@pytest.mark.check
def test_smallest_counterexample_for_eta(verdicts: dict[str, Verdict]) -> None:
    """q = 2/5, λ = 5/3: η is 2223/15625, and no collection of two bits has more than 81/625."""
    first = verdicts["001-5-set-bits-eta"].printed.first_failure or ""
    assert first.endswith(
        r"$\lambda = \frac{5}{3}$, $\eta = \frac{2223}{15625}$ against $\frac{81}{625}$"
    )
    lam = Fraction(5, 3)
    third = exact_privacy([(0, 0, 1)], (1, 0, 0), (0, 1, 0), TWO_FIFTHS, lam)
    assert third.eta_forward == Fraction(2223, 15625)
    assert exact_worst(2, vectors(2), TWO_FIFTHS, lam).value.eta_forward == Fraction(81, 625)


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
    """The largest χ² of a domain is that of its maximal patterns, 2φ^(2m) - 2φ^m if C ≥ 3m."""
    q, m = Fraction(1, 7), domain.set_bits
    triples = [(c.background[0], c.y, c.y_prime) for c in domain.cases(2, q)]
    largest = max(pattern_chi_squared(counts_of_bits(*t), q) for t in triples)
    patterns = sparse_patterns(domain.options, m, domain.exactly)
    assert largest == max(
        pattern_chi_squared((p.near_first, p.near_second, p.common), q) for p in patterns
    )
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


@pytest.mark.parametrize("measure", list(Measure))
def test_how_often_is_told(verdicts: dict[str, Verdict], measure: Measure) -> None:
    """The comment repeats the printed counts."""
    verdict = verdicts[f"001-5.5-outlier-{measure.name.lower()}"]
    told = f"It fails in {verdict.printed.failures} of {verdict.printed.cases} cases"
    assert verdict.statement.comment.startswith(told)
