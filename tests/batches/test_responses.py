"""Reports files: what is written is read, and nothing else passes for one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from krand.batches.responses import ResponsesHeader, ResponsesWriter, header_of, response_batches
from krand.errors import InvalidInput
from krand.promise import Linkage

BIT = ResponsesHeader(
    plan="ab" * 32, round=2, people=1_000, linkage=Linkage.BIT, positions=70_000, run="5e" * 16
)
RECORD = ResponsesHeader(
    plan="cd" * 32,
    round=1,
    people=500,
    linkage=Linkage.RECORD,
    positions=20,
    run="5f" * 16,
)


def write(path: Path, header: ResponsesHeader, *chunks: np.ndarray) -> None:
    with path.open("wb") as stream, ResponsesWriter(stream, header) as writer:
        for chunk in chunks:
            writer.write(chunk)


def test_positions_come_back(tmp_path: Path) -> None:
    """In chunks of any size; a file without any is a file."""
    first, second = np.array([0, 0, 69_999], np.int32), np.array([5], np.int32)
    write(tmp_path / "r", BIT, first, second)
    assert header_of(pq.ParquetFile(tmp_path / "r"), "r") == BIT
    for size in (1, 3, 100):
        found = np.concatenate(list(response_batches(tmp_path / "r", size)))
        assert list(found) == [0, 0, 69_999, 5]
    write(tmp_path / "none", BIT)
    assert not list(response_batches(tmp_path / "none", 10))


def test_records_come_back(tmp_path: Path) -> None:
    """As rows of packed bytes, whatever the chunk they are read in."""
    rows = np.random.default_rng(1).integers(0, 256, (1_000, 3), np.uint8)
    write(tmp_path / "r", RECORD, rows[:300], rows[300:])
    assert header_of(pq.ParquetFile(tmp_path / "r"), "r") == RECORD
    for size in (7, 1_000):
        assert np.array_equal(np.concatenate(list(response_batches(tmp_path / "r", size))), rows)


def test_the_file_says_nothing_else(tmp_path: Path) -> None:
    """The same reports make the same bytes: no time, no name, no machine."""
    write(tmp_path / "a", BIT, np.arange(9, dtype=np.int32))
    write(tmp_path / "b", BIT, np.arange(9, dtype=np.int32))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    metadata = pq.ParquetFile(tmp_path / "a").schema_arrow.metadata
    assert set(metadata) == {b"krand"}
    keys = {"format", "plan", "round", "people", "linkage", "positions"}
    keys |= {"run", "provenance"}
    assert set(json.loads(metadata[b"krand"])) == keys


def other_files() -> dict[str, bytes]:
    """Files that are none of these."""

    def parquet(table: pa.Table) -> bytes:
        stream = io.BytesIO()
        pq.write_table(table, stream)
        return stream.getvalue()

    table = pa.table({"position": pa.array([1], pa.int32())})
    wrong = {"format": "krand-responses-9", "plan": "", "round": 1, "people": 1, "positions": 1}
    mixed = RECORD.schema.metadata
    return {
        "no Parquet": b"PAR1 but not really",
        "empty": b"",
        "no metadata": parquet(table),
        "metadata that is no JSON": parquet(table.replace_schema_metadata({b"krand": b"{"})),
        "metadata of another kind": parquet(table.replace_schema_metadata({b"krand": b"[]"})),
        "another version": parquet(
            table.replace_schema_metadata({b"krand": json.dumps(wrong).encode()})
        ),
        "another column": parquet(table.replace_schema_metadata(mixed)),
    }


@pytest.mark.parametrize("what", other_files())
def test_other_files_are_refused(what: str, tmp_path: Path) -> None:
    """With the name of the format that is wanted."""
    (tmp_path / "r").write_bytes(other_files()[what])
    with pytest.raises(InvalidInput, match="krand-responses-1"):
        next(response_batches(tmp_path / "r", 1))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the system's reason."""
    with pytest.raises(InvalidInput, match="no such file"):
        next(response_batches(tmp_path / "absent", 1))
