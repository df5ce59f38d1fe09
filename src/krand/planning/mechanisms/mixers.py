"""Plans in which mixers add noise: laws of dummies, padding, precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

from krand.accounting.bounds import NEAREST, Effort
from krand.accounting.division import Share
from krand.accounting.dummy_bounds import (
    DummyBound,
    negligible_part,
    padding_needed,
    parts_of,
    surplus_bound,
)
from krand.accounting.dummy_division import (
    DividedDummies,
    assess_dummies,
    divide_dummies,
    most_sigmas,
    quick_dummies,
)
from krand.errors import InvalidInput
from krand.planning.mechanisms.part import PlanningPart, QuickPlan, margins_of, shares_of
from krand.promise import Z95, DummyLaw, Policy, Precision, Promise
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.mechanisms import MIXERS
from krand.survey.plan import Mixing, Plan, PlannedBlock, WorstShift
from krand.survey.survey import Survey, Trust

TYPICAL_CHAIN = 3
"""The number of mixers that is shown for a survey which names none."""
KEPT = 8
"""Divisions of dummies that are kept."""
SURPLUS_SHARE = 1000
"""The part of δ or η that dummies beyond their padding may take."""


class MixersPart(PlanningPart):
    """Dummies of mixers."""

    def search(self, survey: Survey, suggestions: bool) -> Plan:
        """The least noise of every mixer that keeps the policy by itself."""
        layout = layout_of(survey)
        lanes = lanes_of(survey, layout)
        policy, shares = _reserved(survey, lanes), shares_of(layout)
        divided = _divided(policy, shares, survey.promised_rounds, suggestions)
        mixing = _mixing(survey, layout, lanes, divided.laws)
        plan = mixed_from(survey, mixing, divided.promise)
        return replace(plan, promise=_promise(plan))

    def quick(self, survey: Survey) -> QuickPlan | None:
        layout = layout_of(survey)
        lanes = lanes_of(survey, layout)
        mixed = _quick_mixing(survey, layout, lanes)
        if mixed is None:
            return None
        sigmas, bound = mixed
        blocks = _blocks(survey, layout, lanes, sigmas)
        return QuickPlan(survey=survey, bound=bound, blocks=blocks)

    def promise(self, plan: Plan, policy: Policy) -> Promise:
        """The same for any crowd."""
        return replace(_promise(plan), crowd=policy.minimum_crowd, colluding=policy.colluding)

    def people_shown(self, survey: Survey) -> int | None:
        return None

    def added_variance(self, survey: Survey, noise: float, people: int) -> float:
        """Dummies stay as many."""
        return 0.0

    def without(self, plan: Plan, crowd: int, absent: int) -> Promise | None:
        return plan.promise

    def variant(self, survey: Survey) -> Survey | None:
        """With the survey's own chain or one mixer; None if devices must
        protect themselves too."""
        if survey.policy.max_local_epsilon is not None:
            return None
        trust = survey.trust if survey.trust.noise.has_dummies else Trust(noise=MIXERS)
        return replace(survey, trust=trust)

    def chains(self, survey: Survey) -> tuple[int, ...]:
        """One mixer, and as many as the survey has, or a typical number."""
        own = survey.trust.noise.has_dummies
        longest = survey.trust.mixers if own else TYPICAL_CHAIN
        return (1,) if longest == 1 else (1, longest)


def _blocks(
    survey: Survey, layout: Layout, lanes: Sequence[Lane], sigmas: Sequence[float]
) -> tuple[PlannedBlock, ...]:
    """Blocks to whose counts mixers add noise, of these σ."""
    return tuple(
        PlannedBlock(
            block=block,
            numerator=0,
            precision=_precision(sigma, survey.policy),
            # A dishonest person fills all messages of a lane with one token, or with none.
            shift=WorstShift(block.name, float(_first_lane(lanes, block).messages), 1.0),
            margins=margins_of(block, partial(_precision, sigma, survey.policy)),
        )
        for block, sigma in zip(layout.blocks, sigmas, strict=True)
    )


def _sigmas(survey: Survey, layout: Layout, lanes: Sequence[Lane], mixing: Mixing) -> list[float]:
    """σ of the dummies that all mixers add to a count of every block, in a round."""
    laws = [mixing.laws[mixing.lane_laws[_first_lane(lanes, b).number]] for b in layout.blocks]
    return [math.sqrt(survey.trust.mixers * law.variance) for law in laws]


@lru_cache(maxsize=KEPT)
def _divided(
    policy: Policy, shares: tuple[Share, ...], rounds: int, suggestions: bool
) -> DividedDummies:
    """The laws do not depend on the number of mixers: whoever compares chains asks once."""
    return divide_dummies(policy, shares, rounds, suggestions)


def _quick_mixing(
    survey: Survey, layout: Layout, lanes: Sequence[Lane]
) -> tuple[tuple[float, ...], float] | None:
    """What is proven for laws of one mixer that keep the policy and are rarely the best ones.

    The first value has a σ for every block that the best laws do not exceed, for all mixers.
    The second is the proven δ or η. None if the proof fails.
    """
    shares, policy = shares_of(layout), survey.policy
    laws = quick_dummies(_reserved(survey, lanes), shares, survey.promised_rounds)
    if laws is None:
        return None
    surplus = survey.promised_rounds * _mixing(survey, layout, lanes, laws).surplus
    parts = parts_of(laws, [share.sensitivity * survey.promised_rounds for share in shares])
    rare = negligible_part(policy, parts)
    bound = DummyBound(parts=parts, epsilon=policy.epsilon, surplus=surplus, negligible=rare)
    proven = (bound.delta if policy.eta is None else bound.eta)(Effort.FULL)
    if proven > policy.limit:
        return None
    chain = math.sqrt(survey.trust.mixers)
    return tuple(chain * sigma for sigma in most_sigmas(shares, laws)), proven


def mixed_from(survey: Survey, mixing: Mixing, promise: Promise) -> Plan:
    """The plan with these dummies: messages and precision follow from them."""
    layout = layout_of(survey)
    lanes = lanes_of(survey, layout)
    _check_mixing(mixing, lanes)
    sigmas = _sigmas(survey, layout, lanes, mixing)
    return Plan(
        survey=survey,
        blocks=_blocks(survey, layout, lanes, sigmas),
        messages=sum(lane.messages for lane in lanes),
        overflow=0.0,
        promise=promise,
        mixing=replace(mixing, surplus=_surplus(mixing, layout, lanes)),
    )


def _check_mixing(mixing: Mixing, lanes: Sequence[Lane]) -> None:
    """Every lane has a law, lanes of one question the same: the promise counts it once."""
    for name, found in (("lane_laws", mixing.lane_laws), ("paddings", mixing.paddings)):
        if len(found) != len(lanes):
            raise InvalidInput(f"mixing.{name}", f"must be {len(lanes):,}, a lane each", len(found))
    of_block: dict[str, int] = {}
    for lane, law in zip(lanes, mixing.lane_laws, strict=True):
        if not 0 <= law < len(mixing.laws):
            rule = f"must name one of {len(mixing.laws):,} laws"
            raise InvalidInput("mixing.lane_laws", rule, law)
        if of_block.setdefault(lane.block, law) != law:
            rule = f"must be the same for all lanes of {lane.block}"
            raise InvalidInput("mixing.lane_laws", rule, law)


def _promise(plan: Plan) -> Promise:
    """The promise of exactly the plan's laws and paddings, recomputed."""
    mixing, survey = plan.mixing, plan.survey
    _check_mixing(mixing, plan.lanes)
    laws = [plan.law_of(_first_lane(plan.lanes, block)) for block in plan.layout.blocks]
    surplus = survey.promised_rounds * _surplus(mixing, plan.layout, plan.lanes)
    shares = shares_of(plan.layout)
    return assess_dummies(survey.policy, shares, laws, survey.promised_rounds, surplus)


def _reserved(survey: Survey, lanes: Sequence[Lane]) -> Policy:
    """What is left for the laws themselves."""
    policy = survey.policy
    taken = float(any(lane.messages > 1 for lane in lanes))
    left = policy.limit * (1 - taken / SURPLUS_SHARE)
    return replace(policy, delta=left) if policy.eta is None else replace(policy, eta=left)


def _mixing(
    survey: Survey, layout: Layout, lanes: Sequence[Lane], laws: Sequence[DummyLaw]
) -> Mixing:
    of_block = {block.name: law for block, law in zip(layout.blocks, laws, strict=True)}
    different = tuple(dict.fromkeys(laws))
    padded = sum(lane.messages > 1 for lane in lanes)
    policy, limit = survey.policy, survey.policy.limit
    if policy.eta is not None:
        limit *= -math.expm1((NEAREST - 1) * policy.epsilon)
    most = limit / SURPLUS_SHARE / (survey.promised_rounds * max(1, padded))
    paddings = tuple(
        padding_needed(of_block[lane.block], lane.positions, _own(layout, lane), most)
        if lane.messages > 1
        else 0
        for lane in lanes
    )
    mixing = Mixing(
        laws=different,
        lane_laws=tuple(different.index(of_block[lane.block]) for lane in lanes),
        paddings=paddings,
        surplus=0.0,
    )
    return replace(mixing, surplus=_surplus(mixing, layout, lanes))


def _surplus(mixing: Mixing, layout: Layout, lanes: Sequence[Lane]) -> float:
    """A bound on the probability that a lane of a batch has more dummies than its padding."""
    return math.fsum(
        surplus_bound(mixing.laws[law], lane.positions, padding - _own(layout, lane))
        for lane, law, padding in zip(lanes, mixing.lane_laws, mixing.paddings, strict=True)
        if lane.messages > 1
    )


def _own(layout: Layout, lane: Lane) -> int:
    """By how much one person's answers can change the number of tokens of a lane."""
    (block,) = (block for block in layout.blocks if block.name == lane.block)
    return min(block.sensitivity, lane.positions, lane.messages)


def _first_lane(lanes: Sequence[Lane], block: Block) -> Lane:
    return next(lane for lane in lanes if lane.block == block.name)


def _precision(sigma: float, policy: Policy, cells: int = 1) -> Precision:
    """Of a count that adds up so many cells, each with its noise."""
    sigma *= math.sqrt(cells)
    half = Z95 * sigma
    return Precision(sigma, half, 100 * half / policy.minimum_crowd)
