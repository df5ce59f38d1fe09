"""Whether what mixers signed about the batches of a tally is what the tally says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from krand.analysis.chains import complete_chain, lost_in
from krand.analysis.checks import Check, check
from krand.analysis.tally import Tally
from krand.batches.chain import parse_chain
from krand.errors import InvalidInput
from krand.survey.plan import Plan

__all__ = ["chains_check"]


def chains_check(plan: Plan, tally: Tally) -> Check:
    """The chain of every batch, with the signatures of all mixers that the plan names."""
    says = f"{len(tally.manifests):,} chains of signed links agree with what was counted"
    return check("chains", _faults(plan, tally), says)


def _faults(plan: Plan, tally: Tally) -> Iterator[str]:
    try:
        chains = [parse_chain(text.encode()) for text in tally.manifests]
        last = [complete_chain(plan, links) for links in chains]
    except InvalidInput as error:
        yield f"a chain {error.rule}, which it is not"
        return
    if sorted(link.output_sha256 for link in last) != sorted(tally.batches):
        yield "the batches that were counted are not those that the last mixer signed"
        return
    if sorted(link.batch_id for link in last) != sorted(tally.ids):
        yield "the ids of the batches are not those that mixers signed"
    if any(link.round != tally.round for link in last):
        yield "a mixer signed a batch of another round"
    people = [link.submissions for link in last]
    if (sum(people), min(people, default=0)) != (tally.people, tally.crowd):
        yield f"mixers signed for {sum(people):,} people, the tally says {tally.people:,}"
    lost = sum((lost_in(links) for links in chains), Counter[str]())
    if any(tally.rejected.get(why, 0) < count for why, count in lost.items()):
        yield "mixers refused messages that the tally does not mention"
    passed = sum(link.messages_out for link in last)
    kept = int(tally.counts.sum()) + tally.nulls + sum(tally.rejected.values()) - lost.total()
    if passed != kept:
        yield f"mixers passed on {passed:,} messages, {kept:,} were counted"
