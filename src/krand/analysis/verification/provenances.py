"""Whether results come from where they say: what can be checked about it, and what cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krand.analysis.tally import Tally
from krand.analysis.verification.checks import Check, check
from krand.batches.manifest import Manifest, manifest_in, parse_manifest
from krand.batches.provenance import Provenance, is_random_id
from krand.errors import InvalidInput
from krand.promise import Linkage

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["manifests_check", "provenance_check"]

SAYS = {
    Provenance.DEVICES: "from devices, through a collector; its signed manifests are in the tally",
    Provenance.TABLE: "from a data holder's table; that it was randomized as planned is its word",
    Provenance.SIMULATION: "from a simulation: nobody was asked",
}


def provenance_check(tally: Tally) -> Check:
    """Whether the rest of a file agrees with the provenance that it claims."""
    return check("provenance", _odd_provenance(tally), SAYS[tally.provenance])


def _odd_provenance(tally: Tally) -> Iterator[str]:
    files = len(tally.batches)
    if tally.provenance is not Provenance.SIMULATION:
        if len(tally.ids) != files or not files:
            yield f"{files:,} files have {len(tally.ids):,} ids"
        elif not all(map(is_random_id, tally.ids)):
            yield "an id is not one that krand draws"
    if len(set(tally.ids)) != len(tally.ids):
        yield "two files have one id: the same people are counted twice"
    if tally.provenance is Provenance.TABLE:
        if tally.rejected or tally.nulls or tally.manifests:
            yield "messages were opened, and a data holder's table has none"
        if files > 1 and tally.distinct_people is None:
            yield f"nobody declared that {files:,} files are about different people"
    if (tally.provenance is not Provenance.TABLE or files <= 1) and tally.distinct_people:
        yield "somebody declared that files are about different people where there is nothing to be"


def manifests_check(tally: Tally, key: Ed25519PublicKey | None) -> Check:
    """Whether what a collector signed about the batches is what the tally says."""
    says = f"{len(tally.manifests):,} signed manifests agree with what was counted; "
    says += (
        "their signatures are not checked without --collector-key"
        if key is None
        else "all are signed with the collector's key"
    )
    return check("manifests", _odd_manifests(tally, key), says)


def _odd_manifests(tally: Tally, key: Ed25519PublicKey | None) -> Iterator[str]:
    try:
        signed = [_manifest(text, key) for text in tally.manifests]
    except InvalidInput as error:
        yield f"a manifest inside {error.rule}, which it is not"
        return
    if sorted(entry.batch_sha256 for entry in signed) != sorted(tally.batches):
        yield "the batches that were counted are not those that a collector signed"
        return
    if sorted(entry.batch_id for entry in signed) != sorted(tally.ids):
        yield "the ids of the batches are not those that a collector signed"
    if any((entry.plan, entry.round) != (tally.plan_hash, tally.round) for entry in signed):
        yield "a collector signed a batch of another plan or round"
    people = [entry.submissions for entry in signed]
    if (sum(people), min(people, default=0)) != (tally.people, tally.crowd):
        yield (
            f"collectors signed for {sum(people):,} people, at least {min(people, default=0):,} in"
            f" a batch; the tally says {tally.people:,} and {tally.crowd:,}"
        )
    messages, counted = sum(entry.messages for entry in signed), _messages(tally)
    if messages != counted:
        yield f"collectors signed for {messages:,} messages, {counted:,} were counted"


def _manifest(text: str, key: Ed25519PublicKey | None) -> Manifest:
    content = text.encode()
    return manifest_in(content)[0] if key is None else parse_manifest(content, key)


def _messages(tally: Tally) -> int:
    kept = int(tally.counts.sum()) if tally.linkage is Linkage.BIT else tally.reports
    return kept + tally.nulls + sum(tally.rejected.values())
