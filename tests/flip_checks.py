"""Statistical checks of flips and of their source.

Every check returns the complaints it has. A complaint about a good flipper comes up by chance about
once in a million checks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray
from scipy import stats

from krand.randomness import generator as randomness
from krand.randomness.finite_law import ExactTable
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom, secure_random

GRID = 2**32
ALPHA = 1e-6
BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)

Packed = NDArray[np.uint8]
Flipper = Callable[[Packed], Packed]


class Replay(SecureRandom):
    """Gives prepared bytes: for tests only, and shown here to be possible only by subclassing."""

    __slots__ = ("left",)

    def __init__(self, left: bytes) -> None:
        super().__init__()
        self.left = left

    def bytes(self, count: int) -> bytes:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "the prepared bytes are used up"
        return taken


def in_wilson(found: int, draws: int, chance: Fraction | float, alpha: float = ALPHA) -> bool:
    """Whether the chance lies in the Wilson interval; exact binomial tails where few are due."""
    chance = float(chance)
    if draws * chance < 1000:
        tails = stats.binom.cdf(found, draws, chance), stats.binom.sf(found - 1, draws, chance)
        return bool(2 * min(tails) >= alpha)
    reach = float(stats.norm.isf(alpha / 2))
    return abs(found - draws * chance) <= reach * math.sqrt(draws * chance * (1 - chance))


def flip_rounds(flip: Flipper, value: int, rows: int, width: int, rounds: int) -> Iterator[Packed]:
    """What was flipped, when every input bit is `value`: ones mark flips."""
    source = np.full((rows, width), 255 * value, np.uint8)
    for _ in range(rounds):
        yield flip(source) ^ source


def position_counts(flipped: Packed) -> NDArray[np.int64]:
    """Flips at each position of the rows."""
    columns = [np.bincount(flipped[:, i], minlength=256) for i in range(flipped.shape[1])]
    return np.concatenate([BITS_OF_BYTE.T @ column for column in columns])


def rate_complaints(counts: NDArray[np.int64], rows: int, numerator: int) -> list[str]:
    """All positions together, and each of them, against q."""
    q, found = Fraction(numerator, GRID), []
    if not in_wilson(int(counts.sum()), rows * counts.size, q):
        found.append(f"rate {counts.sum() / rows / counts.size:.9g}, not {float(q):.9g}")
    for position, count in enumerate(counts):
        if not in_wilson(int(count), rows, q, ALPHA / counts.size):
            found.append(f"position {position}: rate {count / rows:.9g}, not {float(q):.9g}")
    return found


def neighbour_complaints(flipped: Packed, numerator: int) -> list[str]:
    """Pairs of flips next to each other, in one row and in rows that follow, against q²."""
    bits = np.unpackbits(flipped, axis=1).astype(bool)
    bytewise = bits.reshape(len(bits), -1, 8)
    pairs = {
        "even neighbours": (bits[:, 0:-1:2], bits[:, 1::2]),
        "odd neighbours": (bits[:, 1:-1:2], bits[:, 2::2]),
        "ends of bytes": (bits[:, 7:-1:16], bits[:, 8::16]),
        "bytes": (bytewise[:, 0:-1:2], bytewise[:, 1::2]),
        "rows": (bits[0::2], bits[1::2]),
        "ends of rows": (bits[0:-1:2, -1], bits[1::2, 0]),
        "bytes at ends of rows": (bytewise[0:-1:2, -1], bytewise[1::2, 0]),
    }
    q2, found = Fraction(numerator, GRID) ** 2, []
    for name, (left, right) in pairs.items():
        both = int((left & right).sum())
        if not in_wilson(both, left.size, q2):
            found.append(f"{name}: both flipped in {both / left.size:.9g}, not {float(q2):.9g}")
    return found


def flip_complaints(flip: Flipper, numerator: int, rows: int, width: int) -> list[str]:
    """Rates and neighbours, for clear and for set bits."""
    found = []
    for value in (0, 1):
        (flipped,) = flip_rounds(flip, value, rows, width, 1)
        found += rate_complaints(position_counts(flipped), rows, numerator)
        found += neighbour_complaints(flipped, numerator)
    return found


def law_complaints(table: ExactTable, numerator: int) -> list[str]:
    """The exact chance of every pattern of eight flips, from the table's own cells and bounds."""
    q = Fraction(numerator, GRID)
    found = []
    for pattern, chance in enumerate(table_chances(table)):
        weight = pattern.bit_count()
        if chance != q**weight * (1 - q) ** (8 - weight):
            found.append(f"pattern {pattern:08b} has chance {float(chance)}")
    return found


def table_chances(table: ExactTable) -> list[Fraction]:
    """What the table really gives: cells owned, and the piece between two bounds."""
    masses = table.law()
    owned = np.bincount(table.cells[: table.leftover], minlength=len(masses))
    cell = 1 << (table.bits - 16)
    start, chances = 0, []
    for mass, cells, key in zip(masses, owned, table.keys, strict=True):
        end = start + mass % cell
        assert end >> (table.bits - 64) == key, "a key is not the beginning of its bound"
        chances.append(Fraction(int(cells) * cell + end - start, 1 << table.bits))
        start = end
    assert start == (65536 - table.leftover) * cell, "the pieces do not fill the leftover cells"
    return chances


def keystream_complaints(make: Callable[[], SecureRandom]) -> list[str]:
    """Whether a generator is AES-256-CTR under what the operating system gave, and nothing else."""
    with recorded_entropy() as asked:
        random = make()
        given = random.bytes(10) + random.bytes(20)
        large = random.bytes(50_000)
    if not asked or len(asked[-1]) != 48:
        return ["does not ask the operating system for a key and a nonce"]
    stream = aes_stream(asked[-1], 4096)  # the first 48 bytes are the next key and nonce
    expected = stream[48:78], aes_stream(stream[:48], 48 + 50_000)[48:]
    return [] if (given, large) == expected else ["is not the keystream of its key"]


@contextmanager
def recorded_entropy() -> Iterator[list[bytes]]:
    """What the operating system gives, all of it by `os.urandom`, while the clock stands still."""
    asked: list[bytes] = []
    original = os.urandom
    with pytest.MonkeyPatch.context() as patch, standing_clock():
        patch.setattr(os, "urandom", lambda count: asked.append(original(count)) or asked[-1])
        patch.setattr(randomness, "_read_device", lambda target: None)
        yield asked


@contextmanager
def standing_clock() -> Iterator[None]:
    """The clock stands still: with a new second a generator mixes in fresh entropy by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomness, "_second", lambda: 0)
        yield


def aes_stream(seed: bytes, count: int) -> bytes:
    """The keystream of a 32-byte key and a 16-byte nonce."""
    encryptor = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor()
    return encryptor.update(bytes(count))


def fork_complaints(random: SecureRandom) -> list[str]:
    """A forked child must not repeat its parent, neither from the pool nor from the cipher.

    The clock is no help: most forks are over before the next second.
    """
    with standing_clock():
        random.bytes(8)
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.write(writer, random.bytes(480) + random.bytes(4000))
            os._exit(0)
        os.close(writer)
        mine = random.bytes(480) + random.bytes(4000)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    return ["a fork repeats its parent's numbers"] if shared_blocks(mine, theirs) else []


def shared_blocks(left: bytes, right: bytes) -> int:
    """Runs of eight bytes that occur in both, at any place."""
    assert len(left) == len(right) == 4480
    runs = [{text[i : i + 8] for i in range(len(text) - 7)} for text in (left, right)]
    return len(runs[0] & runs[1])


def agreement_complaints(flipped: list[Packed], numerator: int) -> list[str]:
    """Two processes that flip the same bits must both flip one with chance q², not more often."""
    q2, found = Fraction(numerator, GRID) ** 2, []
    for (i, left), (j, right) in combinations(enumerate(flipped), 2):
        both = int(np.bitwise_count(left & right).sum())
        if not in_wilson(both, 8 * left.size, q2):
            found.append(f"{i} and {j} both flip {both / 8 / left.size:.9g}, not {float(q2):.9g}")
    return found


def process_flips(numerator: int, count: int) -> Packed:
    """What this process flips of so many clear bytes, by the generator that all of it shares."""
    return flip_packed(np.zeros(count, np.uint8), numerator, secure_random())


def stream_head() -> bytes:
    """The first numbers of a process."""
    return secure_random().bytes(480) + secure_random().bytes(4000)
