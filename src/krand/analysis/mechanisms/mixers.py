"""Counts with dummies of mixers: from counts back to people.

Devices do not flip. Each of h mixers adds Z dummies to every position of a round's batch, so a
row that adds up c positions counts T = D + S, where D people gave the answer and S is the sum of
n = h·c independent numbers of dummies. The law of S is known exactly, from the plan alone: its
mean is n·R, its variance n·σ², whatever the answers and however many people there are. Hence T - nR
is unbiased for D, and S is as far above its mean as below: intervals are T - nR ± w, with w from
the exact law. They never cover less often than they say.

Means, shares of those who answered and other ratios weigh rows differently, and sums with weights
have laws of their own. Their intervals use a number of standard deviations that suffices for sums
of one to eight rows and half a person more; enumerated, it suffices for other weights as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from krand.accounting.laws import sum_distance, sum_law, sum_tails
from krand.analysis.mechanisms.models import AnalysisPart, CountModel, Counts, Floats
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.promise import DummyLaw
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock

ROWS = 8
"""Sums of more rows are nearer to the normal law than these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DummyModel(CountModel):
    """How the tokens of one row come about."""

    people: int
    law: DummyLaw
    """Of the dummies of one mixer at one position."""
    mixes: int
    """How many times dummies were added to every position: by each mixer, in each round."""
    cells: int = 1
    """Positions that the row adds up."""
    most: int = 1
    """The most of these positions that one person can set."""

    @property
    def draws(self) -> int:
        """n: how many numbers of dummies the row adds up."""
        return self.mixes * self.cells

    @property
    def spread(self) -> float:
        """n·σ²: the variance of the count."""
        return self.draws * self.law.variance

    @property
    def sigma(self) -> float:
        """The standard error of the estimate, in people."""
        return math.sqrt(self.spread)

    def estimate(self, ones: Counts) -> Floats:
        """The unbiased number of people, T - nR."""
        return np.asarray(ones, dtype=np.float64) - self.draws * self.law.mean

    def counted(self, estimates: Floats) -> Floats:
        return estimates + self.draws * self.law.mean

    @property
    def is_exact(self) -> bool:
        """Whatever the variance is."""
        return True

    def limits(self, ones: Counts, confidence: float) -> Floats:
        """T - nR ± w; no interval shrinks to a point where noise brought a count below 0."""
        middle, half, most = self.estimate(ones), self.distance(confidence), self.people * self.most
        ends = np.stack([np.minimum(middle, most) - half, np.maximum(middle, 0) + half])
        return np.asarray(np.clip(ends, 0.0, most))

    @property
    def depends_on_share(self) -> bool:
        return False

    def errors(self, share: float) -> tuple[float, Floats, float]:
        """The same for every share."""
        tails = sum_tails(self.law, self.draws)
        half = np.append(-np.diff(tails), 0.0)[1:]
        masses = np.concatenate([half[::-1], [1 - 2 * half.sum()], half])
        return -float(len(masses) // 2), masses, 2 * float(tails[-1])

    def summed(self, cells: int, most: int = 1) -> DummyModel:
        """The law of a sum over so many rows."""
        return replace(self, cells=self.cells * cells, most=most)

    def pooled(self, others: Sequence[CountModel]) -> DummyModel | None:
        """As many dummies more; how many people there are does not matter to their law."""
        alike = [o for o in others if isinstance(o, DummyModel) and _alike(self, o)]
        if len(alike) < len(others):
            return None
        mixes = self.mixes + sum(other.mixes for other in alike)
        return replace(self, people=self.people + sum(o.people for o in alike), mixes=mixes)

    def distance(self, confidence: float) -> int:
        """w: the estimate is further than this from the truth with at most 1 - confidence."""
        return sum_distance(self.law, self.draws, (1 - confidence) / 2)

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities."""
        start, masses = sum_law(self.law, self.draws)
        errors = np.arange(len(masses), dtype=np.float64) + (start - self.draws * self.law.mean)
        return errors, masses

    def quantile(self, confidence: float) -> float:
        return max((row.distance(confidence) + 0.5) / row.sigma for row in self._sums())

    def chance(self, z: Floats) -> Floats:
        return np.asarray(np.max([row.tails(z) for row in self._sums()], axis=0).clip(max=1.0))

    def _sums(self) -> Iterator[DummyModel]:
        """Sums over one row and over more."""
        return (self.summed(rows) for rows in range(1, ROWS + 1))

    def tails(self, z: Floats) -> Floats:
        """P[the count is so many standard deviations or more off its mean], rounded up."""
        tails = sum_tails(self.law, self.draws)
        places = np.ceil(z * self.sigma - 0.5)
        return np.asarray(2 * tails[np.clip(places, 0, len(tails) - 1).astype(np.int64)])


def _alike(one: DummyModel, other: DummyModel) -> bool:
    return one.law == other.law and (one.cells, one.most) == (other.cells, other.most)


def dummies_of(plan: Plan, block: PlannedBlock, people: int) -> DummyModel:
    """The dummies of all mixers at one position; all lanes of a block have one law."""
    lane = next(lane for lane in plan.lanes if lane.offset == block.offset)
    return DummyModel(people=people, law=plan.law_of(lane), mixes=plan.survey.trust.mixers)


class MixersPart(AnalysisPart):
    """One batch with the dummies of every mixer."""

    def law(self, plan: Plan, block: PlannedBlock, people: int, responses: int) -> CountModel:
        return dummies_of(plan, block, people)

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """Of a lane with one message, whose empty ones have dummies of their own."""
        return lane.has_noisy_nulls and bool(block.levels)

    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """A batch has its dummies: with another one, too few would be subtracted."""
        if len(tally.batches) != 1:
            rule = "must count one batch: a round has no more"
            raise InvalidInput("tally", rule, len(tally.batches), "leave the others out")
        nulls = tally.lane_nulls
        if nulls is None or len(nulls) != len(plan.lanes):
            rule = f"must count the empty messages of {len(plan.lanes):,} lanes"
            raise InvalidInput("tally", rule, "none" if nulls is None else len(nulls))

    def noise_said(self, plan: Plan) -> str:
        most = 2 * max(law.reach for law in plan.laws)
        return f"every mixer adds up to {most:,} dummies to each position, by weights that add up"
