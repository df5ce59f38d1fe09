"""What a report says below the answers to a question: distributions, summaries, words found.

What each kind of question is called is in `texts_en.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.analysis.estimates.values import Distribution, Quantile, QuestionEstimate
from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import AnswerRow, Axis, Counted, Estimate, row_view, span, within
from krand.report.languages import Language
from krand.survey.questions import Kind
from krand.wording.number_format import with_unit
from krand.wording.phrases import open_mean


def question_notes(
    question: QuestionEstimate | None, words: WordsEstimate | None, language: Language, unit: str
) -> Iterator[str]:
    """What a reader of the answers should know."""
    own = language.texts.questions
    if question is None:
        yield from (
            [language.texts.words.not_decoded] if words is None else word_notes(words, language)
        )
        return
    if question.kind is Kind.YES_NO and question.unanswered is None:
        yield own.only_yes
    if question.picks is not None:
        ends = question.picks.interval
        shown = within(question.picks.consistent, ends.low, ends.high, language)
        yield own.picks.format(picks=shown)
    if question.distribution is not None:
        yield from _middle_notes(question.distribution, unit, language)


def _middle_notes(spread: Distribution, unit: str, language: Language) -> Iterator[str]:
    """Median and mean, with intervals that hold wherever numbers lie in their ranges."""
    own, mean = language.texts.numbers, spread.mean
    quantiles = [_quantile(each, unit, language) for each in spread.quantiles if each.level == 0.5]
    if quantiles:
        yield own.answered.format(quantiles=quantiles[0])
    if mean.value is not None:
        yield own.mean.format(mean=within(mean.value, mean.low, mean.high, language, unit))


def details_notes(question: QuestionEstimate, language: Language, unit: str) -> Iterator[str]:
    """What only some readers need to know."""
    spread, own = question.distribution, language.texts.numbers
    if spread is None:
        return
    yield language.texts.questions.histogram
    others = [_quantile(each, unit, language) for each in spread.quantiles if each.level != 0.5]
    if others:
        yield own.answered.format(quantiles=", ".join(others))
    yield own.who_answered.format(number=language.numbers.count(spread.answered))
    if spread.mean.value is None:
        yield sentence(open_mean(spread.mean, language.shared, unit))
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


def cdf_rows(spread: Distribution | None, unit: str, language: Language) -> Iterator[AnswerRow]:
    """The distribution function at the edges: how many who answered lie below each."""
    own, numbers = language.texts.numbers.cdf_edge, language.numbers
    for point in () if spread is None else spread.cdf:
        low, high = point.interval.low, point.interval.high
        label = own.format(edge=with_unit(numbers.edge(point.edge), unit))
        row = Estimate(label=label, share=point.share, low=low, high=high)
        yield row_view(row, numbers.decimals(100 * low, 100 * high), Axis(1.0), language)


def found_words(people: int, words: WordsEstimate, language: Language) -> list[Estimate]:
    """The words that were found, the most frequent first."""
    return [
        Estimate(
            label=language.texts.words.one_of_several.join((word.word, *word.same_positions)),
            share=word.count / people,
            low=word.low / people,
            high=word.high / people,
            readable=word.readable,
            counted=Counted(word.count, word.low, word.high),
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
            confidence=numbers.confidence(words.confidence),
        )
    named = max(0.0, words.named)
    unexplained = min(words.unexplained, named)
    said = own.named if round(unexplained) > 0 else own.all_found
    if round(named) > 0:
        yield said.format(number=numbers.count(named), unexplained=numbers.count(unexplained))
