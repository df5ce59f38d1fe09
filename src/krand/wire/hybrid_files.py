"""Files of X-Wing keys, which the library that reads and writes all other keys does not know yet.

Private keys are PKCS#8 with the seed, public keys SubjectPublicKeyInfo with the raw key, both under
the algorithm 1.3.6.1.4.1.62253.25722 (draft-connolly-cfrg-xwing-kem). With a passphrase the file is
PBES2: PBKDF2 with HMAC-SHA256, and AES-256-CBC. All lengths are fixed, so that every file is the
same constant bytes around the few that differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import textwrap

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC

PUBLIC = bytes.fromhex("308204d4 300d 060b2b0601040183e62d81c87a 038204c100")
PUBLIC_BYTES = 1_216
PRIVATE = bytes.fromhex("3034 020100 300d 060b2b0601040183e62d81c87a 0420")
SEED_BYTES = 32

ROUNDS = 600_000
BLOCK = 16
BEFORE_SALT = bytes.fromhex(
    "3081a4 3060 06092a864886f70d01050d 3053 3032 06092a864886f70d01050c 3025 0410"
)
AFTER_SALT = bytes.fromhex(
    f"0203{ROUNDS:06x} 300c 06082a864886f70d0209 0500 301d 060960864801650304012a 0410"
)
BEFORE_CONTENT = bytes.fromhex("0440")
CONTENT_BYTES = 64


def public_pem(raw: bytes) -> bytes:
    """The file of a public key."""
    return _pem("PUBLIC KEY", PUBLIC + raw)


def read_public_pem(pem: bytes) -> bytes | None:
    """The raw public key; None if the file is of another kind."""
    der = _der(pem, "PUBLIC KEY")
    return der[len(PUBLIC) :] if _begins(der, PUBLIC, PUBLIC_BYTES) else None


def private_pem(seed: bytes, passphrase: bytes | None) -> bytes:
    """The file of a private key, encrypted if there is a passphrase."""
    content = PRIVATE + seed
    if passphrase is None:
        return _pem("PRIVATE KEY", content)
    salt, start = os.urandom(BLOCK), os.urandom(BLOCK)
    padding = CONTENT_BYTES - len(content)
    encryptor = _cipher(passphrase, salt, start).encryptor()
    sealed = encryptor.update(content + bytes((padding,)) * padding) + encryptor.finalize()
    whole = BEFORE_SALT + salt + AFTER_SALT + start + BEFORE_CONTENT + sealed
    return _pem("ENCRYPTED PRIVATE KEY", whole)


def read_private_pem(pem: bytes, passphrase: bytes | None) -> bytes | None:
    """The seed; None if the file is of another kind, ValueError if the passphrase is wrong."""
    if passphrase is None:
        der = _der(pem, "PRIVATE KEY")
        return der[len(PRIVATE) :] if _begins(der, PRIVATE, SEED_BYTES) else None
    der = _der(pem, "ENCRYPTED PRIVATE KEY")
    salt_at = len(BEFORE_SALT)
    start_at = salt_at + BLOCK + len(AFTER_SALT)
    salt, start = der[salt_at : salt_at + BLOCK], der[start_at : start_at + BLOCK]
    head = BEFORE_SALT + salt + AFTER_SALT + start + BEFORE_CONTENT
    if not _begins(der, head, CONTENT_BYTES):
        return None
    decryptor = _cipher(passphrase, salt, start).decryptor()
    content = decryptor.update(der[len(head) :]) + decryptor.finalize()
    if not content.startswith(PRIVATE):
        raise ValueError("wrong passphrase, or another kind of key")
    return content[len(PRIVATE) : len(PRIVATE) + SEED_BYTES]


def _begins(der: bytes, constant: bytes, rest: int) -> bool:
    return der.startswith(constant) and len(der) == len(constant) + rest


def _cipher(passphrase: bytes, salt: bytes, start: bytes) -> Cipher[CBC]:
    key = hashlib.pbkdf2_hmac("sha256", passphrase, salt, ROUNDS, 32)
    return Cipher(AES256(key), CBC(start))


def _pem(label: str, der: bytes) -> bytes:
    lines = textwrap.wrap(base64.b64encode(der).decode(), 64)
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", "")).encode()


def _der(pem: bytes, label: str) -> bytes:
    """What is between the two lines; empty if they are not there."""
    pattern = f"-----BEGIN {label}-----\\s(.*?)-----END {label}-----".encode()
    found = re.search(pattern, pem, re.DOTALL)
    try:
        return base64.b64decode(b"".join(found[1].split()), validate=True) if found else b""
    except binascii.Error:
        return b""
