"""Counts with flips of devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krand.analysis.mechanisms.flip_model import NoiseModel
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.mechanisms.part import AnalysisPart
from krand.analysis.tally import Tally
from krand.planning.lying import worst_shift
from krand.planning.mechanisms.devices import planned_from
from krand.promise import NOISE_GRID, Linkage
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock, Promise, WorstShift
from krand.survey.survey import Survey

__all__ = ["DevicesPart"]


class DevicesPart(AnalysisPart):
    """Batches of any number, each with the flips of its people and nothing else."""

    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        return NoiseModel(people=people, responses=responses, noise=block.noise)

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """A message may be empty by a flip."""
        return False

    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """Flips are those of the people, however they were counted."""

    def lanes_needed(self, plan: Plan) -> int:
        return 0

    def mixes(self, plan: Plan, batches: int) -> int:
        return 0

    def most_batches(self, plan: Plan) -> int | None:
        return None

    def worst_shift(self, block: PlannedBlock, corrupted: int) -> WorstShift:
        return worst_shift(block.name, block.noise, block.room, corrupted)

    def odd_noise(self, survey: Survey, numerators: tuple[int, ...]) -> Iterator[str]:
        if not all(0 < numerator < NOISE_GRID // 2 for numerator in numerators):
            yield "a noise is not above 0 and below 1/2"
        if survey.linkage is Linkage.RECORD and len(set(numerators)) > 1:
            yield "bits of whole records have different noise"

    def rebuilt(
        self,
        survey: Survey,
        numerators: tuple[int, ...],
        promises: tuple[Promise, Promise | None],
        mixing: Any,
    ) -> Plan:
        return planned_from(survey, numerators, promises[0])

    def noise_said(self, plan: Plan) -> str:
        noises = [block.noise for block in plan.blocks]
        ends = dict.fromkeys(f"{noise:.4g}" for noise in (min(noises), max(noises)))
        return f"every bit is flipped with a probability of {' to '.join(ends)}"

    @property
    def needs_collector_key(self) -> bool:
        return True
