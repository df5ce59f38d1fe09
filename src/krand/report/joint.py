"""Joint tables as heat maps: cells that hold a number and its interval, shaded by their share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.analysis.joint.tables import JointTable
from krand.analysis.results import JointResult, Results
from krand.report.figures import count, of_confidence

__all__ = ["SHADES", "HeatMap", "JointView", "joint_views"]

SHADES = 9
"""The darkest of the shades that the style sheet has; 0 is none."""
MOST_ROWS, MOST_COLUMNS, MOST_MAPS = 30, 12, 24
SURE = 0.001
"""Below this p-value two questions are called related; below `HINT`, there is weak evidence."""
HINT = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    count: str
    interval: str
    shade: int
    readable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A two-way table."""

    caption: str
    rows_are: str
    columns_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class JointView:
    """Questions seen together."""

    id: str
    title: str
    maps: tuple[HeatMap, ...]
    notes: tuple[str, ...]


def joint_views(results: Results) -> tuple[JointView, ...]:
    """Every joint table of the results."""
    return tuple(_view(f"together-{place}", joint) for place, joint in enumerate(results.joint, 1))


def _view(anchor: str, joint: JointResult) -> JointView:
    table = joint.table
    maps = tuple(itertools.islice(_maps(table), MOST_MAPS))
    return JointView(anchor, " × ".join(table.questions), maps, tuple(_notes(joint)))


def _maps(table: JointTable) -> Iterator[HeatMap]:
    """Two questions are one map; of more, the last two for each answer to the others."""
    counts, narrow = table.consistent, table.readable
    low, high = table.interval.low, table.interval.high
    most = float(np.max(counts))
    for place in itertools.product(*(range(size) for size in counts.shape[:-2])):
        chosen = ", ".join(
            f"{table.questions[axis]} = {table.labels[axis][level]}"
            for axis, level in enumerate(place)
        )
        cells = np.stack([counts[place], low[place], high[place], narrow[place]], axis=-1)
        yield _map(table, chosen, cells, most)


def _map(table: JointTable, chosen: str, cells: Floats, most: float) -> HeatMap:
    """Of every cell its count, both ends of its interval, and whether it can be read."""
    counts = cells[..., 0]
    rows_are, columns_are = table.questions[-2:]
    rows = _shown(counts.sum(axis=1), MOST_ROWS)
    columns = _shown(counts.sum(axis=0), MOST_COLUMNS)
    caption = f"People, with {of_confidence(table.confidence)} confidence intervals"
    if (len(rows), len(columns)) != counts.shape:
        whole = " × ".join(f"{size:,}" for size in counts.shape)
        caption += f"; the most frequent answers of {whole}"
    return HeatMap(
        caption=f"{chosen}. {caption}" if chosen else caption,
        rows_are=rows_are,
        columns_are=columns_are,
        columns=tuple(table.labels[-1][column] for column in columns),
        rows=tuple(
            (
                table.labels[-2][row],
                tuple(_cell(cells[row, c], most) for c in columns),
            )
            for row in rows
        ),
    )


def _shown(totals: Floats, most: int) -> list[int]:
    """All, or the largest, in the order of the table."""
    if len(totals) <= most:
        return list(range(len(totals)))
    return sorted(np.argsort(-totals, kind="stable")[:most].tolist())


def _cell(cell: Floats, most: float) -> Cell:
    value, low, high, narrow = cell.tolist()
    part = value / most if most > 0 else 0.0
    ends = f"{count(low)} to {count(high)}"
    return Cell(count(value), ends, round(SHADES * min(1.0, max(0.0, part))), bool(narrow))


def _notes(joint: JointResult) -> Iterator[str]:
    test = joint.independence
    if len(joint.table.questions) > 2:
        yield "Independence is tested for two questions only."
    elif test is None:
        yield "Independence was not tested: there are too few answers, or too many cells."
    else:
        chance = "less than 0.0001" if test.p_value < 1e-4 else f"{test.p_value:.4f}"
        verdict = _verdict(test.p_value)
        yield (
            f"{verdict} If they were independent, a table at least as uneven as this one would"
            f" occur with a probability of {chance} (chi-square {test.statistic:,.1f},"
            f" {_degrees(test.degrees)} of freedom, noise taken into account)."
        )
        if test.left_out:
            yield f"Left out, because nobody seems to have given them: {', '.join(test.left_out)}."
    sizes = [len(labels) for labels in joint.table.labels[:-2]]
    if int(np.prod(sizes)) > MOST_MAPS:
        yield f"Only the first {MOST_MAPS} tables are shown; the results file has them all."


def _verdict(p_value: float) -> str:
    if p_value < SURE:
        return "The answers to the two questions are related."
    if p_value < HINT:
        return "There is weak evidence that the answers to the two questions are related."
    return "Nothing here shows that the answers to the two questions are related."


def _degrees(number: int) -> str:
    return "1 degree" if number == 1 else f"{number:,} degrees"
