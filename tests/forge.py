"""Every field of every format, damaged one at a time, and what must come of it.

`damages` walks the tree of a JSON file (or of a TOML file, read): each field is dropped, added to,
given another type, put out of range, changed a little, and given the value of another file. What
catches it is said by one table: of files that `krand verify` reads that of the reference
(docs/reference/verification.md), of others `OTHERS` below. A field in no row fails, so that nobody
adds one without saying what protects it.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from effort import EFFORT
from krand import KrandError

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "verification.md"
Steps = tuple[str | int, ...]
OTHER_WORDS = {"devices": "table", "table": "simulation", "bit": "record", "exact": "normal"}
OTHER_WORDS |= {"normal": "exact", "promise": "local", "mixers": "devices"}
"""Another word that is possible at the same place."""
WRONG_TYPES: dict[type, tuple[Any, ...]] = {
    bool: ("yes", 2),
    int: ("x", None, True, 0.5),
    float: ("x", None, [1.0]),
    str: (7, None, ["x"]),
    list: ("x", None, {}, 7),
    dict: ("x", None, [], 7),
    type(None): ([], "x", -0.5),
}
OUT_OF_RANGE: dict[type, tuple[Any, ...]] = {
    int: (-1, 2**53 - 1),
    float: (-1.0, 1e300),
    str: ("", "\u202e", "x" * 20_001),
}
DROPPED = object()
STRUCTURE = ("dropped", "added", "type", "range")
"""Damages that may be caught by any check or refused, whatever the table says about a change."""
CALLED = {"format": "; it ", "links": "must be a table of keys"}
"""What a refusal calls a field where not by its key."""


@dataclass(frozen=True)
class Damage:
    """A file with one field that is not what it was."""

    field: str
    """`questions[].rows[].count`: the same for all questions and rows."""
    how: str
    """"dropped", "added", "type", "range", "changed" or "other"."""
    values: Any
    """The whole file, damaged."""
    now: str
    """What stands there now, for a message."""

    def is_named_in(self, refusal: str) -> bool:
        """Whether it says which field is wrong: by its key, or by that of what is around it."""
        names = [part.partition("[")[0] for part in self.field.split(".")][-2:]
        return any(name in refusal or CALLED.get(name, name) in refusal for name in names)

    def __str__(self) -> str:
        return f"{self.field} {self.how}: {self.now}"


def damages(values: Any, other: Any = None, one_in: int = 1) -> Iterator[Damage]:
    """Each field in every way: the first of all places that have this field and type.

    With little effort only one in so many, always the same ones.
    """
    for place, (field, how, steps, now) in enumerate(_all_ways(values, other)):
        chosen = zlib.crc32(f"{place} {field} {how}".encode()) % one_in == 0
        if chosen or EFFORT > 1:
            told = "nothing" if now is DROPPED else f"{now!r:.60}"
            yield Damage(field, how, _damaged(values, steps, now), told)


def _all_ways(values: Any, other: Any) -> Iterator[tuple[str, str, Steps, Any]]:
    seen: set[tuple[str, type]] = set()
    for steps, value in places(values):
        field = field_of(steps)
        if (field, type(value)) in seen:
            continue
        seen.add((field, type(value)))
        yield from ((field, how, steps, now) for how, now in _ways(value, _at(other, steps)))
        if isinstance(steps[-1], str):
            yield field, "dropped", steps, DROPPED
        if isinstance(value, dict):
            yield f"{field}.more", "added", (*steps, "more"), 1


def places(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Every value in a file, with the way to it."""
    if steps:
        yield steps, value
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from places(entry, (*steps, name))
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from places(entry, (*steps, place))


def field_of(steps: Steps) -> str:
    """A way to a value, whichever entry of a list it goes through."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def _ways(value: Any, other: Any) -> Iterator[tuple[str, Any]]:
    yield from (("changed", now) for now in changes(value))
    yield from (("type", now) for now in WRONG_TYPES.get(type(value), ()))
    yield from (("range", now) for now in OUT_OF_RANGE.get(type(value), ()) if now != value)
    is_number = isinstance(value, float) and isinstance(other, float)
    is_same = math.isclose(value, other, abs_tol=1e-6) if is_number else value == other
    if other is not None and not is_same and not isinstance(value, dict | list):
        yield "other", other


def changes(value: Any) -> list[Any]:
    """What somebody might write instead who wants it to be read."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        step = 1 + value // 50
        return [value + step, *([value - step] if value >= step else [])]
    if isinstance(value, float):
        step = 0.01 * abs(value) + 0.01
        return [value + step, value - step]
    if isinstance(value, str):
        return [OTHER_WORDS.get(value, value[:-1] + ("1" if value[-1:] == "0" else "0"))]
    if isinstance(value, list):
        return [value[:-1] if value else ["x"]]
    if isinstance(value, dict):
        return [dict(list(value.items())[1:])] if value else []
    return [1, "analyst"]


def _at(values: Any, steps: Steps) -> Any:
    """What stands there in another file; None if nothing does."""
    for step in steps:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values


def _damaged(values: Any, steps: Steps, now: Any) -> Any:
    copy = deepcopy(values)
    holder = _at(copy, steps[:-1])
    if now is DROPPED:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = deepcopy(now)
    return copy


def canonical(value: Any) -> bytes:
    """RFC 8785, a second time: sorted keys, no spaces, numbers as JavaScript writes them."""
    return _text(value).encode()


def _text(value: Any) -> str:
    match value:
        case dict():
            pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
            return "{" + ",".join(f"{_text(key)}:{_text(each)}" for key, each in pairs) + "}"
        case list():
            return "[" + ",".join(map(_text, value)) + "]"
        case float():
            return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    if value == 0 or (value == int(value) and abs(value) < 1e21):
        return str(int(value))
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(repr(value)):f}"
    digits, _, power = repr(value).partition("e")
    return f"{digits.removesuffix('.0')}e{int(power):+d}"


def toml(values: dict[str, Any]) -> str:
    """The same as TOML, a key on each line; keys without a value are left out."""
    return "".join(
        f"{_key(key)} = {_in_line(each)}\n" for key, each in values.items() if each is not None
    )


def _in_line(value: Any) -> str:
    match value:
        case dict():
            pairs = (f"{_key(key)} = {_in_line(v)}" for key, v in value.items() if v is not None)
            return "{ " + ", ".join(pairs) + " }"
        case list():
            return "[" + ", ".join(_in_line(each) for each in value if each is not None) + "]"
        case date():
            return value.isoformat()
    # JSON writes everything else in the same way, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


# --- what must come of it -------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """Some fields of a format, and what catches a change of them: names of checks, "refused", or
    "–" where some changes pass."""

    kind: str
    fields: tuple[str, ...]
    alone: frozenset[str]
    together: frozenset[str]

    def fits(self, kind: str, field: str) -> bool:
        """Whether the row is about this field; `[]` stands for itself."""
        patterns = (pattern.replace("[]", "[[]]") for pattern in self.fields)
        return kind == self.kind and any(fnmatchcase(field, pattern) for pattern in patterns)


@cache
def rows() -> tuple[Row, ...]:
    """The table of the reference, as the page has it."""
    page = REFERENCE.read_text(encoding="utf-8")
    found = re.findall(r"^\| (plan|tally|results|manifest|chain) \|(.*)\|(.*)\|(.*)\|$", page, re.M)
    return tuple(
        Row(kind, tuple(re.findall("`(.*?)`", fields)), _names(alone), _names(together))
        for kind, fields, alone, together in found
    )


def _names(cell: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+|–", cell))


def row_of(kind: str, field: str) -> Row:
    """The first row of the table about this field."""
    found = next((row for row in rows() if row.fits(kind, field)), None)
    assert found is not None, f"{REFERENCE.name} does not say what protects {field} of a {kind}"
    return found


def verdict(check: Callable[[], Any]) -> tuple[set[str], str]:
    """The checks that fail, in whichever file; "refused" and why, if a file is not even read."""
    try:
        found = check()
    except KrandError as error:
        return {"refused"}, str(error)
    checks = [entry for file in found for entry in file.checks]
    return {entry.name for entry in checks if entry.state.value == "failed"}, ""
