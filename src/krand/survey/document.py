"""A survey as plain data, in the shape of its file: what a plan carries and hashes.

Every value is written out, so that a later change of a default cannot change an old survey. Lists
of choices stand inside, wherever they came from: a device needs no other file. `survey_of` reads
such data back with nothing but Python; a survey file, which people write, has a reader of its own
that finds all mistakes at once (`krand.survey.reading`).
"""

from __future__ import annotations

from typing import Any

from krand.promise import Policy
from krand.survey.choices import Choices
from krand.survey.questions import Choice, Kind, Number, PickAny, Question, Words, YesNo
from krand.survey.survey import Survey, Together

__all__ = ["document_of", "survey_of"]


def document_of(survey: Survey) -> dict[str, Any]:
    """Plain data that `survey_of` reads back as the same survey."""
    return {
        "id": survey.id,
        "linkage": survey.linkage.value,
        "copies": survey.copies,
        "rounds": survey.rounds,
        "policy": _policy(survey),
        "question": [_question(question) for question in survey.questions],
        "together": [_together(group) for group in survey.together],
    }


def _policy(survey: Survey) -> dict[str, Any]:
    policy = survey.policy
    return _given(
        {
            "epsilon": policy.epsilon,
            "delta": policy.delta,
            "eta": policy.eta,
            "population": policy.population,
            "colluding": policy.colluding,
            "max_local_epsilon": policy.max_local_epsilon,
            "assurance": policy.assurance.value,
        }
    )


def _together(group: Together) -> dict[str, Any]:
    return _given({"questions": list(group.questions), "weight": group.weight})


def _question(question: Question) -> dict[str, Any]:
    shared = {
        "name": question.name,
        "type": question.kind.value,
        "text": question.text,
        "weight": question.weight,
    }
    return _given(shared | _own(question))


def _own(question: Question) -> dict[str, Any]:
    match question:
        case Choice(choices=choices):
            return {"choices": list(choices)}
        case PickAny(choices=choices, at_most=at_most):
            return {"choices": list(choices), "at_most": at_most}
        case Number(edges=edges):
            return {"edges": list(edges), "open": _open(question), "integer": question.integer}
        case Words(size=size, hashes=hashes, at_most=at_most):
            return {"positions": size, "hashes": hashes, "at_most": at_most}
    return {}


def _open(question: Number) -> bool | str:
    if question.open_below == question.open_above:
        return question.open_below
    return "below" if question.open_below else "above"


def _given(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def survey_of(document: dict[str, Any]) -> Survey:
    """The survey that `document_of` wrote; the values themselves refuse what breaks a rule."""
    return Survey(
        document["id"],
        Policy(**_table(document["policy"])),
        tuple(map(_read_question, document["question"])),
        tuple(
            Together(tuple(_table(group)["questions"]), group.get("weight"))
            for group in document["together"]
        ),
        document["linkage"],
        document["copies"],
        document["rounds"],
    )


def _read_question(document: dict[str, Any]) -> Question:
    values = dict(_table(document))
    kind = Kind(values.pop("type"))
    match kind:
        case Kind.YES_NO:
            return YesNo(**values)
        case Kind.CHOICE:
            return Choice(**values | {"choices": Choices(values["choices"])})
        case Kind.PICK_ANY:
            return PickAny(**values | {"choices": Choices(values["choices"])})
        case Kind.NUMBER:
            values |= {"edges": tuple(values["edges"]), **_read_open(values.pop("open"))}
            return Number(**values)
        case Kind.WORDS:
            return Words(size=values.pop("positions"), **values)
    raise ValueError(f"question.type: {kind} is no question by itself")


def _read_open(value: bool | str) -> dict[str, bool]:
    if value not in (True, False, "below", "above"):
        raise ValueError("question.open: should be true, false, below or above")
    return {"open_below": value in (True, "below"), "open_above": value in (True, "above")}


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("should be an object")
    return value
