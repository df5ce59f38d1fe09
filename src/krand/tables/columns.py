"""Encodes columns of answers into positions, for many people at once, with mistakes by row.

Each distinct answer is encoded once, by the same functions that encode a single person; the rest is
table lookup. An invalid answer raises no error: a data holder wants to know all invalid rows, and
to stop or to skip them. A row with a mistake sets no position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError, InvalidInput
from krand.survey.encoding import check_names, level_of
from krand.survey.kinds.question import WRONG
from krand.survey.layout import Block, Layout
from krand.survey.questions import Leveled, Number, Question, Scale, Several

SILENT = -1
MOST_DESCRIBED = 100
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
    if column.rows is not None:
        given = np.bincount(column.rows[given], minlength=column.height) > 0
    return int(np.count_nonzero(given))


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


def described(bad: Ints, wrong_answer: Callable[[int], object]) -> tuple[Mistake, ...]:
    """What is wrong with the first invalid rows, as for a single person."""
    found = []
    for row in bad[:MOST_DESCRIBED].tolist():
        try:
            wrong_answer(row)
        except InvalidInput as error:
            found.append(Mistake(row, error))
        else:
            raise InternalError(f"row {row} is invalid in a column but valid for a person")
    return tuple(found)


def encode_columns(layout: Layout, columns: Mapping[str, Column]) -> Encoded:
    """All columns of a table; a question without a column is unanswered by everybody.

    The pairs are sorted by row and position.
    """
    check_names(layout, columns)
    heights = {column.height for column in columns.values()}
    if len(heights) > 1:
        raise InvalidInput("columns", "must have the same number of rows", sorted(heights))
    height = heights.pop() if heights else 0
    given = asked_columns(layout.questions, columns).columns
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
    # A wrong answer to a question of several groups is described once.
    once = {(m.row, str(m.error)): m for part in found for m in part.mistakes}
    mistakes = sorted(once.values(), key=lambda mistake: mistake.row)[:MOST_DESCRIBED]
    return Encoded(rows, positions, bad, tuple(mistakes))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Columns in which nobody answers a question that they were not asked."""

    columns: Mapping[str, Column]
    people: Mapping[str, NDArray[np.bool_]]
    """Who was asked, for each question with a condition."""


def asked_columns(questions: Sequence[Question], columns: Mapping[str, Column]) -> Asked:
    """As `asked_answers` for many people."""
    known = {question.name: question for question in questions}
    kept, people = dict(columns), dict[str, NDArray[np.bool_]]()
    for question in questions:
        condition, own = question.asked_if, kept.get(question.name)
        if condition is None or own is None:
            continue
        gate = kept.get(condition.question)
        asked = np.zeros(own.height, np.bool_)
        if gate is not None:
            asked = _gave(known[condition.question], gate, condition.answers)
        rows = np.arange(own.height) if own.rows is None else own.rows
        kept[question.name] = replace(own, codes=np.where(asked[rows], own.codes, SILENT))
        people[question.name] = asked
    return Asked(kept, people)


def _gave(gate: Question, column: Column, answers: Sequence[str]) -> NDArray[np.bool_]:
    """Who gave one of these answers, and no wrong one."""
    wanted = [gate.place_named(answer) for answer in answers]
    if isinstance(gate, Leveled):
        return np.isin(_levels(gate, column), wanted)
    assert isinstance(gate, Several)  # nothing else is closed
    picked = encode_several("", gate, column)
    found = np.zeros(column.height, np.bool_)
    found[picked.rows[np.isin(picked.positions, wanted)]] = True
    found[picked.bad] = False
    return found


def _encode_block(
    layout: Layout, block: Block, columns: Mapping[str, Column], height: int
) -> Encoded:
    given = [
        columns.get(q.name, Column((), np.full(height, SILENT, np.int64), height))
        for q in block.questions
    ]
    question, column = block.questions[0], given[0]
    if isinstance(question, Several):
        inside = encode_several(layout.survey_id, question, column)
        return replace(inside, positions=block.offset + inside.positions)
    return _encode_levels(block, given)


def _encode_levels(block: Block, columns: Sequence[Column]) -> Encoded:
    """One answer to each question: a choice among their cells; that for no answer has no bit."""
    members = list(zip(block.levels, columns, strict=True))
    levels = [_levels(question, column) for question, column in members]
    wrong = np.logical_or.reduce([part == WRONG for part in levels])
    cells = np.array(block.strides) @ (np.stack(levels) + 1) - 1
    # Alone, a yes_no is one bit: "no" sets nothing.
    rows = np.flatnonzero((cells >= 0) & (cells < block.positions) & ~wrong)
    bad = np.flatnonzero(wrong)

    def wrong_answer(row: int) -> None:
        for question, column in members:
            level_of(question, _value(column, row))

    return Encoded(rows, block.offset + cells[rows], bad, described(bad, wrong_answer))


def _levels(question: Leveled, column: Column) -> Ints:
    """The level of each person's answer, SILENT or WRONG."""
    if isinstance(question, (Number, Scale)) and isinstance(column.values, np.ndarray):
        table = question.levels_of(column.values)
    else:
        table = np.array([_level_or_wrong(question, value) for value in column.values])
    # The code -1 looks up the last entry.
    return np.append(table, SILENT).astype(np.int64)[column.codes]


def _level_or_wrong(question: Leveled, value: object) -> int:
    try:
        level = level_of(question, value)
    except InvalidInput:
        return WRONG
    return SILENT if level is None else level


def _value(column: Column, row: int) -> Any:
    code = column.codes[row]
    value = None if code < 0 else column.values[code]
    return value.item() if isinstance(value, np.generic) else value


def encode_several(survey_id: str, question: Several, column: Column) -> Encoded:
    """Lists of answers: each distinct answer of a row counts once, up to a limit.

    Positions are counted from the first of the question.
    """
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
        question.positions,
    )
    order = np.argsort(rows, kind="stable")
    firsts = np.searchsorted(rows[order], np.arange(column.height + 1))

    def wrong_answer(row: int) -> None:
        items = [column.values[code] for code in codes[order[firsts[row] : firsts[row + 1]]]]
        single = next((item for item in items if isinstance(item, Alone)), None)
        question.encode(survey_id, items if single is None else single.value)

    return Encoded(set_rows, places, bad, described(bad, wrong_answer))


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
    places = tuple(sorted(question.encode(survey_id, answer)))
    return question.identity(word), places
