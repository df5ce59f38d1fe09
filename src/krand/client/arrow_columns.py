"""From Arrow's arrays to columns of answers: each different answer is written down once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.survey.column import SILENT, Alone, Column
from krand.survey.questions import Leveled, Number, PickAny, Question, Words, YesNo

__all__ = ["from_arrow", "from_text"]

TRUTH = {"true": True, "false": False}


def from_arrow(question: Question, given: pa.Array) -> Column:
    """A column of whatever type; types that do not fit end up as wrong answers, row by row."""
    if pa.types.is_dictionary(given.type):
        given = given.dictionary_decode()
    if _is_list(given.type):
        if isinstance(question, Leveled):
            rule = "must be a column with one answer in each row"
            raise InvalidInput(question.name, rule, str(given.type))
        return _lists(given)
    if pa.types.is_floating(given.type) and isinstance(question, Number):
        return _numbers(given)
    values, codes = _different(given)
    if isinstance(question, (PickAny, Words)):
        values = [Alone(value) for value in values]
    return Column(values, codes, len(given))


def from_text(question: Question, given: pa.StringArray, separator: str) -> Column:
    """A column of a text file, where everything is text and lists are told by a separator."""
    match question:
        case Number():
            return _numbers_in_text(given)
        case YesNo():
            values, codes = _different(given)
            return Column([TRUTH.get(text.lower(), text) for text in values], codes, len(given))
        case PickAny() | Words() if isinstance(question, PickAny) or question.at_most > 1:
            parts = pc.split_pattern(given, separator)
            trimmed = pc.utf8_trim_whitespace(parts.flatten())
            return _lists(pa.ListArray.from_arrays(parts.offsets, trimmed, mask=given.is_null()))
    return from_arrow(question, given)


def _numbers_in_text(given: pa.StringArray) -> Column:
    try:
        return _numbers(given.cast(pa.float64()))
    except pa.ArrowInvalid:  # some are no numbers: find out which
        values, codes = _different(given)
        return Column([_number(text) for text in values], codes, len(given))


def _number(text: str) -> float | str:
    """The number, or the text again, which is then a wrong answer."""
    try:
        found: float = pa.scalar(text).cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return text
    return found


def _numbers(given: pa.Array) -> Column:
    """Numbers are mostly different, so that they are taken as they are."""
    silent = given.is_null().to_numpy(zero_copy_only=False)
    values = pc.fill_null(given.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
    codes = np.where(silent, SILENT, np.arange(len(given)))
    return Column(values, codes, len(given))


def _different(given: pa.Array) -> tuple[list[Any], NDArray[np.int64]]:
    if pa.types.is_null(given.type):
        return [], np.full(len(given), SILENT, np.int64)
    encoded = given.dictionary_encode()
    codes = pc.fill_null(encoded.indices.cast(pa.int64()), SILENT)
    return encoded.dictionary.to_pylist(), codes.to_numpy(zero_copy_only=False)


def _lists(given: pa.Array) -> Column:
    rows = pc.list_parent_indices(given).to_numpy(zero_copy_only=False).astype(np.int64)
    values, codes = _different(pc.list_flatten(given))
    return Column(values, codes, len(given), rows)


def _is_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)
