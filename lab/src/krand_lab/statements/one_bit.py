"""Counts of one bit, with one report of each user and with k: 000 §0–1 and 003 §4–5."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import isqrt

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import (
    count_law,
    mean_and_variance,
    noises,
    noises_in_words,
    square_noises,
)
from krand_lab.statements.verdict import Cases, Equations, corrected, lettered, printed

# --- one report of each user --------------------------------------------------------------------

USERS, DENOMINATOR = 12, 12
NOISES = noises_in_words(DENOMINATOR)
ROOT_USERS, ROOTS = 30, 12
ROOT_NOISES = len(square_noises(ROOTS))


def _counts() -> Iterator[tuple[int, Fraction, int]]:
    """Every place with every count from 0 to N."""
    return ((n, q, i) for n, q in PLACES.make() for i in range(n + 1))


PLACES = lettered("N q", lambda: product(range(1, USERS + 1), noises(DENOMINATOR)), "crowd q")
COUNTED = lettered("N q i", _counts, "crowd q observed")
TRUE_COUNTS = lettered("N q T", _counts)
SQUARE_PLACES = lettered(
    "N q",
    lambda: product((n * n for n in range(1, ROOT_USERS + 1)), square_noises(ROOTS)),
    "crowd q",
)


def zeros(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """P(s) where all bits are 0, by enumeration."""
    return count_law(crowd, 0, q, copies)[observed]


def one_set(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """P(s) where one bit of N is 1."""
    return count_law(crowd, 1, q, copies)[observed]


def ones(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """P(s) where all bits are 1."""
    return count_law(crowd, crowd, q, copies)[observed]


def one_unset(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """P(s) where one bit of N is 0."""
    return count_law(crowd, crowd - 1, q, copies)[observed]


def ratio_000(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """R of 000, whose D_m are the zeros."""
    return zeros(crowd, observed, q, copies) / one_set(crowd, observed, q, copies)


def inverse_000(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    return 1 / ratio_000(crowd, observed, q, copies)


def ratio_003(crowd: int, observed: int, q: Fraction, copies: int = 1) -> Fraction:
    """R of 003, whose D are the ones."""
    return one_unset(crowd, observed, q, copies) / ones(crowd, observed, q, copies)


def one() -> Fraction:
    return Fraction(1)


@printed("000-0.4-extremes", PLACES)
def extremes(n: int, q: Fraction) -> Equations:
    ratios = [ratio_000(n, i, q) for i in range(n + 1)]
    falls = all(above > below for above, below in pairwise(ratios))
    yield "whether it falls", Fraction(1), Fraction(falls)
    if (q * n).denominator == 1:
        yield "$i=qN$", Fraction(1), ratios[int(q * n)]
    yield "$i=0$", (1 - q) / q, ratios[0]
    yield "$i=N$", q / (1 - q), ratios[n]


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


def mean_count(crowd: int, q: Fraction) -> Fraction:
    return sum((i * chance for i, chance in enumerate(count_law(crowd, 1, q))), Fraction(0))


@printed("003-4.2-4.3", TRUE_COUNTS)
def estimate(n: int, q: Fraction, ones: int) -> Equations:
    estimates = [drafts.estimate_003_4_1(i, n, q) for i in range(n + 1)]
    mean, variance = mean_and_variance(zip(estimates, count_law(n, ones, q), strict=True))
    yield "(4.2)", Fraction(ones), mean
    yield "(4.3)", drafts.variance_of_estimate_003_4_3(n, q), variance


@printed("003-4.32", COUNTED)
def ratio(n: int, q: Fraction, i: int) -> Equations:
    exact = ratio_003(n, i, q)
    ends = {0: (1 - q) / q, n: q / (1 - q), (1 - q) * n: Fraction(1)}
    yield "(4.30)", drafts.probability_original_003_4_30(n, i, q), ones(n, i, q)
    yield "(4.32)", drafts.ratio_003_4_32(n, i, q), exact
    yield "below (4.32)", ends.get(i, exact), exact


def ratio_below_mean(crowd: int, q: Fraction) -> Fraction:
    return drafts.ratio_003_4_32(crowd, drafts.count_below_mean_003_4_33(crowd, q), q)


def least_variance(crowd: int, q: Fraction) -> Fraction:
    return drafts.least_variance_003_4_40(ratio_below_mean(crowd, q))


# --- k reports of each user: equations ----------------------------------------------------------

COPIES_USERS, COPIES, COPIES_DENOMINATOR = 5, 4, 10
COPIES_NOISES = noises_in_words(COPIES_DENOMINATOR)

Copies = tuple[int, int, Fraction]
"""N, k and q."""


def _copies(users: int, copies: int, denominator: int) -> Iterator[Copies]:
    return product(range(1, users + 1), range(1, copies + 1), noises(denominator))


def _counted_copies(users: int, copies: int, denominator: int) -> Cases:
    """Every count of the reports."""

    def make() -> Iterator[tuple[int, int, Fraction, int]]:
        for n, k, q in _copies(users, copies, denominator):
            yield from ((n, k, q, s) for s in range(n * k + 1))

    return lettered("N k q s", make, "crowd copies q observed")


def _true_counts_of_copies() -> Iterator[tuple[int, int, Fraction, int]]:
    for n, k, q in _copies(COPIES_USERS, COPIES, COPIES_DENOMINATOR):
        yield from ((n, k, q, ones) for ones in range(n + 1))


COUNTED_COPIES = _counted_copies(COPIES_USERS, COPIES, COPIES_DENOMINATOR)


@printed("000-1.2-1.3", lettered("N k q T", _true_counts_of_copies))
def estimate_of_copies(n: int, k: int, q: Fraction, ones: int) -> Equations:
    estimates = [drafts.estimate_copies_000_1_1(s, n, q, k) for s in range(k * n + 1)]
    mean, variance = mean_and_variance(zip(estimates, count_law(n, ones, q, k), strict=True))
    yield "(1.2)", Fraction(ones), mean
    yield "(1.3)", drafts.variance_of_estimate_copies_000_1_3(n, q, k), variance


@printed("000-1.8-1.9", COUNTED_COPIES)
def inverse_ratio_of_copies(n: int, k: int, q: Fraction, s: int) -> Equations:
    for i in range(k + 1):
        share = drafts.share_000_1_9(n, s, i, k)
        yield f"(1.9) with $i={i}$", drafts.share_000_1_9_product(n, s, i, k), share
    yield "(1.8)", drafts.inverse_ratio_copies_000_1_8(n, s, q, k), inverse_000(n, s, q, k)


# --- k reports of each user: bounds -------------------------------------------------------------

LARGEST = 12
BOUND_USERS, BOUND_COPIES, BOUND_DENOMINATOR = 6, 5, 9
BOUND_NOISES = noises_in_words(BOUND_DENOMINATOR)


def _lowered() -> Iterator[tuple[int, int, int]]:
    numbers = range(1, LARGEST + 1)
    return ((a, b, e) for b in numbers for a in range(1, b) for e in numbers if e != b)


LOWERED = lettered("A B e", _lowered)


@printed("000-1.10", LOWERED)
@corrected("000-1.10", LOWERED.only(lambda a, b, e: e < b))
def lowered_fraction(a: int, b: int, e: int) -> bool | str:
    left, right = Fraction(a - e, b - e), Fraction(a, b)
    return left < right or f": ${tex(left)} > {tex(right)}$"


def _shares() -> Iterator[tuple[int, int, int, int]]:
    for n, k in product(range(1, BOUND_USERS + 1), range(1, BOUND_COPIES + 1)):
        yield from ((n, k, s, i) for s in range(n * k + 1) for i in range(k + 1))


SHARE_CASES = lettered("N k s i", _shares)


@printed("000-1.11", SHARE_CASES)
@corrected("000-1.11", SHARE_CASES.only(lambda n, k, s, i: i in (0, k)))
def bound_of_the_share(n: int, k: int, s: int, i: int) -> bool | str:
    share, bound = drafts.share_000_1_9(n, s, i, k), drafts.share_bound_000_1_11(n, s, i, k)
    return share <= bound or f": left ${tex(share)}$, right ${tex(bound)}$"


BOUNDED = _counted_copies(BOUND_USERS, BOUND_COPIES, BOUND_DENOMINATOR)


def _below(n: int, k: int, s: int, exact: Fraction, bound: Fraction) -> bool:
    """Whether exact < bound, or equal where the draft's own formula has no slack."""
    return exact < bound if k > 1 and 0 < s < k * n else exact == bound


@printed("000-1.12", BOUNDED)
def bound_of_the_inverse_ratio(n: int, k: int, q: Fraction, s: int) -> bool:
    bound = drafts.inverse_ratio_bound_000_1_12(n, s, q, k)
    return _below(n, k, s, drafts.inverse_ratio_copies_000_1_8(n, s, q, k), bound)


@printed("003-5.13", BOUNDED)
def bound_of_the_ratio(n: int, k: int, q: Fraction, s: int) -> bool:
    bound = drafts.ratio_bound_003_5_13(n, s, q, k)
    return _below(n, k, s, drafts.ratio_copies_003_5_9(n, s, q, k), bound)


# --- k reports of each user: the noise ----------------------------------------------------------

NOISE_USERS, NOISE_COPIES, NOISE_ROOTS = 150, 8, 8
NOISE_NOISES = len(square_noises(NOISE_ROOTS))


def _roots() -> Iterator[Copies]:
    """N, k and q for which √(pqkN) is a fraction."""
    for n, k in product(range(1, NOISE_USERS + 1), range(1, NOISE_COPIES + 1)):
        if isqrt(n * k) ** 2 == n * k:
            yield from ((n, k, q) for q in square_noises(NOISE_ROOTS))


@printed("000-1.13-1.19", lettered("N k q", _roots))
def three_deviations_of_copies(n: int, k: int, q: Fraction) -> Equations:
    below = drafts.count_below_mean_copies_000_1_12(n, q, k)
    down = drafts.inverse_ratio_bound_000_1_12(n, below, q, k)
    yield "(1.19)", drafts.inverse_ratio_limit_000_1_19(n, q, k), down
    up = drafts.ratio_bound_003_5_13(n, drafts.count_below_mean_copies_003_5_13(n, q, k), q, k)
    yield "(5.20)", drafts.ratio_limit_003_5_20(n, q, k), up


def _counts_below(formula: Callable[[int, Fraction, int], Fraction]) -> Cases:
    """Those whose count at three deviations below the mean is a whole number."""

    def make() -> Iterator[tuple[int, int, Fraction, int]]:
        for n, k, q in _roots():
            s = formula(n, q, k)
            if s >= 0 and s.denominator == 1:
                yield n, k, q, int(s)

    return lettered("N k q s", make)


BELOW_000 = _counts_below(drafts.count_below_mean_copies_000_1_12)
BELOW_003 = _counts_below(drafts.count_below_mean_copies_003_5_13)


@printed("000-1.20", BELOW_000)
@corrected("000-1.20", BELOW_000.only(lambda n, k, q, s: k == 1 or s == 0))
def planning_000(n: int, k: int, q: Fraction, s: int) -> bool | str:
    exact = 1 / drafts.inverse_ratio_copies_000_1_8(n, s, q, k)
    allowed = 1 / drafts.inverse_ratio_limit_000_1_19(n, q, k)
    return exact <= allowed or rf": $R_s = {tex(exact)}$ exceeds $\lambda = {tex(allowed)}$"


@printed("003-5.21", BELOW_003)
def planning_003(n: int, k: int, q: Fraction, s: int) -> bool:
    limit = drafts.ratio_limit_003_5_20(n, q, k)
    return drafts.ratio_copies_003_5_9(n, s, q, k) <= limit
