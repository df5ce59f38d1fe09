"""Numbers as text, and values that show themselves in notebooks.

A proven bound is rounded up, so that no text promises more than the proof.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from importlib import import_module

__all__ = ["Shown", "at_most", "number"]


class Shown:
    """A value that a notebook shows as a table.

    `krand.notebook` knows how. It is found by name, because it lies above the values it shows.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("krand.notebook").html_of(self)
        return html


def number(value: float, digits: int = 4) -> str:
    """Thousands with commas, small numbers with significant digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 1e9 or abs(value) < 1e-3:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_most(value: float, digits: int = 4) -> str:
    """A bound, rounded up: what is shown must not promise more than what is proven."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = Decimal(1).scaleb(math.floor(math.log10(abs(value))) - digits + 1)
    return number(float(Decimal(repr(float(value))).quantize(unit, ROUND_CEILING)), digits)
