"""The shuffle of any size: every row whole and once, every order alike, no file left."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from krand.randomness import shuffling
from krand.randomness.generator import secure_random
from krand.randomness.shuffling import Rows, shuffled_chunks
from oracle import follows


def rows_of(count: int, width: int) -> Rows:
    """Rows that tell where they were, at both ends."""
    rows = np.zeros((count, width), np.uint8)
    rows[:, :4] = np.arange(count, dtype=np.uint32).view(np.uint8).reshape(-1, 4)
    rows[:, -1] = rows[:, 0]
    return rows


def places(rows: Rows) -> NDArray[np.int64]:
    assert np.array_equal(rows[:, -1], rows[:, 0])
    return np.ascontiguousarray(rows[:, :4]).view(np.uint32).reshape(-1).astype(np.int64)


def shuffled(rows: Rows, chunk: int, directory: Path) -> Rows:
    """Given and taken in chunks, with files in a folder."""
    chunks: Iterator[Rows] = (rows[at : at + chunk] for at in range(0, len(rows), chunk))
    return np.concatenate(list(shuffled_chunks(chunks, rows.shape[1], secure_random(), directory)))


# In memory, by files, and by files of files: patched, for it would take gigabytes otherwise.
SIZES = pytest.mark.parametrize("most_bytes", [2**24, 2**16, 2**10])


@SIZES
@pytest.mark.parametrize("width", [5, 54])
def test_every_row_comes_out_whole_and_once_in_an_order_that_says_nothing(
    most_bytes: int, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No rank correlation between coming and going, and the next row came later half the time."""
    monkeypatch.setattr(shuffling, "MOST_BYTES", most_bytes)
    count = 20_000 if most_bytes > 2**10 else 3000
    rows = rows_of(count, width)
    before = rows.copy()
    rows.flags.writeable = False
    found = places(shuffled(rows, 999, tmp_path))
    assert np.array_equal(np.sort(found), np.arange(count))
    assert np.array_equal(rows, before)
    assert not list(tmp_path.iterdir())
    correlation = float(np.corrcoef(found, np.arange(count))[0, 1])
    assert abs(correlation) * count**0.5 < 5, correlation
    ups = np.count_nonzero(np.diff(found) > 0)
    assert abs(ups - count / 2) < 5 * (count / 12) ** 0.5, ups


@pytest.mark.parametrize("in_files", [False, True])
def test_all_orders_of_few_rows_are_alike(
    in_files: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 24 of four rows, in one chunk and in two."""
    monkeypatch.setattr(shuffling, "PILES", 2)  # 256 files for four rows would take minutes
    real = shuffling.throw
    monkeypatch.setattr(shuffling, "throw", lambda rows, to, piles: real(rows, to & 1, piles))
    if in_files:
        monkeypatch.setattr(shuffling, "MOST_BYTES", 10)
    rows = rows_of(4, 5)
    orders = list(itertools.permutations(range(4)))
    found = Counter(tuple(places(shuffled(rows, 3, tmp_path)).tolist()) for _ in range(1200))
    assert set(found) == set(orders)
    assert follows(np.array([found[order] for order in orders]), np.full(24, 1 / 24)), found


def test_nothing_is_nothing(tmp_path: Path) -> None:
    (none,) = shuffled_chunks(iter(()), 4, secure_random(), tmp_path)
    assert none.shape == (0, 4)
