"""R of every count to which mixers added dummies, for this crowd.

With d people among the others who gave an answer, its count is d + S if one person more did not
give it, and d + 1 + S if they did; S is the sum of all dummies of the position. Hence

    R = P[S = T-d-1] / P[S = T-d],

whatever anybody else does.

d is estimated. The dummies of one mixer alone have the law of a single Z. That is what is left of
them if all other mixers and all other people work with the analyst.

One message over several positions is never lost: where an answer gains one, another answer or "no
answer" loses one, and empty messages have dummies of their own. Outcomes are those of a person who
gave no answer. In other lanes the number of empty messages says no more than the tokens do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from krand import Plan, Tally
from krand_lab.observe.bits import true_ones_of
from krand_lab.observe.change import BlockSeen, CountLaw, Group

if TYPE_CHECKING:
    from krand.survey.lanes import Lane
    from krand.survey.layout import Block

Floats = NDArray[np.float64]

LAWS = 4096
"""Laws that are kept."""
RAREST = 1e-290
"""Sums that are rarer are not listed; of up to 15 draws there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dummies:
    """What is added to the ones of one position: so many draws."""

    weights: tuple[int, ...]
    """How likely 0, 1, …, 2R dummies are, in whole numbers that mirror around R."""
    draws: int

    @property
    def most(self) -> int:
        """As many dummies as there can be: twice as many as on average."""
        return (len(self.weights) - 1) * self.draws

    def others(self, count: int, people: int) -> int:
        """d, estimated: how many of the others gave an answer with this count."""
        return true_ones_of(people, count - self.most // 2, 0.0)

    def sums(self) -> tuple[int, Floats]:
        """The least sum that is listed, and the probabilities of it and of those that follow.

        By convolution: all terms are positive, so that far out as well no digit is lost.
        """
        one = np.array(self.weights, dtype=np.float64) / sum(self.weights)
        start, masses = 0, one
        for _ in range(self.draws - 1):
            masses = np.convolve(masses, one)
            kept = np.flatnonzero(masses > RAREST)
            start, masses = start + int(kept[0]), masses[kept[0] : kept[-1] + 1]
        return start, masses


@lru_cache(maxsize=LAWS)
def count_law(dummies: Dummies, own: int = 0) -> CountLaw:
    """The law of a count when none of the other people gave the answer.

    With others it is moved by their number. `own` is 1 where the person sends such a message.
    """
    start, masses = dummies.sums()
    complete = len(masses) == dummies.most + 1
    zero, one = np.append(masses, 0.0), np.append(0.0, masses)
    # Counts that only one of the laws can give tell it for sure, unless they were left out.
    seen = np.flatnonzero((zero > 0) | (one > 0) if complete else (zero > 0) & (one > 0))
    inside = slice(int(seen[0]), int(seen[-1]) + 1)
    with np.errstate(divide="ignore"):
        ratios = np.log(one[inside]) - np.log(zero[inside])
    return CountLaw(start=start + inside.start, chances=(zero, one)[own][inside], log_ratios=ratios)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MixedCount:
    """A count with dummies: its ratio, and where that lies in its law."""

    lane: Lane
    position: int | None
    """None for empty messages that are counted like an answer."""
    count: int
    most: int
    """What people and mixers can send at most."""
    others: int
    log_ratio: float
    law: CountLaw


def blocks_seen(plan: Plan, tally: Tally) -> Iterator[tuple[BlockSeen, list[MixedCount]]]:
    """What can be changed together: one question, or one of the tables of words."""
    draws = plan.survey.trust.mixers
    for block, lanes in _parts(plan):
        found = [
            _counted(tally, lane, Dummies(weights=plan.law_of(lane).weights, draws=draws))
            for lane in lanes
        ]
        counts = [count for of_lane in found for count in of_lane]
        groups: dict[CountLaw, int] = {}
        for count in counts:
            groups[count.law] = groups.get(count.law, 0) + 1
        ratios = np.array([count.log_ratio for count in counts])
        laws = [(law.in_order(), size) for law, size in groups.items()]
        yield _block(block, lanes, ratios, laws), counts


def blocks_alone(plan: Plan) -> Iterator[BlockSeen]:
    """The same with the dummies of one mixer alone."""
    for block, lanes in _parts(plan):
        laws = []
        for lane in lanes:
            one = Dummies(weights=plan.law_of(lane).weights, draws=1)
            laws.append((count_law(one).in_order(), lane.positions))
            if lane.has_noisy_nulls:
                laws.append((count_law(one, own=1).in_order(), 1))
        yield _block(block, lanes, np.zeros(0), laws)


def _parts(plan: Plan) -> Iterator[tuple[Block, list[Lane]]]:
    for block in plan.layout.blocks:
        end = block.offset + block.positions
        lanes = [lane for lane in plan.lanes if block.offset <= lane.offset < end]
        if block.kind == "words":
            yield from ((block, [lane]) for lane in lanes)
        else:
            yield block, lanes


def _block(block: Block, lanes: list[Lane], ratios: Floats, laws: list[Group]) -> BlockSeen:
    """Options of a short list have a lane each, but one person chooses only some of them."""
    lane = lanes[0]
    most = block.most_ones if len(lanes) > 1 else min(block.most_ones, lane.messages)
    return BlockSeen(most, ratios, laws, balanced=lane.has_noisy_nulls)


def _counted(tally: Tally, lane: Lane, dummies: Dummies) -> Iterator[MixedCount]:
    """Every position of a lane, then its empty messages if they are an answer."""
    assert tally.lane_nulls is not None
    places: list[int | None] = list(range(lane.offset, lane.offset + lane.positions))
    counts = tally.counts[lane.offset : lane.offset + lane.positions].tolist()
    if lane.has_noisy_nulls:
        places, counts = [*places, None], [*counts, int(tally.lane_nulls[lane.number])]
    kinds, most = (count_law(dummies), count_law(dummies, own=1)), tally.people + dummies.most
    for place, counted in zip(places, counts, strict=True):
        count = min(counted, most)
        others = dummies.others(count, tally.people)
        law = kinds[place is None]
        yield MixedCount(
            lane=lane,
            position=place,
            count=counted,
            most=most,
            others=others,
            log_ratio=law.log_ratio(count - others),
            law=law,
        )
