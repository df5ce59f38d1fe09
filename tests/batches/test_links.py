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
PURPOSE = b"krand mix link\0"
TOTALS = ("messages_in", "repeats", "dummies", "messages_out")


@pytest.fixture
def study(tmp_path: Path) -> steps.Study:
    """Nine people and three mixers, of whom each has passed the batch on."""
    return steps.example("trio", tmp_path / "study")


def batch_of(study: steps.Study, hop: int) -> Path:
    """What left a mixer."""
    (path,) = (study.at / f"mixed-{hop}-1").glob("*.parquet")
    return path


def links_of(study: steps.Study, hop: int) -> list[Link]:
    content = batch_of(study, hop).with_suffix(".chain.json").read_bytes()
    links: list[Link] = json.loads(content)["links"]
    return links


def signed(study: steps.Study, hop: int, link: Link, key: Ed25519PrivateKey | None = None) -> Link:
    """By its mixer, or by whoever has the key."""
    content = {name: value for name, value in link.items() if name != "signature"}
    if key is None:
        with study.opened_store(hop) as store:
            key = store.keys.identity
    return {**content, "signature": key.sign(PURPOSE + canonical(content)).hex()}


def handed_on(study: steps.Study, hop: int, links: list[Link]) -> None:
    """The next party takes the batch of this mixer with these links."""
    batch = batch_of(study, hop)
    values = {"format": "krand-chain-1", "links": links}
    batch.with_suffix(".chain.json").write_bytes(canonical(values))
    if hop < 3:
        store = study.at / f"mixer-{hop + 1}"
        krand.mix(study.plan, batch, store, study.at / "out")
    else:
        krand.tally_batches(study.plan, [batch], study.key)


def lane(link: Link, **more: int) -> None:
    """Another number of messages in the first lane, and the same in the sum."""
    for name, value in more.items():
        link["lanes"][0][name] += value
        if name == "refused":
            link["refused"] = {"wrong_length": link["lanes"][0][name]}
        else:
            link[name] += value


def one_lane_less(link: Link) -> None:
    last = link["lanes"].pop()
    for name in TOTALS:
        link[name] -= last[name]


LIES: dict[str, tuple[int, str, Callable[[Link], object]]] = {
    "another plan": (2, "plan", lambda link: link.update(plan="ff" * 32)),
    "another round": (2, "round", lambda link: link.update(round=2)),
    "a round before the first": (1, "round", lambda link: link.update(round=0)),
    "another place": (2, "hop", lambda link: link.update(hop=3)),
    "another mixer": (2, "mixer", lambda link: link.update(mixer="cd" * 32)),
    "one person more": (2, "submissions", lambda link: link.update(submissions=10)),
    "another batch": (3, "batch_id", lambda link: link.update(batch_id="cd" * 16)),
    "other messages taken": (3, "input_sha256", lambda link: link.update(input_sha256="cd" * 32)),
    "another link before": (3, "previous", lambda link: link.update(previous="cd" * 32)),
    "an input of the first": (1, "input_sha256", lambda link: link.update(input_sha256="cd" * 32)),
    "a link before the first": (1, "previous", lambda link: link.update(previous="cd" * 32)),
    "a lane is left out": (3, "lanes", one_lane_less),
    "more leave than there were": (2, "messages_out", lambda link: lane(link, messages_out=1)),
    "fewer dummies than the law": (
        2,
        "dummies",
        lambda link: lane(link, dummies=-1, messages_out=-1),
    ),
    "more came than were sent": (
        2,
        "messages_in",
        lambda link: lane(link, messages_in=1, messages_out=1),
    ),
    "somebody's message is left out": (
        1,
        "messages_in",
        lambda link: lane(link, messages_in=-1, messages_out=-1),
    ),
    **{
        f"the sum of {name}": (2, name, lambda link, name=name: link.update({name: 1}))
        for name in TOTALS
    },
    "the sum of what was refused": (2, "refused", lambda link: link.update(refused={"x": 3})),
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
            assert counts[-1]["messages_out"] + back == 9 * one.messages
        handed_on(study, hop, links)


def test_only_the_mixers_of_the_plan_in_their_order_make_a_chain(study: steps.Study) -> None:
    """Nobody else signs, nothing signed is changed, nobody is skipped or comes twice."""
    one, two, three = links_of(study, 3)
    stranger = Ed25519PrivateKey.generate()
    mixer = two["mixer"]
    changed = {**two, "output_sha256": "cd" * 32}
    for links in (
        [one, signed(study, 2, two, stranger)],
        [one, changed],
        [one, {**two, "mixer": one["mixer"]}],
        [one, three],
        [two, one],
        [one, one],
        [one],
        [],
        [one, two, three, three],
    ):
        with pytest.raises(krand.InvalidInput, match="chain"):
            handed_on(study, 3 if len(links) > 2 else 2, links)
    assert two["mixer"] == mixer


def test_a_batch_is_the_one_of_its_chain(study: steps.Study) -> None:
    """Every byte counts, and the file of another mixer is not taken for it."""
    batch = batch_of(study, 3)
    whole, links = batch.read_bytes(), links_of(study, 3)
    for place in range(0, len(whole), len(whole) // 40):
        batch.write_bytes(whole[:place] + bytes((whole[place] ^ 4,)) + whole[place + 1 :])
        with pytest.raises(krand.InvalidInput):
            handed_on(study, 3, links)
    batch.write_bytes(batch_of(study, 2).read_bytes())
    with pytest.raises(krand.InvalidInput):
        handed_on(study, 3, links)
    batch.unlink()
    with pytest.raises(krand.InvalidInput, match="batch"):
        krand.tally_batches(study.plan, [batch], study.key)


def test_a_collectors_batch_is_the_one_that_it_signed(tmp_path: Path) -> None:
    """Where devices add the noise: by this collector, of this plan, and not another number."""
    study = steps.example("tiny", tmp_path)
    (batch,) = study.at.glob("batches-1/*.parquet")
    collector = krand.read_verifying_key(study.at / "collector.pub.pem")
    manifest = batch.with_suffix(".manifest.json")
    whole = manifest.read_bytes()
    for place in range(0, len(whole), 7):
        manifest.write_bytes(whole[:place] + bytes((whole[place] ^ 1,)) + whole[place + 1 :])
        with pytest.raises(krand.InvalidInput, match="manifest"):
            krand.tally_batches(study.plan, [batch], study.key, collector)
    manifest.write_bytes(whole)
    other = krand.generate_signing_key().public_key()
    with pytest.raises(krand.InvalidInput, match="signed by the collector"):
        krand.tally_batches(study.plan, [batch], study.key, other)
    assert krand.tally_batches(study.plan, [batch], study.key, collector).people == 14
    shutil.copytree(batch.parent, tmp_path / "again")
    twice = [batch, tmp_path / "again" / batch.name]
    with pytest.raises(krand.InvalidInput, match="batch"):
        krand.tally_batches(study.plan, twice, study.key, collector)
    assert hashlib.sha256(batch.read_bytes()).hexdigest().encode() in whole
