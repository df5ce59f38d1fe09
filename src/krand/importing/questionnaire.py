"""A questionnaire while it is read: the questions of a survey file so far, and what was lost."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from krand.errors import InvalidInput
from krand.importing.conditions import Answer, Gate, asked_if
from krand.importing.expressions import (
    SELF,
    All,
    Compare,
    Node,
    Some,
    Unsupported,
    holds,
    number,
    parse,
)
from krand.importing.expressions import comparisons as comparisons_in
from krand.importing.texts import NO_HEADINGS, NO_QUESTION, filled_in, plain_line, plain_text
from krand.promise import MAX_BITS
from krand.showing import some
from krand.survey.coherence import MOST_COLUMNS
from krand.survey.kinds.number import MAX_EDGE, Number
from krand.survey.questions import Condition
from krand.survey.rules import (
    MAX_ITEM_LENGTH,
    MAX_LINE_LENGTH,
    MAX_TEXT_LENGTH,
    unused_name,
    without_hidden,
)

FIELD = "questionnaire"
"""What errors call the file."""
YES_NO = ({"yes", "no"}, {"y", "n"})
MOST_VALUES = 11
"""A number of at most so many whole values is a scale."""
MOST_RANGES = 8
MOST_QUESTIONS = 2_000
LONGEST_NAME = 64
LONGEST_REMARK = 300
HEAD = {
    "title": MAX_LINE_LENGTH,
    "introduction": MAX_TEXT_LENGTH,
    "thanks": MAX_TEXT_LENGTH,
}
"""Texts before and after the questions, and how long they may be."""
LONGEST_WORDING = 500
"""Characters of a question that people read at a glance, and that a report repeats."""
_EXPLAINED = re.compile(r"(-?\d{1,6}) *(?:\(([^()]+)\)|[:=–-] *([^\d\s].*))")
"""A number with words: "1 (never)", "5 = always"."""
Codes = Mapping[str, str]
"""Choices by their codes in the questionnaire, in their order."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something of the questionnaire that the survey does not have, or has in another way."""

    place: str
    """Where it stands in the questionnaire."""
    name: str
    said: str
    left_out: bool

    def __str__(self) -> str:
        where = f"{self.place}, {self.name}" if self.name else self.place
        return f"{where}: {self.said}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A row of a table that asks the same about several things."""

    code: str
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A question in another language; empty where the questionnaire has nothing."""

    text: str
    help: str = ""
    labels: Codes = field(default_factory=dict)
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as the questionnaire has it."""

    place: str
    code: str
    text: str
    keys: Mapping[str, Any]
    """Its type and the type's own keys in a survey file."""
    answers: tuple[tuple[Answer, tuple[str, ...]], ...]
    """As a `Gate` has them."""
    help: str = ""
    required: bool = False
    conditions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """What conditions call it."""
    statements: tuple[Statement, ...] = ()
    others: Mapping[str, Words] = field(default_factory=dict)
    """By the tags of their languages."""


class Questionnaire:
    """What was read so far."""

    def __init__(self, conditions: Iterable[str] = ()) -> None:
        """`conditions` are all that will come: numbers must not be divided where they compare."""
        self.head: dict[str, Any] = {}
        self.heads: dict[str, dict[str, Any]] = {}
        """The same in other languages, by their tags."""
        self.questions: list[dict[str, Any]] = []
        self.remarks: list[Remark] = []
        self.thresholds = _thresholds(conditions)
        self._gates: dict[str, Gate] = {}
        self._asked_if: dict[str, Condition] = {}
        self._names: set[str] = set()
        self._positions = 0
        self._untranslated: dict[str, list[str]] = {}
        self._hints: dict[str, list[str]] = {}
        """Where a hint has no translation, by languages."""

    def leave_out(self, place: str, name: str, why: str) -> None:
        """Name something that has no counterpart."""
        self._remark(place, name, why, True)

    def change(self, place: str, name: str, what: str) -> None:
        """Name something that is not as it was."""
        self._remark(place, name, what, False)

    def _remark(self, place: str, name: str, said: str, left_out: bool) -> None:
        line = plain_line(said)
        short = line if len(line) <= LONGEST_REMARK else f"{line[: LONGEST_REMARK - 1]}…"
        name = plain_line(name)[:LONGEST_NAME]
        self.remarks.append(Remark(place, name, short, left_out))

    def note(
        self,
        place: str,
        name: str,
        text: str,
        conditions: Sequence[str],
        others: Mapping[str, str] | None = None,
    ) -> None:
        """A text that asks nothing: before the first question it belongs to the introduction."""
        found = plain_text(text)
        if self.questions or conditions:
            self.leave_out(place, name, f"{NO_QUESTION}: {found}")
        else:
            _continue(self.head, found)
            for tag, other in (others or {}).items():
                _continue(self.heads[tag], self._other(tag, place, other))

    def headings(self, place: str, titles: Iterable[str]) -> None:
        """Name the headings of groups of questions, all of them at once."""
        if found := [f'"{line}"' for title in titles if (line := plain_line(title))]:
            self.leave_out(place, "", f"{NO_HEADINGS}: {', '.join(found)}")

    def add(self, asked: Asked) -> None:
        """Ask one more question, or say why not."""
        is_number = asked.keys["type"] == "number"
        if asked.statements and (is_number or len(asked.answers) > MOST_COLUMNS):
            self._one_by_one(asked)
            return
        if len(self.questions) == MOST_QUESTIONS:
            rule, hint = f"must have at most {MOST_QUESTIONS:,} questions", "import a part of it"
            raise InvalidInput(FIELD, rule, asked.place, hint)
        self._positions += len(asked.answers) * max(1, len(asked.statements))
        if self._positions > MAX_BITS:
            rule = f"all questions together must not have more than {MAX_BITS:,} answers"
            raise InvalidInput(FIELD, rule, asked.place, "shorten the lists before, or remove some")
        found = asked_if(asked.conditions, self._gates, self._asked_if)
        if found.never:
            self.leave_out(asked.place, asked.code, "its condition can never hold")
            return
        for remark in found.remarks:
            self.change(asked.place, asked.code, remark)
        name = self._name(asked)
        question = {"name": name, "type": asked.keys["type"], "text": self._text(asked, asked.text)}
        if asked.help:
            question["help"] = self._text(asked, asked.help)
        if asked.required and not found.wider:  # nobody must answer what does not concern them
            question["required"] = True
        question |= asked.keys
        if found.asked_if is not None:
            question["asked_if"] = found.asked_if.values()
            self._asked_if[name] = found.asked_if
        names = [name]
        if asked.statements:
            names = []
            question["statements"] = []
            for each in asked.statements:
                own = self._unused(f"{name}_{each.code}")
                names.append(own)
                question["statements"].append({"name": own, "text": self._text(asked, each.text)})
                if found.asked_if is not None:
                    self._asked_if[own] = found.asked_if
        self.questions.append(question)
        for tag, words in asked.others.items():
            self._translate(tag, asked, words, names)
        self._open_gates(asked, names, question.get("required", False))

    def _one_by_one(self, asked: Asked) -> None:
        """Each row of a table that is too wide as a question."""
        self.change(asked.place, asked.code, "its rows are questions: the table is too wide")
        for row in asked.statements:
            code, text = f"{asked.code}_{row.code}", f"{asked.text}\n{row.text}"
            one = replace(asked, code=code, text=text, references=row.references, statements=())
            others = {
                tag: replace(words, text=f"{words.text}\n{other}" if other else "")
                for tag, words in asked.others.items()
                for other in [dict(zip(asked.statements, words.statements, strict=False)).get(row)]
            }
            self.add(replace(one, others=others))

    def _translate(self, tag: str, asked: Asked, words: Words, names: Sequence[str]) -> None:
        """The last question in another language, in the tables of a survey file."""
        question, tables = self.questions[-1], self.heads[tag].setdefault("question", {})
        own = tables.setdefault(question["name"], {})
        own["text"] = self._other(tag, asked.place, words.text)
        if question.get("help"):
            own["help"] = plain_text(words.help)[:MAX_TEXT_LENGTH] or question["help"]
            if not plain_text(words.help):
                self._hints.setdefault(tag, []).append(asked.place)
        given = {samples[0]: "" for _, samples in asked.answers if samples}
        given |= {code: text for code, text in words.labels.items() if code in given}
        if "choices" in question:
            if not all(given.values()):
                self._other(tag, asked.place, "")
            own["choices"] = dict(zip(question["choices"], different_labels(given), strict=True))
        if "labels" in question:
            ends = _without_ends(different_labels(given))[1].get("labels")
            own["labels"] = dict(zip(question["labels"], ends or ("", ""), strict=True))
            if not ends:
                self._other(tag, asked.place, "")
        if asked.statements:
            for name, other in zip(names, words.statements, strict=True):
                tables[name] = {"text": self._other(tag, asked.place, other)}

    def _other(self, tag: str, place: str, text: str) -> str:
        """A text in another language; it is remembered that there is none."""
        found = plain_text(text)[:MAX_TEXT_LENGTH]
        if not found:
            self._untranslated.setdefault(tag, []).append(place)
        return found

    def end(self) -> None:
        """Keep the languages into which everything is translated; name the others."""
        for tag, other in list(self.heads.items()):
            for key, longest in HEAD.items():
                text = other.pop(key, "")[:longest].strip()
                if self.head.get(key):
                    other[key] = self._other(tag, key, text)
            if missing := self._untranslated.get(tag):
                said = (
                    f"{some(len(missing), 'text')} without a translation, the first: {missing[0]}"
                )
                self.leave_out("languages", tag, said)
                del self.heads[tag]
            elif hints := self._hints.get(tag):
                said = f"{some(len(hints), 'hint')} without a translation, as in the form's own"
                self.change("languages", tag, f"{said} language; the first: {hints[0]}")

    def _open_gates(self, asked: Asked, names: Sequence[str], required: bool) -> None:
        several = asked.keys["type"] == "pick_any"
        rows = asked.statements or (Statement("", "", asked.references),)
        for name, row in zip(names, rows, strict=True):
            gate = Gate(name=name, answers=asked.answers, several=several, required=required)
            self._gates |= dict.fromkeys(row.references, gate)

    def _name(self, asked: Asked) -> str:
        name = self._unused(asked.code)
        if name != asked.code:
            self.change(asked.place, asked.code, f"its name became {name}")
        return name

    def _unused(self, code: str) -> str:
        plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in code)
        return unused_name(plain[: LONGEST_NAME - 8], len(self.questions) + 1, self._names)

    def _text(self, asked: Asked, text: str) -> str:
        """The wording; what other tools fill in stands in it as it was written."""
        found = plain_text(text)
        if sign := filled_in(found):
            said = f"its wording has {sign}, which krand does not fill in: reword it"
            self.change(asked.place, asked.code, said)
        if len(found) > LONGEST_WORDING:
            said = f"it has {len(found):,} characters: move most into its help or the introduction"
            self.change(asked.place, asked.code, said)
        if len(found) > MAX_TEXT_LENGTH:
            said = f"its wording was cut off after {MAX_TEXT_LENGTH:,} characters"
            self.change(asked.place, asked.code, said)
        return found[:MAX_TEXT_LENGTH]


def _continue(head: dict[str, Any], text: str) -> None:
    head["introduction"] = f"{head.get('introduction', '')}\n{text}".strip()


def from_codes(codes: Codes) -> tuple[dict[str, Any], tuple[tuple[Answer, tuple[str, ...]], ...]]:
    """The type of a question that takes one of these, and its answers.

    Yes and no are a yes_no; whole numbers one after the other are a scale, also if its ends are
    explained, as in "1 (never)", "2", "3 (always)".
    """
    labels = different_labels(codes)
    lower = [label.casefold() for label in labels]
    if len(labels) == 2 and set(lower) in YES_NO:
        answers = tuple(
            ("yes" if label.startswith("y") else "no", (code,))
            for label, code in zip(lower, codes, strict=True)
        )
        return {"type": "yes_no", "counts": "both"}, answers
    bare, ends = _without_ends(labels)
    values = [number(label) for label in bare]
    if values[0] is not None and values == [values[0] + step for step in range(len(values))]:
        whole = [int(value) for value in values if value is not None]
        if whole == values:
            keys = {"type": "scale", "lowest": whole[0], "highest": whole[-1]} | ends
            return keys, tuple((v, (code,)) for v, code in zip(whole, codes, strict=True))
    return {"type": "choice", "choices": labels}, tuple(
        (label, (code,)) for label, code in zip(labels, codes, strict=True)
    )


def _without_ends(labels: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The numbers of a scale whose ends alone have words, and the words; else all as it is."""
    first, last = (_EXPLAINED.fullmatch(label) for label in (labels[0], labels[-1]))
    words = [(found[2] or found[3]).strip() for found in (first, last) if found]
    if len(labels) < 3 or not (first and last) or words[0] == words[1]:
        return labels, {}
    return [first[1], *labels[1:-1], last[1]], {"labels": words}


def different_labels(codes: Codes) -> list[str]:
    """A text for each choice that no other one has; without one, or with the same, its code."""
    seen: set[str] = set()
    labels = []
    for code, text in codes.items():
        label = plain_line(text)[:MAX_ITEM_LENGTH].strip() or without_hidden(code).strip() or "?"
        if label in seen:
            label = f"{label} ({without_hidden(code).strip()})"
        while label in seen:
            label = f"{label}*"
        seen.add(label)
        labels.append(label)
    return labels


def number_keys(
    low: float, high: float, *, whole: bool, thresholds: Collection[float] = ()
) -> dict[str, Any]:
    """A scale for few whole numbers; else ranges of round length between two bounds.

    Where conditions compare a whole number, a range begins.
    """
    if whole and high - low < MOST_VALUES:
        return {"type": "scale", "lowest": int(low), "highest": int(high)}
    step = _round_step((high - low) / MOST_RANGES, whole)
    fixed = {low, high + whole}
    if whole:
        fixed |= {edge for edge in thresholds if low < edge <= high}
    steps = [step * place for place in range(math.floor(low / step), math.ceil(high / step))]
    inner = [s for s in steps if low < s < high and all(abs(s - f) >= step / 2 for f in fixed)]
    edges = sorted([*fixed, *inner])
    if whole:
        return {"type": "number", "edges": [int(edge) for edge in edges], "integer": True}
    return {"type": "number", "edges": edges, "open": "above"}


def number_answers(keys: Mapping[str, Any]) -> tuple[tuple[Answer, tuple[str, ...]], ...]:
    """The answers to a scale, or the ranges of whole numbers with their ends."""
    if keys["type"] == "scale":
        return tuple((v, (str(v),)) for v in range(keys["lowest"], keys["highest"] + 1))
    if not keys.get("integer"):
        return ()
    ranges = Number(name="n", edges=keys["edges"], open=keys.get("open", False), integer=True)
    return tuple(
        (ranges.level_name(level), tuple(str(end) for end in ranges.ends(level)))
        for level in range(ranges.positions)
    )


def _round_step(least: float, whole: bool) -> float:
    """1, 2 or 5 times a power of ten, at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    return max(1.0, step) if whole else step


def ranges_remark(keys: Mapping[str, Any]) -> str:
    """What to say of a number: nobody but the organiser knows which ranges matter."""
    return f"krand counts numbers by ranges; edges = {keys['edges']} is a proposal"


def bounds(constraint: str, *, whole: bool) -> tuple[float, float] | None:
    """The least and the greatest whole number or value that a constraint allows, if it says so."""
    try:
        return _between(parse(constraint), whole)
    except Unsupported:
        return None


def allows(constraint: str, codes: Iterable[str]) -> bool:
    """Whether a constraint leaves a question all of these codes."""
    try:
        node = parse(constraint)
    except Unsupported:
        return False
    own = all(each.reference == SELF for each in comparisons_in(node))
    return own and all(holds(node, code) for code in codes)


def _between(node: Node, whole: bool) -> tuple[float, float] | None:
    low, high = -math.inf, math.inf
    match node:
        case Some(parts):  # such as 999 for "unknown" beside it
            return next(filter(None, (_between(part, whole) for part in parts)), None)
        case All(parts):
            for part in parts:
                least, most = _side(part, whole)
                low, high = max(low, least), min(high, most)
        case _:
            return None
    known = -MAX_EDGE < low < high < MAX_EDGE
    return (low, high) if known else None


def _side(node: Node, whole: bool) -> tuple[float, float]:
    """What one comparison of the question itself leaves; whole numbers end one before < and >."""
    match node:
        case Compare(reference, operator, value) if reference == SELF:
            limit = number(value)
            if limit is not None and operator in (">=", ">"):
                return limit + (whole and operator == ">"), math.inf
            if limit is not None and operator in ("<=", "<"):
                return -math.inf, limit - (whole and operator == "<")
    return -math.inf, math.inf


def _thresholds(conditions: Iterable[str]) -> dict[str, set[float]]:
    """Where conditions divide each number: a range begins there."""
    found: dict[str, set[float]] = {}
    for text in conditions:
        try:
            node = parse(text)
        except Unsupported:
            continue
        for each in comparisons_in(node):
            value = number(each.value)
            if value is not None and each.operator in ("<", ">=", ">", "<="):
                edge = value + (each.operator in (">", "<="))
                found.setdefault(each.reference, set()).add(edge)
    return found
