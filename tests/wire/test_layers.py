"""A layer opens for one hop, plan, round and lane, unchanged; nothing but its length is seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.lanes import Lane
from krand.survey.seals import Seal
from krand.wire.layers import (
    LaneOpener,
    LayerSealer,
    layer_info,
    length_at,
    open_layer,
    open_layers,
    plan_layer_info,
    seal_layers,
)
from krand.wire.messages import Null, Payload, Token, layers_at
from krand.wire.rejections import RejectedMessage, Rejection
from krand.wire.suites import SUITE, OpeningKey, generate_key, hpke_key, suite_of
from mixed_plans import Chain, chain_of, survey_for

CHAINS = {
    (mixers, seal): chain_of(survey_for(mixers, seal=seal)) for mixers in (1, 2, 3) for seal in Seal
}
CHAIN = CHAINS[3, Seal.X25519]
YES_NO, CHOICE, LIST = CHAIN.plan.lanes
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN


def arriving(chain: Chain, hop: int, lane: Lane, payload: Payload, round_number: int = 1) -> bytes:
    """A message as it arrives at a hop, when all before it did their work."""
    sealed = seal_layers(chain.plan, round_number, lane, payload)
    for mixer in layers_at(chain.plan, 1):
        if mixer == hop:
            break
        key = chain.key_of(mixer, round_number)
        sealed = open_layer(key, chain.plan, round_number, mixer, lane.number, sealed)
    return sealed


def refusal(key: OpeningKey, chain: Chain, where: tuple[int, int, int], sealed: bytes) -> str:
    """Why a layer does not open at (round, hop, lane)."""
    with pytest.raises(RejectedMessage) as caught:
        open_layer(key, chain.plan, *where, sealed)
    return caught.value.reason


def test_what_is_bound_is_what_the_document_says() -> None:
    """Purpose, version, hop, plan, round, lane: 53 bytes."""
    name = bytes(range(32))
    info = layer_info(3, name, 0x0102, 0x03040506)
    assert info == b"krand message\x02\x03" + name + bytes((1, 2, 3, 4, 5, 6))
    assert layer_info(0, name, 1, 0)[14] == 0
    hybrid = layer_info(3, name, 0x0102, 0x03040506, Seal.MLKEM768_X25519)
    named = bytes.fromhex("03 647a 0001 0001 03")
    assert hybrid == b"krand message" + named + name + bytes((1, 2, 3, 4, 5, 6))


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((1, bytes(32), 1, 0), "hop"),
        ((256, bytes(32), 1, 0), "hop"),
        ((-1, bytes(32), 1, 0), "hop"),
        ((0, bytes(31), 1, 0), "plan_hash"),
        ((0, bytes(32), 0, 0), "round"),
        ((0, bytes(32), 65_536, 0), "round"),
        ((0, bytes(32), 1, -1), "lane"),
        ((0, bytes(32), 1, 2**32), "lane"),
    ],
)
def test_nothing_else_can_be_bound(values: tuple[int, bytes, int, int], field: str) -> None:
    """The collector has no layer; what does not fit its bytes would not be unambiguous."""
    with pytest.raises(InvalidInput, match=f"{field}: must be"):
        layer_info(*values)


@pytest.mark.parametrize(("seal", "added"), [(Seal.X25519, 48), (Seal.MLKEM768_X25519, 1136)])
@given(st.sampled_from([1, 2, 3]), st.sampled_from([1, 2]), st.integers(0, 2), st.data())
@settings(max_examples=30)
def test_every_message_comes_through_the_chain(
    seal: Seal, added: int, mixers: int, round_number: int, number: int, data: st.DataObject
) -> None:
    """Every hop finds the length it expects; the analyst finds the payload."""
    chain = CHAINS[mixers, seal]
    lane = chain.plan.lanes[number]
    positions = st.integers(lane.offset, lane.offset + lane.positions - 1)
    payload = data.draw(positions.map(Token) | st.just(Null()))
    sealed = LayerSealer(chain.plan, round_number).seal(lane, payload)
    assert len(sealed) == length_at(chain.plan, 1) == 6 + added * mixers
    for hop in range(2, mixers + 1):
        assert len(sealed) == length_at(chain.plan, hop)
        key = chain.key_of(hop, round_number)
        sealed = open_layer(key, chain.plan, round_number, hop, number, sealed)
    assert len(sealed) == length_at(chain.plan, 0) == 6 + added
    assert LaneOpener(chain.analyst, chain.plan, round_number).open(lane, sealed) == payload


@pytest.mark.parametrize("seal", Seal)
@pytest.mark.parametrize("after", [1, 2, 3])
def test_dummies_have_the_layers_that_messages_still_have(after: int, seal: Seal) -> None:
    """They are as long as what leaves the same mixer, and open at the same hops."""
    chain = CHAINS[3, seal]
    sealer = LayerSealer(chain.plan, 2, after=after)
    sealed = sealer.seal(LIST, Token(43))
    following = after + 1 if after < 3 else 0
    assert len(sealed) == sealer.length == length_at(chain.plan, following)
    for hop in layers_at(chain.plan, following)[:-1]:
        sealed = open_layer(chain.key_of(hop, 2), chain.plan, 2, hop, LIST.number, sealed)
    assert LaneOpener(chain.analyst, chain.plan, 2).open(LIST, sealed) == Token(43)


@pytest.mark.parametrize("after", [0, 4])
def test_only_mixers_have_dummies(after: int) -> None:
    """There are three."""
    with pytest.raises(InvalidInput, match="after: must be a mixer, from 1 to 3"):
        LayerSealer(CHAIN.plan, 1, after=after)


@pytest.mark.parametrize("seal", Seal)
@pytest.mark.parametrize("hop", [2, 3, 0])
def test_a_message_of_elsewhere_is_refused(hop: int, seal: Seal) -> None:
    """Another lane, round, plan, hop or key: whoever moved it only spoiled it."""
    chain = CHAINS[3, seal]
    sealed = arriving(chain, hop, CHOICE, Token(2))
    key, here = chain.key_of(hop), (1, hop, CHOICE.number)
    assert open_layer(key, chain.plan, *here, sealed)
    assert refusal(key, chain, (1, hop, YES_NO.number), sealed) is NOT_SEALED
    assert refusal(key, chain, (2, hop, CHOICE.number), sealed) is NOT_SEALED
    assert refusal(generate_key(seal), chain, here, sealed) is NOT_SEALED
    other = replace(chain, plan=replace(chain.plan, overflow=0.5))
    assert other.plan.hash != chain.plan.hash
    assert refusal(key, other, here, sealed) is NOT_SEALED


@pytest.mark.parametrize("place", [0, 500, 1_087, 1_088, 1_119, 1_120, -1])
def test_no_bit_of_a_hybrid_seal_can_be_changed(place: int) -> None:
    """ML-KEM's part of the encapsulated key, X25519's, the content, the tag."""
    chain = CHAINS[3, Seal.MLKEM768_X25519]
    changed = bytearray(arriving(chain, 2, CHOICE, Token(2)))
    changed[place] ^= 1
    assert refusal(chain.key_of(2), chain, (1, 2, CHOICE.number), bytes(changed)) is NOT_SEALED


def test_both_versions_are_read_side_by_side() -> None:
    """Each plan reads its own, and refuses a message of the other inside its own seals."""
    for seal in Seal:
        plan, key = CHAINS[1, seal].plan, CHAINS[1, seal].analyst
        opener, suite = LaneOpener(key, plan, 1), suite_of(seal)
        info, public = plan_layer_info(plan, 0, 1, YES_NO.number), hpke_key(key.public_key())
        for version in (2, 3):
            content = bytes((version, 1, 0, 0, 0, 0))
            sealed = suite.encrypt(content, public, info)
            if version == seal.wire.version:
                assert opener.open(YES_NO, sealed) == Token(0)
            else:
                with pytest.raises(RejectedMessage, match="unknown_version"):
                    opener.open(YES_NO, sealed)


def test_keys_of_another_seal_are_refused() -> None:
    """A plan names which kind, for the analyst and for every mixer."""
    for seal, other in permutations(Seal):
        plan, wrong = CHAINS[2, seal].plan, CHAINS[2, other]
        with pytest.raises(InvalidInput, match=f'analyst_key: must be a key for seal = "{seal}"'):
            plan.sealed_for(wrong.analyst.public_key())
        assert wrong.plan.mixing is not None
        with pytest.raises(InvalidInput, match=f'must have keys for seal = "{seal}"'):
            seal_layers(plan.mixed_by(wrong.plan.mixing.mixers), 1, YES_NO, Null())


@pytest.mark.parametrize(("sealed_for", "opened_as"), [(2, 3), (3, 2), (0, 2), (2, 0), (3, 0)])
def test_a_layer_of_another_hop_is_refused(sealed_for: int, opened_as: int) -> None:
    """Even with the right key and length: the hop is bound."""
    name, key = bytes.fromhex(CHAIN.plan.hash), CHAIN.key_of(opened_as)
    inside = bytes(length_at(CHAIN.plan, opened_as) - 48)
    for hop in (sealed_for, opened_as):
        sealed = SUITE.encrypt(inside, key.public_key(), layer_info(hop, name, 1, 0))
        if hop == opened_as:
            assert open_layer(key, CHAIN.plan, 1, opened_as, 0, sealed) == inside
        else:
            assert refusal(key, CHAIN, (1, opened_as, 0), sealed) is NOT_SEALED


@pytest.mark.parametrize("hop", [2, 3, 0])
def test_every_changed_byte_is_refused(hop: int) -> None:
    """Also inside of the layers that are still closed."""
    sealed = arriving(CHAIN, hop, LIST, Token(10))
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1 + place % 255
        where = (1, hop, LIST.number)
        assert refusal(CHAIN.key_of(hop), CHAIN, where, bytes(changed)) is NOT_SEALED, place


@pytest.mark.parametrize("hop", [2, 3, 0])
def test_every_other_length_is_refused(hop: int) -> None:
    """Before a key is used; a message of another hop has another length."""
    sealed = arriving(CHAIN, hop, LIST, Null())
    for other in (b"", sealed[:-1], sealed[:-48], sealed + b"\0", bytes(48) + sealed):
        where = (1, hop, LIST.number)
        assert refusal(CHAIN.key_of(hop), CHAIN, where, other) is Rejection.WRONG_LENGTH


@pytest.mark.parametrize(
    ("where", "field"), [((3, 2, 0), "round"), ((1, 4, 0), "hop"), ((1, 2, 3), "lane")]
)
def test_what_the_plan_lacks_cannot_be_opened(where: tuple[int, int, int], field: str) -> None:
    """A third round, a fourth mixer, a fourth lane: the caller's mistake, not the message's."""
    with pytest.raises(InvalidInput, match=f"{field}: must be from") as caught:
        open_layer(CHAIN.key_of(2), CHAIN.plan, *where, bytes(150))
    assert not isinstance(caught.value, RejectedMessage)


def test_a_lane_of_another_plan_is_refused() -> None:
    """Its number may be the same, its positions may not."""
    wrong = replace(CHOICE, positions=4)
    beyond = replace(CHOICE, number=3)
    for lane in (wrong, beyond, replace(CHOICE, number=-2)):
        with pytest.raises(InvalidInput, match="lane: must be a lane of the plan"):
            LayerSealer(CHAIN.plan, 1).seal(lane, Null())
        with pytest.raises(InvalidInput, match="lane: must be a lane of the plan"):
            LaneOpener(CHAIN.analyst, CHAIN.plan, 1).open(lane, bytes(54))
    with pytest.raises(InvalidInput, match="round: must be from 1 to 2"):
        LayerSealer(CHAIN.plan, 3)
    with pytest.raises(InvalidInput, match="round: must be from 1 to 2"):
        LaneOpener(CHAIN.analyst, CHAIN.plan, 3)


def test_a_position_of_another_lane_is_refused_by_the_analyst() -> None:
    """A liar who seals it for one lane is not counted in another."""
    name = bytes.fromhex(CHAIN.plan.hash)
    info = layer_info(0, name, 1, YES_NO.number)
    lie = SUITE.encrypt(bytes.fromhex("020100000002"), CHAIN.analyst.public_key(), info)
    reader = LaneOpener(CHAIN.analyst, CHAIN.plan, 1)
    with pytest.raises(RejectedMessage) as caught:
        reader.open(YES_NO, lie)
    assert caught.value.reason is Rejection.OUTSIDE_ITS_LANE


def test_lanes_are_counted_by_what_became_of_their_messages() -> None:
    """Positions in their order, nulls, and every refusal by its reason."""
    chain = CHAINS[1, Seal.X25519]
    sealer = LayerSealer(chain.plan, 1)
    positions = [4, 43, 17, 4]
    messages = [sealer.seal(LIST, Token(position)) for position in positions]
    messages += [sealer.seal(LIST, Null()) for _ in range(3)]
    messages += [sealer.seal(CHOICE, Token(1)), messages[0][1:]]
    opened = LaneOpener(chain.analyst, chain.plan, 1).open_all(LIST, messages)
    assert opened.positions.tolist() == positions
    assert opened.nulls == 3
    assert opened.rejected == {NOT_SEALED: 1, Rejection.WRONG_LENGTH: 1}
    assert opened.messages == len(messages)
    rows = np.frombuffer(b"".join(messages[:7]), np.uint8).reshape(7, 54)
    again = LaneOpener(chain.analyst, chain.plan, 1).open_all(LIST, rows)
    assert (again.positions.tolist(), again.nulls) == (positions, 3)


def test_rows_are_opened_as_single_messages_are() -> None:
    """What opens stays in its order; the mask names the rest, whatever is inside."""
    name = bytes.fromhex(CHAIN.plan.hash)
    good = [seal_layers(CHAIN.plan, 1, LIST, Token(position)) for position in (4, 5, 6)]
    info = layer_info(2, name, 1, LIST.number)
    garbage = SUITE.encrypt(b"\xff" * 102, CHAIN.key_of(2).public_key(), info)
    elsewhere = seal_layers(CHAIN.plan, 1, CHOICE, Null())
    messages = [good[0], elsewhere, good[1], bytes(150), garbage, good[2]]
    rows = np.frombuffer(b"".join(messages), np.uint8).reshape(-1, 150)
    opened, kept = open_layers(CHAIN.key_of(2), info, rows)
    assert kept.tolist() == [True, False, True, False, True, True]
    expected = [
        open_layer(CHAIN.key_of(2), CHAIN.plan, 1, 2, LIST.number, message)
        for message, fine in zip(messages, kept, strict=True)
        if fine
    ]
    assert [row.tobytes() for row in opened] == expected
    backwards, _ = open_layers(CHAIN.key_of(2), info, np.asfortranarray(rows)[::-1])
    assert [row.tobytes() for row in backwards] == expected[::-1]


def test_no_rows_are_no_rows() -> None:
    """An empty lane stays empty, of the length that leaves."""
    info = layer_info(2, bytes(32), 1, 0)
    opened, kept = open_layers(CHAIN.key_of(2), info, np.empty((0, 150), np.uint8))
    assert (opened.shape, opened.dtype) == ((0, 102), np.uint8)
    assert (kept.shape, kept.dtype) == ((0,), np.bool_)


@pytest.mark.parametrize(
    "rows", [np.zeros((2, 150)), np.zeros(150, np.uint8), np.zeros((2, 48), np.uint8)]
)
def test_what_are_no_rows_is_said_so(rows: np.ndarray) -> None:
    """Another type, one message alone, rows too short for a layer."""
    with pytest.raises(InvalidInput, match="rows: must be a 2-D array of uint8"):
        open_layers(CHAIN.key_of(2), b"", rows)


def test_equal_messages_are_sealed_differently() -> None:
    """In every layer: nobody sees that two messages say the same."""
    for hop in (2, 3, 0):
        sealed = [arriving(CHAIN, hop, LIST, Null()) for _ in range(30)]
        for part in (slice(0, 32), slice(32, -16), slice(-16, None)):
            assert len({message[part] for message in sealed}) == len(sealed)


def test_private_keys_are_not_printed() -> None:
    """An opener in a log shows no key."""
    shown = repr(LaneOpener(CHAIN.analyst, CHAIN.plan, 1))
    assert "X25519PrivateKey" not in shown
    assert "X25519" not in repr(LayerSealer(CHAIN.plan, 1))
