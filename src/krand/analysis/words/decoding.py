"""Free words decoded: which words of a list were named, and by how many people.

Spellings that the encoder takes for one word are one candidate, which is shown as most of them are
spelled. Two words whose positions are all the same can never be told apart, whatever is counted:
they are one group, tested and counted together, and every word of the group says so.

Whether a word was named at all is decided with a share of false discoveries that is controlled; how
often, by `regression`. A word that nobody named has left no trace: its positions are where the hash
threw them, independent of every count. So, given the counts, they are one random position of each
table, and the chance that all of them count as much as the least of this word's does is

    p = Π Kᵢ/sᵢ,   Kᵢ = how many of the sᵢ positions of table i count at least that much.

This holds exactly, whatever people said: words that are on no list, popular ones too, answers of
several words, any law of the noise, any number of copies. It rests on two things: that the hash
behaves like a random function, and that the list was made without looking at the counts (whoever
searches a dictionary must give the whole dictionary as the list). Given the counts and the
positions of the words that were named, these p-values are independent of each other, so the rule of
Benjamini and Hochberg (1995) keeps its promise exactly: no correction for dependence is needed.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.intervals import readable
from krand.analysis.words.regression import Regression, regress
from krand.errors import InvalidInput
from krand.showing import one_line, some
from krand.survey.kinds.words import WHITE_SPACE, normalized, plain_positions
from krand.survey.layout import Layout
from krand.survey.questions import Words

Floats = NDArray[np.float64]


def chance_of(above: Floats, sizes: Floats) -> Floats:
    """The chance that a random position of each table lies among those `above`, table by table."""
    return np.asarray(np.minimum(above / sizes, 1.0).prod(axis=-1), dtype=np.float64)


def p_values(estimates: Floats, positions: NDArray[np.int64], tables: Sequence[range]) -> Floats:
    """For each row of positions: the chance of counts like these if nobody named the word."""
    least = estimates[positions].min(axis=1)
    above = [_from(estimates, table, least, "left") for table in tables]
    return chance_of(np.stack(above, axis=-1), _sizes(tables))


def _from(estimates: Floats, table: range, least: Floats, side: Literal["left", "right"]) -> Floats:
    """How many positions of a table count at least so much; more than that with `right`."""
    ordered = np.sort(estimates[table.start : table.stop])
    return np.asarray(len(table) - np.searchsorted(ordered, least, side=side), dtype=np.float64)


def _sizes(tables: Sequence[range]) -> Floats:
    return np.array([len(table) for table in tables], dtype=np.float64)


def adjusted_p_values(values: Floats) -> Floats:
    """The least false discovery rate at which each is found (Benjamini, Hochberg 1995)."""
    order = np.argsort(values)
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def found_from(
    estimates: Floats,
    tables: Sequence[range],
    candidates: int,
    found: int,
    rate: float,
    confidence: float,
) -> float | None:
    """From how many people on a further word would have been found, with this confidence.

    Its positions would count that many more than any other positions do. None: even a word that
    everybody names could not have been told from chance.
    """
    chance, levels = rate * max(found, 1) / candidates, np.sort(estimates)
    above = [_from(estimates, table, levels, "right") + 1 for table in tables]  # and its own
    enough = np.flatnonzero(chance_of(np.stack(above, axis=-1), _sizes(tables)) <= chance)
    if not enough.size:
        return None
    low = np.quantile(estimates, 1 - confidence ** (1 / len(tables)), method="lower")
    return max(float(levels[enough[0]] - low), 1.0)


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
