"""Counts of one bit, with one report of each user and with k: 000 §0–1 and 003 §4–5."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from krand_lab import formulas as drafts
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex, where
from krand_lab.statements.ranges import (
    count_law,
    counts,
    noises_in_words,
    places,
    square_noises,
    squares,
    squares_in_words,
)
from krand_lab.statements.verdict import (
    Equations,
    Tested,
    check,
    corrected,
    lettered,
    printed,
    result,
    statement,
)

# --- one report of each user --------------------------------------------------------------------

USERS, DENOMINATOR = 12, 12
RANGE = rf"$1 \le N \le {USERS}$ and {noises_in_words(DENOMINATOR)}"
PLACES = lettered("N q", lambda: places(USERS, DENOMINATOR))
COUNTS = rf"{RANGE}; every count $0 \le i \le N$."
COUNTED = lettered("N q i", lambda: counts(USERS, DENOMINATOR))
TRUE_COUNTS = lettered("N q T", COUNTED.make)
ROOT_USERS, ROOTS = 30, 12
SQUARES = f"{squares_in_words(ROOT_USERS, ROOTS)}."
SQUARE_PLACES = lettered("N q", lambda: squares(ROOT_USERS, ROOTS))


@printed("000-0.1-0.4", COUNTED)
def count_and_ratio(n: int, q: Fraction, i: int) -> Equations:
    modified, original = count_law(n, 0, q)[i], count_law(n, 1, q)[i]
    yield "(0.1)", drafts.probability_modified_000_0_1(n, i, q), modified
    yield "(0.2)", drafts.probability_original_000_0_2(n, i, q), original
    yield "(0.3)", drafts.ratio_000_0_3(n, i, q), modified / original
    yield "(0.4)", drafts.inverse_ratio_000_0_4(n, i, q), original / modified


@printed("000-0.4-extremes", PLACES)
def extremes(n: int, q: Fraction) -> Equations:
    ratios = [a / b for a, b in zip(count_law(n, 0, q), count_law(n, 1, q), strict=True)]
    falls = all(above > below for above, below in pairwise(ratios))
    yield "whether it falls", Fraction(1), Fraction(falls)
    if (q * n).denominator == 1:
        yield "$i=qN$", Fraction(1), ratios[int(q * n)]
    yield "$i=0$", (1 - q) / q, ratios[0]
    yield "$i=N$", q / (1 - q), ratios[n]


@printed("000-0.4-unit-ratio", PLACES)
def unit_ratio(n: int, q: Fraction) -> Equations:
    yield drafts.inverse_ratio_at_mean_000(n, q), Fraction(1)


@corrected("000-0.4-unit-ratio", PLACES)
def unit_ratio_corrected(n: int, q: Fraction) -> Equations:
    yield drafts.inverse_ratio_at_mean_000_corrected(n, q), Fraction(1)


@printed("000-0.9-0.14", SQUARE_PLACES)
def three_deviations(n: int, q: Fraction) -> Equations:
    limit = drafts.inverse_ratio_000_0_4(n, drafts.count_below_mean_000_0_5(n, q), q)
    yield "(0.9)", drafts.inverse_ratio_below_mean_000_0_9(n, q), limit
    yield "(0.10)", drafts.inverse_ratio_below_mean_000_0_10(n, q), limit
    yield "(0.11)", drafts.inverse_ratio_below_mean_000_0_11(n, q), limit
    yield "(0.12)", 1 - drafts.shortfall_000_0_12(n, q), limit
    yield "(0.13)", 1 - drafts.shortfall_000_0_13(n, q), limit
    if limit > 0:  # otherwise no λ is met with equality
        variance = drafts.variance_of_estimate_003_4_3(n, q)
        yield "(0.14)", drafts.least_variance_000_0_14(1 / limit), variance


def _mean_count(n: int, q: Fraction) -> Fraction:
    return sum((i * chance for i, chance in enumerate(count_law(n, 1, q))), Fraction(0))


@printed("000-0.24", PLACES)
def mean_of_the_modified_count(n: int, q: Fraction) -> Equations:
    yield drafts.mean_count_000_0_24(n, q), _mean_count(n, q)


@corrected("000-0.24", PLACES)
def mean_of_the_modified_count_corrected(n: int, q: Fraction) -> Equations:
    yield drafts.mean_count_000_0_24_corrected(n, q), _mean_count(n, q)


def _moments(chances: tuple[Fraction, ...], estimates: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Mean and variance of an estimate."""
    mean = sum((c * t for c, t in zip(chances, estimates, strict=True)), Fraction(0))
    square = sum((c * t**2 for c, t in zip(chances, estimates, strict=True)), Fraction(0))
    return mean, square - mean**2


@printed("003-4.2-4.3", TRUE_COUNTS)
def estimate(n: int, q: Fraction, ones: int) -> Equations:
    estimates = [drafts.estimate_003_4_1(i, n, q) for i in range(n + 1)]
    mean, variance = _moments(count_law(n, ones, q), estimates)
    yield "(4.2)", Fraction(ones), mean
    yield "(4.3)", drafts.variance_of_estimate_003_4_3(n, q), variance


@printed("003-4.31", COUNTED)
def modified_count(n: int, q: Fraction, i: int) -> Equations:
    yield drafts.probability_modified_003_4_31(n, i, q), count_law(n, n - 1, q)[i]


@corrected("003-4.31", COUNTED)
def modified_count_corrected(n: int, q: Fraction, i: int) -> Equations:
    yield drafts.probability_modified_003_4_31_corrected(n, i, q), count_law(n, n - 1, q)[i]


@printed("003-4.32", COUNTED)
def ratio(n: int, q: Fraction, i: int) -> Equations:
    original, modified = count_law(n, n, q)[i], count_law(n, n - 1, q)[i]
    ends = {0: (1 - q) / q, n: q / (1 - q), (1 - q) * n: Fraction(1)}
    yield "(4.30)", drafts.probability_original_003_4_30(n, i, q), original
    yield "(4.32)", drafts.ratio_003_4_32(n, i, q), modified / original
    yield "below (4.32)", ends.get(i, modified / original), modified / original


def _ratio_below_mean(n: int, q: Fraction) -> Fraction:
    return drafts.ratio_003_4_32(n, drafts.count_below_mean_003_4_33(n, q), q)


@printed("003-4.35", SQUARE_PLACES)
def largest_ratio(n: int, q: Fraction) -> Equations:
    yield drafts.largest_ratio_003_4_35(n, q), _ratio_below_mean(n, q)


@corrected("003-4.35", SQUARE_PLACES)
def largest_ratio_corrected(n: int, q: Fraction) -> Equations:
    limit = _ratio_below_mean(n, q)
    yield drafts.largest_ratio_003_4_36(n, q), limit
    yield drafts.largest_ratio_003_4_37(n, q), limit
    yield drafts.largest_ratio_003_4_38(n, q), limit
    yield drafts.largest_ratio_003_4_39(n, q), limit
    yield drafts.least_variance_003_4_40(limit), drafts.variance_of_estimate_003_4_3(n, q)


# --- k reports of each user: equations ----------------------------------------------------------

COPIES_USERS, COPIES, COPIES_DENOMINATOR = 5, 4, 10
COPIES_RANGE = (
    rf"$1 \le N \le {COPIES_USERS}$, $1 \le k \le {COPIES}$ and "
    f"{noises_in_words(COPIES_DENOMINATOR)}"
)
COPIES_COUNTS = rf"{COPIES_RANGE}; every count $0 \le s \le kN$"

Copies = tuple[int, int, Fraction]
"""N, k and q."""
Counted = tuple[int, int, Fraction, int]
"""The same with a count s."""


def _copies(users: int, copies: int, denominator: int) -> Iterator[Copies]:
    for n in range(1, users + 1):
        for k in range(1, copies + 1):
            yield from ((n, k, q) for q in noises(denominator))


def _counts_of_copies(users: int, copies: int, denominator: int) -> Iterator[Counted]:
    for n, k, q in _copies(users, copies, denominator):
        yield from ((n, k, q, s) for s in range(n * k + 1))


def _true_counts_of_copies() -> Iterator[Counted]:
    for n, k, q in _copies(COPIES_USERS, COPIES, COPIES_DENOMINATOR):
        yield from ((n, k, q, ones) for ones in range(n + 1))


COUNTED_COPIES = lettered(
    "N k q s", lambda: _counts_of_copies(COPIES_USERS, COPIES, COPIES_DENOMINATOR)
)


@printed("000-1.2-1.3", lettered("N k q T", _true_counts_of_copies))
def estimate_of_copies(n: int, k: int, q: Fraction, ones: int) -> Equations:
    estimates = [drafts.estimate_copies_000_1_1(s, n, q, k) for s in range(k * n + 1)]
    mean, variance = _moments(count_law(n, ones, q, k), estimates)
    yield "(1.2)", Fraction(ones), mean
    yield "(1.3)", drafts.variance_of_estimate_copies_000_1_3(n, q, k), variance


@printed("000-1.5-1.6", COUNTED_COPIES)
def count_of_copies(n: int, k: int, q: Fraction, s: int) -> Equations:
    modified, original = count_law(n, 0, q, k)[s], count_law(n, 1, q, k)[s]
    yield "(1.5)", drafts.probability_modified_copies_000_1_5(n, s, q, k), modified
    yield "(1.6)", drafts.probability_original_copies_000_1_6(n, s, q, k), original


@printed("000-1.7", COUNTED_COPIES)
def label(n: int, k: int, q: Fraction, s: int) -> Equations:
    yield drafts.probability_original_copies_000_1_7(n, s, q, k), count_law(n, 0, q, k)[s]


@corrected("000-1.7", COUNTED_COPIES)
def label_corrected(n: int, k: int, q: Fraction, s: int) -> Equations:
    yield drafts.probability_original_copies_000_1_7(n, s, q, k), count_law(n, 1, q, k)[s]


@printed("000-1.8-1.9", COUNTED_COPIES)
def inverse_ratio_of_copies(n: int, k: int, q: Fraction, s: int) -> Equations:
    for i in range(k + 1):
        share = drafts.share_000_1_9(n, s, i, k)
        yield f"(1.9) with $i={i}$", drafts.share_000_1_9_product(n, s, i, k), share
    exact = count_law(n, 1, q, k)[s] / count_law(n, 0, q, k)[s]
    yield "(1.8)", drafts.inverse_ratio_copies_000_1_8(n, s, q, k), exact


@printed("003-5.6-5.9", COUNTED_COPIES)
def ratio_of_copies(n: int, k: int, q: Fraction, s: int) -> Equations:
    original, modified = count_law(n, n, q, k)[s], count_law(n, n - 1, q, k)[s]
    yield "(5.6)", drafts.probability_original_copies_003_5_6(n, s, q, k), original
    yield "(5.7)", drafts.probability_modified_copies_003_5_7(n, s, q, k), modified
    yield "(5.8)", drafts.probability_modified_copies_003_5_8(n, s, q, k), modified
    yield "(5.9)", drafts.ratio_copies_003_5_9(n, s, q, k), modified / original


# --- k reports of each user: bounds -------------------------------------------------------------

LARGEST = 12
BOUND_USERS, BOUND_COPIES, BOUND_DENOMINATOR = 6, 5, 9
SHARES = rf"$1 \le N \le {BOUND_USERS}$, $1 \le k \le {BOUND_COPIES}$, every count $0 \le s \le kN$"
STRICT = (
    rf"$1 \le N \le {BOUND_USERS}$, $1 \le k \le {BOUND_COPIES}$, "
    rf"{noises_in_words(BOUND_DENOMINATOR)}, every count $0 \le s \le kN$. Checked with $<$ for "
    r"$k > 1$ and $0 < s < kN$, and as an equality elsewhere."
)
HOEFFDING = (
    r"The sum is the mean of a convex function of $i$ where $i$ is hypergeometric, the bound its "
    r"mean where $i$ is binomial with the same mean. Drawing with replacement never lowers the "
    r"mean of a convex function (Hoeffding 1963, Theorem 4), and raises it strictly for $k > 1$ "
    r"and $0 < s < kN$."
)


@statement("000-1.10")
def lowered_fraction() -> Tested:
    def fails(case: tuple[int, int, int]) -> str | None:
        a, b, e = case
        left, right = Fraction(a - e, b - e), Fraction(a, b)
        return None if left < right else f"{where(A=a, B=b, e=e)}: ${tex(left)} > {tex(right)}$"

    numbers = range(1, LARGEST + 1)
    cases = [(a, b, e) for b in numbers for a in range(1, b) for e in numbers if e != b]
    return result(check(cases, fails), check((case for case in cases if case[2] < case[1]), fails))


def _sides(at: str, left: Fraction, right: Fraction) -> str:
    return f"{at}: left ${tex(left)}$, right ${tex(right)}$"


@statement("000-1.11")
def bound_of_the_share() -> Tested:
    def fails(case: tuple[int, int, int, int]) -> str | None:
        n, k, s, i = case
        share, bound = drafts.share_000_1_9(n, s, i, k), drafts.share_bound_000_1_11(n, s, i, k)
        return None if share <= bound else _sides(where(N=n, k=k, s=s, i=i), share, bound)

    cases = [
        (n, k, s, i)
        for n in range(1, BOUND_USERS + 1)
        for k in range(1, BOUND_COPIES + 1)
        for s in range(n * k + 1)
        for i in range(k + 1)
    ]
    ends = (case for case in cases if case[3] in (0, case[1]))
    return result(check(cases, fails), check(ends, fails))


def _beyond(case: Counted, exact: Fraction, bound: Fraction) -> str | None:
    """What contradicts exact < bound, or equality where the draft's own formula has no slack."""
    n, k, q, s = case
    strict = k > 1 and 0 < s < k * n
    if exact < bound if strict else exact == bound:
        return None
    return _sides(where(N=n, k=k, q=q, s=s), exact, bound)


@statement("000-1.12")
def bound_of_the_inverse_ratio() -> Tested:
    def fails(case: Counted) -> str | None:
        n, k, q, s = case
        exact = drafts.inverse_ratio_copies_000_1_8(n, s, q, k)
        return _beyond(case, exact, drafts.inverse_ratio_bound_000_1_12(n, s, q, k))

    return result(check(_counts_of_copies(BOUND_USERS, BOUND_COPIES, BOUND_DENOMINATOR), fails))


@statement("003-5.13")
def bound_of_the_ratio() -> Tested:
    def fails(case: Counted) -> str | None:
        n, k, q, s = case
        exact = drafts.ratio_copies_003_5_9(n, s, q, k)
        return _beyond(case, exact, drafts.ratio_bound_003_5_13(n, s, q, k))

    return result(check(_counts_of_copies(BOUND_USERS, BOUND_COPIES, BOUND_DENOMINATOR), fails))


# --- k reports of each user: the noise ----------------------------------------------------------

NOISE_USERS, NOISE_COPIES, NOISE_ROOTS = 150, 8, 8
NOISE_SQUARES = (
    rf"$1 \le N \le {NOISE_USERS}$ and $1 \le k \le {NOISE_COPIES}$ where $kN$ is a square, and all"
    rf" {len(square_noises(NOISE_ROOTS))} noises $q = a^2/(a^2+b^2)$ with $0 < a < b \le "
    rf"{NOISE_ROOTS}$, so that nothing is rounded"
)


def _roots() -> Iterator[Copies]:
    """N, k and q for which √(pqkN) is a fraction."""
    for n in range(1, NOISE_USERS + 1):
        for k in range(1, NOISE_COPIES + 1):
            if isqrt(n * k) ** 2 == n * k:
                yield from ((n, k, q) for q in square_noises(NOISE_ROOTS))


@printed("000-1.13-1.19", lettered("N k q", _roots))
def three_deviations_of_copies(n: int, k: int, q: Fraction) -> Equations:
    below = drafts.count_below_mean_copies_000_1_12(n, q, k)
    down = drafts.inverse_ratio_bound_000_1_12(n, below, q, k)
    yield "(1.19)", drafts.inverse_ratio_limit_000_1_19(n, q, k), down
    up = drafts.ratio_bound_003_5_13(n, drafts.count_below_mean_copies_003_5_13(n, q, k), q, k)
    yield "(5.20)", drafts.ratio_limit_003_5_20(n, q, k), up


@statement("000-1.20")
def planning_000() -> Tested:
    def fails(case: Copies) -> str | None:
        n, k, q = case
        s = int(below[case])
        inverse = drafts.inverse_ratio_copies_000_1_8(n, s, q, k)
        allowed = drafts.inverse_ratio_limit_000_1_19(n, q, k)
        if inverse >= allowed:
            return None
        return (
            rf"{where(N=n, k=k, q=q, s=s)}: $R_s = {tex(1 / inverse)}$ exceeds "
            rf"$\lambda = {tex(1 / allowed)}$"
        )

    below = {(n, k, q): drafts.count_below_mean_copies_000_1_12(n, q, k) for n, k, q in _roots()}
    kept = [case for case, s in below.items() if s >= 0 and s.denominator == 1]
    equal = (case for case in kept if case[1] == 1 or below[case] == 0)
    return result(check(kept, fails), check(equal, fails))


@statement("003-5.21")
def planning_003() -> Tested:
    def fails(case: Copies) -> str | None:
        n, k, q = case
        s = int(below[case])
        exact = drafts.ratio_copies_003_5_9(n, s, q, k)
        allowed = drafts.ratio_limit_003_5_20(n, q, k)
        if exact <= allowed:
            return None
        return f"{where(N=n, k=k, q=q, s=s)}: $R_s = {tex(exact)}$ exceeds ${tex(allowed)}$"

    below = {(n, k, q): drafts.count_below_mean_copies_003_5_13(n, q, k) for n, k, q in _roots()}
    return result(
        check((case for case, s in below.items() if s >= 0 and s.denominator == 1), fails)
    )
