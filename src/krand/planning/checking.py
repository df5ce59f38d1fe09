"""Checks that a plan promises no more than its noise gives, and what its survey asks for."""

from __future__ import annotations

from collections.abc import Iterator

from krand.errors import InvalidInput, KrandError
from krand.planning.making import verify_promises
from krand.planning.remembered import is_remembered, remember_here
from krand.promise import Promise
from krand.showing import at_most
from krand.survey.plan import Plan
from krand.survey.plan_check import HINT, RELATIVE, check_alike, check_asked, promises_of

__all__ = ["check_promise", "not_below", "recompute_promise", "too_good"]

SMALLEST = 1e-30
"""Smaller probabilities are treated as zero."""


def check_promise(plan: Plan) -> None:
    """Refuse a plan that promises more than its noise gives, or less than its survey asks for.

    Each process computes that once.
    """
    check_alike(plan)
    if not is_remembered(plan):
        recompute_promise(plan)
        remember_here(plan)


def recompute_promise(plan: Plan) -> None:
    """The same, always computed: for whoever signs a plan or adds its noise."""
    check_asked(plan)
    try:
        true = verify_promises(plan)
    except KrandError as error:
        rule = "must have noise that allows a promise"
        raise InvalidInput("plan", rule, plan.hash, f"{error}; {HINT}") from None
    for told, found in zip(promises_of(plan), true, strict=True):
        for fault in too_good(told, found):
            rule = "must not promise more than its noise gives"
            raise InvalidInput("plan", rule, plan.hash, f"{fault}; {HINT}")


def too_good(told: Promise, true: Promise) -> Iterator[str]:
    """The differences in which a promise claims more than the recomputed one."""
    exact = (
        ("ε", told.epsilon, true.epsilon),
        ("assurance", told.assurance, true.assurance),
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
            yield f"{name} = {claimed:.6g} is claimed, but recomputed it is {at_most(found, 6)}"
    for assumption in true.assumptions:
        if assumption not in told.assumptions:
            yield f"it needs an assumption that it does not state: {assumption}"


def not_below(told: float, true: float) -> bool:
    """Whether a claimed bound is not below the true one."""
    return told >= true * (1 - RELATIVE) - SMALLEST
