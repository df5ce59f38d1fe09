"""Frozen values as plain data, and back: the one reader of krand's own JSON files.

Reading is strict: every field of a value is there, nothing else is, and each has the type that it
was declared with. A type may have a rule of its own: `Annotated[int, Whole(1)]`. An error says
where the data is wrong. Fields that two equal values need not share (`compare=False`) are neither
written nor read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from krand.errors import InvalidInput, KrandError
from krand.files import json_object
from krand.mistakes import path_text
from krand.survey.canonical import EXACT

Reader = Callable[[Any], Any]

NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


class Malformed(ValueError):
    """Plain data that is not what it should be; says where, and what it should be."""

    def __init__(self, rule: str, path: tuple[str | int, ...] = ()) -> None:
        self.rule, self.path = rule, path
        super().__init__(f"{path_text(path)}: {rule}" if path else rule)

    def inside(self, step: str | int) -> Malformed:
        """The same error, seen from the value around."""
        return Malformed(self.rule, (step, *self.path))


@dataclass(frozen=True, slots=True)
class Whole:
    """A rule: a whole number in this range."""

    low: int = 0
    high: int = EXACT

    def check(self, value: Any) -> None:
        """Raise an error for any other value."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise Malformed(f"should be a whole number from {self.low:,} to {self.high:,}")


@dataclass(frozen=True, slots=True)
class Digits:
    """A rule: a text of so many hexadecimal digits, or none where it may be empty."""

    count: int
    may_be_empty: bool = False

    def check(self, value: Any) -> None:
        """Raise an error for any other value."""
        known = isinstance(value, str) and set(value) <= set("0123456789abcdef")
        if not known or len(value) not in (self.count, 0 if self.may_be_empty else self.count):
            raise Malformed(f"should be {self.count} hexadecimal digits")


class NotNegative:
    """A rule: a number that is 0 or above."""

    def check(self, value: float) -> None:
        """Raise an error for any other number."""
        if value < 0:
            raise Malformed("should be a number, 0 or above")


Count = Annotated[int, Whole()]
Positive = Annotated[int, Whole(1)]
Amount = Annotated[float, NotNegative()]
Sha256 = Annotated[str, Digits(64)]
Signature = Annotated[str, Digits(128)]


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
    return _reader(kind)(value)


def part(kind: Any, values: Mapping[str, Any], name: str) -> Any:
    """The value of this type in one field of an object; other fields are not looked at."""
    if name not in values:
        raise Malformed("is missing", (name,))
    try:
        return typed(kind, values[name])
    except Malformed as error:
        raise error.inside(name) from None


def typed_fields(kind: Any, values: Any, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a dataclass by name, all but some."""
    hints = get_type_hints(kind, include_extras=True)
    names = [name for name in written_names(kind) if name not in but]
    return _named({name: _reader(hints[name]) for name in names}, values)


def _named(parts: Mapping[str, Reader], values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise Malformed("should be an object")
    if values.keys() != parts.keys():
        for name in parts:
            if name not in values:
                raise Malformed("is missing", (name,))
        unknown = next(name for name in values if name not in parts)
        raise Malformed("should not be there", (unknown,))
    found = {}
    name = ""
    try:
        for name, part in parts.items():
            found[name] = part(values[name])
    except Malformed as error:
        raise error.inside(name) from None
    return found


@cache
def _reader(kind: Any) -> Reader:
    """What turns plain data into a value of this type; made once for each type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if kind is float:
        return _float
    if kind in NAMES:
        return _exactly(kind)
    if origin is Annotated:
        return _ruled(*arguments)
    if origin is UnionType:
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        read = _reader(inner)
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        return _tuple(arguments)
    if origin is Mapping:
        return _mapping(_reader(arguments[1]))
    if getattr(origin, "__module__", "").startswith("numpy"):
        return _array(arguments)
    return _enum(kind) if issubclass(kind, Enum) else _dataclass(kind)


def _ruled(kind: Any, *rules: Any) -> Reader:
    read = _reader(kind)

    def ruled(value: Any) -> Any:
        found = read(value)
        for rule in rules:
            rule.check(found)
        return found

    return ruled


def _exactly(kind: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise Malformed(f"should be {NAMES[kind]}")
        return value

    return read


def _float(value: Any) -> float:
    if type(value) is float or (type(value) is int and abs(value) <= EXACT):
        return value
    if type(value) is int:
        return float(value)
    raise Malformed("should be a number")


def _tuple(kinds: tuple[Any, ...]) -> Reader:
    endless = kinds[-1] is Ellipsis
    readers = [_reader(kind) for kind in kinds if kind is not Ellipsis]
    first = readers[0]

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Malformed("should be a list")
        if not endless and len(value) != len(readers):
            raise Malformed(f"should have {len(readers)} entries")
        place, found = 0, []
        try:
            for place, entry in enumerate(value):
                found.append((first if endless else readers[place])(entry))
        except Malformed as error:
            raise error.inside(place) from None
        return tuple(found)

    return read


def _mapping(entry: Reader) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Malformed("should be an object")
        return _named(dict.fromkeys(value, entry), value)

    return read


def _array(arguments: tuple[Any, ...]) -> Reader:
    import numpy as np  # which no device needs for the files that it reads

    # NDArray is the class itself, or since numpy 2.5 a name for it.
    scalar = get_args(arguments[1])[0] if len(arguments) > 1 else arguments[0]
    kinds: dict[Any, set[type]] = {np.bool_: {bool}, np.int64: {int}}
    allowed = kinds.get(scalar, {int, float})

    def read(value: Any) -> np.ndarray:
        try:
            found = np.array(value if isinstance(value, list) else None, dtype=object)
            if not {type(entry) for entry in found.flat} <= allowed:
                raise ValueError
            return found.astype(scalar)
        except (ValueError, OverflowError):
            kind = NAMES[bool] if scalar is np.bool_ else "numbers"
            raise Malformed(f"should be a whole table of {kind}") from None

    return read


def _enum(kind: type[Enum]) -> Reader:
    def read(value: Any) -> Enum:
        try:
            return kind(value)
        except (ValueError, TypeError):
            known = ", ".join(str(entry.value) for entry in kind)
            raise Malformed(f"should be one of {known}, found {value!r:.60}") from None

    return read


def _dataclass(kind: Any) -> Reader:
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: _reader(hints[name]) for name in written_names(kind)}

    def read(value: Any) -> Any:
        found = _named(parts, value)
        try:
            return kind(**found)
        except KrandError as error:  # a rule of the value's own
            raise Malformed(str(error)) from None

    return read
