"""A layer opens for one hop, plan, round and lane, unchanged; nothing but its length is seen."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.lanes import Lane
from krand.survey.questions import Choice, Question, YesNo
from krand.survey.survey import Survey
from krand.wire.layers import (
    PURPOSE,
    SUITE,
    LaneOpener,
    LayerSealer,
    Opened,
    layer_info,
    length_at,
    open_layers,
)
from krand.wire.messages import (
    ANALYST,
    Null,
    Payload,
    RejectedMessage,
    Rejection,
    Token,
    Vector,
    layers_at,
)
from mixed_plans import Party, party_for, survey_for
from plans import numerators_of, plan_with_noise, with_numerators
from seals import open_layer

CHAINS = {mixers: party_for(survey_for(mixers)) for mixers in (1, 2, 3)}
CHAIN = CHAINS[3]
YES_NO, CHOICE, LIST = CHAIN.plan.lanes
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN


KEY = X25519PrivateKey.generate()
RECORD_PAYLOAD = Vector(b"\xa5\xf0")


def of_devices(*questions: Question, linkage: Linkage = Linkage.BIT) -> Party:
    """A plan without mixers, with one lane."""
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=1_000)
    survey = Survey(id="seals", policy=policy, questions=questions, linkage=linkage)
    plan = plan_with_noise(survey, 2**25).sealed_for(KEY.public_key())
    return Party(plan=plan, analyst=KEY, identities=(), keys={})


def records_of(positions: int) -> Party:
    questions = (YesNo(name=f"q{place}") for place in range(positions))
    return of_devices(*questions, linkage=Linkage.RECORD)


OPTIONS = Choices(tuple(f"option {place}" for place in range(40)))
BITS, RECORD = of_devices(Choice(name="one", choices=OPTIONS)), records_of(12)
HASH = bytes.fromhex(BITS.plan.hash)
INFO = layer_info(ANALYST, HASH, 1, 0)


def sealed_by(party: Party, *payloads: Payload) -> list[bytes]:
    """Messages of a plan's only lane."""
    sealer = LayerSealer(party.plan, 1)
    return [sealer.seal(party.plan.lanes[0], payload) for payload in payloads]


def open_all(party: Party, sealed: Iterable[bytes]) -> Opened:
    return LaneOpener(party.analyst, party.plan, 1).open_all(party.plan.lanes[0], sealed)


def arriving(chain: Party, hop: int, lane: Lane, payload: Payload, round_number: int = 1) -> bytes:
    """A message as it arrives at a hop, when all before it did their work."""
    sealed = LayerSealer(chain.plan, round_number).seal(lane, payload)
    for mixer in layers_at(chain.plan, 1):
        if mixer == hop:
            break
        key = chain.key_of(mixer, round_number)
        sealed = open_layer(key, chain.plan, round_number, mixer, lane.number, sealed)
    return sealed


def refusal(key: X25519PrivateKey, chain: Party, where: tuple[int, int, int], sealed: bytes) -> str:
    """Why a layer does not open at (round, hop, lane)."""
    with pytest.raises(RejectedMessage) as caught:
        open_layer(key, chain.plan, *where, sealed)
    return caught.value.reason


def test_what_is_bound_is_what_the_document_says() -> None:
    """Purpose, version, hop, plan, round, lane: 53 bytes."""
    name = bytes(range(32))
    info = layer_info(3, name, 0x0102, 0x03040506)
    assert info == b"krand message\x01\x03" + name + bytes((1, 2, 3, 4, 5, 6))
    assert layer_info(0, name, 1, 0)[14] == 0


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


@given(st.sampled_from([1, 2, 3]), st.sampled_from([1, 2]), st.integers(0, 2), st.data())
@settings(max_examples=30)
def test_every_message_comes_through_the_chain(
    mixers: int, round_number: int, number: int, data: st.DataObject
) -> None:
    """Every hop finds the length it expects; the analyst finds the payload."""
    chain = CHAINS[mixers]
    lane = chain.plan.lanes[number]
    positions = st.integers(lane.offset, lane.offset + lane.positions - 1)
    payload = data.draw(positions.map(Token) | st.just(Null()))
    sealed = LayerSealer(chain.plan, round_number).seal(lane, payload)
    assert len(sealed) == length_at(chain.plan, 1) == 6 + 48 * mixers
    for hop in range(2, mixers + 1):
        assert len(sealed) == length_at(chain.plan, hop)
        key = chain.key_of(hop, round_number)
        sealed = open_layer(key, chain.plan, round_number, hop, number, sealed)
    assert len(sealed) == length_at(chain.plan, 0) == 6 + 48
    assert LaneOpener(chain.analyst, chain.plan, round_number).open(lane, sealed) == payload


@pytest.mark.parametrize("after", [1, 2, 3])
def test_dummies_have_the_layers_that_messages_still_have(after: int) -> None:
    """They are as long as what leaves the same mixer, and open at the same hops."""
    chain = CHAIN
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


@pytest.mark.parametrize("hop", [2, 3, 0])
def test_a_message_of_elsewhere_is_refused(hop: int) -> None:
    """Another lane, round, plan, hop or key: whoever moved it only spoiled it."""
    chain = CHAIN
    sealed = arriving(chain, hop, CHOICE, Token(2))
    key, here = chain.key_of(hop), (1, hop, CHOICE.number)
    assert open_layer(key, chain.plan, *here, sealed)
    assert refusal(key, chain, (1, hop, YES_NO.number), sealed) is NOT_SEALED
    assert refusal(key, chain, (2, hop, CHOICE.number), sealed) is NOT_SEALED
    assert refusal(X25519PrivateKey.generate(), chain, here, sealed) is NOT_SEALED
    other = replace(chain, plan=replace(chain.plan, overflow=0.5))
    assert other.plan.hash != chain.plan.hash
    assert refusal(key, other, here, sealed) is NOT_SEALED


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


ARRIVING: dict[str, tuple[Party, int, Lane, Payload]] = {
    "mixer 2": (CHAIN, 2, LIST, Token(10)),
    "mixer 3": (CHAIN, 3, LIST, Token(10)),
    "analyst": (CHAIN, 0, LIST, Token(10)),
    "tokens of devices": (BITS, 0, BITS.plan.lanes[0], Token(3)),
    "records of devices": (RECORD, 0, RECORD.plan.lanes[0], RECORD_PAYLOAD),
}
"""A message and the hop at which it arrives."""


@pytest.mark.parametrize("case", ARRIVING)
def test_every_changed_byte_is_refused(case: str) -> None:
    """Every bit of it, also inside of the layers that are still closed."""
    party, hop, lane, payload = ARRIVING[case]
    sealed, where = arriving(party, hop, lane, payload), (1, hop, lane.number)
    assert open_layer(party.key_of(hop), party.plan, *where, sealed)
    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        assert refusal(party.key_of(hop), party, where, bytes(changed)) is NOT_SEALED, bit


@pytest.mark.parametrize("case", ARRIVING)
def test_every_other_length_is_refused(case: str) -> None:
    """Before a key is used: nothing can be cut off or added, at either end."""
    party, hop, lane, payload = ARRIVING[case]
    sealed = arriving(party, hop, lane, payload)
    size = len(sealed)
    fewer = [each for n in range(size) for each in (sealed[:n], sealed[size - n :])]
    extras = (b"\0", bytes(48), sealed)
    more = [each for extra in extras for each in (sealed + extra, extra + sealed)]
    for other in (*fewer, *more):
        where = (1, hop, lane.number)
        assert refusal(party.key_of(hop), party, where, other) is Rejection.WRONG_LENGTH


@pytest.mark.parametrize("party", [BITS, RECORD], ids=["tokens", "records"])
def test_another_plan_opens_nothing(party: Party) -> None:
    """Another survey, noise, promise or linkage: each is another plan."""
    plan, lane = party.plan, party.plan.lanes[0]
    sealed = arriving(party, 0, lane, RECORD_PAYLOAD if lane.records else Token(3))
    for other in (
        replace(plan, survey=replace(plan.survey, id="other")),
        with_numerators(plan, [numerator + 1 for numerator in numerators_of(plan)]),
        replace(plan, promise=replace(plan.promise, crowd=1_001)),
    ):
        where = (1, 0, lane.number)
        assert refusal(party.analyst, replace(party, plan=other), where, sealed) is NOT_SEALED
    unlike = RECORD if party is BITS else BITS
    opened = LaneOpener(KEY, unlike.plan, 1).open_all(unlike.plan.lanes[0], [sealed])
    assert opened.rejected == {Rejection.WRONG_LENGTH: 1}


def test_what_arrives_at_a_mixer_that_the_plan_lacks_has_no_length() -> None:
    """A fourth mixer: the caller's mistake, not the message's."""
    with pytest.raises(InvalidInput, match="hop: must be from") as caught:
        length_at(CHAIN.plan, 4)
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
    """A dishonest person who seals it for one lane is not counted in another."""
    name = bytes.fromhex(CHAIN.plan.hash)
    info = layer_info(0, name, 1, YES_NO.number)
    lie = SUITE.encrypt(bytes.fromhex("010100000002"), CHAIN.analyst.public_key(), info)
    reader = LaneOpener(CHAIN.analyst, CHAIN.plan, 1)
    with pytest.raises(RejectedMessage) as caught:
        reader.open(YES_NO, lie)
    assert caught.value.reason is Rejection.OUTSIDE_ITS_LANE


def test_rows_are_opened_as_single_messages_are() -> None:
    """What opens stays in its order; the mask names the rest, whatever is inside."""
    name = bytes.fromhex(CHAIN.plan.hash)
    good = [LayerSealer(CHAIN.plan, 1).seal(LIST, Token(position)) for position in (4, 5, 6)]
    info = layer_info(2, name, 1, LIST.number)
    garbage = SUITE.encrypt(b"\xff" * 102, CHAIN.key_of(2).public_key(), info)
    elsewhere = LayerSealer(CHAIN.plan, 1).seal(CHOICE, Null())
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


@pytest.mark.check
@given(st.integers(1, 200), st.data())
@settings(max_examples=30)
def test_records_open(positions: int, data: st.DataObject) -> None:
    """Records of any length come back."""
    form = records_of(positions)
    bits = data.draw(st.lists(st.booleans(), min_size=positions, max_size=positions))
    payload = Vector(np.packbits(np.array(bits)).tobytes())
    (sealed,) = sealed_by(form, payload)
    assert len(sealed) == length_at(form.plan, ANALYST)
    assert open_all(form, [sealed]).vectors.tobytes() == payload.packed


def _seal_and_send(pipe: Connection) -> None:
    pipe.send(sealed_by(BITS, Token(3))[0])


def test_forked_processes_do_not_share_their_randomness() -> None:
    """Two children of one process, and the process itself, encapsulate different keys."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    context = multiprocessing.get_context("fork")
    keys = [sealed_by(BITS, Token(3))[0][:32]]  # also warms the generator that children inherit
    for _ in range(3):
        mine, theirs = context.Pipe()
        child = context.Process(target=_seal_and_send, args=(theirs,))
        child.start()
        keys.append(mine.recv()[:32])
        child.join()
    keys.append(sealed_by(BITS, Token(3))[0][:32])
    assert len(set(keys)) == 5


@pytest.mark.parametrize(
    "info",
    [
        pytest.param(None, id="none"),
        pytest.param(b"", id="empty"),
        pytest.param(HASH, id="plan only"),
        pytest.param(INFO.replace(b"message\1", b"message\0"), id="version before"),
        pytest.param(INFO.replace(b"message\1", b"message\2"), id="next version"),
        pytest.param(PURPOSE + HASH + INFO[14:16] + INFO[-6:], id="order"),
        pytest.param(INFO.replace(b"krand message", b"krand another"), id="purpose"),
        pytest.param(INFO + b"\0", id="longer"),
        pytest.param(INFO[:-1], id="shorter"),
    ],
)
def test_another_info_does_not_open(info: bytes | None) -> None:
    """Version and purpose are bound as well as the plan."""
    plaintext = bytes.fromhex("010100000003")
    assert info != INFO
    sealed = [SUITE.encrypt(plaintext, KEY.public_key(), each) for each in (info, INFO)]
    opened = open_all(BITS, sealed)
    assert (opened.rejected, opened.positions.tolist()) == ({NOT_SEALED: 1}, [3])


def test_private_keys_are_not_printed() -> None:
    """An opener in a log shows no key."""
    for party in (CHAIN, BITS):
        shown = repr(LaneOpener(party.analyst, party.plan, 1))
        assert party.analyst.private_bytes_raw().hex() not in shown
        assert "X25519" not in shown
        assert "X25519" not in repr(LayerSealer(party.plan, 1))


def mixture() -> tuple[list[bytes], list[int], Counter[Rejection]]:
    """A thousand messages, the positions in them, and what must be refused."""
    stranger = replace(BITS, plan=BITS.plan.sealed_for(X25519PrivateKey.generate().public_key()))

    def raw(plaintext: str) -> bytes:
        return SUITE.encrypt(bytes.fromhex(plaintext), KEY.public_key(), INFO)

    positions = [7 * i % 40 for i in range(500)]
    messages = sealed_by(BITS, *map(Token, positions))
    messages += sealed_by(BITS, *[Null()] * 290)
    messages += [messages[0][:-1]] * 60 + sealed_by(stranger, *[Token(1)] * 50)
    messages += [raw("020100000000") for _ in range(40)] + [raw("010200000000")] * 30
    messages += [raw("010100000028")] * 20 + [raw("010000000001")] * 10
    refused = zip(Rejection, (60, 50, 40, 30, 20, 10), strict=True)
    return messages, positions, Counter(dict(refused))


def test_a_thousand_messages_are_counted_by_what_became_of_them() -> None:
    """Nothing is raised, nothing is lost: every reason is reached and counted."""
    messages, positions, refused = mixture()
    opened = open_all(BITS, iter(messages))
    assert opened.positions.tolist() == positions
    assert opened.positions.dtype == np.int64
    assert opened.vectors.shape == (0, 4)
    assert opened.nulls == 290
    assert opened.rejected == refused
    assert set(opened.rejected) == set(Rejection)
    assert opened.messages == len(messages) == 1000


def test_messages_in_an_array_are_the_same_messages() -> None:
    """A row of an array is a message; rows of another width are all too long or too short."""
    positions = [3, 39, 0]
    messages = sealed_by(BITS, *map(Token, positions))
    rows = np.array([list(message) for message in messages], np.uint8)
    assert open_all(BITS, rows).positions.tolist() == positions
    backwards = np.asfortranarray(rows)[::-1]
    assert open_all(BITS, backwards).positions.tolist() == positions[::-1]
    assert open_all(BITS, rows[:, 1:]).rejected == {Rejection.WRONG_LENGTH: 3}


def test_records_come_as_rows() -> None:
    """Packed records are stacked, ready for counting."""
    records = [b"\xa5\xf0", b"\0\0", b"\xff\xf0"]
    messages = sealed_by(RECORD, *map(Vector, records))
    opened = open_all(RECORD, [*messages, b""])
    assert [row.tobytes() for row in opened.vectors] == records
    assert (len(opened.positions), opened.nulls, opened.messages) == (0, 0, 4)
    assert opened.rejected == {Rejection.WRONG_LENGTH: 1}


def test_no_messages_are_no_payloads() -> None:
    """Nothing in, nothing out, and the arrays still have their types."""
    opened = open_all(RECORD, [])
    assert opened.messages == 0
    assert opened.vectors.shape == (0, 2)
    assert (opened.positions.dtype, opened.vectors.dtype) == (np.int64, np.uint8)


@pytest.mark.parametrize(
    "sealed",
    [b"one message", ["text"], [5], [None], np.zeros((2, 54)), np.zeros(54, np.uint8)],
)
def test_what_is_no_collection_of_messages_is_said_so(sealed: object) -> None:
    """One message instead of many, text, or an array of another shape is the caller's mistake."""
    with pytest.raises(InvalidInput, match="sealed: must"):
        open_all(BITS, sealed)  # type: ignore[arg-type]
