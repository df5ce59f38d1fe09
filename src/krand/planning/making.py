"""Turns a survey into a plan: the smallest noise that keeps the policy, and what follows."""

from __future__ import annotations

from functools import lru_cache

from krand.errors import CannotMeet
from krand.planning.mechanisms import part_of
from krand.planning.remembered import remember_here
from krand.promise import Policy, Promise
from krand.survey.plan import Plan
from krand.survey.plan_check import less_than_asked, promises_of
from krand.survey.survey import Survey

__all__ = ["make_plan", "promise_for", "verify_promise", "verify_promises"]

LESS = "a larger epsilon or delta"
KEPT = 8
"""Plans that are kept: a plan takes seconds, and whoever compares variants asks for some twice."""


def make_plan(survey: Survey, suggestions: bool = True) -> Plan:
    """The plan of a survey: the smallest noise that keeps its policy, and what follows from it.

    Where there is none, the error says which surveys could be planned, unless `suggestions` is
    false: looking for them takes longer than the refusal.

    >>> from krand import make_plan
    >>> from krand.testing import small_survey
    >>> plan = make_plan(small_survey())
    >>> [round(block.precision.half_width_95) for block in plan.blocks]  # ± people (95 %)
    [6, 7]
    """
    plan = _plan_of(survey, suggestions)
    remember_here(plan)
    return plan


@lru_cache(maxsize=KEPT)
def _plan_of(survey: Survey, suggestions: bool) -> Plan:
    plan = _searched(survey, suggestions).rounded()
    _check_kept(plan)
    return plan


def _check_kept(plan: Plan) -> None:
    """Whatever search found it: no plan leaves that promises less than its survey asks for."""
    for promise in promises_of(plan):
        for fault in less_than_asked(plan, promise):
            raise CannotMeet(f"no noise was found that keeps the policy: {fault}", (LESS,))


def _searched(survey: Survey, suggestions: bool) -> Plan:
    return part_of(survey.trust.noise).search(survey, suggestions)


def verify_promises(plan: Plan) -> tuple[Promise, ...]:
    """All promises recomputed for exactly the plan's noise; they must equal the plan's own."""
    return part_of(plan.mechanism).promises(plan, plan.survey.policy)


def verify_promise(plan: Plan) -> Promise:
    """The first of them."""
    return promise_for(plan, plan.survey.policy)


def promise_for(plan: Plan, policy: Policy) -> Promise:
    """The promise of exactly the plan's noise to a member of another policy's crowd."""
    return part_of(plan.mechanism).promises(plan, policy)[0]
