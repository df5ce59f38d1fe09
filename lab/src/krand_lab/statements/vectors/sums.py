"""X = N/R as a sum over the numbers of set bits, everybody holding zeros (000 §2.1.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

from krand_lab.formulas.vector_laws import (
    bucket_law_000_2_14,
)
from krand_lab.formulas.vector_moments import (
    exact_phi_001_3_14,
    mean_of_sum_000_2_15,
    phi_000_2_31,
    power_limit_000_2_29,
    quadratic_000_2_32,
    second_moment_000_2_21,
    second_moment_000_2_23,
    variance_of_sum_000_2_16,
    variance_of_sum_000_2_17,
    variance_of_sum_000_2_18,
    variance_of_sum_000_2_19,
    variance_of_sum_000_2_25,
)
from krand_lab.formulas.vectors import (
    likelihood_ratio_001_3_2,
    set_bit_histogram_001_3_3,
)
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    mean_and_variance,
    unequal,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

CASES = Range(range(1, 9), range(1, 4), 8, most_reports={1: 8, 2: 5, 3: 4})
LIMITS = tuple(Fraction(n, 4) for n in range(4, 41))
LIMITS_DENOMINATOR = 20
LAMBDAS = tuple(Fraction(n, 2) for n in range(3, 17))


def number_of_terms() -> Verdict:
    """000 (2.14): X has L + 1 terms, and each is a multiple of a binomial."""

    def printed(case: tuple[Setting, tuple[int, ...]]) -> str | None:
        setting, histogram = case
        terms = _terms(setting, histogram)
        where = f"{setting}, $T = {histogram}$"
        return unequal(
            where, (r"\sum_{l=1}^L X_l", "X"), sum(terms[1:], Fraction(0)), sum(terms, Fraction(0))
        )

    def corrected(case: tuple[Setting, int]) -> str | None:
        setting, ones = case
        law: dict[Fraction, Fraction] = defaultdict(Fraction)
        for histogram, chance in _histograms(setting).items():
            law[_terms(setting, histogram)[ones]] += chance
        if law == bucket_law_000_2_14(ones, setting.crowd, setting.bits, setting.q):
            return None
        return f"{setting}: $X_{ones}$ is not that multiple of a binomial"

    return Verdict(
        Statement(
            key="000-2.14",
            source="000 (2.14)",
            says=r"$X$ is the sum of $L$ correlated variables $X_l = \left(\frac{q}{p}\right)"
            r"^{L-2l} \mathrm{Binomial}(p(l|0), N)$.",
            covered=f"every histogram $T$ that $N$ vectors of zeros can give, for {CASES}; the "
            r"$L$ variables are taken to be $X_1, \ldots, X_L$",
            corrected=r"$X$ is the sum of the $L + 1$ variables $X_0, \ldots, X_L$. Each has the "
            r"stated law, checked for every $l$ over the same range; they are dependent.",
            comment="A slip in counting. Nothing rests on it: all sums that follow start at "
            r"$l = 0$. Just above, $X$ is defined as $\frac{1}{R}$; from here on it is "
            r"$\frac{N}{R}$.",
        ),
        check(((s, histogram) for s in CASES for histogram in _histograms(s)), printed),
        check(((s, ones) for s in CASES for ones in range(s.bits + 1)), corrected),
    )


def mean_of_the_sum() -> Verdict:
    """000 (2.15)."""

    def fails(case: Setting) -> str | None:
        mean, _ = _moments(case)
        n, bits, q = case.crowd, case.bits, case.q
        return unequal(case, ("N", r"\mathrm{E}(X)"), Fraction(n), mean) or unequal(
            case, ("(2.15)", r"\mathrm{E}(X)"), mean_of_sum_000_2_15(n, bits, q), mean
        )

    return Verdict(
        Statement(
            key="000-2.15",
            source="000 (2.15)",
            says=r"If everybody holds zeros, $X = \sum_l s_l \left(\frac{q}{p}\right)^{L-2l}$ has "
            r"$\mathrm{E}(X) = N$.",
            covered=f"every multiset of reports, for {CASES}",
            comment=r"A report of zeros adds $\frac{p(v|1)}{p(v|0)}$, whose mean is "
            r"$\sum_v p(v|1) = 1$.",
        ),
        check(CASES, fails),
    )


def variance_with_pairs_taken_twice() -> Verdict:
    """000 (2.17)–(2.18)."""

    def printed(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        _, variance = _moments(case)
        names = ("(2.17)", r"\mathrm{VAR}(X)")
        return unequal(case, names, variance_of_sum_000_2_17(n, bits, q), variance) or unequal(
            case, names, variance_of_sum_000_2_18(n, bits, q), variance
        )

    def corrected(case: Setting) -> str | None:
        _, variance = _moments(case)
        right = variance_of_sum_000_2_16(case.crowd, case.bits, case.q)
        return unequal(case, ("(2.16)", r"\mathrm{VAR}(X)"), right, variance)

    return Verdict(
        Statement(
            key="000-2.17",
            source="000 (2.17)–(2.18)",
            says=r"$\mathrm{VAR}(X) = \sum_{l=0}^L N w_l^2 \, p(l|0)(1 - p(l|0)) - "
            r"2 \sum_{j \ne i} N \, p(i|0) w_i \, p(j|0) w_j$ with "
            r"$w_l = \left(\frac{q}{p}\right)^{L-2l}$.",
            covered=f"every multiset of reports, for {CASES}; the sum over $j \\ne i$ is taken "
            "over ordered pairs",
            corrected=r"The last sum runs over $i < j$, as in (2.16) above it. Checked over the "
            "same range.",
            comment=r"With the factor 2, $j \ne i$ counts every pair twice. (2.19) is right again: "
            r"$\sum_l (p(l|0) w_l)^2 + 2 \sum_{i<j} \ldots$ is the square of the sum.",
        ),
        check(CASES, printed),
        check(CASES, corrected),
    )


def variance_of_the_sum() -> Verdict:
    """000 (2.19)–(2.25)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        _, variance = _moments(case)
        printed = (
            variance_of_sum_000_2_19(n, bits, q),
            n * (second_moment_000_2_21(bits, q) - 1),  # (2.20)
            n * (second_moment_000_2_23(bits, q) - 1),
            variance_of_sum_000_2_25(n, bits, q),
        )
        failures = (unequal(case, ("(2.25)", r"\mathrm{VAR}(X)"), v, variance) for v in printed)
        return next(filter(None, failures), None)

    return Verdict(
        Statement(
            key="000-2.25",
            source="000 (2.19)–(2.25)",
            says=r"$\mathrm{VAR}(X) = N \left(\left(\frac{p^3 + q^3}{pq}\right)^L - 1\right)$.",
            covered=f"every multiset of reports, for {CASES}",
            comment=r"One report has the second moment $\sum_l \binom{L}{l} q^l p^{L-l} "
            r"(q/p)^{2L-4l} = \left(\frac{q^2}{p} + \frac{p^2}{q}\right)^L = \phi^L$ and the mean "
            r"1; the $N$ reports are independent. So $\frac{1}{R} = \frac{X}{N}$ has the mean 1 "
            r"and the variance $\frac{\phi^L - 1}{N}$, as (2.26) and (2.27) use.",
        ),
        check(CASES, fails),
    )


def condition_solved_for_the_noise() -> Verdict:
    """000 (2.27)–(2.32)."""

    def fails(case: tuple[Fraction, Fraction]) -> str | None:
        q, limit = case
        phi = phi_000_2_31(q)
        if phi != exact_phi_001_3_14(q):
            return f"$q={tex(q)}$: (2.31) is not $\\phi$"
        if (phi <= limit) == (quadratic_000_2_32(q, limit) <= 0):
            return None
        return f"$q={tex(q)}$, $z={tex(limit)}$: (2.31) and (2.32) disagree"

    return Verdict(
        Statement(
            key="000-2.32",
            source="000 (2.31)–(2.32)",
            says=r"$\phi = \frac{1 - 3q + 3q^2}{q(1-q)} \le z$ is the same as $q^2 - q + "
            r"\frac{1}{3 + z} \le 0$.",
            covered=rf"all fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to "
            rf"{LIMITS_DENOMINATOR}, each with $z = {tex(LIMITS[0])}, {tex(LIMITS[1])}, \ldots, "
            rf"{tex(LIMITS[-1])}$",
            comment=r"$1 - 3q(1-q) \le z \, q(1-q)$ is $1 \le (3 + z) q (1-q)$. (2.30) prints a "
            r"first root where the $L$-th is meant; (2.31) has it right.",
        ),
        check(((q, z) for q in noises(LIMITS_DENOMINATOR) for z in LIMITS), fails),
    )


def three_deviations_as_a_limit_on_phi() -> Verdict:
    """000 (2.26)–(2.29)."""

    def fails(case: tuple[Setting, Fraction]) -> str | None:
        setting, lam = case
        mean, variance = _moments(setting)
        n = setting.crowd
        # E - 3√V ≥ N/λ without the root: E ≥ N/λ and 9V ≤ (E - N/λ)²
        reached = mean - n / lam
        three_sigma = reached >= 0 and 9 * variance <= reached**2
        power = exact_phi_001_3_14(setting.q) ** setting.bits
        if three_sigma == (power <= power_limit_000_2_29(n, lam)):
            return None
        return f"{setting}, $\\lambda={tex(lam)}$: (2.26) and (2.29) disagree"

    return Verdict(
        Statement(
            key="000-2.29",
            source="000 (2.26)–(2.29)",
            says=r"$\frac{1}{N}\left(\mathrm{E}(X) - 3\sqrt{\mathrm{VAR}(X)}\right) \ge "
            r"\frac{1}{\lambda}$ is the same as $\phi^L \le 1 + \left(1 - \frac{1}{\lambda}"
            r"\right)^2 \frac{N}{9}$.",
            covered=f"moments from every multiset of reports, for {CASES}, each with "
            rf"$\lambda = {tex(LAMBDAS[0])}, {tex(LAMBDAS[1])}, \ldots, {tex(LAMBDAS[-1])}$",
            comment=r"Both sides of $3\sqrt{\phi^L - 1} \le \left(1 - \frac{1}{\lambda}\right)"
            r"\sqrt{N}$ are positive and may be squared.",
        ),
        check(((setting, lam) for setting in CASES for lam in LAMBDAS), fails),
    )


def _terms(case: Setting, histogram: tuple[int, ...]) -> list[Fraction]:
    """What the reports with l set bits add to X, for every l."""
    return [
        n * likelihood_ratio_001_3_2(ones, case.bits, case.q) for ones, n in enumerate(histogram)
    ]


@cache
def _histograms(case: Setting) -> Mapping[tuple[int, ...], Fraction]:
    """Law of the histogram T when everybody holds zeros, from every multiset of reports."""
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for reports, chance in law_of_reports((case.zeros,) * case.crowd, case.q).items():
        law[set_bit_histogram_001_3_3(reports, case.bits)] += chance
    return law


@cache
def _moments(case: Setting) -> tuple[Fraction, Fraction]:
    """Mean and variance of X when everybody holds zeros."""
    law = _histograms(case).items()
    return mean_and_variance((sum(_terms(case, t), Fraction(0)), chance) for t, chance in law)


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    number_of_terms,
    mean_of_the_sum,
    variance_with_pairs_taken_twice,
    variance_of_the_sum,
    three_deviations_as_a_limit_on_phi,
    condition_solved_for_the_noise,
)
