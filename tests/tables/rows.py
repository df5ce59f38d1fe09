"""What the rows of a table set, one person after the other."""

from __future__ import annotations

from krand.survey.layout import Layout
from krand.tables.answers import Answers
from krand.tables.columns import encode_columns


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
