"""End-to-end test vectors: `make vectors` writes tests/client/vectors.json.

From a plan, answers and given random bytes to positions, plaintexts and what every layer is bound
to. An implementation is correct if it finds the same from the same bytes, refuses what is refused,
and makes the seals of "sealed" with their ephemeral keys. Each run gives the same file. The keys
are derived from public words: they protect nothing and are for tests only.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from client.vector_cases import CASES, REFUSED, SEALED, WORDED, Case
from client.vector_plans import known_key, known_signatures
from krand.client.randomizer import message_lanes, payloads, reported_positions
from krand.errors import InternalError
from krand.promise import Linkage
from krand.randomness.generator import SecureRandom
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.wire.invitations import invited_id, read_code
from krand.wire.layers import plan_layer_info
from krand.wire.messages import ANALYST, MessageFormat, layers_at
from krand.wire.plan_signatures import FORMAT as SIGNATURE_FORMAT
from krand.wire.submissions import ID_LENGTH, format_of
from wire.test_independent_hpke import seal
from wire.vectors import SUITE_VALUES, WARNING, digest

FORMAT = "krand client vectors"
VERSION = 1
DIGESTS = 1024
"""So many digests are more random bytes than any case draws."""


class KnownBytes(SecureRandom):
    """Not random at all: gives the bytes of a test in their order, and counts those it gave."""

    __slots__ = ("given", "known")

    def __init__(self, known: builtins.bytes) -> None:
        super().__init__()
        self.known, self.given = known, 0

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes; there must be so many left."""
        start, self.given = self.given, self.given + count
        if self.given > len(self.known):
            raise InternalError(f"{len(self.known):,} random bytes are too few")
        return self.known[start : self.given]

    def refresh(self) -> None:
        """Known bytes stay as they are."""


def make_vectors() -> dict[str, Any]:
    """The whole file."""
    cases = [case_values(case, _randomness(case)) for case in CASES]
    return {
        "format": FORMAT,
        "version": VERSION,
        "warning": WARNING,
        "suite": SUITE_VALUES,
        "cases": cases,
        "refused": [
            {"case": name, "answers": answers, "question": question}
            for name, answers, question in REFUSED
        ],
        "worded": [
            {"case": name, "language": language, "answers": answers}
            for name, language, answers in WORDED
        ],
        "sealed": [seal for case in cases if case["name"] in SEALED for seal in _sealed(case)],
    }


def vectors_text() -> str:
    """The file as it is published: ASCII, so that every character of an answer can be seen."""
    return json.dumps(make_vectors(), indent=1) + "\n"


def case_values(case: Case, randomness: bytes) -> dict[str, Any]:
    """One case from beginning to end; `randomness` may be longer than what is drawn."""
    plan, number, random = case.plan, case.round_number, KnownBytes(randomness)
    true_ones = encode(plan.layout, case.answers)
    made = payloads(plan, true_ones, random)
    plaintexts = [
        (lane, MessageFormat(lane).encode(payload))
        for lane, payload in zip(message_lanes(plan), made, strict=True)
    ]
    name = _id(case, random)
    drawn = randomness[: random.given]
    return {
        "name": case.name,
        "plan": plan.bytes.decode(),
        "hash": plan.hash,
        "signatures": [
            {"format": SIGNATURE_FORMAT, **asdict(each)} for each in known_signatures(plan)
        ],
        "keys": list(_keys(plan)),
        "round": number,
        "answers": dict(case.answers),
        "invitation": case.invitation,
        "randomness": drawn.hex(),
        "true_positions": list(true_ones),
        "reported_positions": _reported(plan, true_ones, drawn),
        "messages": [
            {
                "lane": lane.number,
                "plaintext": plaintext.hex(),
                "infos": [info.hex() for info in _infos(plan, number, lane.number)],
            }
            for lane, plaintext in plaintexts
        ],
        "id": name.hex(),
        "submission_length": format_of(plan, number).length,
    }


def _randomness(case: Case) -> bytes:
    """The case's own words first, then bytes that everybody can derive."""
    derived = b"".join(digest(f"randomness: {case.name}, {n}") for n in range(DIGESTS))
    return b"".join(word.to_bytes(4, "big") for word in case.first_words) + derived


def _id(case: Case, random: SecureRandom) -> bytes:
    """Drawn last, or derived from the invitation; then nothing is drawn."""
    if case.invitation is None:
        return random.bytes(ID_LENGTH)
    return invited_id(case.plan.hash, case.round_number, read_code(case.invitation))


def _reported(plan: Plan, true_ones: tuple[int, ...], drawn: bytes) -> list[int] | None:
    """The positions after flips, whatever the lanes have room for; records have their own."""
    if plan.survey.linkage is Linkage.RECORD:
        return None
    found: list[int] = reported_positions(plan, true_ones, KnownBytes(drawn)).tolist()
    return found


def _infos(plan: Plan, round_number: int, lane: int) -> Iterator[bytes]:
    """What every layer of a message is bound to, the innermost first."""
    for hop in reversed(layers_at(plan, 1)):
        yield plan_layer_info(plan, hop, round_number, lane)


def _keys(plan: Plan) -> Iterator[dict[str, Any]]:
    """What opens the layers, the innermost first; the analyst has one key for all rounds."""
    for hop in reversed(layers_at(plan, 1)):
        rounds = [None] if hop == ANALYST else range(1, plan.survey.rounds + 1)
        for number in rounds:
            key = known_key(hop, number or 1)
            yield {"hop": hop, "round": number, "private_key": key.private_bytes_raw().hex()}


def _sealed(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All layers of the case's first message, the innermost first: each is what the next seals."""
    keys = [key for key in case["keys"] if key["round"] in (None, case["round"])]
    message = case["messages"][0]
    inside = bytes.fromhex(message["plaintext"])
    for place, (key, info) in enumerate(zip(keys, message["infos"], strict=True)):
        secret = digest(f"ephemeral: {case['name']}, {place}")
        private = X25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key"]))
        ephemeral, recipient = X25519PrivateKey.from_private_bytes(secret), private.public_key()
        sealed = seal(inside, recipient, bytes.fromhex(info), ephemeral)
        yield {
            "case": case["name"],
            "message": 0,
            "hop": key["hop"],
            "ephemeral_private_key": secret.hex(),
            "recipient_public_key": recipient.public_bytes_raw().hex(),
            "info": info,
            "plaintext": inside.hex(),
            "sealed": sealed.hex(),
        }
        inside = sealed


if __name__ == "__main__":
    print(vectors_text(), end="")
