"""Turns Arrow arrays into columns of answers, in which each distinct answer is stored once.

The same answer is read in the same way from CSV, Parquet and data frames. Programs write whole
numbers as 1, "1", 1.0 or "1.0", depending on the rest of the column, and NaN for a missing value.
An ambiguous value is an invalid answer; krand does not guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.survey.kinds.question import MISSING, is_nan
from krand.survey.questions import Leveled, Question, Several
from krand.tables.columns import SILENT, Alone, Column

SEPARATOR = ";"
"""Separates the answers of a list that is written as one text."""


def from_arrow(question: Question, given: pa.Array, separator: str = SEPARATOR) -> Column:
    """A column of any type; answers that do not fit are invalid, row by row."""
    kind = given.type
    try:
        return _column(question, _simple(given), separator)
    except UnicodeDecodeError:
        raise InvalidInput(question.name, "must be a column of UTF-8 text", str(kind)) from None
    except pa.ArrowException:
        rule = "must be a column of texts, numbers or truth values"
        raise InvalidInput(question.name, rule, str(kind)) from None


def _column(question: Question, given: pa.Array, separator: str) -> Column:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if any(test(given.type) for test in tests):
        if isinstance(question, Leveled):
            rule = "must be a column with one answer in each row"
            raise InvalidInput(question.name, rule, str(given.type))
        return _lists(question, given)
    if isinstance(question, Leveled) and question.numeric:
        return _numbers(given)
    if isinstance(question, Several) and question.separated:
        return _separated(question, given, separator)
    values, codes = _different(given, question.read_cell)
    if isinstance(question, Several):
        values = [Alone(value) for value in values]
    return Column(values, codes, len(given))


def _simple(given: pa.Array) -> pa.Array:
    """The same values in the simplest Arrow type that can hold them."""
    if isinstance(given, pa.ExtensionArray):
        given = given.storage
    if pa.types.is_dictionary(given.type):
        given = given.dictionary_decode()
    if pa.types.is_run_end_encoded(given.type):
        given = pc.run_end_decode(given)
    if pa.types.is_string(given.type):
        return given
    kind = given.type
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return given.cast(pa.large_string())
    if pa.types.is_float16(given.type):
        return given.cast(pa.float32())
    return given


def _is_text(kind: pa.DataType) -> bool:
    views = getattr(pa.types, "is_string_view", lambda _: False)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or bool(views(kind))


def _numbers(given: pa.Array) -> Column:
    """Numbers are mostly distinct, so they are used directly."""
    if _is_text(given.type):
        try:
            return _numbers(pc.utf8_trim_whitespace(given).cast(pa.float64()))
        except pa.ArrowInvalid:  # some are not numbers: find out which
            return Column(*_different(given, _number), len(given))
    if pa.types.is_decimal(given.type):
        given = given.cast(pa.float64(), safe=False)
    if not pa.types.is_floating(given.type):  # whole numbers stay exact, other types are invalid
        return Column(*_different(given), len(given))
    numbers = given.cast(pa.float64())
    values = pc.fill_null(numbers, math.nan).to_numpy(zero_copy_only=False)
    codes = np.where(np.isnan(values), SILENT, np.arange(len(given)))
    return Column(values, codes, len(given))


def _number(text: str) -> float | str | None:
    """The number; or the text, which may name a range and is otherwise an invalid answer."""
    trimmed = text.strip()
    if not trimmed or trimmed.casefold() in MISSING:
        return None
    try:
        found: float = pa.scalar(trimmed).cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return trimmed
    return None if found != found else found


def _separated(question: Several, given: pa.Array, separator: str) -> Column:
    """Lists that are written as one text."""
    if torn := question.torn_by(separator):
        rule = f"must not occur in a choice of {question.name}, such as {torn!r}"
        hint = "use another one in the table and name it: separator='|'"
        raise InvalidInput("separator", rule, separator, hint)
    if not _is_text(given.type):
        values, codes = _different(given, question.read_cell)
        texts = pa.array([str(value) for value in values], pa.string())
        given = texts.take(pa.array(codes, mask=codes == SILENT))
    parts = pc.split_pattern(given, separator)
    trimmed = pc.utf8_trim_whitespace(parts.flatten())
    lists = type(parts).from_arrays(parts.offsets, trimmed, mask=given.is_null())
    return _lists(question, lists)


def _different(
    given: pa.Array, read: Callable[[Any], Any] = lambda value: None if is_nan(value) else value
) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct answers, and the code of each person's answer; SILENT for none."""
    if pa.types.is_null(given.type):
        return [], np.full(len(given), SILENT, np.int64)
    encoded = given.dictionary_encode()
    codes = pc.fill_null(encoded.indices.cast(pa.int64()), SILENT)
    values = [read(value) for value in _listed(encoded.dictionary)]
    silent = np.array([value is None for value in values] + [True])  # the code -1 is the last
    found = codes.to_numpy(zero_copy_only=False)
    return values, np.where(silent[found], SILENT, found)


def _listed(values: pa.Array) -> list[Any]:
    """The values as Python objects; dates and times that Python cannot represent are invalid."""
    try:
        found: list[Any] = values.to_pylist()
    except OverflowError as error:
        raise pa.ArrowInvalid(str(error)) from None
    return found


def _lists(question: Question, given: pa.Array) -> Column:
    rows = pc.list_parent_indices(given).to_numpy(zero_copy_only=False).astype(np.int64)
    values, codes = _different(_simple(pc.list_flatten(given)), question.read_cell)
    return Column(values, codes, len(given), rows)
