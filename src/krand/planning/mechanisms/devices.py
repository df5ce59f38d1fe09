"""Plans in which devices flip bits: the least noise, its room for messages, and its promise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

from krand.accounting.bounds import allowed_distance
from krand.accounting.calibration import assess, plan_noise, precision, quick_noise
from krand.accounting.division import (
    assess_shares,
    can_be_met,
    divide_noise,
    quick_division,
)
from krand.accounting.suggestions import Nearest, cannot_meet, nearest_policies
from krand.accounting.volume import Tokens, messages_needed, overflow_bound
from krand.errors import CannotMeet
from krand.planning.mechanisms.part import PlanningPart, QuickPlan, margins_of, shares_of
from krand.planning.record import record_reports
from krand.promise import NOISE_GRID, Linkage, Policy, Promise, ResponseFormat
from krand.survey.layout import Layout, layout_of
from krand.survey.plan import Plan, PlannedBlock, WorstShift
from krand.survey.survey import Survey, Trust

MOST_TIMES = 100
"""A larger crowd than this multiple of the planned one is treated as this large."""


class DevicesPart(PlanningPart):
    """Flips of devices, bit by bit or in whole records."""

    def search(self, survey: Survey, suggestions: bool) -> Plan:
        if survey.linkage is Linkage.RECORD:
            plan = _linked(survey, suggestions)
        else:
            plan = _bit_by_bit(survey)
        _check_use(plan, suggestions)
        return plan

    def quick(self, survey: Survey) -> QuickPlan | None:
        found = _quick_flips(survey)
        if found is None:
            return None
        layout, (numerators, bound) = layout_of(survey), found
        rooms, _ = rooms_of(survey, layout, numerators)
        blocks = _flipped_blocks(survey, layout, numerators, rooms)
        return QuickPlan(survey=survey, bound=bound, blocks=blocks)

    def promise(self, plan: Plan, policy: Policy) -> Promise:
        return _promise_for(plan, policy)

    def people_shown(self, survey: Survey) -> int | None:
        """The least that the noise allows."""
        return survey.policy.minimum_crowd

    def added_variance(self, survey: Survey, noise: float, people: int) -> float:
        """So many people send flipped bits."""
        each = noise * (1 - noise) / (1 - 2 * noise) ** 2 / survey.copies
        return (people - survey.policy.minimum_crowd) * each

    def without(self, plan: Plan, crowd: int, absent: int) -> Promise | None:
        """The promise of a smaller crowd; two must stay honest."""
        policy = plan.survey.policy
        if absent > crowd - 2:
            return None
        if (crowd, absent) == (policy.minimum_crowd, policy.colluding):
            return plan.promise
        return _promise_for(plan, replace(policy, minimum_crowd=crowd, colluding=absent))

    def variant(self, survey: Survey) -> Survey | None:
        return replace(survey, trust=Trust())


def planned_from(survey: Survey, numerators: tuple[int, ...], promise: Promise) -> Plan:
    """The plan with this noise: messages and precision follow from it."""
    layout = layout_of(survey)
    rooms, overflow = rooms_of(survey, layout, numerators)
    return Plan(
        survey=survey,
        blocks=_flipped_blocks(survey, layout, numerators, rooms),
        messages=sum(rooms) or survey.copies,
        overflow=overflow,
        promise=promise,
    )


def _flipped_blocks(
    survey: Survey, layout: Layout, numerators: tuple[int, ...], rooms: tuple[int, ...]
) -> tuple[PlannedBlock, ...]:
    """The blocks with this noise of devices and this room for messages: precision follows."""
    crowd, responses = survey.policy.minimum_crowd, ResponseFormat(1, copies=survey.copies)
    return tuple(
        PlannedBlock(
            block=block,
            numerator=numerator,
            precision=precision(responses, numerator / NOISE_GRID, crowd),
            shift=worst_shift(block.name, numerator / NOISE_GRID, room),
            room=room,
            margins=margins_of(block, partial(precision, responses, numerator / NOISE_GRID, crowd)),
        )
        for block, numerator, room in zip(layout.blocks, numerators, rooms, strict=True)
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
    people = survey.policy.minimum_crowd * survey.promised_rounds
    most = allowed_distance(survey.policy) / (people * sharing)
    rooms = tuple(messages_needed(tokens, most) for tokens in _tokens(layout, numerators))
    return rooms, _overflow(layout, numerators, rooms)


def _overflow(layout: Layout, numerators: Sequence[int], rooms: Sequence[int]) -> float:
    bounds = map(overflow_bound, _tokens(layout, numerators), rooms)
    return float(sum(Decimal(repr(bound)) for bound in bounds))  # of two digits each: exactly


def _tokens(layout: Layout, numerators: Sequence[int]) -> list[Tokens]:
    return [
        Tokens(block.positions, block.most_ones, numerator)
        for block, numerator in zip(layout.blocks, numerators, strict=True)
    ]


def _promise_for(plan: Plan, policy: Policy) -> Promise:
    """What exactly the devices' noise promises to a member of another policy's crowd."""
    survey = plan.survey
    if survey.linkage is Linkage.RECORD:
        return assess(
            record_reports(survey, plan.layout),
            plan.blocks[0].noise,
            policy.minimum_crowd,
            policy.epsilon,
            policy.colluding,
        )
    counted, shares = _counted(survey, policy), shares_of(plan.layout)
    numerators = [each.numerator for each in plan.blocks]
    overflow = _overflow(plan.layout, numerators, [each.room for each in plan.blocks])
    distance = _distance(survey, counted, overflow)
    found = assess_shares(counted, shares, numerators, survey.promised_rounds, distance)
    return replace(found, crowd=policy.minimum_crowd)


def _distance(survey: Survey, policy: Policy, overflow: float) -> float:
    """An upper bound for the probability that anybody overflows in any round."""
    return policy.minimum_crowd * survey.promised_rounds * overflow


def _counted(survey: Survey, policy: Policy) -> Policy:
    """The policy for no more people than its promise needs.

    Additional people hide the others even better, and their overflows do not matter to the others:
    an adversary could have added their responses. In a crowd far larger than planned the overflows
    would add up, so the promise is given for a part of it.
    """
    most = MOST_TIMES * survey.policy.minimum_crowd + policy.colluding
    return policy if policy.minimum_crowd <= most else replace(policy, minimum_crowd=most)


def _bit_by_bit(survey: Survey) -> Plan:
    """Each position is a separate mechanism; the noise is divided by weights."""
    layout = layout_of(survey)
    distance = _distance_of(survey, layout)
    divided = divide_noise(survey.policy, shares_of(layout), survey.promised_rounds, distance)
    return planned_from(survey, divided.numerators, divided.promise)


def _quick_flips(survey: Survey) -> tuple[tuple[int, ...], float] | None:
    """Noise of devices a few percent above the least, and the δ or η that is proven for it.

    None if no such noise is found at once.
    """
    policy, layout = survey.policy, layout_of(survey)
    if survey.linkage is Linkage.RECORD:
        found = quick_noise(policy, record_reports(survey, layout))
        return None if found is None else ((found[0],) * len(layout.blocks), found[1])
    shares, distance = shares_of(layout), _distance_of(survey, layout)
    return quick_division(policy, shares, survey.promised_rounds, distance)


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
    return planned_from(survey, numerators, found.promise)


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


def _nearest_surveys(plan: Plan, name: str) -> Nearest:
    """What would help: another crowd or promise, or fewer questions."""
    policy, rounds, shares = plan.survey.policy, plan.survey.promised_rounds, shares_of(plan.layout)
    found = nearest_policies(policy, lambda other: can_be_met(other, shares, rounds))
    names = [block.name for block in plan.layout.blocks]
    alone = shares[names.index(name)]
    if len(shares) > 1 and can_be_met(policy, [alone], rounds):
        nearest = f"fewer questions: {name} alone is possible"
        return replace(found, requests=(*found.requests, nearest))
    return found


def worst_shift(name: str, noise: float, room: int) -> WorstShift:
    """The most that one dishonest person can change a count, known before anybody is asked.

    A submission has a fixed number of messages, and their content is sealed.

    * Bit linkage: a device can put the same token into all messages of the token's lane. Nobody can
      detect this, because after the shuffle the messages of one submission look like any others. In
      a lane with room for r messages, somebody can thus add up to r tokens to one position. By
      sending nothing they remove at most one.
    * Record linkage: a device sends k vectors, each with one bit at every position, so it changes a
      count by at most k in either direction: one person's worth, at all positions at once. Whole
      records, which have no room, count as one message for each position.

    One more or one less changes the estimate by 1/(p-q) people, for each copy. The shift is
    relative to what the same people would have sent honestly, in the worst case: it bounds every
    outcome of the flips. It applies to one position. A number that is computed from several counts,
    such as "unanswered", changes by the sum of their shifts.
    """
    return WorstShift(name, max(1, room) / (1 - 2 * noise), 1 / (1 - 2 * noise))
