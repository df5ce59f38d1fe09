"""The cryptography of every kind of seal: HPKE's suite and the keys, by the survey's `seal`.

X-Wing's private key is a seed of 32 bytes. SHAKE256 makes 96 bytes of it: 64 are the seed of the
ML-KEM-768 key, 32 are the X25519 key. The public key and the encapsulated key are those of ML-KEM
followed by those of X25519.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from krand.errors import InvalidInput
from krand.survey.seals import Seal

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SEED_BYTES = 32
MLKEM_SEED_BYTES = 64
MLKEM_PUBLIC_BYTES = 1_184


@dataclass(frozen=True, slots=True)
class HybridPublicKey:
    """ML-KEM-768 and X25519 in one public key; its methods are those of X25519PublicKey."""

    raw: bytes = field(repr=False)
    hpke: MLKEM768X25519PublicKey = field(init=False, repr=False, compare=False)
    """The same for the library."""

    def __post_init__(self) -> None:
        mlkem = MLKEM768PublicKey.from_public_bytes(self.raw[:MLKEM_PUBLIC_BYTES])
        object.__setattr__(self, "hpke", MLKEM768X25519PublicKey(mlkem, self.curve_key))

    @property
    def curve_key(self) -> X25519PublicKey:
        """The half of elliptic curves."""
        return X25519PublicKey.from_public_bytes(self.raw[MLKEM_PUBLIC_BYTES:])

    def public_bytes_raw(self) -> bytes:
        """1,216 bytes."""
        return self.raw


@dataclass(frozen=True, slots=True)
class HybridPrivateKey:
    """The private key to it: a seed; its methods are those of X25519PrivateKey."""

    seed: bytes = field(repr=False)
    hpke: MLKEM768X25519PrivateKey = field(init=False, repr=False, compare=False)
    """The same for the library."""
    _public: HybridPublicKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes")
        expanded = hashlib.shake_256(self.seed).digest(MLKEM_SEED_BYTES + SEED_BYTES)
        curve = X25519PrivateKey.from_private_bytes(expanded[MLKEM_SEED_BYTES:])
        mlkem = MLKEM768PrivateKey.from_seed_bytes(expanded[:MLKEM_SEED_BYTES])
        both = mlkem.public_key().public_bytes_raw() + curve.public_key().public_bytes_raw()
        object.__setattr__(self, "hpke", MLKEM768X25519PrivateKey(mlkem, curve))
        object.__setattr__(self, "_public", HybridPublicKey(both))

    def public_key(self) -> HybridPublicKey:
        """What messages are sealed for."""
        return self._public

    def private_bytes_raw(self) -> bytes:
        """The seed, 32 bytes."""
        return self.seed


OpeningKey: TypeAlias = X25519PrivateKey | HybridPrivateKey
SealingKey: TypeAlias = X25519PublicKey | HybridPublicKey


@cache
def suite_of(seal: Seal) -> Suite:
    """HPKE with the parts that belong to a kind of seal; made when a survey needs it."""
    if seal is Seal.X25519:
        return SUITE
    return Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def seal_of(key: OpeningKey | SealingKey) -> Seal:
    """The kind of seal that a key is for."""
    hybrid = isinstance(key, (HybridPrivateKey, HybridPublicKey))
    return Seal.MLKEM768_X25519 if hybrid else Seal.X25519


def hpke_key(key: OpeningKey | SealingKey) -> Any:
    """The key as HPKE's suite takes it."""
    return getattr(key, "hpke", key)


def generate_key(seal: Seal) -> OpeningKey:
    """A new private key, from the operating system's randomness."""
    return opening_key(seal, os.urandom(SEED_BYTES))


def opening_key(seal: Seal, raw: bytes) -> OpeningKey:
    """The private key in 32 bytes; ValueError if there are more or fewer."""
    try:
        return _KEYS[seal][0](raw)
    except UnsupportedAlgorithm:
        raise _not_here(seal) from None


def sealing_key(seal: Seal, raw: bytes, name: str, source: str) -> SealingKey:
    """The public key in these bytes; errors call it `name`, and say where it comes from.

    The few values that are not real keys are refused: anybody could open what is sealed for them.
    """
    try:
        key = _KEYS[seal][1](raw)
    except UnsupportedAlgorithm:
        raise _not_here(seal) from None
    except ValueError:
        rule = f'must be a public key for seal = "{seal.value}"'
        raise InvalidInput(name, rule, source) from None
    try:
        curve = key.curve_key if isinstance(key, HybridPublicKey) else key
        X25519PrivateKey.generate().exchange(curve)
    except ValueError:
        raise InvalidInput(name, "must not be a point of low order", source) from None
    return key


_KEYS: dict[Seal, tuple[Callable[[bytes], OpeningKey], Callable[[bytes], SealingKey]]] = {
    Seal.X25519: (X25519PrivateKey.from_private_bytes, X25519PublicKey.from_public_bytes),
    Seal.MLKEM768_X25519: (HybridPrivateKey, HybridPublicKey),
}


def _not_here(seal: Seal) -> InvalidInput:
    rule = "must be one that this machine's cryptography can do"
    hint = "install it from PyPI, which brings ML-KEM along: pip install --upgrade cryptography"
    return InvalidInput("seal", rule, seal.value, hint)
