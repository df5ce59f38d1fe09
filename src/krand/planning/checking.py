"""Whether a plan's promise is no better than its noise gives."""

from __future__ import annotations

from collections.abc import Iterator

from krand.errors import InvalidInput, KrandError
from krand.planning.making import verify_promise
from krand.planning.remembered import is_remembered, remember
from krand.showing import at_most
from krand.survey.plan import Plan, Promise
from krand.survey.plan_check import HINT, RELATIVE, check_alike

__all__ = ["check_promise", "not_below", "too_good"]

SMALLEST = 1e-30
"""Probabilities below this are all nothing."""


def check_promise(plan: Plan) -> None:
    """Refuse a plan whose promise is not what its noise gives; computed once for each plan.

    It takes about a second, and is remembered by the plan's hash.
    """
    check_alike(plan)
    if is_remembered(plan):
        return
    try:
        true = verify_promise(plan)
    except KrandError as error:
        rule = "must have noise that something can be promised with"
        raise InvalidInput("plan", rule, plan.hash, f"{error}; {HINT}") from None
    for fault in too_good(plan.promise, true):
        rule = "must promise what its noise gives, and no more"
        raise InvalidInput("plan", rule, plan.hash, f"{fault}; {HINT}")
    remember(plan)


def too_good(told: Promise, true: Promise) -> Iterator[str]:
    """Where a promise claims to be better than it comes out when computed anew."""
    exact = (
        ("ε", told.epsilon, true.epsilon),
        ("assurance", told.assurance, true.assurance),
        ("crowd", told.population, true.population),
        ("colluding", told.colluding, true.colluding),
    )
    for name, claimed, found in exact:
        if claimed != found:
            yield f"{name} = {claimed} is claimed, computed anew it is {found}"
    bounds = (
        ("δ", told.delta, true.delta),
        ("η", told.eta, true.eta),
        ("ε₀", told.local_epsilon, true.local_epsilon),
    )
    for name, claimed, found in bounds:
        if not not_below(claimed, found):
            yield f"{name} = {claimed:.6g} is claimed, computed anew it is {at_most(found, 6)}"
    for assumption in true.assumptions:
        if assumption not in told.assumptions:
            yield f"it rests on an assumption that is not named: {assumption}"


def not_below(told: float, true: float) -> bool:
    """Whether a claimed bound is no better than the true one."""
    return told >= true * (1 - RELATIVE) - SMALLEST
