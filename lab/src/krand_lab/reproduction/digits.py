"""Numbers inside the reproduction's sentences."""

from __future__ import annotations

import math

from krand.wording.phrases import number

__all__ = ["digits"]

SMALLEST_PLAIN = 1e-4


def digits(value: float, count: int = 3) -> str:
    """So many significant digits; tiny numbers as a formula with a power of ten."""
    if value == 0 or abs(value) >= SMALLEST_PLAIN or not math.isfinite(value):
        return number(value, count)
    mantissa, exponent = f"{value:.{count - 1}e}".split("e")
    return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$"
