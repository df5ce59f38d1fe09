"""Files of messages and of responses: what is written is read, and nothing else passes for one."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives import serialization

import krand
import steps
import world
from forge import canonical

MANIFEST = b"krand manifest\0"


@pytest.fixture
def study(tmp_path: Path) -> steps.Study:
    return steps.example("tiny", tmp_path / "study")


def batch_of(study: steps.Study) -> Path:
    (path,) = study.at.glob("batches-1/*.parquet")
    return path


def counted(study: steps.Study, content: bytes) -> krand.Tally:
    """Somebody who has the collector's key signs these bytes; they are counted."""
    batch = batch_of(study)
    batch.write_bytes(content)
    path = batch.with_suffix(".manifest.json")
    values = json.loads(path.read_bytes()) | {"batch_sha256": hashlib.sha256(content).hexdigest()}
    del values["signature"]
    pem = (study.at / steps.SIGNER).read_bytes()
    key = serialization.load_pem_private_key(pem, None)
    values["signature"] = key.sign(MANIFEST + canonical(values)).hex()  # type: ignore[union-attr,call-arg]
    path.write_bytes(canonical(values))
    collector = krand.read_verifying_key(study.at / "collector.pub.pem")
    return krand.tally_batches(study.plan, [batch], study.key, collector)


def table_bytes(table: pa.Table, **options: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def relaned(table: pa.Table, change: Callable[[np.ndarray], np.ndarray]) -> pa.Table:
    lanes = change(table.column("lane").to_numpy().copy())
    column = pa.array(lanes, pa.int32())
    return pa.table([column, table.column("message")], schema=table.schema)


def many(table: pa.Table) -> bytes:
    """Very many rows in a few bytes, which would keep a reader busy."""
    width = table.schema.field("message").type
    column = pa.array([bytes(width.byte_width)] * 200_000, width)
    lanes = pa.array(np.zeros(200_000, np.int32))
    whole = pa.table([lanes, column], schema=table.schema)
    return table_bytes(whole, compression="zstd")


WRONG: dict[str, Callable[[pa.Table], bytes]] = {
    "nothing": lambda _: b"",
    "random bytes": lambda _: os.urandom(20_000),
    "half of a file": lambda table: table_bytes(table)[:-2_000],
    "lanes that fall": lambda table: table_bytes(relaned(table, lambda lanes: lanes[::-1])),
    "a lane below 0": lambda table: table_bytes(relaned(table, lambda lanes: lanes - 1)),
    "a lane too many": lambda table: table_bytes(relaned(table, lambda lanes: lanes + 1)),
    "one column": lambda table: table_bytes(table.drop_columns(["lane"])),
    "no metadata": lambda table: table_bytes(table.replace_schema_metadata({})),
    "many rows in few bytes": many,
    "one message less": lambda table: table_bytes(table.slice(1)),
    "one message more": lambda table: table_bytes(pa.concat_tables([table.slice(0, 1), table])),
}


@pytest.mark.parametrize("what", WRONG)
def test_another_file_is_refused_whoever_signed_it(study: steps.Study, what: str) -> None:
    """By its name, before anything is counted."""
    table = pq.read_table(batch_of(study))
    with pytest.raises(krand.InvalidInput) as caught:
        counted(study, WRONG[what](table))
    assert caught.value.field.partition(".")[0] in ("batch", "manifest", "messages", "tally")


def test_messages_that_do_not_open_are_counted_as_refused(study: steps.Study) -> None:
    """A damaged one, and one that was filed under another lane; nobody else's are lost."""
    table = pq.read_table(batch_of(study))
    before = counted(study, table_bytes(table, compression="none"))
    assert (before.people, before.rejected) == (14, {})
    messages = table.column("message").to_pylist()
    lanes = table.column("lane").to_pylist()
    damaged = bytes((messages[0][0] ^ 1,)) + messages[0][1:]
    other = lanes.index(1)
    moved = [damaged, messages[other], *messages[2:other], messages[1], *messages[other + 1 :]]
    column = pa.array(moved, table.schema.field("message").type)
    after = counted(study, table_bytes(pa.table([table.column("lane"), column], table.schema)))
    assert sum(after.rejected.values()) == 3, after.rejected
    assert abs(int(after.counts.sum()) - int(before.counts.sum())) <= 3


def test_a_batch_says_nothing_but_its_messages(study: steps.Study) -> None:
    """Lanes and messages, and an id; no statistics, no name of a program with its version."""
    file = pq.ParquetFile(batch_of(study))
    assert file.schema_arrow.names == ["lane", "message"]
    assert {*json.loads(file.schema_arrow.metadata[b"krand"])} == {"format", "id"}
    assert {*(file.metadata.metadata or {})} <= {b"ARROW:schema", b"krand"}
    for column in range(2):
        assert file.metadata.row_group(0).column(column).statistics is None


RESPONSES: dict[str, Callable[[pa.Table], bytes]] = {
    "no Parquet": lambda _: b"PAR1 but not really",
    "empty": lambda _: b"",
    "no metadata": lambda table: table_bytes(table.replace_schema_metadata({})),
    "no JSON": lambda table: table_bytes(table.replace_schema_metadata({b"krand": b"{"})),
    "another column": lambda table: table_bytes(table.rename_columns(["other"])),
    "half of a file": lambda table: table_bytes(table)[:-500],
}


@pytest.mark.parametrize("what", RESPONSES)
@pytest.mark.parametrize("name", ["tiny", "copies"])
def test_other_files_are_no_responses(tmp_path: Path, what: str, name: str) -> None:
    """Positions or whole records: the error names the file."""
    path = tmp_path / "responses.parquet"
    path.write_bytes(RESPONSES[what](pq.read_table(world.responses(name))))
    with pytest.raises(krand.InvalidInput, match="responses"):
        krand.tally_responses(world.plan(name), [path])


@pytest.mark.parametrize("name", ["tiny", "copies"])
def test_responses_say_nothing_else(name: str) -> None:
    """No time, no name, no machine; and positions are sorted, so that only counts are left."""
    table = pq.read_table(world.responses(name))
    keys = {"format", "plan", "round", "people", "linkage", "positions", "run", "provenance"}
    assert {*json.loads(table.schema.metadata[b"krand"])} == keys
    assert len(table.column_names) == 1
    if name == "tiny":
        positions = table.column(0).to_numpy()
        assert (np.diff(positions) >= 0).all()
