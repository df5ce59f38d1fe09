"""Turns a survey into a plan: the smallest noise that keeps the policy, and what follows.

A quick plan is proven as every plan is, with a little more noise, and found in a fraction of the
time. It shows what a survey will have at most while the least noise is still searched. Nothing is
collected with it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from krand.errors import CannotMeet
from krand.planning.checking import remember_here
from krand.planning.expected import blocks_for, people_shown
from krand.planning.mechanisms import QuickPlan, part_of
from krand.survey.plan import Plan
from krand.survey.plan_check import less_than_asked
from krand.survey.survey import Survey

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
    plan = part_of(survey.trust.noise).search(survey, suggestions).rounded()
    # Whatever search found it: no plan leaves that promises less than its survey asks for.
    for fault in less_than_asked(plan, plan.promise):
        raise CannotMeet(f"no noise was found that keeps the policy: {fault}", (LESS,))
    return plan


def quick_plan(survey: Survey) -> QuickPlan | None:
    """The quick plan, or None: then only the search for the least noise can tell.

    >>> from krand import make_plan
    >>> from krand.testing import small_survey
    >>> quick, exact = quick_plan(small_survey()), make_plan(small_survey())
    >>> pairs = zip(quick.blocks, exact.blocks)
    >>> all(a.precision.sigma >= b.precision.sigma for a, b in pairs)
    True
    """
    try:
        found = part_of(survey.trust.noise).quick(survey)
    except CannotMeet:  # with reasons that take longer to find
        return None
    people = people_shown(survey)
    if found is None or people is None:
        return found
    found = replace(found, blocks=blocks_for(survey, found.blocks, people))
    widest = max(each.precision.half_width_95 for each in found.blocks)
    return None if 2 * widest >= people else found
