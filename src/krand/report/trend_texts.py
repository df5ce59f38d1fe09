"""A trend in sentences: what an answer is now, what changed, what a change of people can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krand.analysis.estimates.values import Interval
from krand.analysis.results_comparison import moved_by_people
from krand.analysis.trends.changes import Change
from krand.analysis.trends.series import LineKind
from krand.analysis.trends.trend import Line, RoundOf, Smoothed, Trend
from krand.showing import at_most, decimals_for, fixed, number, some

GRADUAL = "if changes are gradual"
"""What every smoothed interval assumes, wherever it is shown."""


def line_name(line: Line) -> str:
    """The question, and the answer if it is not simply yes."""
    if line.kind is LineKind.ANSWER and line.answer == "yes":
        return line.question
    return f"{line.question}: {line.answer}"


def percent(share: float, half: float) -> str:
    """A share, up to the first digit of its margin: 4.1 %."""
    return f"{fixed(100 * share, decimals_for(100 * half))} %"


def ends(interval: Interval) -> str:
    """3.2 to 5.1 %."""
    decimals = decimals_for(50 * (interval.high - interval.low))
    return f"{fixed(100 * interval.low, decimals)} to {fixed(100 * interval.high, decimals)} %"


def now(line: Line) -> Smoothed:
    """The last level; what was counted, where there are too few rounds to smooth."""
    last = line.last
    share = min(1.0, max(0.0, last.share))
    return last.smoothed or Smoothed(share, last.interval.containing(share))


def now_text(line: Line) -> str:
    """4.1 % now (3.2 to 5.1 %)."""
    level = now(line)
    half = (level.interval.high - level.interval.low) / 2
    return f"{percent(level.share, half)} now ({ends(level.interval)})"


def rounds_text(pair: tuple[int, int]) -> str:
    """Round 14, or rounds 1 to 13."""
    first, last = pair
    return f"round {first:,}" if first == last else f"rounds {first:,} to {last:,}"


def change_text(change: Change) -> str:
    """Up from 2.0 % in rounds 1 to 12 to 4.2 % in rounds 13 to 14, found after round 14."""
    before, after = _shares(change)
    return (
        f"{_way(change)} from {before} in {rounds_text(change.before)} to {after} in"
        f" {rounds_text(change.after)}, found after round {change.found:,}{_with_people(change)}"
    )


def _way(change: Change) -> str:
    return "up" if change.difference > 0 else "down"


def _shares(change: Change) -> tuple[str, str]:
    half = (change.interval.high - change.interval.low) / 2
    return percent(change.share_before, half), percent(change.share_after, half)


def _with_people(change: Change) -> str:
    """Said where those who came or left could have made the change."""
    if change.by_people < min(abs(change.interval.low), abs(change.interval.high)):
        return ""
    before, after = change.people
    more = "more" if after > before else "fewer"
    return f", with {number(100 * change.by_people, 2)} % {more} people a round"


def latest_text(line: Line, trend: Trend) -> str:
    """The last changes in one direction: where they began, and when they were found."""
    last = line.changes[-1]
    run = [last]
    for change in reversed(line.changes[:-1]):
        if change.difference * last.difference < 0:
            break
        run.append(change)
    first = run[-1]
    said = (
        f"{_way(first)} from {_shares(first)[0]} in {rounds_text(first.before)}; found after"
        f" {round_text(first.found, trend)}{_with_people(first)}"
    )
    if first is last:
        return said
    return f"{said}, and further changes until {round_text(last.found, trend)}"


def round_text(number: int, trend: Trend) -> str:
    """Round 14, with the day on which it opened where a schedule says so."""
    days = {each.number: each.opened for each in trend.rounds}
    day = days.get(number)
    return f"round {number:,}" if day is None else f"round {number:,} ({day.isoformat()})"


def headline(line: Line, trend: Trend) -> str:
    """The answer first: what it is now, and what changed."""
    changed = f", {latest_text(line, trend)}" if line.changes else "; no change found"
    return f"{line_name(line)}: {now_text(line)}{changed}."


def points(share: float) -> str:
    """8.2 points."""
    return f"{number(100 * share, 2)} points"


def rounds_lead(trend: Trend) -> str:
    """How many rounds and people; which rounds are missing."""
    people = [each.people for each in trend.rounds]
    crowd = (
        f"{min(people):,}" if min(people) == max(people) else f"{min(people):,} to {max(people):,}"
    )
    first, last = trend.rounds[0].number, trend.rounds[-1].number
    said = (
        f"{some(len(trend.rounds), 'round')} of {trend.planned:,} planned,"
        f" {rounds_text((first, last))}, with {crowd} people each."
    )
    if trend.missing:
        named = ", ".join(f"{each:,}" for each in trend.missing)
        said += f" Without results: round{'s' * (len(trend.missing) > 1)} {named}."
    return said


def people_text(earlier: int, later: int) -> str:
    """What a change of the people can do between two rounds."""
    if earlier == later:
        said = f"{earlier:,} people took part both times."
    else:
        more = "more" if later > earlier else "fewer"
        said = (
            f"{abs(later - earlier):,} {more} people took part later ({later:,}) than earlier"
            f" ({earlier:,}). Whatever they answered, they alone can move a share by at most"
            f" {points(moved_by_people(earlier, later))}, and a count by {abs(later - earlier):,}."
        )
    return (
        f"{said} krand does not know who took part: if others came in place of some, more may be"
        " due to who they are."
    )


def test_text(trend: Trend) -> str:
    """What a found change means."""
    rate = f"{number(100 * trend.error_rate, 3)} %"
    return (
        "Changes are found by the window test on raw counts: the last 1, 2, 4 and 8 rounds, each"
        " with the eight rounds before and with all rounds before. In at most"
        f" {rate} of all series is any change claimed that is none, over all answers, all"
        f" {trend.planned:,} rounds and a look after every round, whatever the truth."
    )


def promise_text(trend: Trend) -> str:
    """What whoever took part in all rounds has spent."""
    said = (
        f"ε = {at_most(trend.epsilon)}, δ = {at_most(trend.delta)} for whoever took part in all"
        " rounds"
    )
    if trend.promises > 1:
        said += f": the sum of {trend.promises:,} promises"
    return f"{said}. Smoothing and testing use published results and cost no privacy."


def breaks_text(line: Line) -> str:
    """Where the question became another one, and in which rounds the answer is missing."""
    return "; ".join(f"break at round {each.round:,}: {each.reason}" for each in line.breaks)


def gaps_text(line: Line, rounds: Sequence[RoundOf]) -> str:
    """The rounds in which the answer was not counted."""
    counted = {point.round for point in line.points}
    numbers = [each.number for each in rounds if each.number not in counted]
    if not numbers:
        return ""
    runs: list[list[int]] = []
    known = [each.number for each in rounds]
    for each in numbers:
        if runs and known.index(runs[-1][-1]) + 1 == known.index(each):
            runs[-1].append(each)
        else:
            runs.append([each])
    where = ", ".join(f"{r[0]:,}" if len(r) == 1 else f"{r[0]:,} to {r[-1]:,}" for r in runs)
    why = "not on the list of words" if line.kind is LineKind.WORD else "not an answer"
    return f"{why} in round{'s' * (len(numbers) > 1)} {where}"


def notes(line: Line, rounds: Sequence[RoundOf]) -> Iterator[str]:
    """What has to be said beside a line."""
    yield from filter(None, (breaks_text(line), gaps_text(line, rounds)))
    if not line.exact:
        yield "intervals and test by standard errors, not by the exact law"
