"""Batch files: lanes and messages of one length, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from krand.batches import sealed
from krand.batches.sealed import SealedBatch, batch_id_in, fixed_rows, sealed_schema, write_sealed
from krand.errors import InvalidInput

ROWS = np.random.default_rng(1).integers(0, 256, (1_000, 54), np.uint8)
ID = "ab" * 16
LANES = (300, 0, 1, 699)


def chunks(size: int = 1_000) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each lane, in chunks."""
    ends = np.cumsum(LANES)
    for lane, (count, end) in enumerate(zip(LANES, ends, strict=True)):
        for start in range(end - count, end, size):
            yield lane, ROWS[start : min(end, start + size)]


def written(path: Path, size: int = 1_000) -> Path:
    """A batch of four lanes, one of which is empty."""
    with path.open("wb") as stream:
        assert write_sealed(stream, 54, ID, chunks(size)) == 1_000
    return path


@pytest.mark.parametrize("size", [1, 64, 1_000])
def test_messages_come_back_lane_by_lane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Whatever the chunks and the row groups, which may hold several lanes."""
    monkeypatch.setattr(sealed, "MOST_ROWS", 128)
    path = written(tmp_path / "b", size)
    assert pq.ParquetFile(path).num_row_groups == 8
    with SealedBatch(path, length=54, batch_id=ID, lanes=4) as batch:
        assert batch.counts == LANES
        found = [np.concatenate([ROWS[:0], *batch.chunks(lane)]) for lane in range(4)]
    assert [len(rows) for rows in found] == list(LANES)
    assert np.array_equal(np.concatenate(found), ROWS)


def test_slices_of_a_column_are_read_right(tmp_path: Path) -> None:
    """A slice shares its memory with the whole."""
    column = pq.read_table(written(tmp_path / "b")).column("message").combine_chunks()
    assert np.array_equal(fixed_rows(column.slice(5, 9)), ROWS[5:14])


def test_the_file_says_nothing_about_its_making(tmp_path: Path) -> None:
    """The same messages are the same bytes; there are no statistics, and only the id."""
    first, again = written(tmp_path / "a"), written(tmp_path / "b", size=7)
    assert first.read_bytes() == again.read_bytes()
    file = pq.ParquetFile(first)
    assert set(file.schema_arrow.metadata) == {b"krand"}
    assert batch_id_in(file.schema_arrow) == ID
    for column in range(2):
        assert file.metadata.row_group(0).column(column).statistics is None


def test_long_messages_make_small_row_groups(tmp_path: Path) -> None:
    """Memory is bounded by bytes, not only by the number of messages."""
    length = sealed.MOST_BYTES // 2
    with (tmp_path / "b").open("wb") as stream:
        write_sealed(stream, length, ID, [(0, np.zeros((3, length), np.uint8))])
    assert pq.ParquetFile(tmp_path / "b").num_row_groups == 2


@pytest.mark.parametrize("option", [{"compression": "zstd"}, {"use_dictionary": True}])
def test_more_messages_than_the_files_bytes_allow_are_refused_unread(
    tmp_path: Path, option: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file with very many rows keeps nobody busy; a file object is held to the same."""
    rows = pa.array([bytes(54)] * 100_000, pa.binary(54))
    table = pa.table([pa.array(np.zeros(len(rows), np.int32)), rows], schema=sealed_schema(54, ID))
    pq.write_table(table, tmp_path / "b", **option)
    monkeypatch.setattr(SealedBatch, "_batches", None)
    for source in (tmp_path / "b", pa.OSFile(str(tmp_path / "b"))):
        with pytest.raises(InvalidInput, match="at least 54 bytes for each of its 100,000"):
            SealedBatch(source, length=54, batch_id=ID, lanes=1)


@pytest.mark.parametrize(
    ("lanes", "problem"), [([1, 0], "rising"), ([0, 4], "rising"), ([-1, 0], "rising")]
)
def test_other_lanes_are_refused(tmp_path: Path, lanes: list[int], problem: str) -> None:
    """Out of order, above the plan's, or below 0."""
    columns = [pa.array(lanes, pa.int32()), pa.array([b"a", b"b"], pa.binary(1))]
    pq.write_table(pa.table(columns, schema=sealed_schema(1, ID)), tmp_path / "b")
    with pytest.raises(InvalidInput, match=problem):
        SealedBatch(tmp_path / "b", length=1, batch_id=ID, lanes=4)


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"length": 55}, "messages of 55 bytes"), ({"batch_id": "cd" * 16}, "id that was signed, cd")],
)
def test_another_batch_is_refused(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    """Of another length, or with another id."""
    known = {"length": 54, "batch_id": ID, "lanes": 4, **change}
    with pytest.raises(InvalidInput, match=problem):
        SealedBatch(written(tmp_path / "b"), **known)  # type: ignore[arg-type]
