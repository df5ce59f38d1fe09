"""Plaintexts of version 2: those of version 1 with another first byte, and tied to a lane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.lanes import Lane
from krand.wire.lane_format import ANALYST, PLAINTEXT_LENGTH, LaneFormat, layers_at, length_at
from krand.wire.messages import MAX_POSITIONS, MessageFormat, Null, Payload, Token, Vector
from krand.wire.rejections import RejectedMessage, Rejection
from mixed_plans import plan_for_mixers, survey_for


def lane_at(offset: int, positions: int) -> Lane:
    return Lane(number=3, block="pet", offset=offset, positions=positions, messages=1)


FORM = LaneFormat(lane_at(7, 3))
lanes = st.builds(lane_at, st.integers(0, MAX_POSITIONS), st.integers(1, MAX_POSITIONS))


@given(lanes, st.data())
def test_what_is_written_is_read(lane: Lane, data: st.DataObject) -> None:
    """Every payload of every lane comes back; only the first byte differs from version 1."""
    positions = st.integers(lane.offset, lane.offset + lane.positions - 1)
    payload = data.draw(st.one_of(positions.map(Token), st.just(Null())))
    plaintext = LaneFormat(lane).encode(payload)
    assert len(plaintext) == PLAINTEXT_LENGTH == 6
    assert LaneFormat(lane).decode(plaintext) == payload
    if isinstance(payload, Null) or payload.position < MAX_POSITIONS:
        first = MessageFormat(Linkage.BIT, MAX_POSITIONS).encode(payload)
        assert plaintext == b"\2" + first[1:]


@given(lanes, st.data())
def test_what_is_read_could_only_be_written_so(lane: Lane, data: st.DataObject) -> None:
    """Any bytes are refused, or are exactly what the writer writes: there are no second ways."""
    header = data.draw(st.sampled_from([b"\2\0", b"\2\1", b"\2\2", b"\1\1", b"\0\0"]))
    near = st.integers(lane.offset - 1, lane.offset + lane.positions)
    body = data.draw(
        near.filter(lambda position: position >= 0).map(lambda n: n.to_bytes(4, "big"))
        | st.just(bytes(4))
        | st.binary(min_size=4, max_size=4)
    )
    try:
        payload = LaneFormat(lane).decode(header + body)
    except RejectedMessage:
        return
    assert LaneFormat(lane).encode(payload) == header + body


@pytest.mark.parametrize(
    ("plaintext", "reason"),
    [
        ("", Rejection.WRONG_LENGTH),
        ("0201000000", Rejection.WRONG_LENGTH),
        ("02010000000700", Rejection.WRONG_LENGTH),
        ("010100000007", Rejection.UNKNOWN_VERSION),
        ("030100000007", Rejection.UNKNOWN_VERSION),
        ("020200000007", Rejection.UNKNOWN_KIND),
        ("02ff00000000", Rejection.UNKNOWN_KIND),
        ("020100000006", Rejection.OUTSIDE_ITS_LANE),
        ("02010000000a", Rejection.OUTSIDE_ITS_LANE),
        ("0201ffffffff", Rejection.OUTSIDE_ITS_LANE),
        ("020000000001", Rejection.PADDING_NOT_ZERO),
        ("020080000000", Rejection.PADDING_NOT_ZERO),
    ],
)
def test_every_fault_has_its_name(plaintext: str, reason: Rejection) -> None:
    """A malformed plaintext of lane 7, 8, 9 is refused for the reason that applies first."""
    with pytest.raises(RejectedMessage) as caught:
        FORM.decode(bytes.fromhex(plaintext))
    assert caught.value.reason is reason


@pytest.mark.parametrize("position", [6, 10, -1, True, 7.0, "7", None])
def test_a_token_of_another_lane_is_not_written(position: object) -> None:
    """It would be refused by the analyst, and tell a mixer nothing: the caller is wrong."""
    with pytest.raises(InvalidInput, match="position: must be a whole number from 7 to 9"):
        FORM.encode(Token(position))  # type: ignore[arg-type]
    assert FORM.encode(Token(np.int64(9))).hex() == "020100000009"  # type: ignore[arg-type]


@pytest.mark.parametrize("payload", [Vector(b"\0"), 7, None])
def test_a_lane_has_tokens_and_nulls(payload: Payload) -> None:
    """Records have no lanes."""
    with pytest.raises(InvalidInput, match="payload: must be Token or Null"):
        FORM.encode(payload)


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
    plan = plan_for_mixers(survey_for(mixers))
    assert {hop: layers_at(plan, hop) for hop in layers} == layers
    assert {hop: length_at(plan, hop) for hop in lengths} == lengths
    for hop in (-1, mixers + 1):
        with pytest.raises(InvalidInput, match="hop: must be from 1 to"):
            length_at(plan, hop)
    assert ANALYST == 0
