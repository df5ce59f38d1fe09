"""Surveys in which mixers add the noise, with known answers: tallies with exact dummies.

Dummies are drawn from the integer weights of the plan, as a mixer would: 63 random bits, compared
with the cumulative weights. What devices send is known without noise, so a tally is the true counts
plus the dummies of every mixer and batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.simulated_surveys import tally_of
from krand.analysis.tally import Tally
from krand.planning.making import make_plan
from krand.promise import DUMMY_GRID, DummyLaw, Policy
from krand.survey import mechanisms
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.survey.questions import Question
from krand.survey.survey import Survey, Together, Trust

Wholes = NDArray[np.int64]


def mixed_plan_of(
    questions: Sequence[Question],
    together: Sequence[Sequence[str]] = (),
    *,
    mixers: int = 1,
    epsilon: float = 1.0,
    crowd: int = 800,
) -> Plan:
    """A plan of mixers' noise, planned for real."""
    return make_plan(
        Survey(
            id="mixed",
            policy=Policy(epsilon=epsilon, minimum_crowd=crowd, delta=1e-6),
            questions=tuple(questions),
            together=tuple(Together(tuple(names)) for names in together),
            trust=Trust(noise=mechanisms.MIXERS, mixers=mixers),
        )
    )


def drawn(law: DummyLaw, size: tuple[int, ...], random: np.random.Generator) -> Wholes:
    """So many numbers of dummies, exactly as likely as the weights say."""
    reached = np.cumsum(np.array(law.weights, dtype=np.uint64))
    assert int(reached[-1]) == DUMMY_GRID
    bits = random.integers(0, DUMMY_GRID, size, dtype=np.uint64)
    return np.searchsorted(reached, bits, side="right").astype(np.int64)


def mixed_tallies(
    plan: Plan, true: Wholes, people: int, repeats: int, seed: int
) -> Iterator[Tally]:
    """Tallies of surveys of one crowd.

    `true` may have a row for each repeat.
    """
    random = np.random.default_rng(seed)
    mixes = plan.survey.trust.mixers
    lanes = [_lane(plan, lane, true, people, (repeats, mixes), random) for lane in plan.lanes]
    counts = np.concatenate([tokens for tokens, _ in lanes], axis=1)
    nulls = np.stack([empty for _, empty in lanes], axis=1)
    for ones, empty in zip(counts, nulls, strict=True):
        more = {"nulls": int(empty.sum()), "lane_nulls": empty, "batches": ("0" * 64,)}
        yield replace(tally_of(plan, people, ones, **more), crowd=people)


def _lane(
    plan: Plan,
    lane: Lane,
    true: Wholes,
    people: int,
    size: tuple[int, int],
    random: np.random.Generator,
) -> tuple[Wholes, Wholes]:
    """Tokens of every position of a lane, and its nulls, in every repeat."""
    law, answers = plan.law_of(lane), true[..., lane.offset : lane.offset + lane.positions]
    dummies = drawn(law, (*size, lane.positions), random)
    sent = people * lane.messages - answers.sum(axis=-1)
    if lane.has_noisy_nulls:
        added = drawn(law, size, random)
    else:
        padding = 2 * law.reach if lane.is_single else plan.mixing.paddings[lane.number]
        added = np.maximum(padding - dummies.sum(axis=2), 0)
    return answers + dummies.sum(axis=1), sent + added.sum(axis=1)
