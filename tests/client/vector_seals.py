"""One seal with a chosen ephemeral key: RFC 9180 written out, for test vectors only.

The library draws the ephemeral key of every seal itself, as it must; so its seals cannot be written
down beforehand. Base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, no additional
data, one message for each key.
"""

from __future__ import annotations

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["sealed_with"]

KEM = b"KEM" + bytes.fromhex("0020")
SUITE = b"HPKE" + bytes.fromhex("0020 0001 0001")
VERSION = b"HPKE-v1"
BASE_MODE = b"\x00"
DIGEST_BYTES, KEY_BYTES, NONCE_BYTES = 32, 16, 12


def sealed_with(
    ephemeral: X25519PrivateKey, recipient: X25519PublicKey, info: bytes, plaintext: bytes
) -> bytes:
    """enc || ct (RFC 9180, 6.1); an ephemeral key that was used must never be used again."""
    encapsulated = ephemeral.public_key().public_bytes_raw()
    prk = _extract(KEM, b"", b"eae_prk", ephemeral.exchange(recipient))  # 4.1
    both = encapsulated + recipient.public_bytes_raw()
    shared = _expand(KEM, prk, b"shared_secret", both, DIGEST_BYTES)
    context = BASE_MODE + _extract(SUITE, b"", b"psk_id_hash", b"")  # 5.1
    context += _extract(SUITE, b"", b"info_hash", info)
    secret = _extract(SUITE, shared, b"secret", b"")
    key = _expand(SUITE, secret, b"key", context, KEY_BYTES)
    nonce = _expand(SUITE, secret, b"base_nonce", context, NONCE_BYTES)
    return encapsulated + AESGCM(key).encrypt(nonce, plaintext, b"")


def _extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    """LabeledExtract (4)."""
    return hmac.digest(salt or bytes(DIGEST_BYTES), VERSION + suite + label + secret, "sha256")


def _expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """LabeledExpand (4), of at most one digest."""
    labeled = length.to_bytes(2, "big") + VERSION + suite + label + info
    return hmac.digest(key, labeled + b"\x01", "sha256")[:length]
