"""Counts with dummies of mixers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krand.analysis.checks import Check, check, same_bound
from krand.analysis.mechanisms.dummy_model import DummyModel
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.mechanisms.part import AnalysisPart
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.planning.mechanisms.mixers import mixed_from
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock, Promise, WorstShift
from krand.survey.plan_file import mixing_of
from krand.survey.survey import Survey
from krand.wire.mixers import check_mixers

__all__ = ["MixersPart", "dummies_of"]


def dummies_of(plan: Plan, block: PlannedBlock, people: int, batches: int) -> DummyModel:
    """The dummies of all mixers and batches at one position; all lanes of a block have one law."""
    lane = next(lane for lane in plan.lanes if lane.offset == block.offset)
    mixes = plan.survey.trust.mixers * batches
    return DummyModel(people=people, law=plan.law_of(lane), mixes=mixes)


class MixersPart(AnalysisPart):
    """As many batches as the noise was chosen for, each with the dummies of every mixer."""

    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        return dummies_of(plan, block, people, batches)

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """Of a lane with one message, whose empty ones have dummies of their own."""
        return lane.has_noisy_nulls and bool(block.levels)

    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """Every batch has its dummies: without their number nothing can be subtracted."""
        if not 1 <= len(tally.batches) <= plan.survey.trust.batches:
            rule = f"must count 1 to {plan.survey.trust.batches:,} batches, as planned"
            hint = "mixers add dummies to every batch, so their number must be known"
            raise InvalidInput("tally", rule, len(tally.batches), hint)
        nulls = tally.lane_nulls
        if nulls is None or len(nulls) != len(plan.lanes):
            rule = f"must count the empty messages of {len(plan.lanes):,} lanes"
            raise InvalidInput("tally", rule, "none" if nulls is None else len(nulls))

    def lanes_needed(self, plan: Plan) -> int:
        return len(plan.lanes)

    def mixes(self, plan: Plan, batches: int) -> int:
        return plan.survey.trust.mixers * batches

    def most_batches(self, plan: Plan) -> int | None:
        return plan.survey.trust.batches

    def worst_shift(self, block: PlannedBlock, corrupted: int) -> WorstShift:
        """Nothing is divided by: the shifts of single people add up."""
        one = block.shift
        return WorstShift(one.name, corrupted, corrupted * one.too_high, corrupted * one.too_low)

    def odd_noise(self, survey: Survey, numerators: tuple[int, ...]) -> Iterator[str]:
        if set(numerators) != {0}:
            yield "devices flip bits, which is not planned"

    def rebuilt(
        self,
        survey: Survey,
        numerators: tuple[int, ...],
        promises: tuple[Promise, Promise | None],
        mixing: Any,
    ) -> Plan:
        return mixed_from(survey, mixing_of(mixing, survey.seal), promises[0])

    def noise_said(self, plan: Plan) -> str:
        most = 2 * max(law.reach for law in plan.mixing.laws)
        return f"every mixer adds up to {most:,} dummies to each position, by weights that add up"

    def plan_checks(self, plan: Plan, values: Mapping[str, Any]) -> Iterator[Check]:
        said = "surplus dummies are as rare as the plan says, and every mixer is there once"
        yield check("mixing", _odd_mixing(values["mixing"], plan), said)

    @property
    def needs_collector_key(self) -> bool:
        return False


def _odd_mixing(told: dict[str, Any], plan: Plan) -> Iterator[str]:
    """Mixers draw from the weights, so those must be the same; the surplus is computed."""
    true = plan.mixing.values()
    same = same_bound(told["surplus"], true["surplus"])
    if not same or told != true | {"surplus": told["surplus"]}:
        yield "surplus is not that of the laws"
    for lane, padding in zip(plan.lanes, plan.mixing.paddings, strict=True):
        if padding and lane.messages == 1:
            yield f"lane {lane.number} has one message, and needs no padding"
    if plan.mixing.mixers:  # a plan may be checked before it names its mixers
        try:
            check_mixers(plan)
        except InvalidInput as error:
            yield f"{error.field} {error.rule}, found {error.value}"
