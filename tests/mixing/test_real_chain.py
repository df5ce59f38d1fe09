"""Three mixers as processes of their own, over files: every payload once, and kill -9 at any write.

A few people and kills. `make long`: 20,000 people once through the chain, and 300 kills of each
mixer with 2,000 people.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from collecting import files_in
from collector.callers import Repeated
from collector.halting import spread_over
from collector.lives import Nursery, nursery
from components import require
from effort import LONG
from krand.analysis.results import ResultsOptions, make_results
from krand.analysis.tallying import tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.collector.opening import open_spool
from krand.survey.lanes import Lane
from krand.wire.layers import SUITE
from krand.wire.messages import MessageFormat, Payload
from krand.wire.submissions import Submitted
from mixing.chains import (
    NULL,
    Party,
    mixed_plan_for,
    payloads_of,
    random_answers,
    stores_of,
    true_counts,
)

pytestmark = pytest.mark.check
require("uvicorn")
require("starlette")

PEOPLE, KILLED_PEOPLE, KILLS = (20_000, 2_000, 300) if LONG else (150, 40, 12)
ADDED = 500
"""People that are put into a spool at a time."""
KILLED = -signal.SIGKILL


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
            info = b"krand message" + bytes((1, hop)) + where
            sealed = SUITE.encrypt(sealed, key.public_key(), info)
            if hop == 0:
                self.inside.setdefault(lane.number, set()).add(sealed)
        return sealed

    def out(self, hop: int) -> Path:
        return self.folder / f"out-{hop}"

    def batch(self, hop: int) -> Path:
        (found,) = self.out(hop).glob("*.parquet")
        return found

    def words(self, hop: int) -> list[str]:
        """The command of a mixer; the collector's closes its batch."""
        at = self.folder
        own = ["--plan", at / "plan.json", "--anchor", at / f"anchor-{hop}", "-o", self.out(hop)]
        store = at / f"store-{hop}"
        if hop == 1:
            closing = ["release", "--spool", at / "spool", "--close", "--yes"]
            words = [*closing, "--mixer-store", store, *own]
        else:
            words = ["mix", "run", self.batch(hop - 1), "--store", store, *own]
        return [*map(str, words), "--quiet"]

    def run(self, hop: int) -> None:
        """In a process of its own."""
        command = [sys.executable, "-m", "krand", *self.words(hop)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.loop
def test_twenty_thousand_people_pass_three_processes(tmp_path: Path) -> None:
    """Every payload exactly once, in its lane; estimates within their intervals."""
    place = Place(tmp_path, PEOPLE)
    plan = place.party.plan
    for hop in (1, 2, 3):
        place.run(hop)
    links = read_chain(place.batch(3).with_suffix(".chain.json"))
    verify_chain(plan, links)
    assert [(signed.record.repeats, signed.record.refused) for signed in links] == [(0, {})] * 3
    table = pq.read_table(place.batch(3))
    rows = list(zip(*(table.column(name).to_pylist() for name in ("lane", "message")), strict=True))
    found = Counter(row for row in rows if row[1] in place.inside[row[0]])
    assert sum(map(len, place.inside.values())) == PEOPLE * plan.messages
    assert found.keys() == {(lane, row) for lane, own in place.inside.items() for row in own}
    assert set(found.values()) == {1}
    assert len(rows) == len(found) + sum(signed.record.dummies for signed in links)
    check_estimates(place)


def check_estimates(place: Place) -> None:
    """All truths at once lie in intervals that would miss one in a million times."""
    plan = place.party.plan
    positions = sum(lane.positions + 1 for lane in plan.lanes)
    options = ResultsOptions(confidence=1 - 1e-6 / positions)
    tally = tally_batches(plan, [place.batch(3)], place.party.analyst)
    results = make_results(plan, tally, options)
    true = true_counts(plan, place.answers)
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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with nursery(tmp_path_factory.mktemp("mixers") / "errors") as made:
        yield made


@pytest.mark.loop
@pytest.mark.parametrize("hop", [1, 2, 3])
def test_a_mixer_that_is_killed_shows_one_output(tmp_path: Path, home: Nursery, hop: int) -> None:
    """Killed twice where it changes files, then run to its end: each file had one content."""
    (tmp_path / "work").mkdir()
    place, seen = Place(tmp_path / "work", KILLED_PEOPLE), Counter[int]()
    for before in range(1, hop):
        place.run(before)
    changing = [*["spool"] * (hop == 1), f"store-{hop}", f"anchor-{hop}", f"out-{hop}"]
    runs = Repeated(home, place.folder, changing, place.words(hop))
    assert runs.run() == 0
    for stop_at in spread_over(1, len(runs.calls()), KILLS):
        runs.begin_again()
        ended, shown = runs.run(stop_at=stop_at), files_in(place.out(hop))
        seen[len(shown)] += ended == KILLED
        for again in (1 + stop_at // 2, 0):
            code = runs.run(stop_at=again)
            assert code == 0 or (again and code == KILLED)
            found = files_in(place.out(hop))
            assert found.items() >= shown.items()
            shown = found
        assert len(shown) == 2
        verify_chain(place.party.plan, read_chain(place.batch(hop).with_suffix(".chain.json")))
    print(f"\n{seen.total()} kills of mixer {hop}: files visible {dict(seen)}")
    assert seen.total() > 0.8 * KILLS
