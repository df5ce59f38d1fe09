"""The truth next to each estimate, which only a simulation can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from krand.analysis.estimates.counted import BlockCounts, block_counts
from krand.analysis.estimates.values import QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.tally import Tally
from krand.analysis.words.decoding import WordsEstimate
from krand.simulation.crowd import Truth
from krand.survey.questions import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: how many people gave it, and the estimate with its interval."""

    question: str
    answer: str
    truth: int
    estimate: float
    low: float
    high: float
    word: bool = False
    """Whether this is a word found among many candidates."""

    @property
    def holds(self) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True, slots=True)
class Held:
    """How many intervals contain the truth, and how many should."""

    hold: int
    intervals: int
    confidence: float

    @property
    def expected(self) -> float:
        """The expected number, at least; intervals that are cut off at 0 or at everybody hold
        more often."""
        return self.confidence * self.intervals


def held(answers: Sequence[Answer], confidence: float) -> Held:
    """All intervals except those of words, which were selected because they stood out."""
    asked = [answer for answer in answers if not answer.word]
    return Held(sum(answer.holds for answer in asked), len(asked), confidence)


def answers_beside_truth(results: Results, tally: Tally, truth: Truth) -> tuple[Answer, ...]:
    """Each answer to each question, then the words that were found."""
    # The analyst's own sums, applied to counts without noise.
    blocks = block_counts(results.plan, replace(tally, counts=truth.positions))
    by_offset = {counts.block.offset: counts for counts in blocks}
    used = {q.name: by_offset[results.plan.block_of(q.name).offset] for q in results.questions}
    found = [a for q in results.questions for a in _answers(q, used[q.name])]
    for words in results.words:
        found += _words(words, truth.words[words.question])
    return tuple(found)


def _answers(question: QuestionEstimate, counts: BlockCounts) -> Iterator[Answer]:
    block, ones = counts.block, counts.ones
    if block.kind is Kind.TOGETHER:
        cells = np.append(question.people - ones.sum(), ones)  # nothing answered is the first cell
        _, *sums = counts.margin(cells, block.question_names.index(question.name)).tolist()
        ones = np.array(sums, dtype=np.int64)
    for row, people in zip(question.rows, ones.tolist(), strict=True):
        yield _answer(question.name, row, people)
    if question.unanswered is not None:
        yield _answer(question.name, question.unanswered, question.people - int(ones.sum()))


def _answer(question: str, row: Row, people: int) -> Answer:
    interval = row.interval
    return Answer(
        question=question,
        answer=row.label,
        truth=people,
        estimate=row.consistent,
        low=interval.low,
        high=interval.high,
    )


def _words(words: WordsEstimate, truth: Mapping[str, int]) -> Iterator[Answer]:
    for row in words.found:
        people = sum(truth.get(word, 0) for word in (row.word, *row.same_positions))
        yield Answer(
            question=words.question,
            answer=row.word,
            truth=people,
            estimate=row.count,
            low=row.low,
            high=row.high,
            word=True,
        )
