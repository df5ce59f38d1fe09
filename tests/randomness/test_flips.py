"""Dense flips: exact by construction, and right in a hundred million draws."""

from __future__ import annotations

import multiprocessing
import os
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from flip_checks import (
    GRID,
    Replay,
    agreement_complaints,
    flip_complaints,
    flip_rounds,
    in_wilson,
    law_complaints,
    position_counts,
    process_flips,
    rate_complaints,
    table_chances,
)
from krand.errors import InternalError, InvalidInput
from krand.randomness import flips, sparse
from krand.randomness.finite_law import ExactTable, exact_table
from krand.randomness.flips import flip_packed, pattern_table
from krand.randomness.generator import SecureRandom, secure_random
from krand.randomness.sparse import gap_walk

TABLE = [3 * 2**27, round(0.25 * GRID), round(0.350914 * GRID), 2**31 - 1]
WALK = [round(0.0101 * GRID), round(0.00123 * GRID)]
BLOCKS = [round(2.09e-5 * GRID)]
NUMERATORS = [*TABLE, *WALK, *BLOCKS]
EDGES = [1, 2, 3, 2**16, 2**16 + 1, 2**24 + 1, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 1]


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


# --- exactness ---------------------------------------------------------------------------------


@pytest.mark.parametrize("numerator", [*NUMERATORS, *EDGES])
def test_patterns_are_exact(numerator: int) -> None:
    """Cells and pieces of every pattern of eight flips add up to q^w p^(8-w), as fractions."""
    assert law_complaints(pattern_table(numerator), numerator) == []


def test_patterns_of_random_noise_are_exact(random: SecureRandom) -> None:
    """The same for noise levels nobody chose."""
    for _ in range(50):
        numerator = 1 + random.below(2**31 - 1)
        assert law_complaints(exact_pattern_table(numerator), numerator) == []


def exact_pattern_table(numerator: int) -> ExactTable:
    return pattern_table.__wrapped__(numerator)


@pytest.mark.check
@pytest.mark.parametrize("numerator", [*WALK, *BLOCKS, TABLE[2], 1, 2**24 + 1, 2**31 - 1])
def test_gaps_are_exact(numerator: int) -> None:
    """Every gap g has chance q p^g, and "none within reach" the rest, as fractions."""
    walk, q = gap_walk(numerator), Fraction(numerator, GRID)
    chances = table_chances(walk.table)
    assert len(chances) == walk.reach + 1
    stay = Fraction(1)
    for chance in chances[:-1]:
        assert chance == q * stay
        stay *= 1 - q
    assert chances[-1] == stay


@pytest.mark.parametrize("numerator", [round(0.350914 * GRID), 2**31 - 1, 3])
def test_words_choose_what_the_table_says(numerator: int) -> None:
    """All 65,536 words at once: cells give their outcome, the others the one of their piece."""
    table = pattern_table(numerator)
    words = np.arange(65536, dtype=np.uint16)
    late = 65536 - table.leftover
    digits = np.arange(late, dtype=np.uint64) << np.uint64(40)
    random = Replay(words.tobytes() + digits.tobytes())
    found = table.draw(65536, random)
    assert random.left == b""
    assert np.array_equal(found[: table.leftover], table.cells[: table.leftover])
    bounds = np.cumsum([mass % 2**240 for mass in table.law()], dtype=object)
    for place in range(late):
        value = (place << 240) + (int(digits[place]) >> 16 << 192)
        assert found[table.leftover + place] == np.searchsorted(bounds, value, side="right")


def test_digits_on_a_bound() -> None:
    """Where 64 digits equal those of a bound, all digits are drawn and decide."""
    table = pattern_table(round(0.350914 * GRID))
    bounds = list(np.cumsum([mass % 2**240 for mass in table.law()], dtype=object))
    for outcome in (0, 1, 100, 254):
        bound = bounds[outcome]
        high, key = bound >> 240, bound >> 192
        word = np.array([table.leftover + high], np.uint16)
        digits = np.array([(key & 2**48 - 1) << 16], np.uint64).tobytes()
        for value, expected in ((bound - 1, outcome), (bound, outcome + 1)):
            assert value >> 192 == key
            rest = (value % 2**192).to_bytes(24)
            random = Replay(digits + rest)
            assert table.resolve(word, random).tolist() == [expected]
            assert random.left == b""


def test_law_must_be_whole() -> None:
    """Masses that do not add up to the whole are a bug, and stop the program."""
    with pytest.raises(InternalError):
        exact_table(lambda: [2**255, 2**255 - 1], 256, np.uint8)


# --- a hundred million draws ---------------------------------------------------------------------


def hundred_million(numerator: int, value: int, random: SecureRandom) -> list[str]:
    """10^8 draws at each of the eight positions of a byte."""
    rows, counts = 10**7, np.zeros(8, np.int64)
    for flipped in flip_rounds(partial(flip, numerator, random), value, rows, 1, 10):
        counts += position_counts(flipped)
    return rate_complaints(counts, 10 * rows, numerator)


def flip(numerator: int, random: SecureRandom, packed: np.ndarray) -> np.ndarray:
    return flip_packed(packed, numerator, random)


@pytest.mark.check
@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("numerator", [TABLE[2], WALK[0], BLOCKS[0]])
def test_rate(numerator: int, value: int, random: SecureRandom) -> None:
    """10^8 draws at every position of a byte lie within the Wilson interval at 1e-6."""
    assert hundred_million(numerator, value, random) == []


@pytest.mark.parametrize("numerator", NUMERATORS)
def test_positions_and_neighbours(numerator: int, random: SecureRandom) -> None:
    """Every position of a 40-bit report flips at the rate, neighbours and copies apart."""
    assert flip_complaints(partial(flip, numerator, random), numerator, 200_000, 5) == []


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of 64 bytes, and no other way for little work."""
    monkeypatch.setattr(flips, "TABLE_CHUNK", 64)
    monkeypatch.setattr(flips, "WALK_CHUNK_BITS", 512)
    monkeypatch.setattr(sparse, "LITTLE_BELOW", 0)


@pytest.mark.check
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("numerator", [TABLE[2], WALK[0], BLOCKS[0]])
def test_small_chunks(numerator: int, random: SecureRandom) -> None:
    """No flip is lost or doubled at the edges of chunks: rows are chunks of 64 bytes."""
    assert flip_complaints(partial(flip, numerator, random), numerator, 4_000, 64) == []


@pytest.mark.check
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("numerator", [TABLE[2], WALK[0]])
def test_last_chunk_of_one_byte(numerator: int, random: SecureRandom) -> None:
    """A byte left over behind the last whole chunk flips like the others."""
    source = np.zeros(65, np.uint8)
    rows = np.array([flip_packed(source, numerator, random) for _ in range(4000)])
    assert rate_complaints(position_counts(rows), 4000, numerator) == []


def test_edges_of_real_chunks(random: SecureRandom) -> None:
    """At the true chunk size the first and last bytes of chunks flip at the rate."""
    source = np.zeros((120, flips.TABLE_CHUNK), np.uint8)
    flipped = flip_packed(source, TABLE[2], random)
    counts = np.unpackbits(flipped[:, [0, 1, -2, -1]], axis=1).sum(axis=0, dtype=np.int64)
    assert rate_complaints(counts, len(source), TABLE[2]) == []


@pytest.mark.parametrize("numerator", [TABLE[1], WALK[0]])
def test_copies(numerator: int, random: SecureRandom) -> None:
    """Two randomizations of the same answers agree in their flips as often as chance has it."""
    source = np.zeros(2_000_000, np.uint8)
    left, right = (flip_packed(source, numerator, random) for _ in range(2))
    both = int(np.bitwise_count(left & right).sum())
    assert in_wilson(both, 8 * source.size, Fraction(numerator, GRID) ** 2)


@pytest.mark.parametrize("numerator", NUMERATORS)
def test_only_the_stream_decides(numerator: int) -> None:
    """The same stream gives the same flips: nothing else is random."""
    stream, source = os.urandom(3_000_000), np.zeros(600_000, np.uint8)
    first, second = (flip_packed(source, numerator, Replay(stream)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.any()


# --- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("numerator", NUMERATORS)
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (3, 5), (0, 5), (2, 3, 4)])
def test_shapes(numerator: int, shape: tuple[int, ...], random: SecureRandom) -> None:
    """Any shape comes back as it was, and the input stays as it is."""
    source = np.full(shape, 0xA5, np.uint8)
    source.setflags(write=False)
    flipped = flip_packed(source, numerator, random)
    assert flipped.shape == shape
    assert flipped.dtype == np.uint8
    assert (source == 0xA5).all()


@pytest.mark.parametrize("numerator", [TABLE[2], WALK[0]])
def test_strided_input(numerator: int, random: SecureRandom) -> None:
    """Rows that are not contiguous keep their places."""
    source = np.zeros((4000, 10), np.uint8)
    source[:, ::2] = 255
    kept = flip_packed(source[:, ::2], numerator, random)
    assert np.bitwise_count(kept).mean() > 4


@pytest.mark.parametrize("numerator", [TABLE[2], WALK[0], BLOCKS[0]])
@pytest.mark.parametrize("bits", [1, 7, 8, 9, 13, 40])
def test_padding(numerator: int, bits: int, random: SecureRandom) -> None:
    """Bits behind the last one stay 0; those before it flip at the rate."""
    rows = 60_000
    for value in (0, 1):
        answers = np.full((rows, bits), value, np.uint8)
        flipped = flip_packed(np.packbits(answers, axis=1), numerator, random, bits=bits)
        unpacked = np.unpackbits(flipped, axis=1).astype(np.int64)
        assert not unpacked[:, bits:].any()
        counts = (unpacked[:, :bits] ^ value).sum(axis=0)
        assert rate_complaints(counts, rows, numerator) == []


@pytest.mark.parametrize("numerator", [0, -1, 2**31, 2**32, 0.25, True, None])
def test_noise_out_of_range(numerator: object, random: SecureRandom) -> None:
    """Noise must be a whole numerator of a chance above 0 and below one half."""
    with pytest.raises(InvalidInput, match="numerator"):
        flip_packed(np.zeros(5, np.uint8), numerator, random)  # type: ignore[arg-type]


def test_wrong_arrays(random: SecureRandom) -> None:
    """Arrays of another type, and rows of another length than the bits need, are refused."""
    with pytest.raises(InvalidInput, match="uint8"):
        flip_packed(np.zeros(5, np.int64), 2**30, random)  # type: ignore[arg-type]
    for bits in (0, 32, 41):
        with pytest.raises(InvalidInput, match="bits"):
            flip_packed(np.zeros((3, 5), np.uint8), 2**30, random, bits=bits)


def test_thresholds_are_in_order() -> None:
    """The noise levels of these tests take the ways that they are meant to test."""
    assert max(BLOCKS) < sparse.BLOCKS_BELOW < min(WALK)
    assert max(WALK) < flips.TABLE_FROM <= min(TABLE)


# --- processes -----------------------------------------------------------------------------------

BYTES = 200_000
OF_PROCESSES = [round(0.25 * GRID), round(0.0101 * GRID)]
"""One for the table of eight flips, one for the walk from flip to flip."""


def child_flips(start: str, numerator: int) -> np.ndarray:
    """What a process of its own flips, as the first thing it does."""
    with multiprocessing.get_context(start).Pool(1) as pool:
        return pool.apply(process_flips, (numerator, BYTES))


@pytest.mark.check
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_flip_independently(start: str) -> None:
    """A parent before and after, and two children: every pair agrees as often as chance has it."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    secure_random().bytes(8)  # children of a fork inherit a generator that is in use
    for numerator in OF_PROCESSES if start == "fork" else OF_PROCESSES[:1]:
        flipped = [process_flips(numerator, BYTES)]
        flipped += [child_flips(start, numerator) for _ in range(2)]
        flipped.append(process_flips(numerator, BYTES))
        assert agreement_complaints(flipped, numerator) == []
        counts = np.array([np.bitwise_count(one).sum(dtype=np.int64) for one in flipped])
        assert rate_complaints(counts, 8 * BYTES, numerator) == []


def test_shared_flips_would_be_noticed() -> None:
    """Two processes that share one flip in a hundred are told apart from independent ones."""
    first, second = (process_flips(OF_PROCESSES[0], BYTES) for _ in range(2))
    second[::100] = first[::100]
    assert agreement_complaints([first, second], OF_PROCESSES[0]) != []
