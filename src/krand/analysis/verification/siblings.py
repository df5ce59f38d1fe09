"""Whether results name every other plan for their survey that the lists of mixers show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krand.analysis.checks import Check, check, failed, not_checked
from krand.analysis.results import Results
from krand.errors import KrandError
from krand.partners.siblings import PlanList, Sibling, siblings_of
from krand.showing import at_most, some
from krand.survey.plan import Plan

NAME = "siblings"
NO_LISTS = (
    "whether these are all plans that were signed for this survey: add the lists of the mixers,"
    " --siblings siblings.json"
)


def siblings_check(plan: Plan, lists: Sequence[PlanList]) -> Check:
    """That the lists are signed and whole; which other plans they show is said."""
    try:
        found = siblings_of(plan, lists)
    except KrandError as error:
        return failed(NAME, str(error))
    return check(NAME, [], _says(found.plans, found.lists))


def named_check(results: Results, lists: Sequence[PlanList] | None) -> Iterator[Check]:
    """That results name all of them; nothing where neither they nor anybody else speaks of any."""
    told = results.siblings
    if lists is None:
        if told is not None:
            yield not_checked(NAME, NO_LISTS)
        return
    try:
        found = siblings_of(results.plan, lists)
    except KrandError as error:
        yield failed(NAME, str(error))
        return
    named = {each.plan: each for each in told.plans} if told else {}
    faults = [
        f"they do not name the plan {each.plan} as the lists do"
        for each in found.plans
        if named.get(each.plan) is None or not _same(named[each.plan], each)
    ]
    shown = {each.plan for each in found.plans}
    if not faults and told and set(found.lists) >= set(told.lists):
        faults = [f"no list shows the plan {name}" for name in named if name not in shown]
    yield check(NAME, faults, _says(found.plans, found.lists))


def _same(told: Sibling, true: Sibling) -> bool:
    """Mixers may have signed it since."""
    numbers = (told.organiser, told.epsilon, told.delta, told.closes)
    return numbers == (true.organiser, true.epsilon, true.delta, true.closes)


def _says(plans: Sequence[Sibling], lists: Sequence[str]) -> str:
    whose = f"according to the signed lists of {', '.join(lists)}" if lists else "of no list"
    if not plans:
        return f"no other plan was signed for this survey, {whose}"
    each = ", ".join(
        f"{plan.plan} (ε = {at_most(plan.epsilon)}, δ = {at_most(plan.delta)}, until {plan.closes})"
        for plan in plans
    )
    return f"{some(len(plans), 'other plan')} for this survey, {whose}: {each}"
