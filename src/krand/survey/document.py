"""A survey as plain data, in the shape of its file: what a plan carries and hashes.

Every value is written out, so that a later change of a default cannot change an old survey. Lists
of choices stand inside, wherever they came from: a device needs no other file. `survey_of` reads
such data back with nothing but Python; a survey file, which people write, has a reader of its own
that finds all mistakes at once (`krand.survey.reading`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from krand.promise import Policy
from krand.survey.about import about_from, about_values
from krand.survey.coherence import PEOPLE
from krand.survey.questions import question_from, question_values
from krand.survey.schedule import schedule_from, schedule_values
from krand.survey.survey import Survey, Together, Trust
from krand.survey.translations import translations_from


def document_of(survey: Survey) -> dict[str, Any]:
    """Plain data that `survey_of` reads back as the same survey."""
    others = {each.language: each.texts for each in survey.translations}
    translations = {"translations": others} if others else {}
    return {
        "id": survey.id,
        **about_values(survey.about),
        "invitations": survey.invitations,
        "linkage": survey.linkage.value,
        "copies": survey.copies,
        "rounds": survey.rounds,
        **_given({key: getattr(survey, key) for key in PEOPLE}),
        "policy": _policy(survey),
        "question": [question_values(question) for question in survey.questions],
        "together": [
            _given({"questions": list(group.questions), "weight": group.weight})
            for group in survey.together
        ],
        "trust": _trust(survey.trust),
        **translations,
        **({} if survey.schedule is None else {"schedule": schedule_values(survey.schedule)}),
    }


def survey_text(survey: Survey) -> str:
    """The survey as a file that needs no other one: its lists of choices stand inside."""
    document = document_of(survey)
    tables = {key: document.pop(key) for key in ("policy", "trust", "schedule") if key in document}
    translations = document.pop("translations", {})
    lines = toml_lines(document)
    for name, table in tables.items():
        lines += ["", f"[{name}]", *toml_lines(table)]
    lines += translation_lines(translations)
    return "\n".join(lines) + "\n"


def translation_lines(translations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A table for each language, and one for each of its questions."""
    lines = []
    for language, texts in translations.items():
        about = {key: text for key, text in texts.items() if key != "question"}
        lines += ["", f"[translations.{language}]", *toml_lines(about)]
        for name, table in texts.get("question", {}).items():
            lines += ["", f"[translations.{language}.question.{name}]", *toml_lines(table)]
    return lines


def toml_lines(table: dict[str, Any]) -> list[str]:
    """The keys of a table, one on each line."""
    return [f"{key} = {toml_value(value)}" for key, value in table.items()]


def toml_value(value: Any) -> str:
    """A value as TOML writes it, in one line."""
    if isinstance(value, dict):
        pairs = (f"{_toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    # JSON writes everything else in the same way, but for one character.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _toml_key(key: str) -> str:
    """Plain words stand as they are; choices, which translations name, may be anything."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_value(key)


def _policy(survey: Survey) -> dict[str, Any]:
    policy = survey.policy
    return _given(
        {
            "epsilon": policy.epsilon,
            "delta": policy.delta,
            "eta": policy.eta,
            "minimum_crowd": policy.minimum_crowd,
            "colluding": policy.colluding,
            "max_local_epsilon": policy.max_local_epsilon,
        }
    )


def _trust(trust: Trust) -> dict[str, Any]:
    return {
        "noise": trust.noise.code,
        "mixers": trust.mixers,
        "analyst_runs": list(trust.analyst_runs),
    }


def _given(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def survey_of(document: dict[str, Any]) -> Survey:
    """The survey that `document_of` wrote; the values themselves refuse what breaks a rule."""
    return Survey(
        id=document["id"],
        policy=Policy(**_table(document["policy"])),
        questions=tuple(question_from(_table(question)) for question in document["question"]),
        together=tuple(
            Together(tuple(_table(group)["questions"]), group.get("weight"))
            for group in document["together"]
        ),
        linkage=document["linkage"],
        copies=document["copies"],
        rounds=document["rounds"],
        trust=Trust(**_table(document["trust"])),
        about=about_from(document),
        invitations=document["invitations"],
        **{key: document.get(key) for key in PEOPLE},
        translations=translations_from(_table(document.get("translations", {}))),
        schedule=schedule_from(_table(document["schedule"])) if "schedule" in document else None,
    )


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("should be an object")
    return value
