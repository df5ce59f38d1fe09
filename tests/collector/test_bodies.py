"""Bodies of any kind: a submission of the right form is read, everything else refused by name."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.wire.submissions import (
    HEAD_LENGTH,
    Refusal,
    Refused,
    SubmissionFormat,
    submission_bytes,
)

BODIES = int(os.environ.get("KRAND_MUTATED_BODIES", "20000"))
FORMATS = (SubmissionFormat(1, 24, 2), SubmissionFormat(2, 88, 7), SubmissionFormat(65_535, 61, 1))


def verdict(submission_format: SubmissionFormat, body: bytes) -> Refusal | None:
    """The rules once more, written down independently."""
    if len(body) < 19:
        return Refusal.TOO_SHORT
    if body[:1] != b"\x01":
        return Refusal.UNKNOWN_VERSION
    if body[1] * 256 + body[2] != submission_format.round:
        return Refusal.OTHER_ROUND
    size = 19 + submission_format.messages * submission_format.message_length
    return None if len(body) == size else Refusal.WRONG_LENGTH


def check(submission_format: SubmissionFormat, body: bytes) -> Refusal | None:
    """Read it: accepted whole, or refused for the first reason that applies; nothing else."""
    expected, found, reason = verdict(submission_format, body), None, None
    try:
        found = submission_format.read(body)
    except Refused as refusal:
        reason = refusal.reason
    assert reason is expected
    assert found is None or (found.id, found.messages) == (body[3:19], body[19:])
    return reason


def mutated(submission_format: SubmissionFormat, draw: random.Random) -> bytes:
    """A proper body with a few things done to it, most of them small."""
    times = draw.choice((1, 1, 1, 2, 4))
    content = draw.randbytes(times * submission_format.messages * submission_format.message_length)
    body = bytearray(submission_bytes(submission_format.round, draw.randbytes(16), (content,)))
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        CHANGES[draw.randrange(len(CHANGES))](body, submission_format, draw)
    return bytes(body)


def flip(body: bytearray, _: SubmissionFormat, draw: random.Random) -> None:
    if body:
        body[draw.randrange(min(len(body), draw.choice((3, 19, 10**6))))] ^= 1 << draw.randrange(8)


def cut(body: bytearray, submission_format: SubmissionFormat, draw: random.Random) -> None:
    length = draw.choice((1, submission_format.message_length, draw.randrange(1 + len(body))))
    del body[max(0, len(body) - length) :]


def lengthen(body: bytearray, submission_format: SubmissionFormat, draw: random.Random) -> None:
    body += draw.randbytes(draw.choice((1, submission_format.message_length, draw.randrange(300))))


def put_in(body: bytearray, _: SubmissionFormat, draw: random.Random) -> None:
    at = draw.randrange(1 + len(body))
    body[at:at] = draw.randbytes(draw.randrange(1, 5))


def take_out(body: bytearray, _: SubmissionFormat, draw: random.Random) -> None:
    at = draw.randrange(1 + len(body))
    del body[at : at + draw.randrange(1, 5)]


def repeat(body: bytearray, _: SubmissionFormat, draw: random.Random) -> None:
    body += body[draw.choice((0, 3, HEAD_LENGTH)) :]


def overwrite(body: bytearray, _: SubmissionFormat, draw: random.Random) -> None:
    value = draw.choice((b"", b"\0" * 40, b"\xff" * 40, b"{}", "é".encode() * 20, b"\r\n\r\n"))
    body[: len(value)] = value


CHANGES = (flip, cut, lengthen, put_in, take_out, repeat, overwrite)


@pytest.mark.loop
def test_mutated_bodies_are_read_or_refused_by_name() -> None:
    """No other exception, and the verdict that an independent reading of the rules gives."""
    draw = random.Random(20_240_611)
    verdicts: Counter[Refusal | None] = Counter()
    for number in range(BODIES):
        submission_format = FORMATS[number % len(FORMATS)]
        verdicts[check(submission_format, mutated(submission_format, draw))] += 1
    assert set(verdicts) == {None, *Refusal}
    assert all(count > BODIES / 200 for count in verdicts.values()), verdicts


@given(st.binary(max_size=400), st.sampled_from(FORMATS))
def test_any_bytes_are_read_or_refused_by_name(
    body: bytes, submission_format: SubmissionFormat
) -> None:
    """Also those that never were a submission."""
    check(submission_format, body)


@pytest.mark.parametrize("submission_format", FORMATS)
def test_one_length_is_taken(submission_format: SubmissionFormat) -> None:
    """No other body is, whether it holds twice or four times as many messages or any number."""
    for length in range(HEAD_LENGTH, 5 * submission_format.length):
        body = b"\x01" + submission_format.round.to_bytes(2) + bytes(length - 3)
        assert (check(submission_format, body) is None) == (length == submission_format.length)


def test_a_refusal_repeats_nothing_that_was_sent() -> None:
    """It may be logged: neither id nor messages are in it."""
    submission_format = FORMATS[0]
    body = b"\x01\x00\x01" + b"kanarienvogel!!!" + b"kanarienvogel" * 3
    with pytest.raises(Refused) as refusal:
        submission_format.read(body)
    assert "kanarien" not in f"{refusal.value} {refusal.value!r} {vars(refusal.value)}"
