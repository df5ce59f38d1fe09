"""What estimating gives: frozen values, numbers only, ready to be written down.

Every count comes twice. `count` is unbiased: on average over the noise it is the truth, and so it
may be negative or above the crowd. `consistent` is the nearest set of counts that people could
have given: better to look at, slightly biased. The standard error is that of `count`, by the noise
alone, and was known before anybody answered.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.intervals import Sampling
from krand.showing import Shown, one_line, some
from krand.survey.plain_values import arrays
from krand.survey.questions import Kind

Floats = Annotated[NDArray[np.float64], arrays(np.float64)]


def same_fields(value: Any, other: Any) -> bool:
    """Whether two values are equal, also where fields are arrays."""
    if type(value) is not type(other):
        return False
    names = [field.name for field in fields(type(value)) if field.compare]
    pairs = ((getattr(value, name), getattr(other, name)) for name in names)
    return all(
        np.array_equal(mine, its) if isinstance(mine, np.ndarray) else mine == its
        for mine, its in pairs
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    def within(self, least: float, most: float) -> Interval:
        """Both ends moved into what is possible."""
        return Interval(min(most, max(least, self.low)), max(least, min(most, self.high)))

    def containing(self, value: float) -> Interval:
        """As wide as it must be to contain what is shown beside it; never narrower."""
        return Interval(min(self.low, value), max(self.high, value))


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Intervals for all cells of a table."""

    low: Floats
    high: Floats

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def containing(self, values: Floats) -> Band:
        """As wide as it must be to contain what is shown beside it; never narrower."""
        return Band(np.minimum(self.low, values), np.maximum(self.high, values))


class Method(StrEnum):
    """How an interval was found."""

    EXACT = "exact"
    """By inverting the exact law of the count."""
    NORMAL = "normal"
    """By the normal law, with the skewness of the count taken into account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One answer: how many people gave it, and how well that is known."""

    label: str
    count: float
    """Unbiased; may be negative or above the crowd."""
    consistent: float
    """Part of the nearest counts that are possible: what tables and the report show."""
    standard_error: float
    """Of `count`, by the noise alone."""
    interval: Interval
    """For the people of the crowd, this answer alone; contains `consistent`."""
    simultaneous: Interval
    """The same, but so that all rows of the question hold together."""
    share: float
    """`count` as a part of the people."""
    consistent_share: float
    """`consistent` as a part of the people."""
    share_interval: Interval
    """Of the crowd, or of the population that the crowd is a sample of."""
    readable: bool
    """False where the margin of error is above 15 % of the people: nothing can be read off it."""
    method: Method


@dataclass(frozen=True, slots=True, kw_only=True)
class CdfPoint:
    """The share of the numbers below an edge, among the people who answered."""

    edge: float
    share: float
    """From the consistent counts: never falls from one edge to the next."""
    unadjusted: float | None
    """From the unbiased counts; None where they leave nobody who answered."""
    interval: Interval
    simultaneous: Interval


@dataclass(frozen=True, slots=True)
class Quantile:
    """The number that a share `level` of the answers lie below; of whole numbers, do not exceed.

    `value` takes numbers as evenly spread inside a range, the interval assumes nothing: its ends
    are those of ranges. None: in an open range, which has no end.
    """

    level: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean number of the people who answered.

    `value` and `interval` take numbers as evenly spread inside their ranges, so that each counts
    as the middle one. `low` and `high` assume nothing: all numbers at the lower ends of their
    ranges, or all at the upper ends, and the noise on top. Where every range holds one whole number
    the two intervals are the same. An open range has no middle and no end: None.
    """

    value: float | None
    interval: Interval | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A `number` question as a distribution, among the people who answered it."""

    answered: float
    """By the consistent counts: never more than the crowd."""
    integer: bool
    """The numbers are whole."""
    exact: bool
    """Every range holds one number only: nothing is assumed about where numbers lie in theirs."""
    cdf: tuple[CdfPoint, ...]
    quantiles: tuple[Quantile, ...]
    mean: MeanEstimate


@dataclass(frozen=True, slots=True)
class PicksEstimate:
    """How many items of a `pick_any` question a person picks on average."""

    value: float
    """Unbiased; may be negative or above what a person may pick."""
    consistent: float
    """By the consistent counts."""
    standard_error: float
    interval: Interval
    """Contains `consistent`."""


class Statistic(StrEnum):
    """What a summary is. Tables and the report show the value with blanks for underscores."""

    MEAN = "mean"
    TOP_BOX = "top_box"
    BOTTOM_BOX = "bottom_box"

    @property
    def is_share(self) -> bool:
        """Whether it is a part of the people who answered."""
        return self is not Statistic.MEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A question in one number, among the people who answered it."""

    statistic: Statistic
    answers: tuple[str, ...]
    """The answers that it is made of: those of a box, or all that have a value."""
    value: float
    """By the consistent counts."""
    unadjusted: float | None
    """By the unbiased counts; None where they leave nobody who answered."""
    interval: Interval
    """Contains `value`."""


class Base(StrEnum):
    """What a share of a question with a condition is a share of."""

    ASKED = "asked"
    """Those who were asked."""
    ANSWERED = "answered"
    """Those who answered; how many were asked is not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedShare:
    """One answer, as a part of those who were asked or who answered."""

    label: str
    share: float
    """By the unbiased counts."""
    consistent: float
    """By the consistent counts: what tables and the report show."""
    interval: Interval
    """Contains `consistent`."""
    readable: bool
    """False where the margin of error is above 15 points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEstimate:
    """A question with a condition, among those who were asked or who answered."""

    question: str
    base: Base
    count: float
    """How many they are: unbiased."""
    consistent: float
    interval: Interval
    """For their number; contains `consistent`."""
    confidence: float
    rows: tuple[AskedShare, ...]
    """None where, as far as the noise tells, there may be nobody."""
    unanswered: AskedShare | None
    """Those who were asked and gave no answer, where they can be told from all others."""

    @property
    def withheld(self) -> bool:
        """Whether no share is given."""
        return not self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEstimate(Shown):
    """A question answered by the crowd."""

    name: str
    kind: Kind
    people: int
    confidence: float
    sampling: Sampling | None
    """None: the crowd is all that is asked about."""
    rows: tuple[Row, ...]
    unanswered: Row | None
    """None where "no answer" looks like an answer: yes_no alone, and pick_any."""
    distribution: Distribution | None = None
    picks: PicksEstimate | None = None
    summaries: tuple[Summary, ...] = ()

    def __repr__(self) -> str:
        rows, crowd = some(len(self.rows), "answer"), f"{self.people:,} people"
        return one_line(f"QuestionEstimate {self.name}", self.kind.value, rows, crowd)

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The answers, and "unanswered" where it can be told from them."""
        return self.rows if self.unanswered is None else (*self.rows, self.unanswered)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The answers whose margin of error is too wide to read anything off them."""
        return tuple(row.label for row in self.all_rows if not row.readable)
