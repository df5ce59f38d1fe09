"""Draft 003, section 9: the order of the ratios R(k, m) at a distance α below the mean.

R(k, m) = P(S = k | m)/P(S = k - 1 | m), where S counts the successes of m trials with chance p and
N - m trials with chance q, and μ_m = m(p - q) + Nq is its mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import count_weights, noises
from krand_lab.statements.verdict import corrected, each, lettered, printed

MAX_TRIALS, DENOMINATOR = 28, 12
MAX_TRIALS_BINOMIAL = 60
MAX_TRIALS_9_5 = 12
DISTANCES_9_8 = 24
"""(9.8) depends on α/N only; so many values of it between 0 and q, both left out."""
STEPS_9_8 = DISTANCES_9_8 + 1


class Comparison(NamedTuple):
    """R(k, m) and R(k', m') for m < m' at the same distance α from the two means."""

    trials: int
    q: Fraction
    m: int
    m_prime: int
    k: int
    k_prime: int
    scaled_alpha: int
    """α times the denominator of q, a whole number."""

    @property
    def alpha(self) -> Fraction:
        """The common distance μ_m - k = μ_m' - k'."""
        return Fraction(self.scaled_alpha, self.q.denominator)

    def terms(self, m: int, k: int) -> tuple[int, int]:
        """Numerator and denominator of R(k, m)."""
        law = count_weights(m, self.trials - m, self.q)
        return law[k], law[k - 1]

    def sign(self) -> int:
        """1 where R(k, m) > R(k', m') as in (9.3), -1 where it is smaller, 0 where equal."""
        now, before = self.terms(self.m, self.k)
        now_prime, before_prime = self.terms(self.m_prime, self.k_prime)
        return _sign(now * before_prime - now_prime * before)

    def __str__(self) -> str:
        """Where it is, and both sides."""
        left, right = (
            Fraction(*self.terms(m, k)) for m, k in ((self.m, self.k), (self.m_prime, self.k_prime))
        )
        return (
            rf"$N = {self.trials}$, $q = {tex(self.q)}$, $\alpha = {tex(self.alpha)}$: "
            f"$R({self.k}, {self.m}) = {tex(left)}$ and "
            f"$R({self.k_prime}, {self.m_prime}) = {tex(right)}$"
        )


def _sign(number: Fraction | int) -> int:
    return (number > 0) - (number < 0)


def _comparisons(trials: int, q: Fraction, m: int, m_prime: int) -> Iterator[Comparison]:
    """Every k for which both places are whole numbers from 1 to N, α falling."""
    a, b = q.numerator, q.denominator
    shift, rest = divmod((m_prime - m) * (b - 2 * a), b)  # μ_m' - μ_m = (m' - m)(p - q)
    if rest:
        return
    for k in range(1, trials - shift + 1):
        scaled_alpha = m * (b - 2 * a) + trials * a - k * b
        yield Comparison(trials, q, m, m_prime, k, k + shift, scaled_alpha)


def _all_comparisons() -> Iterator[Comparison]:
    """Every pair m < m'."""
    for trials, q in product(range(1, MAX_TRIALS + 1), noises(DENOMINATOR)):
        for m in range(trials):
            for m_prime in range(m + 1, trials + 1):
                yield from _comparisons(trials, q, m, m_prime)


def _of_binomials() -> Iterator[Comparison]:
    for trials, q in product(range(1, MAX_TRIALS_BINOMIAL + 1), noises(DENOMINATOR)):
        yield from _comparisons(trials, q, 0, trials)


def _predicted_sign(case: Comparison) -> int:
    """1 where |α + 1/2| ≥ √(pqN) + 1, -1 where it is ≤ √(pqN) - 1, 0 in the strip between them."""
    a, b = case.q.numerator, case.q.denominator
    distance = abs(2 * case.scaled_alpha + b)  # everything times 2b
    variance = 4 * a * (b - a) * case.trials
    if distance >= 2 * b and (distance - 2 * b) ** 2 >= variance:
        return 1
    return -1 if (distance + 2 * b) ** 2 <= variance else 0


COMPARISONS, OF_BINOMIALS = each(_all_comparisons), each(_of_binomials)


def _below_the_mean(case: Comparison) -> bool:
    return case.scaled_alpha > 0


@printed("003-9.3", COMPARISONS.only(_below_the_mean))
@printed("003-9.4", OF_BINOMIALS.only(_below_the_mean))
def conjecture_9_3(case: Comparison) -> bool:
    """003 (9.3): equally far below the mean the ratio falls with the number of likely trials.

    003 (9.4)–(9.7) say so of R(μ_0 - α, 0) and R(μ_N - α, N), and drop the term +1.
    """
    return case.sign() > 0


@corrected("003-9.3", COMPARISONS.only(lambda case: _predicted_sign(case) != 0))
def order_outside_the_strip(case: Comparison) -> bool:
    return case.sign() == _predicted_sign(case)


@corrected("003-9.4", OF_BINOMIALS)
def order_of_binomials(case: Comparison) -> bool:
    excess = case.alpha * (case.alpha + 1) - case.q * (1 - case.q) * case.trials
    return case.sign() == _sign(excess)


def _binomials() -> Iterator[tuple[int, Fraction, int]]:
    for trials, q in product(range(1, MAX_TRIALS_9_5 + 1), noises(DENOMINATOR)):
        yield from ((trials, q, k) for k in range(1, trials + 1))


BINOMIALS = lettered("N q k", _binomials, equals=" = ")


@printed("003-9.5", BINOMIALS)
def equation_9_5(trials: int, q: Fraction, k: int) -> bool | str:
    """003 (9.5): the law for m = N is printed with p and q exchanged."""
    left = drafts.step_all_ones_003_9_5_quotient(trials, k, q)
    right = drafts.step_all_ones_003_9_5(trials, k, q)
    return left == right or (
        f": the printed quotient is ${tex(left)}$, its value is said to be ${tex(right)}$"
    )


@corrected("003-9.5", BINOMIALS)
def equation_9_5_corrected(trials: int, q: Fraction, k: int) -> bool:
    law = count_weights(trials, 0, q)
    return Fraction(law[k], law[k - 1]) == drafts.step_all_ones_003_9_5(trials, k, q)


def _distances() -> Iterator[tuple[Fraction, Fraction]]:
    for q in noises(DENOMINATOR):
        yield from ((q, q * j / STEPS_9_8) for j in range(1, STEPS_9_8))


@printed("003-9.8", lettered(r"q \alpha/N", _distances))
def inequality_9_8(q: Fraction, t: Fraction) -> bool:
    """003 (9.8): the approximate comparison, in which the draft has dropped the +1."""
    left = drafts.step_no_ones_003_9_6_approximate(1, t, q)
    return left > drafts.step_all_ones_003_9_7_approximate(1, t, q)
