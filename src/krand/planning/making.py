"""Turns a survey into a plan: the smallest noise that keeps the policy, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from krand.accounting.calibration import assess, plan_noise, precision, quick_noise
from krand.accounting.coupling import allowed_distance
from krand.accounting.division import (
    Share,
    can_be_met,
    divide_noise,
    guarantee_of,
    quick_division,
)
from krand.accounting.suggestions import Nearest, cannot_meet, nearest_policies
from krand.accounting.volume import Tokens, messages_needed, overflow_bound
from krand.errors import CannotMeet
from krand.planning.lying import worst_shift
from krand.planning.mixers import mixed_plan, mixed_promise, with_dummies
from krand.planning.record import record_reports
from krand.planning.remembered import remember_here
from krand.promise import NOISE_GRID, Linkage, Policy, ResponseFormat
from krand.survey import mechanisms
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.plan import Margin, Plan, PlannedBlock, Promise
from krand.survey.plan_check import less_than_asked, promises_of
from krand.survey.questions import Kind
from krand.survey.survey import Survey

__all__ = [
    "flipped_blocks",
    "flips_for",
    "make_plan",
    "overflow_of",
    "planned_from",
    "promise_for",
    "quick_flips",
    "rooms_of",
    "verify_flips",
    "verify_promise",
]

MIXERS_ALONE = 'noise = "mixers" in [trust]: it needs no crowd'
LESS = "a larger epsilon or delta"
KEPT = 8
"""Plans that are kept: a plan takes seconds, and whoever compares variants asks for some twice."""
MOST_TIMES = 100
"""A larger crowd than this multiple of the planned one is treated as this large."""


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
    if survey.trust.noise is mechanisms.MIXERS:
        return mixed_plan(survey, suggestions)
    if survey.trust.noise is mechanisms.BOTH:
        return _flips_and_dummies(survey, suggestions)
    record = survey.linkage is Linkage.RECORD
    plan = _linked(survey, suggestions) if record else _bit_by_bit(survey)
    _check_use(plan, suggestions)
    return plan


def _flips_and_dummies(survey: Survey, suggestions: bool) -> Plan:
    """The noise of devices for the policy, and that of every mixer for the policy."""
    try:
        devices = _bit_by_bit(survey)
        _check_use(devices, suggestions)
    except CannotMeet as error:
        if survey.policy.max_local_epsilon is not None:  # which dummies alone cannot keep
            raise
        raise CannotMeet(error.reason, (*error.nearest, MIXERS_ALONE)) from None
    plan = with_dummies(devices, suggestions)
    drowned = _drowned(plan)
    if drowned is not None:
        raise CannotMeet(drowned[1], (MIXERS_ALONE,))
    return plan


def planned_from(
    survey: Survey,
    numerators: tuple[int, ...],
    promise: Promise,
    analyst_key: str | None = None,
) -> Plan:
    """The plan with this noise: messages and precision follow from it."""
    layout = layout_of(survey)
    rooms, overflow = rooms_of(survey, layout, numerators)
    return Plan(
        survey=survey,
        blocks=flipped_blocks(survey, layout, numerators, rooms),
        messages=sum(rooms) or survey.copies,
        overflow=overflow,
        promise=promise,
        analyst_key=analyst_key,
    )


def flipped_blocks(
    survey: Survey, layout: Layout, numerators: tuple[int, ...], rooms: tuple[int, ...]
) -> tuple[PlannedBlock, ...]:
    """The blocks with this noise of devices and this room for messages: precision follows."""
    crowd, responses = survey.policy.minimum_crowd, ResponseFormat(1, copies=survey.copies)
    return tuple(
        PlannedBlock(
            block=block,
            numerator=numerator,
            precision=precision(responses, numerator / NOISE_GRID, crowd),
            shift=worst_shift(block.name, numerator / NOISE_GRID, room, 1),
            room=room,
            margins=_margins(survey, block, numerator / NOISE_GRID),
        )
        for block, numerator, room in zip(layout.blocks, numerators, rooms, strict=True)
    )


def _margins(survey: Survey, block: Block, noise: float) -> tuple[Margin, ...]:
    """The precision of each question in a group, whose counts are sums over cells."""
    if block.kind is not Kind.TOGETHER:
        return ()
    responses, people = ResponseFormat(1, copies=survey.copies), survey.policy.minimum_crowd
    cells = {name: block.cells_of(name) for name in block.question_names}
    return tuple(
        Margin(name, count, precision(responses, noise, people, count))
        for name, count in cells.items()
    )


def rooms_of(
    survey: Survey, layout: Layout, numerators: tuple[int, ...]
) -> tuple[tuple[int, ...], float]:
    """The messages of each block, and the probability that one person needs more in any.

    An overflow of any person in any round and lane counts, so all of them share the allowed
    probability. A block of one position cannot overflow, and takes no share. Whole records need no
    room.
    """
    if survey.linkage is Linkage.RECORD:
        return (0,) * len(layout.blocks), 0.0
    sharing = max(1, sum(block.positions > 1 for block in layout.blocks))
    most = allowed_distance(survey.policy) / (survey.policy.minimum_crowd * survey.rounds * sharing)
    rooms = tuple(messages_needed(tokens, most) for tokens in _tokens(layout, numerators))
    return rooms, _overflow(layout, numerators, rooms)


def overflow_of(plan: Plan) -> float:
    """The probability that one person has more tokens than room in any lane of a round."""
    numerators = [each.numerator for each in plan.blocks]
    return _overflow(plan.layout, numerators, [each.room for each in plan.blocks])


def _overflow(layout: Layout, numerators: Sequence[int], rooms: Sequence[int]) -> float:
    bounds = map(overflow_bound, _tokens(layout, numerators), rooms)
    return float(sum(Decimal(repr(bound)) for bound in bounds))  # of two digits each: exactly


def _tokens(layout: Layout, numerators: Sequence[int]) -> list[Tokens]:
    return [
        Tokens(block.positions, block.most_ones, numerator)
        for block, numerator in zip(layout.blocks, numerators, strict=True)
    ]


def verify_promise(plan: Plan) -> Promise:
    """The promise recomputed for exactly the plan's noise; it must equal the plan's own."""
    return promise_for(plan, plan.survey.policy)


def verify_flips(plan: Plan) -> Promise | None:
    """What flips alone promise, where mixers add noise too; it must equal the plan's own."""
    if plan.survey.trust.noise is not mechanisms.BOTH:
        return None
    return flips_for(plan, plan.survey.policy)


def promise_for(plan: Plan, policy: Policy) -> Promise:
    """The promise of exactly the plan's noise to a member of another policy's crowd."""
    noise = plan.survey.trust.noise
    if not noise.has_dummies:
        return flips_for(plan, policy)
    overflow = overflow_of(plan) if noise.has_flips else 0.0
    found = mixed_promise(plan, overflow)
    return replace(found, crowd=policy.minimum_crowd, colluding=policy.colluding)


def flips_for(plan: Plan, policy: Policy) -> Promise:
    """What exactly the devices' noise promises to a member of another policy's crowd."""
    survey = plan.survey
    if survey.linkage is Linkage.RECORD:
        found = assess(
            record_reports(survey, plan.layout),
            plan.blocks[0].noise,
            policy.minimum_crowd,
            policy.epsilon,
            policy.assurance,
            policy.colluding,
        )
        return Promise.of(found)
    counted, shares = _counted(survey, policy), _shares(plan.layout)
    distance = _distance(survey, counted, overflow_of(plan))
    numerators = [each.numerator for each in plan.blocks]
    found = guarantee_of(counted, shares, numerators, survey.rounds, distance)
    return replace(Promise.of(found), crowd=policy.minimum_crowd)


def _distance(survey: Survey, policy: Policy, overflow: float) -> float:
    """An upper bound for the probability that anybody overflows in any round."""
    return policy.minimum_crowd * survey.rounds * overflow


def _counted(survey: Survey, policy: Policy) -> Policy:
    """The policy for no more people than its promise needs.

    Additional people hide the others even better, and their overflows do not matter to the others:
    an adversary could have added their responses. In a crowd far larger than planned the overflows
    would add up, so the promise is given for a part of it.
    """
    most = MOST_TIMES * survey.policy.minimum_crowd + policy.colluding
    return policy if policy.minimum_crowd <= most else replace(policy, minimum_crowd=most)


def _shares(layout: Layout) -> list[Share]:
    return [Share(block.sensitivity, block.weight) for block in layout.blocks]


def _bit_by_bit(survey: Survey) -> Plan:
    """Each position is a separate mechanism; the noise is divided by weights."""
    layout = layout_of(survey)
    distance = _distance_of(survey, layout)
    divided = divide_noise(survey.policy, _shares(layout), survey.rounds, distance)
    return planned_from(survey, divided.numerators, Promise.of(divided.guarantee))


def quick_flips(survey: Survey) -> tuple[tuple[int, ...], float] | None:
    """Noise of devices a few percent above the least, and the δ or η that is proven for it.

    None if no such noise is found at once.
    """
    policy, layout = survey.policy, layout_of(survey)
    if survey.linkage is Linkage.RECORD:
        found = quick_noise(policy, record_reports(survey, layout))
        return None if found is None else ((found[0],) * len(layout.blocks), found[1])
    return quick_division(policy, _shares(layout), survey.rounds, _distance_of(survey, layout))


def _distance_of(survey: Survey, layout: Layout) -> Callable[[tuple[int, ...]], float]:
    """How far what is run differs from the composition, by the noise."""

    def distance(numerators: tuple[int, ...]) -> float:
        return _distance(survey, survey.policy, rooms_of(survey, layout, numerators)[1])

    return distance


def _linked(survey: Survey, suggestions: bool) -> Plan:
    """Whole records, k copies: one noise for all bits."""
    layout = layout_of(survey)
    found = plan_noise(survey.policy, record_reports(survey, layout), suggestions)
    numerators = (found.noise_numerator,) * len(layout.blocks)
    return planned_from(survey, numerators, Promise.of(found.guarantee))


def _check_use(plan: Plan, suggestions: bool) -> None:
    """Refuse a survey whose counts would be only noise, and say what would help."""
    found = _drowned(plan)
    if found is not None:
        name, reason = found
        if not suggestions:
            raise CannotMeet(reason)
        raise cannot_meet(reason, _nearest_surveys(plan, name))


def _drowned(plan: Plan) -> tuple[str, str] | None:
    """The question whose counts would be the noisiest, if they are only noise, and that as text."""
    crowd = plan.survey.policy.minimum_crowd
    noisiest = max(plan.blocks, key=lambda each: each.precision.half_width_95)
    name, width = noisiest.name, noisiest.precision.half_width_95
    if 2 * width < crowd:
        return None
    return name, (
        f"the margin of error (95 %) of {name} would be ± {width:,.0f} people in a crowd of"
        f" {crowd:,}, so the counts would be only noise"
    )


def _nearest_surveys(plan: Plan, drowned: str) -> Nearest:
    """What would help: another crowd or promise, or fewer questions."""
    policy, rounds, shares = plan.survey.policy, plan.survey.rounds, _shares(plan.layout)
    found = nearest_policies(policy, lambda other: can_be_met(other, shares, rounds))
    names = [block.name for block in plan.layout.blocks]
    alone = shares[names.index(drowned)]
    if len(shares) > 1 and can_be_met(policy, [alone], rounds):
        alone_text = f"fewer questions: {drowned} alone is possible"
        return replace(found, requests=(*found.requests, alone_text))
    return found
