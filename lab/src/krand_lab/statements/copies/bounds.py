"""Moments of R(S^k) and the printed bounds on them, held against every outcome (001 §6, §8.1)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial

from krand_lab.formulas.copies import variance_x_r_001_8_29
from krand_lab.formulas.copies_moments import (
    copies_mean_001_8_31,
    copies_mean_001_8_31_corrected,
    copies_mean_001_8_37_corrected,
    copies_variance_001_8_37_corrected,
    copies_variance_under_original_001_8_37_corrected,
    exact_copies_mean_001_6_1,
    exact_copies_variance_001_6_2,
)
from krand_lab.formulas.vector_moments import (
    exact_mean_ratio_001,
    exact_variance_ratio_001,
)
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

COPIES = Range(range(2, 7), range(1, 4), 7, range(1, 5), most_reports={1: 12, 2: 8, 3: 4})


def bound_on_the_mean() -> Verdict:
    """001 (6.1) and (8.37)."""

    def printed(case: Setting) -> str | None:
        bound = exact_copies_mean_001_6_1(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", "(6.1)"), copies_moments(case)[0], bound)

    def corrected(case: Setting) -> str | None:
        bound = copies_mean_001_8_37_corrected(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", ""), copies_moments(case)[0], bound)

    return Verdict(
        Statement(
            key="001-6.1",
            source="001 (6.1), (8.37)",
            says=r"$\mathrm{E} R(S^k) \le \left(1 + \frac{\phi^L}{kN}\right)^k$.",
            covered=f"every multiset of reports, for {COPIES}",
            corrected=r"$\mathrm{E} R(S^k) \le \left(1 + \frac{\phi^L - 1}{N}\right)^k$, the "
            r"$k$-th power of the mean of one copy. Checked over the same range.",
            comment=r"Two steps fail: (8.31) lacks $k!$, and the chain puts $(kN)^{-k}$ for the "
            r"larger $\frac{(kN-k)!}{(kN)!}$. For $N = 10$, $k = 2$, $L = 1$, $q = \frac{1}{10}$ "
            r"the mean is 2.688, the bound 1.976. Proof of the correction: let $k$ batches be "
            r"shuffled apart, with ratios $R_1, \ldots, R_k$. Mixing them forgets something, so "
            r"$R(S^k)$ is the conditional mean of $R_1 \cdots R_k$ under $D$, and by Jensen's "
            r"inequality $\mathrm{E}_{D_m} R = \mathrm{E}_D R^2 \le \prod_i \mathrm{E}_D R_i^2$.",
        ),
        check(COPIES, printed),
        check(COPIES, corrected),
    )


def bound_on_the_variance() -> Verdict:
    """001 (6.2)."""

    def printed(case: Setting) -> str | None:
        bound = exact_copies_variance_001_6_2(*case.arguments)
        return exceeds(case, (r"\mathrm{Var} R", "(6.2)"), copies_moments(case)[1], bound)

    def with_factorial(case: Setting) -> str | None:
        bound = factorial(case.copies) ** 2 * exact_copies_variance_001_6_2(*case.arguments)
        return exceeds(case, (r"\mathrm{Var} R", r"k!^2 (6.2)"), copies_moments(case)[1], bound)

    def corrected(case: Setting) -> str | None:
        n, bits, q, k = case.arguments
        mean, variance = copies_moments(case)
        square = exact_variance_ratio_001(n, bits, q) + exact_mean_ratio_001(n, bits, q) ** 2
        return exceeds(case, (r"\mathrm{Var} R", ""), variance, square**k - mean**2)

    counted, generous = check(COPIES, printed), check(COPIES, with_factorial)
    return Verdict(
        Statement(
            key="001-6.2",
            source="001 (6.2), and the lines after (8.37)",
            says=r"$\mathrm{Var} R(S^k) \le \left(\frac{\phi^L}{kN} + \frac{(\phi^2 + \phi - 1)^L}"
            r"{(kN)^2}\right)^k - \left(\frac{1}{kN} + \frac{\phi^{2L}}{(kN)^2}\right)^k$.",
            covered=f"every multiset of reports, for {COPIES}",
            corrected=r"With the mean $\mu$ and the variance $\sigma^2$ of one copy, $\mathrm{Var} "
            r"R(S^k) \le (\mu^2 + \sigma^2)^k - (\mathrm{E} R(S^k))^2$. Checked over the same "
            r"range. The variance itself is in 001-8.37-variance.",
            comment=r"Fails wherever $k \ge 2$. The missing $k!$ of (8.21) is not to blame alone: "
            rf"the bound times $k!^2$ still fails in {generous.failures} of these "
            rf"{generous.cases} cases, against {counted.failures} as printed. For one copy it "
            r"holds, see 001-6.2-one-copy. The correction is Jensen's inequality as in 001-6.1, "
            r"for $\mathrm{E}_{D_m} R^2 = \mathrm{E}_D R^3$.",
        ),
        counted,
        check(COPIES, corrected),
    )


def mean_of_the_ratio() -> Verdict:
    """001 (8.30)–(8.31)."""

    def printed(case: Setting) -> str | None:
        value = copies_mean_001_8_31(*case.arguments)
        return unequal(case, ("(8.31)", r"\mathrm{E} R"), value, copies_moments(case)[0])

    def corrected(case: Setting) -> str | None:
        value = copies_mean_001_8_31_corrected(*case.arguments)
        return unequal(case, (r"\mathrm{E} \phi^{Lc}", "E R"), value, copies_moments(case)[0])

    return Verdict(
        Statement(
            key="001-8.31",
            source="001 (8.30)–(8.31)",
            says=r"Under $D_m^k$, $\mathrm{E} R(S^k) = \frac{(kN-k)!}{(kN)!} \sum_{r=0}^k "
            r"\binom{k}{r} \binom{kN-k}{k-r} \phi^{rL}$.",
            covered=f"every multiset of reports, for {COPIES}",
            corrected=r"$\mathrm{E} R(S^k) = \frac{1}{\binom{kN}{k}} \sum_{r=0}^k \binom{k}{r} "
            r"\binom{kN-k}{k-r} \phi^{rL}$, that is the mean of $\phi^{Lc}$ for $c$ "
            r"hypergeometric: $k!$ times as much. Checked over the same range.",
            comment=r"Fails for every $k \ge 2$, by the $k!$ missing from (8.21). The number of "
            r"terms with $r$ reports of the outlier is right.",
        ),
        check(COPIES, printed),
        check(COPIES, corrected),
    )


def variance_of_overlapping_subsets() -> Verdict:
    """001 after (8.37): the variance of the sum as the sum of the variances."""

    def printed(case: Setting) -> str | None:
        k, reports = case.copies, case.copies * case.crowd
        added = sum(
            (
                comb(k, r)
                * comb(reports - k, k - r)
                * variance_x_r_001_8_29(k - r, r, case.bits, case.q)
                for r in range(k + 1)
            ),
            Fraction(0),
        )
        true = comb(reports, k) ** 2 * copies_moments(case)[1]
        names = (r"\sum_j \mathrm{Var} X_j", r"\mathrm{Var} \sum_j X_j")
        return unequal(case, names, added, true)

    def corrected(case: Setting) -> str | None:
        modified = copies_variance_001_8_37_corrected(*case.arguments)
        original = copies_variance_under_original_001_8_37_corrected(*case.arguments)
        _, under_original = mean_and_variance((s.ratio, s.original) for s in outcomes(case))
        return unequal(
            case, (r"\mathrm{Var}_{D_m} R", ""), modified, copies_moments(case)[1]
        ) or unequal(case, (r"\mathrm{Var}_D R", ""), original, under_original)

    return Verdict(
        Statement(
            key="001-8.37-variance",
            source="001 §8.1, after (8.37)",
            says=r"The variance of the sum over all subsets of $k$ reports is the sum of the "
            r"variances, $\sum_{r=0}^k \binom{k}{r} \binom{Nk-k}{k-r} \mathrm{Var} X_r$.",
            covered=f"every multiset of reports, for {COPIES}",
            corrected=r"$\mathrm{Var}_D R(S^k) = \mathrm{E} \phi^{Lc} - 1$, $c$ being the number "
            r"of reports that two random subsets share. Under $D_m$, $\mathrm{E} R^2$ is the mean "
            r"of $\phi^{L d} (\phi^2 + \phi - 1)^{L t}$, where $d$ reports lie in exactly two of "
            r"three random subsets and $t$ in all three. Checked over the same range.",
            comment=r"Fails for every $k \ge 2$, whatever factor stands in front: two subsets that "
            r"share a report are positively correlated, and the sum leaves all covariances out. "
            r"At $k = 1$ nothing overlaps. The correction follows from $\mathrm{E}_{D_m} R^{j} = "
            r"\mathrm{E}_D R^{j+1}$ and the means $1$, $1$, $\phi^L$, $(\phi^2 + \phi - 1)^L$ of "
            r"$1, w, w^2, w^3$ under $D$.",
        ),
        check(COPIES, printed),
        check(COPIES, corrected),
    )


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    bound_on_the_mean,
    bound_on_the_variance,
    mean_of_the_ratio,
    variance_of_overlapping_subsets,
)
