"""The window test: in which rounds an answer was given more or less often than before.

After each round, the share among all people of the last 1, 2, 4 and 8 rounds is compared with that
of the eight rounds before these, and with that of all rounds before these. What is compared are raw
counts: the counts of a window add up to a count whose law is known exactly, whatever the truth is,
because noise is independent from round to round. A p-value is the probability that noise alone
makes two windows with equal shares differ as much, in either direction
(`krand.analysis.estimates.share_differences`).

The error rate α is for everything together: each of R planned rounds but the first may spend
α/(R-1), in equal parts on every question, then on every answer of it, then on every comparison of
windows. What a round may spend depends on its number and its plan, never on what was counted; so
somebody who looks every week, at every answer, claims one change too many in at most α of all such
series, whatever the truth (Bonferroni). Each claim says that the share was different in these
rounds than in those. Where people come and go it may be they who differ.

Words, and joint tables of whole records, are weighted sums of counts. Their p-values are those of
their standard errors, by the law of the counts behind them; words on no list can move them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.share_differences import (
    chance_of_difference,
    largest_chance,
    largest_quantile,
)
from krand.analysis.estimates.values import Interval
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.results_comparison import moved_by_people
from krand.analysis.trends.series import Counted, Key, Series

WINDOWS = (1, 2, 4, 8)
"""How many of the last rounds are taken together."""
BEFORE = 8
"""How many rounds before these they are compared with, beside all of them."""
CLEAR = 3.0
"""Nothing nearer than so many standard errors is claimed, which saves computing most p-values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that was found."""

    found: int
    """The round after which it was found."""
    before: tuple[int, int]
    """The first and the last of the earlier rounds."""
    after: tuple[int, int]
    """The first and the last of the later ones."""
    share_before: float
    share_after: float
    """Of all people of these rounds, unbiased."""
    interval: Interval
    """Of the difference; all intervals of found changes hold together, as the error rate says."""
    p_value: float
    """Of this comparison alone."""
    limit: float
    """The p-value from which on it is found."""
    people: tuple[float, float]
    """How many took part on average, before and after."""

    @property
    def difference(self) -> float:
        return self.share_after - self.share_before

    @property
    def by_people(self) -> float:
        """How much of it those could have made who came or left, if nobody took their place."""
        return moved_by_people(*self.people)


@dataclass(frozen=True, slots=True)
class Look:
    """Two windows of a segment, by their places in it."""

    start: int
    middle: int
    end: int
    """One after the last."""


def looks(rounds: int) -> Iterator[Look]:
    """The comparisons after the last of so many rounds."""
    found = {
        Look(max(0, rounds - window - before), rounds - window, rounds)
        for window in WINDOWS
        for before in (BEFORE, rounds)
        if window < rounds
    }
    yield from sorted(found, key=lambda look: (-look.middle, -look.start))


def found_changes(
    series: Sequence[Series], limits: Mapping[Key, Mapping[int, float]]
) -> dict[Key, tuple[Change, ...]]:
    """The changes in every series; `limits` is what each may spend after each round."""
    tested: dict[tuple[object, ...], list[tuple[Series, list[int]]]] = {}
    for each in series:
        for rounds in each.segments():
            counted = [each.counted[number] for number in rounds]
            alike = (each.key.kind, tuple(rounds), *((c.law, c.sign, c.exact) for c in counted))
            tested.setdefault(alike, []).append((each, rounds))
    found: dict[Key, list[Change]] = {}
    for group in tested.values():
        for key, changes in _of_segment([each for each, _ in group], group[0][1], limits).items():
            found.setdefault(key, []).extend(changes)
    return {key: tuple(changes) for key, changes in found.items()}


def _of_segment(
    series: Sequence[Series], rounds: Sequence[int], limits: Mapping[Key, Mapping[int, float]]
) -> dict[Key, list[Change]]:
    """Series whose counts have the same laws, over rounds without a break."""
    found: dict[Key, list[Change]] = {}
    table = _Table.of(series, rounds)
    for last in range(2, len(rounds) + 1):
        compared = list(looks(last))
        known = [found.get(each.key, [None])[-1] for each in series]
        chances = np.array([table.chances(look, known) for look in compared])
        clear = np.array([table.clearness(look) for look in compared])
        for place, each in enumerate(series):
            limit = limits[each.key][rounds[last - 1]] / len(compared)
            claims = np.flatnonzero(chances[:, place] <= limit)
            if len(claims):
                best = claims[np.argmax(clear[claims, place])]
                change = table.change(place, compared[best], float(chances[best, place]), limit)
                found.setdefault(each.key, []).append(change)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Series side by side: rows are series, columns rounds."""

    rounds: Sequence[int]
    counts: Floats
    errors: Floats
    people: Floats
    first: Sequence[Counted]
    """Those of one series: all have the same laws."""

    @classmethod
    def of(cls, series: Sequence[Series], rounds: Sequence[int]) -> _Table:
        rows = [[each.counted[number] for number in rounds] for each in series]
        return cls(
            rounds,
            np.array([[c.count for c in row] for row in rows]),
            np.array([[c.error for c in row] for row in rows]),
            np.array([c.people for c in rows[0]], dtype=np.float64),
            rows[0],
        )

    def shares(self, start: int, end: int) -> Floats:
        """Among all people of these rounds."""
        return np.asarray(self.counts[:, start:end].sum(axis=1) / self.people[start:end].sum())

    def _errors(self, look: Look) -> Floats:
        parts = [
            (self.errors[:, a:b] ** 2).sum(axis=1) / self.people[a:b].sum() ** 2
            for a, b in ((look.start, look.middle), (look.middle, look.end))
        ]
        return np.asarray(np.sqrt(sum(parts)))

    def _change(self, look: Look) -> Floats:
        return self.shares(look.middle, look.end) - self.shares(look.start, look.middle)

    def clearness(self, look: Look) -> Floats:
        """By how many standard errors two windows differ."""
        return np.abs(self._change(look)) / self._errors(look)

    def _pooled(self, start: int, end: int) -> CountModel | None:
        """The law of the sum, where it is known exactly."""
        counted = self.first[start:end]
        if not all(each.exact and each.sign == counted[0].sign for each in counted):
            return None
        return counted[0].law.pooled([each.law for each in counted[1:]])

    def chances(self, look: Look, known: Sequence[Change | None]) -> Floats:
        """The p-value of each series; 1 where the difference is unclear or known already.

        New are changes in the other direction whose later rounds are all since the last change, and
        changes among rounds that are all since then.
        """
        change = self._change(look)
        new = [
            last is None
            or self.rounds[look.start] >= last.after[0]
            or (last.difference * change[place] < 0 and self.rounds[look.middle] > last.after[0])
            for place, last in enumerate(known)
        ]
        clear = np.array(new) & (self.clearness(look) > CLEAR)
        found = np.ones(len(change))
        if clear.any():
            found[clear] = self._chances(look, change[clear], self._errors(look)[clear])
        return found

    def _chances(self, look: Look, change: Floats, errors: Floats) -> Floats:
        before, after = self._pooled(look.start, look.middle), self._pooled(look.middle, look.end)
        sign = self.first[look.start].sign
        if before is None or after is None or sign != self.first[look.middle].sign:
            return largest_chance(self._laws(look), change, errors)
        return chance_of_difference((before, after), sign * change)

    def _laws(self, look: Look) -> list[CountModel]:
        """One of each shape: how many people there are does not matter to it."""
        return list(
            {each.law.spread: each.law for each in self.first[look.start : look.end]}.values()
        )

    def change(self, place: int, look: Look, chance: float, limit: float) -> Change:
        shares = [
            float(self.shares(a, b)[place])
            for a, b in ((look.start, look.middle), (look.middle, look.end))
        ]
        z = largest_quantile(self._laws(look), 1 - limit)
        half, change = z * float(self._errors(look)[place]), shares[1] - shares[0]
        return Change(
            found=self.rounds[look.end - 1],
            before=(self.rounds[look.start], self.rounds[look.middle - 1]),
            after=(self.rounds[look.middle], self.rounds[look.end - 1]),
            share_before=shares[0],
            share_after=shares[1],
            interval=Interval(change - half, change + half).within(-1.0, 1.0),
            p_value=chance,
            limit=limit,
            people=(
                float(self.people[look.start : look.middle].mean()),
                float(self.people[look.middle : look.end].mean()),
            ),
        )
