"""A seal opens for one key and one plan, unchanged, and hides everything but its length."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Question, YesNo
from krand.survey.survey import Survey
from krand.wire.layers import PURPOSE, LaneOpener, LayerSealer, Opened, layer_info
from krand.wire.messages import ANALYST, Null, Payload, Token, Vector, length_at
from krand.wire.rejections import RejectedMessage, Rejection
from krand.wire.suites import SUITE
from plans import plan_with_noise

KEY = X25519PrivateKey.generate()
RECORD_PAYLOAD = Vector(b"\xa5\xf0")
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN


def sealed_plan(*questions: Question, linkage: Linkage = Linkage.BIT) -> Plan:
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=1_000)
    survey = Survey(id="seals", policy=policy, questions=questions, linkage=linkage)
    return plan_with_noise(survey, 2**25).sealed_for(KEY.public_key())


def records_of(positions: int) -> Plan:
    questions = (YesNo(name=f"q{place}") for place in range(positions))
    return sealed_plan(*questions, linkage=Linkage.RECORD)


OPTIONS = Choices(tuple(f"option {place}" for place in range(40)))
BITS, RECORD = sealed_plan(Choice(name="one", choices=OPTIONS)), records_of(12)
HASH = bytes.fromhex(BITS.hash)
INFO = layer_info(ANALYST, HASH, 1, 0)


@dataclass(frozen=True)
class Sealer:
    """The only lane of a plan."""

    plan: Plan

    def seal(self, payload: Payload) -> bytes:
        return LayerSealer(self.plan, 1).seal(self.plan.lanes[0], payload)


@dataclass(frozen=True)
class Opener:
    plan: Plan
    key: X25519PrivateKey = KEY

    def open(self, sealed: bytes) -> Payload:
        return LaneOpener(self.key, self.plan, 1).open(self.plan.lanes[0], sealed)

    def open_all(self, sealed: Iterable[bytes]) -> Opened:
        return LaneOpener(self.key, self.plan, 1).open_all(self.plan.lanes[0], sealed)


def sealer(plan: Plan = BITS) -> Sealer:
    return Sealer(plan)


def opener(plan: Plan = BITS) -> Opener:
    return Opener(plan)


def refusal(reader: Opener, sealed: bytes) -> Rejection:
    with pytest.raises(RejectedMessage) as caught:
        reader.open(sealed)
    return caught.value.reason


@given(st.one_of(st.integers(0, 39).map(Token), st.just(Null())))
@settings(max_examples=30)
def test_what_is_sealed_opens(payload: Payload) -> None:
    """Tokens and nulls come back, and have one length on the way."""
    sealed = sealer().seal(payload)
    assert len(sealed) == length_at(BITS, ANALYST) == 54
    assert opener().open(sealed) == payload


@given(st.integers(1, 200), st.data())
@settings(max_examples=30)
def test_records_open(positions: int, data: st.DataObject) -> None:
    """Records of any length come back."""
    form = records_of(positions)
    bits = data.draw(st.lists(st.booleans(), min_size=positions, max_size=positions))
    payload = Vector(np.packbits(np.array(bits)).tobytes())
    sealed = sealer(form).seal(payload)
    assert len(sealed) == length_at(form, ANALYST)
    assert opener(form).open(sealed) == payload


def test_length_does_not_depend_on_content() -> None:
    """All positions and nothing at all travel in equally many bytes."""
    lengths = {len(sealer().seal(p)) for p in (Null(), *map(Token, range(40)))}
    assert lengths == {length_at(BITS, ANALYST)}


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
def test_every_single_bit_change_is_refused(form: Plan, payload: Payload) -> None:
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
    assert refusal(Opener(BITS, X25519PrivateKey.generate()), sealed) is NOT_SEALED


def test_another_plan_does_not_open() -> None:
    """A message counts in the plan it was made for."""
    other = replace(BITS, overflow=0.5)
    assert refusal(Opener(other), sealer().seal(Token(3))) is NOT_SEALED


@pytest.mark.parametrize(
    "info",
    [
        None,
        b"",
        HASH,
        INFO.replace(b"message\2", b"message\1"),
        INFO.replace(b"message\2", b"message\3"),
        PURPOSE + HASH + INFO[14:16] + INFO[-6:],
        INFO.replace(b"krand message", b"krand another"),
        INFO + b"\0",
        INFO[:-1],
    ],
    ids=[
        "none",
        "empty",
        "plan only",
        "version before",
        "next version",
        "order",
        "purpose",
        "longer",
        "shorter",
    ],
)
def test_another_info_does_not_open(info: bytes | None) -> None:
    """Version and purpose are bound as well as the plan."""
    plaintext = bytes.fromhex("020100000003")
    assert info != INFO
    assert refusal(opener(), SUITE.encrypt(plaintext, KEY.public_key(), info)) is NOT_SEALED
    assert opener().open(SUITE.encrypt(plaintext, KEY.public_key(), INFO)) == Token(3)


def test_the_private_key_is_not_printed() -> None:
    """An opener in a log shows no key."""
    shown = repr(LaneOpener(KEY, BITS, 1))
    assert KEY.private_bytes_raw().hex() not in shown
    assert "X25519" not in shown


def mixture() -> tuple[list[bytes], list[int], Counter[Rejection]]:
    """A thousand messages, the positions in them, and what must be refused."""
    stranger = Sealer(BITS.sealed_for(X25519PrivateKey.generate().public_key()))

    def raw(plaintext: str) -> bytes:
        return SUITE.encrypt(bytes.fromhex(plaintext), KEY.public_key(), INFO)

    positions = [7 * i % 40 for i in range(500)]
    messages = [sealer().seal(Token(position)) for position in positions]
    messages += [sealer().seal(Null()) for _ in range(290)]
    messages += [messages[0][:-1]] * 60 + [stranger.seal(Token(1)) for _ in range(50)]
    messages += [raw("010100000000") for _ in range(40)] + [raw("020200000000")] * 30
    messages += [raw("020100000028")] * 20 + [raw("020000000001")] * 10
    refused = zip(Rejection, (60, 50, 40, 30, 20, 10), strict=True)
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
    assert set(opened.rejected) == set(Rejection)
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
