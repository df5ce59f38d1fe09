"""The counts of one bit that the statements of 000 and 003 run over, and how they are worded."""

from __future__ import annotations

from fractions import Fraction

from krand_lab.statements.ranges import noises_in_words, squares_in_words

__all__ = [
    "COUNTS",
    "DENOMINATOR",
    "RANGE",
    "ROOTS",
    "ROOT_USERS",
    "SQUARES",
    "USERS",
    "Count",
]

Count = tuple[int, Fraction, int]
"""Users, noise, and a count of ones."""

USERS = 12
DENOMINATOR = 12
RANGE = rf"$1 \le N \le {USERS}$ and {noises_in_words(DENOMINATOR)}"
COUNTS = rf"{RANGE}; every count $0 \le i \le N$."
ROOT_USERS = 30
ROOTS = 12
SQUARES = f"{squares_in_words(ROOT_USERS, ROOTS)}."
