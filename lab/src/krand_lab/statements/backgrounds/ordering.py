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
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "Comparison",
    "conjecture_9_3",
    "equation_9_5",
    "inequality_9_8",
    "limiting_binomials_9_4",
]

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


def conjecture_9_3() -> Verdict:
    """003 (9.3): equally far below the mean the ratio falls with the number of likely trials."""

    def fails_corrected(case: Comparison) -> str | None:
        return None if case.sign() == _predicted_sign(case) else str(case)

    cases = list(_all_comparisons())
    below_the_mean = [case for case in cases if case.scaled_alpha > 0]
    outside_the_strip = [case for case in cases if _predicted_sign(case)]
    statement = Statement(
        key="003-9.3",
        source="003 (9.3)",
        says=(
            r"For $k = \mu_m - \alpha$ below the mean, $R(\mu_0 - \alpha, 0) > "
            r"R(\mu_1 - \alpha, 1) > \ldots > R(\mu_N - \alpha, N)$."
        ),
        covered=(
            rf"All $N \le {MAX_TRIALS}$, {_NOISES}, all $m < m'$ and all $\alpha > 0$ for which "
            r"$\mu_m - \alpha$ and $\mu_{m'} - \alpha$ are whole numbers from 1 to $N$. "
            r"Consecutive $m$ never qualify, since their means differ by $p - q$."
        ),
        comment=(
            r"The draft looked at $k$ far below the mean, and there it is right. Nearer to the "
            r"mean than about one standard deviation $\sigma = \sqrt{pqN}$ the order is reversed. "
            r"The reason: all these laws have the variance $\sigma^2$, and their third cumulant "
            r"$(N - 2m) pq (p - q)$ falls with $m$. To first order (Edgeworth) it enters "
            r"$\log R$ with the factor $\frac{x^2 - 1}{2\sigma^4}$, where "
            r"$x = -(\alpha + \frac{1}{2}) / \sigma$, and this factor changes its sign at "
            r"$|x| = 1$. The second order moves this border to $\alpha + \frac{1}{2} \approx "
            r"\sigma + (p - q)(1 - \frac{m + m'}{N})$, which is less than 1 away. The other side "
            r"of the mean follows by $R(k, m) R(N - k + 1, N - m) = 1$, which takes $\alpha$ to "
            r"$-\alpha - 1$ and (9.3) to itself."
        ),
        corrected=(
            r"(9.3) holds where $|\alpha + \frac{1}{2}| \ge \sqrt{pqN} + 1$, and with all signs "
            r"reversed where $|\alpha + \frac{1}{2}| \le \sqrt{pqN} - 1$, on either side of the "
            r"mean. Checked for the same $N$, $q$, $m$, $m'$ and all $\alpha$ of either sign; not "
            "proved."
        ),
    )
    return Verdict(
        statement,
        check(below_the_mean, lambda case: None if case.sign() > 0 else str(case)),
        check(outside_the_strip, fails_corrected),
    )


# --- the two binomial laws ----------------------------------------------------------------------


def limiting_binomials_9_4() -> Verdict:
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
    statement = Statement(
        key="003-9.4",
        source="003 (9.4)–(9.10)",
        says=(
            r"It is easy to see why $R(\mu_0 - \alpha, 0) > R(\mu_N - \alpha, N)$, for "
            r"$\alpha > 0$."
        ),
        covered=(
            rf"All $N \le {MAX_TRIALS_BINOMIAL}$, {_NOISES}, all $\alpha > 0$ for which both "
            r"$qN - \alpha$ and $pN - \alpha$ are whole numbers from 1 to $N$."
        ),
        comment=(
            r"With $k = qN - \alpha$ and $k = pN - \alpha$ the two sides are exactly "
            r"$\frac{q (pN + \alpha + 1)}{p (qN - \alpha)}$ and "
            r"$\frac{p (qN + \alpha + 1)}{q (pN - \alpha)}$, and the cross-multiplied "
            r"difference is $(p - q)(\alpha(\alpha + 1) - pqN)$. The draft drops the $+1$, and "
            r"with it the term $pqN$, which decides up to about one standard deviation."
        ),
        corrected=(
            r"$R(\mu_0 - \alpha, 0) > R(\mu_N - \alpha, N)$ exactly when $\alpha (\alpha + 1) > "
            r"pqN$; equality and the reverse inequality go with equality and the reverse there "
            r"(checked for the same $N$ and $q$ and all $\alpha$ of either sign)."
        ),
    )
    return Verdict(
        statement,
        check(below_the_mean, lambda case: None if case.sign() > 0 else str(case)),
        check(cases, fails_corrected),
    )


class Binomial(NamedTuple):
    """A place of the law for m = N."""

    trials: int
    q: Fraction
    k: int


def equation_9_5() -> Verdict:
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

    statement = Statement(
        key="003-9.5",
        source="003 (9.5)",
        says=(
            r"$R(k, N) = \frac{\binom{N}{k} q^k p^{N-k}}{\binom{N}{k-1} q^{k-1} p^{N-k+1}} = "
            r"\frac{N-k+1}{k} \cdot \frac{p}{q}$."
        ),
        covered=rf"All $1 \le k \le N \le {MAX_TRIALS_9_5}$, {_NOISES}.",
        comment="A slip of the pen; the value on the right is the right one.",
        corrected=(
            r"$R(k, N) = \frac{\binom{N}{k} p^k q^{N-k}}{\binom{N}{k-1} p^{k-1} q^{N-k+1}} = "
            r"\frac{N-k+1}{k} \cdot \frac{p}{q}$ (checked on the same range)."
        ),
    )
    return Verdict(statement, check(cases(), fails), check(cases(), fails_corrected))


def inequality_9_8() -> Verdict:
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

    statement = Statement(
        key="003-9.8",
        source="003 (9.8)–(9.10)",
        says=(
            r"$\frac{qp + \alpha q/N}{qp - \alpha p/N} > \frac{qp + \alpha p/N}{qp - \alpha q/N}$, "
            r"since $p > q$."
        ),
        covered=(
            rf"{_NOISES[0].upper()}{_NOISES[1:]}, and $\alpha/N = jq/{DISTANCES_9_8 + 1}$ for "
            rf"$1 \le j \le {DISTANCES_9_8}$: between 0 and $q$, so that the denominators are "
            "positive."
        ),
        comment=(
            r"True as an inequality between these expressions: the cross-multiplied difference is "
            r"$(p^2 - q^2)(\alpha/N)^2$. It does not carry over to $R$, see the statement on "
            r"(9.4): the difference is of the same order as the $1/N$ that was dropped."
        ),
    )
    return Verdict(statement, check(cases(), fails))
