"""What estimating starts from: the ones of every block, with the law they follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.inversion import Floats, NoiseModel
from krand.analysis.estimates.simplex import nearest_possible
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.layout import Block
from krand.survey.plan import Plan

__all__ = ["BlockCounts", "block_counts", "check_fits"]


@dataclass(frozen=True, slots=True, eq=False)
class BlockCounts:
    """The ones of every position of a block; `law` is that of one position."""

    block: Block
    ones: Counts
    law: NoiseModel

    def consistent(self) -> Floats:
        """The nearest possible counts of all positions."""
        raw = self.law.estimate(self.ones)
        return nearest_possible(raw, self.law.people, self.block.most_ones)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of every question of a group and, first, no answer."""
        return tuple(question.levels + 1 for question in self.block.levels)

    def margin(self, values: Floats | Counts, place: int) -> Floats | Counts:
        """The cells of a group added up to one of its questions; no answer is left out."""
        table = np.concatenate([[0], values]).reshape(self.sizes)
        others = tuple(axis for axis in range(table.ndim) if axis != place)
        return np.asarray(table.sum(axis=others)[1:])

    def margin_law(self, place: int) -> NoiseModel:
        """The law of one level of that question: a sum over all cells of the others."""
        return self.law.summed(self.block.cells_of(self.block.question_names[place]))


def check_fits(plan: Plan, tally: Tally) -> None:
    """The tally must be of this plan, and of somebody."""
    if tally.plan_hash != plan.hash:
        rule = f"must be of the plan {plan.hash}"
        raise InvalidInput("tally", rule, tally.plan_hash, "estimate with the plan it was made for")
    if len(tally.counts) != plan.layout.positions:
        rule = f"must count {plan.layout.positions:,} positions"
        raise InvalidInput("tally", rule, len(tally.counts))
    if tally.people < 1 or tally.responses < 1:
        found = min(tally.people, tally.responses)
        raise InvalidInput("tally", "must count at least one response", found)


def block_counts(plan: Plan, tally: Tally) -> tuple[BlockCounts, ...]:
    """The counts of every block, once the tally is seen to be of this plan."""
    check_fits(plan, tally)
    return tuple(
        BlockCounts(
            block,
            tally.counts[block.offset : block.offset + block.positions],
            NoiseModel(people=tally.people, responses=tally.responses, noise=noise),
        )
        for block, noise in zip(plan.layout.blocks, plan.noises, strict=True)
    )
