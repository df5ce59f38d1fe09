"""Invitations: a code in a link, and the submission id that follows from it.

The id of a round is a digest of plan, round and code. One code is therefore one submission of a
round, because the collector counts an id once. The code itself is never sent, and nobody who sees
the ids of two rounds can tell that they come from one code.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.wire.submissions import ID_LENGTH

if TYPE_CHECKING:
    from krand.randomness.generator import SecureRandom

CODE_BYTES = 16
PURPOSE = b"krand invitation\x00"
HASH_BYTES = 32
LARGEST_ROUND = 2**16 - 1
TEXT = re.compile("[A-Za-z0-9_-]{22}")


def new_code(random: SecureRandom) -> bytes:
    """A code that nobody can guess."""
    return random.bytes(CODE_BYTES)


def code_text(code: bytes) -> str:
    """The code as it stands in a link: base64url without padding, 22 characters."""
    _check_code(code)
    return base64.urlsafe_b64encode(code).decode().rstrip("=")


def read_code(text: str) -> bytes:
    """The code of its text; the message does not repeat the text, which is a secret."""
    if TEXT.fullmatch(text):
        code = base64.urlsafe_b64decode(text + "==")
        if code_text(code) == text:  # the last character has four bits that mean nothing
            return code
    rule = "must be a code of 22 letters a-z, digits, '-' or '_', as krand invite writes it"
    hint = "copy what stands behind # in the link, all of it and nothing else"
    raise InvalidInput("invitation", rule, f"{len(text)} characters", hint)


def invited_id(plan_hash: str, round_number: int, code: bytes) -> bytes:
    """The id of the submission that this code makes in this round of a plan."""
    _check_code(code)
    name = bytes.fromhex(plan_hash)
    if len(name) != HASH_BYTES:
        raise InvalidInput("plan_hash", f"must have {HASH_BYTES} bytes", f"{len(name)} bytes")
    if not 1 <= round_number <= LARGEST_ROUND:
        raise InvalidInput("round", f"must be from 1 to {LARGEST_ROUND:,}", round_number)
    content = PURPOSE + name + round_number.to_bytes(2, "big") + code
    return hashlib.sha256(content).digest()[:ID_LENGTH]


def _check_code(code: bytes) -> None:
    if len(code) != CODE_BYTES:
        raise InvalidInput("code", f"must have {CODE_BYTES} bytes", f"{len(code)} bytes")
