"""The engine as it is called today: the one file here that knows names inside `krand.accounting`.

What is asked is always the same: what does this noise promise, and which is the least noise for
that promise? Whoever rebuilds the engine changes this file alone.
"""

# ruff: noqa: F401 (tests take these names from here)

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import krand
from krand.accounting.baselines import Share, curator, divided_curator
from krand.accounting.composition import LossLaw, compose, connect_dots, loss_nodes, loss_step
from krand.accounting.counts import Pair, dummy_pair, profile
from krand.accounting.engine import Part as Positions
from krand.accounting.engine import bound
from krand.accounting.laws import (
    LARGEST_REACH,
    dummy_law,
    local_epsilon,
    sum_distance,
    sum_law,
    sum_tails,
    window_binomial,
)
from krand.accounting.least import dummies_can_meet, nearest_policies
from krand.accounting.least import least_dummies as least_laws
from krand.accounting.least import least_flips as least_numerators
from krand.accounting.promises import promise_of_dummies as promise_of_laws
from krand.accounting.promises import promise_of_flips
from krand.accounting.records import blanket
from krand.accounting.volume import (
    Tokens,
    message_size,
    messages_needed,
    overflow_bound,
    padding_needed,
    surplus_bound,
)
from krand.promise import NOISE_GRID, AtMost, Block, DummyLaw, ExactlyOne, FreeBits
from oracle import Case, Part

NEAR = 5e-4
"""No noise that is smaller by this part may keep the promise, too."""
Questions = Sequence[tuple[int, float]]
"""Of every question, how many positions one person can change, and its weight."""


def block_of(part: Part) -> Block:
    """Positions that are asked together."""
    if part.least == part.most == 1:
        return ExactlyOne(part.positions)
    free = part.most == part.positions
    return FreeBits(part.positions) if free else AtMost(part.most, part.positions)


def format_of(
    parts: Sequence[Part], *, records: bool, copies: int = 1, rounds: int = 1
) -> krand.ResponseFormat:
    """What one person sends."""
    return krand.ResponseFormat(
        sum(part.positions for part in parts),
        linkage=krand.Linkage.RECORD if records else krand.Linkage.BIT,
        copies=copies,
        rounds=rounds,
        structure=tuple(map(block_of, parts)),
    )


def promise_of(case: Case) -> krand.Promise:
    """What is promised in a crowd."""
    asked = format_of(case.parts, records=case.records, copies=case.copies, rounds=case.rounds)
    return krand.assess(asked, case.noise, case.people, case.epsilon, case.colluding)


def promise_of_bits(
    noises: Mapping[Fraction, int], people: int, epsilon: float, overflow: float = 0.0
) -> krand.Promise:
    """Bits that are counted apart, each with its own noise: how many there are of each.

    `overflow` is the probability that somebody sends more than fits into a submission.
    """
    policy = krand.Policy(epsilon=epsilon, delta=0.5, minimum_crowd=people)
    shares = [Share(count) for count in noises.values()]
    return promise_of_flips(policy, shares, list(map(numerator_of, noises)), distance=overflow)


def promise_of_dummies(
    laws: Mapping[DummyLaw, int], epsilon: float, surplus: float = 0.0
) -> krand.Promise:
    """One honest mixer's dummies at so many positions of each law."""
    policy = krand.Policy(epsilon=epsilon, delta=0.5, minimum_crowd=2)
    return promise_of_laws(policy, list(map(Share, laws.values())), list(laws), surplus=surplus)


def profile_of_dummies(law: DummyLaw, epsilon: float) -> float:
    """δ of one position alone, rounded up."""
    return float(profile(dummy_pair(law), np.array([epsilon]))[0])


class Found(NamedTuple):
    """The least noise of every question, and what it promises."""

    noise: tuple[Any, ...]
    promise: krand.Promise

    @property
    def sigmas(self) -> tuple[float, ...]:
        """σ of dummies."""
        return tuple(math.sqrt(law.variance) for law in self.noise)


def least_flips(
    policy: krand.Policy, questions: Questions, rounds: int = 1, overflow: float = 0.0
) -> Found:
    """The least noise of every question."""
    shares = [Share(*question) for question in questions]
    found = least_numerators(policy, shares, rounds, lambda _: overflow)
    return Found(found, promise_of_flips(policy, shares, found, rounds, overflow))


def promise_of_division(
    policy: krand.Policy, questions: Questions, numerators: Sequence[int], overflow: float = 0.0
) -> krand.Promise:
    """What these noises promise together."""
    shares = [Share(*question) for question in questions]
    return promise_of_flips(policy, shares, numerators, distance=overflow)


def least_dummies(policy: krand.Policy, questions: Questions, rounds: int = 1) -> Found:
    """The least laws of dummies of every question."""
    shares = [Share(*question) for question in questions]
    found = least_laws(policy, shares, rounds)
    return Found(found, promise_of_laws(policy, shares, found, rounds))


def nearest_for_dummies(policy: krand.Policy, questions: Questions) -> tuple[str, ...]:
    """What could be promised instead."""
    shares = [Share(*question) for question in questions]
    return nearest_policies(policy, lambda other: dummies_can_meet(other, shares), crowds=False)


def curator_sigmas(
    policy: krand.Policy, questions: Questions, rounds: int = 1
) -> tuple[float, ...]:
    """What a trusted curator needs for every question."""
    shares = [Share(*question) for question in questions]
    return divided_curator(policy, shares, rounds).sigmas


def numerator_of(noise: Fraction | float) -> int:
    """The next noise on the grid, which is a/2^32."""
    return -int(-noise * NOISE_GRID // 1)


def law_with(half: Sequence[int]) -> DummyLaw:
    """Chances in proportion to these weights of R, R + 1, …, whose sum must be a power of 2."""
    whole = half[0] + 2 * sum(half[1:])
    return DummyLaw(tuple(weight * (2**63 // whole) for weight in half))
