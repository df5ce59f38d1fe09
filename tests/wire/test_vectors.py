"""The vectors of the reference hold for krand's messages, seals and signatures."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import krand

# A mixer's step with given random bytes: through commands everything is drawn anew.
from krand.batches import batch
from krand.mixing import dummies
from krand.wire.invitations import code_text, invited_id, read_code
from krand.wire.layers import SUITE, layer_info, open_layers
from krand.wire.messages import (
    MessageFormat,
    Null,
    Payload,
    RejectedMessage,
    Rejection,
    Token,
    Vector,
)
from krand.wire.submissions import Refusal, Refused, SubmissionFormat, submission_bytes
from vectors import (
    CASES,
    VECTORS,
    KnownBytes,
    keys_of,
    lane_of,
    opening_key,
    plan_of,
)

PLAN_HASH = bytes.fromhex(VECTORS["plan_hash"])
LAYERS = {(each["mixers"], each["hop"]): each["layers"] for each in VECTORS["layers"]}
each_named = {"ids": lambda case: case["name"]}


def payload_of(case: dict[str, Any]) -> Payload:
    told = case["payload"]
    if told["kind"] == "vector":
        bits = np.zeros(lane_of(case["lane"]).positions, np.bool_)
        bits[told["ones"]] = True
        return Vector(np.packbits(bits).tobytes())
    return Token(told["position"]) if told["kind"] == "token" else Null()


def opened(hop: int, case: dict[str, Any], sealed: bytes) -> bytes:
    """What is inside, as a mixer opens it, or RejectedMessage."""
    form = MessageFormat(lane_of(case["lane"]))
    if len(sealed) != form.plaintext_length + 48 * LAYERS[case["mixers"], hop]:
        raise RejectedMessage(Rejection.WRONG_LENGTH)
    info = layer_info(hop, PLAN_HASH, case["round"], case["lane"])
    rows = np.frombuffer(sealed, np.uint8).reshape(1, -1)
    inside, kept = open_layers(opening_key(hop, case["round"]), info, rows)
    if not kept[0]:
        raise RejectedMessage(Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN)
    return inside[0].tobytes()


@pytest.mark.parametrize("mixers", [1, 2, 3])
def test_accepted_messages_open_layer_by_layer(mixers: int) -> None:
    """With the stated infos, down to the plaintext, which has one encoding."""
    cases = [case for case in VECTORS["accepted"] if case["mixers"] == mixers]
    assert len(cases) == 16
    for case in cases:
        inside = bytes.fromhex(case["layers"][0]["sealed"])
        for layer in case["layers"]:
            assert layer["sealed"] == inside.hex(), case
            info = layer_info(layer["hop"], PLAN_HASH, case["round"], case["lane"])
            assert layer["info"] == info.hex(), f"bound to {info.hex()}, not {layer['info']}"
            inside = opened(layer["hop"], case, inside)
        form, payload = MessageFormat(lane_of(case["lane"])), payload_of(case)
        assert inside.hex() == form.encode(payload).hex() == case["plaintext"], case
        assert form.decode(inside) == payload, case


@pytest.mark.parametrize("case", VECTORS["rejected"], **each_named)
def test_a_rejected_message_is_refused_for_its_reason(case: dict[str, Any]) -> None:
    """The sealed bytes are refused as stated, and so is the plaintext where there is one."""
    form = MessageFormat(lane_of(case["lane"]))
    with pytest.raises(RejectedMessage) as caught:
        form.decode(opened(case["hop"], case, bytes.fromhex(case["sealed"])))
    assert caught.value.reason == case["rejection"]
    if case["plaintext"] is not None:
        with pytest.raises(RejectedMessage) as caught:
            form.decode(bytes.fromhex(case["plaintext"]))
        assert caught.value.reason == case["rejection"]


def test_every_reason_has_a_vector() -> None:
    """Of messages and of submissions."""
    assert {case["rejection"] for case in VECTORS["rejected"]} == set(Rejection)
    bodies = VECTORS["submissions"]["bodies"]
    assert {case["rejection"] for case in bodies} == {None, *Refusal}


def test_submissions_are_read_or_refused_as_stated() -> None:
    """A retry has the same bytes; anything more or less is refused for the first reason."""
    given = VECTORS["submissions"]
    form = SubmissionFormat(given["round"], given["message_length"], given["messages"])
    for case in given["bodies"]:
        body = bytes.fromhex(case["body"])
        if case["rejection"] is None:
            found = form.read(body)
            again = submission_bytes(form.round, found.id, (found.messages,))
            assert (again, len(body)) == (body, form.length), case["name"]
        else:
            with pytest.raises(Refused) as caught:
                form.read(body)
            assert caught.value.reason == case["rejection"], case["name"]


def test_codes_give_the_stated_ids() -> None:
    """Whatever is no code is refused without being repeated: it may be a secret."""
    for case in VECTORS["invitations"]:
        text = case["code"]
        if case["ids"] is None:
            with pytest.raises(krand.InvalidInput, match="invitation: must be a code") as caught:
                read_code(text)
            assert not text or text not in str(caught.value)
        else:
            code = read_code(text)
            found = [invited_id(VECTORS["plan_hash"], n, code).hex() for n in (1, 258)]
            assert (found, code_text(code)) == (case["ids"], text)


def test_a_mixer_passes_on_what_the_reference_passes_on() -> None:
    """The first of all copies; what was changed or filed elsewhere is left out."""
    case = VECTORS["mixing"]
    rows = np.array([list(bytes.fromhex(each)) for each in case["came"]], np.uint8)
    again = batch.repeated(batch.digests_of(rows))
    info = layer_info(case["hop"], PLAN_HASH, case["round"], case["lane"])
    inside, kept = open_layers(opening_key(case["hop"], case["round"]), info, rows[~again])
    assert [row.tobytes().hex() for row in inside] == case["passed"]
    assert (int(again.sum()), int((~kept).sum())) == (case["repeats"], case["refused"])


def test_dummies_are_drawn_as_the_reference_draws_them() -> None:
    """For a lane of one position, of one message, and of several messages."""
    case, plan = VECTORS["mixing"], plan_of(CASES["two mixers, second round"])
    law = replace(plan.laws[0], half=tuple(map(int, case["law"])))
    for told in case["dummies"]:
        lane = replace(lane_of(told["lane"]), padding=told["padding"])
        fake = SimpleNamespace(law_of=lambda _: law)
        random = KnownBytes(bytes.fromhex(told["randomness"]))
        drawn = dummies.draw_lane(fake, lane, random)  # type: ignore[arg-type]
        assert (drawn.tokens.tolist(), drawn.nulls) == (told["tokens"], told["nulls"])
        assert random.given == len(random.known)


def test_the_seals_of_given_ephemeral_keys_open() -> None:
    """Layer after layer: each is what the next one seals."""
    for name in {layer["case"] for layer in VECTORS["sealed"]}:
        layers = [layer for layer in VECTORS["sealed"] if layer["case"] == name]
        inside = CASES[name]["messages"][0]["plaintext"]
        for key, layer in zip(keys_of(CASES[name]), layers, strict=True):
            sealed, info = bytes.fromhex(layer["sealed"]), bytes.fromhex(layer["info"])
            assert SUITE.decrypt(sealed, key, info).hex() == layer["plaintext"] == inside
            inside = layer["sealed"]
