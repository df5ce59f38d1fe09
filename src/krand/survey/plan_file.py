"""Plan files: read back as they were written, or refused.

A plan holds decisions. Reading checks what any device can: that the file is canonical, the survey
keeps every rule, and the lanes are those of its survey and noise. Whether exactly this noise keeps
the survey's policy takes mathematics: see `check_promise`, wherever a plan is used, and
`krand verify`. A device compares the plan's hash instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole
from krand.promise import MAX_BITS, NOISE_GRID, DummyLaw, Linkage
from krand.survey.lanes import Lane
from krand.survey.plain_values import Count, Malformed, Positive, part, within
from krand.survey.plan import FORMAT, Analyst, Mixer, Plan
from krand.survey.plan_check import check_parts
from krand.survey.rules import HINT
from krand.survey.survey import Survey

RULE = "must be a plan made by krand"
MOST_PADDING = 2**38
"""Above all dummies of the longest law at as many positions as a survey may have."""


Messages = Annotated[int, within(1, MAX_BITS)]
Padding = Annotated[int, within(0, MOST_PADDING)]
Numerators = tuple[Annotated[int, within(1, NOISE_GRID // 2 - 1)], ...]
Laws = tuple[tuple[Annotated[str, Field(pattern="^[1-9][0-9]{0,18}$")], ...], ...]
"""Weights are text, because they are too large for numbers of JSON."""


def read_plan(path: str | Path) -> Plan:
    """The plan in a file; it needs no other file.

    >>> from krand import read_plan
    >>> from krand.testing import small_plan
    >>> small_plan().save("plan.json")
    >>> read_plan("plan.json") == small_plan()
    True
    """
    return parse_plan(read_whole("plan", path), str(path))


def parse_plan(content: bytes, source: str = "plan") -> Plan:
    """The plan in these bytes, which must be exactly those that krand would write."""
    values = json_object("plan", content, source, RULE)
    try:
        plan = plan_of(values)
        unchanged = plan.bytes == content
    except KrandError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fault = f"{error}; " if type(error) in (ValueError, Malformed) else ""
        raise InvalidInput("plan", RULE, source, fault + HINT) from None
    if not unchanged:
        raise InvalidInput(
            "plan", "must be unchanged since it was made, down to the last byte", source, HINT
        )
    return plan


def plan_of(values: Mapping[str, Any]) -> Plan:
    """The plan that `Plan.values` gave; ValueError and the like for anything else."""
    if values["format"] != FORMAT:
        hint = f"it was made by another version of krand; {HINT}"
        raise InvalidInput("plan", f"must have the format {FORMAT}", values["format"], hint)
    plan = noisy_plan(Survey.read(values["survey"], "plan"), values)
    check_parts(plan)
    return plan


def noisy_plan(survey: Survey, values: Mapping[str, Any]) -> Plan:
    """What a plan holds beside its survey, as it stands there."""
    mixed = survey.trust.has_dummies
    laws = part(Laws, values, "laws") if mixed else ()
    lanes = part(tuple[Mapping[str, Any], ...], values, "lanes")
    return Plan(
        survey=survey,
        lanes=tuple(_lane(survey, number, lane) for number, lane in enumerate(lanes)),
        numerators=() if mixed else part(Numerators, values, "numerators"),
        laws=tuple(DummyLaw(tuple(map(int, law))) for law in laws),
        analyst=part(Analyst, values, "analyst") if "analyst" in values else None,
        mixers=part(tuple[Mixer, ...], values, "mixers"),
    )


def _lane(survey: Survey, number: int, values: Mapping[str, Any]) -> Lane:
    try:
        mixed = survey.trust.has_dummies
        return Lane(
            number=number,
            block=part(str, values, "block"),
            offset=part(Count, values, "offset"),
            positions=part(Positive, values, "positions"),
            messages=part(Messages, values, "messages"),
            records=survey.linkage is Linkage.RECORD,
            law=part(Count, values, "law") if mixed else None,
            padding=part(Padding, values, "padding") if mixed else 0,
        )
    except Malformed as error:
        raise error.inside(number).inside("lanes") from None
