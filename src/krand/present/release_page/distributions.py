"""A `number` question as a distribution: in words, and how many are below each edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from krand.analyze.estimates.results import Distribution, Quantile
from krand.present.release_page.answers import number, span
from krand.present.release_page.figures import Bar, Scale, count, percent

__all__ = ["CdfRow", "cdf_rows", "distribution_notes"]


@dataclass(frozen=True, slots=True)
class CdfRow:
    """How many lie below an edge, among those who answered."""

    edge: str
    share: str
    interval: str
    bar: Bar


def distribution_notes(spread: Distribution) -> Iterator[str]:
    """Quantiles and mean, with what they assume."""
    yield (
        f"Among the {count(spread.answered)} people who answered: "
        + "; ".join(_quantile(entry) for entry in spread.quantiles)
        + ". Values inside a range are taken as evenly spread; the intervals assume nothing."
    )
    mean = spread.mean
    if mean.value is not None and mean.interval is not None:
        ends = span(mean.interval.low, mean.interval.high)
        yield (
            f"The mean is {number(mean.value)} ({ends}) if everybody is in the middle of a range;"
            f" wherever they are in it, {span(mean.low, mean.high)}."
        )
    elif mean.low is not None or mean.high is not None:
        side, end = ("above", mean.low) if mean.high is None else ("below", mean.high)
        yield f"The mean is {side} {number(end)}; an open range has no middle, so it has no value."


def _quantile(entry: Quantile) -> str:
    name = {0.25: "a quarter", 0.5: "half", 0.75: "three quarters"}.get(
        entry.level, f"{100 * entry.level:.4g} %"
    )
    value = "a value in an open range" if entry.value is None else number(entry.value)
    return f"{name} are below {value} ({span(entry.low, entry.high)})"


def cdf_rows(spread: Distribution | None) -> tuple[CdfRow, ...]:
    """The distribution function at the edges."""
    if spread is None:
        return ()
    scale = Scale(1.0)
    return tuple(
        CdfRow(
            f"below {number(point.edge)}",
            f"{percent(point.share)} %",
            f"{percent(point.interval.low)} to {percent(point.interval.high)}",
            scale.bar(point.share, point.interval.low, point.interval.high),
        )
        for point in spread.cdf
    )
