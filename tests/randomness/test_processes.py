"""Flips of one process tell nothing about those of another, however it was started."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

from flip_checks import GRID, agreement_complaints, process_flips, rate_complaints
from krand.randomness.generator import secure_random

BYTES = 200_000
NOISES = [round(0.25 * GRID), round(0.0101 * GRID)]
"""One for the table of eight flips, one for the walk from flip to flip."""


def child_flips(start: str, numerator: int) -> np.ndarray:
    """What a process of its own flips, as the first thing it does."""
    with multiprocessing.get_context(start).Pool(1) as pool:
        return pool.apply(process_flips, (numerator, BYTES))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_flip_independently(start: str) -> None:
    """A parent before and after, and two children: every pair agrees as often as chance has it."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    secure_random().bytes(8)  # children of a fork inherit a generator that is in use
    for numerator in NOISES if start == "fork" else NOISES[:1]:
        flipped = [process_flips(numerator, BYTES)]
        flipped += [child_flips(start, numerator) for _ in range(2)]
        flipped.append(process_flips(numerator, BYTES))
        assert agreement_complaints(flipped, numerator) == []
        counts = np.array([np.bitwise_count(one).sum(dtype=np.int64) for one in flipped])
        assert rate_complaints(counts, 8 * BYTES, numerator) == []


def test_shared_flips_would_be_noticed() -> None:
    """Two processes that share one flip in a hundred are told apart from independent ones."""
    first, second = (process_flips(NOISES[0], BYTES) for _ in range(2))
    second[::100] = first[::100]
    assert agreement_complaints([first, second], NOISES[0]) != []
