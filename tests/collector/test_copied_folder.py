"""What a copied folder of a collector tells: measured by an attacker, and bounded by chance.

The attacker has every byte of the folder, knows all messages, and guesses from where they lie which
belong together and which came when. What they compute shares no code with the collector, and knows
nothing of how it keeps its files.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from chaos import files_in, quick_folder
from effort import EFFORT
from rounds import ACCEPTED, Round

PEOPLE = 150 * min(EFFORT, 8)
POOL = 32
"""Nobody is to be told apart from so many others."""

Place = tuple[int, int, int]
"""Where a message lies in all files together, whose it is, and which of theirs."""


def places(folder: Path, round: Round) -> list[Place]:
    """Of every message that is there in one piece, in the order of the files."""
    content = b"\0".join(files_in(folder).values())
    found = [
        (content.find(message), number, place)
        for number in range(PEOPLE)
        for place, message in enumerate(round.messages(number))
    ]
    return sorted(one for one in found if one[0] >= 0)


@pytest.fixture(scope="module", params=["tiny", pytest.param("mixer", marks=pytest.mark.nightly)])
def scene(request: pytest.FixtureRequest) -> Iterator[tuple[Round, dict[str, list[Place]]]]:
    """People come one by one; the folder is copied while the collector runs, and when it rests."""
    with quick_folder() as home:
        round = Round.begun(home / "round", request.param)
        with round.served() as collector:
            assert collector.send(range(PEOPLE)) == [ACCEPTED] * PEOPLE
            copied(round.spool, home / "busy")
        yield round, {"busy": places(home / "busy", round), "at rest": places(round.spool, round)}


def copied(folder: Path, to: Path) -> None:
    shutil.copytree(folder, to, ignore=lambda _, names: {"control"} & {*names})


def chance_at_most(mean: float, ways: int = 16) -> float:
    """A count that the luckiest of so many independent guesses exceeds in one of 10^7 tests."""
    level = math.log(1e7 * ways)
    return mean + math.sqrt(2 * mean * level) + level


@pytest.mark.parametrize("moment", ["busy", "at rest"])
def test_no_message_is_tied_to_another_of_its_person(
    scene: tuple[Round, dict[str, list[Place]]], moment: str
) -> None:
    """Not by lying side by side, and not by having the same rank among those of their kind."""
    round, found = scene[0], scene[1][moment]
    each = round.plan.messages
    assert len(found) > 0.98 * PEOPLE * each, "the attacker looks in the right place"
    together = sum(one[1] == other[1] for one, other in pairwise(found))
    assert together <= chance_at_most(len(found) * (each - 1) / (each * POOL))
    ranked = [[person for _, person, n in found if n == place] for place in range(each)]
    for one, other in pairwise(ranked):
        same = sum(a == b for a, b in zip(one, other, strict=False))
        assert same <= chance_at_most(PEOPLE / POOL), f"{same} of {PEOPLE} have one rank"


def test_at_rest_nothing_tells_what_came_when(scene: tuple[Round, dict[str, list[Place]]]) -> None:
    """The order is what chance gives, but for the pool, half of which came last; and so are those
    at either end."""
    found = scene[1]["at rest"]
    people = [person for _, person, n in found if n == 0 and person < PEOPLE - 2 * POOL]
    order = np.corrcoef(np.arange(len(people)), people)[0, 1]
    assert abs(order) < 6.1 / math.sqrt(len(people)), f"places follow arrival: {order:.2f}"
    late, tenth = PEOPLE - PEOPLE // 10, len(found) // 10
    for end in (found[:tenth], found[-tenth:]):
        guessed = sum(person >= late for _, person, _ in end)
        assert guessed <= chance_at_most(tenth / 10), f"{guessed} of {tenth} came late"


def test_while_people_come_only_the_newest_stand_out(
    scene: tuple[Round, dict[str, list[Place]]],
) -> None:
    """The others lie in no order; at most two pools are new."""
    found = [person for _, person, n in scene[1]["busy"] if n == 0]
    old = [person for person in found if person < PEOPLE - 2 * POOL]
    order = np.corrcoef(np.arange(len(old)), old)[0, 1]
    assert abs(order) < 6.1 / math.sqrt(len(old)), f"places follow arrival: {order:.2f}"


def test_nobodys_id_can_be_looked_up(scene: tuple[Round, dict[str, list[Place]]]) -> None:
    """Neither it nor a digest that anybody could compute is in the folder; the key is elsewhere."""
    round = scene[0]
    content = b"\0".join(files_in(round.spool).values())
    for number in range(PEOPLE):
        name = round.id(number)
        digests = [hashlib.new(kind, name).digest() for kind in ("sha256", "sha512", "blake2b")]
        short = [hashlib.blake2b(name, digest_size=size).digest() for size in (16, 32)]
        for form in (name, name.hex().encode(), *(one[:16] for one in (*digests, *short))):
            assert form not in content, f"person {number}"


def test_what_is_kept_is_for_the_collectors_user_alone(
    scene: tuple[Round, dict[str, list[Place]]],
) -> None:
    """Whatever the mask of the process is."""
    own = [scene[0].spool / name for name in ("keys", "rounds", "state.sqlite")]
    for path in (scene[0].spool, *own, *own[0].rglob("*"), *own[1].rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, f"{path} may be read by others"
