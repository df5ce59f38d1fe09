"""Plans with a noise that a test chooses, without the search for the least noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from krand.planning.checking import remember_here, verify_promise
from krand.planning.mechanisms.devices import planned_from
from krand.promise import Method, Promise
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.survey import Survey

PROMISE = Promise(
    epsilon=1.0,
    delta=1e-6,
    eta=1e-6,
    local_epsilon=10.0,
    method=Method.NONE,
    crowd=1000,
    colluding=0,
    assumptions=(),
)


def plan_with_noise(survey: Survey, numerator: int) -> Plan:
    """The survey with q = numerator/2^32 everywhere; its promise is not meant to be kept."""
    return planned_by_test(survey, (numerator,) * len(layout_of(survey).blocks))


def planned_by_test(
    survey: Survey, numerators: tuple[int, ...], promise: Promise = PROMISE
) -> Plan:
    """The survey with this noise; this process, and no other, takes its promise as it is."""
    policy = survey.policy
    said = replace(
        promise,
        epsilon=policy.epsilon,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
    )
    plan = planned_from(survey, numerators, said)
    remember_here(plan)
    return plan


def true_plan(survey: Survey, numerators: tuple[int, ...]) -> Plan:
    """The survey with this noise and what it really promises, for whoever computes it anew."""
    plan = planned_from(survey, numerators, PROMISE)
    return replace(plan, promise=verify_promise(plan))


def numerators_of(plan: Plan) -> tuple[int, ...]:
    """The devices' noise of every block."""
    return tuple(block.numerator for block in plan.blocks)


def with_numerators(plan: Plan, numerators: Sequence[int]) -> Plan:
    """The plan with other noise, and nothing that follows from it."""
    pairs = zip(plan.blocks, numerators, strict=True)
    return replace(plan, blocks=tuple(replace(block, numerator=n) for block, n in pairs))


def with_rooms(plan: Plan, rooms: Sequence[int]) -> Plan:
    """The plan with so many messages of every block."""
    pairs = zip(plan.blocks, rooms, strict=True)
    blocks = tuple(replace(block, room=room) for block, room in pairs)
    return replace(plan, blocks=blocks, messages=sum(rooms))
