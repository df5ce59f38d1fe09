"""A column of answers, in which each distinct answer is stored once, and its encoding."""

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
"""The most mistakes that are described; the others are only counted."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alone:
    """An answer that should have been a list of answers."""

    value: object


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The answers of many people to one question; each distinct answer is stored once."""

    values: Sequence[Any] | NDArray[np.float64]
    """The distinct answers; numbers may be stored directly."""
    codes: Ints
    """The index of each given answer; -1 means no answer."""
    height: int
    rows: Ints | None = None
    """The row of each code, if people may give several answers; otherwise one code per row."""


def answered(column: Column) -> int:
    """How many people gave an answer, valid or not."""
    given = column.codes >= 0
    if column.rows is None:
        return int(np.count_nonzero(given))
    return len(np.unique(column.rows[given]))


def column_of(question: Question, answers: Column | Sequence[Any] | NDArray[Any]) -> Column:
    """A column of a sequence or array of answers that `encode` accepts."""
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
        try:  # with its type: 1, 1.0 and True are equal, but are different answers
            place = places.setdefault((type(value), value), len(values))
        except TypeError:  # an unhashable value is invalid, and is stored separately
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
    """Pairs (row, position) of all set bits, and the invalid rows."""

    rows: Ints
    positions: Ints
    bad: Ints
    """All rows with a mistake, in rising order."""
    mistakes: tuple[Mistake, ...]
    """What is wrong, for the first of them."""


def told(bad: Ints, wrong_answer: Callable[[int], object]) -> tuple[Mistake, ...]:
    """What is wrong with the first invalid rows, as for a single person."""
    return tuple(_mistakes(bad[:MOST_TOLD].tolist(), wrong_answer))


def _mistakes(rows: Iterable[int], wrong_answer: Callable[[int], object]) -> Iterator[Mistake]:
    for row in rows:
        try:
            wrong_answer(row)
        except InvalidInput as error:
            yield Mistake(row, error)
        else:
            raise InternalError(f"row {row} is invalid in a column but valid for a person")
