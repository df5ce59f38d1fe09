"""What the analyst takes from the chain of a batch: its last link, and what got lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from krand.batches.chain import Link, SignedLink, verify_chain
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.rejections import REPEATED

__all__ = ["complete_chain", "lost_in"]


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
