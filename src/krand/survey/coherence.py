"""Rules about the survey as a whole: names, groups, linkage, copies, size, matrices, people.

They are put to questions and tables that keep all rules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from krand.mistakes import Broken, Path, path_text
from krand.promise import MAX_BITS, Linkage
from krand.survey.questions import JOINABLE, Leveled, Question, any_of
from krand.survey.rules import MAX_CHOICES

MOST_COLUMNS = 12
"""Of a matrix: more do not fit beside each other."""


Rows = Sequence[tuple[Path, Question]]
"""All questions, those of a table too, each with its place in the file."""


def name_rules(rows: Rows) -> Iterator[Broken]:
    """Every name once."""
    seen: dict[str, Path] = {}
    for where, question in rows:
        first = seen.setdefault(question.name, where)
        if first != where:
            rule = f"must be different from the other names, but {path_text(first)} has it too"
            yield Broken((*where, "name"), rule, question.name, "rename one of them")


def linkage_rules(rows: Rows, groups: int, linkage: Linkage, copies: int) -> Iterator[Broken]:
    """What goes with bits that travel apart, and with whole records."""
    if linkage is Linkage.BIT:
        if copies > 1:
            rule = 'must be 1 with linkage = "bit", where bits travel apart'
            yield Broken(("copies",), rule, copies, 'leave it out, or say linkage = "record"')
        return
    for index in range(groups):
        rule = 'must not be used with linkage = "record"'
        hint = "remove [[together]]: a record keeps all answers together already; or say"
        yield Broken(("together", index), rule, None, f'{hint} linkage = "bit"')
    for where, question in rows:
        if question.weight != 1:
            rule = 'must be 1 with linkage = "record", where all bits have the same noise'
            hint = 'leave it out, or say linkage = "bit"'
            yield Broken((*where, "weight"), rule, question.weight, hint)


def group_rules(known: Mapping[str, Question], groups: Sequence[Sequence[str]]) -> Iterator[Broken]:
    """Groups of different questions that can be analysed jointly, none inside another."""
    for index, group in enumerate(groups):
        for place, name in enumerate(group):
            where = ("together", index, "questions", place)
            if name not in known:
                hint = f"the questions are {', '.join(known)}"
                yield Broken(where, "must be the name of a question", name, hint)
            elif not isinstance(known[name], Leveled):
                rule = f"must be a {JOINABLE} question, not {known[name].kind}"
                hint = "leave it out of the group; it is counted on its own"
                yield Broken(where, rule, name, hint)
            if name in group[:place]:
                yield Broken(where, "must be in a group only once", name, "remove it here")
        yield from _contained(index, groups)


def _contained(index: int, groups: Sequence[Sequence[str]]) -> Iterator[Broken]:
    """A group inside another one would ask for a table twice, and cost noise twice."""
    own = set(groups[index])
    for other, names in enumerate(groups):
        part = own <= set(names) and (own != set(names) or other < index)
        if own and part and other != index:
            rule = f"must ask for more than together[{other}], which has all of its questions"
            hint = "remove one of the two groups: the table of the larger one contains the other"
            yield Broken(("together", index, "questions"), rule, list(groups[index]), hint)
            return


def size_rules(rows: Rows, groups: Sequence[Sequence[str]]) -> Iterator[Broken]:
    """Cells of groups, and positions of all; the largest is blamed: most can be saved there."""
    levels = {q.name: q.levels for _, q in rows if isinstance(q, Leveled)}
    grouped = {name for group in groups for name in group}
    sizes = {where: q.positions for where, q in rows if q.name not in grouped}
    for index, group in enumerate(groups):
        # Each question can be unanswered, and all unanswered is no cell.
        cells = math.prod(levels.get(name, 0) + 1 for name in group) - 1
        if cells > MAX_CHOICES:
            rule = f"must not make more than {MAX_CHOICES:,} cells"
            hint = "group fewer questions, or give them fewer choices or wider bins"
            yield Broken(("together", index, "questions"), rule, f"{cells:,} cells", hint)
        else:
            sizes["together", index] = cells
    total = sum(sizes.values())
    if total > MAX_BITS:
        largest = max(sizes, key=lambda where: sizes[where])
        rule = f"all questions together must not need more than {MAX_BITS:,} positions"
        hint = "shorten this one, the largest; ask fewer questions; or split the survey"
        yield Broken(largest, rule, f"{total:,} positions", hint)


def matrix_rules(rows: Rows) -> Iterator[Broken]:
    """Rows of a matrix are neighbours, and have the same answers: they are shown as one table."""
    before: Question | None = None
    seen: set[str] = set()
    for where, question in rows:
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
    values = question.values()
    return {key: values[key] for key in values if key not in ("name", "text", "weight")}


def _column_rules(question: Question, where: Path) -> Iterator[Broken]:
    """A table has room for few answers."""
    if not isinstance(question, Leveled) or not question.takes_statements:
        rows = any_of(lambda kind: kind.takes_statements)
        rule = f"must be a {rows} question, to be a row of a matrix"
        yield Broken(where, rule, question.kind.value, "ask each statement as a question")
    elif question.levels > MOST_COLUMNS:
        rule = f"must have at most {MOST_COLUMNS} answers, to be a row of a matrix"
        yield Broken(where, rule, f"{question.levels:,} answers", "ask each as a question")


def people_rules(expected: int | None, invited: int | None, minimum_crowd: int) -> Iterator[Broken]:
    """At least as many as may be released; and who is expected must be invited."""
    for key, people in (("expected", expected), ("invited", invited)):
        if people is not None and people < minimum_crowd:
            rule = f"must be at least minimum_crowd, {minimum_crowd:,}"
            hint = "nothing is released below it: raise this number, or plan for a smaller crowd"
            yield Broken((key,), rule, people, hint)
    if invited is not None and expected is not None and invited < expected:
        rule = f"must be at least expected, {expected:,}"
        hint = "nobody else takes part: raise this number, or expect fewer people"
        yield Broken(("invited",), rule, invited, hint)
