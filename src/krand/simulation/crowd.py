"""The simulated people of a demonstration, in chunks, and their true answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.promise import check_whole
from krand.simulation.population import MAX_PEOPLE, simulated_answers
from krand.survey.layout import Layout, layout_of
from krand.survey.questions import Words
from krand.survey.survey import Survey
from krand.tables.columns import Column, Encoded, encode_columns

Counts = NDArray[np.int64]

Told = Callable[[int], None]
"""Called with the number of people processed since the last call."""

CHUNK = 2**16
"""The most people in memory at a time."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The people who answer a survey; they are the same on every iteration."""

    survey: Survey
    people: int
    seed: int

    def __post_init__(self) -> None:
        check_whole("crowd", self.people, 1, MAX_PEOPLE)

    @property
    def layout(self) -> Layout:
        """The layout of the positions."""
        return layout_of(self.survey)

    def answers(self) -> Iterator[dict[str, Column]]:
        """All answers in chunks; each chunk is drawn from the same distribution."""
        for number, first in enumerate(range(0, self.people, CHUNK)):
            height = min(CHUNK, self.people - first)
            digest = hashlib.sha256(f"people\n{self.seed}\n{number}".encode()).digest()
            yield simulated_answers(self.survey, height, int.from_bytes(digest[:8]))

    def encoded(self, told: Told = lambda _: None) -> Iterator[tuple[Encoded, int]]:
        """The positions that each person sets, in chunks, each with its number of people."""
        layout, left = self.layout, self.people
        for columns in self.answers():
            height = min(CHUNK, left)
            yield encode_columns(layout, columns), height
            left -= height
            told(height)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The true counts, which only a simulation can know."""

    positions: Counts
    """How many people set each position."""
    words: Mapping[str, Mapping[str, int]]
    """How many people name each word, for each question of type words."""


def truth_of(crowd: Crowd, told: Told = lambda _: None) -> Truth:
    """All answers, counted without noise."""
    layout = crowd.layout
    counts = np.zeros(layout.positions, np.int64)
    words: dict[str, dict[str, int]] = {
        question.name: {} for question in crowd.survey.questions if isinstance(question, Words)
    }
    for columns in crowd.answers():
        encoded = encode_columns(layout, columns)
        counts += np.bincount(encoded.positions, minlength=layout.positions)
        for name, known in words.items():
            _add_words(columns[name], known)
        told(next(iter(columns.values())).height)
    return Truth(counts, words)


def _add_words(column: Column, into: dict[str, int]) -> None:
    named = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    for word, count in zip(column.values, named.tolist(), strict=True):
        into[word] = into.get(word, 0) + count
