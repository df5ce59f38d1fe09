"""A check, what counts as the same number, and whether a promise is no better than its noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from krand.planning.checking import not_below, too_good
from krand.showing import at_most
from krand.survey.plan import Plan, Promise
from krand.survey.plan_check import RELATIVE, less_than_asked

__all__ = ["Check", "check", "first_of", "not_below", "policy_check", "promise_check", "same"]

ABSOLUTE = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, and in a sentence what that means or what is wrong."""

    name: str
    holds: bool
    says: str


def check(name: str, faults: Iterable[str], says: str) -> Check:
    """The check holds if there are no faults; otherwise it says the first one."""
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


def promise_check(told: Promise, true: Promise, of: str, name: str = "promise") -> Check:
    """Nothing may be claimed to be better than it comes out when recomputed."""
    says = (
        f"recomputed for {of}: ε = {at_most(true.epsilon)}, δ = {at_most(true.delta)},"
        f" η = {at_most(true.eta)}, ε₀ = {at_most(true.local_epsilon)} ({true.assurance.shown});"
        " nothing better is claimed"
    )
    return check(name, too_good(told, true), says)


def policy_check(plan: Plan, *promises: Promise) -> Check:
    """Whether each of them is what the survey asked for."""
    faults = [fault for promise in promises for fault in less_than_asked(plan, promise)]
    return check("policy", faults, "the promise is as good as the survey asked for")
