"""The candidates of a words question: told apart as far as their positions allow.

Spellings that the encoder takes for one word are one candidate, which is shown as most of them
are spelled. Two words whose positions are
all the same can never be told apart, whatever is counted: they are one group, tested and counted
together, and every word of the group says so.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.survey.kinds.words import WHITE_SPACE, normalized, plain_positions
from krand.survey.layout import Layout
from krand.survey.questions import Words

__all__ = ["Candidates", "grouped", "words_question"]


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
