"""Faults planted on purpose: each must be caught by the checks that good kernels pass."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from flip_checks import (
    GRID,
    flip_complaints,
    fork_complaints,
    keystream_complaints,
    law_complaints,
    linear_complaints,
)
from krand.randomness import generator
from krand.randomness.finite_law import ExactTable
from krand.randomness.flips import flip_packed, pattern_table
from krand.randomness.generator import SecureRandom

NOISE = round(0.350914 * GRID)
CHUNK = 64
Packed = np.ndarray


class ForkBlind(SecureRandom):
    """Goes on with the same key in a forked child."""

    __slots__ = ()

    def _forget(self) -> None:
        if not hasattr(self, "_made"):
            super()._forget()

    def _start(self) -> None:
        if not hasattr(self, "_made"):
            super()._start()


class MersenneTwister(SecureRandom):
    """A fine generator for simulations, and predictable after 624 words."""

    __slots__ = ("twister",)

    def __init__(self) -> None:
        super().__init__()
        self.twister = np.random.RandomState(int.from_bytes(os.urandom(4)))

    def bytes(self, count: int) -> bytes:
        return self.twister.bytes(count)


def lost_at_the_edge(packed: Packed, numerator: int, random: SecureRandom) -> Packed:
    """The last bit of every chunk is never flipped."""
    flat = packed.reshape(-1)
    flipped = flip_packed(flat, numerator, random)
    flipped[CHUNK - 1 :: CHUNK] &= 0xFE
    flipped[CHUNK - 1 :: CHUNK] |= flat[CHUNK - 1 :: CHUNK] & 1
    return flipped.reshape(packed.shape)


def repeated_at_the_edge(packed: Packed, numerator: int, random: SecureRandom) -> Packed:
    """The first byte of every chunk repeats the flips of the byte before."""
    flat = packed.reshape(-1)
    flips = flip_packed(flat, numerator, random) ^ flat
    flips[CHUNK::CHUNK] = flips[CHUNK - 1 : -1 : CHUNK]
    return (flat ^ flips).reshape(packed.shape)


def clear_bits_only(packed: Packed, numerator: int, random: SecureRandom) -> Packed:
    """Set bits flip a little less often."""
    flips = flip_packed(packed, numerator, random) ^ packed
    return packed ^ (flips & ~(packed & flip_packed(np.zeros_like(packed), GRID // 64, random)))


@dataclass(frozen=True)
class Subject:
    """What the checks look at."""

    flip: Callable[[Packed, int, SecureRandom], Packed] = flip_packed
    table: Callable[[int], ExactTable] = pattern_table
    random: Callable[[], SecureRandom] = SecureRandom


def float32(numerator: int) -> int:
    return int(np.float32(numerator / GRID) * GRID)


def with_noise(change: Callable[[int], int]) -> Subject:
    return Subject(
        lambda packed, numerator, random: flip_packed(packed, change(numerator), random),
        lambda numerator: pattern_table(change(numerator)),
    )


def check_flips(subject: Subject) -> list[str]:
    random = subject.random()
    return flip_complaints(lambda rows: subject.flip(rows, NOISE, random), NOISE, 4000, CHUNK)


CHECKS: dict[str, Callable[[Subject], list[str]]] = {
    "flips": check_flips,
    "law": lambda subject: law_complaints(subject.table(NOISE), NOISE),
    "keystream": lambda subject: keystream_complaints(subject.random),
    "recurrence": lambda subject: linear_complaints(subject.random()),
    "fork": lambda subject: fork_complaints(subject.random()),
}

FAULTS = {
    "0.9 q": (with_noise(lambda a: a * 9 // 10), {"flips", "law"}),
    "float32 threshold": (with_noise(float32), {"law"}),
    "seed reuse after fork": (Subject(random=ForkBlind), {"fork"}),
    "Mersenne Twister": (Subject(random=MersenneTwister), {"keystream", "recurrence", "fork"}),
    "lost flip at a chunk's edge": (Subject(flip=lost_at_the_edge), {"flips"}),
    "repeated flips at a chunk's edge": (Subject(flip=repeated_at_the_edge), {"flips"}),
    "set bits flip less": (Subject(flip=clear_bits_only), {"flips"}),
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def caught(subject: Subject) -> set[str]:
    return {name for name, check in CHECKS.items() if check(subject)}


def test_the_real_ones_pass() -> None:
    """krand's own kernels pass, and their source: AES-256-CTR under a key from the system, which no
    short linear recurrence continues and no fork repeats."""
    assert caught(Subject()) == set()


def test_a_new_second_does_not_hide_a_reused_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator mixes in fresh entropy every second, which would undo the planted fault."""
    seconds = itertools.count()
    monkeypatch.setattr(generator, "_second", lambda: next(seconds))
    assert CHECKS["fork"](Subject(random=ForkBlind))


@pytest.mark.check
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_caught(fault: str) -> None:
    """A planted fault is caught by the checks meant for it, and only by them."""
    subject, expected = FAULTS[fault]
    assert caught(subject) == expected
