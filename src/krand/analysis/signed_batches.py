"""What mixers signed about a batch, and what got lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from krand.batches.chain import SignedLink
from krand.survey.plan import Plan
from krand.wire.messages import REPEATED, Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBatch:
    """What a chain says about its batch."""

    plan: str
    round: int
    people: int
    messages: int
    sha256: str | None
    """Of the batch that the analyst counts; None if it has not passed all mixers."""
    text: str


def signed_in_chain(plan: Plan, links: Sequence[SignedLink], text: str) -> SignedBatch:
    """What the last of some mixers says about a batch; signatures are not checked."""
    last = links[-1].record
    return SignedBatch(
        plan=last.plan,
        round=last.round,
        people=last.people,
        messages=last.total("out"),
        sha256=last.output if len(links) == plan.survey.trust.mixers else None,
        text=text,
    )


def lost_in(links: Sequence[SignedLink]) -> Counter[str]:
    """The messages that mixers refused or found repeated, by reason."""
    reason = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN.value
    found = {
        reason: sum(signed.record.total("refused") for signed in links),
        REPEATED: sum(signed.record.total("repeats") for signed in links),
    }
    return +Counter(found)
