"""What may be counted: of this plan, unchanged, of a crowd that is large enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.engines.responses import BIT, LONG, PEOPLE, SHORT, plan_for, sealed, signed, unsealed
from krand.analysis.engines.source import chunks_of, open_batch, open_responses
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan_check import CrowdTooSmall
from plans import with_rooms

SENT = PEOPLE * BIT.messages
"""The messages of everybody."""


def test_chunks_are_the_whole_file(tmp_path: Path) -> None:
    """Whatever their size, nothing is lost or doubled."""
    case = unsealed(BIT, tmp_path / "r", chunks=7)
    for size in (1_000, 64):
        parts = [c.column(0).to_numpy() for c in chunks_of(case.source.uri, size)]
        assert np.array_equal(np.concatenate(parts), case.content)
        assert all(0 < len(part) <= size for part in parts)


def test_addresses_are_read_too(tmp_path: Path) -> None:
    """A file:// address is the same file."""
    case = unsealed(BIT, tmp_path / "r")
    again = open_responses((tmp_path / "r").as_uri(), BIT)
    assert replace(again, uri=case.source.uri) == case.source


def test_reports_of_another_plan_are_refused(tmp_path: Path) -> None:
    """Both hashes are named."""
    unsealed(BIT, tmp_path / "r")
    with pytest.raises(InvalidInput, match=rf"{SHORT.hash}.*{BIT.hash}"):
        open_responses(str(tmp_path / "r"), SHORT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"people": PEOPLE - 1}, "at least the planned crowd of 152"),
        ({"round": 2}, "round"),
        ({"people": PEOPLE + 1}, "2 records for each of 153 people"),
    ],
)
def test_reports_that_do_not_fit_are_refused(
    change: dict[str, int], message: str, tmp_path: Path
) -> None:
    """Too few people, a round that was not planned, records that are not k for each."""
    header = ResponsesHeader(
        plan=SHORT.hash,
        round=1,
        people=PEOPLE,
        linkage=Linkage.RECORD,
        positions=SHORT.layout.positions,
        run="5e" * 16,
    )
    changed = replace(header, **change)
    with (tmp_path / "r").open("wb") as stream, ResponsesWriter(stream, changed) as writer:
        writer.write(np.zeros((2 * PEOPLE, 2), np.uint8))
    with pytest.raises(InvalidInput, match=message):
        open_responses(str(tmp_path / "r"), SHORT)


def test_a_batch_must_be_the_one_its_manifest_vouches_for(tmp_path: Path) -> None:
    """Another file, a changed byte, another number of messages: refused, each with its reason."""
    sealed(BIT, tmp_path / "b")
    manifest = signed(BIT, tmp_path / "b", SENT)
    assert open_batch(str(tmp_path / "b"), BIT, manifest).people == PEOPLE
    with pytest.raises(InvalidInput, match=f"{SENT - 1:,} messages, as its manifest"):
        open_batch(str(tmp_path / "b"), BIT, replace(manifest, messages=SENT - 1))
    content = bytearray((tmp_path / "b").read_bytes())
    content[100] ^= 1
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(InvalidInput, match="SHA-256 of its manifest"):
        open_batch(str(tmp_path / "b"), BIT, manifest)


def test_a_batch_with_messages_of_larger_submissions_is_refused(tmp_path: Path) -> None:
    """Each person sends as many as the plan says, or somebody could have lied with more."""
    sealed(BIT, tmp_path / "b")
    room, *others = (block.room for block in BIT.blocks)
    fewer = with_rooms(BIT, (room - 1, *others))
    manifest = signed(fewer, tmp_path / "b", SENT)
    said = rf" {room - 1} messages of each of 152 people in lane 0.*{PEOPLE * room:,}"
    with pytest.raises(InvalidInput, match=said):
        open_batch(str(tmp_path / "b"), fewer, manifest)


def test_a_batch_below_the_crowd_is_refused(tmp_path: Path) -> None:
    """However well it is signed."""
    sealed(BIT, tmp_path / "b")
    with pytest.raises(CrowdTooSmall):
        open_batch(str(tmp_path / "b"), BIT, signed(BIT, tmp_path / "b", SENT, PEOPLE - 1))


def test_a_batch_of_another_plan_is_refused(tmp_path: Path) -> None:
    """By the manifest's hash, and by the length of its messages."""
    sealed(BIT, tmp_path / "b")
    manifest = signed(BIT, tmp_path / "b", SENT)
    with pytest.raises(InvalidInput, match=LONG.hash):
        open_batch(str(tmp_path / "b"), LONG, manifest)
    wider = plan_for(Linkage.RECORD, 50)
    with pytest.raises(InvalidInput, match="messages of 57 bytes"):
        open_batch(str(tmp_path / "b"), wider, replace(manifest, plan=wider.hash))


@pytest.mark.parametrize(
    ("content", "message"), [(None, "no such file"), (b"text", "must be a Parquet file")]
)
def test_files_that_do_not_do(content: bytes | None, message: str, tmp_path: Path) -> None:
    """Named, with the reason."""
    if content is not None:
        (tmp_path / "r").write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        open_responses(str(tmp_path / "r"), BIT)
