"""What an observer of the wire sees: how many messages of which length, never the answers.

And what the analyst sees in one submission, who may open it: noise as the plan says, in no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import permutations

import numpy as np
import pytest

import krand
import oracle
import steps
import world
from effort import EFFORT
from krand.testing import FakeCollector

KEY = krand.generate_private_key()
HEAD = 19
"""Version, round and id; then messages of one length."""
SILENT: dict[str, object] = {}
ANSWERS: dict[str, object] = {"fair": True, "lunch": "soup", "tools": ["phone", "laptop"]}


class Wire(FakeCollector):
    """Keeps what devices send, byte for byte."""

    def __init__(self, name: str) -> None:
        super().__init__(steps.named(world.plan(name), KEY))
        self.bodies: list[bytes] = []

    def post(self, url: str, body: bytes) -> object:
        self.bodies.append(body)
        return super().post(url, body)

    def messages(self, answers: Mapping[str, object]) -> list[bytes]:  # type: ignore[override]
        """What the device of a new person sends behind the head."""
        steps.device(self.plan, transport=self).submit(answers)
        sealed = self.bodies[-1][HEAD:]
        length = len(sealed) // self.plan.messages
        return [sealed[start : start + length] for start in range(0, len(sealed), length)]


def fullest(name: str) -> dict[str, object]:
    """Somebody who answers everything, and picks as much as may be picked."""
    return max(world.people(name, 300), key=lambda person: (len(person), len(str(person))))


@pytest.mark.parametrize("name", ["kinds", "branches", "copies", "records", "tiny"])
def test_all_submissions_look_alike(name: str) -> None:
    """Of people who say nothing and of people who say everything: nothing but length is alike."""
    wire = Wire(name)
    sent = [wire.messages(who) for who in (SILENT, fullest(name)) * (4 * EFFORT)]
    lengths = Counter((len(body), len(made)) for body, made in zip(wire.bodies, sent, strict=True))
    assert len(lengths) == 1, f"submissions of different lengths: {lengths}"
    assert len({body[:3] for body in wire.bodies}) == 1, "version and round"
    assert len({body[3:HEAD] for body in wire.bodies}) == len(wire.bodies), "an id came twice"
    pieces = [piece for made in sent for piece in made]
    assert len({piece[:32] for piece in pieces}) == len(pieces), "two messages have one key"
    assert oracle.looks_random(b"".join(piece[32:] for piece in pieces))


@cache
def opened(name: str, count: int) -> list[tuple[int, list[bytes]]]:
    """The lanes of so many people's submissions, with the content of their messages in order."""
    wire = Wire(name)
    found = []
    for _ in range(count * EFFORT):
        made, lanes = iter(wire.messages(ANSWERS if name == "tiny" else SILENT)), wire.plan.lanes
        for lane in lanes:
            sealed = (next(made) for _ in range(lane.messages))
            keys = {oracle.ANALYST: KEY}
            content = [oracle.peeled(keys, wire.plan.hash, lane.number, one) for one in sealed]
            found.append((lane.number, content))
    return found


PEOPLE = 200


def test_the_noise_on_the_wire_is_that_of_the_plan() -> None:
    """At every position, of whoever has it and of whoever has it not."""
    found = Counter(
        int.from_bytes(content[2:])
        for _, lane in opened("tiny", PEOPLE)
        for content in lane
        if content[1] == 1
    )
    plan, people = world.plan("tiny"), PEOPLE * EFFORT
    true = {0, 1, 4, 5}
    """fair: yes; lunch: soup; tools: phone and laptop."""
    for block in plan.blocks:
        q = block.numerator / 2**32
        for position in range(block.block.offset, block.block.offset + block.positions):
            chance = 1 - q if position in true else q
            ones = found.pop(position, 0)
            assert oracle.is_likely(ones, people, chance), f"{position}: {ones} of {people} people"
    assert not found, f"tokens of no position: {found}"


def test_tokens_stand_anywhere() -> None:
    """Of two tokens and an empty message of a lane every order is equally likely."""
    last = max(lane for lane, _ in opened("tiny", PEOPLE))
    seen = Counter(
        tuple(int.from_bytes(one[2:]) if one[1] else -1 for one in content)
        for lane, content in opened("tiny", PEOPLE)
        if lane == last
    )
    orders = [*permutations((4, 5, -1))]
    counts = np.array([seen[order] for order in orders])
    assert counts.sum() > PEOPLE / 3, seen
    assert oracle.follows(counts, np.full(len(orders), 1 / len(orders))), seen


def test_copies_of_a_record_are_flipped_apart() -> None:
    """Each bit of each copy by itself: two copies have it as often as chance has it twice."""
    plan, people = world.plan("copies"), 150
    vectors = [
        np.unpackbits(np.frombuffer(content[2:], np.uint8))[: plan.layout.positions]
        for _, lane in opened("copies", people)
        for content in lane
    ]
    bits = np.array(vectors).reshape(people * EFFORT, 4, plan.layout.positions)
    q = plan.blocks[0].numerator / 2**32
    for position in range(plan.layout.positions):
        ones, both = int(bits[..., position].sum()), int(bits[:, :2, position].prod(axis=1).sum())
        assert oracle.is_likely(ones, 4 * people * EFFORT, q), f"{position}: {ones}"
        assert oracle.is_likely(both, people * EFFORT, q * q), f"{position}: {both} twice"
