"""What a collector or mixers signed about a batch, and what got lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.batches.chain import Link, SignedLink, manifest_in, parse_manifest, verify_chain
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.messages import REPEATED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBatch:
    """What a manifest or a chain says about its batch."""

    plan: str
    round: int
    people: int
    messages: int
    batch_id: str
    sha256: str | None
    """Of the batch that the analyst counts; None if it has not passed all mixers."""
    text: str


def signed_in_manifest(text: str, key: Ed25519PublicKey | None = None) -> SignedBatch:
    """What a collector says about its batch; with its key, the signature is checked."""
    content = text.encode()
    manifest = manifest_in(content).record if key is None else parse_manifest(content, key)
    return SignedBatch(
        plan=manifest.plan,
        round=manifest.round,
        people=manifest.submissions,
        messages=manifest.messages,
        batch_id=manifest.batch_id,
        sha256=manifest.batch_sha256,
        text=text,
    )


def signed_in_chain(plan: Plan, links: Sequence[SignedLink], text: str) -> SignedBatch:
    """What the last of some mixers says about a batch; signatures are not checked."""
    last = links[-1].record
    return SignedBatch(
        plan=last.plan,
        round=last.round,
        people=last.submissions,
        messages=last.messages_out,
        batch_id=last.batch_id,
        sha256=last.output_sha256 if len(links) == plan.survey.trust.mixers else None,
        text=text,
    )


def complete_chain(plan: Plan, links: Sequence[SignedLink]) -> Link:
    """The last link of a chain that all mixers of the plan have signed."""
    verify_chain(plan, links)
    if len(links) != plan.survey.trust.mixers:
        rule = f"must have passed all {plan.survey.trust.mixers} mixers"
        raise InvalidInput("chain", rule, len(links), "give the batch to the next mixer")
    return links[-1].record


def lost_in(links: Sequence[SignedLink]) -> Counter[str]:
    """The messages that mixers refused or found repeated, by reason."""
    found: Counter[str] = Counter()
    for signed in links:
        found.update(signed.record.refused)
        found[REPEATED] += signed.record.repeats
    return +found
