"""Flips: exact by construction, and right in what is drawn, bit by bit and pair by pair."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from effort import EFFORT
from krand.errors import InternalError, InvalidInput
from krand.randomness.binomial import binomial_bounds, draw_flips
from krand.randomness.finite_law import ExactTable, exact_table
from krand.randomness.flips import flip_packed, pattern_table
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import flipped_positions, gap_walk
from oracle import ALPHA, follows, is_likely
from randomness.test_generator import Replay

GRID = 2**32
NOISES = [round(q * GRID) for q in (0.25, 0.350914, 0.4999, 0.0101, 0.00123, 2.09e-5)]
"""Of every way to draw: tables of eight flips, the walk from flip to flip, rare flips."""
EDGES = [1, 3, 3 * 2**27, 2**24 + 1, 2**30 - 1, 2**31 - 1]
Packed = NDArray[np.uint8]


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


# --- exactness ----------------------------------------------------------------------------------


def table_chances(table: ExactTable) -> list[Fraction]:
    """What a table really gives: words that an outcome owns, and its piece of the others."""
    masses = table.law()
    owned = np.bincount(table.cells[: table.leftover], minlength=len(masses))
    cell = 1 << (table.bits - 16)
    start, chances = 0, []
    for mass, cells, key in zip(masses, owned, table.keys, strict=True):
        end = start + mass % cell
        assert end >> (table.bits - 64) == key, "a key is not the beginning of its bound"
        chances.append(Fraction(int(cells) * cell + end - start, 1 << table.bits))
        start = end
    assert start == (65536 - table.leftover) * cell, "the pieces do not fill what is left"
    return chances


@pytest.mark.parametrize("numerator", [*NOISES, *EDGES])
def test_the_chance_of_every_pattern_is_exact(numerator: int) -> None:
    """Of every pattern of eight flips, as a fraction: q^w·p^(8-w)."""
    q = Fraction(numerator, GRID)
    for pattern, chance in enumerate(table_chances(pattern_table(numerator))):
        weight = pattern.bit_count()
        exact = q**weight * (1 - q) ** (8 - weight)
        assert chance == exact, f"{pattern:08b} has chance {float(chance)}, not {float(exact)}"


@pytest.mark.parametrize("numerator", [NOISES[3], NOISES[5], 2**24 + 1, 2**31 - 1])
def test_the_chance_of_every_gap_is_exact(numerator: int) -> None:
    """Every gap g has chance q·p^g, and "none within reach" the rest."""
    walk, q, stay = gap_walk(numerator), Fraction(numerator, GRID), Fraction(1)
    *chances, beyond = table_chances(walk.table)
    assert len(chances) == walk.reach
    for gap, chance in enumerate(chances):
        assert chance == q * stay, f"gap {gap}"
        stay *= 1 - q
    assert beyond == stay


@pytest.mark.parametrize("numerator", [NOISES[1], 2**31 - 1, 3])
def test_words_choose_what_the_table_says(numerator: int) -> None:
    """All 65,536 words at once: those that are owned, and the others by their piece."""
    table = pattern_table(numerator)
    late = 65536 - table.leftover
    digits = np.arange(late, dtype=np.uint64) << np.uint64(40)
    random = Replay(np.arange(65536, dtype=np.uint16).tobytes() + digits.tobytes())
    found = table.draw(65536, random)
    assert random.left == b""
    assert np.array_equal(found[: table.leftover], table.cells[: table.leftover])
    bounds = list(accumulate(mass % 2**240 for mass in table.law()))
    for place in range(late):
        value = (place << 240) + (int(digits[place]) >> 16 << 192)
        expected = np.searchsorted(np.array(bounds, dtype=object), value, side="right")
        assert found[table.leftover + place] == expected, f"word {table.leftover + place}"


def test_digits_on_a_bound_are_all_drawn_and_decide() -> None:
    """Where 64 digits equal those of a bound; and masses must add up to the whole."""
    table = pattern_table(NOISES[1])
    bounds = list(accumulate(mass % 2**240 for mass in table.law()))
    for outcome in (0, 1, 100, 254):
        bound = bounds[outcome]
        word = np.array([table.leftover + (bound >> 240)], np.uint16)
        digits = np.array([(bound >> 192 & 2**48 - 1) << 16], np.uint64).tobytes()
        for value, expected in ((bound - 1, outcome), (bound, outcome + 1)):
            random = Replay(digits + (value % 2**192).to_bytes(24))
            assert table.resolve(word, random).tolist() == [expected]
            assert random.left == b""
    with pytest.raises(InternalError):
        exact_table(lambda: [2**255, 2**255 - 1], 256, np.uint8)


@pytest.mark.parametrize("numerator", [1, 2**20 + 1, 2**30, 2**31 - 1])
@pytest.mark.parametrize("precision", [3, 64])
def test_numbers_of_flips_are_enclosed(numerator: int, precision: int) -> None:
    """Both sides of the distribution function, closely; what is settled is right."""
    for bits in (0, 3, 6):
        q, size = Fraction(numerator, GRID), 1 << bits
        masses = (comb(size, k) * q**k * (1 - q) ** (size - k) for k in range(size + 1))
        exact = list(accumulate(masses))
        bounds = binomial_bounds(bits, numerator, precision)
        assert len(bounds.low) == len(bounds.high) <= len(exact)
        for low, high, value in zip(bounds.low, bounds.high, exact, strict=False):
            assert low <= value * 2**precision <= high <= low + 2
        for digits in range(2**precision if precision == 3 else 0):
            flips = bounds.settle(digits)
            if flips is not None:
                assert Fraction(digits + 1, 2**precision) <= exact[flips]
                assert flips == 0 or Fraction(digits, 2**precision) >= exact[flips - 1]


def test_digits_that_do_not_settle_are_continued() -> None:
    """What follows them decides; far out, more is drawn and many flips are found."""
    fine = binomial_bounds(20, 8590, 128)
    for flips in (0, 2, 5):
        for digits, expected in ((fine.low[flips] - 3, flips), (fine.high[flips] + 1, flips + 1)):
            assert binomial_bounds(20, 8590, 64).settle(digits >> 64) is None
            random = Replay(digits.to_bytes(16))
            assert draw_flips(20, 8590, random) == expected
            assert random.left == b""
    assert draw_flips(10, 2**20, Replay(b"\xff" * 8 + b"\x00" * 8)) >= 8


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
def test_no_flip_is_lost_at_the_edges_of_chunks(numerator: int, random: SecureRandom) -> None:
    """Work is done in pieces of 2^18 bytes or of so many flips: around them all is as elsewhere."""
    source = np.zeros(2**18 * 3 + 1, np.uint8)
    flipped = np.stack([flip_packed(source, numerator, random) for _ in range(30 * EFFORT)])
    edges = np.concatenate([flipped[:, n * 2**18 - 2 : n * 2**18 + 2] for n in (1, 2)])
    check_rates(edges, numerator)
    check_rates(flipped[:, -2:], numerator)
    sizes = np.bitwise_count(flipped).sum(axis=0)
    halves = [int(half.sum()) for half in np.array_split(sizes, 7)]
    draws = [len(flipped) * 8 * len(half) for half in np.array_split(sizes, 7)]
    for found, many in zip(halves, draws, strict=True):
        assert is_likely(found, many, Fraction(numerator, GRID)), f"{halves} of {draws}"


@pytest.mark.parametrize("numerator", NOISES)
def test_nothing_but_the_stream_decides(numerator: int) -> None:
    stream, source = os.urandom(300_000), np.zeros(60_000, np.uint8)
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
    with pytest.raises(InvalidInput, match="numerator"):
        flipped_positions(10, numerator, random)


def test_other_arrays_are_refused(random: SecureRandom) -> None:
    with pytest.raises(InvalidInput, match="uint8"):
        flip_packed(np.zeros(5, np.int64), 2**30, random)  # type: ignore[arg-type]
    for bits in (0, 32, 41):
        with pytest.raises(InvalidInput, match="bits"):
            flip_packed(np.zeros((3, 5), np.uint8), 2**30, random, bits=bits)
    assert flipped_positions(0, 1, random).size == 0
    with pytest.raises(InvalidInput, match="count"):
        flipped_positions(-1, 1, random)


# --- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numerator", "count", "draws"),
    [
        (8590, 10**6, 2000),
        (89_768, 10**7, 100),
        (NOISES[3], 10**6, 20),
        (NOISES[3], 700, 5000),
        (NOISES[1], 10**6, 4),
        (NOISES[1], 40, 5000),
        (NOISES[1], 1, 5000),
    ],
)
def test_positions_of_flips(numerator: int, count: int, draws: int, random: SecureRandom) -> None:
    """Sorted, different, in range; at the rate, everywhere alike; gaps have their law."""
    q = numerator / GRID
    drawn = [flipped_positions(count, numerator, random) for _ in range(draws * EFFORT)]
    for found in drawn:
        assert found.dtype == np.int64
        assert (np.diff(found) > 0).all()
        assert found.size == 0 or 0 <= found[0] <= found[-1] < count
    found = np.concatenate(drawn)
    assert is_likely(found.size, count * len(drawn), q), f"{found.size} of {count * len(drawn)}"
    parts = min(count, 50)
    edges = np.arange(parts + 1) * count // parts
    observed, due = np.histogram(found, edges - 0.5)[0], found.size * np.diff(edges) / count
    if count > 1:
        spread = float(((observed - due) ** 2 / due).sum()) / (1 - q)
        assert stats.chi2.sf(spread, parts) > ALPHA, f"{observed}"
    if count * q > 500:  # few gaps are cut off by the end
        gaps, top = np.concatenate([np.diff(each) - 1 for each in drawn]), int(2 / q)
        seen = np.bincount(gaps[gaps < top], minlength=top)
        assert follows(seen, (1 - q) ** np.arange(top)), f"gaps {seen[:10]}"


@pytest.mark.parametrize(("size", "numerator"), [(2**20, 8590), (64, 2**26), (8192, 2**27)])
def test_the_number_of_flips_is_binomial(size: int, numerator: int, random: SecureRandom) -> None:
    drawn = [draw_flips(size.bit_length() - 1, numerator, random) for _ in range(5000 * EFFORT)]
    law = stats.binom(size, numerator / GRID)
    top = int(law.isf(1e-9))
    observed = np.bincount(np.minimum(drawn, top), minlength=top + 1)
    assert follows(observed, law.pmf(np.arange(top + 1))), f"{observed}"


def test_all_sets_of_flips_are_alike(random: SecureRandom) -> None:
    """Of eight positions, by rare flips: given their number, every set is equally likely."""
    numerator, sets = GRID // 33, {n: np.zeros(256, np.int64) for n in (1, 2)}
    for _ in range(20_000):
        found = flipped_positions(8, numerator, random)
        if found.size in sets:
            sets[found.size][int((1 << found).sum())] += 1
    for size, seen in sets.items():
        law = np.array([float(number.bit_count() == size) for number in range(256)])
        assert follows(seen, law), f"{size} flips: {seen[law > 0]}"
