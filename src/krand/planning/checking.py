"""Checks that a plan promises no more than its noise gives, and what its survey asks for.

A process remembers the plans whose promise it has computed, by hash without a key: the promise does
not depend on the key that messages are sealed for. Nothing is kept on the disk: what somebody else
could write there would prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from krand.errors import InvalidInput, KrandError
from krand.planning.mechanisms import part_of
from krand.promise import Policy, Promise
from krand.showing import at_most
from krand.survey.plan import Plan
from krand.survey.plan_check import RELATIVE, check_alike, check_asked
from krand.survey.rules import HINT

SMALLEST = 1e-30
"""Smaller probabilities are treated as zero."""
_HERE: set[str] = set()


def check_promise(plan: Plan) -> None:
    """Refuse a plan that promises more than its noise gives, or less than its survey asks for.

    Each process computes that once.
    """
    check_alike(plan)
    if _name(plan) not in _HERE:
        recompute_promise(plan)
        remember_here(plan)


def recompute_promise(plan: Plan) -> None:
    """The same, always computed: for whoever signs a plan or adds its noise."""
    check_asked(plan)
    try:
        true = verify_promise(plan)
    except KrandError as error:
        rule = "must have noise that allows a promise"
        raise InvalidInput("plan", rule, plan.hash, f"{error}; {HINT}") from None
    for fault in too_good(plan.promise, true):
        rule = "must not promise more than its noise gives"
        raise InvalidInput("plan", rule, plan.hash, f"{fault}; {HINT}")


def verify_promise(plan: Plan, policy: Policy | None = None) -> Promise:
    """The promise recomputed for exactly the plan's noise; it must equal the plan's own.

    With another policy: what the same noise promises to a member of that one's crowd.
    """
    return part_of(plan.mechanism).promise(plan, policy or plan.survey.policy)


def too_good(told: Promise, true: Promise) -> Iterator[str]:
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
        if not not_below(claimed, found):
            recomputed = "unlimited" if math.isinf(found) else at_most(found, 6)
            yield f"{name} = {claimed:.6g} is claimed, but recomputed it is {recomputed}"
    for assumption in true.assumptions:
        if assumption not in told.assumptions:
            yield f"it needs an assumption that it does not state: {assumption}"


def not_below(told: float, true: float) -> bool:
    """Whether a claimed bound is not below the true one."""
    return told >= true * (1 - RELATIVE) - SMALLEST


def remember_here(plan: Plan) -> None:
    """Take the promise of this plan as computed, until the process ends."""
    _HERE.add(_name(plan))


def _name(plan: Plan) -> str:
    return plan.hash if plan.analyst_key is None else replace(plan, analyst_key=None).hash
