"""What estimating starts from: the ones of every block, with the law they follow.

Where mixers alone add the noise and everybody sends one message about a block, an empty message is
counted like an answer, with dummies of its own. Otherwise those who answered nothing are whoever
all answers leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.both import BothModel
from krand.analysis.estimates.dummies import DummyModel
from krand.analysis.estimates.inversion import Floats, NoiseModel
from krand.analysis.estimates.models import CountModel
from krand.analysis.estimates.simplex import nearest_possible
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock

__all__ = ["BlockCounts", "block_counts", "check_fits", "counts_nulls", "mixed_law", "question_law"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BlockCounts:
    """The ones of every position of a block; `law` is that of one position."""

    block: Block
    ones: Counts
    law: CountModel
    nulls: int | None = None
    """Empty messages, where they are counted like an answer."""
    refused: int = 0
    """Messages that were refused; some may have been about this block."""

    def consistent(self) -> Floats:
        """The nearest possible counts: first of those who answered nothing, then of positions."""
        people = self.law.people
        if self.nulls is None:
            raw = self.law.estimate(self.ones)
            fitted = nearest_possible(raw, people, self.block.most_ones)
            return np.concatenate([[max(0.0, people - float(fitted.sum()))], fitted])
        raw = self.law.estimate(self.cells)
        return nearest_possible(raw, people, least=max(0, people - self.refused))

    @property
    def cells(self) -> Counts:
        """The counts of all positions, and first that of empty messages, or 0."""
        return np.concatenate([[self.nulls or 0], self.ones])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of every question of a group and, first, no answer."""
        return tuple(question.levels + 1 for question in self.block.levels)

    def margin(self, cells: Floats | Counts, place: int) -> Floats | Counts:
        """The cells of a group added up to one of its questions; no answer is first."""
        table = cells.reshape(self.sizes)
        others = tuple(axis for axis in range(table.ndim) if axis != place)
        return np.asarray(table.sum(axis=others))

    def margin_law(self, place: int) -> CountModel:
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
    if plan.survey.trust.noise.has_dummies:
        _check_mixed(plan, tally)


def _check_mixed(plan: Plan, tally: Tally) -> None:
    """Every batch has its dummies: without their number nothing can be subtracted."""
    if not 1 <= len(tally.batches) <= plan.survey.trust.batches:
        rule = f"must count 1 to {plan.survey.trust.batches:,} batches, as planned"
        hint = "mixers add dummies to every batch, so their number must be known"
        raise InvalidInput("tally", rule, len(tally.batches), hint)
    nulls = tally.lane_nulls
    if nulls is None or len(nulls) != len(plan.lanes):
        rule = f"must count the empty messages of {len(plan.lanes):,} lanes"
        raise InvalidInput("tally", rule, "none" if nulls is None else len(nulls))


def block_counts(plan: Plan, tally: Tally) -> tuple[BlockCounts, ...]:
    """The counts of every block, once the tally is seen to be of this plan."""
    check_fits(plan, tally)
    if plan.survey.trust.noise.has_dummies:
        return tuple(_mixed_counts(plan, tally, block) for block in plan.blocks)
    return tuple(
        BlockCounts(
            block=each.block,
            ones=_ones(tally, each.block),
            law=NoiseModel(people=tally.people, responses=tally.responses, noise=each.noise),
        )
        for each in plan.blocks
    )


def _ones(tally: Tally, block: Block) -> Counts:
    return tally.counts[block.offset : block.offset + block.positions]


def counts_nulls(plan: Plan, lane: Lane, block: Block) -> bool:
    """Whether an empty message is an answer like any other, "unanswered", and shown as such.

    Where devices flip bits, a message may be empty by a flip.
    """
    flips = plan.survey.trust.noise.has_flips
    return lane.has_noisy_nulls and bool(block.levels) and not flips


def mixed_law(plan: Plan, block: PlannedBlock, people: int, batches: int) -> DummyModel | BothModel:
    """The law of one position of a block, with the dummies of all mixers and batches."""
    lane = next(lane for lane in plan.lanes if lane.offset == block.offset)
    mixes = plan.survey.trust.mixers * batches
    dummies = DummyModel(people=people, law=plan.law_of(lane), mixes=mixes)
    if not plan.survey.trust.noise.has_flips:
        return dummies
    flips = NoiseModel(people=people, responses=people, noise=block.noise)
    return BothModel(flips=flips, dummies=dummies)


def question_law(plan: Plan, name: str, people: int, responses: int, batches: int) -> CountModel:
    """The law of one answer to a question; of a words question, of one position."""
    block = plan.block_of(name)
    if plan.survey.trust.noise.has_dummies:
        law: CountModel = mixed_law(plan, block, people, batches)
    else:
        law = NoiseModel(people=people, responses=responses, noise=block.noise)
    return law.summed(block.block.cells_of(name))


def _mixed_counts(plan: Plan, tally: Tally, planned: PlannedBlock) -> BlockCounts:
    """All lanes of a block have one law; only a lane of its own has nulls that are an answer."""
    block = planned.block
    lane = next(lane for lane in plan.lanes if lane.offset == block.offset)
    assert tally.lane_nulls is not None
    return BlockCounts(
        block=block,
        ones=_ones(tally, block),
        law=mixed_law(plan, planned, tally.people, len(tally.batches)),
        nulls=int(tally.lane_nulls[lane.number]) if counts_nulls(plan, lane, block) else None,
        refused=sum(tally.rejected.values()),
    )
