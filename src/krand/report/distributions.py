"""A `number` question as a distribution: in words, and how many people are below each edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.estimates.values import CdfPoint, Distribution, Quantile
from krand.report.answers import span, within
from krand.report.figures import Axis, Bar
from krand.report.languages import Language
from krand.wording.number_format import with_unit
from krand.wording.phrases import open_mean

__all__ = ["CdfRow", "cdf_rows", "distribution_notes", "sentence"]


@dataclass(frozen=True, slots=True)
class CdfRow:
    """How many lie below an edge, among those who answered."""

    edge: str
    share: str
    interval: str
    bar: Bar


def distribution_notes(spread: Distribution, unit: str, language: Language) -> Iterator[str]:
    """Quantiles and mean, with intervals that hold wherever numbers lie in their ranges."""
    own, mean = language.texts.numbers, spread.mean
    quantiles = (_quantile(entry, unit, language) for entry in spread.quantiles)
    yield own.answered.format(
        number=language.numbers.count(spread.answered), quantiles=", ".join(quantiles)
    )
    if mean.value is None:
        yield sentence(open_mean(mean, language.shared, unit))
    else:
        yield own.mean.format(mean=within(mean.value, mean.low, mean.high, language, unit))
    if not spread.exact:
        yield sentence(language.shared.phrases.evenly)


def sentence(text: str) -> str:
    """A phrase that stands alone."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _quantile(entry: Quantile, unit: str, language: Language) -> str:
    own, percent = language.texts.numbers, language.numbers.percent_of(entry.level, ".4g")
    part = own.parts.get(str(entry.level), own.other_part.format(percent=percent))
    if entry.value is None:
        interval = span(entry.low, entry.high, language)
        shown = own.with_interval.format(value=own.open_value, interval=interval)
    else:
        shown = within(entry.value, entry.low, entry.high, language, unit)
    return own.quantile.format(part=part, value=shown)


def cdf_rows(spread: Distribution | None, unit: str, language: Language) -> tuple[CdfRow, ...]:
    """The distribution function at the edges."""
    if spread is None:
        return ()
    return tuple(_cdf_row(point, unit, language) for point in spread.cdf)


def _cdf_row(point: CdfPoint, unit: str, language: Language) -> CdfRow:
    own, numbers = language.texts, language.numbers
    low, high = point.interval.low, point.interval.high
    digits = numbers.decimals(100 * low, 100 * high)
    return CdfRow(
        own.numbers.cdf_edge.format(edge=with_unit(numbers.edge(point.edge), unit)),
        numbers.with_percent(numbers.share(point.share, digits)),
        own.answers.ends.format(low=numbers.share(low, digits), high=numbers.share(high, digits)),
        Axis(1.0).bar(point.share, low, high),
    )
