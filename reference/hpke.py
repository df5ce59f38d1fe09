"""HPKE (RFC 9180) in base mode, one message for each encapsulated key, without additional data.

DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. Only X25519, HMAC and AES-GCM are a library's.
"""

from __future__ import annotations

import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SUITE = {
    "name": "RFC 9180 base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM",
    "mode": 0,
    "kem_id": 0x0020,
    "kdf_id": 0x0001,
    "aead_id": 0x0001,
}
KEM_SUITE = b"KEM" + bytes.fromhex("0020")
HPKE_SUITE = b"HPKE" + bytes.fromhex("0020 0001 0001")
ENC_BYTES = 32
TAG_BYTES = 16


def extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    """LabeledExtract (RFC 9180, 4; RFC 5869, 2.2)."""
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + secret, "sha256")


def expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """LabeledExpand (RFC 9180, 4; RFC 5869, 2.3)."""
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    block, output, count = b"", b"", 0
    while len(output) < length:
        count += 1
        block = hmac.digest(key, block + labeled + bytes((count,)), "sha256")
        output += block
    return output[:length]


def derive_key(material: bytes) -> X25519PrivateKey:
    """DeriveKeyPair (7.1.3)."""
    prk = extract(KEM_SUITE, b"", b"dkp_prk", material)
    return X25519PrivateKey.from_private_bytes(expand(KEM_SUITE, prk, b"sk", b"", 32))


def shared_secret(exchanged: bytes, encapsulated: bytes, recipient: bytes) -> bytes:
    """ExtractAndExpand (4.1)."""
    prk = extract(KEM_SUITE, b"", b"eae_prk", exchanged)
    return expand(KEM_SUITE, prk, b"shared_secret", encapsulated + recipient, 32)


def schedule(shared: bytes, info: bytes) -> dict[str, bytes]:
    """KeySchedule in base mode (5.1)."""
    context = b"\0" + extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    context += extract(HPKE_SUITE, b"", b"info_hash", info)
    secret = extract(HPKE_SUITE, shared, b"secret", b"")
    key = expand(HPKE_SUITE, secret, b"key", context, 16)
    nonce = expand(HPKE_SUITE, secret, b"base_nonce", context, 12)
    return {"key_schedule_context": context, "secret": secret, "key": key, "base_nonce": nonce}


def nonce_of(base: bytes, sequence: int) -> bytes:
    """ComputeNonce (5.2)."""
    return bytes(a ^ b for a, b in zip(base, sequence.to_bytes(12, "big"), strict=True))


def seal(
    plaintext: bytes, recipient: X25519PublicKey, info: bytes, ephemeral: X25519PrivateKey
) -> bytes:
    """enc || ct (6.1), with a chosen ephemeral key: in earnest it is drawn for each message."""
    encapsulated = ephemeral.public_key().public_bytes_raw()
    exchanged = ephemeral.exchange(recipient)
    keys = schedule(shared_secret(exchanged, encapsulated, recipient.public_bytes_raw()), info)
    return encapsulated + AESGCM(keys["key"]).encrypt(keys["base_nonce"], plaintext, b"")


def open_sealed(
    sealed: bytes, recipient: X25519PrivateKey, info: bytes, aad: bytes = b"", sequence: int = 0
) -> bytes | None:
    """The plaintext of enc || ct, or None; krand uses neither additional data nor a sequence."""
    encapsulated, ciphertext = sealed[:ENC_BYTES], sealed[ENC_BYTES:]
    try:
        exchanged = recipient.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    except ValueError:
        return None  # a point of low order, which gives the same secret to everybody
    public = recipient.public_key().public_bytes_raw()
    keys = schedule(shared_secret(exchanged, encapsulated, public), info)
    try:
        nonce = nonce_of(keys["base_nonce"], sequence)
        return AESGCM(keys["key"]).decrypt(nonce, ciphertext, aad)
    except InvalidTag:
        return None
