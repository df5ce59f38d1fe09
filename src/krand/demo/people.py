"""The simulated people of a demonstration, met a chunk at a time, and what they truly say."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from krand.survey.layout import Layout, layout_of
from krand.survey.questions import Words
from krand.survey.rules import raise_first, whole_rules
from krand.survey.survey import Survey
from krand.tables.column import Column, Encoded
from krand.tables.columns import encode_columns
from krand.testing.population import MAX_PEOPLE, simulated_answers

__all__ = ["Crowd", "Told", "Truth", "pieces", "truth_of"]

Counts = NDArray[np.int64]

Told = Callable[[int], None]
"""Told how many more people are done."""

CHUNK = 2**16
"""People who are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """People who answer a survey; whoever asks again meets the same ones."""

    survey: Survey
    people: int
    seed: int

    def __post_init__(self) -> None:
        raise_first(whole_rules(self.people, 1, MAX_PEOPLE, ("population",)))

    @property
    def layout(self) -> Layout:
        """Which position belongs to what."""
        return layout_of(self.survey)

    def answers(self) -> Iterator[dict[str, Column]]:
        """Everybody's answers in chunks: a chunk is a crowd of the same population by itself."""
        for number, first in enumerate(range(0, self.people, CHUNK)):
            height = min(CHUNK, self.people - first)
            yield simulated_answers(self.survey, height, _seed(self.seed, number))

    def encoded(self, told: Told = lambda _: None) -> Iterator[tuple[Encoded, int]]:
        """The positions that everybody sets, in chunks, each with the number of its people."""
        layout, left = self.layout, self.people
        for columns in self.answers():
            height = min(CHUNK, left)
            yield encode_columns(layout, columns), height
            left -= height
            told(height)


def _seed(seed: int, chunk: int) -> int:
    """A seed of its own for each chunk."""
    return int.from_bytes(hashlib.sha256(f"people\n{seed}\n{chunk}".encode()).digest()[:8])


def pieces(encoded: Encoded, people: int, most: int) -> Iterator[tuple[Encoded, int]]:
    """The same people, at most so many at a time."""
    for first in range(0, people, most):
        end = min(first + most, people)
        inside = slice(*np.searchsorted(encoded.rows, [first, end]))
        rows, positions = encoded.rows[inside] - first, encoded.positions[inside]
        yield replace(encoded, rows=rows, positions=positions), end - first


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What nobody but a simulation can know."""

    positions: Counts
    """How many people set each position."""
    words: Mapping[str, Mapping[str, int]]
    """How many people name each word, for questions of type words."""


def truth_of(crowd: Crowd, told: Told = lambda _: None) -> Truth:
    """Everybody's answers, counted without any noise."""
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
