"""Counts with flips of devices and dummies of mixers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krand.analysis.mechanisms.both_model import BothModel
from krand.analysis.mechanisms.devices import DevicesPart
from krand.analysis.mechanisms.flip_model import NoiseModel
from krand.analysis.mechanisms.mixers import MixersPart, dummies_of
from krand.analysis.mechanisms.models import CountModel
from krand.planning.mechanisms.devices import planned_from
from krand.planning.mechanisms.mixers import with_mixing
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock, Promise
from krand.survey.plan_file import mixing_of
from krand.survey.survey import Survey

__all__ = ["BothPart"]


class BothPart(MixersPart):
    """Batches as with dummies alone; a message may be empty by a flip."""

    devices = DevicesPart()

    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        flips = NoiseModel(people=people, responses=people, noise=block.noise)
        return BothModel(flips=flips, dummies=dummies_of(plan, block, people, batches))

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        return False

    def odd_noise(self, survey: Survey, numerators: tuple[int, ...]) -> Iterator[str]:
        return self.devices.odd_noise(survey, numerators)

    def rebuilt(
        self,
        survey: Survey,
        numerators: tuple[int, ...],
        promises: tuple[Promise, Promise | None],
        mixing: Any,
    ) -> Plan:
        promise, flips = promises
        assert flips is not None  # it was checked that the file has it
        devices = planned_from(survey, numerators, flips)
        return with_mixing(devices, mixing_of(mixing, survey.seal), promise)

    def noise_said(self, plan: Plan) -> str:
        return f"{self.devices.noise_said(plan)}; {super().noise_said(plan)}"
