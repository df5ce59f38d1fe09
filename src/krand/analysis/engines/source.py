"""Where responses come from: a file of a data holder, or a batch of a collector or of mixers.

Nothing is counted before it is known that the responses are of this plan, unchanged, and of a crowd
that is large enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from krand.analysis.shapes import tally_shape
from krand.analysis.signed_batches import complete_chain, lost_in
from krand.batches.chain import Manifest, SignedLink, chain_bytes
from krand.batches.provenance import Provenance
from krand.batches.responses import header_of
from krand.batches.sealed import SealedBatch
from krand.errors import InvalidInput
from krand.files import unreadable
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd, check_round
from krand.wire.messages import ANALYST, length_at

PIECE = 2**22
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Responses that may be counted."""

    uri: str
    sealed: bool
    round: int
    people: int
    rows: int
    sha256: str
    """Of the whole file: the name of the batch."""
    id: str
    """Random: of the batch when it began, or of the run that randomized."""
    provenance: Provenance
    manifest: str = ""
    """Of a sealed batch: what the collector or all mixers signed, as it stands in the file."""
    mixed: bool = False
    """Whether the batch has passed a chain of mixers."""
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
        sealed=False,
        round=header.round,
        people=header.people,
        rows=rows,
        sha256=_sha256(uri),
        id=header.run,
        provenance=header.provenance,
    )


def open_batch(uri: str, plan: Plan, manifest: Manifest) -> Source:
    """A batch of sealed messages that is the one its manifest vouches for."""
    _check_plan(plan, manifest.plan, uri)
    check_round(plan, manifest.round)
    check_crowd(plan, manifest.submissions)
    counts = _lane_counts(uri, plan, manifest.batch_id)
    if sum(counts) != manifest.messages:
        rule = f"must hold {manifest.messages:,} messages, as its manifest says"
        raise InvalidInput("batch", rule, f"{sum(counts):,} messages")
    for lane, count in zip(plan.lanes, counts, strict=True):
        if count != manifest.submissions * lane.messages:
            people = f"each of {manifest.submissions:,} people"
            rule = f"must hold {lane.messages:,} messages of {people} in lane {lane.number}"
            hint = "its collector must refuse submissions of any other size"
            raise InvalidInput("batch", rule, f"{count:,} messages", hint)
    found = _sha256(uri)
    if found != manifest.batch_sha256:
        rule = f"must have the SHA-256 of its manifest, {manifest.batch_sha256}"
        raise InvalidInput("batch", rule, found, "it was changed, or is another batch")
    return Source(
        uri=uri,
        sealed=True,
        round=manifest.round,
        people=manifest.submissions,
        rows=sum(counts),
        sha256=found,
        id=manifest.batch_id,
        provenance=Provenance.DEVICES,
    )


def open_mixed(uri: str, plan: Plan, links: Sequence[SignedLink]) -> Source:
    """A batch that has passed all mixers of the plan, and is the one that the last one signed."""
    last = complete_chain(plan, links)
    check_crowd(plan, last.submissions)
    found = _sha256(uri)
    if found != last.output_sha256:
        rule = f"must be the file that the last mixer signed, with SHA-256 {last.output_sha256}"
        raise InvalidInput("batch", rule, found, f"{uri} was changed, or belongs to another chain")
    counts = _lane_counts(uri, plan, last.batch_id)
    for number, (told, count) in enumerate(zip(last.lanes, counts, strict=True)):
        if told.messages_out != count:
            rule = f"must hold {told.messages_out:,} messages in lane {number}, as its chain says"
            raise InvalidInput("batch", rule, f"{count:,} messages", f"the file is {uri}")
    return Source(
        uri=uri,
        sealed=True,
        round=last.round,
        people=last.submissions,
        rows=sum(counts),
        sha256=found,
        id=last.batch_id,
        provenance=Provenance.DEVICES,
        manifest=chain_bytes(links).decode(),
        mixed=True,
        lost=lost_in(links),
    )


def _lane_counts(uri: str, plan: Plan, batch_id: str) -> tuple[int, ...]:
    """How many messages of each lane a batch holds."""
    with _reading(uri):
        system, path = _place(uri)
        with SealedBatch(
            system.open_input_file(path),
            length=length_at(plan, ANALYST),
            batch_id=batch_id,
            lanes=len(plan.lanes),
            name=uri,
        ) as batch:
            return batch.counts


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
