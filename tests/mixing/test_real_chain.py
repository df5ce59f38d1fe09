"""Three mixers as processes of their own, over files: every payload once, and kill -9 at any time.

A few people and kills. `make long`: 20,000 people once through the chain, and 100 kills of each
mixer with 2,000 people.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from effort import LONG
from krand.analysis.results import ResultsOptions, make_results
from krand.analysis.tallying import tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.collector.opening import open_spool
from krand.survey.lanes import Lane
from krand.wire.messages import MessageFormat, Payload
from krand.wire.submissions import Submitted
from krand.wire.suites import SUITE
from mixing.chains import NULL, Party, mixed_plan_for, payloads_of, random_answers, stores_of, told

pytestmark = pytest.mark.check

PEOPLE, KILLED_PEOPLE, KILLS = (20_000, 2_000, 100) if LONG else (150, 40, 1)
ADDED = 500
"""People that are put into a spool at a time."""
KILLED = -signal.SIGKILL
SOON = 0.03
"""Seconds in which a killed process may get from one file to the next."""


@dataclass
class Place:
    """A folder with a plan, a full spool, and the stores of three mixers with their anchors."""

    folder: Path
    people: int
    party: Party = field(default_factory=lambda: mixed_plan_for(mixers=3))
    inside: dict[int, set[bytes]] = field(default_factory=dict)
    """What people sealed for the analyst, by lane, without the layers around it."""

    def __post_init__(self) -> None:
        self.answers = random_answers(self.people)
        (self.folder / "plan.json").write_bytes(self.party.plan.bytes)
        stores_of(self.party, self.folder, anchored=True)
        with open_spool(self.party.plan, self.folder / "spool") as spool:
            for start in range(0, self.people, ADDED):
                spool.add(list(self._submissions(start, start + ADDED)))

    def _submissions(self, start: int, end: int) -> Iterator[Submitted]:
        for answers in self.answers[start:end]:
            sealed = (self._sealed(*one) for one in payloads_of(self.party.plan, answers))
            yield Submitted(os.urandom(16), b"".join(sealed))

    def _sealed(self, lane: Lane, payload: Payload) -> bytes:
        """In all layers, as documented; what is inside is remembered."""
        name = bytes.fromhex(self.party.plan.hash)
        where = name + (1).to_bytes(2, "big") + lane.number.to_bytes(4, "big")
        sealed = MessageFormat(lane).encode(payload)
        for hop in (0, 3, 2):
            key = self.party.key_of(hop)
            info = b"krand message" + bytes((2, hop)) + where
            sealed = SUITE.encrypt(sealed, key.public_key(), info)
            if hop == 0:
                self.inside.setdefault(lane.number, set()).add(sealed)
        return sealed

    def out(self, hop: int) -> Path:
        return self.folder / f"out-{hop}"

    def batch(self, hop: int) -> Path:
        (found,) = self.out(hop).glob("*.parquet")
        return found

    def start(self, hop: int) -> subprocess.Popen[bytes]:
        """The process of a mixer; the collector's closes its batch."""
        at = self.folder
        own = ["--plan", at / "plan.json", "--anchor", at / f"anchor-{hop}", "-o", self.out(hop)]
        store = at / f"store-{hop}"
        if hop == 1:
            words = [
                "release",
                "--spool",
                at / "spool",
                "--close",
                "--yes",
                "--mixer-store",
                store,
                *own,
            ]
        else:
            words = ["mix", "run", self.batch(hop - 1), "--store", store, *own]
        command = [sys.executable, "-m", "krand", *map(str, words), "--quiet"]
        return subprocess.Popen(command, stderr=subprocess.PIPE)

    def was_done(self, hop: int, code: int) -> bool:
        """Killed after its last step, the collector has no batch left to close, and says so."""
        return hop == 1 and code == 2 and len(list(self.out(1).iterdir())) == 2

    def run(self, hop: int) -> None:
        with self.start(hop) as child:
            assert child.stderr is not None
            errors = child.stderr.read()
        if self.was_done(hop, child.returncode):
            # It was killed after its last step: the batch has left, and the next one is empty.
            assert errors.startswith(b"error: people: must be at least 1, found 0")
            return
        assert child.returncode == 0, errors.decode()


@pytest.mark.loop
def test_twenty_thousand_people_pass_three_processes(tmp_path: Path) -> None:
    """Every payload exactly once, in its lane; estimates within their intervals."""
    place = Place(tmp_path, PEOPLE)
    plan = place.party.plan
    for hop in (1, 2, 3):
        place.run(hop)
    links = read_chain(place.batch(3).with_suffix(".chain.json"))
    verify_chain(plan, links)
    assert [(signed.link.repeats, signed.link.refused) for signed in links] == [(0, {})] * 3
    table = pq.read_table(place.batch(3))
    rows = list(zip(*(table.column(name).to_pylist() for name in ("lane", "message")), strict=True))
    found = Counter(row for row in rows if row[1] in place.inside[row[0]])
    assert sum(map(len, place.inside.values())) == PEOPLE * plan.messages
    assert found.keys() == {(lane, row) for lane, own in place.inside.items() for row in own}
    assert set(found.values()) == {1}
    assert len(rows) == len(found) + sum(signed.link.dummies for signed in links)
    check_estimates(place)


def check_estimates(place: Place) -> None:
    """All truths at once lie in intervals that would miss one in a million times."""
    plan = place.party.plan
    positions = sum(lane.positions + 1 for lane in plan.lanes)
    options = ResultsOptions(confidence=1 - 1e-6 / positions)
    tally = tally_batches(plan, [place.batch(3)], place.party.analyst)
    results = make_results(plan, tally, options)
    true = told(plan, place.answers)
    checked = 0
    for lane, question in zip(plan.lanes, results.questions, strict=True):
        for number, row in enumerate(question.rows[: lane.positions]):
            truth = true[lane.number, lane.offset + number]
            assert row.interval.low <= truth <= row.interval.high, (question.name, row.label)
            checked += 1
        if question.unanswered is not None:
            interval = question.unanswered.interval
            assert interval.low <= true[lane.number, NULL] <= interval.high
            checked += 1
    assert checked >= plan.layout.positions


class Lives:
    """One mixer's run again and again, each from the same store; all that ever was visible."""

    def __init__(self, place: Place, hop: int) -> None:
        self.place, self.hop = place, hop
        names = ["spool"] * (hop == 1) + [f"store-{hop}", f"anchor-{hop}"]
        self._paths = [place.folder / name for name in names]
        self._kept = place.folder / f"kept-{hop}"
        self._kept.mkdir()
        for path in self._paths:
            copied(path, self._kept / path.name)
        self.kills = 0
        self.visible: dict[str, set[bytes]] = {}
        started = time.monotonic()
        self.begin_again()
        self.place.run(hop)
        self._duration = time.monotonic() - started

    def begin_again(self) -> None:
        shutil.rmtree(self.place.out(self.hop), ignore_errors=True)
        for path in self._paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            copied(self._kept / path.name, path)
        self.visible = {}

    def look(self) -> None:
        """Keep whatever others could read now."""
        folder = self.place.out(self.hop)
        for path in folder.iterdir() if folder.exists() else ():
            self.visible.setdefault(path.name, set()).add(path.read_bytes())

    def killed(self, chance: random.Random) -> bool:
        """Start the mixer and kill it at a random point; whether it was killed before its end."""
        store = self.place.folder / f"store-{self.hop}"
        moments: list[tuple[Callable[[], bool], float]] = [
            (lambda: True, self._duration),
            (lambda: any((store / "outbox").iterdir()), SOON),
            (lambda: self.place.out(self.hop).exists(), SOON),
        ]
        reached, longest = chance.choice(moments)
        with self.place.start(self.hop) as child:
            while child.poll() is None and not reached():
                time.sleep(0.001)
            until = time.monotonic() + chance.uniform(0, longest)
            while child.poll() is None and time.monotonic() < until:
                self.look()
                time.sleep(0.001)
            child.kill()
        self.look()
        self.kills += child.returncode == KILLED
        assert child.returncode in (0, KILLED) or self.place.was_done(self.hop, child.returncode)
        return child.returncode == KILLED


def copied(source: Path, target: Path) -> None:
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


@pytest.mark.loop
def test_each_mixer_in_turn_is_killed_and_shows_one_output(tmp_path: Path) -> None:
    """Killed several times, then run to its end: each file had one content, whenever read."""
    place = Place(tmp_path, KILLED_PEOPLE)
    chance, figures = random.Random(), []
    for hop in (1, 2, 3):
        lives, outputs = Lives(place, hop), set()
        while lives.kills < KILLS:
            lives.begin_again()
            for _ in range(chance.randint(1, 4)):
                if not lives.killed(chance):
                    break
            place.run(hop)
            lives.look()
            assert [len(found) for found in lives.visible.values()] == [1, 1], lives.visible.keys()
            outputs.add(place.batch(hop).read_bytes())
            verify_chain(place.party.plan, read_chain(place.batch(hop).with_suffix(".chain.json")))
        figures.append((lives.kills, len(outputs)))
    assert min(kills for kills, _ in figures) >= KILLS
    if LONG:
        sys.stderr.write(f"kills and lives of each mixer: {figures}\n")
