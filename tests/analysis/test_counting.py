"""Counting responses: the same as unpacking every bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from krand.analysis import counting
from krand.analysis.counting import (
    count_bits,
    count_joint,
    count_positions,
    count_set_bits,
    count_table,
)
from krand.errors import InvalidInput

Packed = NDArray[np.uint8]
Counts = NDArray[np.int64]

EDGES = [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025]
WIDTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 40, 64, 65, 100, 249, 256, 1001]
TOKENS = ["u1", "i2", "i4", "u4", "i8", "u8", ">i4"]

examples = settings(
    max_examples=60,
    deadline=None,
    # A way stays the same for all examples of a test.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges of parts, chunks and pieces everywhere, even in little work."""
    monkeypatch.setattr(counting, "PART", 33)
    monkeypatch.setattr(counting, "PART_BYTES", 100)
    monkeypatch.setattr(counting, "CHUNK_BYTES", 3000)
    monkeypatch.setattr(counting, "MOST_WIDTH", 13)
    monkeypatch.setattr(counting, "UNPACK_BELOW", 64)
    monkeypatch.setattr(counting, "MOST_PIECE", 64)


def zeros(size: int) -> Counts:
    return np.zeros(size, np.int64)


def records(rows: int, bits: int, seed: int = 1, chance: float = 0.4) -> Packed:
    answers = np.random.default_rng(seed).random((rows, bits)) < chance
    return np.packbits(answers, axis=1)


def unpacked(rows: Packed, bits: int) -> Counts:
    return np.unpackbits(rows, axis=1)[:, :bits].astype(np.int64)


def patterns(rows: Packed, bits: tuple[int, ...]) -> Counts:
    """What `count_joint` should find, from the definition."""
    weights = 1 << np.arange(len(bits))[::-1]
    numbers = unpacked(rows, 8 * rows.shape[1])[:, list(bits)] @ weights
    return np.bincount(numbers, minlength=1 << len(bits))


def complaints(rows: Packed, bits: int) -> list[str]:
    """Which functions count something else than the definition says."""
    ones, few = unpacked(rows, bits), tuple(range(bits))[::-3][:16]
    checks: list[tuple[Callable[..., None], Any, Counts]] = [
        (count_bits, bits, ones.sum(axis=0)),
        (count_set_bits, bits, np.bincount(ones.sum(axis=1), minlength=bits + 1)),
        (count_joint, few, patterns(rows, few)),
    ]
    if bits <= 16:
        checks.append((count_table, bits, patterns(rows, tuple(range(bits)))))
    return [name.__name__ for name, how, truth in checks if not same(name, rows, how, truth)]


def same(count: Callable[..., None], rows: Packed, how: Any, truth: Counts) -> bool:
    before = np.arange(truth.size, dtype=np.int64)
    into = before.copy()
    count(rows, how, into)
    return np.array_equal(into, before + truth)


# --- records -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short")
@examples
@given(st.integers(0, 700), st.integers(1, 130), st.integers(0, 2**32), st.floats(0, 1))
def test_records(rows: int, bits: int, seed: int, chance: float) -> None:
    """Any number of records of any length: all counts are those of the unpacked bits."""
    assert complaints(records(rows, bits, seed, chance), bits) == []


@pytest.mark.check
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("bits", [1, 5, 16, 40, 64, 100, 248, 256, 300])
def test_every_carry(bits: int) -> None:
    """Records of ones alone, where every addition carries: each count is the number of records."""
    for rows in [*EDGES, 2047, 2048, 2049, 5000]:
        assert complaints(records(rows, bits, chance=1), bits) == []


MANY = [
    *(pytest.param(bits, EDGES, marks=pytest.mark.check) for bits in WIDTHS),
    *(pytest.param(bits, [300_001], marks=pytest.mark.check) for bits in (3, 16, 40, 77)),
    (8 * counting.MOST_WIDTH + 13, [20]),
]


@pytest.mark.parametrize(("bits", "numbers"), MANY)
def test_many_and_wide_records(bits: int, numbers: list[int]) -> None:
    """Around every power of two; so many that words of high weight are carried and byte counters
    run over; longer than what is counted together. Pieces and chunks are those of users.
    """
    for rows in numbers:
        packed = records(rows, bits, seed=rows)
        assert complaints(packed, bits) == []
        packed[:] = np.packbits(np.ones(bits, np.uint8))
        into = zeros(bits)
        count_bits(packed, bits, into)
        assert (into == rows).all()


def test_first_bit_is_highest() -> None:
    """The order of a table is that of binary numbers, and of the chosen bits as they are given."""
    rows = np.packbits(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1, 0]], np.uint8), axis=1)
    table, joint = zeros(1024), zeros(8)
    count_table(rows, 10, table)
    count_joint(rows, (9, 8, 1), joint)
    assert np.flatnonzero(table).tolist() == [0b1000000010]
    assert np.flatnonzero(joint).tolist() == [0b010]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("bits", [13, 40])
def test_layouts(bits: int) -> None:
    """Rows with gaps, backwards, by columns, read-only or off the edges of words count alike."""
    rows = records(1000, bits)
    wide = np.full((2000, rows.shape[1] + 3), 255, np.uint8)
    wide[::2, 1:-2] = rows
    raw = b"x" + rows.tobytes()
    for other in (
        wide[::2, 1:-2],
        rows[::-1],
        np.asfortranarray(rows),
        np.frombuffer(raw, np.uint8, offset=1).reshape(rows.shape),
    ):
        assert complaints(other, bits) == []


def test_arrow_memory() -> None:
    """Arrow's read-only buffers are counted where they lie, slices too."""
    rows, tokens = records(100_000, 40), np.arange(100_000, dtype=np.int32) % 40
    memory = [None, pa.py_buffer(rows.tobytes())]
    column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(5), len(rows), memory).slice(3)
    packed = np.frombuffer(column.buffers()[1], np.uint8).reshape(-1, 5)[column.offset :]
    assert not packed.flags.writeable
    assert complaints(packed, 40) == []
    into, found = zeros(40), pa.array(tokens).slice(1).to_numpy(zero_copy_only=True)
    count_positions(found, into)
    assert np.array_equal(into, np.bincount(tokens[1:]))


# --- tokens --------------------------------------------------------------------------------------


def miscounted(tokens: NDArray[Any], positions: int) -> bool:
    before = np.arange(positions, dtype=np.int64)
    into = before.copy()
    count_positions(tokens, into)
    return not np.array_equal(into, before + np.bincount(tokens, minlength=positions))


@pytest.mark.usefixtures("short")
@examples
@given(
    st.integers(0, 700), st.integers(1, 200), st.integers(0, 2**32), st.sampled_from(TOKENS[:-1])
)
def test_tokens(count: int, positions: int, seed: int, kind: str) -> None:
    """Any number of tokens of any type, in any order and sorted: each position's count is right."""
    tokens = np.random.default_rng(seed).integers(0, min(positions, 128), count).astype(kind)
    assert not miscounted(tokens.astype(np.int64), positions)
    into = zeros(positions)
    for part in (tokens, np.sort(tokens), tokens[::-2]):
        into[:] = 0
        count_positions(part, into)
        assert np.array_equal(into, np.bincount(part.astype(np.int64), minlength=positions))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("positions", [1, 2, 40, 63, 64, 65, 100])
def test_many_of_few(kind: str, positions: int) -> None:
    """So many of each that counters of one byte run over, with an odd token at the end."""
    tokens = np.arange(300 * positions + 257, dtype=np.int64) % positions
    into = zeros(positions)
    count_positions(tokens.astype(kind), into)
    assert np.array_equal(into, np.bincount(tokens))


@pytest.mark.parametrize("positions", [1000, 100_000, 3_000_000])
def test_many_positions(positions: int) -> None:
    """Few tokens for many positions and many for few; across the edges of parts."""
    rng = np.random.default_rng(positions)
    for count in (0, 1, positions // 5, counting.PART + 1):
        tokens = rng.integers(0, positions, count, dtype=np.int32)
        assert not miscounted(tokens, positions)
        assert not miscounted(np.sort(tokens), positions)


@pytest.mark.parametrize("positions", [40, 1000])
def test_layouts_of_tokens(positions: int) -> None:
    """Tokens with gaps, backwards, read-only or off the edges of words count alike."""
    tokens = np.arange(20_000, dtype=np.int32) * 7 % positions
    raw = b"x" + tokens.tobytes()
    for other in (
        np.repeat(tokens, 3)[::3],
        tokens[::-1],
        tokens[1:],
        np.frombuffer(raw, np.int32, offset=1),
    ):
        assert not miscounted(other, positions)


def test_runs() -> None:
    """Long runs count the same wherever they begin and end, and when a position comes back."""
    for lengths in ([1], [5000], [4999, 1], [1, 4999], [100] * 70, [300, 1] * 20, [17] * 300):
        positions = np.arange(len(lengths), dtype=np.int32) % 33
        assert not miscounted(np.repeat(positions, lengths), 33)


@pytest.mark.slow
@pytest.mark.parametrize("positions", [1, 40, 64, 65, 1000, 100_000])
@pytest.mark.parametrize("kind", ["i4", "i8"])
def test_tokens_out_of_range(positions: int, kind: str) -> None:
    """One token that is no position, wherever it is, is named, and nothing is counted."""
    limits = np.iinfo(kind)
    for wrong in (-1, positions, 1 << positions.bit_length(), limits.max, limits.min):
        for count in (1, 1001, 2 * positions + 300):
            for place in {0, count // 2, (count - 1) // 2, count - 1}:
                for order in (np.arange(count) * 7 % positions, np.zeros(count)):
                    tokens = order.astype(kind)
                    tokens[place] = wrong
                    into = zeros(positions)
                    with pytest.raises(InvalidInput, match="position from 0 to") as caught:
                        count_positions(tokens, into)
                    assert caught.value.value == wrong
                    assert not into.any()


# --- chunks and refusals -------------------------------------------------------------------------


@examples
@given(st.lists(st.integers(0, 500), max_size=8))
def test_chunks_add_up(cuts: list[int]) -> None:
    """However the responses are divided into chunks, the sums are the same."""
    rows, tokens = records(500, 13), np.arange(500) ** 2 % 40
    parts = [*sorted(cuts), 500]
    table, bits, places = zeros(2**13), zeros(13), zeros(40)
    for start, end in zip([0, *parts[:-1]], parts, strict=True):
        count_table(rows[start:end], 13, table)
        count_bits(rows[start:end], 13, bits)
        count_positions(tokens[start:end], places)
    assert np.array_equal(table, patterns(rows, tuple(range(13))))
    assert np.array_equal(bits, unpacked(rows, 13).sum(axis=0))
    assert np.array_equal(places, np.bincount(tokens, minlength=40))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1, 3, 7, 9, 13, 39, 41])
@pytest.mark.parametrize("rows", [1, 1000, 100_000])
def test_padding(bits: int, rows: int) -> None:
    """A single one behind the last position, in any record, is refused, and nothing is counted."""
    for padding in range(-bits % 8):
        packed, into = records(rows, bits), zeros(bits)
        packed[rows * 2 // 3, -1] |= 1 << padding
        with pytest.raises(InvalidInput, match="zeros behind its last position"):
            count_bits(packed, bits, into)
        assert not into.any()


def test_padding_beyond_the_histogram() -> None:
    """More ones than bits are refused, and never written behind the end."""
    into = zeros(4)
    with pytest.raises(InvalidInput, match="zeros behind its last position"):
        count_set_bits(np.full((1000, 1), 255, np.uint8), 3, into)
    assert not into.any()


def test_wrong_arrays() -> None:
    """Arrays of another type or shape than the bits need are refused by name."""
    good, wide = records(3, 13), np.zeros((3, 2), np.int64)
    frozen = zeros(13)
    frozen.flags.writeable = False
    wrong: list[tuple[str, Callable[[], None]]] = [
        ("rows", lambda: count_bits(good, 17, zeros(17))),
        ("rows", lambda: count_bits(good, 8, zeros(8))),
        ("rows", lambda: count_bits(good[0], 13, zeros(13))),
        ("rows", lambda: count_bits(np.zeros((3, 0), np.uint8), 0, zeros(0))),
        ("rows", lambda: count_set_bits(wide, 13, zeros(14))),  # type: ignore[arg-type]
        ("rows", lambda: count_joint(wide, (1,), zeros(2))),  # type: ignore[arg-type]
        ("into", lambda: count_bits(good, 13, zeros(16))),
        ("into", lambda: count_bits(good, 13, np.zeros(13))),  # type: ignore[arg-type]
        ("into", lambda: count_bits(good, 13, frozen)),
        ("into", lambda: count_set_bits(good, 13, zeros(13))),
        ("into", lambda: count_table(good, 13, zeros(2**12))),
        ("bits", lambda: count_table(records(3, 17), 17, zeros(2**17))),
        ("bits", lambda: count_joint(good, (), zeros(1))),
        ("bits", lambda: count_joint(records(3, 17), tuple(range(17)), zeros(2**17))),
        ("joint", lambda: count_joint(good, (1, 1), zeros(4))),
        ("joint", lambda: count_joint(good, (-1,), zeros(2))),
        ("joint", lambda: count_joint(good, (16,), zeros(2))),
        ("tokens", lambda: count_positions(np.zeros(3), zeros(3))),  # type: ignore[arg-type]
        ("tokens", lambda: count_positions(np.zeros((3, 1), int), zeros(3))),
        ("into", lambda: count_positions(np.zeros(3, int), np.zeros((3, 1), int))),
    ]
    for field, call in wrong:
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field


# --- faults planted on purpose -------------------------------------------------------------------
