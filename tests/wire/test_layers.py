"""A layer opens for one hop, plan, round and lane, unchanged; nothing but its length is seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand import InvalidInput, Plan
from krand.wire.keys import public_hex
from krand.wire.layers import (
    SUITE,
    LaneOpener,
    LayerSealer,
    layer_info,
    open_layers,
    plan_layer_info,
)
from krand.wire.messages import (
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
from vectors import CASES, keys_of, plan_of

CASE = CASES["three mixers, third round"]
DEVICES, RECORD = CASES["every kind"], CASES["a record"]
CHAIN, ROUND = plan_of(CASE), CASE["round"]
KEYS = dict(zip((0, 3, 2), keys_of(CASE), strict=True))
LANE = CHAIN.lanes[1]
STRANGER = X25519PrivateKey.generate()


def inside(key: X25519PrivateKey, info: bytes, sealed: bytes) -> bytes | None:
    """What a mixer finds in one message, or None."""
    opened, kept = open_layers(key, info, np.frombuffer(sealed, np.uint8).reshape(1, -1))
    return opened[0].tobytes() if kept[0] else None


def arriving(hop: int, lane: Any, payload: Payload) -> bytes:
    """A message as it arrives at a hop of three mixers, when all before it did their work."""
    sealed = LayerSealer(CHAIN, ROUND).seal(lane, payload)
    for mixer in layers_at(CHAIN, 1):
        if mixer == hop:
            break
        found = inside(KEYS[mixer], plan_layer_info(CHAIN, mixer, ROUND, lane.number), sealed)
        assert found is not None
        sealed = found
    return sealed


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((1, bytes(32), 1, 0), "hop"),
        ((256, bytes(32), 1, 0), "hop"),
        ((0, bytes(31), 1, 0), "plan_hash"),
        ((0, bytes(32), 0, 0), "round"),
        ((0, bytes(32), 65_536, 0), "round"),
        ((0, bytes(32), 1, 2**32), "lane"),
    ],
)
def test_nothing_else_can_be_bound(values: tuple[int, bytes, int, int], field: str) -> None:
    """The collector has no layer; what does not fit its bytes would not be unambiguous."""
    with pytest.raises(InvalidInput, match=f"{field}: must be"):
        layer_info(*values)


@pytest.mark.parametrize(("after", "following"), [(1, 2), (2, 3), (3, 0)])
def test_dummies_have_the_layers_that_messages_still_have(after: int, following: int) -> None:
    """They are as long as what leaves the same mixer, and open at the same hops."""
    sealer = LayerSealer(CHAIN, ROUND, after=after)
    sealed = sealer.seal(LANE, Token(LANE.offset))
    assert len(sealed) == sealer.length == length_at(CHAIN, following)
    for hop in layers_at(CHAIN, following)[:-1]:
        found = inside(KEYS[hop], plan_layer_info(CHAIN, hop, ROUND, LANE.number), sealed)
        assert found is not None
        sealed = found
    assert LaneOpener(KEYS[0], CHAIN, ROUND).open(LANE, sealed) == Token(LANE.offset)
    for nobody in (0, 4):
        with pytest.raises(InvalidInput, match="after: must be a mixer, from 1 to 3"):
            LayerSealer(CHAIN, 1, after=nobody)


def sealed_record() -> bytes:
    plan = plan_of(RECORD)
    return LayerSealer(plan, 1).seal(plan.lanes[0], Vector(b"\xa5\xc0"))


@pytest.mark.parametrize("case", ["mixer 2", "analyst", "record"])
def test_every_changed_byte_is_refused(case: str) -> None:
    """Every bit of it, also inside of the layers that are still closed."""
    if case == "record":
        key, sealed = keys_of(RECORD)[0], sealed_record()
        info = plan_layer_info(plan_of(RECORD), 0, 1, 0)
    else:
        hop = 2 if case == "mixer 2" else 0
        key, sealed = KEYS[hop], arriving(hop, LANE, Token(LANE.offset))
        info = plan_layer_info(CHAIN, hop, ROUND, LANE.number)
    rows = np.tile(np.frombuffer(sealed, np.uint8), (8 * len(sealed) + 1, 1))
    for bit in range(8 * len(sealed)):
        rows[bit, bit // 8] ^= 1 << bit % 8
    _, kept = open_layers(key, info, rows)
    assert np.flatnonzero(kept).tolist() == [len(rows) - 1]


def test_every_other_length_is_refused() -> None:
    """Before a key is used: nothing can be cut off or added, at either end."""
    plan, sealed = plan_of(RECORD), sealed_record()
    fewer = [each for n in range(len(sealed)) for each in (sealed[:n], sealed[n + 1 :])]
    more = [
        each for extra in (b"\0", bytes(48), sealed) for each in (sealed + extra, extra + sealed)
    ]
    opener = LaneOpener(keys_of(RECORD)[0], plan, 1)
    found = opener.open_all(plan.lanes[0], [sealed, *fewer, *more])
    assert found.rejected == {Rejection.WRONG_LENGTH: len(fewer) + len(more)}
    assert [row.tobytes() for row in found.vectors] == [b"\xa5\xc0"]


def test_what_a_plan_lacks_is_the_callers_mistake() -> None:
    """A lane of another plan, a round that was not planned, a fourth mixer, other arrays."""
    wrong = (
        replace(LANE, positions=LANE.positions + 1),
        replace(LANE, number=99),
        replace(LANE, number=-2),
    )
    for lane in wrong:
        with pytest.raises(InvalidInput, match="lane: must be a lane of the plan"):
            LayerSealer(CHAIN, 1).seal(lane, Null())
        with pytest.raises(InvalidInput, match="lane: must be a lane of the plan"):
            LaneOpener(KEYS[0], CHAIN, 1).open(lane, bytes(54))
    for make in (lambda: LayerSealer(CHAIN, 4), lambda: LaneOpener(KEYS[0], CHAIN, 4)):
        with pytest.raises(InvalidInput, match="round: must be from 1 to 3"):
            make()
    with pytest.raises(InvalidInput, match="hop: must be from") as caught:
        length_at(CHAIN, 4)
    assert not isinstance(caught.value, RejectedMessage)
    for rows in (np.zeros((2, 150)), np.zeros(150, np.uint8), np.zeros((2, 48), np.uint8)):
        with pytest.raises(InvalidInput, match="rows: must be a 2-D array of uint8"):
            open_layers(KEYS[2], b"", rows)
    for sealed in (b"one message", ["text"], [None], np.zeros((2, 54)), np.zeros(54, np.uint8)):
        with pytest.raises(InvalidInput, match="sealed: must"):
            LaneOpener(KEYS[0], CHAIN, 1).open_all(CHAIN.lanes[0], sealed)  # type: ignore[arg-type]


def test_rows_keep_their_order_and_no_rows_are_no_rows() -> None:
    """What opens stays in its order, whatever is inside; arrays need not be contiguous."""
    info = plan_layer_info(CHAIN, 2, ROUND, LANE.number)
    garbage = SUITE.encrypt(b"\xff" * 102, KEYS[2].public_key(), info)
    messages = [arriving(2, LANE, Null()), bytes(150), garbage, arriving(2, LANE, Null())]
    rows = np.array([list(each) for each in messages], np.uint8)
    expected = [inside(KEYS[2], info, each) for each in messages]
    opened, kept = open_layers(KEYS[2], info, np.asfortranarray(rows)[::-1])
    assert kept.tolist() == [True, True, False, True]
    assert [row.tobytes() for row in opened] == [each for each in expected[::-1] if each]
    opened, kept = open_layers(KEYS[2], info, np.empty((0, 150), np.uint8))
    assert (opened.shape, opened.dtype, kept.shape) == ((0, 102), np.uint8, (0,))


def test_equal_messages_are_sealed_differently_and_keys_are_not_printed() -> None:
    """In every layer: nobody sees that two messages say the same."""
    for hop in (2, 3, 0):
        sealed = [arriving(hop, LANE, Null()) for _ in range(20)]
        for part in (slice(0, 32), slice(32, -16), slice(-16, None)):
            assert len({message[part] for message in sealed}) == len(sealed)
    shown = repr(LaneOpener(KEYS[0], CHAIN, 1)) + repr(LayerSealer(CHAIN, 1))
    assert "X25519" not in shown
    assert KEYS[0].private_bytes_raw().hex() not in shown


def test_every_message_is_counted_by_what_became_of_it() -> None:
    """Nothing is raised, nothing is lost: every reason is reached and counted."""
    plan: Plan = plan_of(DEVICES)
    lane, key, sealer = plan.lanes[1], keys_of(DEVICES)[0], LayerSealer(plan, 1)
    info = plan_layer_info(plan, 0, 1, lane.number)
    stranger = LayerSealer(
        plan.with_parties(plan.mixers, replace(plan.analyst, key=public_hex(STRANGER))), 1
    )

    def raw(plaintext: str) -> bytes:
        return SUITE.encrypt(bytes.fromhex(plaintext), key.public_key(), info)

    positions = [lane.offset + 2 * i % lane.positions for i in range(50)]
    messages = [sealer.seal(lane, Token(position)) for position in positions]
    messages += [sealer.seal(lane, Null()) for _ in range(29)]
    messages += [messages[0][:-1]] * 6 + [stranger.seal(lane, Token(1)) for _ in range(5)]
    messages += [raw("020100000000")] * 4 + [raw("010200000000")] * 3
    messages += [raw("010100000028")] * 2 + [raw("010000000001")]
    opened = LaneOpener(key, plan, 1).open_all(lane, iter(messages))
    assert opened.positions.tolist() == positions
    assert (opened.nulls, opened.messages) == (29, len(messages))
    expected = Counter(dict(zip(Rejection, (6, 5, 4, 3, 2, 1), strict=True)))
    assert opened.rejected == expected
    rows = np.array([list(each) for each in messages[:3]], np.uint8)
    assert LaneOpener(key, plan, 1).open_all(lane, rows).positions.tolist() == positions[:3]
    nothing = LaneOpener(key, plan, 1).open_all(lane, [])
    assert (nothing.messages, nothing.positions.dtype) == (0, np.int64)
    assert nothing.vectors.shape == (0, MessageFormat(lane).payload_length)
