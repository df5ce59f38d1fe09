"""Reading a release file: what is read has a release's shape, or an error says what has not.

So pages and checks cannot stumble over a file that is cut off, edited or another program's. What
the numbers say is not believed: `krand.analysis.verification` checks that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krand.analysis.published import PublishedRelease, PublishedTable
from krand.analysis.results_file import FORMAT
from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole
from krand.promise import MAX_POPULATION, NOISE_GRID
from krand.survey.rules import path_text

__all__ = ["published", "read_published", "said_format", "shaped"]

HINT = "krand estimate writes it"


def read_published(path: str | Path) -> dict[str, Any]:
    """The values of a release file, once they are seen to have a release's shape."""
    values = json_object("release", read_whole("release", path), str(path))
    published(values, str(path))
    return values


def published(values: Mapping[str, Any], source: str = "release") -> PublishedRelease:
    """What `release_values` gave or a file holds; InvalidInput says what is wrong with it."""
    if values.get("format") != FORMAT:
        rule = f"must be a file of the format {FORMAT}"
        raise InvalidInput("release", rule, source, f"{said_format(values)}; {HINT}")
    found: PublishedRelease = shaped("release", PublishedRelease, values, source, FORMAT)
    fault = _fault(found)
    if fault:
        raise _broken("release", FORMAT, source, fault)
    return found


def said_format(values: Mapping[str, Any]) -> str:
    """What a file says it is, for whoever expected another."""
    said = values.get("format")
    return f"it says {said!r:.60}" if isinstance(said, str) else "it does not say what it is"


def shaped(field: str, kind: type[Any], values: Mapping[str, Any], source: str, form: str) -> Any:
    """The values as a frozen dataclass, every type as declared; an error names what is not."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = path_text(tuple(first["loc"]))
        message = first["msg"]
        raise _broken(field, form, source, f"{where}: {message[:1].lower()}{message[1:]}") from None
    except KrandError as error:  # a rule of krand's own values
        raise _broken(field, form, source, str(error)) from None


def _broken(field: str, form: str, source: str, fault: str) -> InvalidInput:
    return InvalidInput(field, f"must be a file of the format {form}", source, fault)


def _fault(found: PublishedRelease) -> str:
    """What types cannot say: numbers that must be possible, tables that must be rectangular."""
    if not 1 <= found.people <= MAX_POPULATION:
        return f"people: must be from 1 to {MAX_POPULATION:,}"
    if not found.plan.blocks:
        return "plan.blocks: must not be empty"
    if not all(0 < block.noise_numerator < NOISE_GRID // 2 for block in found.plan.blocks):
        return "plan.blocks: noise must be above 0 and below 1/2"
    levels = [
        *(question.confidence for question in found.questions),
        *(words.confidence for words in found.words),
        *(joint.table.confidence for joint in found.joint),
    ]
    if not all(0 < level < 1 for level in levels):
        return "confidence: must be between 0 and 1, both excluded"
    for question in found.questions:
        if not question.rows:
            return f"questions: {question.name} has no answers"
        if question.sampling is not None and (question.sampling.population or math.inf) < (
            found.people
        ):
            return f"questions: {question.name} is about fewer people than took part"
    for joint in found.joint:
        if not _is_rectangular(joint.table):
            return f"joint: {' × '.join(joint.table.questions)} is no whole table"
    return ""


def _is_rectangular(table: PublishedTable) -> bool:
    shape = tuple(len(labels) for labels in table.labels)
    parts = (
        *(table.counts, table.consistent, table.standard_errors),
        *(table.interval.low, table.interval.high),
        *(table.simultaneous.low, table.simultaneous.high),
    )
    return (
        len(shape) >= 2
        and len(shape) == len(table.questions) == len(table.answers)
        and all(0 < most <= size for most, size in zip(table.answers, shape, strict=True))
        and all(_has_shape(part, shape) for part in parts)
        and _has_shape(table.readable, shape, (bool,))
    )


def _has_shape(cells: Any, shape: tuple[int, ...], kinds: tuple[type, ...] = (int, float)) -> bool:
    """Lists in lists of numbers, as deep and as long as the shape says."""
    if not shape:
        return type(cells) in kinds
    return (
        isinstance(cells, list)
        and len(cells) == shape[0]
        and all(_has_shape(part, shape[1:], kinds) for part in cells)
    )
