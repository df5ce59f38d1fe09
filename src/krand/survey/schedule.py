"""The schedule of a survey that is asked again and again: when each round is open.

Windows follow from the schedule and the number of a round, and stand in the plan as instants of
UTC: a device needs no time zones, and a plan stays the same when a country changes its clocks.
Round n ends where round n + 1 begins, so that no two are open at once.

The numbers of rounds and periods are those of the campaign: a changed survey goes on counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from krand.mistakes import Broken
from krand.models import Model, obeys, wrong
from krand.promise import MAX_ROUNDS
from krand.survey.rules import ID_PATTERN, Day, id_rules

INSTANT = "%Y-%m-%dT%H:%M:%SZ"
FIRST_YEAR, LAST_YEAR, LAST_MONTHLY_DAY = 1970, 2999, 28
MOST_OFF = timedelta(hours=30)
"""Midnight of a day is nowhere on Earth further than this from midnight UTC."""
QUARTER = {"day": 91, "week": 13, "month": 3}
"""How many rounds a quarter of a year has, by how often people are asked."""


class Period(StrEnum):
    """For which rounds together ε and δ are promised."""

    CAMPAIGN = "campaign"
    QUARTER = "quarter"
    ROUND = "round"


Instant = Annotated[
    AwareDatetime, Field(strict=False), AfterValidator(lambda each: each.astimezone(UTC))
]


def _campaign_rules(value: str) -> Iterator[Broken]:
    if value:
        yield from id_rules(value)


class Schedule(Model):
    """How often people are asked, from which day on, and what the promise covers.

    >>> from datetime import date
    >>> from krand import Schedule
    >>> Schedule(every="week", starts=date(2027, 1, 4)).day(52)
    datetime.date(2027, 12, 27)
    """

    every: Annotated[Literal["day", "week", "month"], Field(examples=["week"])]
    """How often a round begins; it ends where the next one begins."""
    starts: Annotated[Day, Field(examples=["2027-01-04"])]
    """The day on which round 1 opens, at midnight: a date, or text YYYY-MM-DD."""
    time_zone: Annotated[str, Field(examples=["Europe/Berlin"])] = "UTC"
    """Whose midnight it is."""
    promise: Annotated[Period, Field(strict=False, examples=["quarter"])] = Period.CAMPAIGN
    """What epsilon and delta are for: all rounds together, those of a quarter, or each round."""
    campaign: Annotated[
        str,
        obeys(_campaign_rules),
        Field(examples=["app-2027"], json_schema_extra={"pattern": ID_PATTERN}),
    ] = ""
    """What a changed survey continues: the id of the survey that came first; its own if it is left
    out."""
    first: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[14])] = 1
    """The first round of a survey that continues a campaign; `rounds` is its last one."""
    opens: Annotated[
        tuple[Instant, ...], Field(strict=False, examples=[["2027-01-03T23:00:00Z"]])
    ] = ()
    """When each round opens, and when the last one closes, as plans have it; leave it out."""

    def _rules(self) -> Iterator[Broken]:
        if not FIRST_YEAR <= self.starts.year <= LAST_YEAR:
            rule = f"must be in a year from {FIRST_YEAR} to {LAST_YEAR}"
            yield Broken(("starts",), rule, self.starts.isoformat())
        if self.every == "month" and self.starts.day > LAST_MONTHLY_DAY:
            rule = f"must be one of the first {LAST_MONTHLY_DAY} days, which every month has"
            yield Broken(("starts",), rule, self.starts.isoformat(), "take the 28th")

    def day(self, number: int) -> date:
        """The day on which a round opens, in the schedule's own time zone."""
        if self.every == "month":
            months = self.starts.month - 1 + number - 1
            year, month = self.starts.year + months // 12, months % 12 + 1
            return self.starts.replace(year=year, month=month)
        days = (7 if self.every == "week" else 1) * (number - 1)
        return self.starts + timedelta(days=days)

    def filled(self, survey_id: str, rounds: int) -> Schedule:
        """The schedule with its campaign and its windows, up to the last round of the plan."""
        opens = self.opens or self._windows(rounds)
        return self.changed(campaign=self.campaign or survey_id, opens=opens)

    def _windows(self, rounds: int) -> tuple[datetime, ...]:
        """Midnight of each day in the time zone; where clocks skip it, the first moment after."""
        from zoneinfo import ZoneInfo

        try:
            zone = ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError):  # not found; not a name; a folder
            rule = "must be a time zone that this machine knows"
            hint = 'for example "Europe/Berlin" or "UTC"; pip install tzdata adds all of them'
            broken = Broken(("schedule", "time_zone"), rule, self.time_zone, hint)
            raise wrong([broken]) from None
        days = (self.day(number) for number in range(self.first, rounds + 2))
        midnights = (datetime(day.year, day.month, day.day, tzinfo=zone) for day in days)
        return tuple(midnight.astimezone(UTC) for midnight in midnights)

    def rules_for(self, rounds: int) -> Iterator[Broken]:
        """One window for each round of the plan, where its day says, each after the other. A plan
        that continues a campaign begins with a period: devices pay for each one once."""
        if self.first > rounds:
            yield Broken(("first",), f"must be at most the number of rounds, {rounds}", self.first)
            return
        if self.first > 1 and self.promise is Period.CAMPAIGN:
            rule = 'must be 1 with promise = "campaign": its only period has a plan already'
            hint = (
                "take another campaign, which is another promise; a survey that may change has"
                ' promise = "quarter" from its first plan on'
            )
            yield Broken(("first",), rule, self.first, hint)
        elif (self.first - 1) % self._length:
            begins = [n for n in range(1, rounds + 1, self._length) if n > self.first]
            hint = f"the next one begins with round {begins[0]}" if begins else "there is no other"
            yield Broken(("first",), "must be the first round of a period", self.first, hint)
        days = [self.day(number) for number in range(self.first, rounds + 2)]
        if len(self.opens) != len(days):
            rule = f"must be {len(days)}: when each round opens, and when the last one closes"
            yield Broken(("opens",), rule, len(self.opens))
            return
        for number, (day, opens) in enumerate(zip(days, self.opens, strict=True), self.first):
            midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
            if abs(opens - midnight) > MOST_OFF:
                rule = f"of round {number} must be about midnight of {day.isoformat()}"
                yield Broken(("opens",), rule, opens.strftime(INSTANT))
        for number, (one, other) in enumerate(pairwise(self.opens), self.first):
            if other <= one:
                rule = f"must leave some time for round {number}"
                hint = "the time zone skips that day: start on another one"
                yield Broken(("opens",), rule, other.strftime(INSTANT), hint)

    @property
    def last_day(self) -> date:
        """The last day, in UTC, on which answers are taken."""
        return self.last_day_of(self.first + len(self.opens) - 2)

    def last_day_of(self, number: int) -> date:
        """The same of one round."""
        return (self.closes(number) - timedelta(seconds=1)).date()

    def closes(self, number: int) -> datetime:
        """When a round closes, in UTC."""
        return self.opens[number - self.first + 1]

    def window(self, number: int) -> tuple[float, float]:
        """When a round opens and closes, in seconds since 1970."""
        return self.opens[number - self.first].timestamp(), self.closes(number).timestamp()

    def is_open(self, number: int, now: float) -> bool:
        """Whether a round is open at a time; false for numbers without a window."""
        if not self.first <= number < self.first + len(self.opens) - 1:
            return False
        opens, closes = self.window(number)
        return opens <= now < closes

    def together(self, rounds: int) -> int:
        """How many rounds one promise covers."""
        left = rounds - self.first + 1
        return left if self.promise is Period.CAMPAIGN else min(left, self._length)

    def periods(self, rounds: int) -> int:
        """How many promises the campaign has, each for rounds of its own: from round 1 on."""
        return self.period_of(rounds, rounds)[0]

    def period_of(self, number: int, rounds: int) -> tuple[int, int, int]:
        """The period of a round, by its number alone: which one, its first and its last round."""
        if self.promise is Period.CAMPAIGN:
            return 1, self.first, rounds
        place, length = (number - 1) // self._length, self._length
        return place + 1, max(self.first, place * length + 1), min(rounds, (place + 1) * length)

    @property
    def _length(self) -> int:
        """Of a period that is not the whole campaign."""
        return 1 if self.promise is Period.ROUND else QUARTER[self.every]


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What answers of one period cost, and what a campaign may cost in all."""

    campaign: str
    first: int
    """The rounds of the period."""
    last: int
    epsilon: float
    delta: float
    most_epsilon: float
    most_delta: float

    def overlaps(self, other: Charge) -> bool:
        """Whether both are for some round."""
        return self.first <= other.last and other.first <= self.last
