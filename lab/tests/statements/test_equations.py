"""Single equations of the drafts: the verdicts, their smallest counterexamples, and hand checks."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import comb

import pytest
from latex2mathml.converter import convert

from krand_lab.enumeration import collection_law
from krand_lab.formulas.anonymity import anonymity_003_3
from krand_lab.formulas.single_bit_copies import (
    inverse_ratio_bound_000_1_12,
    inverse_ratio_copies_000_1_8,
    ratio_bound_003_5_13,
    ratio_copies_003_5_9,
)
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import where
from krand_lab.statements.ranges import count_law, square_noises
from krand_lab.statements.verdict import Count, Verdict
from verdicts import check_documented

# By key: cases, failures, cases of the correction, smallest counterexample.
EXPECTED: dict[str, tuple[int, int, int | None, str | None]] = {
    "000-0.1-0.4": (1980, 0, None, None),
    "000-0.4-extremes": (264, 0, None, None),
    "000-0.4-unit-ratio": (
        264,
        264,
        264,
        r"$N=1$, $q=\frac{1}{3}$: printed $\frac{2}{3}$, exact $1$",
    ),
    "000-0.9-0.14": (1350, 0, None, None),
    "000-0.24": (
        264,
        264,
        264,
        r"$N=1$, $q=\frac{1}{3}$: printed $1$, exact $\frac{2}{3}$",
    ),
    "000-1.2-1.3": (1200, 0, None, None),
    "000-1.5-1.6": (2550, 0, None, None),
    "000-1.7": (
        2550,
        2516,
        2550,
        r"$N=1$, $k=1$, $q=\frac{1}{3}$, $s=0$: printed $\frac{1}{3}$, exact $\frac{2}{3}$",
    ),
    "000-1.8-1.9": (2550, 0, None, None),
    "000-1.10": (
        726,
        220,
        506,
        r"$A=1$, $B=2$, $e=3$: $2 > \frac{1}{2}$",
    ),
    "000-1.11": (
        1590,
        394,
        690,
        r"$N=1$, $k=2$, $s=1$, $i=1$: left $\frac{1}{2}$, right $\frac{1}{4}$",
    ),
    "000-1.12": (4485, 0, None, None),
    "000-1.13-1.19": (1281, 0, None, None),
    "000-1.20": (
        86,
        47,
        39,
        r"$N=20$, $k=5$, $q=\frac{1}{5}$, $s=8$: $R_s = \frac{30593024}{1090447}$ exceeds "
        r"$\lambda = \frac{3200000}{161051}$",
    ),
    "002-2.1": (124, 0, None, None),
    "002-3.1": (532, 0, None, None),
    "003-2-presence": (768, 0, None, None),
    "003-3-factor": (
        135,
        135,
        135,
        r"$N=1$, $q=\frac{10}{21}$, $\epsilon=\frac{1}{10}$, $S = \{0, 1\}$: left $1$, right "
        r"$\frac{1}{10}$",
    ),
    "003-3-record-taken-away": (
        768,
        768,
        720,
        r"$N=1$, $L=1$, $q=\frac{1}{3}$, $T=\{0\}$, $v=0$, $S$ the event of the reports "
        r"$\{0\}$: $P[R(T) \in S] = \frac{2}{3}$, $P[R(T_v) \in S] = 0$",
    ),
    "003-3-anonymity": (
        391,
        262,
        411,
        r"$N=2$, $L=1$, $q=\frac{1}{4}$, $T=\{0, 0\}$: $A_p = 1$, and when one record turns "
        r"to $1$, $R = 3$ at $S = \{1, 1\}$",
    ),
    "003-4.2-4.3": (1980, 0, None, None),
    "003-4.31": (
        1980,
        1716,
        1980,
        r"$N=1$, $q=\frac{1}{3}$, $i=0$: printed $\frac{2}{9}$, exact $\frac{2}{3}$",
    ),
    "003-4.32": (1980, 0, None, None),
    "003-4.35": (
        1350,
        1350,
        1350,
        r"$N=1$, $q=\frac{1}{5}$: printed $\frac{61}{10}$, exact $\frac{11}{2}$",
    ),
    "003-5.6-5.9": (2550, 0, None, None),
    "003-5.13": (4485, 0, None, None),
    "003-5.21": (92, 0, None, None),
    "003-7.2-7.6": (1168, 0, None, None),
    "003-7.7": (
        1168,
        792,
        1168,
        r"$L=1$, $q=\frac{1}{3}$, $l_1=0$, $l_2=1$, $x=0$: printed $\frac{8}{7}$, exact "
        r"$\frac{4}{5}$",
    ),
    "003-7.12": (
        560,
        460,
        560,
        r"$N=1$, $L=1$, $q=\frac{1}{3}$, $S=\{0\}$: printed $0$, exact $\frac{2}{3}$",
    ),
    "003-7.13": (
        560,
        176,
        560,
        r"$N=3$, $L=1$, $q=\frac{1}{3}$, $S=\{0, 0, 1\}$: printed $\frac{17}{10}$, exact "
        r"$\frac{3}{2}$",
    ),
    "003-7.14": (
        560,
        344,
        560,
        r"$N=2$, $L=1$, $q=\frac{1}{3}$, $S=\{0, 0\}$: printed $\frac{2}{9}$, exact "
        r"$\frac{1}{9}$",
    ),
    "003-7.17": (560, 0, None, None),
    "003-7.18": (
        1053,
        936,
        1053,
        r"$N=2$, $L=1$, $q=\frac{1}{3}$, $K=0$: printed $1$, exact $\frac{1}{2}$",
    ),
    "003-7.21": (2728, 0, None, None),
    "003-8.1-8.3": (
        910,
        156,
        754,
        r"(8.1) at $N=2$, $L=1$, $q=\frac{1}{3}$, $s=0$: printed $\frac{2}{9}$, exact "
        r"$\frac{1}{9}$",
    ),
    "003-8.4-8.8": (910, 0, None, None),
}


@pytest.mark.parametrize("key", EXPECTED)
def test_verdict(key: str) -> None:
    """Each fares as pinned, a false one has a right correction, and the page can set all texts."""
    cases, failures, corrected, first = EXPECTED[key]
    verdict = verdict_of(key)
    assert verdict.statement.source.startswith(key[:3])
    assert verdict.printed == Count(cases, failures, first)
    assert bool(verdict.statement.corrected) == (failures > 0)
    assert verdict.correction == (None if corrected is None else Count(corrected, 0, None))
    assert (corrected is None) == verdict.holds
    check_texts(verdict)
    check_documented(verdict)


def check_texts(verdict: Verdict) -> None:
    """Dollar signs come in pairs, what they hold converts to MathML, and nothing is left empty."""
    said = verdict.statement
    assert all((said.says, said.covered, said.comment))
    first = verdict.printed.first_failure or ""
    for text in (said.says, said.covered, said.comment, said.corrected, first):
        assert text.count("$") % 2 == 0
        for formula in re.findall(r"\$([^$]*)\$", text):
            assert "\\" not in convert(formula)


# --- smallest counterexamples by hand -----------------------------------------------------------


def test_the_noise_of_000_1_23_lets_the_ratio_exceed_lambda() -> None:
    """Twenty users, five copies, q = 1/5, eight ones of a hundred: R is 28, λ was to be 19.9."""
    p, q, s = Fraction(4, 5), Fraction(1, 5), 8
    zeros = comb(100, s) * q**s * p ** (100 - s)
    with_one = sum(
        comb(95, s - i) * q ** (s - i) * p ** (95 - s + i) * comb(5, i) * p**i * q ** (5 - i)
        for i in range(6)
    )
    assert zeros / with_one == Fraction(30593024, 1090447)
    lam = 1 / (1 - 3 * (p - q) / 4) ** 5  # √(qpkN) = √16 = 4
    assert lam == Fraction(3200000, 161051)
    assert zeros / with_one > lam


def test_termwise_bound_by_hand() -> None:
    """N = 1, k = 2, s = 1, i = 1: C(0,0)/C(2,1) = 1/2, while s(kN-s)/(kN)² = 1/4."""
    assert Fraction(comb(0, 0), comb(2, 1)) > Fraction(1 * 1, 2**2)


@pytest.mark.parametrize(("copies", "crowd"), [(2, 3), (3, 2)])
def test_bounds_of_the_sum_by_drawing(copies: int, crowd: int) -> None:
    """(1.12) and (5.13) draw k reports with replacement, R without: seen by all the draws."""
    q, reports = Fraction(1, 4), copies * crowd
    draws = list(product(range(reports), repeat=copies))
    distinct = [draw for draw in draws if len(set(draw)) == copies]

    def mean(odds: Fraction, ones: int, chosen: list[tuple[int, ...]]) -> Fraction:
        values = [odds ** (copies - 2 * sum(j < ones for j in draw)) for draw in chosen]
        return sum(values, Fraction(0)) / len(values)

    for s in range(reports + 1):
        for odds, bound, exact in (
            (q / (1 - q), inverse_ratio_bound_000_1_12, inverse_ratio_copies_000_1_8),
            ((1 - q) / q, ratio_bound_003_5_13, ratio_copies_003_5_9),
        ):
            assert mean(odds, s, draws) == bound(crowd, s, q, copies)
            assert mean(odds, s, distinct) == exact(crowd, s, q, copies)


def test_modified_count_by_hand() -> None:
    """003 (4.31) at N = 1, i = 0: D_m is one zero, reported as it is with p; printed is pq."""
    p, q = Fraction(2, 3), Fraction(1, 3)
    assert count_law(1, 0, q)[0] == p
    assert p * q == Fraction(2, 9)


def test_anonymity_by_hand() -> None:
    """Two equal bits have A_p = 1 at any noise, and their ratio reaches p/q."""
    for q in (Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**6)):
        assert anonymity_003_3([(0,), (0,)], q) == 1
        same, changed = collection_law([(0,)] * 2, q), collection_law([(0,), (1,)], q)
        assert max(changed[s] / same[s] for s in same) == (1 - q) / q


def test_conditioning_by_hand() -> None:
    """003 (7.13) at S = {0,0,1}, q = 1/3: odds 2 and 1/2 weighed 4 to 1 in place of 2 to 1."""
    assert (4 * Fraction(2) + Fraction(1, 2)) / 5 == Fraction(17, 10)
    same, changed = (collection_law([(1,), (1,), (x,)], Fraction(1, 3)) for x in (1, 0))
    assert changed[(0,), (0,), (1,)] / same[(0,), (0,), (1,)] == Fraction(3, 2)


# --- ranges -------------------------------------------------------------------------------------


def test_ranges() -> None:
    """Noises are all fractions below 1/2, small denominators first; squares have a root of pq."""
    assert noises(6) == tuple(Fraction(a, b) for a, b in [(1, 3), (1, 4), (1, 5), (2, 5), (1, 6)])
    assert square_noises(3) == (Fraction(1, 5), Fraction(1, 10), Fraction(4, 13))
    assert where(N=2, q=Fraction(1, 3), x="01") == r"$N=2$, $q=\frac{1}{3}$, $x=01$"


@pytest.mark.parametrize(("crowd", "ones", "copies"), [(3, 1, 1), (2, 2, 2), (1, 0, 3)])
def test_count_law(crowd: int, ones: int, copies: int) -> None:
    """The enumerated law of the count is that of independent flips, bit by bit."""
    q = Fraction(1, 5)
    bits = ((1,) * ones + (0,) * (crowd - ones)) * copies
    expected = [Fraction(0)] * (len(bits) + 1)
    for seen in product((0, 1), repeat=len(bits)):
        flips = sum(a != b for a, b in zip(bits, seen, strict=True))
        expected[sum(seen)] += q**flips * (1 - q) ** (len(bits) - flips)
    assert list(count_law(crowd, ones, q, copies)) == expected
