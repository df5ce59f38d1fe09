"""Everybody but one mixer works together against one person: the best that they can do.

The attackers know every message but the person's own, have all keys but the honest mixer's, and see
what leaves it. Dummies are drawn by krand, as a mixer draws them; whatever the attackers compute is
written here, from mixing's description alone. Other attacks on mixers are tested where their
defence is: tests/mixing has those named after the rules 1 to 9 (another lane or round, replays, a
restored backup, a mixer run twice, closed rounds, malformed layers), tests/batches/test_chain.py
dropped lanes, tests/wire another hop, tests/client two plans for two people.

2·10^4 trials; `make long` makes it 10^5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv

from effort import LONG
from krand.mixing.dummies import draw_lane
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.planning.making import make_plan
from krand.promise import DUMMY_GRID, DummyLaw, Policy
from krand.randomness.generator import SecureRandom
from krand.survey import mechanisms
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.survey.questions import Question
from krand.survey.survey import Survey, Trust
from mixing.chains import QUESTIONS, Party, batch_id, mixed_plan_for, rows_in, stores_of
from reference.hpke import open_sealed

TRIALS = 10**5 if LONG else 2 * 10**4
ALPHA = 1e-6
"""How often a test may fail by chance."""
EPSILON, DELTA = 1.0, 0.02

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]
Said = tuple[tuple[int, ...], ...]
"""What the person sends in every lane: the places of tokens; the rest are nulls."""


@dataclass(frozen=True)
class Seen:
    """What the attackers see of one lane in every trial, less what they know."""

    tokens: Wholes
    """Trials × positions."""
    nulls: Wholes


@cache
def plan_of(*questions: Question) -> Plan:
    policy = Policy(epsilon=EPSILON, delta=DELTA, minimum_crowd=12)
    trust = Trust(noise=mechanisms.MIXERS, mixers=1)
    return make_plan(Survey(id="s", policy=policy, questions=questions, trust=trust))


def drawn(plan: Plan, trials: int) -> list[Seen]:
    """The dummies of one honest mixer, lane by lane, by its own function."""
    random, found = SecureRandom(), []
    for lane in plan.lanes:
        dummies = [draw_lane(plan, lane, random) for _ in range(trials)]
        tokens = np.array([one.tokens for one in dummies])
        found.append(Seen(tokens, np.array([one.nulls for one in dummies])))
    return found


def own_messages(lane: Lane, said: tuple[int, ...]) -> tuple[Wholes, int]:
    """The person's tokens of every position, and nulls."""
    return np.bincount(np.array(said, int), minlength=lane.positions), lane.messages - len(said)


def with_person(lane: Lane, dummies: Seen, said: tuple[int, ...]) -> Seen:
    tokens, nulls = own_messages(lane, said)
    return Seen(dummies.tokens + tokens, dummies.nulls + nulls)


Nulls = Callable[[Plan, Lane, Seen], Floats]
"""How likely the nulls of a lane are, given its dummies' tokens: a logarithm."""


def described_nulls(plan: Plan, lane: Lane, dummies: Seen) -> Floats:
    """By the description: noise of their own, or as many as fill a lane up."""
    law, tokens = plan.law_of(lane), dummies.tokens.sum(axis=1)
    if lane.messages == 1 and lane.positions > 1:
        return log_weights(law, dummies.nulls)
    assert plan.mixing is not None
    full = 2 * law.reach if lane.positions == 1 else plan.mixing.paddings[lane.number]
    return np.where(dummies.nulls == np.maximum(full - tokens, 0), 0.0, -np.inf)


def no_nulls(plan: Plan, lane: Lane, dummies: Seen) -> Floats:
    """A mixer without any: only the person's are there."""
    return np.where(dummies.nulls == 0, 0.0, -np.inf)


def log_weights(law: DummyLaw, numbers: Wholes) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([*law.weights, 0], float) / DUMMY_GRID)
    outside = (numbers < 0) | (numbers >= len(law.weights))
    return np.asarray(logs[np.where(outside, len(law.weights), numbers)])


def log_likelihood(plan: Plan, seen: Sequence[Seen], said: Said, nulls: Nulls) -> Floats:
    """Of everything that was seen, if this is what the person sent."""
    total = np.zeros(len(seen[0].nulls))
    for lane, found, own in zip(plan.lanes, seen, said, strict=True):
        tokens, empty = own_messages(lane, own)
        left = Seen(found.tokens - tokens, found.nulls - empty)
        total += log_weights(plan.law_of(lane), left.tokens).sum(axis=1)
        total += nulls(plan, lane, left)
    return total


@dataclass(frozen=True, kw_only=True)
class Advantage:
    """P[test | one answer] - e^ε P[test | another]; no test has a larger one than this."""

    least: float
    """Proven by counting how often the test is right, but for a chance of ALPHA."""
    most: float
    mean: float
    """The same more sharply, from the ratios themselves: the mean of (1 - e^ε ÷ ratio)₊."""
    error: float
    """Of the mean, but for a chance of ALPHA (Bernstein)."""


def advantage(
    plan: Plan, dummies: Sequence[Seen], first: Said, second: Said, nulls: Nulls = described_nulls
) -> Advantage:
    """Of the best test: it says "first" where that is more than e^ε times as likely."""
    ratios = []
    for truth in (first, second):
        seen = [
            with_person(lane, found, own)
            for lane, found, own in zip(plan.lanes, dummies, truth, strict=True)
        ]
        one, other = (log_likelihood(plan, seen, said, nulls) for said in (first, second))
        assert np.isfinite(np.maximum(one, other)).all(), "the attackers know the mechanism"
        ratios.append(one - other - EPSILON)
    trials, (right, wrong) = len(ratios[0]), (int((ratio > 0).sum()) for ratio in ratios)
    parts = -np.expm1(-np.maximum(ratios[0], 0))
    chance = math.log(2 / ALPHA) / trials
    return Advantage(
        least=lower(right, trials) - math.exp(EPSILON) * upper(wrong, trials),
        most=upper(right, trials) - math.exp(EPSILON) * lower(wrong, trials),
        mean=float(parts.mean()),
        error=math.sqrt(2 * float(parts.var()) * chance) + 7 / 3 * chance,
    )


def lower(hits: int, trials: int) -> float:
    """Clopper and Pearson's end of an interval, at half of ALPHA."""
    return float(betaincinv(hits, trials - hits + 1, ALPHA / 2)) if hits else 0.0


def upper(hits: int, trials: int) -> float:
    return float(betaincinv(hits + 1, trials - hits, 1 - ALPHA / 2)) if hits < trials else 1.0


ONE_CHOICE = (QUESTIONS[1],)
SURVEYS: dict[str, tuple[tuple[Question, ...], tuple[Said, ...]]] = {
    "yes/no": (QUESTIONS[:1], (((0,),), ((),))),
    "choice": (ONE_CHOICE, (((0,),), ((1,),), ((),))),
    "all": (
        QUESTIONS,
        (
            ((0,), (0,), (3, 7)),
            ((), (1,), (11, 32)),
            ((), (), ()),
        ),
    ),
}
"""Questions, and what the person may have sent."""


def advantages(
    plan: Plan, dummies: Sequence[Seen], answers: Sequence[Said], nulls: Nulls = described_nulls
) -> list[Advantage]:
    """Of every pair of answers, in both directions."""
    return [advantage(plan, dummies, *pair, nulls) for pair in permutations(answers, 2)]


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("name", SURVEYS)
def test_a_made_up_crowd_around_one_person_learns_no_more_than_promised(name: str) -> None:
    """The best test of any two answers stays within ε and δ.

    It is a good test: it comes near δ, exceeds it if the law reaches half as far, and finds the
    person without dummies.
    """
    questions, answers = SURVEYS[name]
    plan = plan_of(*questions)
    assert 0.01 <= (plan.promise.delta or 0) <= DELTA
    found = advantages(plan, drawn(plan, TRIALS), answers)
    for one in found:
        assert one.least <= DELTA
        assert one.mean - one.error <= DELTA
        assert one.least <= one.mean + one.error, "dummies have the law that attackers expect"
        assert one.mean - one.error <= one.most, "dummies have the law that attackers expect"
    assert max(one.mean for one in found) > 0.7 * DELTA
    halved = with_laws(plan, half_as_far)
    found = advantages(halved, drawn(halved, TRIALS // 4), answers)
    assert max(one.mean - one.error for one in found) > DELTA
    bare = with_laws(plan, lambda _: DummyLaw((DUMMY_GRID,)))
    nothing = [Seen(np.zeros((1000, n.positions), int), np.zeros(1000, int)) for n in plan.lanes]
    assert max(one.least for one in advantages(bare, nothing, answers, no_nulls)) > 0.9


def half_as_far(law: DummyLaw) -> DummyLaw:
    kept = law.half[: law.reach // 2 + 1]
    whole = kept[0] + 2 * sum(kept[1:])
    scaled = [weight * DUMMY_GRID // whole for weight in kept[1:]]
    return DummyLaw((DUMMY_GRID - 2 * sum(scaled), *scaled))


def with_laws(plan: Plan, change: Callable[[DummyLaw], DummyLaw]) -> Plan:
    assert plan.mixing is not None
    return replace(plan, mixing=replace(plan.mixing, laws=tuple(map(change, plan.mixing.laws))))


@pytest.mark.parametrize("name", SURVEYS)
def test_the_number_of_nulls_tells_nothing(name: str) -> None:
    """Tokens have noise enough. Nulls without it would tell whether the person has answered."""
    questions, answers = SURVEYS[name]
    plan = plan_of(*questions)
    dummies = drawn(plan, 2000)
    honest = advantages(plan, dummies, answers)
    assert max(one.mean - one.error for one in honest) <= DELTA
    telling = [Seen(one.tokens, one.nulls * 0) for one in dummies]
    found = advantages(plan, telling, answers, no_nulls)
    assert max(one.least for one in found) > 0.9


def sent_by_devices(party: Party) -> Iterator[tuple[Lane, bytes]]:
    """Messages of people who choose everything that can be chosen, and of one who is silent."""
    plan, options = party.plan, [f"option {number}" for number in range(33)]
    pairs = [options[start : start + 2] for start in range(0, 33, 2)]
    pets = ["cat", "dog", "none", *[None] * len(pairs)]
    people: list[dict[str, Any]] = [
        {"smokes": bool(pet), "places": places} | ({"pet": pet} if pet else {})
        for pet, places in zip(pets, [*pairs, []], strict=False)
    ]
    lanes = [lane for lane in plan.lanes for _ in range(lane.messages)]
    for answers in people:
        yield from zip(lanes, party.client().prepare(answers).messages, strict=True)


def peeled(party: Party, lane: Lane, sealed: bytes, hop: int) -> bytes:
    """All layers from this hop on removed, by another HPKE; `info` as documented."""
    mixers = len(party.identities)
    for number in [*range(max(hop, 2), mixers + 1), 0]:
        name = bytes.fromhex(party.plan.hash)
        where = (1).to_bytes(2, "big") + lane.number.to_bytes(4, "big")
        sealed = open_sealed(
            sealed, party.key_of(number), b"krand message" + bytes((1, number)) + name + where
        )
    return sealed


def fixed_bits(messages: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Bits that are set in every message, and bits that are set in any."""
    rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    return np.bitwise_and.reduce(rows).tobytes(), np.bitwise_or.reduce(rows).tobytes()


@pytest.mark.check
def test_dummies_are_messages_of_devices_in_every_byte(tmp_path: Path) -> None:
    """Of every mixer, as every later one and the analyst see them: length, layers, content.

    Nobody takes part, so that everything that leaves is a dummy. An encapsulated key has one bit
    that is always 0; no other bit of any message is fixed.
    """
    party = mixed_plan_for(mixers=3)
    devices = list(sent_by_devices(party))
    contents = {(lane.number, peeled(party, lane, message, 1)) for lane, message in devices}
    assert len(contents) == sum(lane.positions + 1 for lane in party.plan.lanes)
    for hop, files in enumerate(mixed_without_people(party, tmp_path), 1):
        dummies = [(party.plan.lanes[n], row) for n, rows in rows_in(files).items() for row in rows]
        layers = 3 - hop
        assert {len(row) for _, row in dummies} == {len(devices[0][1]) - 48 * (2 - layers)}
        assert {(n.number, peeled(party, n, row, hop + 1)) for n, row in dummies} <= contents
        if hop == 1:
            always, ever = fixed_bits([row for _, row in dummies])
            assert (always, ever) == fixed_bits([message for _, message in devices])
            assert sum(map(int.bit_count, always)) == 0
            assert sum(map(int.bit_count, ever)) == 8 * len(ever) - 1


def mixed_without_people(party: Party, folder: Path) -> Iterator[MixedFiles]:
    """What leaves every mixer, one after the other."""
    stores, alone = stores_of(party, folder), MixOptions(workers=1)
    empty = np.zeros((0, party.plan.messages, 6 + 48 * len(stores)), np.uint8)
    with MixerStore(stores[0]) as store:
        files = first_mix(store, party.plan, 1, batch_id(), empty, folder / "1", alone)
    yield files
    for hop, place in enumerate(stores[1:], 2):
        with MixerStore(place) as store:
            out = folder / str(hop)
            files = mix_batch(store, party.plan, files.data, files.chain, out, alone)
        yield files
