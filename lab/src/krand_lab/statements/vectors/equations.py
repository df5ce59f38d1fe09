"""The equations for R of whole vectors, held against every multiset of reports.

000 §2.1.1, 001 §2–3.1, 003 §6.1.1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.formulas.vectors import (
    collection_probability_000_2_1,
    count_ratio_000_2_4,
    count_ratio_000_2_5,
    count_ratio_001_2_3,
    count_ratio_003_6_5,
    inverse_ratio_000_2_11,
    largest_ratio_001_1_3,
    ratio_000_2_7,
    ratio_000_2_10,
    ratio_001_2_4,
    ratio_001_3_1,
    ratio_001_3_4,
    ratio_001_3_6,
    ratio_003_6_7,
    ratio_003_6_10,
    set_bit_histogram_001_3_3,
)
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    outcomes,
    reports_in_words,
    unequal,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

ANY_BACKGROUND = Range(range(2, 6), range(1, 4), 4, most_reports={1: 5, 2: 4, 3: 2})
ZEROS = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})


def conditioning_on_one_report() -> Verdict:
    """000 (2.1): the probability of S by the report of one user."""

    def fails(case: tuple[Setting, Vector, Vector, Multiset]) -> str | None:
        setting, x, y, reports = case
        true = law_of_reports((*(x,) * (setting.crowd - 1), y), setting.q)[reports]
        printed = collection_probability_000_2_1(Counter(reports), x, y, setting.q)
        where = f"{setting}, {reports_in_words(reports)}"
        return unequal(where, (r"\sum_i \ldots", r"P(S|D' + y)"), printed, true)

    cases = (
        (setting, x, y, reports)
        for setting, x in _backgrounds()
        for y in vectors(setting.bits)
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
    )
    return Verdict(
        Statement(
            key="000-2.1",
            source="000 (2.1)–(2.3), 001 §2 and (2.2), 003 (6.1)–(6.3)",
            says=r"Whatever the one user holds, $P(S|D' + y) = \sum_i P(s_1, \ldots, s_i - 1, "
            r"\ldots|D') \cdot p(v_i|y)$.",
            covered=f"every multiset $S$, every $y$, every $D'$ of $N-1$ equal vectors, for "
            f"{ANY_BACKGROUND}",
            comment=r"Condition on the report $v_i$ of the user who holds $y$. In 000 and 003 the "
            r"last term is printed with $s_2 - 1$ where the last count less one is meant; 001 has "
            r"it right. (2.2) and (2.3) divide two such sums; (2.3) also divides by "
            r"$P(s_1 - 1, \ldots|D')$ and so needs $s_1 \ge 1$. 001 §1.3 lets every $s_i$ start at "
            r"1; they start at 0.",
        ),
        check(cases, fails),
    )


def ratio_of_neighbouring_counts() -> Verdict:
    """000 (2.4)–(2.5) and 001 (2.3): the multinomial coefficients divide out."""

    def fails(case: tuple[Setting, Vector, Multiset, Vector]) -> str | None:
        setting, x, reports, v = case
        law, counts = law_of_reports((x,) * (setting.crowd - 1), setting.q), Counter(reports)
        true = law[_less_one(reports, v)] / law[_less_one(reports, setting.zeros)]
        printed = [
            count_ratio_000_2_4(counts, v, x, setting.q),
            count_ratio_001_2_3(counts, v, x, setting.q),
        ]
        if x == setting.zeros:
            printed.append(count_ratio_000_2_5(counts, v, setting.q))
        if x == setting.ones:
            printed.append(count_ratio_003_6_5(counts, v, setting.q))
        where = f"{setting}, {reports_in_words(reports)}"
        names = (r"\frac{s_i}{s_1} \cdot \frac{p(v_1|x)}{p(v_i|x)}", r"\frac{P}{P}")
        return next(filter(None, (unequal(where, names, value, true) for value in printed)), None)

    cases = (
        (setting, x, reports, v)
        for setting, x in _backgrounds()
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
        if setting.zeros in reports
        for v in sorted({*reports} - {setting.zeros})
    )
    return Verdict(
        Statement(
            key="000-2.5",
            source="000 (2.4)–(2.5), 001 (2.3), 003 (6.4)–(6.5)",
            says=r"For $D'$ of $N-1$ vectors $x$: $\frac{P(s_1, \ldots, s_i - 1, \ldots|D')}"
            r"{P(s_1 - 1, \ldots, s_i, \ldots|D')} = \frac{s_i}{s_1} \cdot "
            r"\frac{p(v_1|x)}{p(v_i|x)}$.",
            covered=r"every $x$, every multiset with $s_1 \ge 1$ and every $v_i$ in it, for "
            f"{ANY_BACKGROUND}",
            comment=r"000 and 003 print $(2^L)!$ where $(N-1)!$ is meant, above and below the "
            r"line, so it divides out; 001 has it right.",
        ),
        check(cases, fails),
    )


def ratio_for_any_homogeneous_background() -> Verdict:
    """001 (2.4): R from the histogram of vectors, whatever single vector the others hold."""

    def fails(case: tuple[Setting, Vector, Multiset]) -> str | None:
        setting, x, reports = case
        others = (x,) * (setting.crowd - 1)
        modified = law_of_reports((*others, setting.ones), setting.q)[reports]
        original = law_of_reports((*others, setting.zeros), setting.q)[reports]
        printed = ratio_001_2_4(Counter(reports), x, setting.q)
        where = f"{setting}, {reports_in_words(reports)}"
        return unequal(where, ("(2.4)", "R"), printed, modified / original)

    cases = (
        (setting, x, reports)
        for setting, x in _backgrounds()
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
    )
    return Verdict(
        Statement(
            key="001-2.4",
            source="001 (2.4)",
            says=r"For $D'$ of $N-1$ vectors $x$: $\frac{P(S|D' \cup \{1\})}{P(S|D' \cup \{0\})} = "
            r"\frac{\sum_i s_i \, p(v_i|1)/p(v_i|x)}{\sum_i s_i \, p(v_i|0)/p(v_i|x)}$.",
            covered=f"every $x$ and every multiset $S$, for {ANY_BACKGROUND}",
            comment=r"By (2.1), $P(S|D' \cup \{y\}) = \frac{P(S|x, \ldots, x)}{N} \sum_i s_i "
            r"\frac{p(v_i|y)}{p(v_i|x)}$, since $P(\ldots, s_i - 1, \ldots|D') = \frac{s_i}{N} "
            r"\cdot \frac{P(S|x, \ldots, x)}{p(v_i|x)}$. This also covers $s_1 = 0$, where the "
            r"draft would divide by zero.",
        ),
        check(cases, fails),
    )


def ratio_from_counts_of_vectors() -> Verdict:
    """000 (2.7), 001 (3.1) and 003 (6.7)."""
    formulas: tuple[tuple[str, Callable[[Counter[Vector], Fraction], Fraction]], ...] = (
        ("001~(3.1)", ratio_001_3_1),
        ("1/000~(2.7)", lambda counts, q: 1 / ratio_000_2_7(counts, q)),
        ("003~(6.7)", lambda counts, q: ratio_003_6_7(_mirrored(counts), q)),
    )

    def fails(case: tuple[Setting, Multiset, Fraction]) -> str | None:
        setting, reports, true = case
        where = f"{setting}, {reports_in_words(reports)}"
        failures = (
            unequal(where, (name, "R"), formula(Counter(reports), setting.q), true)
            for name, formula in formulas
        )
        return next(filter(None, failures), None)

    return Verdict(
        Statement(
            key="000-2.7",
            source="000 (2.6)–(2.7), 001 (3.1), 003 (6.6)–(6.7)",
            says=r"$R(S) = \frac{1}{N} \sum_i s_i \cdot \frac{p(v_i|1)}{p(v_i|0)}$ for a "
            r"background of zeros; 000 calls this $\frac{1}{R}$, and 003 has zeros and ones "
            r"exchanged.",
            covered=f"every multiset $S$, for {ZEROS}",
            comment=r"This is 001 (2.4) with $x = 0$: the lower sum becomes $\sum_i s_i = N$.",
        ),
        check(_zeros_cases(), fails),
    )


def ratio_from_set_bits() -> Verdict:
    """000 (2.9)–(2.11), 001 (3.2)–(3.6) and 003 (6.9)–(6.10)."""
    formulas: tuple[tuple[str, Callable[[tuple[int, ...], Fraction], Fraction]], ...] = (
        ("001~(3.4)", ratio_001_3_4),
        ("001~(3.6)", ratio_001_3_6),
        ("1/000~(2.10)", lambda histogram, q: 1 / ratio_000_2_10(histogram, q)),
        ("000~(2.11)", inverse_ratio_000_2_11),
        ("003~(6.10)", lambda histogram, q: ratio_003_6_10(histogram[::-1], q)),
    )

    def fails(case: tuple[Setting, Multiset, Fraction]) -> str | None:
        setting, reports, true = case
        histogram = set_bit_histogram_001_3_3(reports, setting.bits)
        where = f"{setting}, {reports_in_words(reports)}"
        failures = (
            unequal(where, (name, "R"), formula(histogram, setting.q), true)
            for name, formula in formulas
        )
        return next(filter(None, failures), None)

    return Verdict(
        Statement(
            key="000-2.10",
            source="000 (2.8)–(2.11), 001 (3.2)–(3.4) and (3.6), 003 (6.8)–(6.10)",
            says=r"With $t_l$ reports of $l$ set bits, $R(S) = \frac{1}{N} \sum_{l=0}^L t_l "
            r"\left(\frac{q}{p}\right)^{L-2l} = \frac{q^L}{N p^L} \sum_{l=0}^L "
            r"\left(\frac{p}{q}\right)^{2l} t_l$.",
            covered=f"every multiset $S$, for {ZEROS}",
            comment=r"A report with $l$ set bits has $\frac{p(v|1)}{p(v|0)} = "
            r"\frac{p^l q^{L-l}}{p^{L-l} q^l} = (q/p)^{L-2l}$; collect equal terms of (3.1).",
        ),
        check(_zeros_cases(), fails),
    )


def set_bits_are_sufficient() -> Verdict:
    """000 §2.1.1 and 001 §3: nothing is lost by counting set bits."""

    def fails(case: Setting) -> str | None:
        seen: dict[tuple[int, ...], set[Fraction]] = defaultdict(set)
        for s in outcomes(case):
            seen[set_bit_histogram_001_3_3(s.reports, case.bits)].add(s.ratio)
        several = [histogram for histogram, ratios in seen.items() if len(ratios) > 1]
        return f"{case}: $T = {several[0]}$ has several ratios" if several else None

    return Verdict(
        Statement(
            key="000-2.1.1-sufficient",
            source="000 §2.1.1, 001 §3, 003 §6.1.1",
            says="An observer gains no more insight from the individual vectors than from the "
            r"numbers $T = (t_0, \ldots, t_L)$ of reports with $l$ set bits.",
            covered=rf"every $T$ and all multisets that share it, for {ZEROS}",
            comment=r"$R$ depends on $S$ only through $T$, so $T$ is sufficient for telling $D_m$ "
            r"from $D$: $P(S|D_m) = R(T) P(S|D)$. This is about this pair only: where the "
            r"outlier is another vector than all ones, $R$ depends on more than $T$.",
        ),
        check(ZEROS, fails),
    )


def largest_ratio_is_that_of_local_privacy() -> Verdict:
    """001 §3.1: the largest R, and where it is reached."""

    def fails(case: Setting) -> str | None:
        largest = max(s.ratio for s in outcomes(case))
        at = [s.reports for s in outcomes(case) if s.ratio == largest]
        if at != [(case.ones,) * case.crowd]:
            return f"{case}: the largest ratio is reached at {reports_in_words(at[0])}"
        limit = largest_ratio_001_1_3(case.bits, case.q)
        return unequal(case, (r"\max R", "(p/q)^L"), largest, limit)

    return Verdict(
        Statement(
            key="001-3.1-maximum",
            source="001 §3.1",
            says=r"The maximal value of $R$ remains $(p/q)^L$, the same as without anonymity, and "
            r"occurs at $T = (0, \ldots, 0, N)$.",
            covered=f"every multiset $S$, for {ZEROS}",
            comment=r"$R$ is the mean of $N$ ratios, each at most $(p/q)^L$, with equality only "
            r"for a report of ones.",
        ),
        check(ZEROS, fails),
    )


def _backgrounds() -> Iterator[tuple[Setting, Vector]]:
    """Every setting of the smaller range with every vector that all others may hold."""
    return ((setting, x) for setting in ANY_BACKGROUND for x in vectors(setting.bits))


def _zeros_cases() -> Iterator[tuple[Setting, Multiset, Fraction]]:
    """Every setting with a background of zeros, every outcome and its ratio."""
    return ((setting, s.reports, s.ratio) for setting in ZEROS for s in outcomes(setting))


def _less_one(reports: Multiset, v: Vector) -> Multiset:
    """The multiset without one report v."""
    at = reports.index(v)
    return reports[:at] + reports[at + 1 :]


def _mirrored(counts: Counter[Vector]) -> Counter[Vector]:
    """The counts with zeros and ones exchanged."""
    return Counter({tuple(1 - bit for bit in v): count for v, count in counts.items()})


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    conditioning_on_one_report,
    ratio_of_neighbouring_counts,
    ratio_from_counts_of_vectors,
    ratio_from_set_bits,
    set_bits_are_sufficient,
    ratio_for_any_homogeneous_background,
    largest_ratio_is_that_of_local_privacy,
)
