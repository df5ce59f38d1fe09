"""The drafts' estimators: true counts from noisy ones, without bias, and their variance."""

from __future__ import annotations

from fractions import Fraction


def count_of_flips(reported: int, people: int, q: Fraction, copies: int = 1) -> Fraction:
    """How many of the people have a 1, if so many 1s were reported: E = k·(N·q + (1-2q)·c)."""
    return (Fraction(reported, copies) - people * q) / (1 - 2 * q)


def variance_of_flips(people: int, q: Fraction, copies: int = 1) -> Fraction:
    """Of that estimate: every bit of every person and copy flips on its own."""
    return people * q * (1 - q) / (1 - 2 * q) ** 2 / copies


def count_of_dummies(tokens: int, reaches: list[int]) -> int:
    """The true count under the dummies of several mixers: each adds R on average."""
    return tokens - sum(reaches)


def variance_of_dummies(laws: list[list[int]]) -> Fraction:
    """Of that count: the laws of the mixers, each symmetric around its R, are independent."""
    return sum(
        (
            Fraction(sum(w * (x - len(law) // 2) ** 2 for x, w in enumerate(law)), sum(law))
            for law in laws
        ),
        Fraction(0),
    )
