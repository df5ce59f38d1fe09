"""From columns of answers to positions: many people at once, mistakes by row.

A column is any sequence of the answers that `encode` takes, or an array. Nothing is raised for a
wrong answer: a data holder wants to know all bad rows, and to stop or to skip them. A row with a
mistake sets no position at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.survey.encoding import answer_positions, cell_of, check_names, level_of
from krand.survey.layout import Block, Layout
from krand.survey.questions import Kind

__all__ = ["Encoded", "Mistake", "encode_block", "encode_column", "encode_columns"]

Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Mistake:
    """An answer that does not fit its question; `error.field` names the column."""

    row: int
    error: InvalidInput


@dataclass(frozen=True, slots=True)
class Encoded:
    """Pairs (row, position) of everything that is set, and the rows that could not be read."""

    rows: NDArray[np.int64]
    positions: NDArray[np.int64]
    mistakes: tuple[Mistake, ...]


def encode_column(layout: Layout, question: str, values: Column) -> Encoded:
    """One column: the answers to a question that is in no group."""
    block = layout.block_of(question)
    if block.kind is Kind.TOGETHER:
        mend = "encode_block takes the columns of the whole group"
        raise InvalidInput("question", f"must not be in a group, {block.name}", question, mend)
    return encode_block(layout, block, {question: values})


def encode_block(layout: Layout, block: Block, columns: Mapping[str, Column]) -> Encoded:
    """The columns of one block; a question without a column is unanswered by everybody."""
    rows: list[int] = []
    positions: list[int] = []
    mistakes: list[Mistake] = []
    for row, answers in enumerate(_rows(block, columns)):
        try:
            found = _positions(layout, block, answers)
        except InvalidInput as error:
            mistakes.append(Mistake(row, error))
            continue
        rows.extend([row] * len(found))
        positions.extend(found)
    placed = np.array(positions, dtype=np.int64) + block.offset
    return Encoded(np.array(rows, dtype=np.int64), placed, tuple(mistakes))


def encode_columns(layout: Layout, columns: Mapping[str, Column]) -> Encoded:
    """All columns of a table, sorted by row and position."""
    check_names(layout, columns)
    _height(columns.values())
    parts = [
        encode_block(layout, block, columns)
        for block in layout.blocks
        if any(name in columns for name in block.question_names)
    ]
    mistakes = sorted((m for part in parts for m in part.mistakes), key=lambda m: m.row)
    empty = np.empty(0, dtype=np.int64)
    rows = np.concatenate([empty, *(part.rows for part in parts)])
    positions = np.concatenate([empty, *(part.positions for part in parts)])
    right = ~np.isin(rows, [mistake.row for mistake in mistakes])
    rows, positions = rows[right], positions[right]
    order = np.lexsort((positions, rows))
    return Encoded(rows[order], positions[order], tuple(mistakes))


def _height(columns: Iterable[Column]) -> int:
    """The number of rows, which all columns must share."""
    heights = {len(column) for column in columns}
    if len(heights) > 1:
        raise InvalidInput("columns", "must have the same number of rows", sorted(heights))
    return heights.pop() if heights else 0


def _rows(block: Block, columns: Mapping[str, Column]) -> Iterator[tuple[Any, ...]]:
    """The answers of one person after the other, in the order of the block's questions."""
    given = {name: columns[name] for name in block.question_names if name in columns}
    silent = [None] * _height(given.values())
    return zip(*(_plain(given.get(name, silent)) for name in block.question_names), strict=True)


def _plain(values: Column) -> Sequence[Any]:
    """Python's own values: arrays hold their own kinds of numbers and truth."""
    return values.tolist() if isinstance(values, np.ndarray) else values


def _positions(layout: Layout, block: Block, answers: tuple[Any, ...]) -> Sequence[int]:
    if block.kind is Kind.TOGETHER:
        pairs = zip(block.levels, answers, strict=True)
        cell = cell_of(block, [level_of(question, answer) for question, answer in pairs])
        return () if cell is None else (cell,)
    return sorted(answer_positions(layout.survey_id, block.questions[0], answers[0]))
