"""Draft 003: the verdicts, their smallest counterexamples, and independent recomputations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import pytest

from krand_lab.enumeration import collection_law, exact_one_bit
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements.backgrounds import counts, log_concavity, ordering, tails
from krand_lab.statements.backgrounds.log_concavity import coefficients
from krand_lab.statements.backgrounds.ordering import Comparison
from krand_lab.statements.backgrounds.tails import Pair, corners, steps
from krand_lab.statements.ranges import count_weights, noises

THIRD = Fraction(1, 3)


def count_law(ones: int, zeros: int, q: Fraction) -> list[Fraction]:
    """The law of the number of ones from the law of all multisets of reports."""
    law = [Fraction(0)] * (ones + zeros + 1)
    for reports, chance in collection_law([(1,)] * ones + [(0,)] * zeros, q).items():
        law[sum(bit for (bit,) in reports)] += chance
    return law


# --- Theorem 4.1 and its lemma ------------------------------------------------------------------


def test_only_equalities_contradict_the_strict_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strict (4.5) fails exactly for i = 0 and i = N: two outcomes for each N, m and q."""
    monkeypatch.setattr(counts, "MAX_USERS", 9)
    verdict = verdict_of("003-4.5")
    places = sum(users - 1 for users in range(2, counts.MAX_USERS + 1)) * len(
        noises(counts.DENOMINATOR)
    )
    assert verdict.printed.failures == 2 * places


def test_coefficients_are_elementary_symmetric() -> None:
    """∏ (r_i + x) has the sum of the r_i second from the top and their product at the bottom."""
    r = (Fraction(1, 2), Fraction(3), Fraction(2, 3))
    assert coefficients(r) == (1, Fraction(1, 3) + 2 + Fraction(3, 2), sum(r), 1)
    assert coefficients(()) == (1,)


@pytest.mark.parametrize("q", [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5)])
def test_the_printed_4_29_fails_for_the_polynomial_of_the_theorem(
    q: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(q + px)^2 has b_1 < b_2 exactly for q < 1/3, as the comment on (4.29) says."""
    monkeypatch.setattr(log_concavity, "MAX_DEGREE", 2)
    _, middle, last = count_weights(2, 0, q)
    assert (middle < last) == (q < THIRD)
    assert "$q < 1/3$" in verdict_of("003-4.29").statement.comment


def test_newton_sharpens_lemma_1() -> None:
    """The inequality quoted from Newton holds for roots of the grid, with equality if all agree."""
    for r in product(log_concavity.SHIFTS, repeat=3):
        a, n = coefficients(r), 3
        for i in (1, 2):
            factor = (1 + Fraction(1, i)) * (1 + Fraction(1, n - i))
            assert a[i] ** 2 >= a[i + 1] * a[i - 1] * factor
            if len(set(r)) == 1:
                assert a[i] ** 2 == a[i + 1] * a[i - 1] * factor


# --- tails --------------------------------------------------------------------------------------


def two_sided(users: int, ones: int, q: Fraction, lam: Fraction) -> tuple[Fraction, Fraction]:
    """η and δ, the larger of the two directions, from the oracle."""
    exact = exact_one_bit(users, ones, q, lam)
    return (
        max(exact.eta_forward, exact.eta_reverse),
        max(exact.delta_forward, exact.delta_reverse),
    )


def test_three_users_by_hand() -> None:
    """The smallest counterexample on tails, from the laws of the counts in 27ths."""
    # Others 0, 0: 8, 12, 6, 1 against 4, 12, 9, 2. Others 0, 1: 4, 12, 9, 2 against 2, 9, 12, 4.
    assert count_weights(0, 3, THIRD) == (8, 12, 6, 1)
    assert count_weights(1, 2, THIRD) == (4, 12, 9, 2)
    assert count_weights(2, 1, THIRD) == (2, 9, 12, 4)
    assert two_sided(3, 0, THIRD, Fraction(1)) == (Fraction(11, 27), Fraction(4, 27))
    assert two_sided(3, 1, THIRD, Fraction(1)) == (Fraction(16, 27), Fraction(5, 27))


def test_examples_of_the_comments_on_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The values that the comments quote away from λ = 1 are exact, and they are quoted."""
    monkeypatch.setattr(tails, "MAX_USERS", 3)
    eta = [two_sided(3, m, Fraction(1, 5), Fraction(2))[0] for m in (1, 0)]
    delta = [two_sided(6, m, Fraction(2, 9), Fraction(3, 2))[1] for m in (1, 0)]
    assert eta == [Fraction(88, 125), Fraction(64, 125)]
    assert delta == [Fraction(67571, 531441), Fraction(67228, 531441)]
    assert r"\frac{88}{125}$ at $m = 1$" in verdict_of("003-theorem-4.1-tail").statement.comment
    assert (
        r"\frac{67571}{531441}$ at $m = 1$" in verdict_of("003-theorem-4.1-delta").statement.comment
    )


def test_total_variation_is_the_peak_of_the_others() -> None:
    """At λ = 1 both directions give δ = (p - q) max b, b the law of the count of the others."""
    for users, q in product(range(2, 8), (THIRD, Fraction(1, 8))):
        for ones in range(users):
            peak = max(count_law(ones, users - 1 - ones, q))
            exact = exact_one_bit(users, ones, q, Fraction(1))
            assert exact.delta_forward == exact.delta_reverse == (1 - 2 * q) * peak


def test_two_users_leave_no_mixed_background() -> None:
    """Three users are the least for which a counterexample on tails is possible."""
    assert min(pair.users for pair in tails._mixed_pairs()) == 3
    assert all(0 < pair.ones < pair.users - 1 for pair in tails._mixed_pairs())


@pytest.mark.parametrize("pair", [Pair(4, 0, Fraction(3, 7)), Pair(5, 2, Fraction(1, 4))])
def test_nothing_happens_between_the_corners(pair: Pair) -> None:
    """Between neighbouring corners η is constant and δ straight, seen at inner points."""
    lams = sorted(corners(pair))
    assert lams[0] == 1
    for low, high in pairwise(lams):
        for share in (Fraction(1, 7), Fraction(1, 2), Fraction(6, 7)):
            inside = low + share * (high - low)
            eta, delta = two_sided(pair.users, pair.ones, pair.q, inside)
            assert eta == pair.eta(low)
            assert delta == (1 - share) * pair.delta(low) + share * pair.delta(high)
    assert two_sided(pair.users, pair.ones, pair.q, lams[-1]) == (0, 0)


def test_a_crossing_of_the_directions_is_a_corner() -> None:
    """For N = 4, q = 3/7 the two δ cross between the steps, and there is a counterexample there."""
    equal, crossing = Pair(4, 0, Fraction(3, 7)), Fraction(403, 367)
    assert crossing in corners(equal) - steps(equal)
    exact = equal.exact(crossing)
    assert exact.delta_forward == exact.delta_reverse == Fraction(432, 17983)
    assert Pair(4, 1, Fraction(3, 7)).delta(crossing) == Fraction(472, 17983)


def test_the_rarer_kind_stays_away() -> None:
    """What is left of a mixed background is all-equal and has more than half of the users."""
    for ones, left in ((0, 7), (1, 6), (2, 5), (3, 4), (4, 5), (5, 6), (6, 7)):
        assert Pair(7, ones, THIRD).smaller() == Pair(left, 0, THIRD)


# --- k copies -----------------------------------------------------------------------------------


def test_the_product_identity_fails_by_the_law_of_all_multisets() -> None:
    """N = 2, k = 2, m = 1, j = 2: four reports have the ratio 11/8, no product of two has."""
    four = [count_law(2 * m, 4 - 2 * m, THIRD)[2] for m in (1, 2)]
    two = [count_law(m, 2 - m, THIRD) for m in (1, 2)]
    assert four[0] / four[1] == Fraction(11, 8)
    assert two[0][1] ** 2 / two[1][1] ** 2 == Fraction(25, 16)
    assert two[0][0] * two[0][2] / (two[1][0] * two[1][2]) == 1


def test_the_right_proof_of_5_5_is_right() -> None:
    """The ratio for k copies is a product of k growing ratios of kN single bits."""
    k, users, q = 3, 4, Fraction(2, 9)
    law = [count_weights(n, k * users - n, q) for n in range(k * users + 1)]
    for j in range(k * users + 1):
        r = [Fraction(law[n][j], law[n + 1][j]) for n in range(k * users)]
        assert r == sorted(r)
        assert (len(set(r)) == len(r)) == (0 < j < k * users)
        for m in range(users):
            assert (
                Fraction(law[k * m][j], law[k * m + k][j]) == r[k * m] * r[k * m + 1] * r[k * m + 2]
            )


# --- section 9 ----------------------------------------------------------------------------------


def test_the_counterexample_to_9_3_by_the_law_of_all_multisets() -> None:
    """N = 4, q = 1/3: R(1, 0) = 2 is below R(2, 3) = 30/13, both at 1/3 below their mean."""
    none, three = count_law(0, 4, THIRD), count_law(3, 1, THIRD)
    assert (none[1] / none[0], three[2] / three[1]) == (2, Fraction(30, 13))
    means = [sum(i * chance for i, chance in enumerate(law)) for law in (none, three)]
    assert [mean - k for mean, k in zip(means, (1, 2), strict=True)] == [THIRD, THIRD]


def test_all_laws_have_one_variance_and_a_falling_third_cumulant() -> None:
    """The reason given for the failure of (9.3): variance pqN, third cumulant (N - 2m)pq(p - q)."""
    users, q = 6, Fraction(1, 5)
    p = 1 - q
    for m in range(users + 1):
        law = count_law(m, users - m, q)
        mean = m * (p - q) + users * q
        central = [sum((i - mean) ** e * c for i, c in enumerate(law)) for e in (1, 2, 3)]
        assert central == [0, users * p * q, (users - 2 * m) * p * q * (p - q)]


def brute_comparisons(users: int, q: Fraction) -> set[tuple[int, int, int, int, Fraction]]:
    """All (m, m', k, k', α) with whole k and k', straight from the definition."""
    p = 1 - q
    mean = [m * (p - q) + users * q for m in range(users + 1)]
    return {
        (m, m_prime, k, k_prime, mean[m] - k)
        for m, m_prime in product(range(users + 1), repeat=2)
        for k, k_prime in product(range(1, users + 1), repeat=2)
        if m < m_prime and mean[m] - k == mean[m_prime] - k_prime
    }


@pytest.mark.parametrize(("users", "q"), [(6, THIRD), (7, Fraction(3, 8)), (9, Fraction(1, 6))])
def test_no_comparison_is_left_out(
    users: int, q: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The enumeration of (9.3) finds exactly the pairs of places at equal distance."""
    monkeypatch.setattr(ordering, "MAX_TRIALS", users)
    found = [c for c in ordering._all_comparisons() if (c.trials, c.q) == (users, q)]
    listed = {(c.m, c.m_prime, c.k, c.k_prime, c.alpha) for c in found}
    assert len(found) == len(listed)
    assert listed == brute_comparisons(users, q)


@pytest.mark.parametrize(
    ("alpha", "sign"),
    [
        *(("3.5", 1), ("3.4", 0), ("1.6", 0), ("1.5", -1), ("0", -1)),
        *(("-2.5", -1), ("-2.6", 0), ("-4.4", 0), ("-4.5", 1)),
    ],
)
def test_the_strip_is_where_it_is_said_to_be(alpha: str, sign: int) -> None:
    """N = 100, q = 1/10, √(pqN) = 3: the borders are |α + 1/2| = 4 and 2, themselves included."""
    scaled_alpha = Fraction(alpha) * 10
    assert scaled_alpha.denominator == 1
    case = Comparison(
        trials=100,
        q=Fraction(1, 10),
        m=0,
        m_prime=5,
        k=1,
        k_prime=5,
        scaled_alpha=int(scaled_alpha),
    )
    assert ordering._predicted_sign(case) == sign


def test_both_orders_occur_outside_the_strip() -> None:
    """The corrected (9.3) says something on both sides: hundreds of cases of either sign."""
    signs = [
        ordering._predicted_sign(case)
        for q, m, m_prime in product(noises(ordering.DENOMINATOR), range(25), range(25))
        if m < m_prime
        for case in ordering._comparisons(24, q, m, m_prime)
    ]
    assert min(signs.count(1), signs.count(-1)) > 500


def closed_forms(users: int, q: Fraction, alpha: Fraction) -> Sequence[Fraction]:
    """R(μ_0 - α, 0) and R(μ_N - α, N) by (9.6) and (9.7) before the approximation."""
    p = 1 - q
    return [(a * users + alpha + 1) / (b * users - alpha) * b / a for a, b in ((p, q), (q, p))]


def test_the_two_binomials_meet_where_the_comment_says() -> None:
    """With α(α + 1) = pqN both ratios are (α + 1)/α; q = 1/3, N = 9, α = 1."""
    low, high = closed_forms(9, THIRD, Fraction(1))
    assert low == high == 2
    assert Fraction(comb(9, 2), comb(9, 1)) * THIRD / (1 - THIRD) == 2


def test_the_cross_multiplied_difference_is_exact() -> None:
    """(p - q)(α(α + 1) - pqN) is the difference of the two sides of (9.8) with the +1 kept."""
    for users, q, alpha in product((5, 8), (THIRD, Fraction(2, 7)), (Fraction(1, 2), Fraction(1))):
        p = 1 - q
        left, right = closed_forms(users, q, alpha)
        factor = p * (q * users - alpha) * q * (p * users - alpha)
        assert (left - right) * factor == (p - q) * (alpha * (alpha + 1) - p * q * users)
