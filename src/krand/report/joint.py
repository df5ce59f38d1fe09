"""How answers relate: the answers to one by the answers to the other, and counts of people.

Shares of a row are among those who gave its answer and answered both questions; each row has a tint
of its own. Of more than two questions there are counts alone, as heat maps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.analysis.group_differences import GroupDifference, group_differences
from krand.analysis.joint.conditional import ConditionalShare, ConditionalTable
from krand.analysis.joint.independence import IndependenceTest
from krand.analysis.joint.tables import JointTable
from krand.analysis.results import JointResult, Results
from krand.promise import READABLE
from krand.report.answers import share_ends
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.wording.number_format import heading
from krand.wording.phrases import some_people

SHADES = 9
"""The darkest of the shades that the style sheet has; 0 is none."""
MOST_ROWS, MOST_COLUMNS, MOST_MAPS = 30, 12, 24
SURE = 0.001
"""Below this p-value two questions are called related; below `HINT`, there is weak evidence."""
HINT = 0.05
MOST_GROUPS = 3
"""Of more groups the differences between any two are not shown."""
P_DECIMALS = 4
"""Decimals of a p-value; a smaller one is said to be less than the last of them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; `share` of a row in percent, for its bar where there is no room for a table."""

    text: str
    interval: str
    shade: int
    readable: bool = True
    share: float = 0.0


Row = tuple[str, tuple[Cell, ...]]
Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A two-way table of people."""

    caption: str
    rows_are: str
    columns_are: str
    columns: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """The answers to one question for each answer to the other, as shares of the rows."""

    summary: str
    caption: str
    given: str
    columns: tuple[str, ...]
    rows: Rows
    """Everybody first, differences between groups last."""

    @property
    def grey(self) -> bool:
        """Whether a cell cannot be read."""
        return not all(cell.readable for _, cells in self.rows for cell in cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointView:
    """How answers relate."""

    id: str
    title: str
    crossed: tuple[Crossed, ...]
    """By the first question, and by the second; none for more than two questions."""
    maps: tuple[HeatMap, ...]
    most: str
    """The number of people that the strongest colour stands for."""
    verdict: str
    notes: tuple[str, ...]
    """About counts, and how the verdict was found."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A joint table with the answers as the report names them."""

    results: Results
    table: JointTable
    labels: tuple[tuple[str, ...], ...]
    titles: tuple[str, ...]
    """The questions, with the units of numbers."""
    language: Language


def joint_views(results: Results, labels: Labels, language: Language) -> tuple[JointView, ...]:
    """Every joint table of the results."""
    texts = {question.name: question.text for question in results.plan.survey.questions}
    found = []
    for place, joint in enumerate(results.joint, 1):
        titles = tuple(
            heading(texts.get(name) or name, labels.unit(name)) for name in joint.table.questions
        )
        shown = _Shown(results, joint.table, _named(joint.table, labels), titles, language)
        found.append(_view(f"together-{place}", joint, shown))
    return tuple(found)


def _named(table: JointTable, labels: Labels) -> tuple[tuple[str, ...], ...]:
    """The answers of every axis, silence last."""
    axes = zip(table.questions, table.labels, table.answers, strict=True)
    return tuple(labels.axis(*each) for each in axes)


def _view(anchor: str, joint: JointResult, shown: _Shown) -> JointView:
    return JointView(
        id=anchor,
        title=" × ".join(shown.titles),
        crossed=tuple(_crossed(table, axis, shown) for axis, table in enumerate(joint.given)),
        maps=tuple(itertools.islice(_maps(shown), MOST_MAPS)),
        most=shown.language.numbers.count(float(np.max(joint.table.consistent))),
        verdict=_verdict(joint, shown.language),
        notes=tuple(_notes(joint, shown)),
    )


def _crossed(table: ConditionalTable, axis: int, shown: _Shown) -> Crossed:
    """The most frequent answers, as in the map of the same questions."""
    own, titles = shown.language.texts.joint, shown.titles
    rows = _shown_of(shown, axis, MOST_ROWS)
    columns = _shown_of(shown, 1 - axis, MOST_COLUMNS)
    named = {"question": titles[1 - axis], "given": titles[axis]}
    confidence = shown.language.numbers.confidence(table.confidence)
    groups = (
        (shown.labels[axis][row], [table.groups[row][column] for column in columns]) for row in rows
    )
    told = ((label, _share_cells(shares, shown.language)) for label, shares in groups)
    return Crossed(
        summary=own.given.format(**named),
        caption=own.given_caption.format(**named, confidence=confidence),
        given=titles[axis],
        columns=tuple(shown.labels[1 - axis][column] for column in columns),
        rows=(
            (own.everybody, _everybody(axis, columns, shown)),
            *told,
            *_apart(axis, rows, columns, shown),
        ),
    )


def _everybody(axis: int, columns: list[int], shown: _Shown) -> tuple[Cell, ...]:
    """The same shares among all who answered both questions."""
    rows, across = shown.table.answers
    totals = shown.table.consistent[:rows, :across].sum(axis=axis)
    whole, numbers = float(totals.sum()), shown.language.numbers
    shares = [float(totals[column]) / whole if whole > 0 else 0.0 for column in columns]
    return tuple(
        Cell(numbers.with_percent(numbers.share(share, 0)), "", shade, share=round(100 * share, 2))
        for share, shade in zip(shares, _shades(shares), strict=True)
    )


def _apart(axis: int, rows: list[int], columns: list[int], shown: _Shown) -> Iterator[Row]:
    """By how much few groups differ, each from each other; nothing of groups that may be empty."""
    if len(rows) > MOST_GROUPS:
        return
    pairs: dict[tuple[int, int], dict[int, Cell]] = {}
    for found in group_differences(shown.results, shown.table, axis):
        pairs.setdefault(found.groups, {})[found.answer] = _difference_cell(found, shown.language)
    names = shown.labels[axis]
    for (first, second), cells in pairs.items():
        yield f"{names[second]} − {names[first]}", tuple(cells[column] for column in columns)


def _difference_cell(found: GroupDifference, language: Language) -> Cell:
    own, numbers, interval = language.texts.joint, language.numbers, found.interval
    digits = numbers.decimals(100 * interval.low, 100 * interval.high)
    low, high, shown = (
        ("+" if share > 0 else "") + numbers.share(share, digits)
        for share in (interval.low, interval.high, found.shown)
    )
    ends = language.texts.answers.ends.format(low=low, high=high)
    readable = interval.high - interval.low <= 2 * READABLE
    return Cell(own.points.format(number=shown), ends, 0, readable)


def _shades(shares: Sequence[float]) -> list[int]:
    """The tints of a row: the strongest one for its largest share."""
    most = max(shares, default=0.0)
    return [round(SHADES * max(0.0, share) / most) if most > 0 else 0 for share in shares]


def _shown_of(shown: _Shown, axis: int, most: int) -> list[int]:
    """The answers of an axis that are shown; "unanswered" is none of them."""
    totals = shown.table.consistent.sum(axis=1 - axis)
    return _shown(totals[: shown.table.answers[axis]], most)


def _share_cells(shares: Sequence[ConditionalShare], language: Language) -> tuple[Cell, ...]:
    own, numbers = language.texts.joint, language.numbers
    tints = _shades([share.consistent or 0.0 for share in shares])
    cells = []
    for found, shade in zip(shares, tints, strict=True):
        low, high, share = found.interval.low, found.interval.high, found.consistent
        digits = numbers.decimals(100 * low, 100 * high)
        ends = share_ends(low, high, digits, language)
        if share is None:
            cells.append(Cell(own.nobody, ends, 0, readable=False))
            continue
        said, readable = numbers.with_percent(numbers.share(share, digits)), high - low
        cells.append(Cell(said, ends, shade, readable / 2 <= READABLE, round(100 * share, 2)))
    return tuple(cells)


def _maps(shown: _Shown) -> Iterator[HeatMap]:
    """Two questions are one map; of more, the last two for each answer to the others."""
    table, chosen = shown.table, shown.language.texts.joint.chosen
    counts, narrow = table.consistent, table.readable
    low, high = table.interval.low, table.interval.high
    most = float(np.max(counts))
    for place in itertools.product(*(range(size) for size in counts.shape[:-2])):
        answers = ", ".join(
            chosen.format(question=shown.titles[axis], answer=shown.labels[axis][level])
            for axis, level in enumerate(place)
        )
        cells = np.stack([counts[place], low[place], high[place], narrow[place]], axis=-1)
        yield _map(shown, answers, cells, most)


def _map(shown: _Shown, chosen: str, cells: Floats, most: float) -> HeatMap:
    """Of every cell its count, both ends of its interval, and whether it can be read."""
    counts = cells[..., 0]
    rows_are, columns_are = shown.titles[-2:]
    rows = _shown(counts.sum(axis=1), MOST_ROWS)
    columns = _shown(counts.sum(axis=0), MOST_COLUMNS)
    whole = (len(rows), len(columns)) == counts.shape
    return HeatMap(
        caption=_caption(shown, chosen, () if whole else counts.shape),
        rows_are=rows_are,
        columns_are=columns_are,
        columns=tuple(shown.labels[-1][column] for column in columns),
        rows=tuple(
            (
                shown.labels[-2][row],
                tuple(_cell(cells[row, c], most, shown.language) for c in columns),
            )
            for row in rows
        ),
    )


def _caption(shown: _Shown, chosen: str, sizes: tuple[int, ...]) -> str:
    """What a map shows; `sizes` of the table, if it does not show all of it."""
    own, numbers = shown.language.texts.joint, shown.language.numbers
    caption = (own.caption_many if sizes else own.caption).format(
        confidence=numbers.confidence(shown.table.confidence),
        sizes=" × ".join(map(numbers.whole, sizes)),
    )
    return own.caption_of.format(chosen=chosen, caption=caption) if chosen else caption


def _shown(totals: Floats, most: int) -> list[int]:
    """All, or the largest, in the order of the table."""
    if len(totals) <= most:
        return list(range(len(totals)))
    return sorted(np.argsort(-totals, kind="stable")[:most].tolist())


def _cell(cell: Floats, most: float, language: Language) -> Cell:
    value, low, high, narrow = cell.tolist()
    part, count = value / most if most > 0 else 0.0, language.numbers.count
    ends = language.texts.answers.ends.format(low=count(low), high=count(high))
    return Cell(count(value), ends, round(SHADES * min(1.0, max(0.0, part))), bool(narrow))


def _verdict(joint: JointResult, language: Language) -> str:
    own, test = language.texts.joint, joint.independence
    if len(joint.table.questions) > 2:
        return own.only_two
    if test is None:
        return own.not_tested
    chance = test.p_value
    return own.related if chance < SURE else own.perhaps if chance < HINT else own.unrelated


def _notes(joint: JointResult, shown: _Shown) -> Iterator[str]:
    own, test = shown.language.texts.joint, joint.independence
    if joint.table.drowns:
        shared, table = shown.language.shared, joint.table
        yield own.drowns.format(
            margin=some_people(table.half_width, shared),
            average=some_people(table.people / table.counts.size, shared),
        )
    if test is not None and len(joint.table.questions) == 2:
        yield _tested(test, shown.language)
        if test.left_out:
            yield own.left_out.format(answers=", ".join(_left_out(test, shown)))
    sizes = [len(labels) for labels in joint.table.labels[:-2]]
    if int(np.prod(sizes)) > MOST_MAPS:
        yield own.first_only.format(number=MOST_MAPS)


def _tested(test: IndependenceTest, language: Language) -> str:
    own, numbers = language.texts.joint, language.numbers
    smallest = 10.0**-P_DECIMALS
    return own.test.of(test.degrees).format(
        chance=own.less_than.format(number=numbers.written(smallest, f".{P_DECIMALS}f"))
        if test.p_value < smallest
        else numbers.written(test.p_value, f".{P_DECIMALS}f"),
        statistic=numbers.written(test.statistic, ",.1f"),
        degrees=numbers.whole(test.degrees),
    )


def _left_out(test: IndependenceTest, shown: _Shown) -> Iterator[str]:
    """The answers that were left out, which results name as question=answer."""
    table, chosen = shown.table, shown.language.texts.joint.chosen
    axes = zip(table.questions, shown.titles, table.labels, shown.labels, strict=True)
    named = {
        f"{question}={old}": chosen.format(question=title, answer=new)
        for question, title, names, labels in axes
        for old, new in zip(names, labels, strict=True)
    }
    return (named.get(text, text) for text in test.left_out)
