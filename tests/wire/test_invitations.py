"""Invitations: codes as text, and the ids that follow from them."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.randomness.generator import secure_random
from krand.wire.invitations import CODE_BYTES, code_text, invited_id, new_code, read_code

HASH = "ab" * 32
CODE = bytes(range(16))


@given(st.binary(min_size=CODE_BYTES, max_size=CODE_BYTES))
def test_a_code_is_read_as_it_was_written(code: bytes) -> None:
    """22 characters that a link may hold as they are."""
    text = code_text(code)
    assert len(text) == 22
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert read_code(text) == code


def test_codes_differ() -> None:
    """They come from the generator, whole."""
    codes = {new_code(secure_random()) for _ in range(100)}
    assert len(codes) == 100
    assert {len(code) for code in codes} == {CODE_BYTES}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A" * 21,
        "A" * 23,
        "A" * 22 + "==",
        "A" * 21 + "+",
        "A" * 21 + "ä",
        "A" * 21 + "B",  # four bits that mean nothing: a second text for one code
        "#" + "A" * 21,
        "A" * 21 + "\n",
    ],
)
def test_other_texts_are_refused_without_repeating_them(text: str) -> None:
    """The rule and what to copy; the text itself is a secret."""
    with pytest.raises(InvalidInput, match="invitation: must be a code of 22") as caught:
        read_code(text)
    assert "behind # in the link" in caught.value.hint
    assert not text or text not in str(caught.value)


def test_the_id_follows_the_published_rule() -> None:
    """Plan, round and code in this order, each of fixed length."""
    content = b"krand invitation\0" + bytes.fromhex(HASH) + b"\x01\x02" + CODE
    assert invited_id(HASH, 0x0102, CODE) == hashlib.sha256(content).digest()[:16]


def test_rounds_plans_and_codes_have_their_own_ids() -> None:
    """Whoever sees two ids cannot tell whether they come from one code."""
    ids = {
        invited_id(plan, number, code)
        for plan in (HASH, "cd" * 32)
        for number in (1, 2)
        for code in (CODE, bytes(16))
    }
    assert len(ids) == 8


def test_what_has_another_length_is_refused() -> None:
    """Fixed lengths keep two inputs from having the same bytes."""
    for plan, number, code in (
        (HASH[:-2], 1, CODE),
        (HASH, 0, CODE),
        (HASH, 2**16, CODE),
        (HASH, 1, CODE[:-1]),
    ):
        with pytest.raises(InvalidInput):
            invited_id(plan, number, code)
    with pytest.raises(InvalidInput):
        code_text(CODE + b"x")
