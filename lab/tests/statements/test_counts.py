"""Draft 003: the verdicts, their smallest counterexamples, and independent recomputations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

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


# --- tails --------------------------------------------------------------------------------------


def two_sided(users: int, ones: int, q: Fraction, lam: Fraction) -> tuple[Fraction, Fraction]:
    """η and δ, the larger of the two directions, from the oracle."""
    exact = exact_one_bit(users, ones, q, lam)
    return (
        max(exact.eta_forward, exact.eta_reverse),
        max(exact.delta_forward, exact.delta_reverse),
    )


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


# --- section 9 ----------------------------------------------------------------------------------


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
