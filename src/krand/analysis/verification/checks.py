"""A check, and what counts as the same number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from krand.planning.checking import not_below
from krand.survey.plan_check import RELATIVE

__all__ = ["Check", "check", "first_of", "not_below", "same"]

ABSOLUTE = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, and in a sentence what that means or what is wrong."""

    name: str
    holds: bool
    says: str


def check(name: str, faults: Iterable[str], says: str) -> Check:
    """The check holds if there are no faults; otherwise the first one speaks."""
    fault = first_of(faults)
    return Check(name, not fault, fault or says)


def first_of(faults: Iterable[str]) -> str:
    """The first fault, and how many more there are; nothing if there is none."""
    found = list(faults)
    if not found:
        return ""
    return found[0] + (f" (and {len(found) - 1:,} more)" if len(found) > 1 else "")


def same(told: float | None, true: float | None, scale: float = 1.0) -> bool:
    """Whether two numbers are one but for rounding; `scale` is what they are measured in."""
    if told is None or true is None:
        return told is true
    return math.isclose(told, true, rel_tol=RELATIVE, abs_tol=ABSOLUTE * scale)
