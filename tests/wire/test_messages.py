"""Plaintexts have one length, one encoding for each payload, and refusals that tell no content."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand import InvalidInput, generate_private_key
from krand.wire.invitations import CODE_BYTES, code_text, invited_id, new_code
from krand.wire.messages import (
    MessageFormat,
    Null,
    Payload,
    RejectedMessage,
    Token,
    Vector,
)
from krand.wire.submissions import submission_bytes
from vectors import KnownBytes, lane_like

BITS = MessageFormat(lane_like(number=3, offset=0, positions=40, messages=1))
RECORD = MessageFormat(lane_like(number=3, offset=0, positions=9, messages=1, records=True))
HASH = "ab" * 32


@st.composite
def formats(draw: st.DrawFn) -> MessageFormat:
    if draw(st.booleans()):
        positions = draw(st.integers(1, 300))
        return MessageFormat(lane_like(offset=0, positions=positions, records=True))
    offset = draw(st.integers(0, 10**7 - 1))
    return MessageFormat(lane_like(offset=offset, positions=draw(st.integers(1, 10**7 - offset))))


@given(st.data())
def test_what_is_written_is_read_and_nothing_else(data: st.DataObject) -> None:
    """Any bytes are refused, or are exactly what the writer writes: there are no second ways."""
    form = data.draw(formats())
    lane, size = form.lane, form.payload_length
    near = st.integers(lane.offset, lane.offset + lane.positions)
    header = data.draw(st.sampled_from([b"\1\0", b"\1\1", b"\1\2", b"\2\1", b"\1\3"]))
    numbers = near.map(lambda number: number.to_bytes(max(4, size), "big"))
    body = data.draw(st.just(bytes(size)) | numbers | st.binary(min_size=size, max_size=size))
    try:
        payload = form.decode(header + body)
    except RejectedMessage:
        return
    assert form.encode(payload) == header + body
    assert len(header + body) == form.plaintext_length


def test_a_refusal_says_why_and_not_what() -> None:
    """The error names the rule; the content of the message is not in it, and it can be pickled."""
    with pytest.raises(RejectedMessage) as caught:
        BITS.decode(bytes.fromhex("01010000abcd"))
    error = caught.value
    assert error.reason.rule in str(error)
    assert str(0xABCD) not in str(error)
    assert pickle.loads(pickle.dumps(error)).reason is error.reason


@pytest.mark.parametrize(
    ("form", "payload", "field"),
    [
        *((BITS, Token(position), "position") for position in (-1, 40, 2**32, True, 1.0, "1")),
        (BITS, Vector(bytes(5)), "payload"),
        (RECORD, Token(1), "payload"),
        (RECORD, Null(), "payload"),
        (RECORD, Vector(bytes(3)), "vector"),
        (RECORD, Vector(b"\0\1"), "vector"),
    ],
)
def test_a_payload_of_another_plan_is_not_written(
    form: MessageFormat, payload: Payload, field: str
) -> None:
    """Kind, size and padding of a payload must be those of the format."""
    with pytest.raises(InvalidInput) as caught:
        form.encode(payload)
    assert caught.value.field == field
    assert BITS.encode(Token(np.uint32(7))) == BITS.encode(Token(7))  # type: ignore[arg-type]


def test_codes_are_drawn_whole_and_ids_cannot_be_linked() -> None:
    """Plans, rounds and codes have ids of their own; other lengths could give the same bytes."""
    assert new_code(KnownBytes(bytes(range(CODE_BYTES)))) == bytes(range(CODE_BYTES))
    codes = (bytes(CODE_BYTES), bytes(range(CODE_BYTES)))
    ids = {invited_id(p, n, c) for p in (HASH, "cd" * 32) for n in (1, 2) for c in codes}
    assert len(ids) == 8
    wrong = ((HASH[:-2], 1, codes[0]), (HASH, 0, codes[0]), (HASH, 2**16, codes[0]))
    for plan, number, code in (*wrong, (HASH, 1, codes[0][:-1])):
        with pytest.raises(InvalidInput):
            invited_id(plan, number, code)
    for make in (lambda: code_text(codes[0] + b"x"), lambda: submission_bytes(1, b"short", ())):
        with pytest.raises(InvalidInput):
            make()


def test_new_keys_differ() -> None:
    assert len({generate_private_key().private_bytes_raw() for _ in range(20)}) == 20
