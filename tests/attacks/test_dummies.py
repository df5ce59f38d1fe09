"""Everybody but one mixer works together against one person: the best that they can do.

The attackers know every message but the person's own, have all keys but the honest mixer's, and see
what leaves it. Dummies are drawn by krand, as a mixer draws them; whatever the attackers compute is
the oracle's, from mixing's description alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import krand
import oracle
import steps
import world
from effort import EFFORT

# A batch has one draw of dummies and takes a tenth of a second; attackers need thousands.
from krand.mixing import dummies as mixing
from mixing.by_hand import lanes_of
from parties import Recorder
from rounds import HEAD

TRIALS = 1_000 * EFFORT
EPSILON, DELTA = 1.0, 0.02
Wholes = NDArray[np.int64]
Said = tuple[tuple[int, ...], ...]
"""What the person sends in every lane: the places of tokens; the rest are nulls."""
ANSWERS: dict[str, tuple[Said, ...]] = {
    "short": (((0,), (0,)), ((), (1,)), ((), ())),
    "long": (((0,), (0,), (3, 7)), ((), (1,), (1, 12)), ((), (), ())),
}
LONG_LIST = f"""
[[question]]
name = "places"
type = "pick_any"
at_most = 2
choices = {[f"place {number}" for number in range(33)]}
"""
"""Two messages over many positions: as many empty ones as fill them up."""


class Seen(NamedTuple):
    """Tokens of every position and nulls of one lane, in every trial, less what is known."""

    tokens: Wholes
    nulls: Wholes


@cache
def plan_of(name: str) -> krand.Plan:
    """The world's trio with one honest mixer, and a promise that few trials can test."""
    text = re.sub(r"delta = \S+", f"delta = {DELTA}", world.survey_file("trio").read_text("utf-8"))
    text = text.replace("mixers = 3", "mixers = 1") + LONG_LIST * (name == "long")
    return krand.make_plan(krand.parse_survey(text))


@cache
def drawn(name: str) -> tuple[Seen, ...]:
    """The dummies of the honest mixer, lane by lane."""
    plan, random, found = plan_of(name), mixing.SecureRandom(), []
    for lane in plan.lanes:
        each = [mixing.draw_lane(plan, lane, random) for _ in range(TRIALS)]
        found.append(Seen(np.array([e.tokens for e in each]), np.array([e.nulls for e in each])))
    return tuple(found)


def sent(lane: Any, said: tuple[int, ...]) -> tuple[Wholes, int]:
    """The person's tokens of every position, and nulls."""
    return np.bincount(np.array(said, int), minlength=lane.positions), lane.messages - len(said)


def log_weights(law: Sequence[int], numbers: Wholes) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([*law, 0], float) / sum(law))
    outside = (numbers < 0) | (numbers >= len(law))
    return np.asarray(logs[np.where(outside, len(law), numbers)])


def log_nulls(plan: krand.Plan, lane: Any, law: Sequence[int], left: Seen) -> Any:
    """Nulls have noise of their own, or are as many as fill a lane up."""
    if lane.messages == 1 and lane.positions > 1:
        return log_weights(law, left.nulls)
    full = len(law) - 1 if lane.positions == 1 else lane.padding
    return np.where(left.nulls == np.maximum(full - left.tokens.sum(axis=1), 0), 0.0, -np.inf)


def log_likelihood(plan: krand.Plan, seen: Sequence[Seen], said: Said) -> NDArray[np.float64]:
    """Of everything that was seen, if this is what the person sent."""
    total = np.zeros(len(seen[0].nulls))
    for lane, found, own in zip(plan.lanes, seen, said, strict=True):
        tokens, empty = sent(lane, own)
        left, law = Seen(found.tokens - tokens, found.nulls - empty), plan.law_of(lane).weights
        total += log_weights(law, left.tokens).sum(axis=1) + log_nulls(plan, lane, law, left)
    return total


def advantages(name: str, dummies: Sequence[Seen]) -> Iterator[oracle.Advantage]:
    """The best test of every pair of answers, in both directions."""
    plan = plan_of(name)
    for first, second in permutations(ANSWERS[name], 2):
        ratios = []
        for truth in (first, second):
            seen = []
            for lane, found, own in zip(plan.lanes, dummies, truth, strict=True):
                tokens, empty = sent(lane, own)
                seen.append(Seen(found.tokens + tokens, found.nulls + empty))
            one, other = (log_likelihood(plan, seen, said) for said in (first, second))
            assert np.isfinite(np.maximum(one, other)).all(), "dummies are not as described"
            ratios.append(one - other)
        yield oracle.best_test(*ratios, EPSILON)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_made_up_crowd_around_one_person_learns_no_more_than_promised(name: str) -> None:
    """The best test of any two answers stays within ε and δ, and comes near them."""
    found = check(advantages(name, drawn(name)))
    assert max(one.mean for one in found) > DELTA / 2, "the attack is a good one"


def check(found: Iterable[oracle.Advantage]) -> list[oracle.Advantage]:
    """No attacker is better than δ, and dummies have the law that attackers expect."""
    every = [*found]
    for one in every:
        assert one.mean - one.error <= DELTA, f"an attacker is better than δ = {DELTA}: {one}"
        assert one.least <= DELTA, f"an attacker is better than δ = {DELTA}: {one}"
        assert one.least <= one.mean + one.error, f"dummies have another law: {one}"
        assert one.mean - one.error <= one.most, f"dummies have another law: {one}"
    return every


Draw = Callable[[Seen], Seen]
FAULTS: dict[str, Draw] = {
    "less noise": lambda seen: Seen(seen.tokens // 2 + seen.tokens.max() // 4, seen.nulls),
    "more noise": lambda seen: Seen(seen.tokens * 2 - seen.tokens.max() // 2, seen.nulls),
    "nulls tell": lambda seen: Seen(seen.tokens, seen.nulls - seen.nulls + seen.nulls[0]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_attack_finds_a_mixer_that_draws_from_another_law(fault: str) -> None:
    """Otherwise the one above would prove nothing."""
    changed = [FAULTS[fault](seen) for seen in drawn("short")]
    with pytest.raises(AssertionError, match=r"as described|another law|better than"):
        check(advantages("short", changed))


def test_dummies_are_messages_of_devices_in_every_byte(tmp_path: Path) -> None:
    """Of every mixer, as later ones and the analyst see them: length, layers, content, bits.

    The one person sends what nobody can open, so all that is left behind the second is dummies.
    """
    study = steps.published(tmp_path, "trio")
    plan, collector = study.plan, study.collector()
    keys = {oracle.ANALYST: study.key, **{hop: study.opening(hop) for hop in (2, 3)}}
    devices = [body_of(study) for _ in range(40)]
    size = len(devices[0]) - HEAD
    length, rubbish = size // plan.messages, os.urandom(size)
    mine = {rubbish[at : at + length] for at in range(0, size, length)}
    way_in = f"{collector.url}/v1/plans/{plan.hash}/submissions"
    assert collector.post(way_in, devices[0][:HEAD] + rubbish).status == 202
    batch = study.close()
    possible = {(n.number, kind) for n in plan.lanes for kind in (*range(n.positions), "null")}
    for hop in (1, 2, 3):
        batch = batch if hop == 1 else study.mix(batch, hop)
        rows = [(lane, each) for lane, found in lanes_of(batch).items() for each in found]
        own = [row for row in rows if row[1] not in mine]
        assert len(rows) - len(own) == (plan.messages if hop == 1 else 0)
        assert {len(message) for _, message in own} == {length - 48 * (hop - 1)}
        found = {(n, content_of(plan, keys, n, message, hop + 1)) for n, message in own}
        assert found == possible, f"dummies behind mixer {hop}: {possible ^ found}"
        if hop == 1:
            sent = b"".join(device[HEAD:] for device in devices)
            bits = fixed_bits(b"".join(message for _, message in own), length)
            assert bits == fixed_bits(sent, length), "some bit tells a dummy from a message"


def body_of(study: steps.Study) -> bytes:
    """What a new device sends."""
    recorder = Recorder(study.plan)
    study.client(url=recorder.url, transport=recorder).submit({})
    return recorder.body


def content_of(
    plan: krand.Plan, keys: dict[int, Any], lane: int, sealed: bytes, hop: int
) -> int | str:
    """A position within its lane, or "null"."""
    content = oracle.peeled(keys, plan.hash, lane, sealed, hop=hop)
    if content[1] == 0:
        assert not any(content[2:])
        return "null"
    return int.from_bytes(content[2:]) - plan.lanes[lane].offset


def fixed_bits(content: bytes, length: int) -> tuple[bytes, bytes]:
    """Bits that are set in every message, and bits that are set in any."""
    rows = np.frombuffer(content, np.uint8).reshape(-1, length)
    return np.bitwise_and.reduce(rows).tobytes(), np.bitwise_or.reduce(rows).tobytes()
