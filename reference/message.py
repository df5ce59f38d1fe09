"""The bytes on the wire: plaintexts, layers, submissions, invitations, and what is signed."""

from __future__ import annotations

import base64
import hashlib
import re

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from reference.channel import Lane, Payload
from reference.hpke import ENC_BYTES, TAG_BYTES, open_sealed, seal

VERSION = 1
NULL, TOKEN, VECTOR = 0, 1, 2
ANALYST = 0
"""The hop of the analyst; mixers are 1, 2, …; the first is the collector and has no layer."""
LAYER_BYTES = ENC_BYTES + TAG_BYTES
ID_BYTES = 16
HEAD_BYTES = 1 + 2 + ID_BYTES
CODE_BYTES = 16


class Refused(Exception):
    """A stranger's bytes that are not taken, with the first reason that applies."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def plaintext_length(lane: Lane) -> int:
    """Of every message of the lane: version, kind, then a position or a record."""
    return 2 + ((lane.positions + 7) // 8 if lane.records else 4)


def plaintext_of(payload: Payload) -> bytes:
    """The one way to write a payload."""
    if payload is None:
        return bytes((VERSION, NULL)) + bytes(4)
    if isinstance(payload, bytes):
        return bytes((VERSION, VECTOR)) + payload
    return bytes((VERSION, TOKEN)) + payload.to_bytes(4, "big")


def read_plaintext(lane: Lane, plaintext: bytes) -> Payload:
    """The payload, or Refused: whatever the writer above would not have written."""
    if len(plaintext) != plaintext_length(lane):
        raise Refused("wrong_length")
    version, kind, content = plaintext[0], plaintext[1], plaintext[2:]
    if version != VERSION:
        raise Refused("unknown_version")
    if kind not in ((VECTOR,) if lane.records else (NULL, TOKEN)):
        raise Refused("unknown_kind")
    if kind == TOKEN:
        position = int.from_bytes(content, "big")
        if not lane.holds(position):
            raise Refused("outside_its_lane")
        return position
    unused = -lane.positions % 8 if kind == VECTOR else 32
    if int.from_bytes(content, "big") % 2**unused:
        raise Refused("padding_not_zero")
    return content if kind == VECTOR else None


def layer_info(hop: int, plan_hash: bytes, round_number: int, lane: int) -> bytes:
    """What a layer is bound to: purpose, version, hop, plan, round, lane."""
    where = round_number.to_bytes(2, "big") + lane.to_bytes(4, "big")
    return b"krand message" + bytes((VERSION, hop)) + plan_hash + where


def hops_from(mixers: int, hop: int) -> list[int]:
    """Who opens what arrives at a hop, the outermost layer first; the analyst is last."""
    first = mixers + 1 if hop == ANALYST else max(hop, 2)
    return [*range(first, mixers + 1), ANALYST]


def length_at(lane: Lane, mixers: int, hop: int) -> int:
    """Of every message of the lane that arrives at a hop."""
    return plaintext_length(lane) + LAYER_BYTES * len(hops_from(mixers, hop))


def seal_layers(
    plaintext: bytes, layers: list[tuple[X25519PublicKey, bytes, X25519PrivateKey]]
) -> list[bytes]:
    """The message after each layer; key, info and ephemeral key of the innermost come first."""
    made = []
    for recipient, info, ephemeral in layers:
        plaintext = seal(plaintext, recipient, info, ephemeral)
        made.append(plaintext)
    return made


def open_layer(sealed: bytes, wanted: int, key: X25519PrivateKey, info: bytes) -> bytes:
    """What is inside of the outermost layer, or Refused."""
    if len(sealed) != wanted:
        raise Refused("wrong_length")
    opened = open_sealed(sealed, key, info)
    if opened is None:
        raise Refused("not_sealed_for_this_key_or_plan")
    return opened


def submission(round_number: int, name: bytes, messages: list[bytes]) -> bytes:
    """What a device sends: version, round, id, and the messages in the order of their lanes."""
    return bytes((VERSION,)) + round_number.to_bytes(2, "big") + name + b"".join(messages)


def read_submission(body: bytes, round_number: int, length: int, count: int) -> tuple[bytes, bytes]:
    """Id and joined messages of a submission of so many messages of this length, or Refused."""
    if len(body) < HEAD_BYTES:
        raise Refused("too_short")
    if body[0] != VERSION:
        raise Refused("unknown_version")
    if int.from_bytes(body[1:3], "big") != round_number:
        raise Refused("other_round")
    if len(body) != HEAD_BYTES + count * length:
        raise Refused("wrong_length")
    return body[3:HEAD_BYTES], body[HEAD_BYTES:]


def code_text(code: bytes) -> str:
    """An invitation as it stands in a link."""
    return base64.urlsafe_b64encode(code).decode().rstrip("=")


def read_code(text: str) -> bytes:
    """The code of an invitation, or Refused: four bits of the last character mean nothing."""
    if not re.fullmatch("[A-Za-z0-9_-]{21}[AQgw]", text):
        raise Refused("no_code")
    return base64.urlsafe_b64decode(text + "==")


def invited_id(plan_hash: bytes, round_number: int, code: bytes) -> bytes:
    """The id of the one submission that a code makes in a round."""
    content = b"krand invitation\0" + plan_hash + round_number.to_bytes(2, "big") + code
    return hashlib.sha256(content).digest()[:ID_BYTES]


def plan_message(plan_hash: bytes) -> bytes:
    """What every mixer signs of a plan, with Ed25519."""
    return b"krand plan\0" + plan_hash
