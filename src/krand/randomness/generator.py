"""Random numbers that nobody can predict, fresh from the operating system for each request.

A small request is answered by the system itself. A large one gets a key of its own from the system,
and is the keystream of AES-256 in counter mode under this key, which is used for nothing else. So
there is no state: nothing that a fork could share, a snapshot could repeat or somebody could read
later. There is no seed, because privacy depends on these numbers. If the system gives none, the
program stops: noise that can be guessed is worse than no survey.

Limits: numbers and keys are ordinary memory of Python, which is freed without being overwritten; a
process cannot know that its machine was restored from a snapshot, but Linux does if the hypervisor
tells it (vmgenid), and gives other numbers.
"""

from __future__ import annotations

import builtins
import os
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import DTypeLike, NDArray

from krand.errors import InvalidInput, NoEntropy

KEY_BYTES, COUNTER_BYTES = 32, 16
SMALL = 2**12
"""Measured: up to so many bytes the system is as fast as the cipher with a new key."""
ZEROS = memoryview(bytes(2**20))
"""What the cipher turns into its keystream; new ones take longer than the cipher does."""
MOST_TRIES = 128
"""What is drawn again with a probability below 1/2 is drawn so often at most: a source that works
reaches this in fewer than one of 2^128 draws, one that is stuck would go on for ever."""


class SecureRandom:
    """Unpredictable bytes, and numbers and orders made of them."""

    __slots__ = ()

    def bytes(self, count: int) -> builtins.bytes:
        """That many random bytes."""
        if count < 0:
            raise InvalidInput("count", "must be at least 0", count)
        if count <= SMALL:
            return _from_system(count)
        key = algorithms.AES(_from_system(KEY_BYTES))
        stream = Cipher(key, modes.CTR(builtins.bytes(COUNTER_BYTES))).encryptor()
        return stream.update(ZEROS[:count] if count <= len(ZEROS) else builtins.bytes(count))

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """An array (read-only) of uniform unsigned integers: uint8, uint16, uint32 or uint64."""
        kind = np.dtype(dtype)
        if kind.kind != "u":
            raise InvalidInput("dtype", "must be an unsigned integer", kind.name)
        return np.frombuffer(self.bytes(count * kind.itemsize), kind)

    def below(self, bound: int) -> int:
        """A uniform integer in range(bound); values that are too large are drawn again."""
        if bound < 1:
            raise InvalidInput("bound", "must be at least 1", bound)
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        for _ in range(MOST_TRIES):
            if (value := int.from_bytes(self.bytes(size)) >> (8 * size - bits)) < bound:
                return value
        raise _stuck()

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform order of range(count): that of random keys, all of them different.

        If two are equal, all are drawn again: of a million keys once in 30 million orders.
        """
        for _ in range(MOST_TRIES):
            keys = self.words(count, np.uint64)
            order = np.argsort(keys)
            rising = keys[order]
            if np.all(rising[1:] > rising[:-1]):
                return order
        raise _stuck()

    def shuffled(self, rows: NDArray[Any]) -> NDArray[Any]:
        """A copy with the rows in uniform random order."""
        return rows[self.permutation(len(rows))]


def secure_random() -> SecureRandom:
    """What draws for real people."""
    return SecureRandom()


def _from_system(count: int) -> bytes:
    try:
        found = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise NoEntropy(f"failed ({error})") from error
    if len(found) != count:
        raise NoEntropy(f"gave {len(found)} bytes instead of {count}")
    return found


def _stuck() -> NoEntropy:
    """The error for numbers that are drawn again more often than chance allows."""
    return NoEntropy("gave numbers that are not random")
