"""The published test vectors hold for this implementation, and cover what they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.survey.lanes import Lane
from krand.wire.layers import layer_info, open_layers
from krand.wire.messages import (
    MessageFormat,
    Null,
    Payload,
    RejectedMessage,
    Rejection,
    Token,
    Vector,
)
from wire.vectors import make_vectors, packed

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "vectors.json").read_text(encoding="utf-8")
)
PLAN_HASH = bytes.fromhex(VECTORS["plan_hash"])
SHAPE = ("number", "offset", "positions", "messages", "records")
LANES = {
    lane["number"]: Lane(block="", **{name: lane[name] for name in SHAPE})
    for lane in VECTORS["lanes"]
}
PLAINTEXTS = {lane["number"]: lane["plaintext_length"] for lane in VECTORS["lanes"]}
LAYERS = {(each["mixers"], each["hop"]): each["layers"] for each in VECTORS["layers"]}
KEYS = {(each["hop"], each["round"]): each for each in VECTORS["keys"]}


def key_of(hop: int, round_number: int) -> X25519PrivateKey:
    """The analyst has one key for all rounds."""
    found = KEYS[hop, round_number if hop else None]
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(found["private_key"]))


def length(case: dict[str, Any], hop: int) -> int:
    """Of a message of the case's lane that arrives at a hop."""
    layers: int = LAYERS[case["mixers"], hop]
    return int(PLAINTEXTS[case["lane"]]) + 48 * layers


def payload_of(case: dict[str, Any]) -> Payload:
    told = case["payload"]
    if told["kind"] == "vector":
        return Vector(packed(told["ones"], LANES[case["lane"]].positions))
    return Token(told["position"]) if told["kind"] == "token" else Null()


def opened(hop: int, case: dict[str, Any], sealed: bytes) -> bytes:
    """What this implementation finds inside a layer, or RejectedMessage."""
    if len(sealed) != length(case, hop):
        raise RejectedMessage(Rejection.WRONG_LENGTH)
    info = layer_info(hop, PLAN_HASH, case["round"], case["lane"])
    rows = np.frombuffer(sealed, np.uint8).reshape(1, -1)
    inside, kept = open_layers(key_of(hop, case["round"]), info, rows)
    if not kept[0]:
        raise RejectedMessage(Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN)
    return inside[0].tobytes()


def read(case: dict[str, Any]) -> Payload:
    """A case's message at its hop, and its content."""
    inside = opened(case["hop"], case, bytes.fromhex(case["sealed"]))
    return MessageFormat(LANES[case["lane"]]).decode(inside)


def without_seals(vectors: Any) -> Any:
    """Everything that is the same in every run."""
    if isinstance(vectors, dict):
        return {k: without_seals(value) for k, value in vectors.items() if k != "sealed"}
    return [without_seals(v) for v in vectors] if isinstance(vectors, list) else vectors


def test_keys_are_as_stated() -> None:
    """Public keys follow from private ones."""
    for (hop, round_number), key in KEYS.items():
        public = key_of(hop, round_number or 1).public_key()
        assert public.public_bytes_raw().hex() == key["public_key"]
    assert len({key["public_key"] for key in KEYS.values()}) == len(KEYS) == 7


@pytest.mark.parametrize(
    "case",
    VECTORS["accepted"],
    ids=lambda c: f"{c['mixers']} mixers, lane {c['lane']}: {c['plaintext']}",
)
def test_an_accepted_message_comes_through_its_chain(case: dict[str, Any]) -> None:
    """Every layer has its info and length, and opens to the next; the last is the plaintext."""
    layers = case["layers"]
    assert [layer["hop"] for layer in layers] == [*range(2, case["mixers"] + 1), 0]
    insides = [*(layer["sealed"] for layer in layers[1:]), case["plaintext"]]
    for layer, inside in zip(layers, insides, strict=True):
        hop, sealed = layer["hop"], bytes.fromhex(layer["sealed"])
        assert layer["info"] == layer_info(hop, PLAN_HASH, case["round"], case["lane"]).hex()
        assert len(sealed) == length(case, hop)
        assert opened(hop, case, sealed).hex() == inside
    form, payload = MessageFormat(LANES[case["lane"]]), payload_of(case)
    assert form.plaintext_length == PLAINTEXTS[case["lane"]]
    assert form.encode(payload).hex() == case["plaintext"]
    assert form.decode(bytes.fromhex(case["plaintext"])) == payload


@pytest.mark.parametrize("case", VECTORS["rejected"], ids=lambda c: c["name"])
def test_a_rejected_message_is_refused_for_its_reason(case: dict[str, Any]) -> None:
    """The sealed bytes are refused as stated, and so is the plaintext where there is one."""
    with pytest.raises(RejectedMessage) as caught:
        read(case)
    assert caught.value.reason == case["rejection"]
    if case["plaintext"] is not None:
        with pytest.raises(RejectedMessage) as caught:
            MessageFormat(LANES[case["lane"]]).decode(bytes.fromhex(case["plaintext"]))
        assert caught.value.reason == case["rejection"]


def test_all_chains_lanes_kinds_and_rejections_are_covered() -> None:
    """Nothing that the format has is missing from the file."""
    accepted, rejected = VECTORS["accepted"], VECTORS["rejected"]
    assert {(case["mixers"], case["lane"]) for case in accepted} == {
        (mixers, lane) for mixers in (1, 2, 3) for lane in LANES
    }
    assert {case["payload"]["kind"] for case in accepted} == {"null", "token", "vector"}
    reasons = {case["rejection"] for case in rejected}
    assert reasons == set(Rejection)
    assert {case["hop"] for case in rejected} == {0, 2}
    assert len({case["round"] for case in accepted}) == 3


def test_plan_signatures_are_as_stated() -> None:
    """Purpose and hash are signed; Ed25519 gives one signature for each key."""
    for case in VECTORS["plan_signatures"]:
        signed, signature = (bytes.fromhex(case[name]) for name in ("signed", "signature"))
        assert signed == b"krand plan\0" + PLAN_HASH
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(case["identity"])).verify(
            signature, signed
        )
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(case["private_key"]))
        assert key.sign(signed) == signature
    assert [case["hop"] for case in VECTORS["plan_signatures"]] == [1, 2, 3]


def test_the_generator_makes_this_file() -> None:
    """File and generator agree in everything but the seals, whose lengths agree."""
    fresh = make_vectors()
    assert without_seals(fresh) == without_seals(VECTORS)
    for new, old in zip(fresh["rejected"], VECTORS["rejected"], strict=True):
        assert len(new["sealed"]) == len(old["sealed"])


def test_the_generator_writes_json() -> None:
    """As `make vectors` runs it."""
    command, tests = [sys.executable, "-m", "wire.vectors"], Path(__file__).parents[1]
    run = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
    assert without_seals(json.loads(run.stdout)) == without_seals(VECTORS)
