"""From the tables of a document to a Survey: every rule is put to everything that can be read."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput
from krand.promise import Linkage, Policy
from krand.survey.about import about_from
from krand.survey.choices import Choices, read_items
from krand.survey.coherence import (
    PEOPLE,
    Outline,
    matrix_rules,
    outline,
    people_rules,
    survey_rules,
)
from krand.survey.complaints import check_table, unknown_key
from krand.survey.condition_rules import condition_rules
from krand.survey.conditions import condition_from
from krand.survey.mechanisms import Mechanism
from krand.survey.models import (
    QUESTION_TABLES,
    HeadTable,
    PolicyTable,
    QuestionTable,
    ScheduleTable,
    SurveyFile,
    TogetherTable,
    TrustTable,
)
from krand.survey.questions import KINDS, Kind, Matrix, Question, question_from
from krand.survey.rules import Broken
from krand.survey.rules import Path as Steps
from krand.survey.schedule import Schedule, schedule_from, schedule_rules
from krand.survey.survey import Survey, Together, Trust, runs_rules
from krand.survey.translations import Translation, translation_rules, translations_from

NO_POLICY = "add a [policy] table with epsilon, delta and minimum_crowd"
Keys = dict[str, Any]


def assemble(
    document: dict[str, Any], directory: Path | None
) -> tuple[Survey | None, list[Broken]]:
    """The survey, or None and all that is wrong.

    Lists of choices are looked for in `directory`; where there is none they must stand inside.
    """
    head, broken = _head(document)
    trust, wrong = _trust(document)
    broken += wrong
    schedule, wrong = _schedule(document, head)
    broken += wrong
    policy, wrong = _policy(document, None if trust is None else trust.noise)
    broken += wrong
    questions: list[Question | Outline] = []
    places: list[Steps] = []
    tables, wrong = _tables(document, "question")
    broken += wrong
    if not tables and not wrong:
        broken.append(Broken(("question",), "must be given", None, "add a [[question]] table"))
    for index, raw in enumerate(tables):
        found, wrong = questions_of(raw, ("question", index), directory)
        questions += found.values()
        places += found
        broken += [entry.under(("question", index)) for entry in wrong]
    groups, wrong = _groups(document)
    broken += wrong
    # Where the linkage cannot be read, nobody knows what would go with it.
    unread = "linkage" in document and "linkage" not in head
    linkage = None if unread else Linkage(head.get("linkage", Linkage.BIT))
    copies = head.get("copies", 1)
    broken += survey_rules(
        [
            question if isinstance(question, Outline) else outline(question, where)
            for question, where in zip(questions, places, strict=True)
        ],
        [group.get("questions") for group in groups],
        linkage,
        copies,
    )
    # All statements of a table have its condition, and its mistakes.
    for entry in condition_rules(questions, [place[:2] for place in places]):
        if entry not in broken:
            broken.append(entry)
    read = {w: q for w, q in zip(places, questions, strict=True) if isinstance(q, Question)}
    broken += matrix_rules(tuple(read.values()), tuple(read))
    translations, wrong = _translations(document)
    broken += wrong
    if len(read) == len(questions) and not wrong:
        about = about_from({key: value for key, value in head.items() if key != "closes"})
        broken += translation_rules(about, tuple(read.values()), translations)
    if trust is not None:
        broken += trust.noise.trust_rules(linkage, trust.mixers)
    people = {key: head[key] for key in PEOPLE if key in head}
    if trust is not None and policy is not None:
        broken += people_rules(people, policy.minimum_crowd)
    if broken or policy is None or linkage is None or trust is None:
        return None, broken
    return Survey(
        id=head["id"],
        policy=policy,
        questions=tuple(read.values()),
        together=tuple(Together(tuple(g["questions"]), g.get("weight")) for g in groups),
        linkage=linkage,
        copies=copies,
        rounds=head.get("rounds", 1),
        trust=trust,
        about=about_from(head),
        invitations=head.get("invitations", False),
        translations=translations,
        schedule=schedule,
        **people,
    ), []


def _head(document: dict[str, Any]) -> tuple[dict[str, Any], list[Broken]]:
    """What stands above the first table; a misspelled table is found here too."""
    keys = SurveyFile.model_fields
    unknown = [unknown_key(key, document[key], keys) for key in document if key not in keys]
    known = {key: document[key] for key in document if key in HeadTable.model_fields}
    head, broken = check_table(HeadTable, known)
    return head, unknown + broken


def _trust(document: dict[str, Any]) -> tuple[Trust | None, list[Broken]]:
    """None if it cannot be read: then nobody knows what the policy must hold."""
    table, broken = check_table(TrustTable, document.get("trust", {}))
    if broken:
        return None, [entry.under(("trust",)) for entry in broken]
    broken = list(runs_rules(table.get("analyst_runs", ()), table.get("mixers", 1)))
    if broken:
        return None, [entry.under(("trust",)) for entry in broken]
    return Trust(**table), []


def _schedule(
    document: dict[str, Any], head: dict[str, Any]
) -> tuple[Schedule | None, list[Broken]]:
    """The windows of its rounds with it, which only the time zone can tell."""
    if "schedule" not in document:
        return None, list(schedule_rules(head.get("rounds", 1), None))
    table, broken = check_table(ScheduleTable, document["schedule"])
    if not broken:
        rounds = head.get("rounds", 1)
        try:
            found = schedule_from(table).filled(head.get("id", ""), rounds)
            broken = list(found.window_rules(rounds)) or list(found.first_rules(rounds))
        except InvalidInput as error:
            where = tuple(error.field.split(".")[1:])
            broken = [Broken(where, error.rule, error.value, error.hint)]
    if broken:
        return None, [entry.under(("schedule",)) for entry in broken]
    closes = head.get("closes")
    if closes not in (None, found.last_day, found.last_day.isoformat()):
        rule, hint = "must be left out: the schedule says when rounds close", "remove it"
        return None, [Broken(("closes",), rule, str(closes), hint)]
    return found, []


def _policy(
    document: dict[str, Any], noise: Mechanism | None
) -> tuple[Policy | None, list[Broken]]:
    if "policy" not in document:
        return None, [Broken(("policy",), "must be given", None, NO_POLICY)]
    raw = document["policy"]
    table, broken = check_table(PolicyTable, raw)
    if isinstance(raw, dict):
        if "delta" not in raw and "eta" not in raw:
            rule, hint = "delta or eta must be given", "add delta = 1e-6"
            broken.append(Broken(("delta",), rule, None, hint))
        if "delta" in raw and "eta" in raw:
            rule, hint = "must not be given beside delta", "keep the one that was agreed on"
            broken.append(Broken(("eta",), rule, raw["eta"], hint))
        broken += () if noise is None else noise.crowd_rules(raw, table)
    broken = [entry.under(("policy",)) for entry in broken]
    if noise is not None:
        broken += noise.policy_rules(table.get("max_local_epsilon"))
    if broken or noise is None:
        return None, broken
    noise.fill_in(table)
    try:
        return Policy(**table), []
    except InvalidInput as error:  # a rule of the privacy engine that the models do not know
        return None, [Broken(("policy", error.field), error.rule, error.value, error.hint)]


def _tables(document: dict[str, Any], key: str) -> tuple[list[Any], list[Broken]]:
    """The elements of an array of tables."""
    if key not in document:
        return [], []
    if isinstance(document[key], list):
        return document[key], []
    rule = "must be an array of tables"
    return [], [Broken((key,), rule, document[key], f"write [[{key}]] with two brackets")]


def _translations(document: dict[str, Any]) -> tuple[tuple[Translation, ...], list[Broken]]:
    """The texts of each other language, which are checked beside those of the survey."""
    raw = document.get("translations", {})
    if isinstance(raw, dict):
        return translations_from(raw), []
    hint = "write [translations.fr], then title and the other texts"
    return (), [Broken(("translations",), "must be a table of languages", raw, hint)]


def _groups(document: dict[str, Any]) -> tuple[list[dict[str, Any]], list[Broken]]:
    """What is valid of each group."""
    tables, broken = _tables(document, "together")
    groups = []
    for index, raw in enumerate(tables):
        group, wrong = check_table(TogetherTable, raw)
        groups.append(group)
        broken += [entry.under(("together", index)) for entry in wrong]
    return groups, broken


def questions_of(
    raw: object, where: Steps, directory: Path | None
) -> tuple[dict[Steps, Question | Outline], list[Broken]]:
    """A question, or one for each statement of a matrix, by its place in the file.

    Where anything is wrong: its outline, and every mistake.
    """
    question, broken = _question(raw, where, directory)
    if not isinstance(raw, dict) or "statements" not in raw:
        return {where: question}, broken
    if "matrix" in raw:
        rule, hint = "must not be given beside statements", "statements make a matrix: remove it"
        broken.append(Broken(("matrix",), rule, raw["matrix"], hint))
    rows = raw["statements"] if isinstance(raw["statements"], list) else []
    found: dict[Steps, Question | Outline] = {}
    for index, row in enumerate(rows):
        place = (*where, "statements", index)
        if isinstance(question, Question) and not broken:
            matrix = Matrix(name=question.name, text=question.text)
            own = {"name": row["name"], "text": row.get("text", "")}
            found[place] = replace(question, **own, matrix=matrix)
        else:
            name = row.get("name") if isinstance(row, dict) else None
            found[place] = _outline({"name": name} if isinstance(name, str) else {}, None, place)
    return found, broken


def _question(
    raw: object, where: Steps, directory: Path | None
) -> tuple[Question | Outline, list[Broken]]:
    if not isinstance(raw, dict):
        return _outline({}, None, where), [Broken((), "must be a table of keys and values", raw)]
    model = QUESTION_TABLES.get(raw["type"]) if isinstance(raw.get("type"), str) else None
    if model is None:
        return _without_type(raw, where)
    kind = KINDS[raw["type"]]
    keys, broken = check_table(model, raw)
    if any(key.name == "choices_file" for key in kind.keys):
        items, wrong = _items(raw, keys, directory)
        broken += wrong
        # The choices themselves, wherever they came from.
        keys = {key: value for key, value in keys.items() if not key.startswith("choices")}
        keys |= {"choices": items} if items else {}
    broken += kind.pair_rules(keys)
    if broken:
        return _outline(keys, kind.kind, where), broken
    return question_from({key: keys[key] for key in keys if key != "statements"}), []


def _without_type(raw: Keys, where: Steps) -> tuple[Outline, list[Broken]]:
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
    return _outline(keys, None, where), broken


def _outline(keys: Keys, kind: Kind | None, where: Steps) -> Outline:
    return Outline(
        where=where,
        name=keys.get("name"),
        kind=kind,
        positions=None,
        levels=None,
        weight=keys.get("weight"),
        asked_if=condition_from(keys["asked_if"]) if "asked_if" in keys else None,
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
