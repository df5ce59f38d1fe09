"""An honest chain made by hand; to go with its last user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from krand.batches.chain import LaneCounts, Link, SignedLink, dummies_allowed
from krand.wire.signed import sign
from mixing.chains import Party

PEOPLE = 300
Change = Callable[[Link], Link]


def link_of(party: Party, hop: int, before: SignedLink | None) -> Link:
    """A link as an honest mixer would write it; hop 2 drops one repeat and refuses one message."""
    came = [PEOPLE * lane.messages for lane in party.plan.lanes]
    if before is not None:
        came = [counts.messages_out for counts in before.record.lanes]
    lanes = []
    for lane, number in zip(party.plan.lanes, came, strict=True):
        dropped = int(hop == 2 and lane.number == 0)
        dummies = dummies_allowed(party.plan, lane)[0]
        lanes.append(
            LaneCounts(
                messages_in=number,
                repeats=dropped,
                refused=dropped,
                dummies=dummies,
                messages_out=number - 2 * dropped + dummies,
            )
        )
    return totalled(
        Link(
            plan=party.plan.hash,
            round=1,
            hop=hop,
            mixer=party.plan.mixing.mixers[hop - 1].identity if party.plan.mixing else "",
            submissions=PEOPLE,
            messages_in=0,
            repeats=0,
            refused={"not_sealed_for_this_key_or_plan": 1} if hop == 2 else {},
            dummies=0,
            messages_out=0,
            lanes=tuple(lanes),
            input_sha256="" if before is None else before.record.output_sha256,
            output_sha256=f"{hop:064x}",
            batch_id="ab" * 16,
            previous="" if before is None else before.sha256,
        )
    )


def totalled(link: Link) -> Link:
    """With sums that agree with the lanes."""
    names = ("messages_in", "repeats", "dummies", "messages_out")
    return replace(
        link, **{name: sum(getattr(counts, name) for counts in link.lanes) for name in names}
    )


def chain_of(party: Party, change_at: int | None = 0, change: Change = lambda link: link) -> Any:
    """An honest chain, but for one link or all, which mixers sign after a change."""
    links: list[SignedLink] = []
    for hop, key in enumerate(party.identities, 1):
        link = link_of(party, hop, links[-1] if links else None)
        links.append(sign(change(link) if change_at in (None, hop) else link, key))
    return links
