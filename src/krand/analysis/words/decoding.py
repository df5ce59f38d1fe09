"""Free words decoded: which words of a list were named, and by how many people.

Spellings that the encoder takes for one word are one candidate, which is shown as most of them are
spelled. Two words whose positions are all the same can never be told apart, whatever is counted:
they are one group, tested and counted together, and every word of the group says so.

Whether a word was named at all is decided by `discovery`, whose promise about false discoveries
needs nothing but a good hash; how often, by `regression`.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.intervals import readable
from krand.analysis.words.discovery import adjusted_p_values, found_from, p_values
from krand.analysis.words.regression import Regression, regress
from krand.errors import InvalidInput
from krand.showing import one_line, some
from krand.survey.kinds.words import WHITE_SPACE, normalized, plain_positions
from krand.survey.layout import Layout
from krand.survey.questions import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """One candidate: whether it was named, and how often."""

    word: str
    count: float
    """People who named it, never below zero; of all of its group where there are several."""
    unclipped: float
    """The same before it is held above zero: add or average these, not the counts."""
    standard_error: float | None
    """None where its count cannot be told apart from those of other words."""
    low: float
    high: float
    p_value: float
    """The chance of such counts if nobody named the word."""
    adjusted: float
    """The least false discovery rate at which the word is found."""
    found: bool
    readable: bool
    """False where the margin of error is above 15 % of the people."""
    same_positions: tuple[str, ...] = ()
    """Other candidates that cannot be told apart from this one: the row is about all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsEstimate:
    """All candidates of a question, in the order of the list."""

    question: str
    rows: tuple[WordCount, ...]
    false_discovery_rate: float
    """At most so much of what is found was named by nobody, on average."""
    confidence: float
    """Of the intervals, each for itself, and of the detection limit."""
    detection_limit: float | None
    """From so many people on a word is found with this confidence; None if no word can be."""
    named: float
    """How many words were named in all, on the list or not."""
    named_error: float
    unexplained: float
    """How many of these are not explained by the words that were found."""
    merged: int
    """Spellings of the list that are one word with another one."""

    def __repr__(self) -> str:
        listed = some(len(self.rows), "candidate")
        return one_line(f"WordsEstimate {self.question}", f"{len(self.found):,} found of {listed}")

    @property
    def found(self) -> tuple[WordCount, ...]:
        """The words that were named, the most frequent first."""
        return tuple(sorted((r for r in self.rows if r.found), key=lambda r: -r.unclipped))


def decode_words(
    layout: Layout,
    block_name: str,
    estimates: NDArray[np.float64],
    sigma: float,
    people: int,
    candidates: Sequence[str],
    false_discovery_rate: float = 0.05,
    confidence: float = 0.95,
    z: float | None = None,
) -> WordsEstimate:
    """The words of a list, from unbiased estimates of how many people set each position.

    z: how many σ intervals need on each side; None where the noise is nearly normal.
    """
    question = words_question(layout, block_name)
    _check(estimates, question.size, sigma, people)
    for field, value in (
        ("false_discovery_rate", false_discovery_rate),
        ("confidence", confidence),
    ):
        if not 0 < value < 1:
            raise InvalidInput(field, "must be between 0 and 1, both excluded", value)
    listed = grouped(layout.survey_id, question, candidates)
    chances = p_values(estimates, listed.positions, question.tables)
    adjusted = adjusted_p_values(chances)
    found = adjusted <= false_discovery_rate
    counted = regress(estimates, listed.positions, found, sigma, confidence, z)
    named = float(estimates.sum()) / question.hashes
    return WordsEstimate(
        question=block_name,
        rows=_rows(
            listed=listed,
            counted=counted,
            chances=chances,
            adjusted=adjusted,
            found=found,
            people=people,
            confidence=confidence,
        ),
        false_discovery_rate=false_discovery_rate,
        confidence=confidence,
        detection_limit=found_from(
            estimates,
            question.tables,
            len(found),
            int(found.sum()),
            false_discovery_rate,
            confidence,
        ),
        named=named,
        named_error=sigma * math.sqrt(question.size) / question.hashes,
        unexplained=named - float(counted.counts[found].sum()),
        merged=listed.merged,
    )


def _check(estimates: NDArray[np.float64], size: int, sigma: float, people: int) -> None:
    if estimates.shape != (size,) or not np.isfinite(estimates).all():
        rule = f"must be {size:,} numbers, one for each position of the block"
        raise InvalidInput("estimates", rule, f"an array of shape {estimates.shape}")
    if not (math.isfinite(sigma) and sigma > 0):
        raise InvalidInput("sigma", "must be a number above 0", sigma)
    if people < 1:
        raise InvalidInput("people", "must be at least 1", people)


def _rows(
    listed: Candidates,
    counted: Regression,
    chances: NDArray[np.float64],
    adjusted: NDArray[np.float64],
    found: NDArray[np.bool_],
    people: int,
    confidence: float,
) -> tuple[WordCount, ...]:
    low, count, high = (
        np.clip(values, 0.0, people).tolist()
        for values in (counted.low, counted.counts, counted.high)
    )
    errors = counted.standard_errors.tolist()
    narrow = readable(counted.standard_errors, people, confidence)
    rows = {}
    for place, group in enumerate(listed.groups):
        for word in group:
            rows[word] = WordCount(
                word=word,
                count=count[place],
                unclipped=float(counted.counts[place]),
                standard_error=errors[place] if math.isfinite(errors[place]) else None,
                low=low[place],
                high=high[place],
                p_value=float(chances[place]),
                adjusted=float(adjusted[place]),
                found=bool(found[place]),
                readable=bool(narrow[place]),
                same_positions=tuple(other for other in group if other != word),
            )
    return tuple(rows[word] for word in listed.words)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Words by group; a group is the words that share all of their positions."""

    words: tuple[str, ...]
    """In the order of the list, each as it is spelled most often there."""
    groups: tuple[tuple[str, ...], ...]
    positions: NDArray[np.int64]
    """One row for each group: the positions inside the block, rising."""
    merged: int
    """Spellings of the list that the encoder takes for a word already on it."""


def words_question(layout: Layout, name: str) -> Words:
    """The question of this name, which must be one of type words."""
    block = layout.first_block_of(name)
    question = block.questions[0]
    if len(block.questions) != 1 or not isinstance(question, Words):
        raise InvalidInput("question", "must be a question of type words", name)
    return question


def grouped(survey_id: str, question: Words, candidates: Sequence[str]) -> Candidates:
    """Candidates told apart as the encoder does, in the order of the list, and grouped."""
    if isinstance(candidates, str) or not candidates:
        raise InvalidInput("candidates", "must be a list of at least one word", candidates)
    spellings: dict[str, Counter[str]] = {}
    for word in candidates:
        spelling = unicodedata.normalize("NFC", word).strip(WHITE_SPACE)
        spellings.setdefault(normalized("candidates", word), Counter())[spelling] += 1
    words, found = [], dict[tuple[int, ...], list[str]]()
    for plain, used in spellings.items():
        words.append(used.most_common(1)[0][0])  # of equals the first
        places = tuple(sorted(plain_positions(survey_id, question, plain)))
        found.setdefault(places, []).append(words[-1])
    return Candidates(
        tuple(words),
        tuple(tuple(group) for group in found.values()),
        np.array(list(found), dtype=np.int64),
        len(candidates) - len(words),
    )
