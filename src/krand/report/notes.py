"""What a report says below the answers to a question: distributions, summaries, words found.

What each kind of question is called is in `texts_en.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from krand.analysis.estimates.values import (
    AskedEstimate,
    Distribution,
    Interval,
    Quantile,
    QuestionEstimate,
)
from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import Estimate, span, within
from krand.report.figures import Axis, Bar, of_confidence
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.survey.questions import Kind
from krand.wording.number_format import with_unit
from krand.wording.phrases import open_mean, summary_text


def question_notes(question: QuestionEstimate, language: Language, unit: str = "") -> Iterator[str]:
    """All that can be said about a question beside its answers."""
    own, spread, picks = language.texts.questions, question.distribution, question.picks
    if question.kind is Kind.YES_NO and question.unanswered is None:
        yield own.only_yes
    if spread is not None:
        yield own.histogram
    if question.summaries:
        yield own.diverging
    if picks is not None:
        shown = within(picks.consistent, picks.interval.low, picks.interval.high, language)
        yield own.picks.format(picks=shown)
    for summary in question.summaries:
        yield sentence(summary_text(summary, language.shared))
    if spread is not None:
        yield from _distribution_notes(spread, unit, language)


def _distribution_notes(spread: Distribution, unit: str, language: Language) -> Iterator[str]:
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


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A share of some people of the crowd: of those who answered, or who were asked."""

    label: str
    share: str
    interval: str
    bar: Bar
    readable: bool = True


def cdf_rows(spread: Distribution | None, unit: str, language: Language) -> tuple[ShareRow, ...]:
    """The distribution function at the edges: how many who answered lie below each."""
    if spread is None:
        return ()
    own, edge = language.texts.numbers.cdf_edge, language.numbers.edge
    return tuple(
        _share_row(
            own.format(edge=with_unit(edge(point.edge), unit)),
            point.share,
            point.interval,
            language,
        )
        for point in spread.cdf
    )


def asked_rows(
    found: AskedEstimate | None, labels: Labels, language: Language
) -> tuple[ShareRow, ...]:
    """The answers among those who were asked, or who answered."""
    if found is None:
        return ()
    rows = [(labels.answer(found.question, row.label), row) for row in found.rows]
    if found.unanswered is not None:
        rows.append((language.texts.labels.unanswered, found.unanswered))
    return tuple(
        replace(_share_row(name, row.consistent, row.interval, language), readable=row.readable)
        for name, row in rows
    )


def _share_row(label: str, share: float, interval: Interval, language: Language) -> ShareRow:
    numbers, ends = language.numbers, language.texts.answers.ends
    low, high = interval.low, interval.high
    digits = numbers.decimals(100 * low, 100 * high)
    return ShareRow(
        label,
        numbers.with_percent(numbers.share(share, digits)),
        ends.format(low=numbers.share(low, digits), high=numbers.share(high, digits)),
        Axis(1.0).bar(share, low, high),
    )


def found_words(people: int, words: WordsEstimate, language: Language) -> list[Estimate]:
    """The words that were found, the most frequent first."""
    return [
        Estimate(
            label=language.texts.words.one_of_several.join((word.word, *word.same_positions)),
            share=word.count / people,
            low=word.low / people,
            high=word.high / people,
            people=word.count,
            people_low=word.low,
            people_high=word.high,
            readable=word.readable,
        )
        for word in words.found
    ]


def word_notes(words: WordsEstimate, language: Language) -> Iterator[str]:
    """How many were found, how certain that is, and what is left over."""
    own, numbers, found = language.texts.words, language.numbers, len(words.found)
    yield own.found.of(found).format(
        number=numbers.whole(found),
        all=numbers.whole(len(words.rows)),
        rate=numbers.percent_of(words.false_discovery_rate, ".4g"),
    )
    if words.detection_limit is None:
        yield own.no_limit
    else:
        yield own.limit.format(
            number=numbers.count(words.detection_limit),
            confidence=of_confidence(words.confidence, numbers),
        )
    named = max(0.0, words.named)
    unexplained = min(words.unexplained, named)
    said = own.named if round(unexplained) > 0 else own.all_found
    if round(named) > 0:
        yield said.format(number=numbers.count(named), unexplained=numbers.count(unexplained))
