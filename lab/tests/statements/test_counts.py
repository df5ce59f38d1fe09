"""Draft 003: the verdicts, their smallest counterexamples, and independent recomputations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from krand_lab.enumeration import collection_law, exact_one_bit
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements.backgrounds import log_concavity, ordering
from krand_lab.statements.backgrounds.ordering import Comparison
from krand_lab.statements.backgrounds.tails import Pair, corners
from krand_lab.statements.ranges import count_weights

THIRD = Fraction(1, 3)


def count_law(ones: int, zeros: int, q: Fraction) -> list[Fraction]:
    """The law of the number of ones from the law of all multisets of reports."""
    law = [Fraction(0)] * (ones + zeros + 1)
    for reports, chance in collection_law([(1,)] * ones + [(0,)] * zeros, q).items():
        law[sum(bit for (bit,) in reports)] += chance
    return law


# --- Theorem 4.1 and its lemma ------------------------------------------------------------------


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


def test_total_variation_is_the_peak_of_the_others() -> None:
    """At λ = 1 both directions give δ = (p - q) max b, b the law of the count of the others."""
    for users, q in product(range(2, 8), (THIRD, Fraction(1, 8))):
        for ones in range(users):
            peak = max(count_law(ones, users - 1 - ones, q))
            exact = exact_one_bit(users, ones, q, Fraction(1))
            assert exact.delta_forward == exact.delta_reverse == (1 - 2 * q) * peak


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
