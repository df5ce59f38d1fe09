"""What estimating starts from: the ones of every block, with the law they follow.

Where mixers alone add the noise and everybody sends one message about a block, an empty message is
counted like an answer, with dummies of its own. Otherwise those who answered nothing are whoever
all answers leave.

`nearest_possible` finds the nearest counts that people could have given. A person sets at most m
positions of a block, each at most once, so true counts lie between 0 and N and add up to at most mN
(less where people left the question unanswered). All positions of a block have the same noise, so
the nearest point in the plain sense is the one of weighted least squares. It is `raw - τ` cut at 0
and N, where τ ≥ 0 brings the sum down to mN (the conditions of Karush, Kuhn and Tucker); the sum
falls in straight pieces as τ grows, so τ is found without a search.

Where everybody sends one message and an empty one is counted like an answer, the sum is N, less
what was refused. Then τ may be negative, which is the same with larger raw counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krand.analysis.mechanisms import part_of
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock


def nearest_possible(raw: Floats, people: float, most_ones: int = 1, least: float = 0.0) -> Floats:
    """The point of {0 ≤ x ≤ N, least ≤ Σx ≤ mN} nearest to the unbiased counts; least ≤ N."""
    room = float(people * most_ones)
    cut = np.clip(raw, 0.0, people)
    if least <= cut.sum() <= room:
        return cut
    if cut.sum() < least:
        raw, room = raw + (people - raw.max()), float(least)
    moved: Floats = np.clip(raw - _shift(raw, people, room), 0.0, people)
    return moved


def _shift(raw: Floats, people: float, room: float) -> float:
    """τ with Σ clip(raw - τ, 0, N) = room."""
    corners = np.unique(np.concatenate([[0.0], raw, raw - people]))
    corners = corners[corners >= 0]
    sums = _excess(raw, corners) - _excess(raw - people, corners)
    after = int(np.argmax(sums <= room))  # the last corner leaves nothing, so there is one
    if not after:  # the first corner is it, but for rounding
        return 0.0
    here, there = corners[after - 1], corners[after]
    fall = sums[after - 1] - sums[after]
    return float(here + (there - here) * (sums[after - 1] - room) / fall)


def _excess(values: Floats, levels: Floats) -> Floats:
    """Σ max(value - level, 0) for every level."""
    ordered = np.sort(values)
    above = np.concatenate([np.cumsum(ordered[::-1])[::-1], [0.0]])
    first = np.searchsorted(ordered, levels)
    sums: Floats = above[first] - levels * (len(values) - first)
    return sums


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
    part_of(plan.survey.trust.noise).check_tally(plan, tally)


def block_counts(plan: Plan, tally: Tally) -> tuple[BlockCounts, ...]:
    """The counts of every block, once the tally is seen to be of this plan."""
    check_fits(plan, tally)
    return tuple(_counts(plan, tally, block) for block in plan.blocks)


def _counts(plan: Plan, tally: Tally, planned: PlannedBlock) -> BlockCounts:
    """All lanes of a block have one law; only a lane of its own has nulls that are an answer."""
    part, block, people = part_of(plan.survey.trust.noise), planned.block, tally.people
    lane = next((lane for lane in plan.lanes if lane.offset == block.offset), plan.lanes[0])
    nulls = None
    if part.counts_nulls(lane, block):
        assert tally.lane_nulls is not None  # it was checked
        nulls = int(tally.lane_nulls[lane.number])
    return BlockCounts(
        block=block,
        ones=tally.counts[block.offset : block.offset + block.positions],
        law=part.law(plan, planned, people, tally.responses),
        nulls=nulls,
        refused=sum(tally.rejected.values()),
    )


def question_law(plan: Plan, name: str, people: int, responses: int) -> CountModel:
    """The law of one answer to a question; of a words question, of one position."""
    block = plan.block_of(name)
    law = part_of(plan.survey.trust.noise).law(plan, block, people, responses)
    return law.summed(block.block.cells_of(name))
