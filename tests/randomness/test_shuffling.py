"""The fast shuffle, and one of any size: every row once, every order alike, no file left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from krand.randomness import shuffling
from krand.randomness.generator import secure_random
from krand.randomness.shuffling import Rows, shuffled_chunks

ALPHA = 1e-6


def numbered(count: int, width: int) -> np.ndarray:
    """Rows that tell where they were."""
    rows = np.zeros((count, width), np.uint8)
    rows[:, :4] = np.arange(count, dtype=np.uint32).view(np.uint8).reshape(-1, 4)
    rows[:, -1] = rows[:, 0]
    return rows


def places(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[:, :4]).view(np.uint32).reshape(-1).astype(np.int64)


@pytest.mark.parametrize("width", [5, 16, 54])
@pytest.mark.parametrize("count", [0, 1, 2, 255, 20_000])
def test_every_row_comes_out_whole_and_once(width: int, count: int) -> None:
    """Narrow rows are moved, wide ones sought; the given rows stay as they are."""
    rows = numbered(count, width)
    before = rows.copy()
    rows.flags.writeable = False
    found = secure_random().shuffled(rows)
    assert np.array_equal(np.sort(places(found)), np.arange(count))
    assert np.array_equal(found[:, -1], found[:, 0])
    assert np.array_equal(rows, before)


@pytest.mark.check
@pytest.mark.parametrize("width", [5, 54])
def test_all_orders_of_four_rows_are_alike(width: int) -> None:
    """The 24 orders, by a chi-square test."""
    rows = numbered(4, width)
    orders = Counter(tuple(places(secure_random().shuffled(rows))) for _ in range(4_800))
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > ALPHA


def test_order_says_nothing() -> None:
    """Rank correlation between coming and going is that of chance; so is each row's place."""
    check_order_says_nothing(places(secure_random().shuffled(numbered(100_000, 5))))


def check_order_says_nothing(found: np.ndarray) -> None:
    """Neither by rank, nor by how often the next row came later: mean n/2, variance n/12."""
    assert abs(np.corrcoef(found, np.arange(found.size))[0, 1]) * found.size**0.5 < 5
    ups = np.count_nonzero(np.diff(found) > 0)
    assert abs(ups - found.size / 2) < 5 * (found.size / 12) ** 0.5


def in_chunks(count: int, chunk: int) -> Iterator[Rows]:
    """Rows of four bytes that tell where they were."""
    rows = np.arange(count, dtype=">u4").view(np.uint8).reshape(-1, 4)
    yield from (rows[start : start + chunk] for start in range(0, count, chunk))


def shuffled(count: int, chunk: int, directory: Path) -> np.ndarray:
    parts = list(shuffled_chunks(in_chunks(count, chunk), 4, secure_random(), directory))
    return np.concatenate(parts).view(">u4").reshape(-1).astype(np.int64)


def few_piles(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """So that small shuffles meet in a pile, and deep ones stay quick."""
    real = shuffling.throw
    monkeypatch.setattr(shuffling, "PILES", count)
    monkeypatch.setattr(
        shuffling, "throw", lambda rows, chosen, to: real(rows, chosen & (count - 1), to)
    )


@pytest.mark.parametrize(("most_bytes", "piles"), [(2**24, 256), (2**14, 256), (2**10, 8)])
def test_every_row_comes_out_once(
    most_bytes: int, piles: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory, by piles, and by piles of piles; no file is left."""
    monkeypatch.setattr(shuffling, "MOST_BYTES", most_bytes)
    few_piles(monkeypatch, piles)
    found = shuffled(20_000, 7_000, tmp_path)
    assert np.array_equal(np.sort(found), np.arange(20_000))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("most_bytes", [2**24, 2**14])
def test_the_order_of_chunks_says_nothing(
    most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rank correlation between coming and going is that of chance."""
    monkeypatch.setattr(shuffling, "MOST_BYTES", most_bytes)
    check_order_says_nothing(shuffled(100_000, 9_999, tmp_path))


@pytest.mark.check
@pytest.mark.parametrize("most_bytes", [2**24, 8])
def test_all_orders_of_few_rows_are_alike(
    most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 24 orders of four rows, in memory and by two piles, by a chi-square test."""
    monkeypatch.setattr(shuffling, "MOST_BYTES", most_bytes)
    few_piles(monkeypatch, 2)
    orders = Counter(tuple(shuffled(4, 3, tmp_path)) for _ in range(4_800))
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > ALPHA


def test_nothing_is_nothing(tmp_path: Path) -> None:
    """No rows are no rows, in a chunk of the right width."""
    (none,) = shuffled_chunks(iter(()), 4, secure_random(), tmp_path)
    assert none.shape == (0, 4)
