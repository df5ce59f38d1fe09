"""Columns of questions that take several answers: picks and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.survey.encoding import answer_positions
from krand.survey.layout import Block
from krand.survey.questions import Several
from krand.tables.column import WRONG, Alone, Column, Encoded, told

__all__ = ["encode_several"]

Ints = NDArray[np.int64]


def encode_several(survey_id: str, block: Block, question: Several, column: Column) -> Encoded:
    """Lists of answers: each distinct answer of a row counts once, up to a limit."""
    own = column.codes >= 0
    codes = column.codes[own]
    rows = np.flatnonzero(own) if column.rows is None else column.rows[own]
    names, positions = _identified(survey_id, question, column.values)
    wrong = names[codes] == WRONG
    people, found = _pairs(rows[~wrong], names[codes[~wrong]], max(1, len(positions)))
    named, counts = np.unique(people, return_counts=True)
    bad = np.union1d(rows[wrong], named[counts > question.most_answers])
    lengths = np.array([len(places) for places in positions], np.int64)
    starts = np.cumsum(lengths) - lengths
    flat = np.array([place for places in positions for place in places], np.int64)
    set_rows, places = _pairs(
        np.repeat(people, lengths[found]),
        flat[_ranges(starts[found], lengths[found])],
        block.positions,
    )
    order = np.argsort(rows, kind="stable")
    firsts = np.searchsorted(rows[order], np.arange(column.height + 1))

    def wrong_answer(row: int) -> None:
        items = [column.values[code] for code in codes[order[firsts[row] : firsts[row + 1]]]]
        single = next((item for item in items if isinstance(item, Alone)), None)
        answer_positions(survey_id, question, items if single is None else single.value)

    return Encoded(set_rows, block.offset + places, bad, told(bad, wrong_answer))


def _pairs(rows: Ints, items: Ints, kinds: int) -> tuple[Ints, Ints]:
    """The distinct pairs, sorted; a pair is one number, because that sorts ten times as fast."""
    keys = np.sort(rows * kinds + items)
    keys = keys[np.append(True, keys[1:] != keys[:-1])] if keys.size else keys
    return np.divmod(keys, kinds)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1, … for each start, end to end."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum(), dtype=np.int64)


def _identified(
    survey_id: str, question: Several, values: Sequence[Any] | NDArray[Any]
) -> tuple[Ints, list[tuple[int, ...]]]:
    """The index of each answer, or WRONG; and the positions that each distinct answer sets."""
    names: list[int] = []
    known: dict[Any, int] = {}
    positions: list[tuple[int, ...]] = []
    for value in values:
        try:
            key, places = _one_of_several(survey_id, question, value)
        except InvalidInput:
            names.append(WRONG)
            continue
        if key not in known:
            known[key] = len(positions)
            positions.append(places)
        names.append(known[key])
    return np.array(names, np.int64), positions


def _one_of_several(
    survey_id: str, question: Several, value: object
) -> tuple[Any, tuple[int, ...]]:
    word = value.value if isinstance(value, Alone) else value
    answer = word if isinstance(value, Alone) else [word]  # a single word need not be in a list
    places = tuple(sorted(answer_positions(survey_id, question, answer)))
    return question.identity(word), places
