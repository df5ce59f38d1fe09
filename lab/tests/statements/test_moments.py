"""The drafts' statements about whole vectors and copies: which hold, and where the others fail."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from latex2mathml.converter import convert

from krand_lab.enumeration import collection_law
from krand_lab.formulas.copies_moments import copies_condition_001_8_38
from krand_lab.reproduction.entries import Section
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements import copies, tail_bound
from krand_lab.statements.vector_cases import Range, Setting, mean_and_variance, outcomes
from krand_lab.statements.verdict import Verdict, keys_of
from verdicts import check_documented

HOLD = {
    "000-2.1",
    "000-2.5",
    "000-2.7",
    "000-2.10",
    "000-2.1.1-sufficient",
    "001-2.4",
    "001-3.1-maximum",
    "000-2.15",
    "000-2.25",
    "000-2.29",
    "000-2.32",
    "003-6.17",
    "001-3.5",
    "001-3.11",
    "001-3.1-moments",
    "001-3.13",
    "001-3.16",
    "001-7.9",
    "001-3.17-lower",
    "001-8.6",
    "001-8.19",
    "001-8.29",
    "001-8.32",
    "001-8.34",
    "001-8.35",
    "001-8.36",
    "001-6.2-one-copy",
}

SMALLEST = {
    "000-2.14": r"$N=1$, $L=1$, $q=\frac{1}{3}$, $T = (1, 0)$: $\sum_{l=1}^L X_l = 0$, but $X = "
    r"\frac{1}{2}$",
    "000-2.17": r"$N=1$, $L=1$, $q=\frac{1}{3}$: $(2.17) = \frac{1}{18}$, but $\mathrm{VAR}(X) = "
    r"\frac{1}{2}$",
    "003-6.19": r"$L=2$, $q=\frac{1}{3}$: $\mathrm{VAR}(s_0|0) = \frac{20}{81}$, but "
    r"$\mathrm{VAR}(s_0|1) = \frac{8}{81}$",
    "001-3.14": r"$q=\frac{1}{3}$: $\frac{p^5 + q^5}{(pq)^2} = \frac{11}{4}$, but "
    r"$\frac{(p+q)(\ldots)}{(pq)^4} = \frac{891}{16}$",
    "001-3.17-step": r"$N=2$, $L=1$, $q=\frac{1}{3}$: $-\ln (3.17) = \frac{63}{34}$, but "
    r"$-\ln(\mathrm{the line above}) = \frac{18}{17}$",
    "001-3.17": r"$N=2$, $L=1$, $q=\frac{1}{17}$, $\beta=3$: the tail is $\frac{16}{289}$, more "
    r"than $\exp\left(-\frac{552825}{131074}\right)$",
    "001-3.17-upper": r"$N=2$, $L=1$, $q=\frac{1}{17}$, $\beta=3$: the tail is $\frac{16}{289}$, "
    r"more than $\exp\left(-\frac{552825}{131074}\right)$",
    "001-3.17-upper-unreduced": r"$N=35$, $L=1$, $q=\frac{1}{13}$, $\beta=6$: the tail is "
    r"$\frac{328124313938785975115492919110953}{74829695578286078013428929473144712489}$, more "
    r"than $\exp\left(-\frac{182952}{14681}\right)$",
    "001-8.5": r"$N=2$, $L=1$, $q=\frac{1}{3}$, reports $0, 0$: $N! \prod_i p(s_i|0) = "
    r"\frac{8}{9}$, but $P(S|D) = \frac{4}{9}$",
    "001-8.20": r"$N=2$, $L=1$, $q=\frac{1}{3}$, reports $0, 0$: $(8.20) = \frac{1}{4}$, but "
    r"$R(S^k) = \frac{1}{2}$",
    "001-8.21": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{3}$, reports $0, 0, 0, 0$: $(8.21) = "
    r"\frac{1}{8}$, but $R(S^k) = \frac{1}{4}$",
    "001-8.24": r"$m=2$, $r=0$, $L=1$, $q=\frac{1}{3}$: $P[m L_0 + r L_1 = 0] = \frac{2}{3}$, but "
    r"$P[L_r = 0] = \frac{4}{9}$",
    "001-8.25": r"$m=1$, $r=0$, $L=2$, $q=\frac{1}{3}$: $m q^L + r p^L = \frac{1}{9}$, but "
    r"$\mathrm{E} L_r = \frac{2}{3}$",
    "001-8.28": r"$m=1$, $r=0$, $L=1$, $q=\frac{1}{3}$: $(8.28) = 3$, but $\mathrm{E} X_r^2 = "
    r"\frac{3}{2}$",
    "001-6.1": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{4}$: $\mathrm{E} R = \frac{71}{27}$, which is "
    r"more than $(6.1) = \frac{361}{144}$",
    "001-6.2": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{3}$: $\mathrm{Var} R = \frac{119}{144}$, which "
    r"is more than $(6.2) = \frac{75}{512}$",
    "001-8.31": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{3}$: $(8.31) = \frac{37}{48}$, but $\mathrm{E} "
    r"R = \frac{37}{24}$",
    "001-8.37-variance": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{3}$: $\sum_j \mathrm{Var} X_j = "
    r"\frac{45}{4}$, but $\mathrm{Var} \sum_j X_j = \frac{119}{4}$",
    "001-8.38": r"$N=2$, $L=1$, $k=2$, $q=\frac{1}{5}$, $\lambda=8$, where (8.38) is met: $P[R > "
    r"\lambda] = \frac{152}{625}$, which is more than $\frac{1}{1 + 3^2} = \frac{1}{10}$",
}


@cache
def verdicts() -> dict[str, Verdict]:
    """Every verdict by its key, computed once."""
    sections = (Section.RATIO, Section.TAIL, Section.COPIES)
    return {key: verdict_of(key) for section in sections for key in keys_of(section)}


def test_which_statements_are_tested() -> None:
    """The two lists below are complete and do not overlap."""
    assert HOLD.isdisjoint(SMALLEST)
    assert HOLD | set(SMALLEST) == set(verdicts())


@pytest.mark.parametrize("key", sorted(HOLD))
def test_statement_holds(key: str) -> None:
    """No case contradicts the statement, and there are cases."""
    verdict = verdicts()[key]
    assert verdict.holds, verdict.printed.first_failure
    assert verdict.printed.cases >= 30
    assert not verdict.statement.corrected


@pytest.mark.parametrize("key", sorted(SMALLEST))
def test_statement_fails(key: str) -> None:
    """The smallest counterexample is this one, and the correction has none."""
    verdict = verdicts()[key]
    assert verdict.printed.first_failure == SMALLEST[key]
    assert 0 < verdict.printed.failures <= verdict.printed.cases
    assert verdict.statement.corrected
    assert verdict.correction is not None
    assert verdict.correction.failures == 0, verdict.correction.first_failure
    assert verdict.correction.cases >= 90


@pytest.mark.parametrize("key", sorted(HOLD | set(SMALLEST)))
def test_statement_is_documented(key: str) -> None:
    """The page says what was tested and found."""
    check_documented(verdicts()[key])


@pytest.mark.parametrize("key", ["001-8.31", "001-6.2", "001-8.37-variance"])
def test_copies_fail_always(key: str) -> None:
    """These fail in every case with two copies or more, and in none with one."""
    several = [case for case in copies.COPIES if case.copies > 1]
    assert verdicts()[key].printed.failures == len(several) == 128


def test_variance_bound_fails_without_the_missing_factorial() -> None:
    """The comment says so: (6.2) times k!² still fails wherever there are copies."""
    assert "still fails in 128 of these 232 cases" in verdicts()["001-6.2"].statement.comment


def test_condition_for_copies_fails_with_copies_only() -> None:
    """(8.38) keeps its promise for one copy; with four it may be broken more often than not."""
    one_copy = [case for case in copies.CONDITION if case.copies == 1]
    met = 0
    for case, lam in product(one_copy, copies.LAMBDAS):
        printed = copies_condition_001_8_38(case.crowd, case.bits, case.q, 1)
        if copies.within_three_deviations(*printed, lam):
            met += 1
            assert copies.beyond_lambda(case, lam) <= Fraction(1, 10)
    assert met > 30
    worse = Setting(2, 1, Fraction(3, 13), 4)
    printed = copies_condition_001_8_38(2, 1, worse.q, 4)
    assert copies.within_three_deviations(*printed, Fraction(4))
    assert copies.beyond_lambda(worse, Fraction(4)) > Fraction(2, 3)
    assert "up to 83 in 100 outcomes" in verdicts()["001-8.38"].statement.comment


@pytest.mark.parametrize("key", sorted(HOLD | set(SMALLEST)))
def test_texts_are_formulas_a_page_can_set(key: str) -> None:
    """Dollars come in pairs, what is between them is LaTeX, what is not has no backslash."""
    verdict = verdicts()[key]
    statement = verdict.statement
    texts = [statement.source, statement.says, statement.covered, statement.comment]
    texts += [statement.corrected, verdict.printed.first_failure or ""]
    for text in texts:
        pieces = text.split("$")
        assert len(pieces) % 2 == 1, text
        assert not any("\\" in prose or "_" in prose for prose in pieces[::2]), text
        assert "  " not in text
        for formula in pieces[1::2]:
            assert "\\" not in re.sub(r"<[^>]*>", "", convert(formula)), formula
    assert statement.says
    assert statement.covered


def test_ranges_say_what_they_hold() -> None:
    """A range names its limits and yields exactly what lies within them, small cases first."""
    cases = Range(range(2, 5), range(1, 3), 4, range(1, 3), most_reports={1: 6, 2: 3})
    assert str(cases) == (
        r"all $2 \le N \le 4$, all $1 \le L \le 2$, all $1 \le k \le 2$, $kN \le 6$ where "
        r"$L = 1$, $kN \le 3$ where $L = 2$, all fractions $0 < q < \frac{1}{2}$ with "
        r"denominators up to 4"
    )
    listed = [(case.crowd, case.bits, case.copies, case.q) for case in cases]
    noises = [Fraction(1, 3), Fraction(1, 4)]
    expected = [(2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1), (3, 1, 2), (3, 2, 1), (4, 1, 1)]
    assert listed == [(*case, q) for case in expected for q in noises]


def test_outcomes_are_both_laws() -> None:
    """The cases of the statements are the collections of the draft, fraction for fraction."""
    case = Setting(3, 2, Fraction(1, 4), 2)
    original = collection_law([(0, 0)] * 3, case.q, 2)
    modified = collection_law([(0, 0), (0, 0), (1, 1)], case.q, 2)
    assert {s.reports: s.original for s in outcomes(case)} == original
    assert {s.reports: s.modified for s in outcomes(case)} == modified
    assert mean_and_variance((s.ratio, s.original) for s in outcomes(case))[0] == 1


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 12, max_denominator=1000))
def test_exponentials_are_compared_without_rounding(value: Fraction, exponent: Fraction) -> None:
    """Where floats can tell, they agree; the comparison is strict at exponent 0."""
    rounded = math.exp(-exponent)
    if abs(value - rounded) > 1e-12:
        assert tail_bound.exceeds_exponential(value, exponent) == (value > rounded)
    assert not tail_bound.exceeds_exponential(Fraction(1), Fraction(0))


@pytest.mark.parametrize("digits", [5, 20, 40])
def test_exponentials_that_floats_cannot_tell(digits: int) -> None:
    """1/e cut off after many digits is below 1/e, one unit more is above."""
    e_inverse = int("3678794411714423215955237701614608674458")  # 40 digits of 1/e
    cut = e_inverse // 10 ** (40 - digits)
    assert not tail_bound.exceeds_exponential(Fraction(cut, 10**digits), Fraction(1))
    assert tail_bound.exceeds_exponential(Fraction(cut + 1, 10**digits), Fraction(1))
