"""Opens and counts batches that have passed all mixers, lane by lane.

Beside a batch lies its chain: one signed link of every mixer. Nothing is opened before the chain
is seen to be whole, and the file to be the one that the last mixer passed on. Messages that mixers
refused or found repeated are missing, so they are counted as refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from krand.analysis.tally import Counts, Tally, merged
from krand.batches.chain import Link, SignedLink, chain_bytes, read_chain, verify_chain
from krand.batches.provenance import Provenance
from krand.batches.sealed import SealedBatch, file_sha256
from krand.errors import InvalidInput
from krand.planning.checking import check_promise
from krand.survey.plan import Plan
from krand.wire.keys import check_analyst_key
from krand.wire.lane_format import ANALYST, length_at
from krand.wire.layers import LaneOpener
from krand.wire.rejections import REPEATED, Rejection

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

__all__ = ["complete_chain", "lost_in", "tally_mixed"]

ENDING = ".chain.json"


def tally_mixed(plan: Plan, files: Sequence[str | Path], key: X25519PrivateKey) -> Tally:
    """The tally of these batches; the chain of batch.parquet is batch.chain.json beside it."""
    if plan.mixing is None:
        rule = "must be a plan in which mixers add the noise"
        raise InvalidInput("plan", rule, plan.hash, "batches of other plans have a manifest")
    if not files:
        raise InvalidInput("batches", "must be at least one file", "none")
    check_promise(plan)
    check_analyst_key(plan, key)
    return reduce(merged, (_tally(plan, Path(file), key) for file in files))


def complete_chain(plan: Plan, links: Sequence[SignedLink]) -> Link:
    """The last link of a chain that all mixers of the plan have signed."""
    verify_chain(plan, links)
    if len(links) != plan.survey.trust.mixers:
        rule = f"must have passed all {plan.survey.trust.mixers} mixers"
        raise InvalidInput("chain", rule, len(links), "give the batch to the next mixer")
    return links[-1].link


def lost_in(links: Sequence[SignedLink]) -> Counter[str]:
    """The messages that mixers refused or found repeated, by reason."""
    found: Counter[str] = Counter()
    for signed in links:
        found.update(signed.link.refused)
        found[REPEATED] += signed.link.repeats
    return +found


def _tally(plan: Plan, file: Path, key: X25519PrivateKey) -> Tally:
    links = read_chain(file.with_suffix(ENDING))
    last, sha256 = complete_chain(plan, links), file_sha256(file)
    if last.output_sha256 != sha256:
        rule = f"must be the file that the last mixer signed, with SHA-256 {last.output_sha256}"
        raise InvalidInput("batch", rule, sha256, f"the file is {file}")
    counts = np.zeros(plan.layout.positions, np.int64)
    nulls, rejected = np.zeros(len(plan.lanes), np.int64), lost_in(links)
    opener, unopened = LaneOpener(key, plan, last.round), 0
    with _batch(plan, file, last) as batch:
        for lane in plan.lanes:
            for rows in batch.chunks(lane.number):
                opened = opener.open_all(lane, rows)
                counts += np.bincount(opened.positions, minlength=counts.size)
                nulls[lane.number] += opened.nulls
                rejected.update({why.value: n for why, n in opened.rejected.items()})
                unopened += opened.rejected[Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN]
    if unopened and unopened == last.messages_out:
        rule = "must open the messages: this is not the key these messages were sealed for"
        raise InvalidInput("private key", rule, None, f"none of {unopened:,} messages opens")
    return _made(plan, last, counts, nulls, rejected, chain_bytes(links).decode())


def _batch(plan: Plan, file: Path, last: Link) -> SealedBatch:
    length = length_at(plan, ANALYST)
    batch = SealedBatch(file, length=length, batch_id=last.batch_id, lanes=len(plan.lanes))
    for fault in _other_counts(last, batch.counts):
        raise InvalidInput("batch", "must hold what the last mixer signed", fault, str(file))
    return batch


def _other_counts(last: Link, counts: Sequence[int]) -> Iterator[str]:
    for number, (lane, found) in enumerate(zip(last.lanes, counts, strict=True)):
        if lane.messages_out != found:
            yield f"{found:,} messages in lane {number}, not {lane.messages_out:,}"


def _made(
    plan: Plan, last: Link, counts: Counts, nulls: Counts, rejected: Counter[str], chain: str
) -> Tally:
    return Tally(
        plan_hash=plan.hash,
        linkage=plan.survey.linkage,
        positions=plan.layout.positions,
        round=last.round,
        people=last.submissions,
        crowd=last.submissions,
        responses=last.submissions,
        counts=counts,
        nulls=int(nulls.sum()),
        rejected=dict(rejected),
        lane_nulls=nulls,
        batches=(last.output_sha256,),
        ids=(last.batch_id,),
        provenance=Provenance.DEVICES,
        manifests=(chain,),
    )
