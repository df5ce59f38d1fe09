"""Chance for a demonstration: by a seed, so that everybody sees the same screen, or fresh.

The people of a demonstration are simulated, so their noise may be too: a seed fixes both. This is
the only place where noise can have a seed, and nothing that randomizes a real answer knows of it:
devices and data holders draw from `krand.randomness.generator`, which has none.
"""

from __future__ import annotations

import builtins
import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from krand.errors import InvalidInput
from krand.randomness.generator import SecureRandom
from krand.survey.rules import raise_first, whole_rules

__all__ = ["FRESH", "MAX_SEED", "Chance", "simulated_random"]

FRESH = 0
"""The seed that is none: other people and other noise every time."""
MAX_SEED = 2**64 - 1


class _SimulatedRandom(SecureRandom):
    """The same numbers for the same key: everybody can know them, so they protect nobody."""

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
    """Noise for simulated people, and for nobody else: each name has a stream of its own."""
    return _SimulatedRandom(_digest(seed, name))


@dataclass(frozen=True, slots=True)
class Chance:
    """Where everything random of a demonstration comes from."""

    seed: int

    def __post_init__(self) -> None:
        raise_first(whole_rules(self.seed, FRESH, MAX_SEED, ("seed",)))

    @property
    def is_fresh(self) -> bool:
        """Whether every run is another one."""
        return self.seed == FRESH

    def people(self) -> int:
        """Which simulated people are met; a fresh one is drawn anew by every call."""
        return secrets.randbits(64) if self.is_fresh else self.seed

    def noise(self, name: str) -> SecureRandom:
        """What the devices of one way flip bits with."""
        return SecureRandom() if self.is_fresh else simulated_random(self.seed, name)

    def numbers(self, name: str) -> np.random.Generator:
        """What the other ways draw their noise with."""
        if self.is_fresh:
            return np.random.default_rng()
        return np.random.default_rng(int.from_bytes(_digest(self.seed, name)))


def _digest(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"simulated\n{seed}\n{name}".encode()).digest()
