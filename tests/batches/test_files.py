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

import krand
import steps
import world
from forge import canonical


@pytest.fixture
def study(tmp_path: Path) -> steps.Study:
    return steps.example("tiny", tmp_path / "study")


def counted(study: steps.Study, content: bytes) -> krand.Tally:
    """The collector signs these bytes; they are counted."""
    batch = study.batch()
    batch.write_bytes(content)
    path = batch.with_suffix(".chain.json")
    (link,) = json.loads(path.read_bytes())["links"]
    link["output"] = hashlib.sha256(content).hexdigest()
    del link["signature"]
    link["signature"] = study.identity(1).sign(b"krand link\0" + canonical(link)).hex()
    path.write_bytes(canonical({"format": "krand-chain-1", "links": [link]}))
    return krand.tally_batches(study.plan, [batch], study.key)


LENGTH = 6 + 48
"""Of a message for the analyst: its content and the seal."""
WRONG: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "half of a file": lambda content: content[: len(content) // 2],
    "one byte more": lambda content: content + b"\0",
    "one message less": lambda content: content[LENGTH:],
    "one message more": lambda content: content[:LENGTH] + content,
    "nothing that opens": lambda content: os.urandom(len(content)),
}


@pytest.mark.parametrize("what", WRONG)
def test_another_file_is_refused_whoever_signed_it(study: steps.Study, what: str) -> None:
    """By its size, before anything is counted; or because nothing in it opens."""
    with pytest.raises(krand.InvalidInput) as caught:
        counted(study, WRONG[what](study.batch().read_bytes()))
    assert caught.value.field in ("batch", "private key")


def test_messages_that_do_not_open_are_counted_as_refused(study: steps.Study) -> None:
    """A damaged one, and one that was filed under another lane; nobody else's are lost."""
    content = study.batch().read_bytes()
    before = counted(study, content)
    assert (before.people, before.rejected) == (14, {})
    messages = [content[at : at + LENGTH] for at in range(0, len(content), LENGTH)]
    other = 14 * study.plan.lanes[0].messages
    messages[1], messages[other] = messages[other], messages[1]
    messages[0] = bytes((messages[0][0] ^ 1,)) + messages[0][1:]
    after = counted(study, b"".join(messages))
    assert sum(after.rejected.values()) == 3, after.rejected
    assert abs(int(after.counts.sum()) - int(before.counts.sum())) <= 3


def test_copies_count_once_in_their_lane(study: steps.Study) -> None:
    """The first of them, however many there are; in another lane a copy does not open."""
    content = study.batch().read_bytes()
    before = counted(study, content)
    copied = counted(study, content[:LENGTH] * 3 + content[3 * LENGTH :])
    assert copied.rejected == {"repeated": 2}
    moved = counted(study, content[:-LENGTH] + content[:LENGTH])
    assert moved.rejected == {"not_sealed_for_this_key_or_plan": 1}
    for tally in (before, copied, moved):
        told = int(tally.counts.sum()) + tally.nulls + sum(tally.rejected.values())
        assert told == 14 * study.plan.messages, f"{told} messages are told of, some of them twice"


def test_a_batch_says_nothing_but_its_messages(study: steps.Study) -> None:
    """No byte beside them."""
    messages = 14 * study.plan.messages
    assert study.batch().stat().st_size == messages * LENGTH
    assert [lane.number for lane in study.plan.lanes] == [*range(len(study.plan.lanes))]


def table_bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


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
