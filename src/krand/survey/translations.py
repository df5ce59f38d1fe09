"""A survey's texts in other languages: every text has a place, and a translation fills them all.

Names, positions, noise and promise never depend on the language: `Survey.in_language` is the survey
as if it had been written in another one, with the same positions for the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from krand.mistakes import Broken, nearest
from krand.models import Model
from krand.survey.questions import KINDS, Question
from krand.survey.rules import item_fault, language_rules, line_rules, text_rules

LINES = ("title", "organiser", "contact")
TEXTS = ("introduction", "thanks")
"""The keys of a survey that are what people read before and after its questions."""
Place = tuple[str, ...]
"""Where a text stands: ("question", "pet", "choices", "cat")."""
SAME = "same"
"""Instead of a table of choices or labels: names that are the same in this language."""
MAY_STAY = ("organiser", "contact")
"""Names and addresses: without a translation they stay as they are."""
SHOWN = 5
LIST = 3
"""Steps to a table of choices or labels."""
_WORDS = {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
_WORDED = sorted({key for kind in KINDS.values() for key in kind.worded})
_TEXT = {"type": "string", "minLength": 1}
_QUESTION = {
    "type": "object",
    "properties": dict.fromkeys(("text", "help"), _TEXT)
    | {key: {"anyOf": [_TEXT, _WORDS]} for key in _WORDED},
    "additionalProperties": False,
}
_LANGUAGE = {
    "type": "object",
    "properties": dict.fromkeys((*LINES, *TEXTS), _TEXT)
    | {"question": {"type": "object", "additionalProperties": _QUESTION}},
    "additionalProperties": False,
}
TRANSLATIONS_SCHEMA = {"type": "object", "additionalProperties": _LANGUAGE}
TAG_HINT = "for example [translations.de] or [translations.pt-BR]"


def _copied(texts: Any, depth: int = 0) -> Any:
    """Nobody else can change them."""
    if not isinstance(texts, Mapping) or depth > LIST:
        return texts
    return {str(key): _copied(each, depth + 1) for key, each in texts.items()}


class Translation(Model):
    """All texts of a survey in one more language, with the keys of a survey file.

    >>> from krand import Translation
    >>> texts = {"title": "Animaux", "question": {"pet": {"choices": {"cat": "chat"}}}}
    >>> Translation(language="fr", texts=texts).text("question", "pet", "choices", "cat")
    'chat'
    """

    language: str
    """A BCP 47 tag."""
    texts: Annotated[Any, BeforeValidator(_copied)]
    """By their places; `translation_rules` holds them against those of the survey."""

    def __hash__(self) -> int:
        return hash(self.language)

    def text(self, *place: str) -> str | None:
        """The text at a place; None if there is none."""
        found: Any = self.texts
        for step in place:
            if found == SAME:
                return step
            found = found.get(step) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else None


def nearest_language(languages: Sequence[str], wanted: str) -> str | None:
    """The one that is wanted, else the first of the same primary tag: "de" for "de-AT"."""
    parts = wanted.lower().split("-")
    for end in range(len(parts), 0, -1):
        start = "-".join([*parts[:end], ""])
        for language in languages:
            if f"{language.lower()}-".startswith(start):
                return language
    return None


def _texts_of(about: Mapping[str, str], questions: Sequence[Question]) -> dict[str, Any]:
    """Every text of a survey that people read, with the keys of a translation."""
    asked: dict[str, dict[str, Any]] = {}
    for question in questions:
        asked.setdefault(question.name, {})["text"] = question.text
        table = asked.setdefault(_table(question), {})
        if question.matrix is not None:
            table["text"] = question.matrix.text
        table["help"] = question.help
        for key in question.worded:
            value: str | Sequence[str] = getattr(question, key)
            table[key] = value if isinstance(value, str) else {item: item for item in value}
    return _said({**about, "question": _said({name: _said(asked[name]) for name in asked})})


def _said(table: Mapping[str, Any]) -> dict[str, Any]:
    """Without texts and tables that are empty."""
    return {key: value for key, value in table.items() if value}


def _table(question: Question) -> str:
    """Where help and answers stand: once for all rows of a matrix."""
    return question.name if question.matrix is None else question.matrix.name


def worded(questions: Sequence[Question], texts: Translation) -> tuple[Question, ...]:
    """What is asked, in another language."""
    before = {question.name: question for question in questions}
    found = {question.name: _worded(question, texts) for question in questions}
    for name, question in found.items():
        if (condition := question.asked_if) is not None:
            gate = before[condition.question]
            places = map(gate.place_named, condition.answers)
            answers = tuple(map(found[gate.name].position_name, places))
            found[name] = question.changed(asked_if=condition.changed(answers=answers))
    return tuple(found.values())


def _worded(question: Question, texts: Translation) -> Question:
    table = ("question", _table(question))
    changed: dict[str, Any] = {
        "text": texts.text("question", question.name, "text") or "",
        "help": texts.text(*table, "help") or "",
    }
    if question.matrix is not None:
        changed["matrix"] = question.matrix.changed(text=texts.text(*table, "text") or "")
    for key in question.worded:
        value = getattr(question, key)
        if isinstance(value, str):
            changed[key] = texts.text(*table, key) or ""
        else:
            changed[key] = tuple(texts.text(*table, key, item) or item for item in value)
    return question.changed(**changed)


def translation_rules(
    language: str,
    about: Mapping[str, str],
    questions: Sequence[Question],
    translations: Sequence[Translation],
) -> Iterator[Broken]:
    """All that is wrong with the translations of a survey."""
    if not translations:
        return
    own = _texts_of(about, questions)
    names = {question.name for question in questions}
    for name in dict.fromkeys(q.matrix.name for q in questions if q.matrix is not None):
        if name in names:
            rule = "must not be the name of a matrix and of a question, to be translated"
            yield Broken(("translations",), rule, name, "rename one of them")
    seen = {language.lower()}
    for each in translations:
        for broken in (*_language_rules(each.language, seen), *_table_rules(own, each.texts)):
            yield broken.under(("translations", each.language))


def _language_rules(tag: str, seen: set[str]) -> Iterator[Broken]:
    for broken in language_rules(tag):
        yield Broken((), broken.rule, tag, TAG_HINT)
        return
    if tag.lower() in seen:
        hint = "it stands in the survey already: remove this table, or give it another tag"
        yield Broken((), "must be another language than the others", tag, hint)
    seen.add(tag.lower())


def _table_rules(own: Mapping[str, Any], given: Any, place: Place = ()) -> Iterator[Broken]:
    """What a translation has at a place, beside the survey's own table, in which every text is."""
    if not isinstance(given, Mapping):
        yield Broken(place, "must be a table of keys and texts", given)
        return
    for key in [key for key in given if key not in own][:SHOWN]:
        yield _unknown((*place, key), given[key], own)
    if len(place) == LIST:
        yield from _list_rules(own, given, place)
        return
    for key, text in own.items():
        where = (*place, key)
        if isinstance(text, Mapping):
            if len(where) < LIST or given.get(key) != SAME:
                yield from _table_rules(text, given.get(key, {}), where)
        elif key in given:
            yield from _wording_rules(where, given[key])
        elif place or key not in MAY_STAY:
            yield Broken(where, "must be given", None, f"translate {text!r}")


def _list_rules(own: Mapping[str, str], given: Mapping[str, Any], place: Place) -> Iterator[Broken]:
    """Every choice or label, and no two that people could not tell apart."""
    first: dict[str, str] = {}
    for item in own:
        text: Any = given.get(item)
        if item not in given:
            continue
        if broken := tuple(_wording_rules((*place, item), text)):
            yield from broken
        elif text in first:
            rule = f"must be different from the text for {first[text]!r}"
            yield Broken((*place, item), rule, text, "reword one of them")
        else:
            first[text] = item
    missing = [item for item in own if item not in given]
    if missing:
        few = ", ".join(map(repr, missing[:SHOWN]))
        more = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        key = json.dumps(missing[0], ensure_ascii=False)
        hint = f'for example {place[-1]} = {{ {key} = "…" }}, or {place[-1]} = "{SAME}"'
        yield Broken(place, f"must translate {few}{more}", None, hint)


def _wording_rules(place: Place, value: Any) -> Iterator[Broken]:
    """A text under the rules of the one that it translates."""
    if value == "":
        yield Broken(place, "must not be empty", value, "write it, or remove the whole language")
    elif len(place) > LIST:
        if fault := item_fault(value):
            yield Broken(place, fault[0], value, fault[1])
    else:
        rules = line_rules if place[-1] in (*LINES, "unit") else text_rules
        yield from (broken.under(place) for broken in rules(value))


def _unknown(place: Place, value: object, own: Mapping[str, Any]) -> Broken:
    listed = "label" if place[-2:-1] == ("labels",) else "choice"
    what = {2: "question", LIST + 1: listed}.get(len(place))
    few = ", ".join(map(repr, list(own)[:SHOWN])) + ", …" * (len(own) > SHOWN)
    hint = nearest(place[-1], list(own)[:1000], f"there are {few}" if few else "remove it", "{!r}")
    rule = f"is not a {what} of the survey" if what else "is not a text that the survey has"
    return Broken(place, rule, value, hint)
