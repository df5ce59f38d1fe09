"""Plan files: read back as they were written, or refused.

Numbers are facts: nothing is computed here, so that a device needs no mathematics, and a plan stays
readable when a formula becomes better. Whether they are right is for `krand verify` to say, and for
`check_promise`, wherever a plan is used; a device compares the plan's hash instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole
from krand.promise import MAX_CROWD, NOISE_GRID, DummyLaw, Precision, Promise
from krand.survey.document import survey_of
from krand.survey.layout import Block, layout_of
from krand.survey.plain_values import (
    Amount,
    Malformed,
    Positive,
    Sha256,
    Whole,
    infinite_epsilon,
    part,
    typed_fields,
    written_names,
)
from krand.survey.plan import (
    FORMAT,
    Margin,
    Mixing,
    Plan,
    PlannedBlock,
    WorstShift,
)
from krand.survey.plan_check import check_asked
from krand.survey.rules import HINT
from krand.survey.survey import Survey

RULE = "must be a plan made by krand"
PROMISED = {
    **dict.fromkeys(("epsilon", "delta", "eta", "local_epsilon"), Amount),
    "crowd": Annotated[int, Whole(1, MAX_CROWD)],
    "colluding": Annotated[int, Whole(0, MAX_CROWD)],
}
"""What numbers of a promise must be, beyond their types."""


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
    check_asked(plan)
    return plan


def plan_of(values: Mapping[str, Any]) -> Plan:
    """Facts as they stand in the file; only the layout follows from the survey again.

    ValueError and the like for anything else.
    """
    if values["format"] != FORMAT:
        hint = f"it was made by another version of krand; {HINT}"
        raise InvalidInput("plan", f"must have the format {FORMAT}", values["format"], hint)
    survey = survey_of(values["survey"])
    blocks, shifts = values["blocks"], part(tuple[WorstShift, ...], values, "shifts")
    return Plan(
        survey=survey,
        blocks=tuple(
            _block(survey, *each)
            for each in zip(layout_of(survey).blocks, blocks, shifts, strict=True)
        ),
        messages=part(Positive, values, "messages"),
        overflow=part(Amount, values, "overflow"),
        promise=_promise(values),
        analyst_key=part(Sha256, values, "analyst_key") if "analyst_key" in values else None,
        **_parts(survey, values),
    )


def _parts(survey: Survey, values: Mapping[str, Any]) -> dict[str, Any]:
    """What mixers add, where they add noise and only there."""
    noise = survey.trust.noise
    if ("mixing" in values) != noise.has_dummies:
        rule = f"must {'' if noise.has_dummies else 'not '}be present with this noise"
        raise InvalidInput("mixing", rule, noise.code, f"the plan was changed; {HINT}")
    return {"mixing": mixing_of(values["mixing"])} if noise.has_dummies else {}


def _promise(values: Mapping[str, Any]) -> Promise:
    given = infinite_epsilon(values["promise"])
    promise: Promise = part(Promise, {"promise": given}, "promise")
    for field, kind in PROMISED.items():
        part(kind, given, field)
    return promise


def _block(survey: Survey, block: Block, values: dict[str, Any], shift: WorstShift) -> PlannedBlock:
    """A block with its noise, and with its messages where devices flip single bits."""
    least = 0 if survey.trust.noise.has_dummies else 1
    noise = Annotated[int, Whole(least, NOISE_GRID // 2 - 1)]
    return PlannedBlock(
        block=block,
        numerator=part(noise, values, "noise_numerator"),
        precision=_precision(values),
        shift=shift,
        room=part(Positive, values, "messages") if survey.shape.has_room(survey) else 0,
        margins=tuple(
            Margin(part(str, each, "question"), part(Positive, each, "cells"), _precision(each))
            for each in values.get("margins", [])
        ),
    )


def _precision(values: dict[str, Any]) -> Precision:
    return Precision(*(part(Amount, values, name) for name in written_names(Precision)))


def mixing_of(values: dict[str, Any]) -> Mixing:
    """What `Mixing.values` gave; ValueError and the like for anything else."""
    laws = part(tuple[tuple[Annotated[str, _Weight()], ...], ...], values, "laws")
    others = {name: value for name, value in values.items() if name != "laws"}
    found = typed_fields(Mixing, others, but=("laws",))
    return Mixing(laws=tuple(DummyLaw(tuple(map(int, law))) for law in laws), **found)


class _Weight:
    """A rule: a weight of a law, which is too large for numbers of JSON."""

    def check(self, value: str) -> None:
        """Raise an error for any other text."""
        if not re.fullmatch("[1-9][0-9]{0,18}", value):
            raise Malformed("should be a whole number as text")
