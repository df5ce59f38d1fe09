"""One way to write a value as JSON, so that its hash names it in every language.

The rules are those of RFC 8785 (JSON Canonicalization Scheme): keys sorted, no spaces, numbers as
JavaScript prints them. A page can hash a plan with `JSON.parse`, sorting and `JSON.stringify`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping

from krand.errors import InvalidInput

Json = None | bool | int | float | str | list["Json"] | tuple["Json", ...] | Mapping[str, "Json"]

EXACT = 2**53
"""Beyond this a double, which is all that JavaScript has, no longer holds every whole number."""


def canonical_json(value: Json) -> bytes:
    """The value in canonical form, as UTF-8."""
    return _text(value).encode()


def sha256_of(value: Json) -> str:
    """The name of a value: the SHA-256 of its canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _text(value: Json) -> str:
    match value:
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            if abs(value) > EXACT:
                raise InvalidInput("value", "must be a whole number up to 2^53", value)
            return str(value)
        case float():
            return _number(value)
        case Mapping():
            # RFC 8785 sorts by UTF-16 code units, which is what JavaScript compares.
            keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
            pairs = (f"{_text(key)}:{_text(value[key])}" for key in keys)
            return "{" + ",".join(pairs) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_text, value)) + "]"
    raise InvalidInput("value", "must be plain JSON", type(value).__name__)


def _number(value: float) -> str:
    """The shortest digits that give the same double, with JavaScript's exponents."""
    if not math.isfinite(value):
        raise InvalidInput("value", "must be a finite number", value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = _shortest(abs(value))
    count = len(mantissa)
    if count <= exponent <= 21:
        return sign + mantissa + "0" * (exponent - count)
    if 0 < exponent <= 21:
        return f"{sign}{mantissa[:exponent]}.{mantissa[exponent:]}"
    if -6 < exponent <= 0:
        return f"{sign}0.{'0' * -exponent}{mantissa}"
    power = f"e{'+' if exponent > 0 else '-'}{abs(exponent - 1)}"
    return f"{sign}{mantissa[0]}{'.' if count > 1 else ''}{mantissa[1:]}{power}"


def _shortest(value: float) -> tuple[str, int]:
    """Digits d and exponent n with value = 0.d × 10^n, from Python's shortest representation."""
    digits, _, power = f"{value!r}".partition("e")
    whole, _, part = digits.partition(".")
    exponent = int(power or 0) + len(whole)
    joined = (whole + part).rstrip("0")
    stripped = joined.lstrip("0")
    return stripped, exponent - (len(joined) - len(stripped))
