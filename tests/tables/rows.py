"""What the rows of a table set, one person after the other; and tables of plain lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.survey.layout import Layout
from krand.survey.questions import Several
from krand.tables.answers import Answers
from krand.tables.columns import SILENT, Alone, Column, Encoded, encode_columns


def rows_of(answers: Answers, layout: Layout) -> list[tuple[int, ...]]:
    """What each person's row sets; the first wrong answer is raised."""
    sets: list[tuple[int, ...]] = []
    for chunk in answers.chunks:
        assert chunk.first_row == len(sets) + 1
        encoded = encode_columns(layout, chunk.columns)
        for mistake in encoded.mistakes:
            raise mistake.error
        rows = range(chunk.height)
        sets += [tuple(encoded.positions[encoded.rows == row].tolist()) for row in rows]
    return sets


def encode_lists(layout: Layout, answers: Mapping[str, Sequence[Any]]) -> Encoded:
    """`encode_columns` of lists with everybody's answers, as a single person gives them."""
    asked = {question.name: question for question in layout.questions}
    columns = {}
    for name, given in answers.items():
        if isinstance(asked.get(name), Several):
            pairs = [(row, item) for row, answer in enumerate(given) for item in _items(answer)]
            rows = np.array([row for row, _ in pairs], np.int64)
            columns[name] = Column(*_different([item for _, item in pairs]), len(given), rows)
        else:
            columns[name] = Column(*_different(given), len(given))
    return encode_columns(layout, columns)


def _items(answer: object) -> Iterable[object]:
    if isinstance(answer, (list, tuple, set, frozenset)):
        return answer
    return () if answer is None else (Alone(answer),)


def _different(given: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
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
