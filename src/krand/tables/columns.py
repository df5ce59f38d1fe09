"""Encodes columns of answers into positions, for many people at once, with mistakes by row.

Each distinct answer is encoded once, by the same functions that encode a single person; the rest is
table lookup. An invalid answer raises no error: a data holder wants to know all invalid rows, and
to stop or to skip them. A row with a mistake sets no position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError, InvalidInput
from krand.survey.encoding import check_names, level_of
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind, Leveled, Several
from krand.tables.column import MOST_TOLD, SILENT, WRONG, Column, Encoded, Mistake, column_of, told
from krand.tables.column_lists import encode_several

__all__ = ["encode_columns"]

Ints = NDArray[np.int64]


def encode_columns(
    layout: Layout, columns: Mapping[str, Column | Sequence[Any] | NDArray[Any]]
) -> Encoded:
    """All columns of a table; a question without a column is unanswered by everybody.

    The pairs are sorted by row and position.
    """
    check_names(layout, columns)
    asked = {q.name: q for block in layout.blocks for q in block.questions}
    given = {name: column_of(asked[name], values) for name, values in columns.items()}
    height = _height(given.values())
    found = [_encode_block(layout, block, given, height) for block in layout.blocks]
    empty = np.empty(0, np.int64)
    bad = np.unique(np.concatenate([empty, *(part.bad for part in found)]))
    rows = np.concatenate([empty, *(part.rows for part in found)])
    positions = np.concatenate([empty, *(part.positions for part in found)])
    if bad.size:
        right = ~np.isin(rows, bad)
        rows, positions = rows[right], positions[right]
    # A stable sort is fast for data that is already sorted in pieces.
    keys = np.sort(rows * layout.positions + positions, kind="stable")
    rows, positions = np.divmod(keys, layout.positions)
    return Encoded(rows, positions, bad, _sorted_mistakes(found))


def _sorted_mistakes(found: Iterable[Encoded]) -> tuple[Mistake, ...]:
    """By row; a wrong answer to a question of several groups is told once."""
    told_once = {(m.row, str(m.error)): m for part in found for m in part.mistakes}
    return tuple(sorted(told_once.values(), key=lambda mistake: mistake.row)[:MOST_TOLD])


def _height(columns: Iterable[Column]) -> int:
    """The number of rows, which all columns must share."""
    heights = {column.height for column in columns}
    if len(heights) > 1:
        raise InvalidInput("columns", "must have the same number of rows", sorted(heights))
    return heights.pop() if heights else 0


def _encode_block(
    layout: Layout, block: Block, columns: Mapping[str, Column], height: int
) -> Encoded:
    given = [
        columns.get(q.name, Column((), np.full(height, SILENT, np.int64), height))
        for q in block.questions
    ]
    if block.kind is Kind.TOGETHER:
        return _encode_group(block, given)
    (question,), (column,) = block.questions, given
    if isinstance(question, Leveled):
        return _encode_levels(block, question, column)
    if isinstance(question, Several):
        return encode_several(layout.survey_id, block, question, column)
    raise InternalError(f"no encoding for {question!r}")


def _encode_levels(block: Block, question: Leveled, column: Column) -> Encoded:
    levels = _levels(question, column)
    # Alone, a yes_no is one bit: "no" sets nothing.
    set_rows = np.flatnonzero((levels >= 0) & (levels < block.positions))
    bad = np.flatnonzero(levels == WRONG)
    mistakes = told(bad, lambda row: level_of(question, _value(column, row)))
    return Encoded(set_rows, block.offset + levels[set_rows], bad, mistakes)


def _encode_group(block: Block, columns: Sequence[Column]) -> Encoded:
    """One choice among the cells; the cell for no answer has no bit."""
    members = list(zip(block.levels, columns, strict=True))
    levels = [_levels(question, column) for question, column in members]
    wrong = np.logical_or.reduce([part == WRONG for part in levels])
    digits = np.stack(levels) + 1
    cells = np.array(block.strides) @ digits - 1
    rows = np.flatnonzero((cells >= 0) & ~wrong)
    bad = np.flatnonzero(wrong)

    def wrong_answer(row: int) -> None:
        for question, column in members:
            level_of(question, _value(column, row))

    return Encoded(rows, block.offset + cells[rows], bad, told(bad, wrong_answer))


def _levels(question: Leveled, column: Column) -> Ints:
    """The level of each person's answer, SILENT or WRONG."""
    if isinstance(column.values, np.ndarray):
        table = question.levels_of(column.values)
    else:
        table = np.array([_or_wrong(level_of, question, value) for value in column.values])
    # The code -1 looks up the last entry.
    return np.append(table, SILENT).astype(np.int64)[column.codes]


def _or_wrong(encode: Callable[..., int | None], *arguments: object) -> int:
    try:
        level = encode(*arguments)
    except InvalidInput:
        return WRONG
    return SILENT if level is None else level


def _value(column: Column, row: int) -> Any:
    code = column.codes[row]
    value = None if code < 0 else column.values[code]
    return value.item() if isinstance(value, np.generic) else value
