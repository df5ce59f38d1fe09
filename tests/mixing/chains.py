"""Plans with mixers, and their keys, for the tests of mixing."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from krand.mixing.dummies import NULL, LaneDummies, draw_lane
from krand.mixing.keys import MixerKeys
from krand.mixing.mixer import MixedFiles
from krand.mixing.store import create_store
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.randomness.generator import SecureRandom
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust
from krand.wire.layers import LaneOpener, LayerSealer
from krand.wire.messages import Null, Payload, Token
from mixed_plans import Party, party_of
from schedules import days

POLICY = Policy(epsilon=8.0, delta=1e-2, minimum_crowd=2)
LONG_LIST = Choices(tuple(f"option {number}" for number in range(33)))
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
    PickAny(name="places", choices=LONG_LIST, at_most=2),
)


@cache
def mixed_plan_for(mixers: int = 3, rounds: int = 2) -> Party:
    """A small plan: a yes/no, a choice, and a list with two messages."""
    trust = Trust(noise=mechanisms.MIXERS, mixers=mixers)
    survey = Survey(
        id="s",
        policy=POLICY,
        questions=QUESTIONS,
        rounds=rounds,
        schedule=days(rounds),
        trust=trust,
    )
    return party_of(make_plan(survey))


def stores_of(party: Party, folder: Path, *, anchored: bool = False) -> tuple[Path, ...]:
    """A new store for every mixer; anchors are called anchor-1, anchor-2, ….."""
    made = []
    for hop, identity in enumerate(party.identities, 1):
        private = MixerKeys(identity, dict(enumerate(party.keys.get(hop, ()), 1)))
        anchor = folder / f"anchor-{hop}" if anchored else None
        create_store(folder / f"store-{hop}", f"mixer {hop}", private, anchor)
        made.append(folder / f"store-{hop}")
    return tuple(made)


Answers = tuple[int | None, int | None, tuple[int, ...]]
"""For each of the three lanes: the place of the answer in it, or none; of the list, up to two."""


def random_answers(people: int, seed: int = 1) -> list[Answers]:
    """Anything that people might answer, and nothing at all."""
    chance = random.Random(seed)
    places = range(33)
    return [
        (
            chance.choice((0, None)),
            chance.choice((0, 1, 2, None)),
            tuple(chance.sample(places, chance.randrange(3))),
        )
        for _ in range(people)
    ]


def payloads_of(plan: Plan, answers: Answers) -> list[tuple[Lane, Payload]]:
    """One person's messages in the order of the lanes, nulls last in each."""
    found: list[tuple[Lane, Payload]] = []
    for lane, said in zip(plan.lanes, answers, strict=True):
        places = () if said is None else (said,) if isinstance(said, int) else said
        own = [Token(lane.offset + place) for place in places]
        nulls = [Null()] * (lane.messages - len(own))
        found += [(lane, payload) for payload in [*own, *nulls]]
    return found


def sealed_people(plan: Plan, people: list[Answers], round_number: int = 1) -> NDArray[np.uint8]:
    """What a collector has of them: people × messages × bytes."""
    sealer = LayerSealer(plan, round_number)
    joined = b"".join(
        sealer.seal(lane, payload) for one in people for lane, payload in payloads_of(plan, one)
    )
    return np.frombuffer(joined, np.uint8).reshape(len(people), plan.messages, sealer.length)


def batch_id() -> str:
    return secrets.token_hex(16)


def rows_in(files: MixedFiles) -> dict[int, list[bytes]]:
    """The messages of a batch by lane."""
    table = pq.read_table(files.data)
    found: dict[int, list[bytes]] = {}
    for lane, message in zip(
        table.column("lane").to_pylist(), table.column("message").to_pylist(), strict=True
    ):
        found.setdefault(lane, []).append(message)
    return found


def counted(party: Party, files: MixedFiles, round_number: int = 1) -> Counter[tuple[int, int]]:
    """What the analyst finds: how often each position, or NULL, is in each lane."""
    opener = LaneOpener(party.analyst, party.plan, round_number)
    found: Counter[tuple[int, int]] = Counter()
    for number, rows in rows_in(files).items():
        opened = opener.open_all(party.plan.lanes[number], rows)
        assert not opened.rejected
        found[number, NULL] += opened.nulls
        found.update((number, int(position)) for position in opened.positions)
    return +found


def true_counts(plan: Plan, people: list[Answers]) -> Counter[tuple[int, int]]:
    """The true counts."""
    return Counter(
        (lane.number, payload.position if isinstance(payload, Token) else NULL)
        for one in people
        for lane, payload in payloads_of(plan, one)
    )


@contextmanager
def drawn_dummies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[tuple[int, int]]]:
    """Adds up all dummies that mixers draw, which they themselves forget."""
    total: Counter[tuple[int, int]] = Counter()

    def spied(plan: Plan, lane: Lane, random: SecureRandom) -> LaneDummies:
        found = draw_lane(plan, lane, random)
        total[lane.number, NULL] += found.nulls
        for place, count in enumerate(found.tokens.tolist()):
            total[lane.number, lane.offset + place] += count
        return found

    with monkeypatch.context() as patch:
        patch.setattr("krand.mixing.run.draw_lane", spied)
        yield total
