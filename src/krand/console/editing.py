"""A survey file as the fields of a form, and back: whatever the form does not show stays as it is.

A question's kind is what the organiser chose, never a guess from its text. Its name, which heads
the column of answers, is made from its text as long as nobody gave another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from krand.console.fields import (
    ALL_OWN,
    FIELDS,
    FIRST_VALUES,
    HEAD,
    KIND_LABELS,
    MORE,
    MOST_QUESTIONS,
    OWN,
    PROMISE,
    QUESTION,
    STATEMENTS,
    Field,
    Table,
)
from krand.console.folder import FILE, Place, document_in
from krand.errors import KrandError
from krand.languages.speaking import gettext, marked, text_of
from krand.mistakes import Problem, SurveyErrors
from krand.survey.document import toml_lines, translation_lines
from krand.survey.reading import parse_survey
from krand.survey.rules import name_from, unused_name
from krand.survey.survey import noise_of
from krand.wording.failures import explain

# --- from the file to the form ---


def head_texts(document: Table) -> dict[str, str]:
    """The fields above the questions."""
    return {field.name: shown(field, document.get(field.name)) for field in HEAD}


def question_texts(questions: list[Table]) -> list[dict[str, str]]:
    """The fields of every question, `kind` among them; `was` is its name in the file."""
    seen: set[str] = set()
    return [_texts(place, table, seen) for place, table in enumerate(questions, 1)]


def _texts(place: int, table: Table, seen: set[str]) -> dict[str, str]:
    text, name = str(table.get("text", "")), str(table.get("name", ""))
    condition = _table(table, "asked_if")
    answers = condition.get("is", [])
    answers = answers if isinstance(answers, list) else [answers]
    automatic = unused_name(name_from(text, "_"), place, seen)
    return {
        **{field.name: shown(field, table.get(field.name)) for field in (*QUESTION, *MORE)},
        "text": text,
        "kind": kind_of(table),
        "was": name,
        "name": "" if name == automatic else name,
        "asked_question": str(condition.get("question", "")),
        "asked_is": "\n".join(map(_answer_text, answers)),
    }


def _answer_text(answer: object) -> str:
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def kind_of(table: Table) -> str:
    """A kind of `KIND_LABELS`, where the file has one."""
    return f"{table.get('type', '')}{STATEMENTS if 'statements' in table else ''}"


def shown(field: Field, value: Any) -> str:
    """A value of the file as the text of a field."""
    if value is None:
        return ""
    if field.name == "statements" and isinstance(value, list):
        return "\n".join(str(one.get("text", "")) for one in value if isinstance(one, dict))
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, list):
        return (", " if field.control == "numbers" else "\n").join(map(_plain, value))
    return value.isoformat() if isinstance(value, date) else _plain(value)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and value == int(value) else str(value)


# --- from the form to the file ---


def value_of(field: Field, text: str) -> Any:
    """A field as a value of the file; None for nothing. What is no number stays as it was typed."""
    text = text.replace("\r\n", "\n")
    if field.control == "flag":
        return True if text else None
    if field.name == "open" and text == "true":
        return True
    if field.control == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if field.control == "numbers":
        return [_number(part, float) for part in re.split(r"[,;\s]+", text.strip()) if part]
    if not text.strip():
        return None
    if field.control in ("whole", "real"):
        return _number(text, int if field.control == "whole" else float)
    return text.strip()


def _number(text: str, form: type[int] | type[float]) -> int | float | str:
    plain = text.strip().replace("_", "").replace("\u202f", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        value = float(plain)
    except ValueError:
        return text.strip()  # the survey's own rules refuse it, by the name of the field
    return value if form is float and abs(value) != float("inf") else text.strip()


def with_head(document: Table, form: Mapping[str, str]) -> Table:
    """The document with the fields above the questions."""
    return _given(document, HEAD, {field.name: form.get(field.name, "") for field in HEAD})


def with_questions(document: Table, form: Mapping[str, str]) -> Table:
    """The document with the questions of a form, whose fields are named q1_text and so on."""
    old = {str(table.get("name")): table for table in tables_in(document, "question")}
    seen: set[str] = set()
    questions, names = [], {}
    for number in range(1, 1 + question_count(form)):
        given = {
            name.partition("_")[2]: text
            for name, text in form.items()
            if name.startswith(f"q{number}_")
        }
        table = _question(given, old.get(given.get("was", ""), {}), number, seen)
        questions.append(table)
        names[given.get("was", "")] = table["name"]
    for table in questions:
        condition = table.get("asked_if")
        if isinstance(condition, dict):
            asked = condition["question"]
            table["asked_if"] = {**condition, "question": names.get(asked, asked)}
    document = {**document, "question": questions}
    return _with_groups(document, form, names)


def question_count(form: Mapping[str, str]) -> int:
    """How many questions a form has."""
    found = (re.fullmatch(r"q(\d{1,4})_kind", name) for name in form)
    return min(MOST_QUESTIONS, max((int(match[1]) for match in found if match), default=0))


def _question(given: Mapping[str, str], old: Table, number: int, seen: set[str]) -> Table:
    kind = given.get("kind", "")
    kind = kind if kind in KIND_LABELS else kind_of(old)
    own = kind.removesuffix(STATEMENTS)
    kept = {key: value for key, value in old.items() if key not in ALL_OWN - OWN.get(own, set())}
    fields = [field for field in QUESTION if not field.kinds or kind in field.kinds]
    for field in QUESTION:
        if field not in fields:
            kept.pop(field.name, None)
    text = given.get("text", "").replace("\r\n", "\n").strip()
    name = given.get("name", "").strip() or name_from(text, "_")
    table = {"name": "", "type": own, "text": text, **kept}
    table |= {"name": unused_name(name, number, seen), "type": own, "text": text}
    first = {} if kind == kind_of(old) else FIRST_VALUES.get(own, {})
    texts = {**{key: shown(FIELDS[key], value) for key, value in first.items()}}
    texts |= {key: value for key, value in given.items() if value.strip() or key not in texts}
    table = _given(table, (*fields, *(field for field in MORE if field.name != "name")), texts)
    if kind.endswith(STATEMENTS):
        table["statements"] = _statements(table.get("statements", []), old, number, seen)
    if "choices_file" in table and not table.get("choices"):
        table.pop("choices", None)
    asked = given.get("asked_question", "")
    table.pop("asked_if", None)
    if asked:
        answers = value_of(FIELDS["choices"], given.get("asked_is", ""))
        table["asked_if"] = {"question": asked, "is": answers}
    return table


def _statements(texts: list[str], old: Table, number: int, seen: set[str]) -> list[Table]:
    """A statement that was there before keeps its name."""
    before = {str(one.get("text", "")): one for one in old.get("statements", [])}
    made = []
    for place, text in enumerate(texts, 1):
        known = before.get(text, {})
        name = str(known.get("name") or name_from(text, "_") or f"statement_{number}_{place}")
        made.append({**known, "name": unused_name(name, place, seen), "text": text})
    return made


def _given(table: Table, fields: Iterable[Field], texts: Mapping[str, str]) -> Table:
    """The table with these fields; one that is empty is left out, unless the kind needs it."""
    made = dict(table)
    for field in fields:
        value = value_of(field, texts.get(field.name, ""))
        if value is None or (value == [] and field.name == "labels"):
            made.pop(field.name, None)
        else:
            made[field.name] = value
    return made


def _with_groups(document: Table, form: Mapping[str, str], names: Mapping[str, str]) -> Table:
    """Pairs that are compared; larger groups, which only the file can say, keep their questions."""
    sides = ([form.get(f"t{n}_{side}", "") for side in "ab"] for n in range(1, MOST_QUESTIONS))
    pairs = [pair for pair in sides if all(pair) and pair[0] != pair[1]]
    groups: list[Table] = []
    for group in tables_in(document, "together"):
        if len(group.get("questions", [])) != 2:
            groups.append(group)
        elif pairs:
            groups.append({**group, "questions": pairs.pop(0)})
    groups += ({"questions": pair} for pair in pairs)
    for group in groups:
        group["questions"] = [names.get(name, name) for name in group.get("questions", [])]
    made = {key: value for key, value in document.items() if key != "together"}
    return {**made, "together": groups} if groups else made


def tables_in(document: Table, key: str) -> list[Table]:
    """An array of tables, as far as it is one."""
    found = document.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def changed_order(form: Mapping[str, str], do: str) -> tuple[dict[str, str], int]:
    """The form after add:KIND, remove:N, up:N or down:N, and the question to go to."""
    action, _, what = do.partition(":")
    count = question_count(form)
    order = list(range(1, count + 1))
    others = {name: text for name, text in form.items() if not re.match(r"q\d+_", name)}
    if action == "add" and what in KIND_LABELS and count < MOST_QUESTIONS:
        return {**form, f"q{count + 1}_kind": what, f"q{count + 1}_text": ""}, count + 1
    number = int(what) if what.isdecimal() else 0
    if number not in order:
        return dict(form), 1
    order.remove(number)
    target = {"up": number - 1, "down": number + 1}.get(action)
    if target is not None:
        target = min(max(target, 1), count)
        order.insert(target - 1, number)
    moved = {
        f"q{new}_{name.partition('_')[2]}": text
        for new, was in enumerate(order, 1)
        for name, text in form.items()
        if name.startswith(f"q{was}_")
    }
    return {**others, **moved}, target or max(1, min(number, count - 1))


def with_promise(document: Table, form: Mapping[str, str]) -> Table:
    """The document with what the page of the promise says."""
    texts = {field.name: form.get(field.name, "") for field in PROMISE}
    if form.get("chosen", "other") != "other":
        texts["epsilon"] = form["chosen"]
    made = _given(document, PROMISE[:2], texts)
    policy = {**_given(_table(document, "policy"), PROMISE[2:], texts)}
    noise = form.get("noise") or noise_of(document)
    if noise == "devices":  # nothing else about trust
        policy["minimum_crowd"] = made.get("expected", 2)
        return {**made, "policy": policy, "trust": {"noise": noise}}
    policy.pop("minimum_crowd", None)
    policy.pop("colluding", None)
    made["policy"] = policy
    if noise != noise_of(document):
        made["trust"] = {**_table(document, "trust"), "noise": noise}
    return made


def _table(document: Table, key: str) -> Table:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def file_text(document: Table, before: str = "") -> str:
    """The document as a file; the comment at its beginning stays."""
    comment = re.match(r"(?:#[^\n]*\n)*", before)
    head = {
        key: _without_dates(value)
        for key, value in document.items()
        if key not in ("policy", "trust", "question", "together", "translations")
    }
    lines = [*(comment[0] if comment else "").splitlines(), *toml_lines(head)]
    for key in ("policy", "trust"):
        if key in document:
            lines += ["", f"[{key}]", *toml_lines(document[key])]
    for key in ("question", "together"):
        for table in tables_in(document, key):
            lines += ["", f"[[{key}]]", *toml_lines(table)]
    lines += translation_lines(_table(document, "translations"))
    return "\n".join(lines).lstrip("\n") + "\n"


def _without_dates(value: Any) -> Any:
    """Dates as text, which survey files may have instead."""
    if isinstance(value, dict):
        return {key: _without_dates(each) for key, each in value.items()}
    return value.isoformat() if isinstance(value, date) else value


def has_comments(text: str) -> bool:
    """Whether something would be lost if the form wrote the file."""
    rest = re.sub(r"\A(?:#[^\n]*\n)*", "", text)
    return re.search(r"(?m)^\s*#", rest) is not None


# --- what is wrong with a survey, told by the labels of fields ---


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule, where people see it."""

    where: str
    """The labels: Question 2, Options."""
    field: str
    """The id of the field; empty where only the file has it."""
    said: str
    hint: str
    line: int | None


def mistakes_in(place: Place, text: str) -> list[Mistake]:
    """Everything that is wrong with a survey, by the labels of fields, or is left to be written."""
    try:
        parse_survey(text, str(place.path), FILE)
    except SurveyErrors as error:
        return [mistake_of(problem) for problem in error.problems]
    except KrandError as error:
        return [Mistake(gettext("The survey"), "", explain(error), "", None)]
    return unwritten(document_in(text) or {})


def unwritten(document: Table) -> list[Mistake]:
    """Questions without text: people would read the names of columns."""
    tables = enumerate(tables_in(document, "question"), 1)
    return [
        Mistake(
            _of_question(number, gettext("Text")),
            f"q{number}_text",
            marked("must be written."),
            "",
            None,
        )
        for number, table in tables
        if not str(table.get("text", "")).strip()
    ]


PLACE = re.compile(r"question\[(\d+)\](?:\.(\w+))?(.*)")


def mistake_of(problem: Problem) -> Mistake:
    """A problem of the file, told by the form."""
    where, field = _where(problem.path)
    found = "" if problem.value in (None, "") else f" Found: {str(problem.value)[:80]}"
    return Mistake(where, field, f"{problem.rule}.{found}", problem.hint, problem.line)


def _where(path: str) -> tuple[str, str]:
    found = PLACE.match(path)
    if found is None:
        top = path.partition("[")[0].removeprefix("policy.").removeprefix("trust.")
        known = {field.name: field for field in (*HEAD, *PROMISE)}.get(top)
        return (text_of(known.label), known.name) if known else (path or gettext("The file"), "")
    number, key = int(found[1]) + 1, found[2] or "text"
    names = {"type": "kind", "asked_if": "asked_question", "choices_file": "choices"}
    others = {"text": gettext("Text"), "asked_if": gettext("Asked only if")}
    label = text_of(FIELDS[key].label) if key in FIELDS else others.get(key, key)
    return _of_question(number, label), f"q{number}_{names.get(key, key)}"


def _of_question(number: int, label: str) -> str:
    return gettext("Question %(number)s, %(label)s", number=number, label=label)
