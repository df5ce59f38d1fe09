"""Draft 003, section 9: the order of the ratios R(k, m) at a distance α below the mean.

R(k, m) = P(S = k | m)/P(S = k - 1 | m), where S counts the successes of m trials with chance p and
N - m trials with chance q, and μ_m = m(p - q) + Nq is its mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from krand_lab.statements.bit_counts import count_weights, noises
from krand_lab.statements.notation import tex
from krand_lab.statements.verdict import Tested, check, result, statement

MAX_TRIALS = 28
NOISES = noises(12)
MAX_TRIALS_BINOMIAL = 60
MAX_TRIALS_9_5 = 12
DISTANCES_9_8 = 24
"""(9.8) depends on α/N only; so many values of it between 0 and q, both left out."""

_NOISES = rf"all $q = a/b < 1/2$ with $b \le {NOISES[-1].denominator}$"


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
        left, right = now * before_prime, now_prime * before
        return (left > right) - (left < right)

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


def _comparisons(trials: int, q: Fraction, m: int, m_prime: int) -> Iterator[Comparison]:
    """Every k for which both places are whole numbers from 1 to N, α falling."""
    a, b = q.numerator, q.denominator
    shift, rest = divmod((m_prime - m) * (b - 2 * a), b)  # μ_m' - μ_m = (m' - m)(p - q)
    if rest:
        return
    for k in range(1, trials - shift + 1):
        scaled_alpha = m * (b - 2 * a) + trials * a - k * b
        yield Comparison(
            trials=trials,
            q=q,
            m=m,
            m_prime=m_prime,
            k=k,
            k_prime=k + shift,
            scaled_alpha=scaled_alpha,
        )


def _all_comparisons() -> Iterator[Comparison]:
    """Every pair m < m'."""
    for trials, q in product(range(1, MAX_TRIALS + 1), NOISES):
        for m in range(trials):
            for m_prime in range(m + 1, trials + 1):
                yield from _comparisons(trials, q, m, m_prime)


def _predicted_sign(case: Comparison) -> int:
    """1 where |α + 1/2| ≥ √(pqN) + 1, -1 where it is ≤ √(pqN) - 1, 0 in the strip between them."""
    a, b = case.q.numerator, case.q.denominator
    distance = abs(2 * case.scaled_alpha + b)  # everything times 2b
    variance = 4 * a * (b - a) * case.trials
    if distance >= 2 * b and (distance - 2 * b) ** 2 >= variance:
        return 1
    return -1 if (distance + 2 * b) ** 2 <= variance else 0


@statement("003-9.3")
def conjecture_9_3() -> Tested:
    """003 (9.3): equally far below the mean the ratio falls with the number of likely trials."""

    def fails_corrected(case: Comparison) -> str | None:
        return None if case.sign() == _predicted_sign(case) else str(case)

    cases = list(_all_comparisons())
    below_the_mean = [case for case in cases if case.scaled_alpha > 0]
    outside_the_strip = [case for case in cases if _predicted_sign(case)]
    return result(
        check(below_the_mean, lambda case: None if case.sign() > 0 else str(case)),
        check(outside_the_strip, fails_corrected),
    )


# --- the two binomial laws ----------------------------------------------------------------------


@statement("003-9.4")
def limiting_binomials_9_4() -> Tested:
    """003 (9.4)–(9.7): R(μ_0 - α, 0) > R(μ_N - α, N), with the term +1 that the draft drops."""

    def fails_corrected(case: Comparison) -> str | None:
        excess = case.alpha * (case.alpha + 1) - case.q * (1 - case.q) * case.trials
        return None if case.sign() == (excess > 0) - (excess < 0) else str(case)

    cases = [
        case
        for trials, q in product(range(1, MAX_TRIALS_BINOMIAL + 1), NOISES)
        for case in _comparisons(trials, q, 0, trials)
    ]
    below_the_mean = [case for case in cases if case.scaled_alpha > 0]
    return result(
        check(below_the_mean, lambda case: None if case.sign() > 0 else str(case)),
        check(cases, fails_corrected),
    )


class Binomial(NamedTuple):
    """A place of the law for m = N."""

    trials: int
    q: Fraction
    k: int


@statement("003-9.5")
def equation_9_5() -> Tested:
    """003 (9.5): the law for m = N is printed with p and q exchanged."""

    def cases() -> Iterator[Binomial]:
        for trials, q in product(range(1, MAX_TRIALS_9_5 + 1), NOISES):
            yield from (Binomial(trials, q, k) for k in range(1, trials + 1))

    def quotient(case: Binomial, ones: int) -> Fraction:
        """P(k)/P(k-1) for so many trials with chance p, all others with q."""
        law = count_weights(ones, case.trials - ones, case.q)
        return Fraction(law[case.k], law[case.k - 1])

    def closed_form(case: Binomial) -> Fraction:
        return Fraction(case.trials - case.k + 1, case.k) * (1 - case.q) / case.q

    def fails(case: Binomial) -> str | None:
        # C(N,k) q^k p^(N-k), as printed, is the law for m = 0.
        left, right = quotient(case, 0), closed_form(case)
        if left == right:
            return None
        return (
            f"$N = {case.trials}$, $q = {tex(case.q)}$, $k = {case.k}$: the printed quotient is "
            f"${tex(left)}$, its value is said to be ${tex(right)}$"
        )

    def fails_corrected(case: Binomial) -> str | None:
        return None if quotient(case, case.trials) == closed_form(case) else str(case)

    return result(check(cases(), fails), check(cases(), fails_corrected))


@statement("003-9.8")
def inequality_9_8() -> Tested:
    """003 (9.8): the approximate comparison, in which the draft has dropped the +1."""

    def cases() -> Iterator[tuple[Fraction, Fraction]]:
        for q in NOISES:
            yield from ((q, q * j / (DISTANCES_9_8 + 1)) for j in range(1, DISTANCES_9_8 + 1))

    def fails(case: tuple[Fraction, Fraction]) -> str | None:
        q, t = case
        p = 1 - q
        left, right = (q * p + t * q) / (q * p - t * p), (q * p + t * p) / (q * p - t * q)
        if left > right:
            return None
        return rf"$q = {tex(q)}$, $\alpha/N = {tex(t)}$: ${tex(left)} \le {tex(right)}$"

    return result(
        check(cases(), fails),
        first_letter=_NOISES[0].upper(),
        rest=_NOISES[1:],
        steps=DISTANCES_9_8 + 1,
    )
