"""Privacy of what was seen: the ratio of the actual outcome, and where it lies in its law.

A promise of privacy is about all outcomes. This looks at the one that came out, and asks how much
more likely it is under one of two neighbouring crowds. What it finds is an illustration of the
promise, not a replacement: no tally tells which crowd it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from krand import InvalidInput, Linkage, Plan, Tally
from krand.analysis.estimates.counted import check_fits
from krand.survey.encoding import UNANSWERED, describe
from krand_lab.observe.bits import CountSeen, see_counts
from krand_lab.observe.change import (
    BlockSeen,
    ChangeLaw,
    WorstChange,
    change_law,
    worst_change,
)
from krand_lab.observe.dummies import MixedCount, blocks_alone, blocks_seen
from krand_lab.observe.records import RecordSeen, observe_records

if TYPE_CHECKING:
    from krand.survey.layout import Block

UNLIKELY = 0.001
"""Ratios rarer than this lie outside their law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionSeen:
    """One position; the two tails of the drafts' pair are P[R ≥ the one seen]."""

    position: int
    question: str
    answer: str
    count: int
    log_outlier: float
    """log R of the drafts' pair: everybody else answers 0."""
    zeros: float
    outlier: float
    true_ones: int
    """Estimated, among the others."""
    log_here: float
    """log R with so many true ones among the others."""
    here: float
    """P[|log R| ≥ this] with so many true ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitsSeen:
    """The ratios of a survey whose positions were counted apart."""

    people: int
    positions: int
    outside: int
    """Positions whose ratio lies outside the law of the drafts' crowd of zeros."""
    beyond: int
    """Positions with more ones than there are people: some were forged, N is taken instead."""
    extremes: tuple[PositionSeen, ...]
    """The positions with the largest |log R| of the drafts' pair, largest first."""
    worst: WorstChange


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedPositionSeen:
    """One position to which mixers added dummies."""

    position: int | None
    """None for empty messages that are counted like an answer."""
    question: str
    answer: str
    count: int
    """People and dummies."""
    others: int
    """Estimated: how many of the others gave this answer."""
    log_ratio: float
    """log R with so many others."""
    as_far: float
    """P[|log R| ≥ this] with so many others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedSeen:
    """The ratios of a survey to which mixers added dummies."""

    people: int
    positions: int
    """Empty messages that are counted like an answer are among them."""
    mixers: int
    beyond: int
    """Positions with more messages than people and dummies can send: some were forged."""
    extremes: tuple[MixedPositionSeen, ...]
    """The positions with the largest |log R|, largest first."""
    worst: WorstChange
    one_mixer: ChangeLaw
    """What outcomes reveal if everybody but one person and one mixer works with the analyst."""


def observe(
    plan: Plan, tally: Tally, most: int = 10, seed: int = 0
) -> RecordSeen | BitsSeen | MixedSeen:
    """The ratio of the actual outcome; `most` positions are described one by one."""
    check_fits(plan, tally)
    if tally.people < 2:
        hint = "nobody hides in a crowd of one"
        raise InvalidInput("tally", "must count at least two people", tally.people, hint)
    if most < 0:
        raise InvalidInput("most", "must be at least 0", most)
    if plan.laws:
        return _observe_mixed(plan, tally, most, seed)
    if plan.survey.linkage is Linkage.RECORD:
        return observe_records(plan, tally, seed)
    return _observe_bits(plan, tally, most, seed)


def _observe_bits(plan: Plan, tally: Tally, most: int, seed: int) -> BitsSeen:
    people, blocks = tally.people, plan.layout.blocks
    counts = np.minimum(tally.counts, people)
    noises = np.concatenate([np.full(block.positions, block.noise) for block in plan.blocks])
    found, rows = see_counts(people, counts, noises)
    log_outlier = np.array([seen.log_outlier for seen in found])[rows]
    zeros = np.array([seen.zeros for seen in found])[rows]
    extremes = np.argsort(-np.abs(log_outlier), kind="stable")[:most]
    return BitsSeen(
        people=people,
        positions=tally.positions,
        # As many positions as there are may each be unlikely once: their chances add up.
        outside=int(np.count_nonzero(zeros < UNLIKELY / tally.positions)),
        beyond=int(np.count_nonzero(tally.counts > people)),
        extremes=tuple(_position(plan, int(place), found[rows[place]]) for place in extremes),
        worst=worst_change([_block(block, found, rows) for block in blocks], seed),
    )


def _observe_mixed(plan: Plan, tally: Tally, most: int, seed: int) -> MixedSeen:
    blocks, of_blocks = zip(*blocks_seen(plan, tally), strict=True)
    counts = [count for of_block in of_blocks for count in of_block]
    furthest = sorted(counts, key=lambda count: -abs(count.log_ratio))[:most]
    return MixedSeen(
        people=tally.people,
        positions=len(counts),
        mixers=plan.survey.trust.mixers,
        beyond=sum(count.count > count.most for count in counts),
        extremes=tuple(_mixed_position(plan, count) for count in furthest),
        worst=worst_change(blocks, seed),
        one_mixer=change_law(list(blocks_alone(plan)), seed),
    )


def _mixed_position(plan: Plan, seen: MixedCount) -> MixedPositionSeen:
    if seen.position is None:
        question, answer = seen.lane.block, UNANSWERED
    else:
        meaning = describe(plan.layout, seen.position)
        question, answer = meaning.name, meaning.label
    return MixedPositionSeen(
        position=seen.position,
        question=question,
        answer=answer,
        count=seen.count,
        others=seen.others,
        log_ratio=seen.log_ratio,
        as_far=seen.law.as_far(seen.log_ratio),
    )


def _block(block: Block, found: list[CountSeen], rows: NDArray[np.intp]) -> BlockSeen:
    own = rows[block.offset : block.offset + block.positions]
    log_ratios = np.array([found[row].log_here for row in own])
    kinds, sizes = np.unique(own, return_counts=True)
    groups = [(found[row].law, int(size)) for row, size in zip(kinds, sizes, strict=True)]
    return BlockSeen(block.most_ones, log_ratios, groups)


def _position(plan: Plan, position: int, seen: CountSeen) -> PositionSeen:
    meaning = describe(plan.layout, position)
    return PositionSeen(
        position=position,
        question=meaning.name,
        answer=meaning.label,
        count=seen.count,
        log_outlier=seen.log_outlier,
        zeros=seen.zeros,
        outlier=seen.outlier,
        true_ones=seen.true_ones,
        log_here=seen.log_here,
        here=seen.here,
    )
