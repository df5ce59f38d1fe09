"""Random numbers that nobody can predict: AES-256 in counter mode, keyed by the operating system.

Privacy rests on these numbers, so there is no seed to set and no way to copy a generator. A fork
starts a new key, because two processes with one stream would flip the same bits. A source of
entropy that fails, is short or repeats itself stops the program: noise that can be guessed is
worse than no survey.
"""

from __future__ import annotations

import builtins
import hashlib
import os
import threading
from functools import cache
from typing import Any, ClassVar, NoReturn
from weakref import WeakSet

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import DTypeLike, NDArray

from krand.errors import InvalidInput, NoEntropy

__all__ = ["REKEY_AFTER", "SecureRandom", "secure_random"]

KEY_BYTES, NONCE_BYTES = 32, 16
SEED_BYTES = KEY_BYTES + NONCE_BYTES
REKEY_AFTER = 2**30
"""Bytes from one key: whoever learns a key learns nothing of what came before it."""
PIECE = 2**20
"""The most that one call of the cipher makes; its speed is flat from 64 KB on."""
POOL = 4096
"""Small requests are cut from a pool of this size: a call of the cipher costs a microsecond."""
SMALL = POOL // 8
NOBODY = -1
"""No process has this number."""
ZEROS = memoryview(bytes(PIECE))


class SecureRandom:
    """A stream of unpredictable bytes, safe to share between threads and across forks."""

    __slots__ = ("__weakref__", "_lock", "_made", "_pid", "_pool", "_stream", "_taken")

    _taken: int
    _alive: ClassVar[WeakSet[SecureRandom]] = WeakSet()
    _last_key: ClassVar[builtins.bytes] = b""
    """A digest: the key itself is not kept."""

    def __init__(self) -> None:
        self._forget()
        self._start()
        SecureRandom._alive.add(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("SecureRandom cannot be copied: two copies would give the same numbers")

    def bytes(self, count: int) -> builtins.bytes:
        """That many random bytes."""
        if count < 0:  # a negative count would wind the pool back: old numbers again
            raise InvalidInput("count", "must be at least 0", count)
        with self._lock:
            if self._pid != os.getpid():
                self._start()
            if count <= SMALL:
                return self._from_pool(count)
            if count <= PIECE:
                return self._generate(count)
            sizes = [PIECE] * (count // PIECE) + [count % PIECE]
            return b"".join(self._generate(size) for size in sizes)

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """An array (read-only) of uniform unsigned integers: uint8, uint16, uint32 or uint64."""
        kind = np.dtype(dtype)
        if kind.kind != "u":
            raise InvalidInput("dtype", "must be an unsigned integer", kind.name)
        return np.frombuffer(self.bytes(count * kind.itemsize), kind)

    def below(self, bound: int) -> int:
        """A uniform integer in range(bound): draws that are too large are drawn again."""
        if bound < 1:
            raise InvalidInput("bound", "must be at least 1", bound)
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        while (value := int.from_bytes(self.bytes(size)) >> (8 * size - bits)) >= bound:
            pass
        return value

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform order of range(count), by sorting random keys.

        A key's low bits carry the index, so that sorting moves one word per item. Equal random
        parts are put in order by more random words; without that, ties would keep their order.
        """
        index_bits = np.uint64(max(1, count - 1).bit_length())
        keys = self.words(count, np.uint64) >> index_bits << index_bits
        keys |= np.arange(count, dtype=np.uint64)
        keys.sort()
        order = (keys & np.uint64((1 << int(index_bits)) - 1)).astype(np.int64)
        keys >>= index_bits
        self._break_ties(keys, order)
        return order

    def shuffled(self, rows: NDArray[Any]) -> NDArray[Any]:
        """A copy with the rows in uniform random order."""
        return rows[self.permutation(len(rows))]

    def _break_ties(self, keys: NDArray[np.uint64], order: NDArray[np.int64]) -> None:
        twins = np.flatnonzero(keys[1:] == keys[:-1])
        if not twins.size:
            return
        tied = np.union1d(twins, twins + 1)
        while True:  # ends at once but for a chance of about len(tied)/2^64
            second = self.words(tied.size, np.uint64)
            rank = np.lexsort((second, keys[tied]))
            first, then = keys[tied][rank], second[rank]
            if not np.any((first[1:] == first[:-1]) & (then[1:] == then[:-1])):
                break
        order[tied] = order[tied][rank]

    def _from_pool(self, count: int) -> builtins.bytes:
        if self._taken + count > POOL:
            self._pool, self._taken = self._generate(POOL), 0
        start, self._taken = self._taken, self._taken + count
        return self._pool[start : self._taken]

    def _generate(self, count: int) -> builtins.bytes:
        if self._made + count > REKEY_AFTER:
            # Fresh entropy over the old stream: as good as the better of the two.
            old = self._stream.update(bytes(SEED_BYTES))
            self._key(bytes(a ^ b for a, b in zip(old, self._seed(), strict=True)))
        self._made += count
        return self._stream.update(ZEROS[:count])

    def _forget(self) -> None:
        """Drop what a forked child shares with its parent; the lock may have been left closed."""
        self._lock = threading.Lock()
        self._pid = NOBODY

    def _start(self) -> None:
        self._pool, self._taken = b"", POOL
        self._key(self._seed())
        self._pid = os.getpid()  # last: where the key failed, the next call must fail too

    def _key(self, seed: builtins.bytes) -> None:
        cipher = Cipher(algorithms.AES(seed[:KEY_BYTES]), modes.CTR(seed[KEY_BYTES:]))
        self._stream: CipherContext = cipher.encryptor()
        self._made = 0

    @classmethod
    def _seed(cls) -> builtins.bytes:
        """A key and a nonce from the system; the key must differ from the one before."""
        if not cls._last_key:
            cls._last_key = _digest(_entropy(SEED_BYTES))
        seed = _entropy(SEED_BYTES)
        if _digest(seed) == cls._last_key:
            raise NoEntropy("gave the same key twice")
        cls._last_key = _digest(seed)
        return seed


def _digest(seed: bytes) -> bytes:
    return hashlib.sha256(seed[:KEY_BYTES]).digest()


def _entropy(count: int) -> bytes:
    try:
        found = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise NoEntropy(f"failed ({error})") from error
    if len(found) != count:
        raise NoEntropy(f"gave {len(found)} bytes instead of {count}")
    return found


@cache
def secure_random() -> SecureRandom:
    """The generator of this process."""
    return SecureRandom()


def _after_fork() -> None:
    """Only forget: Python ignores an error raised here, so the new key waits for the first draw."""
    for generator in SecureRandom._alive:
        generator._forget()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
