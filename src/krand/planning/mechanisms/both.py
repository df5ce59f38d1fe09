"""Plans in which devices flip bits and mixers add dummies: each for the policy by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from krand.accounting.both import BothBound, BothPart
from krand.accounting.bounds import Effort
from krand.errors import CannotMeet
from krand.planning.mechanisms.devices import (
    DevicesPart,
    bit_by_bit,
    check_use,
    drowned,
    flipped_blocks,
    flips_for,
    overflow_of,
    quick_flips,
    rooms_of,
)
from krand.planning.mechanisms.mixers import (
    TYPICAL_CHAIN,
    MixersPart,
    mixed_promise,
    quick_mixing,
    with_mixing,
    with_sigmas,
)
from krand.planning.mechanisms.part import QuickPlan
from krand.promise import DummyLaw, Policy, Promise
from krand.survey.lanes import lanes_of
from krand.survey.layout import layout_of
from krand.survey.mechanisms import BOTH
from krand.survey.plan import Plan
from krand.survey.survey import Survey

MIXERS_ALONE = 'noise = "mixers" in [trust]: it needs no crowd'
MOST_PARTS = 20
"""Different pairs of noises, each of which takes a fraction of a second."""


class BothMechanisms(MixersPart):
    """The promise of mixers, which needs no crowd, and that of devices besides."""

    mechanism = BOTH
    devices = DevicesPart()

    def search(self, survey: Survey, suggestions: bool) -> Plan:
        try:
            devices = bit_by_bit(survey)
            check_use(devices, suggestions)
        except CannotMeet as error:
            if survey.policy.max_local_epsilon is not None:  # which dummies alone cannot keep
                raise
            raise CannotMeet(error.reason, (*error.nearest, MIXERS_ALONE)) from None
        least = self.least(survey, devices.layout, devices.lanes, suggestions)
        plan = with_mixing(devices, *least)
        plan = replace(plan, promise=mixed_promise(plan, devices.overflow))
        found = drowned(plan)
        if found is not None:
            raise CannotMeet(found[1], (MIXERS_ALONE,))
        return plan

    def quick(self, survey: Survey) -> QuickPlan | None:
        flips = quick_flips(survey)
        if flips is None:
            return None
        layout, (numerators, bound) = layout_of(survey), flips
        rooms, overflow = rooms_of(survey, layout, numerators)
        mixed = quick_mixing(survey, layout, lanes_of(survey, layout, rooms), overflow)
        if mixed is None:
            return None
        devices = flipped_blocks(survey, layout, numerators, rooms)
        sigmas, of_mixers = mixed
        blocks = with_sigmas(survey, devices, sigmas)
        return QuickPlan(survey=survey, bounds=(bound, of_mixers), blocks=blocks)

    def promises(self, plan: Plan, policy: Policy) -> tuple[Promise, ...]:
        found = mixed_promise(plan, overflow_of(plan))
        of_mixers = replace(found, crowd=policy.minimum_crowd, colluding=policy.colluding)
        return of_mixers, flips_for(plan, policy)

    def people_shown(self, survey: Survey) -> int | None:
        return self.devices.people_shown(survey)

    def added_variance(self, survey: Survey, noise: float, people: int) -> float:
        return self.devices.added_variance(survey, noise, people)

    def together(self, plan: Plan, people: int, refused: int) -> tuple[float, float] | None:
        """Of counts with flips and dummies, as the analyst alone sees them.

        None where that takes too long, or where nobody else is sure to be honest.
        """
        policy, trust, rounds = plan.survey.policy, plan.survey.trust, plan.survey.promised_rounds
        honest = people - policy.colluding - refused
        parts: Counter[tuple[float, DummyLaw]] = Counter()
        for each, lane in zip(plan.blocks, plan.lanes, strict=True):
            parts[each.noise, plan.law_of(lane)] += rounds * each.block.sensitivity
        if len(parts) > MOST_PARTS or honest < 2:
            return None
        bound = BothBound(
            parts=tuple(BothPart(noise, law, count) for (noise, law), count in parts.items()),
            crowd=honest,
            mixers=trust.mixers,
            epsilon=policy.epsilon,
            distance=rounds * (people * plan.overflow + trust.mixers * plan.mixing.surplus),
        )
        return bound.delta(Effort.QUICK).upper, bound.eta(Effort.QUICK).upper

    def variant(self, survey: Survey) -> Survey | None:
        """With the survey's own chain, or a typical one."""
        return self.proven(survey, TYPICAL_CHAIN)

    def chains(self, survey: Survey) -> tuple[int, ...]:
        return (self.proven(survey, TYPICAL_CHAIN).trust.mixers,)
