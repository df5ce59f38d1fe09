"""From one [[question]] table to a question, or to what is known of it and what is wrong."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from krand.survey.choices import Choices, read_items
from krand.survey.coherence import Outline
from krand.survey.complaints import check_table
from krand.survey.models import QUESTION_TABLES, QuestionTable
from krand.survey.questions import KINDS, Kind, Question, question_from
from krand.survey.rules import Broken

__all__ = ["question_of"]

Keys = dict[str, Any]


def question_of(raw: object, directory: Path | None) -> tuple[Question | Outline, list[Broken]]:
    """The question; where anything is wrong, its outline and every mistake."""
    if not isinstance(raw, dict):
        return _outline({}, None), [Broken((), "must be a table of keys and values", raw)]
    model = QUESTION_TABLES.get(raw["type"]) if isinstance(raw.get("type"), str) else None
    if model is None:
        return _without_type(raw)
    kind = KINDS[raw["type"]]
    keys, broken = check_table(model, raw)
    if any(key.name == "choices_file" for key in kind.keys):
        items, wrong = _items(raw, keys, directory)
        broken += wrong
        keys = _with_items(keys, items)
    broken += kind.pair_rules(keys)
    if broken:
        return _outline(keys, kind.kind), broken
    return question_from(keys), []


def _without_type(raw: Keys) -> tuple[Outline, list[Broken]]:
    """Without its type only what all questions share can be checked."""
    shared = {key: raw[key] for key in raw if key in QuestionTable.model_fields}
    keys, broken = check_table(QuestionTable, shared)
    known = ", ".join(QUESTION_TABLES)
    if "type" in raw:
        near = difflib.get_close_matches(str(raw["type"]), QUESTION_TABLES, 1)
        hint = f'did you mean "{near[0]}"?' if near else ""
        broken.append(Broken(("type",), f"must be one of {known}", raw["type"], hint))
    else:
        broken.append(Broken(("type",), "must be given", None, f"one of {known}"))
    return _outline(keys, None), broken


def _outline(keys: Keys, kind: Kind | None) -> Outline:
    return Outline(
        name=keys.get("name"), kind=kind, positions=None, levels=None, weight=keys.get("weight")
    )


def _items(raw: Keys, keys: Keys, directory: Path | None) -> tuple[tuple[str, ...], list[Broken]]:
    """The choices, which stand in the survey or in a file."""
    if "choices" not in raw and "choices_file" not in raw:
        hint = 'add choices = ["…", "…"] or choices_file = "items.txt"'
        return (), [Broken(("choices",), "choices or choices_file must be given", None, hint)]
    if "choices" in raw and "choices_file" in raw:
        value, hint = raw["choices_file"], "keep one of the two"
        return (), [Broken(("choices_file",), "must not be given beside choices", value, hint)]
    if "choices_file" in raw and directory is None:
        rule, hint = "must not stand in a plan", "make the plan again: the list itself goes into it"
        return (), [Broken(("choices_file",), rule, raw["choices_file"], hint)]
    if "choices_file" in raw and directory is not None:
        return _items_of_file(keys, directory)
    if "choices_sha256" in raw:
        value, rule = raw["choices_sha256"], "must only be given beside choices_file"
        return (), [Broken(("choices_sha256",), rule, value, "remove it")]
    return tuple(keys.get("choices", ())), []


def _items_of_file(keys: Keys, directory: Path) -> tuple[tuple[str, ...], list[Broken]]:
    if "choices_file" not in keys:  # given, but not as a text
        return (), []
    file, pinned = keys["choices_file"], keys.get("choices_sha256")
    items, faults = read_items(directory, file)
    broken = [fault.under(("choices_file",)) for fault in faults]
    if not broken and pinned is not None and Choices(items).sha256 != pinned:
        rule = f"must be the SHA-256 of the items in {file}, {Choices(items).sha256}"
        hint = "the list has changed: restore it, or make a new survey with the new hash"
        broken.append(Broken(("choices_sha256",), rule, pinned, hint))
    return items, broken


def _with_items(keys: Keys, items: tuple[str, ...]) -> Keys:
    """The choices themselves, wherever they came from."""
    others = {key: value for key, value in keys.items() if not key.startswith("choices")}
    return others | ({"choices": items} if items else {})
