"""Frozen values as plain data, and back: the one reader of krand's own JSON files.

pydantic reads them as strictly as it can: every field of a dataclass is there, nothing else is, and
each has the type that it was declared with, such as `Annotated[int, within(1)]`. An error says
where the data is wrong. Fields that two equal values need not share (`compare=False`) are neither
written nor read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreConfig, SchemaValidator, to_json

from krand.errors import InvalidInput, KrandError
from krand.files import json_object
from krand.mistakes import path_text
from krand.models import rule_of
from krand.survey.canonical import EXACT

if TYPE_CHECKING:
    import numpy as np

STRICT = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)


class Malformed(ValueError):
    """Plain data that is not what it should be; says where, and what it must be."""

    def __init__(self, rule: str, path: tuple[str | int, ...] = ()) -> None:
        self.rule, self.path = rule, path
        super().__init__(f"{path_text(path)}: {rule}" if path else rule)

    def inside(self, step: str | int) -> Malformed:
        """The same error, seen from the value around."""
        return Malformed(self.rule, (step, *self.path))


def within(low: int = 0, high: int = EXACT) -> FieldInfo:
    """A rule: a whole number in this range."""
    field: FieldInfo = Field(ge=low, le=high)
    return field


def digits(count: int, may_be_empty: bool = False) -> AfterValidator:
    """A rule: a text of so many hexadecimal digits, or none where it may be empty."""

    def check(value: str) -> str:
        known = set(value) <= set("0123456789abcdef")
        if not known or len(value) not in (count, 0 if may_be_empty else count):
            raise ValueError(f"must be {count} hexadecimal digits")
        return value

    return AfterValidator(check)


Count = Annotated[int, within()]
Positive = Annotated[int, within(1)]
Amount = Annotated[float, Field(ge=0)]
Sha256 = Annotated[str, digits(64)]
Signature = Annotated[str, digits(128)]


def arrays(scalar: Any) -> PlainValidator:
    """A rule: lists, or lists of lists, of one numpy type."""

    def read(value: Any) -> np.ndarray:
        import numpy as np  # which no device needs for the files that it reads

        kinds: dict[Any, set[type]] = {np.bool_: {bool}, np.int64: {int}}
        allowed = kinds.get(scalar, {int, float})
        try:
            found = np.array(value if isinstance(value, list) else None, dtype=object)
            if not {type(entry) for entry in found.flat} <= allowed:
                raise ValueError
            return found.astype(scalar)
        except (ValueError, OverflowError):
            kind = "true or false" if scalar is np.bool_ else "numbers"
            raise ValueError(f"must be a whole table of {kind}") from None

    return PlainValidator(read)


def values_in(content: bytes, name: str, form: str, source: str, hint: str) -> dict[str, Any]:
    """The fields of a file that must have this format, without the format."""
    rule = f"must be a file of the format {form}"
    values = json_object(name, content, source, rule)
    if values.get("format") != form:
        raise InvalidInput(name, rule, source, f"{said_format(values)}; {hint}")
    return {key: value for key, value in values.items() if key != "format"}


@contextmanager
def as_file(name: str, form: str, source: str, hint: str) -> Iterator[None]:
    """Errors about plain data, told as errors about the file that it came from."""
    try:
        yield
    except Malformed as error:
        rule = f"must be a file of the format {form}"
        raise InvalidInput(name, rule, source, f"{error}; {hint}") from None


def said_format(values: Mapping[str, Any]) -> str:
    """What a file says it is, for whoever expected another."""
    said = values.get("format")
    return f"it says {said!r:.60}" if isinstance(said, str) else "it does not say what it is"


@cache
def written_names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that files have."""
    return tuple(field.name for field in fields(kind) if field.compare)


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what is not a finite number is None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in written_names(type(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "tolist"):  # an array
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value


def infinite_epsilon(promise: Any) -> Any:
    """A promise as plain data, in which an infinite ε₀ is None, as a value has it."""
    if isinstance(promise, dict) and promise.get("local_epsilon", 0) is None:
        return {**promise, "local_epsilon": math.inf}
    return promise


def typed(kind: Any, value: Any) -> Any:
    """The value of this type that the plain data stands for."""
    try:
        (found,) = _reader(kind).validate_json(to_json([value]))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        rule = rule_of(first["type"], first.get("ctx", {}), first["msg"])
        raise Malformed(rule, first["loc"][1:]) from None
    except KrandError as error:  # a rule of the value's own
        raise Malformed(str(error)) from None
    return found


def part(kind: Any, values: Mapping[str, Any], name: str) -> Any:
    """The value of this type in one field of an object; other fields are not looked at."""
    if name not in values:
        raise Malformed("must be given", (name,))
    try:
        return typed(kind, values[name])
    except Malformed as error:
        raise error.inside(name) from None


def typed_fields(kind: Any, values: Mapping[str, Any], but: str) -> dict[str, Any]:
    """The fields of a dataclass by name, all but one."""
    hints = get_type_hints(kind, include_extras=True)
    names = [name for name in written_names(kind) if name != but]
    for name in values:
        if name not in names:
            raise Malformed("is not a field of this object", (name,))
    return {name: part(hints[name], values, name) for name in names}


@cache
def _reader(kind: Any) -> SchemaValidator:
    """Reads lists of one value of this type; made once for each type."""
    schema = TypeAdapter(tuple[kind], config=STRICT).core_schema
    return SchemaValidator(_whole(schema), CoreConfig(strict=True))


def _whole(schema: Any, written: tuple[str, ...] = ()) -> Any:
    """What pydantic reads, without the defaults of fields: a file has all that are written."""
    if isinstance(schema, list):
        return [_whole(each, written) for each in schema]
    if not isinstance(schema, dict):
        return schema
    match schema.get("type"):
        case "default":
            return _whole(schema["schema"], written)
        case "dataclass-field" if schema["name"] not in written:
            return {**schema, "init": False}
        case "dataclass":
            written = written_names(schema["cls"])
    return {key: _whole(each, written) for key, each in schema.items()}
