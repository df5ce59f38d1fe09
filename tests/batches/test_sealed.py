"""Batch files: messages of one length, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from krand.batches.sealed import batch_id_in, fixed_rows, write_batch

ROWS = np.random.default_rng(1).integers(0, 256, (1_000, 54), np.uint8)


def test_messages_come_back_in_the_order_they_were_written(tmp_path: Path) -> None:
    """Whatever the chunks; slices of a column are read right."""
    with (tmp_path / "b").open("wb") as stream:
        assert (
            write_batch(stream, 54, "ab" * 16, iter([ROWS[:1], ROWS[1:700], ROWS[700:]])) == 1_000
        )
    column = pq.read_table(tmp_path / "b").column("message").combine_chunks()
    assert np.array_equal(fixed_rows(column), ROWS)
    assert np.array_equal(fixed_rows(column.slice(5, 9)), ROWS[5:14])


def test_the_file_says_nothing_about_its_making(tmp_path: Path) -> None:
    """The same messages are the same bytes; there are no statistics, and only the id."""
    for name in ("a", "b"):
        with (tmp_path / name).open("wb") as stream:
            write_batch(stream, 54, "ab" * 16, iter([ROWS]))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    file = pq.ParquetFile(tmp_path / "a")
    assert set(file.schema_arrow.metadata) == {b"krand"}
    assert batch_id_in(file.schema_arrow) == "ab" * 16
    assert file.metadata.row_group(0).column(0).statistics is None
