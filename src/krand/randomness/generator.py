"""Random numbers that nobody can predict, and that nobody can recompute afterwards.

The numbers are AES-256 in counter mode, with a key from the operating system. Privacy depends on
them, so there is no seed, and a generator cannot be copied. A fork starts with a new key, because
two processes with the same stream would flip the same bits. If the source of entropy fails, returns
too little or repeats itself, the program stops: noise that can be guessed is worse than no survey.

Somebody who reads the memory of this process learns no earlier number from the generator (fast key
erasure, Bernstein 2017). A key produces one segment of the stream. The first bytes of the segment
are the next key and replace the old one; the others are handed out, and then overwritten. A large
request is a separate segment, whose key is erased when the request is answered. Fresh entropy is
mixed into the key by `refresh`, after REKEY_AFTER bytes, and once a second while numbers are drawn:
somebody who has read the memory cannot predict what is drawn after that.

Limits: the caller owns numbers that were handed out, and Python frees objects without overwriting
them; memory that was written to disk (swap, a core file) stays there. A process cannot know that
its machine was restored from a snapshot. It then repeats at most what it draws until the clock
shows another second; after that it depends on whether the system's own source has noticed, which
Linux does if the hypervisor tells it (vmgenid).
"""

from __future__ import annotations

import builtins
import hashlib
import os
import threading
import time
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, NoReturn
from weakref import WeakSet

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import DTypeLike, NDArray

from krand.errors import InvalidInput, NoEntropy

KEY_BYTES, NONCE_BYTES = 32, 16
SEED_BYTES = KEY_BYTES + NONCE_BYTES
REKEY_AFTER = 2**24
"""Bytes until fresh entropy is mixed in."""
PIECE = 2**20
"""Zeros kept ready for the cipher."""
MOST_TRIES = 128
"""What is drawn again with a probability below 1/2 is drawn so often at most: a source that works
reaches this in fewer than one of 2^128 draws, one that is stuck would go on for ever."""
POOL, FIRST = 2**16, 2**12
"""The pool is small after fresh entropy and doubles: a new key costs as much as 12 KB."""
SMALL = POOL // 4
"""Requests up to this size are served from the pool."""
NOBODY = -1
"""A number that no process has."""
ZEROS = memoryview(bytes(PIECE))
DEVICE = "/dev/urandom"


class SecureRandom:
    """A stream of unpredictable bytes, safe with threads and forks."""

    __slots__ = (
        "__weakref__",
        "_end",
        "_key",
        "_lock",
        "_made",
        "_pid",
        "_pool",
        "_second",
        "_taken",
    )

    _end: int
    """The end of what the pool holds; `_taken` is where the part begins that is not handed out."""
    _taken: int
    _second: int
    """By the clock, when fresh entropy was mixed in; no measure of time is needed."""
    _alive: ClassVar[WeakSet[SecureRandom]] = WeakSet()
    _last_key: ClassVar[builtins.bytes] = b""
    """A digest: the key itself is not kept."""

    def __init__(self) -> None:
        self._pool = memoryview(bytearray(POOL))
        self._key = np.frombuffer(self._pool, np.uint8, SEED_BYTES)
        self._forget()
        self._start()
        SecureRandom._alive.add(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("SecureRandom cannot be copied: two copies would give the same numbers")

    def bytes(self, count: int) -> builtins.bytes:
        """That many random bytes."""
        if count < 0:  # a negative count would move the pool back and repeat numbers
            raise InvalidInput("count", "must be at least 0", count)
        with self._lock:
            self._keep_fresh()
            self._made += count
            if count <= SMALL:
                return self._from_pool(count)
            stream = self._stretch()
        return stream.update(ZEROS[:count] if count <= PIECE else bytes(count))

    def refresh(self) -> None:
        """Mix in fresh entropy: knowledge of earlier numbers does not reveal later ones.

        It takes microseconds. Call it between the numbers of one person and the next.
        """
        with self._lock:
            if self._pid == os.getpid():
                self._mix()
            else:
                self._start()

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
        raise stuck()

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform order of range(count), by sorting random keys.

        A key's low bits hold the index, so that sorting moves one word per item. Ties of the random
        parts are ordered by more random words; otherwise they would keep their order.
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
        for _ in range(MOST_TRIES):  # once, but for a chance of about len(tied)/2^64
            second = self.words(tied.size, np.uint64)
            rank = np.lexsort((second, keys[tied]))
            first, then = keys[tied][rank], second[rank]
            if not np.any((first[1:] == first[:-1]) & (then[1:] == then[:-1])):
                order[tied] = order[tied][rank]
                return
        raise stuck()

    def _keep_fresh(self) -> None:
        if self._pid != os.getpid():
            self._start()
        elif self._made >= REKEY_AFTER or self._second != _second():
            self._mix()

    def _from_pool(self, count: int) -> builtins.bytes:
        while self._taken + count > self._end:
            self._refill()
        start, self._taken = self._taken, self._taken + count
        given = self._pool[start : self._taken].tobytes()
        self._pool[start : self._taken] = ZEROS[:count]
        return given

    def _refill(self) -> None:
        """A stretch over all that was in the pool, its own key included."""
        size = min(POOL, max(FIRST, 2 * self._end))
        self._encryptor().update_into(ZEROS[:size], self._pool)
        self._taken, self._end = SEED_BYTES, size

    def _stretch(self) -> CipherContext:
        """The rest of a stretch whose key is replaced; OpenSSL erases its copy after use."""
        stretch = self._encryptor()
        stretch.update_into(ZEROS[:SEED_BYTES], self._pool)
        return stretch

    def _encryptor(self) -> CipherContext:
        """With the key as it is now; made anew, so that no version of the library can keep an old
        one. The key is read from its place: a copy in bytes would stay in memory."""
        key, nonce = self._pool[:KEY_BYTES], self._pool[KEY_BYTES:SEED_BYTES]
        return Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()

    def _forget(self) -> None:
        """Drop what a forked child shares with its parent; the lock may have been left closed."""
        self._lock = threading.Lock()
        self._pid = NOBODY
        self._pool[:] = ZEROS[:POOL]

    def _start(self) -> None:
        self._taken = self._end = 0
        self._pool[:] = ZEROS[:POOL]
        _read_device(self._pool[:SEED_BYTES])
        self._mix()
        self._pid = os.getpid()  # last: if the key failed, the next call must fail too

    def _mix(self) -> None:
        """Combine the key with fresh entropy, in place: it is as good as the better of the two.

        The replaced key has produced nothing that was handed out.
        """
        seed, now = self._seed(), _second()
        self._key ^= np.frombuffer(seed, np.uint8)
        left = self._pool[SEED_BYTES : self._end]
        self._taken = self._end = 0  # first: an interrupted call must not hand out zeros
        left[:] = ZEROS[: len(left)]
        self._made, self._second = 0, now

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


def stuck() -> NoEntropy:
    """The error for numbers that are drawn again more often than chance allows."""
    return NoEntropy("gave numbers that are not random")


def _second() -> int:
    """The clock's: a machine that slept or was restored shows another one, as time does."""
    return int(time.time())


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


def _read_device(target: memoryview) -> None:
    """Read entropy in place: `os.urandom` would leave a copy in freed memory.

    If there is no such device, `os.urandom` is the only source of the key.
    """
    with suppress(OSError), open(DEVICE, "rb", buffering=0) as device:
        device.readinto(target)


@cache
def secure_random() -> SecureRandom:
    """The generator of this process."""
    return SecureRandom()


def _after_fork() -> None:
    """Only forget: Python ignores errors raised here, so the first draw creates the new key."""
    for generator in SecureRandom._alive:
        generator._forget()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
