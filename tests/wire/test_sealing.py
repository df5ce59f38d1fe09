"""A seal opens for one key and one plan, unchanged, and hides everything but its length."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.wire.messages import FORMAT_VERSION, MessageFormat, Null, Payload, Token, Vector
from krand.wire.rejections import RejectedMessage, Rejection
from krand.wire.sealing import PURPOSE, SUITE, Opener, Sealer, seal_info

KEY = X25519PrivateKey.generate()
PLAN = bytes(range(32))
BITS = MessageFormat(Linkage.BIT, 40)
RECORD = MessageFormat(Linkage.RECORD, 12)
RECORD_PAYLOAD = Vector(b"\xa5\xf0")
REASONS = [reason for reason in Rejection if reason is not Rejection.OUTSIDE_ITS_LANE]
"""Those of version 1, which has no lanes."""
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN


def sealer(form: MessageFormat = BITS) -> Sealer:
    return Sealer(KEY.public_key(), form, PLAN)


def opener(form: MessageFormat = BITS) -> Opener:
    return Opener(KEY, form, PLAN)


def refusal(reader: Opener, sealed: bytes) -> Rejection:
    with pytest.raises(RejectedMessage) as caught:
        reader.open(sealed)
    return caught.value.reason


@given(st.one_of(st.integers(0, 39).map(Token), st.just(Null())))
@settings(max_examples=30)
def test_what_is_sealed_opens(payload: Payload) -> None:
    """Tokens and nulls come back, and have one length on the way."""
    sealed = sealer().seal(payload)
    assert len(sealed) == BITS.sealed_length == 54
    assert opener().open(sealed) == payload


@given(st.integers(1, 200), st.data())
@settings(max_examples=30)
def test_records_open(positions: int, data: st.DataObject) -> None:
    """Records of any length come back."""
    form = MessageFormat(Linkage.RECORD, positions)
    bits = data.draw(st.lists(st.booleans(), min_size=positions, max_size=positions))
    payload = Vector(np.packbits(np.array(bits)).tobytes())
    sealed = sealer(form).seal(payload)
    assert len(sealed) == form.sealed_length
    assert opener(form).open(sealed) == payload


def test_length_does_not_depend_on_content() -> None:
    """All positions and nothing at all travel in equally many bytes."""
    lengths = {len(sealer().seal(p)) for p in (Null(), *map(Token, range(40)))}
    assert lengths == {BITS.sealed_length}


def test_equal_plaintexts_are_sealed_differently() -> None:
    """Nobody can see that two messages say the same: key, ciphertext and tag are all fresh."""
    sealed = [sealer().seal(Token(3)) for _ in range(300)]
    for part in (slice(0, 32), slice(32, 38), slice(38, 54)):
        assert len({message[part] for message in sealed}) == len(sealed)


def _seal_and_send(pipe: Connection) -> None:
    pipe.send(sealer().seal(Token(3)))


def test_forked_processes_do_not_share_their_randomness() -> None:
    """Two children of one process, and the process itself, encapsulate different keys."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    context = multiprocessing.get_context("fork")
    keys = [sealer().seal(Token(3))[:32]]  # also warms the generator that children inherit
    for _ in range(3):
        mine, theirs = context.Pipe()
        child = context.Process(target=_seal_and_send, args=(theirs,))
        child.start()
        keys.append(mine.recv()[:32])
        child.join()
    keys.append(sealer().seal(Token(3))[:32])
    assert len(set(keys)) == 5


@pytest.mark.parametrize(("form", "payload"), [(BITS, Token(3)), (RECORD, RECORD_PAYLOAD)])
def test_every_single_bit_change_is_refused(form: MessageFormat, payload: Payload) -> None:
    """Encapsulated key, ciphertext and tag: no bit of a message can be changed unnoticed."""
    sealed, reader = sealer(form).seal(payload), opener(form)
    assert reader.open(sealed) == payload
    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        assert refusal(reader, bytes(changed)) is NOT_SEALED, bit


def test_every_other_length_is_refused() -> None:
    """Nothing can be cut off or added, at either end."""
    sealed, reader = sealer().seal(Token(3)), opener()
    for kept in range(len(sealed)):
        assert refusal(reader, sealed[:kept]) is Rejection.WRONG_LENGTH
        assert refusal(reader, sealed[len(sealed) - kept :]) is (Rejection.WRONG_LENGTH)
    for extra in (b"\0", bytes(16), sealed):
        assert refusal(reader, sealed + extra) is Rejection.WRONG_LENGTH
        assert refusal(reader, extra + sealed) is Rejection.WRONG_LENGTH


def test_another_key_does_not_open() -> None:
    """Only the private key that belongs to the public one opens."""
    sealed = sealer().seal(Token(3))
    assert refusal(Opener(X25519PrivateKey.generate(), BITS, PLAN), sealed) is NOT_SEALED


@pytest.mark.parametrize("byte", [0, 15, 31])
def test_another_plan_does_not_open(byte: int) -> None:
    """A message counts in the plan it was made for, even if only one bit of the hash differs."""
    other = bytearray(PLAN)
    other[byte] ^= 1
    sealed = sealer().seal(Token(3))
    assert refusal(Opener(KEY, BITS, bytes(other)), sealed) is NOT_SEALED


@pytest.mark.parametrize(
    "info",
    [
        None,
        b"",
        PLAN,
        PURPOSE + bytes((FORMAT_VERSION + 1,)) + PLAN,
        PURPOSE + bytes((0,)) + PLAN,
        PURPOSE + PLAN + bytes((FORMAT_VERSION,)),
        b"krand another" + bytes((FORMAT_VERSION,)) + PLAN,
    ],
    ids=["none", "empty", "plan only", "next version", "version 0", "order", "purpose"],
)
def test_another_info_does_not_open(info: bytes | None) -> None:
    """Version and purpose are bound as well as the plan."""
    sealed = SUITE.encrypt(BITS.encode(Token(3)), KEY.public_key(), info)
    assert refusal(opener(), sealed) is NOT_SEALED
    good = SUITE.encrypt(BITS.encode(Token(3)), KEY.public_key(), seal_info(PLAN))
    assert opener().open(good) == Token(3)


def test_what_is_bound_is_what_the_document_says() -> None:
    """Purpose, version, plan: 46 bytes."""
    assert seal_info(PLAN) == b"krand message\x01" + PLAN


@pytest.mark.parametrize(
    "make",
    [lambda h: Sealer(KEY.public_key(), BITS, h), lambda h: Opener(KEY, BITS, h)],
    ids=["sealer", "opener"],
)
@pytest.mark.parametrize(
    "plan_hash",
    [b"", PLAN[:-1], PLAN + b"\0", PLAN.hex().encode()],
    ids=["none", "short", "long", "printed"],
)
def test_a_plan_has_a_sha256(make: Callable[[bytes], object], plan_hash: bytes) -> None:
    """A shortened or printed hash is a mistake, found before anything is sealed."""
    with pytest.raises(InvalidInput, match="plan_hash: must be the 32 bytes"):
        make(plan_hash)


def test_the_private_key_is_not_printed() -> None:
    """An opener in a log shows no key."""
    assert "key" not in repr(opener())


def mixture() -> tuple[list[bytes], list[int], Counter[Rejection]]:
    """A thousand messages, the positions in them, and what must be refused."""
    key, info = KEY.public_key(), seal_info(PLAN)
    stranger = Sealer(X25519PrivateKey.generate().public_key(), BITS, PLAN)

    def raw(plaintext: str) -> bytes:
        return SUITE.encrypt(bytes.fromhex(plaintext), key, info)

    positions = [7 * i % 40 for i in range(500)]
    messages = [sealer().seal(Token(position)) for position in positions]
    messages += [sealer().seal(Null()) for _ in range(290)]
    messages += [messages[0][:-1]] * 60 + [stranger.seal(Token(1)) for _ in range(50)]
    messages += [raw("020100000000") for _ in range(40)] + [raw("010200000000")] * 30
    messages += [raw("010100000028")] * 20 + [raw("010000000001")] * 10
    refused = zip(REASONS, (60, 50, 40, 30, 20, 10), strict=True)
    return messages, positions, Counter(dict(refused))


def test_a_thousand_messages_are_counted_by_what_became_of_them() -> None:
    """Nothing is raised, nothing is lost: every reason is reached and counted."""
    messages, positions, refused = mixture()
    opened = opener().open_all(iter(messages))
    assert opened.positions.tolist() == positions
    assert opened.positions.dtype == np.int64
    assert opened.vectors.shape == (0, 4)
    assert opened.nulls == 290
    assert opened.rejected == refused
    assert set(opened.rejected) == set(REASONS)
    assert opened.messages == len(messages) == 1000


def test_messages_in_an_array_are_the_same_messages() -> None:
    """A row of an array is a message; rows of another width are all too long or too short."""
    positions = [3, 39, 0]
    messages = [sealer().seal(Token(position)) for position in positions]
    rows = np.array([list(message) for message in messages], np.uint8)
    assert opener().open_all(rows).positions.tolist() == positions
    backwards = np.asfortranarray(rows)[::-1]
    assert opener().open_all(backwards).positions.tolist() == positions[::-1]
    assert opener().open_all(rows[:, 1:]).rejected == {Rejection.WRONG_LENGTH: 3}


def test_records_come_as_rows() -> None:
    """Packed records are stacked, ready for counting."""
    records = [b"\xa5\xf0", b"\0\0", b"\xff\xf0"]
    messages = [sealer(RECORD).seal(Vector(record)) for record in records]
    opened = opener(RECORD).open_all([*messages, b""])
    assert [row.tobytes() for row in opened.vectors] == records
    assert (len(opened.positions), opened.nulls, opened.messages) == (0, 0, 4)
    assert opened.rejected == {Rejection.WRONG_LENGTH: 1}


def test_no_messages_are_no_payloads() -> None:
    """Nothing in, nothing out, and the arrays still have their types."""
    opened = opener(RECORD).open_all([])
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
        opener().open_all(sealed)  # type: ignore[arg-type]
