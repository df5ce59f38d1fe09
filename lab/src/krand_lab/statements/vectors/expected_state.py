"""The expected state of 003 §6.1.2, held against every outcome: all hold ones, one holds zeros."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from krand_lab.formulas.vector_laws import (
    expected_histogram_003_6_11,
    set_bits_of_one_001_3_9,
    set_bits_of_zero_001_3_7,
)
from krand_lab.formulas.vector_moments import (
    expected_ratio_003_6_17,
    one_outlier_mean_003_6_15,
)
from krand_lab.formulas.vectors import (
    ratio_003_6_10,
    set_bit_histogram_001_3_3,
)
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


def mean_ratio_of_003() -> Verdict:
    """003 (6.11)–(6.17)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        law = law_of_reports((case.zeros,) + (case.ones,) * (n - 1), q)
        histograms = [(set_bit_histogram_001_3_3(s, bits), chance) for s, chance in law.items()]
        mean, _ = mean_and_variance((ratio_003_6_10(t, q), chance) for t, chance in histograms)
        for ones, expected in enumerate(expected_histogram_003_6_11(n, bits, q)):
            true = sum((t[ones] * chance for t, chance in histograms), Fraction(0))
            failure = unequal(case, ("(6.11)", rf"\mathrm{{E}}(s_{ones})"), expected, true)
            if failure:
                return failure
        names = ("(6.17)", r"\mathrm{E}(R)")
        printed = expected_ratio_003_6_17(n, bits, q)
        by_parts = (n - 1 + one_outlier_mean_003_6_15(bits, q)) / n  # (6.14) and (6.15)
        return unequal(case, names, printed, mean) or unequal(case, names, by_parts, mean)

    return Verdict(
        Statement(
            key="003-6.17",
            source="003 (6.11)–(6.17)",
            says=r"At the expected state $S_e$ of $N - 1$ ones and one vector of zeros, "
            r"$\frac{P(S_e|D' + 0)}{P(S_e|D' + 1)} = \frac{N-1}{N} + \frac{1}{N} "
            r"\left(\frac{p^3 + q^3}{pq}\right)^L$.",
            covered=f"every multiset of reports, for {CASES}",
            comment=r"$S_e$ is not made of whole numbers, but the ratio is linear in the counts, "
            r"so its value at the expected counts is its expected value.",
        ),
        check(CASES, fails),
    )


def variance_of_a_bucket() -> Verdict:
    """003 (6.19) and the sentence above it."""
    cases = (
        (setting, ones)
        for setting in CASES
        if setting.crowd == 1
        for ones in range(setting.bits + 1)
    )

    def variances(setting: Setting, ones: int) -> tuple[Fraction, Fraction]:
        zero, one = (
            mean_and_variance(
                (Fraction(sum(s[0]) == ones), chance)
                for s, chance in law_of_reports((x,), setting.q).items()
            )[1]
            for x in (setting.zeros, setting.ones)
        )
        return zero, one

    def printed(case: tuple[Setting, int]) -> str | None:
        setting, ones = case
        names = (rf"\mathrm{{VAR}}(s_{ones}|0)", rf"\mathrm{{VAR}}(s_{ones}|1)")
        return unequal(f"$L={setting.bits}$, $q={tex(setting.q)}$", names, *variances(*case))

    def corrected(case: tuple[Setting, int]) -> str | None:
        setting, ones = case
        laws = (set_bits_of_zero_001_3_7, set_bits_of_one_001_3_9)
        chances = (law(ones, setting.bits, setting.q) for law in laws)
        right = tuple(chance * (1 - chance) for chance in chances)
        return None if right == variances(*case) else f"{setting}: another variance of $s_{ones}$"

    listed = list(cases)
    return Verdict(
        Statement(
            key="003-6.19",
            source="003 §6.1.2 and (6.19)",
            says=r"The variance in each $l$-bucket is identical for either unit or zero original "
            r"vector.",
            covered=rf"every bucket of one report, for all $1 \le L \le {CASES.bits[-1]}$ and all "
            rf"fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to "
            f"{CASES.largest_denominator}",
            corrected=r"One vector adds $p(l|0)(1 - p(l|0))$ or $p(l|1)(1 - p(l|1))$ to "
            r"$\mathrm{VAR}(s_l)$. Under $D' + 0$ the variance is $(N-1) p(l|1)(1 - p(l|1)) + "
            r"p(l|0)(1 - p(l|0))$. Checked over the same range.",
            comment=r"Equal for $L = 1$ and in the middle bucket $l = L/2$ only. (6.19) itself is "
            r"no formula for a variance: it repeats the right side of (6.18), which contains "
            r"$\mathrm{VAR}(s_l)$. (6.18) holds for every state within three deviations in every "
            r"bucket, term by term, but no state reaches it, since the deviations sum to zero. "
            r"The draft ends here; 000 (2.25) and 001 §3.1 take the variance of the whole sum.",
        ),
        check(listed, printed),
        check(listed, corrected),
    )


STATEMENTS: tuple[Callable[[], Verdict], ...] = (mean_ratio_of_003, variance_of_a_bucket)
