"""Whether a batch is the one its collector signed for, and large enough to be opened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from krand.analysis.checks import Check, check
from krand.batches.manifest import Manifest, manifest_in, parse_manifest
from krand.batches.sealed import batch_id_in, batch_schema
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.messages import MessageFormat

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["batch_beside", "manifest_checks"]

ENDING = ".manifest.json"


def batch_beside(path: Path) -> Path:
    """The batch file that a manifest is about: batch.parquet beside batch.manifest.json."""
    stem = path.name.removesuffix(ENDING) if path.name.endswith(ENDING) else path.stem
    return path.with_name(f"{stem}.parquet")


def manifest_checks(
    content: bytes, path: Path, plan: Plan, key: Ed25519PublicKey
) -> Iterator[Check]:
    """Everything that can be checked with plan and key, without opening a message."""
    manifest, _ = manifest_in(content, str(path))
    try:
        parse_manifest(content, key, str(path))
        forged = []
    except InvalidInput as error:
        forged = [f"{error.rule}, which it is not; {error.hint}"]
    yield check("signature", forged, "signed with the collector's key, and unchanged since")
    other = [] if manifest.plan == plan.hash else [f"it is of the plan {manifest.plan}"]
    yield check("plan", other, f"the batch is of the plan {plan.hash}")
    rounds = plan.survey.rounds
    out = [] if 1 <= manifest.round <= rounds else [f"round {manifest.round:,} was not planned"]
    yield check("round", out, f"round {manifest.round:,} of {rounds:,} that were planned")
    people, planned = manifest.submissions, plan.survey.policy.minimum_crowd
    few = [] if people >= planned else [f"{people:,} people are fewer than the {planned:,} planned"]
    yield check("crowd", few, f"{people:,} people are at least the {planned:,} that were planned")
    yield check(
        "messages",
        _odd_messages(manifest, plan),
        f"{manifest.messages:,} messages are what so many people send",
    )
    yield from _batch_checks(manifest, batch_beside(path), plan)


def _odd_messages(manifest: Manifest, plan: Plan) -> Iterator[str]:
    if manifest.messages != manifest.submissions * plan.messages:
        yield (
            f"{manifest.messages:,} messages cannot come from {manifest.submissions:,} people who"
            f" send {plan.messages:,} each"
        )


def _batch_checks(manifest: Manifest, batch: Path, plan: Plan) -> Iterator[Check]:
    try:
        with batch.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        yield Check("batch_hash", False, f"{batch.name}, beside the manifest: {reason}")
        return
    told = manifest.batch_sha256
    other = [] if found == told else [f"the manifest names {told}, {batch.name} has {found}"]
    yield check("batch_hash", other, f"{batch.name} is the batch that was signed, {found}")
    yield check(
        "batch_shape",
        _odd_shape(manifest, batch, plan),
        "it carries its id and holds as many messages as the manifest says, of the plan's length",
    )


def _odd_shape(manifest: Manifest, batch: Path, plan: Plan) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    length = MessageFormat(plan.survey.linkage, plan.layout.positions).sealed_length
    try:
        with pq.ParquetFile(batch) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError):
        yield f"{batch.name} is no Parquet file"
        return
    if rows != manifest.messages:
        yield f"it holds {rows:,} messages, the manifest says {manifest.messages:,}"
    if not schema.equals(batch_schema(length, manifest.batch_id)):
        yield f"it does not hold messages of {length:,} bytes, and nothing else"
    elif batch_id_in(schema) != manifest.batch_id:
        yield f"it carries the id {batch_id_in(schema)}, the manifest says {manifest.batch_id}"
