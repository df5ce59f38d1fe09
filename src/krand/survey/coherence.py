"""Rules about the survey as a whole: names, groups, linkage, copies, size.

They look at outlines, not at questions, so that they can also be put to a file in which some
questions are broken: what is known of those is still checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from krand.promise import MAX_BITS, Linkage
from krand.survey.conditions import Condition
from krand.survey.questions import (
    Kind,
    Leveled,
    Question,
    any_of,
    joinable_kinds,
    matrix_kinds,
    question_values,
)
from krand.survey.rules import MAX_CHOICES, Broken, Path, path_text
from krand.survey.shapes import shape_of

MOST_COLUMNS = 12
"""Of a matrix: more do not fit beside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What the whole needs to know of a question; None is what could not be read."""

    where: Path
    """Its place in the file."""
    name: str | None
    kind: Kind | None
    positions: int | None
    levels: int | None
    weight: float | None
    asked_if: Condition | None = None


def outline(question: Question, where: Path) -> Outline:
    """The outline of a question that could be read."""
    levels = question.levels if isinstance(question, Leveled) else None
    return Outline(
        where=where,
        name=question.name,
        kind=question.kind,
        positions=question.positions,
        levels=levels,
        weight=question.weight,
    )


def survey_rules(
    questions: Sequence[Outline],
    groups: Sequence[Sequence[str] | None],
    linkage: Linkage | None,
    copies: int,
) -> Iterator[Broken]:
    """Everything that no question can know alone; a linkage that could not be read is None."""
    yield from _different_names(questions)
    yield from _members(questions, groups)
    if linkage is not None:
        yield from shape_of(linkage).rules(questions, groups, copies)
    yield from _cells(questions, groups)
    yield from _size(questions, groups)


def matrix_rules(questions: Sequence[Question], places: Sequence[Path]) -> Iterator[Broken]:
    """Rows of a matrix are neighbours, and have the same answers: they are shown as one table."""
    before: Question | None = None
    seen: set[str] = set()
    for question, where in zip(questions, places, strict=True):
        matrix = question.matrix
        if matrix is not None and before is not None and before.matrix == matrix:
            if _row(before) != _row(question):
                rule = f"must have the same type, keys and answers as {before.name}"
                yield Broken(where, rule, question.name, f"all rows of {matrix.name} are alike")
        elif matrix is not None and matrix.name in seen:
            rule = f"must stand beside the other rows of {matrix.name}, with the same wording"
            yield Broken(where, rule, question.name, "move it, or name another matrix")
        elif matrix is not None:
            seen.add(matrix.name)
            yield from _column_rules(question, where)
        before = question


def _row(question: Question) -> dict[str, object]:
    """What is the same for all rows of a matrix."""
    values = question_values(question)
    return {key: values[key] for key in values if key not in ("name", "text", "weight")}


def _column_rules(question: Question, where: Path) -> Iterator[Broken]:
    """A table has room for few answers."""
    if not isinstance(question, Leveled) or not question.takes_statements:
        rule = f"must be a {any_of(matrix_kinds())} question, to be a row of a matrix"
        yield Broken(where, rule, question.kind.value, "ask each statement as a question")
    elif question.levels > MOST_COLUMNS:
        rule = f"must have at most {MOST_COLUMNS} answers, to be a row of a matrix"
        yield Broken(where, rule, f"{question.levels:,} answers", "ask each as a question")


PEOPLE = ("expected", "invited")
"""Keys of the survey that are numbers of people."""


def people_rules(people: Mapping[str, int | None], minimum_crowd: int) -> Iterator[Broken]:
    """At least as many as may be released; and who is expected must be invited."""
    for key in PEOPLE:
        value = people.get(key)
        if value is not None and value < minimum_crowd:
            rule = f"must be at least minimum_crowd, {minimum_crowd:,}"
            hint = "nothing is released below it: raise this number, or plan for a smaller crowd"
            yield Broken((key,), rule, value, hint)
    invited, expected = people.get("invited"), people.get("expected")
    if invited is not None and expected is not None and invited < expected:
        rule = f"must be at least expected, {expected:,}"
        hint = "nobody else takes part: raise this number, or expect fewer people"
        yield Broken(("invited",), rule, invited, hint)


def _different_names(questions: Sequence[Outline]) -> Iterator[Broken]:
    seen: dict[str, Path] = {}
    for question in questions:
        if question.name is None:
            continue
        first = seen.setdefault(question.name, question.where)
        if first != question.where:
            rule = f"must be different from the other names, but {path_text(first)} has it too"
            yield Broken((*question.where, "name"), rule, question.name, "rename one of them")


def _members(
    questions: Sequence[Outline], groups: Sequence[Sequence[str] | None]
) -> Iterator[Broken]:
    known = {question.name: question for question in questions if question.name is not None}
    for index, group in enumerate(groups):
        for place, name in enumerate(group or ()):
            where = ("together", index, "questions", place)
            if name not in known:
                hint = f"the questions are {', '.join(known)}" if known else ""
                yield Broken(where, "must be the name of a question", name, hint)
            elif known[name].kind not in (*joinable_kinds(), None):
                rule = f"must be a {any_of(joinable_kinds())} question, not {known[name].kind}"
                hint = "leave it out of the group; it is counted on its own"
                yield Broken(where, rule, name, hint)
            if name in (group or ())[:place]:
                yield Broken(where, "must be in a group only once", name, "remove it here")
        yield from _contained(index, groups)


def _contained(index: int, groups: Sequence[Sequence[str] | None]) -> Iterator[Broken]:
    """A group inside another one would ask for a table twice, and cost noise twice."""
    own = set(groups[index] or ())
    for other, names in enumerate(groups):
        part = own <= set(names or ()) and (own != set(names or ()) or other < index)
        if own and part and other != index:
            rule = f"must ask for more than together[{other}], which has all of its questions"
            hint = "remove one of the two groups: the table of the larger one contains the other"
            yield Broken(("together", index, "questions"), rule, list(groups[index] or ()), hint)
            return


def _cells(
    questions: Sequence[Outline], groups: Sequence[Sequence[str] | None]
) -> Iterator[Broken]:
    for index, group in enumerate(groups):
        cells = _cell_count(questions, group)
        if cells is not None and cells > MAX_CHOICES:
            rule = f"must not make more than {MAX_CHOICES:,} cells"
            hint = "group fewer questions, or give them fewer choices or wider bins"
            yield Broken(("together", index, "questions"), rule, f"{cells:,} cells", hint)


def _cell_count(questions: Sequence[Outline], group: Sequence[str] | None) -> int | None:
    """Π(levels + 1) - 1: each question can be unanswered, and all unanswered is no cell."""
    levels = {question.name: question.levels for question in questions}
    sizes = [levels.get(name) for name in group or ()]
    if not sizes or None in sizes:
        return None
    return math.prod(size + 1 for size in sizes if size is not None) - 1


def _size(questions: Sequence[Outline], groups: Sequence[Sequence[str] | None]) -> Iterator[Broken]:
    """The largest question or group is blamed: that is where most can be saved."""
    grouped = {name for group in groups for name in group or ()}
    sizes: dict[Path, int] = {
        question.where: question.positions or 0
        for question in questions
        if question.name not in grouped
    }
    for index, group in enumerate(groups):
        cells = _cell_count(questions, group) or 0
        sizes["together", index] = cells if cells <= MAX_CHOICES else 0  # complained of already
    total = sum(sizes.values())
    if total > MAX_BITS:
        largest = max(sizes, key=lambda where: sizes[where])
        rule = f"all questions together must not need more than {MAX_BITS:,} positions"
        hint = "shorten this one, the largest; ask fewer questions; or split the survey"
        yield Broken(largest, rule, f"{total:,} positions", hint)
