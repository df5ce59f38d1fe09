"""A trend as one page that needs nothing but itself: the answer first, then pictures, then how.

Pictures are SVG in the colours of the page, stretched to the room there is; what is written stands
beside them as text. A dot is what was counted in a round, the line is the mean of the
last rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from krand.analysis.trends.trend import Line, Mean, Point, RoundOf, Trend
from krand.report.pages import render
from krand.report.trend_texts import TrendWords, words_for
from krand.showing import decimals_for
from krand.wording.number_format import NumberFormat

WIDTH, HEIGHT = 1000.0, 300.0
"""Units of a picture; the page stretches it."""
EDGE = 12.0
"""What stays empty on the left and on the right, so that no dot is cut off."""
MOST_FINDINGS = 12
MOST_UNFOLDED = 12
"""Pictures that are shown at once; those of answers that changed are always shown."""
MOST_TABLES = 24
"""Lines whose numbers are listed below their pictures; the table that is written has all."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From which share to which a picture goes, and over which rounds."""

    low: float
    high: float
    first: int
    last: int

    def x(self, number: float) -> float:
        """Where a round is."""
        part = (number - self.first) / max(1, self.last - self.first)
        return round(EDGE + part * (WIDTH - 2 * EDGE), 1)

    def y(self, share: float) -> float:
        """Where a share is, held inside the picture."""
        part = (min(self.high, max(self.low, share)) - self.low) / (self.high - self.low)
        return round(HEIGHT * (1 - part), 1)

    def ends(self, numbers: NumberFormat) -> tuple[str, str]:
        """Both ends in words."""
        decimals = decimals_for(100 * (self.high - self.low) / 4)
        low, high = (
            numbers.with_percent(numbers.rounded(100 * end, decimals))
            for end in (self.low, self.high)
        )
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The paths of one line."""

    band: str
    """The interval of the mean."""
    mean: str
    dots: str
    faint: str
    """Dots of words that could as well be noise."""
    whiskers: str
    levels: str
    """The shares before and after each change."""
    changes: tuple[float, ...]
    breaks: tuple[float, ...]
    top: str
    bottom: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One line of a trend."""

    title: str
    text: str
    value: str
    when: str
    interval: str
    mean: str
    """Of the last rounds; empty where there is one alone."""
    change: str
    """The last changes in one direction; empty if there was none."""
    up: bool
    changes: tuple[str, ...]
    """All of them, where there are several."""
    notes: tuple[str, ...]
    picture: Picture
    label: str
    """The picture in words."""
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendView:
    """What a page shows of a trend: on its own, or in the report of a round."""

    words: TrendWords
    cards: tuple[Card, ...]
    findings: tuple[str, ...]
    changed: int
    """How many answers changed."""
    ends: tuple[str, str]
    """The first and the last round."""
    sure: str
    people: str
    most_people: str
    kept: bool
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def groups(self) -> tuple[tuple[str, list[Card]], ...]:
        """Those with a change, others, and those that are folded away."""
        same = [card for card in self.cards if not card.change]
        shown = len(same) if len(self.cards) <= MOST_UNFOLDED else MOST_UNFOLDED - self.changed
        return (
            ("changed", [card for card in self.cards if card.change]),
            ("same", same[: max(0, shown)]),
            ("folded", same[max(0, shown) :]),
        )


def trend_page(trend: Trend, language: str | None = None) -> str:
    """A whole HTML document, in a language of krand's or of the survey's, by default its own."""
    view = trend_view(trend, words_for(trend, language))
    survey, words = view.words.survey, view.words.language
    return render(
        "trend.html",
        view=view,
        texts=words.texts,
        numbers=words.numbers,
        language=words.code,
        title=survey.title or trend.asked.id,
        title_language=survey.language if survey.title else words.code,
    )


def trend_view(trend: Trend, words: TrendWords) -> TrendView:
    """All that a page needs."""
    changed = [line for line in trend.lines if line.changes]
    return TrendView(
        words=words,
        cards=tuple(
            _card(line, words, place < MOST_TABLES) for place, line in enumerate(trend.lines)
        ),
        findings=tuple(words.headline(line) for line in changed[:MOST_FINDINGS]),
        changed=len(changed),
        ends=(_end(trend.rounds[0], words), _end(trend.rounds[-1], words)),
        sure=words.numbers.confidence(trend.confidence),
        people=_people(trend),
        most_people=words.numbers.whole(max(each.people for each in trend.rounds)),
        kept=all(each.kept for each in trend.rounds),
    )


def _card(line: Line, words: TrendWords, listed: bool) -> Card:
    last = line.changes[-1] if line.changes else None
    every = tuple(_sentence(words.change(change)) for change in line.changes)
    value, interval = words.share_now(line)
    title, question = words.title(line), words.question(line)
    return Card(
        title=title,
        text="" if title == question else question,
        value=value,
        when=words.when(line),
        interval=interval,
        mean=_sentence(words.mean_said(line)) if line.mean else "",
        change=_sentence(words.latest(line)) if last else "",
        up=last is not None and last.difference > 0,
        changes=every if len(every) > 1 else (),
        notes=tuple(map(_sentence, words.notes(line))),
        picture=_picture(line, words),
        label=words.headline(line),
        rows=tuple(_row(point, words) for point in line.points) if listed else (),
    )


def _end(found: RoundOf, words: TrendWords) -> str:
    """What stands at the end of an axis."""
    shown = words.numbers.whole(found.number)
    return words.own.round_at.format(number=shown, day=found.opened.isoformat())


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _row(point: Point, words: TrendWords) -> tuple[str, ...]:
    numbers = words.numbers
    return (
        numbers.whole(point.round),
        numbers.whole(point.people),
        numbers.count(min(point.people, max(0.0, point.count))),
        *words.estimate(point.share, point.interval),
    )


def _picture(line: Line, words: TrendWords) -> Picture:
    axis = _axis(line, words.trend)
    bottom, top = axis.ends(words.numbers)
    found = [point for point in line.points if point.found]
    return Picture(
        band=_band(line.mean, axis) if line.mean else "",
        mean=_level(line.mean.rounds, line.mean.share, axis) if line.mean else "",
        dots=_dots(found, axis),
        faint=_dots([point for point in line.points if not point.found], axis),
        whiskers=" ".join(
            f"M{axis.x(p.round)} {axis.y(p.interval.low)}V{axis.y(p.interval.high)}"
            for p in line.points
        ),
        levels=" ".join(
            _level(rounds, share, axis)
            for change in line.changes
            for rounds, share in (
                (change.before, change.share_before),
                (change.after, change.share_after),
            )
        ),
        changes=tuple(axis.x(change.after[0] - 0.5) for change in line.changes),
        breaks=tuple(axis.x(each.round - 0.5) for each in line.breaks),
        top=top,
        bottom=bottom,
    )


def _axis(line: Line, trend: Trend) -> Axis:
    """All dots and intervals, in a round span; from 0 if that is near."""
    shares = [s for p in line.points for s in (p.share, p.interval.low, p.interval.high)]
    shares += [s for c in line.changes for s in (c.share_before, c.share_after)]
    low, high = max(0.0, min(shares)), min(1.0, max(max(shares), 0.0))
    if low < (high - low) / 2:
        low = 0.0
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6) / 2))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Axis(low, max(high, low + step), trend.rounds[0].number, trend.rounds[-1].number)


def _level(rounds: tuple[int, int], share: float, axis: Axis) -> str:
    """A share over rounds; over a single one, a short line."""
    first, last = rounds
    end = axis.x(last) if last > first else axis.x(first + 0.4)
    return f"M{axis.x(first)} {axis.y(share)}H{end}"


def _band(mean: Mean, axis: Axis) -> str:
    first, last = map(axis.x, mean.rounds)
    low, high = axis.y(mean.interval.low), axis.y(mean.interval.high)
    return f"M{first} {low}V{high}H{last}V{low}Z"


def _dots(points: Sequence[Point], axis: Axis) -> str:
    """Lines of no length with round ends: circles, however the picture is stretched."""
    return " ".join(f"M{axis.x(p.round)} {axis.y(p.share)}h0" for p in points)


def _people(trend: Trend) -> str:
    """A bar for each round, as one path from the bottom."""
    most = max(each.people for each in trend.rounds)
    axis = Axis(0.0, 1.0, trend.rounds[0].number, trend.rounds[-1].number)
    return " ".join(f"M{axis.x(r.number)} {HEIGHT}V{axis.y(r.people / most)}" for r in trend.rounds)
