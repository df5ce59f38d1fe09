"""Which neighbouring pairs exceed a bound at some λ: how many, by how much, and the smallest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, count, permutations
from math import ceil

from krand.errors import InternalError
from krand_lab.enumeration import Vector
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import vector_tex
from krand_lab.statements.verdict import Count
from krand_lab.statements.worst_case.profiles import (
    Bound,
    Case,
    Meeting,
    Profile,
    Weights,
    profile,
    ratio,
)

SIMPLE_DENOMINATORS = range(1, 61)
"""Of the λ tried for a counterexample that can be followed by hand."""


class Measure(StrEnum):
    """What is compared, by its letter in LaTeX."""

    ETA = r"\eta"
    """P[R > λ | D_m], strictly larger as in 001 (1.7)."""
    DELTA = r"\delta"
    """E_D[(R - λ)+]."""


@dataclass(frozen=True, slots=True)
class Excess:
    """A pair beyond a bound, at one λ."""

    case: Case
    measure: Measure
    lam: Fraction
    value: Fraction
    allowed: Fraction

    @property
    def factor(self) -> Fraction:
        """How many times the bound."""
        return self.value / self.allowed

    def words(self) -> str:
        """The case and both sides."""
        return (
            rf"{place(self.case)}; at $\lambda = {tex(self.lam)}$, "
            rf"${self.measure} = {tex(self.value)}$ against ${tex(self.allowed)}$"
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """How bounds fared: which case was the first beyond, and which by the largest factor."""

    measure: Measure
    cases: int
    failures: int
    first: tuple[Case, Bound] | None
    largest: Excess | None

    def count(self) -> Count:
        """The same for a verdict, the first excess in words."""
        words = None if self.first is None else simplest_excess(*self.first, self.measure).words()
        return Count(self.cases, self.failures, words)


def place(case: Case) -> str:
    """The case in words: noise, what the others hold, what the user changes."""
    return (
        f"$N = {case.crowd}$, $q = {tex(case.q)}$, {_others(case.background)}, the user "
        f"changes from ${vector_tex(case.y)}$ to ${vector_tex(case.y_prime)}$"
    )


def _others(background: tuple[Vector, ...]) -> str:
    """What the other users hold, in words."""
    held = sorted(Counter(background).items())
    if not held:
        return "nobody else"
    if len(held) == 1:
        who = "the other holds" if len(background) == 1 else "all others hold"
        return f"{who} ${vector_tex(background[0])}$"
    parts = [
        f"{number} {'holds' if number == 1 else 'hold'} ${vector_tex(x)}$" for x, number in held
    ]
    return f"of the others {', '.join(parts[:-1])} and {parts[-1]}"


def users_in_words(most: int) -> str:
    """Numbers of users from 2 on."""
    return rf"$2 \le N \le {most}$" if most > 2 else "$N = 2$"


# --- which cases ------------------------------------------------------------------------------


@cache
def neighbours(
    crowd: int, firsts: tuple[Vector, ...], answers: tuple[Vector, ...]
) -> tuple[tuple[tuple[Vector, ...], Vector, Vector], ...]:
    """(background, y, y') with y in `firsts` and the rest in `answers`, up to the order of bits.

    Cases that become each other when bit positions are renamed have the same law of R, because
    renaming only renames the reports. One of them is kept. Both lists must allow the renaming.
    """
    found = []
    for y in firsts:
        for y_prime in answers:
            columns = list(zip(y, y_prime, strict=True))
            if y == y_prime or columns != sorted(columns, reverse=True):
                continue
            orders = permutations(range(len(y)))
            unseen = [order for order in orders if [columns[i] for i in order] == columns]
            for background in combinations_with_replacement(sorted(answers), crowd - 1):
                if all(_renamed(background, order) >= background for order in unseen):
                    found.append((background, y, y_prime))
    return tuple(found)


def _renamed(background: tuple[Vector, ...], order: tuple[int, ...]) -> tuple[Vector, ...]:
    """The background with its bits in another order, sorted."""
    return tuple(sorted(tuple(x[i] for i in order) for x in background))


# --- comparison -------------------------------------------------------------------------------


def compare(cases: Iterable[Case], bounds: Sequence[Bound]) -> list[dict[Measure, Tally]]:
    """How each bound fares in each measure, in one pass over the cases."""
    running = [{measure: _Running(measure, bound) for measure in Measure} for bound in bounds]
    for case in cases:
        p = profile(case)
        for tallies in running:
            for tally in tallies.values():
                tally.add(case, p)
    return [{measure: t.tally() for measure, t in tallies.items()} for tallies in running]


def merged(tallies: Sequence[Tally]) -> Tally:
    """Several tallies as one, in their order."""
    firsts = [t.first for t in tallies if t.first is not None]
    largest = [t.largest for t in tallies if t.largest is not None]
    return Tally(
        tallies[0].measure,
        sum(t.cases for t in tallies),
        sum(t.failures for t in tallies),
        firsts[0] if firsts else None,
        max(largest, key=lambda excess: excess.factor, default=None),
    )


class _Running:
    """A tally while it is being made."""

    def __init__(self, measure: Measure, bound: Bound) -> None:
        """Nothing has been compared with the bound yet."""
        self.measure, self.bound = measure, bound
        self.cases = self.failures = 0
        self.first: tuple[Case, Bound] | None = None
        self.largest: Excess | None = None

    def add(self, case: Case, p: Profile) -> None:
        """Take one more case into account."""
        self.cases += 1
        eta = self.measure is Measure.ETA
        worst = largest_excess(self.bound.eta_against(p) if eta else self.bound.delta_against(p))
        if worst is None:
            return
        self.failures += 1
        self.first = self.first or (case, self.bound)
        where, own, allowed = worst
        if self.largest is None or own > self.largest.factor * allowed:
            self.largest = _largest_at(case, p, self.bound, self.measure, where)

    def tally(self) -> Tally:
        """What has been found."""
        return Tally(self.measure, self.cases, self.failures, self.first, self.largest)


def largest_excess(meetings: Iterable[Meeting]) -> Meeting | None:
    """Where the first number exceeds the second by the largest factor, if it does anywhere."""
    worst: Meeting | None = None
    for meeting in meetings:
        _, own, allowed = meeting
        if own > allowed and (worst is None or own * worst[2] > worst[1] * allowed):
            worst = meeting
    return worst


def simplest_excess(case: Case, bound: Bound, measure: Measure) -> Excess:
    """The excess at the λ with the smallest denominator, and the smallest such λ."""
    p = profile(case)
    for denominator in SIMPLE_DENOMINATORS:
        for numerator in range(denominator, ceil(ratio(p.values[-1]) * denominator)):
            excess = _at(case, p, bound, measure, Fraction(numerator, denominator))
            if excess.value > excess.allowed:
                return excess
    raise InternalError("no simple lambda exceeds the bound")


def _largest_at(case: Case, p: Profile, bound: Bound, measure: Measure, where: Weights) -> Excess:
    """The excess at a meeting: at its very λ for δ, just below it for η."""
    lam = ratio(where)
    if measure is Measure.ETA:
        steps = [ratio(w) for w in (*p.values, *(value for value, _ in bound.stairs))]
        lam = _simplest_between(max([Fraction(1), *(r for r in steps if r < lam)]), lam)
    return _at(case, p, bound, measure, lam)


def _at(case: Case, p: Profile, bound: Bound, measure: Measure, lam: Fraction) -> Excess:
    """Both sides at one λ."""
    if measure is Measure.ETA:
        return Excess(case, measure, lam, p.eta(lam), bound.eta(lam))
    return Excess(case, measure, lam, p.delta(lam), bound.delta(lam))


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator from `low` to below `high`."""
    return next(
        Fraction(ceil(low * denominator), denominator)
        for denominator in count(1)
        if ceil(low * denominator) < high * denominator
    )
