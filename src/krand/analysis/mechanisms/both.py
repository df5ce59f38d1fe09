"""Counts with flips of devices and dummies of mixers."""

from __future__ import annotations

from krand.analysis.mechanisms.both_model import BothModel
from krand.analysis.mechanisms.flip_model import NoiseModel
from krand.analysis.mechanisms.mixers import MixersPart, dummies_of
from krand.analysis.mechanisms.models import CountModel
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock

__all__ = ["BothPart"]


class BothPart(MixersPart):
    """Batches as with dummies alone; a message may be empty by a flip."""

    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        flips = NoiseModel(people=people, responses=people, noise=block.noise)
        return BothModel(flips=flips, dummies=dummies_of(plan, block, people, batches))

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        return False
