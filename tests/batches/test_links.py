"""Chains: every link signed by its mixer, in order, taking up what the one before passed on.

The liar here is a mixer of the plan: it signs what it says, so that only the check of that field
can find it. Whoever is next refuses the batch: another mixer, or the analyst.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import krand
import steps
from forge import canonical

Link = dict[str, Any]
PURPOSE = b"krand link\0"


@pytest.fixture
def study(tmp_path: Path) -> steps.Study:
    """Nine people and three mixers, of whom each has passed the batch on."""
    return steps.example("trio", tmp_path / "study")


def links_of(study: steps.Study, hop: int) -> list[Link]:
    content = study.batch(hop).with_suffix(".chain.json").read_bytes()
    links: list[Link] = json.loads(content)["links"]
    return links


def signed(study: steps.Study, hop: int, link: Link, key: Ed25519PrivateKey | None = None) -> Link:
    """By its mixer, or by whoever has the key."""
    content = {name: value for name, value in link.items() if name != "signature"}
    key = key or study.identity(hop)
    return {**content, "signature": key.sign(PURPOSE + canonical(content)).hex()}


def handed_on(study: steps.Study, hop: int, links: list[Link]) -> None:
    """The next party takes the batch of this mixer with these links."""
    batch = study.batch(hop)
    values = {"format": "krand-chain-1", "links": links}
    batch.with_suffix(".chain.json").write_bytes(canonical(values))
    if hop < 3:
        study.mix(batch, hop + 1, study.at / "out")
    else:
        krand.tally_batches(study.plan, [batch], study.key)


def lane(link: Link, **more: int) -> None:
    """Another number of messages in the first lane."""
    for name, value in more.items():
        link["lanes"][0][name] += value


LIES: dict[str, tuple[int, str, Callable[[Link], object]]] = {
    "another plan": (2, "plan", lambda link: link.update(plan="ff" * 32)),
    "another round": (2, "round", lambda link: link.update(round=2)),
    "a round after the last": (1, "round", lambda link: link.update(round=7)),
    "another place": (2, "place", lambda link: link.update(place=3)),
    "one person more": (2, "people", lambda link: link.update(people=10)),
    "other messages taken": (3, "input", lambda link: link.update(input="cd" * 32)),
    "another link before": (3, "previous", lambda link: link.update(previous="cd" * 32)),
    "an input of the first": (1, "input", lambda link: link.update(input="cd" * 32)),
    "a link before the first": (1, "previous", lambda link: link.update(previous="cd" * 32)),
    "a lane is left out": (3, "lanes", lambda link: link["lanes"].pop()),
    "more leave than there were": (2, "out", lambda link: lane(link, out=1)),
    "fewer dummies than the law": (2, "dummies", lambda link: lane(link, dummies=-1, out=-1)),
    "more came than were sent": (2, "came", lambda link: lane(link, came=1, out=1)),
    "a message is left out": (1, "came", lambda link: lane(link, came=-1, out=-1)),
}
"""Who lies, the field that gives it away, and the lie."""


@pytest.mark.parametrize("lie", LIES)
def test_rule_7_a_mixer_that_signs_a_wrong_link_is_found(study: steps.Study, lie: str) -> None:
    hop, field, change = LIES[lie]
    *before, link = links_of(study, hop)
    change(link)
    with pytest.raises(krand.InvalidInput) as caught:
        handed_on(study, hop, [*before, signed(study, hop, link)])
    assert caught.value.field == f"chain.{field}"


def test_an_honest_chain_adds_up_in_every_lane_at_every_length(study: steps.Study) -> None:
    """Repeated and refused messages added back, dummies taken off: everybody's messages."""
    for hop in (1, 2, 3):
        links = links_of(study, hop)
        assert links[-1] == signed(study, hop, links[-1]), "signatures are as documented"
        for place, one in enumerate(study.plan.lanes):
            counts = [link["lanes"][place] for link in links]
            back = sum(each["repeats"] + each["refused"] - each["dummies"] for each in counts)
            assert counts[-1]["out"] + back == 9 * one.messages
        handed_on(study, hop, links)


def test_only_the_mixers_of_the_plan_in_their_order_make_a_chain(study: steps.Study) -> None:
    """Nobody else signs, nothing signed is changed, nobody is skipped or comes twice."""
    one, two, three = links_of(study, 3)
    stranger = Ed25519PrivateKey.generate()
    changed = {**two, "output": "cd" * 32}
    for links in (
        [one, signed(study, 2, two, stranger)],
        [one, changed],
        [one, three],
        [two, one],
        [one, one],
        [one],
        [],
        [one, two, three, three],
    ):
        with pytest.raises(krand.InvalidInput, match="chain"):
            handed_on(study, 3 if len(links) > 2 else 2, links)


def test_a_batch_is_the_one_of_its_chain(study: steps.Study) -> None:
    """Every byte counts, and the file of another mixer is not taken for it."""
    batch = study.batch(3)
    whole, links = batch.read_bytes(), links_of(study, 3)
    for place in range(0, len(whole), len(whole) // 40):
        batch.write_bytes(whole[:place] + bytes((whole[place] ^ 4,)) + whole[place + 1 :])
        with pytest.raises(krand.InvalidInput):
            handed_on(study, 3, links)
    batch.write_bytes(study.batch(2).read_bytes())
    with pytest.raises(krand.InvalidInput):
        handed_on(study, 3, links)
    batch.unlink()
    with pytest.raises(krand.InvalidInput, match="batch"):
        krand.tally_batches(study.plan, [batch], study.key)


def test_chain_of_one_link_adds_no_message(tmp_path: Path) -> None:
    """Where devices add the noise: every byte of it counts, and it adds no message."""
    study = steps.example("tiny", tmp_path)
    batch = study.batch()
    chain = batch.with_suffix(".chain.json")
    whole = chain.read_bytes()
    for place in range(0, len(whole), 7):
        chain.write_bytes(whole[:place] + bytes((whole[place] ^ 1,)) + whole[place + 1 :])
        with pytest.raises(krand.InvalidInput, match="chain"):
            krand.tally_batches(study.plan, [batch], study.key)
    chain.write_bytes(whole)
    (link,) = links_of(study, 1)
    assert [lane["dummies"] for lane in link["lanes"]] == [0] * len(study.plan.lanes)
    lane(link, dummies=1, out=1)
    links = [signed(study, 1, link)]
    chain.write_bytes(canonical({"format": "krand-chain-1", "links": links}))
    with pytest.raises(krand.InvalidInput, match=r"chain\.dummies"):
        krand.tally_batches(study.plan, [batch], study.key)


def test_copies_of_a_batch_are_counted_once_if_they_are_the_same(study: steps.Study) -> None:
    """Two different batches of one round would show which messages are people's."""
    first, again = study.batch(), study.at / "again"
    shutil.copytree(first.parent, again)
    twice = [first, again / first.name]
    assert krand.tally_batches(study.plan, twice, study.key).people == 9
    *before, link = links_of(study, 3)
    content = bytes(len(first.read_bytes()))
    twice[1].write_bytes(content)
    link["output"] = hashlib.sha256(content).hexdigest()
    values = {"format": "krand-chain-1", "links": [*before, signed(study, 3, link)]}
    twice[1].with_suffix(".chain.json").write_bytes(canonical(values))
    with pytest.raises(krand.InvalidInput, match="a round is one batch"):
        krand.tally_batches(study.plan, twice, study.key)
