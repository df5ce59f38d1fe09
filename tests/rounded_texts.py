"""Texts with computed numbers, compared: words exactly, numbers as far as machines agree."""

from __future__ import annotations

import re

import pytest

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
"""Not digits within a word or a hash."""


def same_but_for_rounding(found: str, expected: str, relative: float = 1e-6) -> bool:
    """Whether the words are the same, and every number is but for its last digits.

    >>> same_but_for_rounding("x = 0.3333333333333333", "x = 0.3333333333333334")
    True
    >>> same_but_for_rounding("plan 1a2b", "plan 1a2c") or same_but_for_rounding("4", "5")
    False
    """
    if NUMBER.split(found) != NUMBER.split(expected):
        return False
    numbers = ([float(text) for text in NUMBER.findall(one)] for one in (expected, found))
    return next(numbers) == pytest.approx(next(numbers), rel=relative, abs=relative)
