"""Where responses come from: a file of a data holder, or a batch that people sent.

Nothing is counted before it is known that the responses are of this plan, unchanged, and of a crowd
that is large enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import fs

from krand.analysis.shapes import tally_shape
from krand.analysis.signed_batches import lost_in
from krand.batches.batch import chain_beside, records_in, sha256_of_file
from krand.batches.chain import chain_bytes, complete_chain, read_chain
from krand.batches.provenance import Provenance
from krand.batches.responses import header_of
from krand.errors import InvalidInput
from krand.files import unreadable
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd, check_round
from krand.wire.messages import ANALYST, length_at

PIECE = 2**22
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Batch:
    """Where the messages of a batch lie: plain data, which can travel to another process."""

    path: Path
    counts: tuple[int, ...]
    """Of each lane."""
    length: int

    @property
    def records(self) -> NDArray[np.uint8]:
        """All messages, one in each row, as a map of the file."""
        return records_in(self.path, self.counts, self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Responses that may be counted."""

    uri: str
    round: int
    people: int
    rows: int
    sha256: str
    """Of the whole file: the name of the batch."""
    provenance: Provenance
    run: str = ""
    """The random id of the run that randomized, where a data holder did."""
    batch: Batch | None = None
    """Sealed messages, where people sent them."""
    chain: str = ""
    """What all mixers signed about the batch, as it stands in its file."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Messages that mixers refused or found repeated, by reason: they are not in the file."""


def open_responses(uri: str, plan: Plan) -> Source:
    """The responses that `krand randomize` wrote."""
    with _reading(uri), _file(uri) as file:
        header, rows = header_of(file, uri), file.metadata.num_rows
    _check_plan(plan, header.plan, uri)
    if (header.linkage, header.positions) != (plan.survey.linkage, plan.layout.positions):
        raise InvalidInput("responses", "must have the plan's linkage and positions", uri)
    check_round(plan, header.round)
    check_crowd(plan, header.people)
    rule = tally_shape(header.linkage).odd_rows(rows, header.people, plan.survey.copies)
    if rule:
        raise InvalidInput("responses", rule, f"{rows:,} records")
    if rows > header.people * plan.layout.positions * plan.survey.copies:
        rule = f"must hold at most {plan.layout.positions:,} tokens of each person"
        raise InvalidInput("responses", rule, f"{rows:,} tokens of {header.people:,} people")
    return Source(
        uri=uri,
        round=header.round,
        people=header.people,
        rows=rows,
        sha256=_sha256(uri),
        run=header.run,
        provenance=header.provenance,
    )


def open_batch(path: Path, plan: Plan) -> Source:
    """A batch that has passed all mixers of the plan, and is the one that the last one signed."""
    links = read_chain(chain_beside(path))
    last = complete_chain(plan, links)
    check_crowd(plan, last.people)
    found = sha256_of_file(path)
    if found != last.output:
        rule = f"must be the file that the last mixer signed, with SHA-256 {last.output}"
        raise InvalidInput("batch", rule, found, f"{path} was changed, or belongs to another chain")
    batch = Batch(path, last.counts, length_at(plan, ANALYST))
    return Source(
        uri=str(path),
        batch=batch,
        round=last.round,
        people=last.people,
        rows=len(batch.records),
        sha256=found,
        provenance=Provenance.DEVICES,
        chain=chain_bytes(links).decode(),
        lost=lost_in(links),
    )


def chunks_of(uri: str, size: int) -> Iterator[pa.RecordBatch]:
    """The responses in chunks of at most `size`."""
    with _reading(uri), _file(uri) as file:
        left = file.metadata.num_rows
        for batch in file.iter_batches(batch_size=size):
            left -= len(batch)
            yield batch
        if left:
            raise pa.ArrowInvalid(f"it says that it has {file.metadata.num_rows:,} rows")


def _check_plan(plan: Plan, found: str, uri: str) -> None:
    if found != plan.hash:
        rule = f"must be of the plan {plan.hash}"
        raise InvalidInput("plan", rule, found, f"{uri} belongs to another plan")


def _place(uri: str) -> tuple[fs.FileSystem, str]:
    """The file system of an address; a path is one too."""
    if "://" in uri:
        return fs.FileSystem.from_uri(uri)  # type: ignore[no-any-return]
    return fs.LocalFileSystem(), str(Path(uri))


def _file(uri: str) -> pq.ParquetFile:
    try:
        system, path = _place(uri)
        # Buffering ahead would keep everything that has been read.
        return pq.ParquetFile(system.open_input_file(path), pre_buffer=False)
    except pa.ArrowInvalid:
        raise InvalidInput("responses", "must be a Parquet file", uri) from None
    except OSError as error:
        raise unreadable("responses", uri, error) from None


@contextmanager
def _reading(uri: str) -> Iterator[None]:
    """Whatever Arrow has to say about a damaged file, in krand's own words."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise unreadable("responses", uri, error) from None
        reason = (str(error).splitlines() or [""])[0][:LONGEST_REASON]
        raise InvalidInput("responses", "must be an undamaged Parquet file", uri, reason) from None


def _sha256(uri: str) -> str:
    system, path = _place(uri)
    digest = hashlib.sha256()
    with system.open_input_stream(path) as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
