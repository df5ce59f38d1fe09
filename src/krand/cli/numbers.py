"""Numbers as people write them: 10M, 1e7, 10_000_000, 1/3."""

from __future__ import annotations

import math
import re
from decimal import Decimal, DecimalException
from typing import TYPE_CHECKING, Any

import click

from krand.errors import InvalidInput

if TYPE_CHECKING:  # generic for type checkers; older releases of click cannot be subscripted
    _CountType = click.ParamType[int]
    _CountsType = click.ParamType[tuple[int, ...]]
    _RealType = click.ParamType[float]
else:
    _CountType = _CountsType = _RealType = click.ParamType

_SCALE = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12}
_COUNT = re.compile(r"([+-]?\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d{1,3})?)([kmgbt]?)", re.IGNORECASE)
_MAX_DIGITS = 40
"""No count has more digits; longer ones are rejected before any arithmetic."""


def parse_count(field: str, text: str) -> int:
    """A whole number, exactly as written: 10M, 2.5k, 1e7, 10_000_000."""
    hint = "write it like 10M, 10k, 1e7 or 10_000_000"
    match = _COUNT.fullmatch(text.strip())
    if match is None or len(text) > _MAX_DIGITS:
        raise InvalidInput(field, "must be a whole number", text, hint)
    digits, suffix = match.groups()
    try:
        value = Decimal(digits.replace("_", "")) * _SCALE[suffix.lower()]
    except DecimalException:
        raise InvalidInput(field, "must be a whole number", text, hint) from None
    if value.adjusted() > _MAX_DIGITS or value != value.to_integral_value():
        raise InvalidInput(field, "must be a whole number", text, hint)
    return int(value)


def parse_real(field: str, text: str) -> float:
    """A finite number: 0.003, 1e-6, 1/3; infinities and words are rejected."""
    hint = "write it like 0.003, 1e-6 or 1/3"
    above, slash, below = text.partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InvalidInput(field, "must be a number", text, hint) from None
    finite = math.isfinite(value) and math.isfinite(float(above))
    if not finite or (slash and not math.isfinite(float(below))):
        raise InvalidInput(field, "must be a finite number", text, hint)
    return value


def _field(param: click.Parameter | None) -> str:
    return param.name if param is not None and param.name else "value"


class Count(_CountType):
    """A whole number in any of the usual notations, optionally within limits."""

    name = "count"

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = value if isinstance(value, int) else parse_count(_field(param), str(value))
        if (self.low is not None and number < self.low) or (
            self.high is not None and number > self.high
        ):
            limits = [f"at least {self.low:,}"] if self.low is not None else []
            limits += [f"at most {self.high:,}"] if self.high is not None else []
            raise InvalidInput(_field(param), f"must be {' and '.join(limits)}", number)
        return number


class Counts(_CountsType):
    """Several whole numbers, separated by commas."""

    name = "counts"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return tuple(map(int, value))
        field = _field(param)
        parts = [part for part in str(value).split(",") if part.strip()]
        if not parts:
            raise InvalidInput(
                field, "must contain at least one number", value, "write it like 1,4,16"
            )
        return tuple(dict.fromkeys(parse_count(field, part) for part in parts))


class Real(_RealType):
    """A finite number, possibly written as a fraction."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        return parse_real(_field(param), str(value))
