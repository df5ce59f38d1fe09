"""Whether a batch is the one its collector or its mixers signed for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from krand.analysis.checks import Check, check, failed, not_checked, round_check
from krand.batches.chain import (
    Link,
    Manifest,
    manifest_in,
    parse_chain,
    parse_manifest,
    verify_chain,
)
from krand.batches.sealed import SealedBatch
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.messages import ANALYST, length_at

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ENDINGS = (".manifest.json", ".chain.json")


def batch_beside(path: Path) -> Path:
    """The batch file that a manifest or chain is about: batch.parquet, beside it."""
    endings = [ending for ending in ENDINGS if path.name.endswith(ending)]
    stem = path.name.removesuffix(endings[0]) if endings else path.stem
    return path.with_name(f"{stem}.parquet")


def chain_file_checks(content: bytes, path: Path, plan: Plan) -> Iterator[Check]:
    """Everything that can be checked about the chain of a batch, without opening a message.

    A batch on its way to the next mixer has links of those before alone.
    """
    links = parse_chain(content, str(path))
    try:
        verify_chain(plan, links)
        broken = []
    except InvalidInput as error:
        broken = [f"{error.field} {error.rule}; found {error.value}"]
    mixers = plan.survey.trust.mixers
    says = f"signed by {len(links):,} of {mixers:,} mixers, each about the batch of the one before"
    yield check("chain", broken, says)
    if broken:
        return
    last, hop = links[-1].record, len(links) + 1 if len(links) < mixers else ANALYST
    batch = batch_beside(path)
    yield from _batch_checks(
        batch,
        last.output_sha256,
        lambda: _odd_mixed(last, batch, length_at(plan, hop)),
        "it carries its id and holds as many messages in each lane as the chain says",
    )


def _lane_counts(
    batch: Path, length: int, batch_id: str, lanes: int
) -> tuple[tuple[int, ...], list[str]]:
    """The messages of every lane of a batch file, or what is wrong with it."""
    try:
        with SealedBatch(batch, length=length, batch_id=batch_id, lanes=lanes) as sealed:
            return sealed.counts, []
    except InvalidInput as error:
        return (), [f"{batch.name} {error.rule}; {error.value}"]


def _odd_mixed(last: Link, batch: Path, length: int) -> Iterator[str]:
    told = [lane.messages_out for lane in last.lanes]
    counts, faults = _lane_counts(batch, length, last.batch_id, len(told))
    yield from faults
    for number, (count, said) in enumerate(zip(counts, told, strict=False)):
        if count != said:
            yield f"it holds {count:,} messages in lane {number}, the chain says {said:,}"


def manifest_checks(
    content: bytes, path: Path, plan: Plan, key: Ed25519PublicKey | None
) -> Iterator[Check]:
    """Everything that can be checked with plan and key, without opening a message."""
    manifest = manifest_in(content, str(path)).record
    yield _signature_check(content, key, str(path))
    other = [] if manifest.plan == plan.hash else [f"it is of the plan {manifest.plan}"]
    yield check("plan", other, f"the batch is of the plan {plan.hash}")
    yield round_check(plan, manifest.round)
    people, planned = manifest.submissions, plan.survey.policy.minimum_crowd
    few = [] if people >= planned else [f"{people:,} people are fewer than the {planned:,} planned"]
    yield check("crowd", few, f"{people:,} people are at least the {planned:,} that were planned")
    yield check(
        "messages",
        _odd_messages(manifest, plan),
        f"{manifest.messages:,} messages are what so many people send",
    )
    batch = batch_beside(path)
    yield from _batch_checks(
        batch,
        manifest.batch_sha256,
        lambda: _odd_shape(manifest, batch, plan),
        "it carries its id and holds as many messages as the manifest says, of the plan's length",
    )


def _signature_check(content: bytes, key: Ed25519PublicKey | None, source: str) -> Check:
    if key is None:
        needed = "add --collector-key collector.pub.pem: a manifest is worth what its signature is"
        return not_checked("signature", f"who signed is not checked: {needed}")
    try:
        parse_manifest(content, key, source)
    except InvalidInput as error:
        return failed("signature", f"{error.rule}, which it is not; {error.hint}")
    return check("signature", [], "signed with the collector's key, and unchanged since")


def _odd_messages(manifest: Manifest, plan: Plan) -> Iterator[str]:
    if manifest.messages != manifest.submissions * plan.messages:
        yield (
            f"{manifest.messages:,} messages cannot come from {manifest.submissions:,} people who"
            f" send {plan.messages:,} each"
        )


def _batch_checks(
    batch: Path, told: str, faults: Callable[[], Iterator[str]], says: str
) -> Iterator[Check]:
    """Whether the file is the one that was signed, and holds what was signed."""
    try:
        with batch.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        yield failed("batch_hash", f"{batch.name}, which was signed: {reason}")
        return
    other = [] if found == told else [f"{told} was signed, {batch.name} has {found}"]
    yield check("batch_hash", other, f"{batch.name} is the batch that was signed, {found}")
    yield check("batch_shape", faults(), says)


def _odd_shape(manifest: Manifest, batch: Path, plan: Plan) -> Iterator[str]:
    length = length_at(plan, ANALYST)
    counts, faults = _lane_counts(batch, length, manifest.batch_id, len(plan.lanes))
    yield from faults
    if counts and sum(counts) != manifest.messages:
        yield f"it holds {sum(counts):,} messages, the manifest says {manifest.messages:,}"
    for lane, count in zip(plan.lanes, counts, strict=False):
        if count * plan.messages != sum(counts) * lane.messages:
            part = f"{lane.messages:,} of {plan.messages:,} messages of each person"
            yield f"it holds {count:,} messages in lane {lane.number}, which is not {part}"
