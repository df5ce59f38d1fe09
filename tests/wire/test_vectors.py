"""The published test vectors hold for this implementation, and cover what they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.promise import Linkage
from krand.wire.keys import fingerprint, parse_public_key
from krand.wire.messages import MessageFormat, Null, Payload, Token, Vector
from krand.wire.rejections import RejectedMessage, Rejection
from krand.wire.sealing import Opener, seal_info
from krand.wire.vectors import make_vectors, packed

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "vectors.json").read_text(encoding="utf-8")
)
PLANS = {plan["name"]: plan for plan in VECTORS["plans"]}
KEY = X25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["recipient"]["private_key"]))


def form_of(case: dict[str, Any]) -> MessageFormat:
    plan = PLANS[case["plan"]]
    return MessageFormat(Linkage(plan["linkage"]), plan["positions"])


def opener_of(case: dict[str, Any]) -> Opener:
    return Opener(KEY, form_of(case), bytes.fromhex(PLANS[case["plan"]]["plan_hash"]))


def payload_of(case: dict[str, Any]) -> Payload:
    description = case["payload"]
    if description["kind"] == "token":
        return Token(description["position"])
    if description["kind"] == "vector":
        return Vector(packed(description["ones"], form_of(case).positions))
    assert description["kind"] == "null"
    return Null()


def without_seals(vectors: Any) -> Any:
    """Everything that is the same in every run."""
    if isinstance(vectors, dict):
        return {k: without_seals(value) for k, value in vectors.items() if k != "sealed"}
    return [without_seals(v) for v in vectors] if isinstance(vectors, list) else vectors


def test_keys_and_lengths_are_as_stated() -> None:
    """Public key, fingerprint, info and lengths follow from the rest of the file."""
    recipient = VECTORS["recipient"]
    public = parse_public_key(recipient["public_key_pem"].encode())
    assert public.public_bytes_raw().hex() == recipient["public_key"]
    assert KEY.public_key().public_bytes_raw() == public.public_bytes_raw()
    assert fingerprint(public) == recipient["fingerprint"]
    for name, plan in PLANS.items():
        form = form_of({"plan": name})
        assert plan["info"] == seal_info(bytes.fromhex(plan["plan_hash"])).hex()
        assert plan["plaintext_length"] == form.plaintext_length
        assert plan["sealed_length"] == form.sealed_length


@pytest.mark.parametrize(
    "case", VECTORS["accepted"], ids=lambda c: f"{c['plan']}: {c['plaintext']}"
)
def test_an_accepted_message_opens_to_its_payload(case: dict[str, Any]) -> None:
    """Sealed bytes, plaintext and payload are the same message."""
    payload, form = payload_of(case), form_of(case)
    assert form.encode(payload).hex() == case["plaintext"]
    assert form.decode(bytes.fromhex(case["plaintext"])) == payload
    assert opener_of(case).open(bytes.fromhex(case["sealed"])) == payload


@pytest.mark.parametrize("case", VECTORS["rejected"], ids=lambda c: c["name"])
def test_a_rejected_message_is_refused_for_its_reason(case: dict[str, Any]) -> None:
    """The sealed bytes are refused as stated, and so is the plaintext where there is one."""
    with pytest.raises(RejectedMessage) as caught:
        opener_of(case).open(bytes.fromhex(case["sealed"]))
    assert caught.value.reason == case["rejection"]
    if case["plaintext"] is not None:
        with pytest.raises(RejectedMessage) as caught:
            form_of(case).decode(bytes.fromhex(case["plaintext"]))
        assert caught.value.reason == case["rejection"]


def test_all_kinds_linkages_and_rejections_are_covered() -> None:
    """Nothing that the format has is missing from the file."""
    assert {case["payload"]["kind"] for case in VECTORS["accepted"]} == {"null", "token", "vector"}
    assert {plan["linkage"] for plan in PLANS.values()} == set(Linkage)
    refused = {case["rejection"] for case in VECTORS["rejected"]}
    assert refused == set(Rejection) - {Rejection.OUTSIDE_ITS_LANE}  # version 1 has no lanes
    assert {case["plan"] for case in VECTORS["accepted"]} == set(PLANS)


def test_the_generator_makes_this_file() -> None:
    """File and generator agree in everything but the seals, whose lengths agree."""
    fresh = make_vectors()
    assert without_seals(fresh) == without_seals(VECTORS)
    for name in ("accepted", "rejected"):
        for new, old in zip(fresh[name], VECTORS[name], strict=True):
            assert len(new["sealed"]) == len(old["sealed"])


def test_the_generator_writes_json() -> None:
    """`python -m krand.wire.vectors` prints the file."""
    command = [sys.executable, "-m", "krand.wire.vectors"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert without_seals(json.loads(run.stdout)) == without_seals(VECTORS)
