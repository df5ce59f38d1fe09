"""From a survey to its plan: the least noise that keeps its policy, and the messages for it.

Devices flip bits, one by one or in whole records; or mixers add dummies. Everything that a person
can change is a share of the noise, which is divided by sensitivity and weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from krand.accounting.engine import delta_limit
from krand.accounting.least import (
    Share,
    cannot_meet,
    dummies_can_meet,
    flips_can_meet,
    least_dummies,
    least_flips,
    least_record,
    nearest_policies,
    record_can_meet,
)
from krand.accounting.volume import allowed_distance, messages_needed, padding_needed
from krand.errors import CannotMeet
from krand.planning.promises import (
    distance_of,
    less_than_asked,
    own_tokens,
    promise_of,
    record_reports,
    shares_of,
    tokens_of,
)
from krand.policy import Policy
from krand.promise import DummyLaw, Linkage
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.survey import Survey

KEPT = 8
"""Plans that are kept: a plan takes seconds, and whoever compares variants asks for some twice."""
SURPLUS_SHARE = 1000
"""The part of δ or η that dummies beyond their padding may take."""


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
    return _plan_of(survey, suggestions)


@lru_cache(maxsize=KEPT)
def _plan_of(survey: Survey, suggestions: bool) -> Plan:
    policy, shares, rounds = survey.policy, shares_of(survey), survey.promised_rounds
    layout = layout_of(survey)
    if survey.trust.has_dummies:  # the least noise of every mixer that suffices by itself
        padded = any(lane.messages > 1 for lane in lanes_of(survey, layout))
        plan = mixed_from(survey, _laws(policy, shares, rounds, padded, suggestions))
    else:
        if survey.linkage is Linkage.RECORD:  # one noise for all bits of a record
            base = least_record(policy, record_reports(survey))
            numerators = (base,) * len(layout.blocks)
        else:

            def distance(numerators: tuple[int, ...]) -> float:
                return distance_of(planned_from(survey, numerators), policy.minimum_crowd)

            numerators = least_flips(policy, shares, rounds, distance)
        plan = planned_from(survey, numerators)
        _check_use(plan, suggestions)
    # Whatever search found it: no plan leaves whose noise does not keep its survey's policy.
    for fault in less_than_asked(survey.policy, promise_of(plan)):
        raise CannotMeet(f"no noise was found that keeps the policy: {fault}")
    return plan


# --- devices ------------------------------------------------------------------------------------


def planned_from(survey: Survey, numerators: tuple[int, ...]) -> Plan:
    """The plan with this noise, and with room for the tokens that it makes of answers.

    An overflow of any person in any round and lane counts, so all of them share the allowed
    probability. A block of one position cannot overflow, and takes no share. Whole records need no
    room.
    """
    layout, rooms = layout_of(survey), []
    if survey.linkage is Linkage.BIT:
        sharing = max(1, sum(block.positions > 1 for block in layout.blocks))
        people = survey.policy.minimum_crowd * survey.promised_rounds
        most = allowed_distance(survey.policy) / (people * sharing)
        rooms = [messages_needed(each, most) for each in tokens_of(layout.blocks, numerators)]
    return Plan(survey=survey, lanes=lanes_of(survey, layout, rooms), numerators=numerators)


def _check_use(plan: Plan, suggestions: bool) -> None:
    """Refuse a survey whose counts would be only noise, and say what would help."""
    crowd = plan.survey.policy.minimum_crowd
    noisiest = max(plan.blocks, key=lambda each: each.precision.half_width_95)
    width = noisiest.precision.half_width_95
    if 2 * width < crowd:
        return
    reason = (
        f"the margin of error (95 %) of {noisiest.name} would be ± {width:,.0f} people in a crowd"
        f" of {crowd:,}, so the counts would be only noise"
    )
    raise cannot_meet(reason, _nearest(plan, noisiest.name)) if suggestions else CannotMeet(reason)


def _nearest(plan: Plan, noisiest: str) -> tuple[str, ...]:
    """What would help: another crowd or promise, or fewer questions."""
    survey = plan.survey
    policy, rounds = survey.policy, survey.promised_rounds
    if survey.linkage is Linkage.RECORD:
        responses = record_reports(survey)
        return nearest_policies(policy, lambda other: record_can_meet(other, responses))
    shares = shares_of(survey)
    found = nearest_policies(policy, lambda other: flips_can_meet(other, shares, rounds))
    alone = [share for share, b in zip(shares, plan.blocks, strict=True) if b.name == noisiest]
    if len(shares) > 1 and flips_can_meet(policy, alone, rounds):
        return (*found, f"fewer questions: {noisiest} alone is possible")
    return found


# --- mixers -------------------------------------------------------------------------------------


@lru_cache(maxsize=KEPT)
def _laws(
    policy: Policy, shares: tuple[Share, ...], rounds: int, padded: bool, suggestions: bool
) -> tuple[DummyLaw, ...]:
    """A law for each block. They do not depend on the number of mixers: whoever compares chains
    asks once."""
    limit = policy.limit - (policy.limit / SURPLUS_SHARE if padded else 0.0)
    left = policy.changed(delta=limit) if policy.eta is None else policy.changed(eta=limit)
    try:
        return least_dummies(left, shares, rounds)
    except CannotMeet as refused:
        if not suggestions:
            raise
        nearest = nearest_policies(
            policy, lambda other: dummies_can_meet(other, shares, rounds), crowds=False
        )
        raise cannot_meet(refused.reason, nearest) from None


def mixed_from(survey: Survey, laws: Sequence[DummyLaw]) -> Plan:
    """The plan with these laws of dummies, one for each block: padding follows from them."""
    layout = layout_of(survey)
    lanes = lanes_of(survey, layout)
    of_block = {block.name: law for block, law in zip(layout.blocks, laws, strict=True)}
    different = tuple(dict.fromkeys(laws))
    padded, policy = sum(lane.messages > 1 for lane in lanes), survey.policy
    limit = delta_limit(policy.limit, policy.epsilon, policy.eta is not None)
    most = limit / SURPLUS_SHARE / (survey.promised_rounds * max(1, padded))

    def with_dummies(lane: Lane) -> Lane:
        law, padding = of_block[lane.block], 0
        if lane.messages > 1:
            padding = padding_needed(law, lane.positions, own_tokens(layout, lane), most)
        return replace(lane, law=different.index(law), padding=padding)

    return Plan(survey=survey, lanes=tuple(map(with_dummies, lanes)), laws=different)
