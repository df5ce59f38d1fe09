"""Whether a batch is the one its collector signed for, and large enough to be opened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from krand.analysis.checks import Check, check
from krand.batches.manifest import Manifest, manifest_in, parse_manifest
from krand.batches.sealed import SealedBatch
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.messages import ANALYST, length_at

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
    length, lanes = length_at(plan, ANALYST), len(plan.lanes)
    try:
        with SealedBatch(batch, length=length, batch_id=manifest.batch_id, lanes=lanes) as sealed:
            counts = sealed.counts
    except InvalidInput as error:
        yield f"{batch.name} {error.rule}; {error.value}"
        return
    if sum(counts) != manifest.messages:
        yield f"it holds {sum(counts):,} messages, the manifest says {manifest.messages:,}"
    for lane, count in zip(plan.lanes, counts, strict=True):
        sent = lane.messages * manifest.submissions
        if count != sent:
            yield f"it holds {count:,} messages in lane {lane.number}, people send {sent:,}"
