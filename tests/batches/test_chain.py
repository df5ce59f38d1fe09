"""Chains: every link signed by its mixer, in order, taking up what the one before passed on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.batches.chain import (
    LaneCounts,
    Link,
    SignedLink,
    chain_bytes,
    dummies_allowed,
    parse_chain,
    verify_chain,
)
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.signed import sign
from mixing.chains import Party, mixed_plan_for

PEOPLE = 300
Change = Callable[[Link], Link]


@pytest.fixture(scope="module")
def party() -> Party:
    return mixed_plan_for(mixers=3)


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


def lane_changed(link: Link, number: int, **changes: int) -> Link:
    lanes = list(link.lanes)
    lanes[number] = replace(lanes[number], **changes)
    return totalled(replace(link, lanes=tuple(lanes)))


def test_an_honest_chain_is_verified_at_every_length(party: Party) -> None:
    """After one, two and three mixers, as read back from its file."""
    links = chain_of(party)
    for length in (1, 2, 3):
        found = parse_chain(chain_bytes(links[:length]))
        assert list(found) == links[:length]
        verify_chain(party.plan, found)


def more_out(link: Link) -> Link:
    return lane_changed(link, 0, messages_out=link.lanes[0].messages_out + 1)


def fewer_people_in_a_lane(link: Link) -> Link:
    """The collector drops somebody's first message, and counts one person less there."""
    lane = link.lanes[0]
    fewer = {"messages_in": lane.messages_in - 1, "messages_out": lane.messages_out - 1}
    return lane_changed(link, 0, **fewer)


def fewer_dummies(link: Link) -> Link:
    lane = link.lanes[0]
    fewer = {"dummies": lane.dummies - 1, "messages_out": lane.messages_out - 1}
    return lane_changed(link, 0, **fewer)


def other_in(link: Link) -> Link:
    lane = link.lanes[0]
    more = {"messages_in": lane.messages_in + 1, "messages_out": lane.messages_out + 1}
    return lane_changed(link, 0, **more)


def one_lane_less(link: Link) -> Link:
    return totalled(replace(link, lanes=link.lanes[:-1]))


FORGERIES: dict[str, tuple[int, str, Change]] = {
    "plan": (2, "chain.plan", lambda link: replace(link, plan="ff" * 32)),
    "another round": (2, "chain.round", lambda link: replace(link, round=2)),
    "hop": (2, "chain.hop", lambda link: replace(link, hop=3)),
    "mixer": (2, "chain.mixer", lambda link: replace(link, mixer="cd" * 32)),
    "people": (2, "chain.submissions", lambda link: replace(link, submissions=PEOPLE + 1)),
    "batch": (3, "chain.batch_id", lambda link: replace(link, batch_id="cd" * 16)),
    "input": (3, "chain.input_sha256", lambda link: replace(link, input_sha256="cd" * 32)),
    "previous": (3, "chain.previous", lambda link: replace(link, previous="cd" * 32)),
    "an input of the first": (
        1,
        "chain.input_sha256",
        lambda link: replace(link, input_sha256="cd" * 32),
    ),
    "a link before the first": (
        1,
        "chain.previous",
        lambda link: replace(link, previous="cd" * 32),
    ),
    "lanes": (3, "chain.lanes", one_lane_less),
    "balance": (2, "chain.messages_out", more_out),
    "dummies": (2, "chain.dummies", fewer_dummies),
    "messages that came": (2, "chain.messages_in", other_in),
    "people in a lane": (1, "chain.messages_in", fewer_people_in_a_lane),
    "total that came": (2, "chain.messages_in", lambda link: replace(link, messages_in=1)),
    "total of repeats": (2, "chain.repeats", lambda link: replace(link, repeats=0)),
    "total of refusals": (2, "chain.refused", lambda link: replace(link, refused={})),
    "total of dummies": (2, "chain.dummies", lambda link: replace(link, dummies=0)),
    "total that left": (2, "chain.messages_out", lambda link: replace(link, messages_out=1)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_rule_7_a_mixer_that_signs_a_wrong_link_is_found(party: Party, name: str) -> None:
    """Its signature is right, so that only the check of this field can find it."""
    hop, field, change = FORGERIES[name]
    links = chain_of(party, hop, change)
    with pytest.raises(InvalidInput) as caught:
        verify_chain(party.plan, links)
    assert caught.value.field == field


@pytest.mark.parametrize("wrong", [0, 3])
def test_a_round_that_the_plan_does_not_have_is_refused(party: Party, wrong: int) -> None:
    """Also where all links agree on it."""
    first = chain_of(party, 1, lambda link: replace(link, round=wrong))[0]
    with pytest.raises(InvalidInput, match="must be a round of the plan, 1 to 2"):
        verify_chain(party.plan, [first])


def test_rule_7_every_lane_has_as_many_people(party: Party) -> None:
    """Repeated and refused messages are added back, dummies taken off: all lanes agree."""
    links = chain_of(party)
    verify_chain(party.plan, links)
    for place, lane in enumerate(party.plan.lanes):
        counts = [signed.record.lanes[place] for signed in links]
        back = sum(one.repeats + one.refused - one.dummies for one in counts)
        assert counts[-1].messages_out + back == PEOPLE * lane.messages


def test_a_link_that_somebody_else_signed_is_refused(party: Party) -> None:
    """Whoever is not named in the plan cannot continue a chain."""
    links = chain_of(party)
    forged = sign(links[1].record, Ed25519PrivateKey.generate())
    with pytest.raises(InvalidInput, match="must be signed by its mixer"):
        verify_chain(party.plan, [links[0], forged])


def test_a_changed_link_is_refused(party: Party) -> None:
    """The signature is about every value."""
    links = chain_of(party)
    changed = replace(links[2].record, output_sha256="cd" * 32)
    with pytest.raises(InvalidInput, match="unchanged"):
        verify_chain(party.plan, [*links[:2], SignedLink(changed, links[2].signature)])


def test_mixers_out_of_order_are_refused(party: Party) -> None:
    """A skipped mixer, two in the wrong order, one twice, and none at all."""
    one, two, three = chain_of(party)
    for wrong in ([one, three], [two, one], [one, one], [one, two, two], []):
        with pytest.raises(InvalidInput, match="chain"):
            verify_chain(party.plan, wrong)
    with pytest.raises(InvalidInput, match="1 to 3 links"):
        verify_chain(party.plan, [one, two, three, three])


def test_a_plan_without_mixers_has_no_chain(party: Party) -> None:
    """Nobody is named who could sign."""
    bare: Plan = party.plan.mixed_by(())
    with pytest.raises(InvalidInput, match="mixers"):
        verify_chain(bare, chain_of(party))


@pytest.mark.parametrize(
    "change",
    [
        {"round": -1},
        {"hop": True},
        {"submissions": 2.5},
        {"messages_in": "7"},
        {"refused": {"x": -1}},
        {"refused": 3},
        {"plan": "x"},
        {"mixer": 5},
        {"output_sha256": ""},
        {"previous": "zz"},
        {"batch_id": "ab"},
        {"lanes": [{}]},
        {"lanes": 3},
        {"format": "krand-mix-2"},
        {"signature": "zz"},
        {"more": 1},
    ],
    ids=str,
)
def test_malformed_links_are_named(party: Party, change: dict[str, object]) -> None:
    """No traceback for any value."""
    values = json.loads(chain_bytes(chain_of(party)))
    values["links"][1].update(change)
    with pytest.raises(InvalidInput, match="krand-chain-1"):
        parse_chain(json.dumps(values).encode())


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"format":"krand-chain-1"}', b'{"format":"x","links":[]}']
)
def test_other_files_are_named(content: bytes) -> None:
    """Whatever is in them."""
    with pytest.raises(InvalidInput, match="krand-chain-1"):
        parse_chain(content)
