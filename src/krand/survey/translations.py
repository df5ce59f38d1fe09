"""A survey's texts in other languages: every text has a place, and a translation fills them all.

Names, positions, noise and promise never depend on the language: `Survey.in_language` is the survey
as if it had been written in another one, with the same positions for the same answers.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from krand.survey.about import LINES, TEXTS, About
from krand.survey.questions import Question
from krand.survey.rules import Broken, item_fault, language_rules, line_rules, text_rules

Place = tuple[str, ...]
"""Where a text stands: ("title",), ("question", "pet", "choices", "cat")."""
SAME = "same"
"""Instead of a table of choices or labels: names that are the same in this language."""
MAY_STAY = (("organiser",), ("contact",))
"""Names and addresses: without a translation they stay as they are."""
SHOWN = 5
DEEPEST = 4
"""Steps to a text."""
TAG_HINT = "for example [translations.de] or [translations.pt-BR]"


@dataclass(frozen=True, slots=True)
class Translation:
    """All texts of a survey in one more language, with the keys of a survey file.

    >>> from krand import Translation
    >>> texts = {"title": "Animaux", "question": {"pet": {"choices": {"cat": "chat"}}}}
    >>> Translation("fr", texts).text("question", "pet", "choices", "cat")
    'chat'
    """

    language: str
    """A BCP 47 tag."""
    texts: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", _copied(self.texts))

    def text(self, *place: str) -> str | None:
        """The text at a place; None if there is none."""
        found: Any = self.texts
        for step in place:
            if found == SAME:
                return step
            found = found.get(step) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else None


def _copied(texts: Any, depth: int = 0) -> Any:
    if not isinstance(texts, Mapping) or depth > DEEPEST:
        return texts
    return {str(key): _copied(each, depth + 1) for key, each in texts.items()}


def translations_from(values: Mapping[str, Mapping[str, Any]]) -> tuple[Translation, ...]:
    """Those of a file or a plan, in the order of their tags."""
    return tuple(Translation(tag, values[tag]) for tag in sorted(values, key=str))


def nearest_language(languages: Sequence[str], wanted: str) -> str | None:
    """The one that is wanted, else the first of the same primary tag: "de" for "de-AT"."""
    parts = wanted.lower().split("-")
    for end in range(len(parts), 0, -1):
        start = "-".join([*parts[:end], ""])
        for language in languages:
            if f"{language.lower()}-".startswith(start):
                return language
    return None


def texts_of(about: About, questions: Sequence[Question]) -> dict[Place, str]:
    """Every text of a survey that people read, by its place."""
    found: dict[Place, str] = {(key,): getattr(about, key) for key in (*LINES, *TEXTS)}
    for question in questions:
        found["question", question.name, "text"] = question.text
        table = _table(question)
        if question.matrix is not None:
            found[*table, "text"] = question.matrix.text
        found[*table, "help"] = question.help
        for key in question.worded:
            value: str | Sequence[str] = getattr(question, key)
            if isinstance(value, str):
                found[*table, key] = value
            else:
                found |= {(*table, key, item): item for item in value}
    return {place: text for place, text in found.items() if text}


def _table(question: Question) -> Place:
    """Where help and answers stand: once for all rows of a matrix."""
    return "question", question.name if question.matrix is None else question.matrix.name


def worded(
    about: About, questions: Sequence[Question], texts: Translation
) -> tuple[About, tuple[Question, ...]]:
    """What is asked, and what is said about it, in another language."""
    given = {key: texts.text(key) for key in (*LINES, *TEXTS)}
    said: dict[str, Any] = {key: text for key, text in given.items() if text}
    before = {question.name: question for question in questions}
    found = {question.name: _worded(question, texts) for question in questions}
    for name, question in found.items():
        if (condition := question.asked_if) is not None:
            gate = before[condition.question]
            places = map(gate.place_named, condition.answers)
            answers = tuple(map(found[gate.name].position_name, places))
            found[name] = replace(question, asked_if=replace(condition, answers=answers))
    return replace(about, language=texts.language, **said), tuple(found.values())


def _worded(question: Question, texts: Translation) -> Question:
    table = _table(question)
    changed: dict[str, Any] = {
        "text": texts.text("question", question.name, "text") or "",
        "help": texts.text(*table, "help") or "",
    }
    if question.matrix is not None:
        changed["matrix"] = replace(question.matrix, text=texts.text(*table, "text") or "")
    for key in question.worded:
        value = getattr(question, key)
        if isinstance(value, str):
            changed[key] = texts.text(*table, key) or ""
        else:
            changed[key] = tuple(texts.text(*table, key, item) or item for item in value)
    return replace(question, **changed)


def translation_rules(
    about: About, questions: Sequence[Question], translations: Sequence[Translation]
) -> Iterator[Broken]:
    """All that is wrong with the translations of a survey."""
    if not translations:
        return
    own = texts_of(about, questions)
    names = {question.name for question in questions}
    for name in dict.fromkeys(q.matrix.name for q in questions if q.matrix is not None):
        if name in names:
            rule = "must not be the name of a matrix and of a question, to be translated"
            yield Broken(("translations",), rule, name, "rename one of them")
    seen = {about.language.lower()}
    for each in translations:
        for broken in (*_language_rules(each.language, seen), *_text_rules(own, each.texts)):
            yield broken.under(("translations", each.language))


def _language_rules(tag: str, seen: set[str]) -> Iterator[Broken]:
    for broken in language_rules(tag):
        yield Broken((), broken.rule, tag, TAG_HINT)
        return
    if tag.lower() in seen:
        hint = "it stands in the survey already: remove this table, or give it another tag"
        yield Broken((), "must be another language than the others", tag, hint)
    seen.add(tag.lower())


def _text_rules(own: Mapping[Place, str], texts: object) -> Iterator[Broken]:
    tables = {place[:end]: None for place in own for end in range(len(place))}
    lists: set[Place] = {place[:3] for place in own if len(place) == 4}
    done: set[Place] = set()
    """Where nothing more is to be said: right or wrong, it is there."""
    unknown: Counter[Place] = Counter()
    """How many in each table: a few are enough to see why."""
    for place, value in _leaves(texts):
        if place in lists and value == SAME:
            done.add(place)
        elif place in own:
            done.add(place)
            yield from (broken.under(place) for broken in _wording_rules(place, value))
        elif place in tables:
            if value != {}:
                done.add(place)
                yield Broken(place, "must be a table of keys and texts", value)
        elif (wrong := _first_unknown(place, own, tables)) not in done:
            done.add(wrong)
            unknown[wrong[:-1]] += 1
            if unknown[wrong[:-1]] <= SHOWN:
                yield _unknown(wrong, value, own)
    if isinstance(texts, Mapping):
        yield from _repeated(texts, lists)
    yield from _missing(own, done)


def _leaves(value: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """What stands at each place; tables within choices, and empty ones, as they are."""
    if isinstance(value, Mapping) and len(place) < DEEPEST and (value or not place):
        for key, each in value.items():
            yield from _leaves(each, (*place, key))
    else:
        yield place, value


def _wording_rules(place: Place, value: object) -> Iterator[Broken]:
    """A text under the rules of the one that it translates."""
    if value == "":
        yield Broken((), "must not be empty", value, "write it, or remove the whole language")
    elif len(place) == 4:
        if fault := item_fault(value):
            yield Broken((), fault[0], value, fault[1])
    else:
        one_line = place[-1] in (*LINES, "unit")
        rules: Any = line_rules if one_line else text_rules
        yield from rules(value)


def _first_unknown(place: Place, own: Mapping[Place, str], tables: Mapping[Place, None]) -> Place:
    ends = range(1, len(place) + 1)
    return next(place[:end] for end in ends if place[:end] not in tables and place[:end] not in own)


def _unknown(place: Place, value: object, own: Mapping[Place, str]) -> Broken:
    before, name = place[:-1], place[-1]
    depth = len(before)
    beside = dict.fromkeys(p[depth] for p in own if p[:depth] == before and len(p) > depth)
    listed = "label" if before[-1:] == ("labels",) else "choice"
    what = {1: "question", 3: listed}.get(depth)
    near = difflib.get_close_matches(name, list(beside)[:1000], 1)
    few = ", ".join([*map(repr, list(beside)[:SHOWN])]) + ", …" * (len(beside) > SHOWN)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {few}" if few else "remove it"
    rule = f"is not a {what} of the survey" if what else "is not a text that the survey has"
    return Broken(place, rule, value, hint)


def _repeated(texts: Mapping[str, Any], lists: set[Place]) -> Iterator[Broken]:
    """Two answers that people could not tell apart."""
    for place in sorted(lists):
        found: Any = texts
        for step in place:
            found = found.get(step) if isinstance(found, Mapping) else None
        first: dict[object, str] = {}
        for item, text in found.items() if isinstance(found, Mapping) else ():
            if isinstance(text, str) and text in first:
                rule = f"must be different from the text for {first[text]!r}"
                yield Broken((*place, item), rule, text, "reword one of them")
            elif isinstance(text, str):
                first[text] = item


def _missing(own: Mapping[Place, str], done: set[Place]) -> Iterator[Broken]:
    """Every text without a translation; choices and labels of a question in one complaint."""
    missing: dict[Place, list[Place]] = {}
    for place in own:
        known = any(place[:end] in done for end in range(len(place) + 1))
        if not known and place not in MAY_STAY:
            missing.setdefault(place[:3], []).append(place)
    for table, places in missing.items():
        if len(places[0]) < 4:
            yield Broken(table, "must be given", None, f"translate {own[places[0]]!r}")
            continue
        few = ", ".join(repr(own[place]) for place in places[:SHOWN])
        more = f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
        key = json.dumps(places[0][-1], ensure_ascii=False)
        hint = f'for example {table[-1]} = {{ {key} = "…" }}, or {table[-1]} = "{SAME}"'
        yield Broken(table, f"must translate {few}{more}", None, hint)
