"""Free words: those that were found, and how many people must name a word for it to be found."""

from __future__ import annotations

from collections.abc import Iterator

from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import Estimate
from krand.report.figures import of_confidence
from krand.report.languages import Language

__all__ = ["found_words", "word_notes"]


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
