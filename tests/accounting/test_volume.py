"""The number of messages hides how many ones a submission holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from krand.accounting.volume import Tokens, messages_needed, overflow_bound
from krand.promise import NOISE_GRID

MOST = 1e-15


def tokens(positions: int, most_ones: int, q: float) -> Tokens:
    return Tokens(positions, most_ones, max(1, math.ceil(q * NOISE_GRID)))


def overflow(block: Tokens, messages: int) -> float:
    """The exact probability of more ones than messages, when everybody sets the most ones."""
    law, q = np.ones(1), block.numerator / NOISE_GRID
    for count, p in ((block.most_ones, 1 - q), (block.positions - block.most_ones, q)):
        law = np.convolve(law, binom.pmf(np.arange(count + 1), count, p))
    return min(1.0, float(law[messages + 1 :].sum()))


CASES = [
    tokens(40, 40, 0.002),
    tokens(10, 1, 0.003),
    tokens(2000, 1, 0.001),
    tokens(300, 3, 0.1),
    tokens(1, 1, 0.2),
    tokens(5, 1, 0.45),
]


@pytest.mark.parametrize("most", [1e-6, MOST, 1e-30])
@pytest.mark.parametrize("block", CASES)
def test_overflows_are_rarer_than_promised(block: Tokens, most: float) -> None:
    """By the exact law; and far fewer messages would not do."""
    needed = messages_needed(block, most)
    assert overflow(block, needed) <= overflow_bound(block, needed) <= most
    assert needed <= block.positions
    if needed < block.positions:
        flips = needed - block.most_ones
        assert overflow(block, needed - flips // 3 - 1) > most


@pytest.mark.parametrize("block", CASES)
def test_the_bound_on_overflows_holds_for_every_room(block: Tokens) -> None:
    """It is at least the exact tail, never grows with the room, and is 0 where everything fits."""
    positions = block.positions
    bounds = [overflow_bound(block, room) for room in range(positions + 2)]
    assert bounds == sorted(bounds, reverse=True)
    assert all(overflow(block, room) <= bounds[room] for room in range(positions))
    assert bounds[positions:] == [0.0, 0.0]


def test_a_bound_too_small_to_be_written_needs_room_for_everything() -> None:
    """A policy whose thousandth underflows is not met by a number that underflows too."""
    assert messages_needed(tokens(2000, 1, 1e-9), 0.0) == 2000
    assert messages_needed(tokens(2000, 1, 1e-9), 1e-300) < 100
    assert overflow_bound(tokens(2000, 1, 1e-9), 1999) > 0


@given(st.integers(1, 10**6), st.floats(1e-7, 0.49), st.integers(1, 50))
def test_there_is_always_room_for_what_is_expected(positions: int, q: float, ones: int) -> None:
    """At least the mean, at most every position, and more noise never needs fewer messages."""
    ones = min(ones, positions)
    noises = (q, min(0.499, 1.5 * q))
    few, many = (messages_needed(tokens(positions, ones, r), MOST) for r in noises)
    assert ones + tokens(positions, ones, q).flips <= few + 1
    assert ones <= few <= positions
    assert few <= many


def test_a_choice_of_a_million_needs_few_messages() -> None:
    """At q = 2e-6 two flips are expected; the submission stays below thirty messages."""
    assert messages_needed(tokens(10**6, 1, 2e-6), MOST) < 30


def test_forty_facts_need_little_more_than_their_answers() -> None:
    """Thirteen answers among forty positions and few flips: some messages more, not forty."""
    assert messages_needed(tokens(40, 13, 0.003), MOST) < 25
