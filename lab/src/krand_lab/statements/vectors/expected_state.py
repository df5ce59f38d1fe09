"""The expected state of 003 §6.1.2, held against every outcome: all hold ones, one holds zeros."""

from __future__ import annotations

from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    mean_and_variance,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

CASES = Range(range(1, 9), range(1, 4), 8, most_reports={1: 8, 2: 5, 3: 4})


@statement("003-6.17")
def mean_ratio_of_003() -> Tested:
    """003 (6.11)–(6.17)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        law = law_of_reports((case.zeros,) + (case.ones,) * (n - 1), q)
        histograms = [
            (drafts.set_bit_histogram_001_3_3(s, bits), chance) for s, chance in law.items()
        ]
        mean, _ = mean_and_variance(
            (drafts.ratio_003_6_10(t, q), chance) for t, chance in histograms
        )
        for ones, expected in enumerate(drafts.expected_histogram_003_6_11(n, bits, q)):
            true = sum((t[ones] * chance for t, chance in histograms), Fraction(0))
            failure = unequal(case, ("(6.11)", rf"\mathrm{{E}}(s_{ones})"), expected, true)
            if failure:
                return failure
        names = ("(6.17)", r"\mathrm{E}(R)")
        printed = drafts.expected_ratio_003_6_17(n, bits, q)
        by_parts = (n - 1 + drafts.one_outlier_mean_003_6_15(bits, q)) / n  # (6.14) and (6.15)
        return unequal(case, names, printed, mean) or unequal(case, names, by_parts, mean)

    return result(
        check(CASES, fails),
    )


@statement("003-6.19")
def variance_of_a_bucket() -> Tested:
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
        laws = (drafts.set_bits_of_zero_001_3_7, drafts.set_bits_of_one_001_3_9)
        chances = (law(ones, setting.bits, setting.q) for law in laws)
        right = tuple(chance * (1 - chance) for chance in chances)
        return None if right == variances(*case) else f"{setting}: another variance of $s_{ones}$"

    listed = list(cases)
    return result(
        check(listed, printed),
        check(listed, corrected),
        bits=CASES.bits[-1],
        largest_denominator=CASES.largest_denominator,
    )
