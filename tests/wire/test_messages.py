"""Plaintexts have one length, one encoding for each payload, and a name for every fault."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.lanes import Lane
from krand.wire.messages import (
    ANALYST,
    MAX_POSITIONS,
    MessageFormat,
    Null,
    Payload,
    RejectedMessage,
    Rejection,
    Token,
    Vector,
    layers_at,
    length_at,
)
from mixed_plans import survey_for, unproven_plan


def lane_at(offset: int, positions: int, records: bool = False) -> Lane:
    return Lane(
        number=3, block="pet", offset=offset, positions=positions, messages=1, records=records
    )


BITS = MessageFormat(lane_at(0, 40))
LATER = MessageFormat(lane_at(7, 3))
RECORD = MessageFormat(lane_at(0, 9, records=True))


@st.composite
def formats(draw: st.DrawFn) -> MessageFormat:
    if draw(st.booleans()):
        return MessageFormat(lane_at(0, draw(st.integers(1, 300)), records=True))
    offset = draw(st.integers(0, MAX_POSITIONS - 1))
    return MessageFormat(lane_at(offset, draw(st.integers(1, MAX_POSITIONS - offset))))


@st.composite
def payloads(draw: st.DrawFn, form: MessageFormat) -> Payload:
    lane = form.lane
    if lane.records:
        bits = draw(st.lists(st.booleans(), min_size=lane.positions, max_size=lane.positions))
        return Vector(np.packbits(np.array(bits)).tobytes())
    tokens = st.integers(lane.offset, lane.offset + lane.positions - 1).map(Token)
    return draw(st.one_of(tokens, st.just(Null())))


def refusal(form: MessageFormat, plaintext: bytes) -> Rejection:
    with pytest.raises(RejectedMessage) as caught:
        form.decode(plaintext)
    return caught.value.reason


@given(st.data())
def test_what_is_written_is_read(data: st.DataObject) -> None:
    """Every payload of every format comes back, from as many bytes as the format says."""
    form = data.draw(formats())
    payload = data.draw(payloads(form))
    plaintext = form.encode(payload)
    assert len(plaintext) == form.plaintext_length
    assert form.decode(plaintext) == payload


@given(st.data())
def test_what_is_read_could_only_be_written_so(data: st.DataObject) -> None:
    """Any bytes are refused, or are exactly what the writer writes: there are no second ways."""
    form = data.draw(formats())
    header = data.draw(st.sampled_from([b"\1\0", b"\1\1", b"\1\2", b"\2\1", b"\1\3"]))
    body = data.draw(
        st.one_of(
            st.just(bytes(form.payload_length)),
            st.integers(form.lane.offset, form.lane.offset + form.lane.positions).map(
                lambda near: near.to_bytes(max(4, form.payload_length), "big")
            ),
            st.binary(min_size=form.payload_length, max_size=form.payload_length),
        )
    )
    try:
        payload = form.decode(header + body)
    except RejectedMessage:
        return
    assert form.encode(payload) == header + body


def test_the_bytes_are_those_of_the_document() -> None:
    """Version, kind, then a big-endian position, zeros, or a record with its first bit on top."""
    assert BITS.encode(Token(39)) == bytes.fromhex("010100000027")
    assert MessageFormat(lane_at(9, 10**6)).encode(Token(0x010203)).hex() == "010100010203"
    assert BITS.encode(Null()) == bytes.fromhex("010000000000")
    assert RECORD.encode(Vector(np.packbits([1, 0, 0, 0, 0, 0, 0, 1, 1]).tobytes())).hex() == (
        "01028180"
    )


def test_lengths() -> None:
    """Six bytes whatever the number of positions; a record takes an eighth of its bits."""
    assert {MessageFormat(lane_at(0, p)).plaintext_length for p in (1, 40, 10**7)} == {6}
    sizes = {1: 3, 8: 3, 9: 4, 40: 7, 1000: 127}
    for positions, length in sizes.items():
        assert MessageFormat(lane_at(0, positions, records=True)).plaintext_length == length


@pytest.mark.parametrize(
    ("form", "plaintext", "reason"),
    [
        (BITS, "", Rejection.WRONG_LENGTH),
        (BITS, "020100000000", Rejection.UNKNOWN_VERSION),
        (BITS, "010100000028", Rejection.OUTSIDE_ITS_LANE),
        (BITS, "010180000000", Rejection.OUTSIDE_ITS_LANE),
        (LATER, "010100000006", Rejection.OUTSIDE_ITS_LANE),
        (LATER, "01010000000a", Rejection.OUTSIDE_ITS_LANE),
        (LATER, "0101ffffffff", Rejection.OUTSIDE_ITS_LANE),
        (RECORD, "0102ff81", Rejection.PADDING_NOT_ZERO),
        (RECORD, "01020040", Rejection.PADDING_NOT_ZERO),
        (RECORD, "0102ff8000", Rejection.WRONG_LENGTH),
    ],
)
def test_every_fault_has_its_name(form: MessageFormat, plaintext: str, reason: Rejection) -> None:
    """Beside those of the test vectors; what applies first is the reason."""
    assert refusal(form, bytes.fromhex(plaintext)) is reason


def test_every_kind_byte_but_the_right_ones_is_unknown() -> None:
    """Of 256 kinds bit linkage has two and record linkage one."""
    for form, known in ((BITS, {0, 1}), (RECORD, {2})):
        for kind in set(range(256)) - known:
            body = bytes(form.payload_length)
            assert refusal(form, bytes((1, kind)) + body) is Rejection.UNKNOWN_KIND


def test_a_refusal_says_why_and_not_what() -> None:
    """The error names the rule; the content of the message is not in it, and it can be pickled."""
    import pickle

    with pytest.raises(RejectedMessage) as caught:
        BITS.decode(bytes.fromhex("01010000abcd"))
    error = caught.value
    assert error.reason.rule in str(error)
    assert str(0xABCD) not in str(error)
    assert "abcd" not in str(error).lower()
    assert pickle.loads(pickle.dumps(error)).reason is error.reason
    assert len({reason.rule for reason in Rejection}) == len(Rejection)


@pytest.mark.parametrize("position", [-1, 40, 2**32, True, 1.0, "1", None])
def test_a_position_that_the_plan_lacks_is_not_written(position: object) -> None:
    """Only whole numbers within the plan become tokens."""
    with pytest.raises(InvalidInput, match="position: must be a whole number from 0 to 39"):
        BITS.encode(Token(position))  # type: ignore[arg-type]


def test_whole_numbers_of_numpy_are_positions() -> None:
    """Positions come out of arrays."""
    assert BITS.encode(Token(np.uint32(7))) == BITS.encode(Token(7))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "payload", "field"),
    [
        (BITS, Vector(bytes(5)), "payload"),
        (RECORD, Token(1), "payload"),
        (RECORD, Null(), "payload"),
        (RECORD, Vector(b"\0"), "vector"),
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


@pytest.mark.parametrize(
    ("mixers", "layers", "lengths"),
    [
        (1, {1: (0,), 0: (0,)}, {1: 54, 0: 54}),
        (2, {1: (2, 0), 2: (2, 0), 0: (0,)}, {1: 102, 2: 102, 0: 54}),
        (3, {1: (2, 3, 0), 2: (2, 3, 0), 3: (3, 0), 0: (0,)}, {1: 150, 2: 150, 3: 102, 0: 54}),
    ],
)
def test_every_mixer_but_the_first_removes_a_layer(
    mixers: int, layers: dict[int, tuple[int, ...]], lengths: dict[int, int]
) -> None:
    """48 bytes for each layer that is left."""
    plan = unproven_plan(survey_for(mixers))
    assert {hop: layers_at(plan, hop) for hop in layers} == layers
    assert {hop: length_at(plan, hop) for hop in lengths} == lengths
    for hop in (-1, mixers + 1):
        with pytest.raises(InvalidInput, match="hop: must be from 1 to"):
            length_at(plan, hop)
    assert ANALYST == 0


def test_the_format_loads_neither_numpy_nor_cryptography() -> None:
    """Who only wants to know the length of a message pays for nothing else; keys need no numpy."""
    for module, heavy in (
        ("krand.wire.messages, krand.wire.submissions", {"numpy", "cryptography"}),
        ("krand.wire.layers, krand.wire.keys", {"numpy"}),
        ("krand.wire.layers, krand.wire.plan_signatures", {"numpy"}),
        ("krand.cli.commands.keygen", {"numpy", "cryptography", "rich"}),
    ):
        code = f"import sys, {module}; print(*({heavy!r} & set(sys.modules)))"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (run.returncode, run.stdout.split()) == (0, []), module
