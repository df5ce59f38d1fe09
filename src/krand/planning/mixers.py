"""Plans in which mixers add the noise: laws of dummies, padding, precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from krand.accounting.coupling import NEAREST
from krand.accounting.division import Share
from krand.accounting.dummies import padding_needed, surplus_bound
from krand.accounting.dummy_division import divide_dummies, dummy_guarantee
from krand.errors import InvalidInput
from krand.promise import Z95, DummyLaw, NoiseSource, Policy, Precision
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.plan import Margin, Mixing, Plan, Promise, WorstShift
from krand.survey.questions import Kind
from krand.survey.survey import Survey

__all__ = ["mixed_plan", "mixed_promise"]

SURPLUS_SHARE = 1000
"""The part of δ or η that dummies beyond their padding may take."""


def mixed_plan(survey: Survey) -> Plan:
    """The plan with the least noise of every mixer that keeps the policy by itself."""
    layout = layout_of(survey)
    lanes = lanes_of(layout, NoiseSource.MIXERS, 0)
    shares, padded = _shares(layout), [lane for lane in lanes if lane.messages > 1]
    asked = _without_surplus(survey.policy) if padded else survey.policy
    divided = divide_dummies(asked, shares, survey.rounds)
    mixing = _mixing(survey, layout, lanes, divided.laws)
    sigmas = [
        math.sqrt(survey.trust.mixers * survey.trust.batches) * sigma for sigma in divided.sigmas
    ]
    plan = Plan(
        survey=survey,
        numerators=(0,) * len(layout.blocks),
        messages=sum(lane.messages for lane in lanes),
        overflow=0.0,
        promise=Promise.of(divided.guarantee),
        precisions=tuple(_precision(sigma, survey.policy) for sigma in sigmas),
        margins=tuple(
            _margins(block, sigma, survey.policy)
            for block, sigma in zip(layout.blocks, sigmas, strict=True)
        ),
        shifts=tuple(_shift(block, lanes) for block in layout.blocks),
        mixing=mixing,
    )
    return replace(plan, promise=mixed_promise(plan))


def mixed_promise(plan: Plan) -> Promise:
    """The promise of exactly the plan's laws and paddings, recomputed."""
    mixing, survey = plan.mixing, plan.survey
    if mixing is None:
        raise InvalidInput("plan", "must have laws of dummies", plan.hash)
    laws = [plan.law_of(_first_lane(plan.lanes, block)) for block in plan.layout.blocks]
    surplus = survey.rounds * math.fsum(
        surplus_bound(plan.law_of(lane), lane.positions, padding - _own(lane))
        for lane, padding in zip(plan.lanes, mixing.paddings, strict=True)
        if lane.messages > 1
    )
    shares = _shares(plan.layout)
    found = dummy_guarantee(survey.policy, shares, laws, survey.rounds, surplus)
    return Promise.of(found)


def _shares(layout: Layout) -> list[Share]:
    return [Share(block.sensitivity, block.weight) for block in layout.blocks]


def _without_surplus(policy: Policy) -> Policy:
    """What is left for the laws themselves."""
    left = 1 - 1 / SURPLUS_SHARE
    if policy.delta is not None:
        return replace(policy, delta=policy.delta * left)
    assert policy.eta is not None
    return replace(policy, eta=policy.eta * left)


def _mixing(
    survey: Survey, layout: Layout, lanes: Sequence[Lane], laws: Sequence[DummyLaw]
) -> Mixing:
    of_block = {block.name: law for block, law in zip(layout.blocks, laws, strict=True)}
    different = tuple(dict.fromkeys(laws))
    padded = sum(lane.messages > 1 for lane in lanes)
    most = _most_surplus(survey.policy) / (survey.rounds * max(1, padded))
    paddings = tuple(
        padding_needed(of_block[lane.block], lane.positions, _own(lane), most)
        if lane.messages > 1
        else 0
        for lane in lanes
    )
    surplus = math.fsum(
        surplus_bound(of_block[lane.block], lane.positions, padding - _own(lane))
        for lane, padding in zip(lanes, paddings, strict=True)
        if lane.messages > 1
    )
    return Mixing(
        laws=different,
        lane_laws=tuple(different.index(of_block[lane.block]) for lane in lanes),
        paddings=paddings,
        surplus=surplus,
    )


def _most_surplus(policy: Policy) -> float:
    if policy.delta is not None:
        return policy.delta / SURPLUS_SHARE
    assert policy.eta is not None
    return policy.eta * -math.expm1((NEAREST - 1) * policy.epsilon) / SURPLUS_SHARE


def _own(lane: Lane) -> int:
    """By how much one person's answers can change the number of tokens of a lane."""
    return min(2 * lane.messages, lane.positions, lane.messages)


def _first_lane(lanes: Sequence[Lane], block: Block) -> Lane:
    return next(lane for lane in lanes if lane.block == block.name)


def _precision(sigma: float, policy: Policy) -> Precision:
    half = Z95 * sigma
    return Precision(sigma, half, 100 * half / policy.minimum_crowd)


def _margins(block: Block, sigma: float, policy: Policy) -> tuple[Margin, ...]:
    """One question of a group: an answer adds up cells, each with its noise."""
    if block.kind is not Kind.TOGETHER:
        return ()
    cells = {name: block.cells_of(name) for name in block.question_names}
    return tuple(
        Margin(name, count, _precision(math.sqrt(count) * sigma, policy))
        for name, count in cells.items()
    )


def _shift(block: Block, lanes: Sequence[Lane]) -> WorstShift:
    """A liar fills all messages of a lane with one token, or with none."""
    most = _first_lane(lanes, block).messages
    return WorstShift(block.name, 1, float(most), 1.0)
