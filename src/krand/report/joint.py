"""Joint tables as heat maps: cells that hold a number and its interval, shaded by their share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.analysis.joint.conditional import ConditionalShare, ConditionalTable
from krand.analysis.joint.independence import IndependenceTest
from krand.analysis.joint.tables import JointTable
from krand.analysis.results import JointResult, Results
from krand.promise import READABLE
from krand.report.figures import of_confidence
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.wording.phrases import some_people

SHADES = 9
"""The darkest of the shades that the style sheet has; 0 is none."""
MOST_ROWS, MOST_COLUMNS, MOST_MAPS = 30, 12, 24
SURE = 0.001
"""Below this p-value two questions are called related; below `HINT`, there is weak evidence."""
HINT = 0.05
P_DECIMALS = 4
"""Decimals of a p-value; a smaller one is said to be less than the last of them."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTable:
    """The answers to one question for each answer to the other, as shares."""

    summary: str
    caption: str
    given: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointView:
    """Questions seen together."""

    id: str
    title: str
    names: str
    maps: tuple[HeatMap, ...]
    most: str
    """The number of people that the strongest colour stands for."""
    given: tuple[GivenTable, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A joint table with the answers as the report names them."""

    table: JointTable
    labels: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    """The questions' names, with the units of numbers."""
    titles: tuple[str, ...]
    language: Language


def joint_views(results: Results, labels: Labels, language: Language) -> tuple[JointView, ...]:
    """Every joint table of the results."""
    texts = {question.name: question.text for question in results.plan.survey.questions}
    found = []
    for place, joint in enumerate(results.joint, 1):
        titles = tuple(texts.get(name) or name for name in joint.table.questions)
        names = tuple(map(labels.name, joint.table.questions))
        shown = _Shown(joint.table, _named(joint.table, labels), names, titles, language)
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
        names=" × ".join(joint.table.questions),
        maps=tuple(itertools.islice(_maps(shown), MOST_MAPS)),
        most=shown.language.numbers.count(float(np.max(joint.table.consistent))),
        given=tuple(_given(table, axis, shown) for axis, table in enumerate(joint.given)),
        notes=tuple(_notes(joint, shown)),
    )


def _given(table: ConditionalTable, axis: int, shown: _Shown) -> GivenTable:
    """The most frequent answers, as in the map of the same questions."""
    own, names = shown.language.texts.joint, {"question": table.question, "given": table.given}
    titles = {"question": shown.titles[1 - axis], "given": shown.titles[axis]}
    rows = _shown_of(shown, axis, MOST_ROWS)
    columns = _shown_of(shown, 1 - axis, MOST_COLUMNS)
    confidence = of_confidence(table.confidence, shown.language.numbers)
    return GivenTable(
        summary=own.given.format(**titles),
        caption=own.given_caption.format(**names, confidence=confidence),
        given=shown.names[axis],
        columns=tuple(shown.labels[1 - axis][column] for column in columns),
        rows=tuple(
            (
                shown.labels[axis][row],
                tuple(_share_cell(table.groups[row][column], shown.language) for column in columns),
            )
            for row in rows
        ),
    )


def _shown_of(shown: _Shown, axis: int, most: int) -> list[int]:
    """The answers of an axis that are shown; "unanswered" is none of them."""
    totals = shown.table.consistent.sum(axis=1 - axis)
    return _shown(totals[: shown.table.answers[axis]], most)


def _share_cell(share: ConditionalShare, language: Language) -> Cell:
    own, numbers = language.texts.joint, language.numbers
    low, high = share.interval.low, share.interval.high
    digits = numbers.decimals(100 * low, 100 * high)
    ends = own.ends.format(low=numbers.share(low, digits), high=numbers.share(high, digits))
    if share.consistent is None:
        return Cell(own.nobody, ends, 0, False)
    shade = round(SHADES * min(1.0, max(0.0, share.consistent)))
    return Cell(numbers.share(share.consistent, digits), ends, shade, (high - low) / 2 <= READABLE)


def _maps(shown: _Shown) -> Iterator[HeatMap]:
    """Two questions are one map; of more, the last two for each answer to the others."""
    table, chosen = shown.table, shown.language.texts.joint.chosen
    counts, narrow = table.consistent, table.readable
    low, high = table.interval.low, table.interval.high
    most = float(np.max(counts))
    for place in itertools.product(*(range(size) for size in counts.shape[:-2])):
        answers = ", ".join(
            chosen.format(question=shown.names[axis], answer=shown.labels[axis][level])
            for axis, level in enumerate(place)
        )
        cells = np.stack([counts[place], low[place], high[place], narrow[place]], axis=-1)
        yield _map(shown, answers, cells, most)


def _map(shown: _Shown, chosen: str, cells: Floats, most: float) -> HeatMap:
    """Of every cell its count, both ends of its interval, and whether it can be read."""
    counts = cells[..., 0]
    rows_are, columns_are = shown.names[-2:]
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
        confidence=of_confidence(shown.table.confidence, numbers),
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
    ends = language.texts.joint.ends.format(low=count(low), high=count(high))
    return Cell(count(value), ends, round(SHADES * min(1.0, max(0.0, part))), bool(narrow))


def _notes(joint: JointResult, shown: _Shown) -> Iterator[str]:
    own, test = shown.language.texts.joint, joint.independence
    if joint.table.drowns:
        shared, table = shown.language.shared, joint.table
        yield own.drowns.format(
            margin=some_people(table.half_width, shared),
            average=some_people(table.people / table.counts.size, shared),
        )
    if len(joint.table.questions) > 2:
        yield own.only_two
    elif test is None:
        yield own.not_tested
    else:
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
        verdict=_verdict(test.p_value, language),
        chance=own.less_than.format(number=numbers.written(smallest, f".{P_DECIMALS}f"))
        if test.p_value < smallest
        else numbers.written(test.p_value, f".{P_DECIMALS}f"),
        statistic=numbers.written(test.statistic, ",.1f"),
        degrees=numbers.whole(test.degrees),
    )


def _left_out(test: IndependenceTest, shown: _Shown) -> Iterator[str]:
    """The answers that were left out, which results name as question=answer."""
    table = shown.table
    named = {
        f"{question}={old}": f"{question}={new}"
        for question, names, labels in zip(table.questions, table.labels, shown.labels, strict=True)
        for old, new in zip(names, labels, strict=True)
    }
    return (named.get(text, text) for text in test.left_out)


def _verdict(p_value: float, language: Language) -> str:
    own = language.texts.joint
    return own.related if p_value < SURE else own.perhaps if p_value < HINT else own.unrelated
