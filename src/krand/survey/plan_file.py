"""Plan files: read back as they were written, or refused.

Numbers are facts: nothing is computed here, so that a device needs no mathematics, and a plan stays
readable when a formula becomes better. Whether they are right is for `krand verify` to say, and for
`check_promise`, wherever a plan is used; a device compares the plan's hash instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole, whole
from krand.promise import (
    MAX_CROWD,
    NOISE_GRID,
    Assumption,
    Assurance,
    DummyLaw,
    Method,
    Precision,
    Promise,
)
from krand.survey.document import survey_of
from krand.survey.layout import Block, layout_of
from krand.survey.plan import (
    FORMAT,
    FORMATS,
    OLD_FORMAT,
    Margin,
    Mixer,
    Mixing,
    Plan,
    PlannedBlock,
    WorstShift,
    format_for,
)
from krand.survey.plan_check import HINT, check_asked
from krand.survey.seals import Seal
from krand.survey.survey import Survey

__all__ = ["mixing_of", "parse_plan", "plan_of", "promise_of", "read_plan"]

RULE = "must be a plan made by krand"
IDENTITY_BYTES = 32
WEIGHT = re.compile("[1-9][0-9]{0,18}")
Code = TypeVar("Code", bound=StrEnum)


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
        fault = f"{error}; " if type(error) is ValueError else ""
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
    if values["format"] not in FORMATS:
        hint = f"it was made by another version of krand; {HINT}"
        raise InvalidInput("plan", f"must have the format {FORMAT}", values["format"], hint)
    blocks, survey = values["blocks"], survey_of(values["survey"])
    _check_format(values["format"], survey)
    key = values.get("analyst_key")
    if key is not None:
        _key("analyst_key", key, survey.seal.wire.key_bytes)
    shifts = map(_shift, values["shifts"])
    return Plan(
        survey=survey,
        blocks=tuple(
            _block(survey, *each)
            for each in zip(layout_of(survey).blocks, blocks, shifts, strict=True)
        ),
        messages=whole("messages", values["messages"], 1),
        overflow=_number("overflow", values["overflow"]),
        promise=promise_of(values["promise"]),
        analyst_key=key,
        format=values["format"],
        **_parts(survey, values),
    )


def _check_format(name: str, survey: Survey) -> None:
    """What a survey may say depends on the format; each survey has one, and may have the oldest."""
    if name == OLD_FORMAT and (survey.expected or survey.release_every):
        raise ValueError(f"expected, release_every: not in the format {OLD_FORMAT}")
    if name != format_for(survey) and (name, format_for(survey)) != (OLD_FORMAT, FORMAT):
        raise ValueError(f"seal: with this one the format is {format_for(survey)}")


def _parts(survey: Survey, values: Mapping[str, Any]) -> dict[str, Any]:
    """What belongs to the survey's mechanism, and nothing else."""
    readers: dict[str, Any] = {
        "mixing": partial(mixing_of, seal=survey.seal),
        "flips": promise_of,
    }
    own = survey.trust.noise.parts
    for part in readers:
        if (part in values) != (part in own):
            rule = f"must {'' if part in own else 'not '}be there with this noise"
            hint = f"the plan was changed; {HINT}"
            raise InvalidInput(part, rule, survey.trust.noise.code, hint)
    return {part: readers[part](values[part]) for part in own}


def _block(survey: Survey, block: Block, values: dict[str, Any], shift: WorstShift) -> PlannedBlock:
    """A block with its noise, and with its messages where devices flip single bits."""
    numerator, least = values["noise_numerator"], survey.trust.noise.least_numerator
    return PlannedBlock(
        block=block,
        numerator=whole("noise_numerator", numerator, least, NOISE_GRID // 2 - 1),
        precision=_precision(values),
        shift=shift,
        room=whole("messages", values["messages"], 1) if survey.shape.has_room(survey) else 0,
        margins=tuple(map(_margin, values.get("margins", []))),
    )


def mixing_of(values: dict[str, Any], seal: Seal) -> Mixing:
    """What `Mixing.values` gave; ValueError and the like for anything else."""
    return Mixing(
        laws=tuple(DummyLaw(tuple(map(_weight, law))) for law in values["laws"]),
        lane_laws=tuple(whole("mixing.lane_laws", each) for each in values["lane_laws"]),
        paddings=tuple(whole("mixing.paddings", each) for each in values["paddings"]),
        surplus=_number("mixing.surplus", values["surplus"]),
        mixers=tuple(_mixer(each, seal) for each in values["mixers"]),
    )


def _weight(value: object) -> int:
    text = _text("mixing.laws", value)
    if not WEIGHT.fullmatch(text):
        raise ValueError("mixing.laws: should be whole numbers as text")
    return int(text)


def _mixer(values: dict[str, Any], seal: Seal) -> Mixer:
    keys = tuple(_key("mixing.keys", key, seal.wire.key_bytes) for key in values["keys"])
    identity = _key("mixing.identity", values["identity"], IDENTITY_BYTES)
    return Mixer(name=_text("mixing.name", values["name"]), identity=identity, keys=keys)


def _key(name: str, value: object, length: int) -> str:
    if not re.fullmatch(f"[0-9a-f]{{{2 * length}}}", _text(name, value)):
        rule = f"must be a key of {length:,} bytes, in hexadecimal"
        raise InvalidInput(name, rule, value, HINT)
    return str(value)


def _precision(values: dict[str, Any]) -> Precision:
    names = ("sigma", "half_width_95", "half_width_percent")
    return Precision(*(_number(name, values[name]) for name in names))


def _margin(values: dict[str, Any]) -> Margin:
    cells = whole("margins.cells", values["cells"], 1)
    return Margin(_text("margins.question", values["question"]), cells, _precision(values))


def _shift(values: dict[str, Any]) -> WorstShift:
    return WorstShift(
        _text("shifts.name", values["name"]),
        whole("shifts.corrupted", values["corrupted"]),
        _number("shifts.too_high", values["too_high"]),
        _number("shifts.too_low", values["too_low"]),
    )


def promise_of(values: dict[str, Any]) -> Promise:
    """Every number is one, of the declared kind."""
    numbers = ("epsilon", "delta", "eta")
    local = values["local_epsilon"]
    if not isinstance(values["assumptions"], list):
        raise ValueError("promise.assumptions: should be a list")
    return Promise(
        **{name: _number(f"promise.{name}", values[name]) for name in numbers},
        local_epsilon=math.inf if local is None else _number("promise.local_epsilon", local),
        assurance=_code("promise.assurance", Assurance, values["assurance"]),
        method=_code("promise.method", Method, values["method"]),
        crowd=whole("promise.crowd", values["crowd"], 1, MAX_CROWD),
        colluding=whole("promise.colluding", values["colluding"], 0, MAX_CROWD),
        assumptions=tuple(
            _code("promise.assumptions", Assumption, each) for each in values["assumptions"]
        ),
    )


def _number(name: str, value: object) -> float:
    """Infinity and NaN are no JSON; they were refused before."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise ValueError(f"{name}: should be a number, 0 or above")
    return value


def _code(name: str, codes: type[Code], value: object) -> Code:
    """One of the words that this version of krand knows."""
    try:
        return codes(_text(name, value))
    except ValueError:
        known = ", ".join(codes)
        raise InvalidInput(name, f"must be one of {known}", value, HINT) from None


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: should be text")
    return value
