"""R of one copy and of k copies, held against every outcome (001 (8.5)–(8.8), (8.20)–(8.22))."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab.formulas.copies import (
    copies_ratio_001_8_20,
    copies_ratio_001_8_21,
    copies_ratio_001_8_21_corrected,
    copies_ratio_001_8_22,
    probability_original_001_8_5,
    probability_original_001_8_5_corrected,
    ratio_001_8_6,
    ratio_001_8_8,
)
from krand_lab.statements.vector_cases import (
    Outcome,
    Range,
    Setting,
    outcomes,
    reports_in_words,
    unequal,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

ONE_COPY = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})
COPIES = Range(range(2, 7), range(1, 4), 4, range(1, 5), most_reports={1: 8, 2: 6, 3: 4})


def probability_of_the_original() -> Verdict:
    """001 (8.5)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        value = probability_original_001_8_5(s.set_bits, setting.bits, setting.q)
        return unequal(_where(*case), (r"N! \prod_i p(s_i|0)", "P(S|D)"), value, s.original)

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        repeats = tuple(Counter(s.reports).values())
        value = probability_original_001_8_5_corrected(s.set_bits, repeats, setting.bits, setting.q)
        return unequal(_where(*case), ("(8.5)", "P(S|D)"), value, s.original)

    return Verdict(
        Statement(
            key="001-8.5",
            source="001 (8.5)",
            says=r"There are $N!$ distinct arrangements, so $P(S|D) = N! \prod_{i=1}^N p(s_i|0)$.",
            covered=f"every multiset $S$, for {ONE_COPY}",
            corrected=r"$P(S|D) = \frac{N!}{\prod_v s_v!} \prod_i p(s_i|0)$, where $s_v$ counts "
            r"how often the report $v$ occurs. Checked over the same range.",
            comment=r"(8.5) is the probability only where no report occurs twice; it can exceed 1. "
            r"The ratio (8.6) is right all the same, since $P(S|D_m)$ is counted with the same "
            r"excess.",
        ),
        check(_outcomes(ONE_COPY), printed),
        check(_outcomes(ONE_COPY), corrected),
    )


def ratio_without_the_excess() -> Verdict:
    """001 (8.6)–(8.8)."""

    def fails(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        arguments = s.set_bits, setting.bits, setting.q
        return unequal(
            _where(*case), ("(8.6)", "R"), ratio_001_8_6(*arguments), s.ratio
        ) or unequal(_where(*case), ("(8.8)", "R"), ratio_001_8_8(*arguments), s.ratio)

    return Verdict(
        Statement(
            key="001-8.6",
            source="001 (8.6)–(8.8)",
            says=r"$R(S) = \frac{1}{N} \sum_j \frac{p(s_j|1)}{p(s_j|0)} = \frac{1}{N} "
            r"\left(\frac{q}{p}\right)^L \sum_i \left(\frac{p}{q}\right)^{2 l_i}$.",
            covered=f"every multiset $S$, for {ONE_COPY}",
            comment=r"What (8.5) leaves out for repeated reports, $P(S|D_m)$ leaves out too.",
        ),
        check(_outcomes(ONE_COPY), fails),
    )


def misprint_in_the_ratio_of_copies() -> Verdict:
    """001 (8.20)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "(8.20)", copies_ratio_001_8_20)

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "e_k / C", copies_ratio_001_8_21_corrected)

    return Verdict(
        Statement(
            key="001-8.20",
            source="001 (8.20) and the line above it",
            says=r"$R(S^k) = \frac{\sum_j \prod_{s_i \in S_j} p(s_i|1) \cdot (kN-k)! \cdot "
            r"\prod_{s_i \notin S_j} p(s_i|1)}{(kN)! \prod_i p(s_i|0)}$, $S_j$ running through the "
            r"subsets of $k$ reports.",
            covered=f"every multiset $S^k$, for {COPIES}",
            corrected=r"$R(S^k) = \frac{k! \, (kN-k)!}{(kN)!} \sum_j \prod_{s_i \in S_j} "
            r"\frac{p(s_i|1)}{p(s_i|0)}$. Checked over the same range.",
            comment=r"Outside $S_j$ it must be $p(s_i|0)$, and (8.21) goes on as if it were. The "
            r"missing $k!$ is no misprint, see 001-8.21.",
        ),
        check(_outcomes(COPIES), printed),
        check(_outcomes(COPIES), corrected),
    )


def factorial_missing_in_the_ratio_of_copies() -> Verdict:
    """001 (8.21)–(8.22)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "(8.21)", copies_ratio_001_8_21) or _ratio_differs(
            case, "(8.22)", copies_ratio_001_8_22
        )

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "e_k / C", copies_ratio_001_8_21_corrected)

    return Verdict(
        Statement(
            key="001-8.21",
            source="001 (8.21)–(8.22)",
            says=r"$R(S^k) = \frac{(kN-k)!}{(kN)!} \sum_j \prod_{s_i \in S_j} "
            r"\frac{p(s_i|1)}{p(s_i|0)}$.",
            covered=f"every multiset $S^k$, for {COPIES}",
            corrected=r"$R(S^k) = \frac{1}{\binom{kN}{k}} \sum_j \prod_{s_i \in S_j} "
            r"\frac{p(s_i|1)}{p(s_i|0)}$, the mean over all subsets: $k!$ times as much. Checked "
            r"over the same range.",
            comment=r"The $k$ copies of the outlier can come in any of $k!$ orders, as the draft "
            r"says itself (any ordering of $k$ synthetic vectors) and then leaves out. At $k = 1$ "
            r"it is right. Under $D$ the mean of (8.21) is $\frac{1}{k!}$, where that of a ratio "
            r"of probabilities must be 1. Everything that follows, up to the condition (8.38), "
            r"inherits this.",
        ),
        check(_outcomes(COPIES), printed),
        check(_outcomes(COPIES), corrected),
    )


def _outcomes(cases: Range) -> Iterator[tuple[Setting, Outcome]]:
    """Every setting of the range with every outcome."""
    return ((setting, s) for setting in cases for s in outcomes(setting))


def _where(setting: Setting, s: Outcome) -> str:
    """The case in words."""
    return f"{setting}, {reports_in_words(s.reports)}"


def _ratio_differs(
    case: tuple[Setting, Outcome],
    name: str,
    formula: Callable[[tuple[int, ...], int, int, Fraction], Fraction],
) -> str | None:
    """What contradicts a formula for R(S^k), if anything."""
    setting, s = case
    value = formula(s.set_bits, setting.bits, setting.copies, setting.q)
    return unequal(_where(*case), (name, "R(S^k)"), value, s.ratio)


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    probability_of_the_original,
    ratio_without_the_excess,
    misprint_in_the_ratio_of_copies,
    factorial_missing_in_the_ratio_of_copies,
)
