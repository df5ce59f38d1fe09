"""The law of R with one outlier and its moments, held against every outcome (001 §3.1–3.2, §7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

from krand_lab.enumeration import report_law
from krand_lab.formulas.vector_laws import (
    generating_function_001_3_8,
    generating_function_001_3_10,
    generating_function_001_3_11,
    histogram_law_001_3_5,
)
from krand_lab.formulas.vector_moments import (
    exact_mean_ratio_001,
    exact_phi_001_3_14,
    exact_variance_ratio_001,
    fifth_powers_001_3_14,
    fifth_powers_001_3_14_misprint,
    fifth_powers_of_phi_001_3_15,
    mean_of_one_001_7_8,
    mean_of_zero_001_7_1,
    second_derivative_of_zero_001_7_3,
    second_derivative_of_zero_001_7_4,
    simplified_moments_001_3_13,
    variance_by_generating_function_001_7_2,
    variance_of_one_001_7_9,
    variance_of_zero_001_7_7,
)
from krand_lab.formulas.vectors import local_ratio_001_1_3, set_bit_histogram_001_3_3
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    copies_moments,
    exceeds,
    mean_and_variance,
    outcomes,
    unequal,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

OUTCOMES = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})
HISTOGRAMS = Range(range(2, 9), range(1, 5), 5)
ONE_REPORT = Range(range(1, 2), range(1, 7), 12)
FORMULAS = Range(range(1, 31), range(1, 11), 12)
NOISE_DENOMINATOR = 60


def law_of_the_histogram() -> Verdict:
    """001 (3.5)."""

    def fails(case: Setting) -> str | None:
        law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for s in outcomes(case):
            law[set_bit_histogram_001_3_3(s.reports, case.bits)] += s.modified
        printed = histogram_law_001_3_5(case.crowd, case.bits, case.q)
        different = [t for t in law if law[t] != printed[t]]
        if different:
            return unequal(case, ("(3.5)", "P"), printed[different[0]], law[different[0]])
        return None if law.keys() == printed.keys() else f"{case}: other histograms"

    return Verdict(
        Statement(
            key="001-3.5",
            source="001 (3.5), (3.7), (3.9)",
            says=r"Under $D_m$, $T \sim \mathrm{MN}(N-1, p_0) + \mathrm{MN}(1, p_1)$ "
            r"with $p_{0,l} = \binom{L}{l} q^l p^{L-l}$ and $p_{1,l} = "
            r"\binom{L}{l} p^l q^{L-l}$.",
            covered=f"every histogram $T$, from every multiset of reports, for {OUTCOMES}",
            comment=r"The index $r = 1, 2$ of $p_r$ should be $r = 0, 1$.",
        ),
        check(OUTCOMES, fails),
    )


def generating_function_of_the_sum() -> Verdict:
    """001 (3.8), (3.10), (3.11)."""

    def fails(case: Setting) -> str | None:
        law: dict[Fraction, Fraction] = defaultdict(Fraction)
        for s in outcomes(case):
            law[case.crowd * s.ratio] += s.modified
        printed = generating_function_001_3_11(case.crowd, case.bits, case.q)
        return None if law == printed else f"{case}: the generating function is another one"

    return Verdict(
        Statement(
            key="001-3.11",
            source="001 (3.8), (3.10), (3.11)",
            says=r"Under $D_m$, $X = N \cdot R$ has the generating function $G(X) = "
            r"G^{N-1}(X_0) \, G(X_1)$, where $G(X_0) = \sum_l p(l|0) \, t^{(q/p)^{L-2l}}$ and "
            r"$G(X_1) = \sum_l p(l|1) \, t^{(q/p)^{L-2l}}$.",
            covered=f"every exponent and weight, from every multiset of reports, for {OUTCOMES}",
            comment=r"The reports are independent and each adds its own ratio to $X$. The "
            r"exponents are not whole numbers, so this is a law written as a sum of powers; "
            r"derivatives at $t = 1$ still give its moments.",
        ),
        check(OUTCOMES, fails),
    )


def moments_of_the_ratio() -> Verdict:
    """001 §3.1: E R and Var R under D_m."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        if case in small:
            mean, variance = copies_moments(case)
        else:
            law = generating_function_001_3_11(n, bits, q).items()
            mean, variance = mean_and_variance((x / n, chance) for x, chance in law)
        printed = exact_mean_ratio_001(n, bits, q), exact_variance_ratio_001(n, bits, q)
        return unequal(case, ("(3.12)", r"\mathrm{E} R"), printed[0], mean) or unequal(
            case, (r"(3.12)", r"\mathrm{Var} R"), printed[1], variance
        )

    small = set(OUTCOMES)
    cases = sorted(small | set(HISTOGRAMS), key=lambda s: (s.crowd, s.bits, s.q.denominator, s.q))
    return Verdict(
        Statement(
            key="001-3.1-moments",
            source="001 §3.1, and the moments in (3.12)",
            says=r"Under $D_m$, $\mathrm{E} R = \frac{N-1}{N} + \frac{\phi^L}{N}$ and "
            r"$\mathrm{Var} R = \frac{N-1}{N^2}(\phi^L - 1) + \frac{1}{N^2}\left("
            r"\left(\frac{p^5 + q^5}{(pq)^2}\right)^L - \phi^{2L}\right)$ with $\phi = "
            r"\frac{p^3 + q^3}{pq}$.",
            covered=f"every multiset of reports, for {OUTCOMES}; beyond that every histogram $T$ "
            f"by (3.11), for {HISTOGRAMS}",
            comment=r"$X$ is a sum of independent terms, $N - 1$ like $X_0$ and one like $X_1$.",
        ),
        check(cases, fails),
    )


def simplified_condition_is_stricter() -> Verdict:
    """001 (3.13) against (3.12)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        mean, variance = simplified_moments_001_3_13(n, bits, q)
        return exceeds(
            case, (r"\mathrm{E} R", "(3.13)"), exact_mean_ratio_001(n, bits, q), mean
        ) or exceeds(
            case, (r"\mathrm{Var} R", "(3.13)"), exact_variance_ratio_001(n, bits, q), variance
        )

    return Verdict(
        Statement(
            key="001-3.13",
            source="001 (3.13)",
            says="The expression (3.12) is a little bulky, hence a tighter bound (3.13) is used "
            "instead.",
            covered=f"what stands before the root and what stands under it, for {FORMULAS}",
            comment=r"(3.13) exceeds (3.12) by $\frac{1}{N}$ before the root and by "
            r"$\frac{1}{N} + \frac{\phi^L - 1}{N^2}$ under it. So (3.13) implies (3.12): it is the "
            r"stricter condition and asks for a little more noise. Tighter can only mean this; as "
            r"a bound on $R$ it is looser.",
        ),
        check(FORMULAS, fails),
    )


def identities_for_phi() -> Verdict:
    """001 between (3.13) and (3.15)."""

    def printed(q: Fraction) -> str | None:
        misprint = fifth_powers_001_3_14_misprint(q)
        names = (r"\frac{p^5 + q^5}{(pq)^2}", r"\frac{(p+q)(\ldots)}{(pq)^4}")
        return unequal(f"$q={tex(q)}$", names, fifth_powers_001_3_14(q), misprint)

    def corrected(q: Fraction) -> str | None:
        p, phi = 1 - q, exact_phi_001_3_14(q)
        fifth = fifth_powers_001_3_14(q)
        where = f"$q={tex(q)}$"
        return (
            unequal(where, (r"\phi", r"p/q + q/p - 1"), phi, p / q + q / p - 1)
            or unequal(
                where, ("", r"\phi"), fifth, fifth_powers_001_3_14_misprint(q) * (p * q) ** 2
            )
            or unequal(where, ("", r"\phi^2 + \phi - 1"), fifth, phi**2 + phi - 1)
            or unequal(where, ("", "(3.15)"), fifth, fifth_powers_of_phi_001_3_15(phi))
        )

    return Verdict(
        Statement(
            key="001-3.14",
            source="001 §3.2, before (3.14)",
            says=r"$\frac{p^5 + q^5}{(pq)^2} = \frac{(p+q)(p^4 - p^3 q + (pq)^2 - p q^3 + q^4)}"
            r"{(pq)^4}$.",
            covered=_all_noises(NOISE_DENOMINATOR),
            corrected=r"The denominator on the right is $(pq)^2$. With it, $\frac{p^5 + q^5}"
            r"{(pq)^2} = (\phi + 1)^2 - \phi - 2 = \phi^2 + \phi - 1$, and $\phi = "
            r"\frac{p}{q} + \frac{q}{p} - 1$. All four are checked over the same range.",
            comment=r"A misprint: the lines before and after it are right. With $r = \frac{p}{q}$, "
            r"$\frac{p^5 + q^5}{(pq)^2} = r^2 - r + 1 - r^{-1} + r^{-2}$ and "
            r"$\phi + 1 = r + r^{-1}$.",
        ),
        check(noises(NOISE_DENOMINATOR), printed),
        check(noises(NOISE_DENOMINATOR), corrected),
    )


def noise_from_phi() -> Verdict:
    """001 (3.16)."""

    def fails(q: Fraction) -> str | None:
        phi, odds = exact_phi_001_3_14(q), (1 - q) / q
        root = odds - 1 / odds  # positive, and its square is (φ+1)² - 4
        where = f"$q={tex(q)}$"
        return unequal(where, (r"(\phi+1)^2 - 4", ""), (phi + 1) ** 2 - 4, root**2) or unequal(
            where, ("(3.16)", "q"), 1 / (1 + (phi + 1 + root) / 2), q
        )

    return Verdict(
        Statement(
            key="001-3.16",
            source="001 (3.16)",
            says=r"(3.14) is solved by $q = \frac{1}{1 + \frac{(\phi+1) + \sqrt{(\phi+1)^2 - 4}}"
            r"{2}}$.",
            covered=_all_noises(NOISE_DENOMINATOR),
            comment=r"With $r = \frac{p}{q} > 1$, $\phi + 1 = r + \frac{1}{r}$, so the root is "
            r"$r - \frac{1}{r}$, half the sum is $r$, and $q = \frac{1}{1 + r}$.",
        ),
        check(noises(NOISE_DENOMINATOR), fails),
    )


def contributions_of_one_report() -> Verdict:
    """001 (7.1)–(7.9)."""

    def fails(case: Setting) -> str | None:
        bits, q = case.bits, case.q
        zero, one = (
            mean_and_variance(
                (local_ratio_001_1_3(v, case.zeros, case.ones, q), chance)
                for v, chance in report_law(x, q).items()
            )
            for x in (case.zeros, case.ones)
        )
        by_series = [
            mean_and_variance(series.items())
            for series in (
                generating_function_001_3_8(bits, q),
                generating_function_001_3_10(bits, q),
            )
        ]
        if by_series != [zero, one]:
            return f"{case}: (3.8) and (3.10) have other moments"
        printed = (
            (mean_of_zero_001_7_1(bits, q), zero[0]),
            (second_derivative_of_zero_001_7_3(bits, q), zero[1]),
            (second_derivative_of_zero_001_7_4(bits, q), zero[1]),
            (
                variance_by_generating_function_001_7_2(
                    zero[0], second_derivative_of_zero_001_7_3(bits, q)
                ),
                zero[1],
            ),
            (Fraction(1), zero[0]),
            (variance_of_zero_001_7_7(bits, q), zero[1]),
            (mean_of_one_001_7_8(bits, q), one[0]),
            (variance_of_one_001_7_9(bits, q), one[1]),
        )
        failures = (unequal(case, ("(7)", "X"), left, right) for left, right in printed)
        return next(filter(None, failures), None)

    return Verdict(
        Statement(
            key="001-7.9",
            source="001 (7.1)–(7.9)",
            says=r"$\mathrm{E}(X_0) = 1$, $\mathrm{VAR}(X_0) = \phi^L - 1$, $\mathrm{E}(X_1) = "
            r"\phi^L$, $\mathrm{VAR}(X_1) = \left(\frac{p^5 + q^5}{(pq)^2}\right)^L - \phi^{2L}$.",
            covered=f"every report of a vector of zeros and of ones, for all $1 \\le L \\le "
            f"{ONE_REPORT.bits[-1]}$ and {_all_noises(ONE_REPORT.largest_denominator)}",
            comment=r"Per bit, $\mathrm{E} w^2 = p \frac{q^2}{p^2} + q \frac{p^2}{q^2} = \phi$ "
            r"under zeros, and $\mathrm{E} w^j$ under ones is $\mathrm{E} w^{j+1}$ under zeros; "
            r"$\mathrm{E} w^3 = \frac{q^3}{p^2} + \frac{p^3}{q^2} = \frac{p^5 + q^5}{(pq)^2}$. "
            r"Bits are independent, so $L$ bits give the $L$-th power.",
        ),
        check(ONE_REPORT, fails),
    )


def _all_noises(largest_denominator: int) -> str:
    """The range of q in words."""
    return rf"all fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to {largest_denominator}"


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    law_of_the_histogram,
    generating_function_of_the_sum,
    moments_of_the_ratio,
    simplified_condition_is_stricter,
    identities_for_phi,
    noise_from_phi,
    contributions_of_one_report,
)
