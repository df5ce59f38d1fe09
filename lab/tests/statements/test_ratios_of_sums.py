"""Draft 002: the verdicts, their smallest counterexamples, and the enumerations behind them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

from krand_lab.enumeration import collection_law
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements.backgrounds import maximal_bits
from krand_lab.statements.backgrounds.maximal_bits import privacy_ratio
from krand_lab.statements.backgrounds.ratios_of_sums import (
    falling_ratios,
)
from krand_lab.statements.ranges import count_weights, count_weights_by_outcomes

# --- laws of counts ---------------------------------------------------------------------------


@pytest.mark.parametrize("y", [(1,), (0, 1, 1), (1, 0, 0, 1, 0)])
def test_counts_agree_with_the_law_of_all_multisets(y: tuple[int, ...]) -> None:
    """The weights of a count are the probabilities of the multisets with so many ones."""
    q = Fraction(2, 7)
    law = [Fraction(0)] * (len(y) + 1)
    for reports, chance in collection_law([(bit,) for bit in y], q).items():
        law[sum(bit for (bit,) in reports)] += chance
    scale = 7 ** len(y)
    assert [Fraction(w, scale) for w in count_weights(sum(y), len(y) - sum(y), q)] == law
    assert [Fraction(w, scale) for w in count_weights_by_outcomes(y, q)] == law


# --- Proposition 1.1 and the lemmas -------------------------------------------------------------


def test_falling_ratios_meet_4_2_and_4_3_for_all_pairs() -> None:
    """Falling from neighbour to neighbour is falling for all i < j, and nothing is left out."""
    listed = set(falling_ratios(3, 3))
    numbers = list(product(range(1, 4), repeat=3))
    for x, y in product(numbers, numbers):
        falls = all(
            Fraction(x[i], y[i]) >= Fraction(x[j], y[j]) for i, j in combinations(range(3), 2)
        )
        same_as_4_3 = all(
            Fraction(x[i], x[j]) >= Fraction(y[i], y[j]) for i, j in combinations(range(3), 2)
        )
        assert falls == same_as_4_3 == ((x, y) in listed)


def test_with_one_condition_reversed_4_1_is_reversed() -> None:
    """The remark after Lemma 4.2 needs both conditions reversed: one alone turns (4.1) round."""
    pairs = list(falling_ratios(2, 4))
    strict = 0
    for (a, a_prime), (lam, mu) in product(pairs, pairs):
        lam, mu = lam[::-1], mu[::-1]
        left = Fraction(a[0] * lam[0] + a[1] * lam[1], a[0] * mu[0] + a[1] * mu[1])
        right = Fraction(
            a_prime[0] * lam[0] + a_prime[1] * lam[1], a_prime[0] * mu[0] + a_prime[1] * mu[1]
        )
        assert left <= right
        strict += left < right
    assert strict > 1000


# --- section 3.1 ------------------------------------------------------------------------------


@pytest.mark.parametrize("x_1", [0, 1])
@pytest.mark.parametrize("others", [(0,), (1, 0), (1, 1, 0)])
def test_privacy_ratio_agrees_with_the_law_of_all_multisets(
    x_1: int, others: tuple[int, ...]
) -> None:
    """π(s, x, 1 - x_1) is the ratio of the probabilities of s ones in the two collections."""
    q = Fraction(1, 5)
    n = len(others) + 1
    d = collection_law([(x_1,), *((bit,) for bit in others)], q)
    d_m = collection_law([(1 - x_1,), *((bit,) for bit in others)], q)
    for s in range(n + 1):
        reports = ((0,),) * (n - s) + ((1,),) * s
        expected = d_m[reports] / d[reports]
        assert privacy_ratio(sum(others), n - 1, x_1, s, q) == expected


def test_a_wrong_claim_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the laws of ones and zeros exchanged the claim (3.2) fails at the first case."""
    monkeypatch.setattr(maximal_bits, "MAX_BITS", 3)
    monkeypatch.setattr(maximal_bits, "count_weights", lambda m, n, q: count_weights(n, m, q))
    verdict = verdict_of("002-claim-3.2")
    assert not verdict.holds
    assert verdict.printed.first_failure is not None
    assert verdict.printed.first_failure.startswith(r"$n=1$, $q=\frac{1}{3}$, $m=0$, $s=1$")
