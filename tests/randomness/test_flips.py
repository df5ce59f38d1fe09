"""Flips: exact by enumeration, and right in what is drawn, bit by bit and pair by pair."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from numpy.typing import NDArray

from effort import EFFORT
from krand.errors import InvalidInput
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom
from oracle import ALPHA, follows, is_likely
from randomness.test_generator import Replay

GRID = 2**32
NOISES = [round(q * GRID) for q in (0.25, 0.350914, 0.4999, 0.0101, 0.00123, 2.09e-5)]
EDGES = [1, 3, 3 * 2**27, 2**24 + 1, 2**30 - 1, 2**31 - 1]
CHUNK = 2**16
"""Bytes that are flipped together."""
Packed = NDArray[np.uint8]


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


# --- exactness ----------------------------------------------------------------------------------


def masses_of(numerator: int) -> list[int]:
    """Of every pattern, over 2^256: a for each flipped bit and 2^32-a for each other one."""
    sides = GRID - numerator, numerator
    return [
        int(np.prod([sides[pattern >> n & 1] for n in range(8)], dtype=object))
        for pattern in range(256)
    ]


def patterns_of(numerator: int, words: NDArray[np.int64], then: bytes) -> Packed:
    """What these words flip; `then` are the other digits of those that no pattern owns."""
    random = Replay(words.astype(np.uint16).tobytes() + then)
    found = flip_packed(np.zeros(words.size, np.uint8), numerator, random)
    assert random.left == b"", "of the digits that were given some are left"
    return found


def pattern_at(numerator: int, leftover: int, value: int) -> int:
    """The pattern of a leftover word whose 256 digits, from the first such word on, are these."""
    digits = value.to_bytes(32)
    key = int.from_bytes(digits[2:8]) << 16
    word = np.array([leftover + int.from_bytes(digits[:2])])
    random = Replay(word.astype(np.uint16).tobytes() + np.uint64(key).tobytes() + digits[8:])
    (found,) = flip_packed(np.zeros(1, np.uint8), numerator, random).tolist()
    assert len(random.left) in (0, 24), "64 digits are drawn, and the other 192 where those tie"
    return int(found)


@pytest.mark.parametrize("numerator", [*NOISES, *EDGES])
def test_every_pattern_has_exactly_its_chance(numerator: int) -> None:
    """All 65,536 words are counted; of those left over, the whole numbers where patterns change.

    A comparison of digits can only change the pattern at a bound, and once: so a word's last
    number with one pattern and the first with the next one say how many numbers each of them has.
    """
    masses = masses_of(numerator)
    owned = [mass // 2**240 for mass in masses]
    leftover = sum(owned)
    found = patterns_of(numerator, np.arange(leftover), b"")
    assert np.bincount(found, minlength=256).tolist() == owned
    start = 0
    for pattern, end in enumerate(accumulate(mass % 2**240 for mass in masses)):
        if start < end:
            ends = pattern_at(numerator, leftover, start), pattern_at(numerator, leftover, end - 1)
            assert ends == (pattern, pattern), f"{pattern:08b} has not exactly its chance"
        start = end
    assert leftover * 2**240 + start == 2**256


@pytest.mark.parametrize("numerator", [NOISES[1], 2**31 - 1, 3])
def test_leftover_words_choose_by_their_digits(numerator: int) -> None:
    """All at once, wherever their digits lie between two bounds."""
    masses = masses_of(numerator)
    leftover = sum(mass // 2**240 for mass in masses)
    bounds = list(accumulate(mass % 2**240 for mass in masses))
    digits = np.frombuffer(os.urandom(8 * (2**16 - leftover)), np.uint64)
    found = patterns_of(numerator, np.arange(leftover, 2**16), digits.tobytes())
    for place, (pattern, drawn) in enumerate(zip(found.tolist(), digits.tolist(), strict=True)):
        value = place * 2**240 + (drawn >> 16) * 2**192
        assert pattern == sum(bound <= value for bound in bounds), f"word {leftover + place}"


# --- what is drawn ------------------------------------------------------------------------------


def check_rates(flipped: Packed, numerator: int) -> None:
    """All bits together and every column, and pairs of neighbours, along rows and across them."""
    bits = np.unpackbits(flipped, axis=1).astype(bool)
    q = Fraction(numerator, GRID)
    total = int(bits.sum())
    assert is_likely(total, bits.size, q), f"{total} of {bits.size}, not {float(q):.9g} of them"
    for place, column in enumerate(bits.sum(axis=0).tolist()):
        likely = is_likely(column, len(bits), q, ALPHA / bits.shape[1])
        assert likely, f"position {place}: {column} of {len(bits)}, not {float(q):.9g} of them"
    pairs = {
        "even neighbours": (bits[:, 0:-1:2], bits[:, 1::2]),
        "odd neighbours": (bits[:, 1:-1:2], bits[:, 2::2]),
        "bytes": (bits[:, :-8], bits[:, 8:]),
        "rows": (bits[0:-1:2], bits[1::2]),
        "ends of rows": (bits[0:-1:2, -1], bits[1::2, 0]),
    }
    for name, (left, right) in pairs.items():
        both = int((left & right).sum())
        likely = is_likely(both, left.size, q**2)
        assert likely, f"{name}: {both} of {left.size} both flipped, not {float(q * q):.9g}"


@pytest.mark.parametrize("value", [0, 255])
@pytest.mark.parametrize("numerator", NOISES)
def test_every_bit_flips_at_the_rate_apart_from_its_neighbours(
    numerator: int, value: int, random: SecureRandom
) -> None:
    """Five bytes a row; set bits and clear ones."""
    source = np.full((60_000 * EFFORT, 5), value, np.uint8)
    check_rates(flip_packed(source, numerator, random) ^ source, numerator)


@pytest.mark.parametrize("numerator", [NOISES[1], NOISES[3]])
def test_patterns_are_drawn_by_their_law(numerator: int, random: SecureRandom) -> None:
    """All 256 of them, by one chi-square test."""
    drawn = flip_packed(np.zeros(10**6 * EFFORT, np.uint8), numerator, random)
    law = np.array([mass / 2**256 for mass in masses_of(numerator)])
    assert follows(np.bincount(drawn, minlength=256), law)


@pytest.mark.parametrize("numerator", [NOISES[1], NOISES[3]])
def test_no_flip_is_lost_at_the_edges_of_chunks(numerator: int, random: SecureRandom) -> None:
    """Around them all is as elsewhere."""
    source = np.zeros(CHUNK * 3 + 1, np.uint8)
    flipped = np.stack([flip_packed(source, numerator, random) for _ in range(60 * EFFORT)])
    edges = np.concatenate([flipped[:, n * CHUNK - 2 : n * CHUNK + 2] for n in (1, 2)])
    check_rates(edges, numerator)
    check_rates(flipped[:, -2:], numerator)
    sizes = np.bitwise_count(flipped).sum(axis=0)
    halves = [int(half.sum()) for half in np.array_split(sizes, 7)]
    draws = [len(flipped) * 8 * len(half) for half in np.array_split(sizes, 7)]
    for found, many in zip(halves, draws, strict=True):
        assert is_likely(found, many, Fraction(numerator, GRID)), f"{halves} of {draws}"


@pytest.mark.parametrize("numerator", NOISES)
def test_nothing_but_the_stream_decides(numerator: int) -> None:
    stream, source = os.urandom(400_000), np.zeros(60_000, np.uint8)
    first, second = (flip_packed(source, numerator, Replay(stream)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.any()


@pytest.mark.parametrize("numerator", NOISES[1::2])
def test_any_shape_comes_back_as_it_was(numerator: int, random: SecureRandom) -> None:
    """The input stays as it is, rows that are not contiguous keep their places, padding stays 0."""
    for shape in ((0,), (1,), (5,), (0, 5), (2, 3, 4)):
        source = np.full(shape, 0xA5, np.uint8)
        source.setflags(write=False)
        flipped = flip_packed(source, numerator, random)
        assert (flipped.shape, flipped.dtype) == (shape, np.uint8)
        assert (source == 0xA5).all()
    source = np.zeros((4000, 10), np.uint8)
    source[:, ::2] = 255
    assert np.bitwise_count(flip_packed(source[:, ::2], numerator, random)).mean() > 3.9
    for bits, value in itertools.product((1, 7, 8, 9, 13), (0, 1)):
        answers = np.full((20_000, bits), value, np.uint8)
        packed = np.packbits(answers, axis=1)
        found = np.unpackbits(flip_packed(packed, numerator, random, bits=bits), axis=1)
        assert not found[:, bits:].any(), f"{bits} bits"
        counts = (found[:, :bits] ^ value).sum(axis=0, dtype=np.int64)
        for count in counts.tolist():
            likely = is_likely(count, 20_000, numerator / GRID, ALPHA / 100)
            assert likely, f"{bits} bits: {counts}"


@pytest.mark.parametrize("numerator", [0, -1, 2**31, 2**32, 0.25, True, None])
def test_noise_below_0_or_from_one_half_on_is_refused(numerator: int, random: SecureRandom) -> None:
    with pytest.raises(InvalidInput, match="numerator"):
        flip_packed(np.zeros(5, np.uint8), numerator, random)


def test_other_arrays_are_refused(random: SecureRandom) -> None:
    with pytest.raises(InvalidInput, match="uint8"):
        flip_packed(np.zeros(5, np.int64), 2**30, random)  # type: ignore[arg-type]
    for bits in (0, 32, 41):
        with pytest.raises(InvalidInput, match="bits"):
            flip_packed(np.zeros((3, 5), np.uint8), 2**30, random, bits=bits)
