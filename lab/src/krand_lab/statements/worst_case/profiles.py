"""η and δ of a neighbouring pair as functions of λ: exactly, and for every λ ≥ 1 at once.

For a pair D = background + [y], D_m = background + [y'] and R = P(S|D_m)/P(S|D), both

    η(λ) = P[R > λ | D_m]      a step function, continuous from the right,
    δ(λ) = E_D[(R - λ)+]       convex, made of straight pieces,

change course only where λ is a value of R. So "f(λ) ≤ g(λ) for every λ ≥ 1" is a finite question,
and `Bound` answers it without a grid:

    η   just below each value r of R the first must not exceed what the second allows at r;
    δ   the first is convex, so it is enough to look where the second, straight in between, bends.

The largest of several δ bends also where two straight pieces cross, which need not be a value of
R. Its pieces are w' - λw for the corners (w, w') of the convex hull of all pairs of weights
(P[R ≥ r | D], P[R ≥ r | D_m]). All weights are whole numbers over a power of the denominator of q.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate, combinations_with_replacement, pairwise
from math import gcd

from krand.errors import InternalError
from krand_lab.enumeration import Vector

Weights = tuple[int, int]
"""The chance of some outcomes under D and under D_m, times a common scale."""

Meeting = tuple[Weights, int, int]
"""A value of λ, as weights, and two numbers to be compared there, in one scale."""


@dataclass(frozen=True, slots=True)
class Case:
    """A neighbouring pair in one direction, D = background + [y] to D_m = background + [y']."""

    background: tuple[Vector, ...]
    y: Vector
    y_prime: Vector
    q: Fraction

    @property
    def crowd(self) -> int:
        """N, the user in question included."""
        return len(self.background) + 1

    @property
    def scale(self) -> int:
        """What turns every probability of this case into a whole number."""
        return int(self.q.denominator ** (len(self.y) * self.crowd))

    def swapped(self) -> Case:
        """The same pair in the other direction."""
        return Case(self.background, self.y_prime, self.y, self.q)


# --- the law of the outcome -------------------------------------------------------------------


def outcome_weights(case: Case) -> list[Weights]:
    """(P(S|D), P(S|D_m)) times the scale, for all multisets S of report cells."""
    *others, of_y, of_y_prime = _cells((*case.background, case.y, case.y_prime), case.q)
    weights = _collection_weights(tuple(others))
    d, d_m = (_with_report(weights, len(others), law) for law in (of_y, of_y_prime))
    return list(zip(d, d_m, strict=True))


@lru_cache(maxsize=4096)
def _cells(answers: tuple[Vector, ...], q: Fraction) -> tuple[Vector, ...]:
    """For each answer the law of its report, in whole numbers, by cells of equivalent reports.

    Two reports whose likelihoods under all these answers are proportional are one cell: which of
    them it was depends on nobody's answer. That drops bits on which all agree, and of the drafts'
    outlier pair it leaves the number of set bits, L+1 cells (001 (3.3)).
    """
    flip, keep, bits = q.numerator, q.denominator - q.numerator, len(answers[0])
    cells: dict[Vector, int] = defaultdict(int)
    numbers = [sum(bit << place for place, bit in enumerate(x)) for x in answers]
    for report in range(1 << bits):
        flips = [(report ^ number).bit_count() for number in numbers]
        likelihoods = [flip**count * keep ** (bits - count) for count in flips]
        common = gcd(*likelihoods)
        cells[tuple(weight // common for weight in likelihoods)] += common
    laws = ([share * weight for share in key] for key, weight in cells.items())
    return tuple(zip(*laws, strict=True))


@lru_cache(maxsize=1024)
def _collection_weights(laws: tuple[Vector, ...]) -> list[int]:
    """The weights of all multisets made of one report of each of these laws."""
    if not laws:
        return [1]
    return _with_report(_collection_weights(laws[:-1]), len(laws) - 1, laws[-1])


def _with_report(weights: Sequence[int], size: int, law: Vector) -> list[int]:
    """From multisets of this size to multisets with one more report of this law."""
    rows, length = _larger_multisets(len(law), size)
    result = [0] * length
    for chance, row in zip(weights, rows, strict=True):
        for index, weight in zip(row, law, strict=True):
            result[index] += chance * weight
    return result


@cache
def _larger_multisets(cells: int, size: int) -> tuple[list[Vector], int]:
    """For each multiset the places of those with one more cell, and how many of these there are."""
    place = {s: i for i, s in enumerate(combinations_with_replacement(range(cells), size + 1))}
    rows = []
    for smaller in combinations_with_replacement(range(cells), size):
        row = []
        for cell in range(cells):
            larger = list(smaller)
            insort(larger, cell)
            row.append(place[tuple(larger)])
        rows.append(tuple(row))
    return rows, len(place)


# --- η and δ of one pair ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Profile:
    """η and δ of one pair in one direction, for every λ ≥ 1."""

    scale: int
    values: tuple[Weights, ...]
    """For each value r > 1 of R, ascending: the weights of R = r; r is the second by the first."""
    tails: tuple[Weights, ...]
    """The weights of R ≥ r, and at the end (0, 0) for what lies beyond the largest value."""

    def eta(self, lam: Fraction) -> Fraction:
        """P[R > λ | D_m]."""
        return Fraction(self._beyond(lam)[1], self.scale)

    def delta(self, lam: Fraction) -> Fraction:
        """E_D[(R - λ)+]."""
        w, w_m = self._beyond(lam)
        return (w_m - lam * w) / self.scale

    def _beyond(self, lam: Fraction) -> Weights:
        """The weights of R > λ."""
        return self.tails[bisect_right(self.values, lam, key=ratio)]


def profile(case: Case) -> Profile:
    """η and δ of the pair, in the direction from D to D_m."""
    # Two different fractions of whole numbers up to the scale differ by at least 1/scale², so
    # this many binary digits tell them apart: one whole number to merge and to sort by.
    digits = 2 * case.scale.bit_length()
    merged: dict[int, Weights] = {}
    total = total_m = 0
    for d, d_m in outcome_weights(case):
        total, total_m = total + d, total_m + d_m
        if d_m > d:
            key = (d_m << digits) // d
            merged[key] = _sum(merged.get(key, (0, 0)), (d, d_m))
    if not total == total_m == case.scale:
        raise InternalError("enumerated probabilities do not sum to one")
    values = [merged[key] for key in sorted(merged)]
    tails = list(accumulate(reversed(values), _sum, initial=(0, 0)))
    return Profile(case.scale, tuple(values), tuple(reversed(tails)))


def _sum(left: Weights, right: Weights) -> Weights:
    """Both weights added."""
    return left[0] + right[0], left[1] + right[1]


def ratio(weights: Weights) -> Fraction:
    """R of an outcome with these weights."""
    return Fraction(weights[1], weights[0])


# --- the largest of several -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest η and the largest δ of several pairs, for every λ ≥ 1."""

    scale: int
    stairs: tuple[tuple[Weights, int], ...]
    """Values r of R, descending, as weights; the weight under D_m that η has just below r."""
    hull: tuple[Weights, ...]
    """Corners (w, w') of the hull; δ is the largest w' - λw, and λ descends along its edges."""

    @classmethod
    def of(cls, profiles: Sequence[Profile]) -> Bound:
        """The pointwise maximum of profiles in one scale."""
        stairs: list[tuple[Weights, int]] = []
        points: set[Weights] = set()
        for p in profiles:
            if p.scale != profiles[0].scale:
                raise InternalError("weights of different scales in one bound")
            points.update(p.tails)
            stairs += [(value, w_m) for value, (_, w_m) in zip(p.values, p.tails[:-1], strict=True)]
        return cls(profiles[0].scale, _staircase(stairs), _hull(points))

    def in_scale(self, scale: int) -> Bound:
        """The same bound for pairs whose weights have another, larger scale."""
        factor, rest = divmod(scale, self.scale)
        if rest:
            raise InternalError("a scale that does not hold the weights of the bound")
        stairs = tuple((value, factor * height) for value, height in self.stairs)
        return Bound(scale, stairs, tuple((factor * w, factor * w_m) for w, w_m in self.hull))

    def eta(self, lam: Fraction) -> Fraction:
        """The largest P[R > λ | D_m]."""
        beyond = [w_m for value, w_m in self.stairs if ratio(value) > lam]
        return Fraction(max(beyond, default=0), self.scale)

    def delta(self, lam: Fraction) -> Fraction:
        """The largest E_D[(R - λ)+]."""
        return max(w_m - lam * w for w, w_m in self.hull) / self.scale

    def eta_against(self, p: Profile) -> Iterator[Meeting]:
        """The η of a pair and what is allowed just below each value of R: exceeded there or not."""
        self._check_scale(p)
        allowed, stairs = 0, iter((*self.stairs, ((1, 0), 0)))  # the last one stands for R = 0
        (d, d_m), height = next(stairs)
        for value, tail in zip(reversed(p.values), reversed(p.tails[:-1]), strict=True):
            while d_m * value[0] >= value[1] * d:
                allowed = height
                (d, d_m), height = next(stairs)
            yield value, tail[1], allowed

    def delta_against(self, p: Profile) -> Iterator[Meeting]:
        """The δ of a pair and what is allowed, where the bound bends: exceeded there or not.

        The quotient of the two is the largest in one of these corners too: between them the bound
        is straight and the pair's δ convex, so that the quotient has no maximum inside, and
        towards the last corner, where both vanish, it does not rise.
        """
        self._check_scale(p)
        place = 0
        for (b, a), (w, w_m) in self.corners():  # λ = a/b
            while place < len(p.values) and p.values[place][1] * b <= a * p.values[place][0]:
                place += 1
            own, own_m = p.tails[place]
            yield (b, a), b * own_m - a * own, b * w_m - a * w

    def _check_scale(self, p: Profile) -> None:
        """Weights can be compared in one scale only."""
        if p.scale != self.scale:
            raise InternalError("a pair and a bound of different scales")

    def corners(self) -> Iterator[tuple[Weights, Weights]]:
        """Where the largest δ bends: λ ascending from 1, as weights, and the (w, w') above it."""
        yield (1, 1), self.hull[-1]
        for after, before in pairwise(reversed(self.hull)):
            yield (after[0] - before[0], after[1] - before[1]), after


def _staircase(stairs: Iterable[tuple[Weights, int]]) -> tuple[tuple[Weights, int], ...]:
    """What rises when the values of R are gone through from the largest down."""
    kept: list[tuple[Weights, int]] = []
    for value, height in sorted(stairs, key=lambda s: (ratio(s[0]), s[1]), reverse=True):
        if not kept or height > kept[-1][1]:
            kept.append((value, height))
    return tuple(kept)


def _hull(points: set[Weights]) -> tuple[Weights, ...]:
    """The upper convex hull from (0, 0) on, as far as it rises by more than 1."""
    kept: list[Weights] = []
    for point in sorted({(0, 0), *points}):
        while len(kept) > 1 and _turns_up(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    while len(kept) > 1 and kept[-1][1] - kept[-2][1] <= kept[-1][0] - kept[-2][0]:
        kept.pop()
    return tuple(kept)


def _turns_up(a: Weights, b: Weights, c: Weights) -> bool:
    """Whether b lies on or below the line from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) >= (b[1] - a[1]) * (c[0] - a[0])
