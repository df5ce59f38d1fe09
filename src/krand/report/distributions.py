"""A `number` question as a distribution: in words, and how many people are below each edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.estimates.values import Distribution, Quantile
from krand.report.answers import number, span
from krand.report.figures import Bar, Scale, count, percent
from krand.wording.phrases import EVENLY, open_mean

__all__ = ["CdfRow", "cdf_rows", "distribution_notes"]


@dataclass(frozen=True, slots=True)
class CdfRow:
    """How many lie below an edge, among those who answered."""

    edge: str
    share: str
    interval: str
    bar: Bar


def distribution_notes(spread: Distribution) -> Iterator[str]:
    """Quantiles and mean, with intervals that hold wherever numbers lie in their ranges."""
    yield (
        f"Among the {count(spread.answered)} people who answered: "
        + "; ".join(_quantile(entry, spread.integer) for entry in spread.quantiles)
        + "."
    )
    mean = spread.mean
    if mean.value is None:
        yield _sentence(open_mean(mean))
    else:
        yield f"The mean is {number(mean.value)} ({span(mean.low, mean.high)})."
    if not spread.exact:
        yield _sentence(EVENLY)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _quantile(entry: Quantile, integer: bool) -> str:
    name = {0.25: "a quarter", 0.5: "half", 0.75: "three quarters"}.get(
        entry.level, f"{100 * entry.level:.4g} %"
    )
    value = "a value in an open-ended range" if entry.value is None else number(entry.value)
    side = "at most" if integer else "below"
    return f"{name} are {side} {value} ({span(entry.low, entry.high)})"


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
