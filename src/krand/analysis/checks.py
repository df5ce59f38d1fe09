"""A check and its three states, what counts as the same value, whether a promise is too good."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum, StrEnum
from typing import Any

import numpy as np

from krand.planning.promises import less_than_asked
from krand.promise import Promise
from krand.showing import at_most
from krand.survey.plain_values import written_names
from krand.survey.plan import Plan

RELATIVE = 1e-5
"""Other machines and releases of numpy differ by less, an edit that matters by more."""
ABSOLUTE = 1e-9
SMALLEST = 1e-30
"""Smaller probabilities are treated as zero."""


class State(StrEnum):
    """How a check came out."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"
    """Something is needed for it that is not there; nothing is known either way."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to check, and in a sentence what it means, what is wrong, or what is needed."""

    name: str
    state: State
    says: str

    @property
    def holds(self) -> bool:
        """Whether it was checked, and passed."""
        return self.state is State.PASSED


def passed(name: str, says: str) -> Check:
    """It was checked, and is so."""
    return Check(name, State.PASSED, says)


def failed(name: str, says: str) -> Check:
    """It was checked, and is not so."""
    return Check(name, State.FAILED, says)


def not_checked(name: str, says: str) -> Check:
    """It could not be checked; the sentence says what is needed."""
    return Check(name, State.NOT_CHECKED, says)


def check(name: str, faults: Iterable[str], says: str) -> Check:
    """The check passes if there are no faults; otherwise it says the first one."""
    fault = first_of(faults)
    return failed(name, fault) if fault else passed(name, says)


def state_of(states: Iterable[State]) -> State:
    """Of several together: failed if one is, passed if all are."""
    found = set(states)
    return next((s for s in (State.FAILED, State.NOT_CHECKED) if s in found), State.PASSED)


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


def promise_check(told: Promise, true: Promise, of: str) -> Check:
    """Nothing may be claimed to be better than it comes out when recomputed."""
    local = true.local_epsilon  # infinite where devices add no noise
    alone = "" if math.isinf(local) else f", ε₀ = {at_most(local)}"
    says = (
        f"recomputed for {of}: ε = {at_most(true.epsilon)}, δ = {at_most(true.delta)},"
        f" η = {at_most(true.eta)}{alone};"
        " nothing better is claimed"
    )
    return check("promise", _too_good(told, true), says)


def _too_good(told: Promise, true: Promise) -> Iterator[str]:
    """The differences in which a promise claims more than the recomputed one."""
    exact = (
        ("ε", told.epsilon, true.epsilon),
        ("crowd", told.crowd, true.crowd),
        ("colluding", told.colluding, true.colluding),
    )
    for name, claimed, found in exact:
        if claimed != found:
            yield f"{name} = {claimed} is claimed, but recomputed it is {found}"
    bounds = (
        ("δ", told.delta, true.delta),
        ("η", told.eta, true.eta),
        ("ε₀", told.local_epsilon, true.local_epsilon),
    )
    for name, claimed, found in bounds:
        if not claimed >= found * (1 - RELATIVE) - SMALLEST:
            recomputed = "unlimited" if math.isinf(found) else at_most(found, 6)
            yield f"{name} = {claimed:.6g} is claimed, but recomputed it is {recomputed}"
    for assumption in true.assumptions:
        if assumption not in told.assumptions:
            yield f"it needs an assumption that it does not state: {assumption}"


def policy_check(plan: Plan, promise: Promise) -> Check:
    """Whether a promise is what the survey asked for."""
    faults = less_than_asked(plan.survey.policy, promise)
    return check("policy", faults, "the promise is as good as the survey asked for")


def round_check(plan: Plan, number: int) -> Check:
    """Whether a round is one of those that were planned."""
    survey = plan.survey
    planned = survey.first_round <= number <= survey.rounds
    out = [] if planned else [f"round {number:,} was not planned"]
    return check("round", out, f"round {number:,} of {survey.rounds:,} that were planned")


def differences(told: Any, true: Any, where: str = "", scale: float = 1.0) -> Iterator[str]:
    """Every place at which the two differ; numbers are measured in `scale`."""
    if told is true:
        return
    told, true = _opened(told), _opened(true)
    if isinstance(told, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys((*told, *true)):
            at = f"{where}.{name}" if where else str(name)
            if name not in told or name not in true:
                yield f"{at} is {'not there' if name not in told else 'there'}"
            else:
                yield from differences(told[name], true[name], at, scale)
    elif isinstance(told, (list, tuple)) and isinstance(true, (list, tuple)):
        if len(told) != len(true):
            yield f"{where} has {len(told):,} entries instead of {len(true):,}"
            return
        for place, (claimed, found) in enumerate(zip(told, true, strict=True)):
            yield from differences(claimed, found, f"{where}[{place}]", scale)
    elif not _alike(told, true, scale):
        yield f"{where} is {told!r:.60} instead of {true!r:.60}"


def odd_names(told: Any, true: Any, where: str = "") -> Iterator[str]:
    """Every name that only one of the two has, whatever the values."""
    if isinstance(told, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys((*told, *true)):
            at = f"{where}.{name}" if where else str(name)
            if name in told and name in true:
                yield from odd_names(told[name], true[name], at)
            else:
                yield f"{at:.80} {'does not belong there' if name in told else 'is missing'}"
    elif isinstance(told, (list, tuple)) and isinstance(true, (list, tuple)):
        for place, (claimed, found) in enumerate(zip(told, true, strict=False)):
            yield from odd_names(claimed, found, f"{where}[{place}]")


def _opened(value: Any) -> Any:
    """Dataclasses as mappings, with the fields that files have; arrays as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in written_names(type(value))}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.value if isinstance(value, Enum) else value


def _alike(told: Any, true: Any, scale: float) -> bool:
    numbers = (int, float)
    if isinstance(told, bool) or isinstance(true, bool):
        return told is true
    if isinstance(told, numbers) and isinstance(true, numbers):
        return same(told, true, scale)
    return type(told) is type(true) and bool(told == true)
