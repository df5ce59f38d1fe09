"""Randomness for a demonstration: from a seed, so that everybody sees the same numbers, or fresh.

The people of a demonstration are simulated, so their noise may be too: the seed determines both.
Only here can noise have a seed. Code that randomizes real answers does not use this module: devices
and data holders draw from `krand.randomness.generator`, which has no seed.
"""

from __future__ import annotations

import builtins
import hashlib
import secrets
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from krand.errors import InvalidInput
from krand.randomness.generator import SecureRandom
from krand.survey.rules import raise_first, whole_rules

FRESH = 0
"""The seed that means: different people and different noise every time."""
MAX_SEED = 2**64 - 1


class _SimulatedRandom(SecureRandom):
    """The same numbers for the same key: anybody can compute them, so they protect nobody."""

    __slots__ = ("_keystream",)

    def __init__(self, key: builtins.bytes) -> None:
        super().__init__()
        self._keystream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes of the key's stream."""
        if count < 0:
            raise InvalidInput("count", "must be at least 0", count)
        return self._keystream.update(builtins.bytes(count))


def simulated_random(seed: int, name: str) -> SecureRandom:
    """Noise for simulated people only; each name has its own stream."""
    return _SimulatedRandom(_digest(seed, name))


@dataclass(frozen=True, slots=True)
class Chance:
    """The source of all randomness in a demonstration."""

    seed: int

    def __post_init__(self) -> None:
        raise_first(whole_rules(self.seed, FRESH, MAX_SEED, ("seed",)))

    @property
    def is_fresh(self) -> bool:
        """Whether each run is different."""
        return self.seed == FRESH

    def people(self) -> int:
        """The seed of the simulated people; if it is fresh, each call draws a new one."""
        return secrets.randbits(64) if self.is_fresh else self.seed

    def noise(self, name: str) -> SecureRandom:
        """The randomness with which the devices of one method flip bits."""
        return SecureRandom() if self.is_fresh else simulated_random(self.seed, name)


def _digest(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"simulated\n{seed}\n{name}".encode()).digest()
