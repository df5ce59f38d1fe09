"""Free words: those that were found, and how many people must name a word for it to be found."""

from __future__ import annotations

from collections.abc import Iterator

from krand.analysis.words.decoding import WordsEstimate
from krand.report.answers import Answers, Estimate, answer_table
from krand.report.figures import count, of_confidence

__all__ = ["word_notes", "word_table"]


def word_table(people: int, words: WordsEstimate) -> Answers:
    """The words that were found, the most frequent first."""
    rows = [
        Estimate(
            label=", or ".join((word.word, *word.same_positions)),
            share=word.count / people,
            low=word.low / people,
            high=word.high / people,
            people=word.count,
            people_low=word.low,
            people_high=word.high,
            error=(word.standard_error or 0.0) / people,
            readable=word.readable,
        )
        for word in words.found
    ]
    return answer_table(rows, (), words.confidence)


def word_notes(words: WordsEstimate) -> Iterator[str]:
    """How many were found, how certain that is, and what is left over."""
    rate = f"{100 * words.false_discovery_rate:.4g} %"
    yield (
        f"{len(words.found):,} of {len(words.rows):,} words on the list"
        f" {'was' if len(words.found) == 1 else 'were'} found; on average at most {rate} of the"
        " words found were named by nobody (false discovery rate)."
    )
    if words.detection_limit is None:
        yield "Limit of detection: none; with this noise no word can be found."
    else:
        yield (
            f"Limit of detection: a word that {count(words.detection_limit)} people named is found"
            f" with a probability of {of_confidence(words.confidence)}."
        )
    yield (
        f"About {count(max(0.0, words.named))} words were named in all, of which"
        f" {count(words.unexplained)} are not among those found."
    )
