"""A column of answers, each different one written down once; and what encoding makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError, InvalidInput
from krand.survey.kinds.question import WRONG
from krand.survey.questions import Question, Several

__all__ = [
    "MOST_TOLD",
    "SILENT",
    "WRONG",
    "Alone",
    "Column",
    "Encoded",
    "Mistake",
    "answered",
    "column_of",
    "told",
]

SILENT = -1
MOST_TOLD = 100
"""Mistakes that are told in words; the others are only counted."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alone:
    """An answer that should have been a list of answers."""

    value: object


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The answers of many people to one question, each different one written down once."""

    values: Sequence[Any] | NDArray[np.float64]
    """The different answers; numbers may come as they are."""
    codes: Ints
    """Which of them was given; -1 is no answer."""
    height: int
    rows: Ints | None = None
    """Whose answer each code is, where people may give several; else the first is the first's."""


def answered(column: Column) -> int:
    """How many people gave an answer, right or wrong."""
    given = column.codes >= 0
    if column.rows is None:
        return int(np.count_nonzero(given))
    return len(np.unique(column.rows[given]))


def column_of(question: Question, answers: Column | Sequence[Any] | NDArray[Any]) -> Column:
    """Any sequence of the answers that `encode` takes, or an array, as a column."""
    if isinstance(answers, Column):
        return answers
    given = answers.tolist() if isinstance(answers, np.ndarray) else list(answers)
    if not isinstance(question, Several):
        return Column(*_different(given), len(given))
    pairs = [(row, item) for row, answer in enumerate(given) for item in _items(answer)]
    rows = np.array([row for row, _ in pairs], np.int64)
    return Column(*_different([item for _, item in pairs]), len(given), rows)


def _items(answer: object) -> Iterable[object]:
    if isinstance(answer, (list, tuple, set, frozenset)):
        return answer
    return () if answer is None else (Alone(answer),)


def _different(given: Sequence[Any]) -> tuple[list[Any], Ints]:
    values: list[Any] = []
    places: dict[Any, int] = {}
    codes = np.full(len(given), SILENT, np.int64)
    for index, value in enumerate(given):
        if value is None:
            continue
        try:  # with its type: 1, 1.0 and True are equal, but not the same answer
            place = places.setdefault((type(value), value), len(values))
        except TypeError:  # what cannot be looked up is wrong, and stands for itself
            place = len(values)
        if place == len(values):
            values.append(value)
        codes[index] = place
    return values, codes


@dataclass(frozen=True, slots=True)
class Mistake:
    """An answer that does not fit its question; `error.field` names the column."""

    row: int
    error: InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Pairs (row, position) of everything that is set, and the rows that could not be read."""

    rows: Ints
    positions: Ints
    bad: Ints
    """All rows with a mistake, in rising order."""
    mistakes: tuple[Mistake, ...]
    """What is wrong, for the first of them."""


def told(bad: Ints, wrong_answer: Callable[[int], object]) -> tuple[Mistake, ...]:
    """What is wrong with the first bad rows, in the words that a single person would get."""
    return tuple(_mistakes(bad[:MOST_TOLD].tolist(), wrong_answer))


def _mistakes(rows: Iterable[int], wrong_answer: Callable[[int], object]) -> Iterator[Mistake]:
    for row in rows:
        try:
            wrong_answer(row)
        except InvalidInput as error:
            yield Mistake(row, error)
        else:
            raise InternalError(f"row {row} is wrong in a column but right for a person")
