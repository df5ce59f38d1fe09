"""Copies of messages: found in a batch, by whoever counts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.engines.responses import BIT, KEY, PEOPLE, SHORT, SIGNER, shuffled, signed
from krand import Client, tally_batches
from krand.analysis.actual_promise import actual_promise
from krand.analysis.engines import repeats
from krand.analysis.engines.repeats import find_repeats
from krand.analysis.engines.source import Source, open_batch
from krand.analysis.tallying import tally_sources
from krand.batches.chain import manifest_bytes
from krand.batches.provenance import Provenance
from krand.batches.sealed import write_sealed
from krand.client.transport import Reply
from krand.errors import CannotMeet, InvalidInput
from krand.survey.plan import Plan
from krand.testing import FakeCollector, UnsafeMemoryLedger, simulated_people, small_plan
from krand.wire.layers import LayerSealer
from krand.wire.messages import ANALYST, Token, Vector, length_at
from krand.wire.submissions import HEAD_LENGTH

FIRST, SECOND = "aa" * 16, "bb" * 16


class Wire:
    """Sends what passes on to a collector, and keeps it."""

    def __init__(self, collector: FakeCollector) -> None:
        self.collector, self.bodies = collector, list[bytes]()

    def post(self, url: str, body: bytes) -> Reply:
        self.bodies.append(body)
        return self.collector.post(url, body)

    def wait(self, seconds: float) -> None:
        self.collector.wait(seconds)


def collected(people: int, replayed: int) -> tuple[Plan, FakeCollector]:
    """So many people answer; one of them is sent again, under so many other ids."""
    plan = small_plan().sealed_for(KEY.public_key())
    collector = FakeCollector(plan)
    wire = Wire(collector)
    for answers in simulated_people(plan.survey, people, seed=1):
        client = Client(plan, UnsafeMemoryLedger(), transport=wire, expected_hash=plan.hash)
        client.submit(collector.url, answers)
    url, body = f"{collector.url}/v1/{plan.hash}/submissions", wire.bodies[0]
    for number in range(replayed):
        other = body[:3] + hashlib.sha256(b"%d" % number).digest()[:16] + body[HEAD_LENGTH:]
        assert collector.post(url, other).status == 202
    return plan, collector


def test_one_person_under_many_ids_is_refused_and_weakens_the_promise(tmp_path: Path) -> None:
    """What is sent again is counted as refused, by a reason of its own, and counts nowhere."""
    plan, collector = collected(100, 5)
    batch = collector.release(tmp_path)
    tally = tally_batches(plan, [batch], KEY, collector.public_key)
    assert collector.people == tally.people == 105
    assert tally.rejected == {"repeated": 5 * plan.messages}
    assert tally.nulls + int(tally.counts.sum()) == 100 * plan.messages
    promise = actual_promise(plan, tally)
    assert promise.colluding == plan.promise.colluding + 5 * plan.messages
    assert promise.delta > actual_promise(plan, replace(tally, rejected={})).delta


def test_a_crowd_of_one_person_hides_nobody(tmp_path: Path) -> None:
    """One person's messages under a hundred ids were a hundred people, certified."""
    plan, collector = collected(1, 99)
    tally = tally_batches(plan, [collector.release(tmp_path)], KEY, collector.public_key)
    assert tally.rejected == {"repeated": 99 * plan.messages}
    with pytest.raises(CannotMeet, match="nobody may be protected"):
        actual_promise(plan, tally)


Laned = tuple[int, bytes]
"""A message and the lane it is in."""


def batch_of(plan: Plan, path: Path, messages: list[Laned], batch_id: str) -> Path:
    """A batch and its manifest with these messages."""
    lanes = [
        (lane.number, shuffled([row for number, row in messages if number == lane.number], 1))
        for lane in plan.lanes
        if any(number == lane.number for number, _ in messages)
    ]
    with path.open("wb") as stream:
        count = write_sealed(stream, length_at(plan, ANALYST), batch_id, lanes)
    vouched = replace(signed(plan, path, count), batch_id=batch_id)
    path.with_suffix(".manifest.json").write_bytes(manifest_bytes(vouched, SIGNER))
    return path


def sealed(plan: Plan, count: int) -> list[Laned]:
    """So many different messages, in the order in which people send them."""
    sealer, row = LayerSealer(plan, 1), np.packbits(np.arange(plan.layout.positions) % 2 == 0)
    lanes = [lane for lane in plan.lanes for _ in range(lane.messages)]
    found = []
    for place in range(count):
        lane = lanes[place % len(lanes)]
        payload = Vector(row.tobytes()) if lane.records else Token(lane.offset)
        found.append((lane.number, sealer.seal(lane, payload)))
    return found


def source_of(path: Path) -> Source:
    """The batch, small as it is: the number of messages is checked before copies are looked for."""
    content = json.loads(path.with_suffix(".manifest.json").read_bytes())
    digest, batch_id = content["batch_sha256"], content["batch_id"]
    rows = content["messages"]
    return Source(
        uri=str(path),
        sealed=True,
        round=1,
        people=PEOPLE,
        rows=rows,
        sha256=digest,
        id=batch_id,
        provenance=Provenance.DEVICES,
    )


@pytest.mark.parametrize("plan", [BIT, SHORT], ids=["bit", "record"])
def test_the_first_copy_counts_and_all_others_are_refused(plan: Plan, tmp_path: Path) -> None:
    """Copies of one message, copies of several, and none where there are none."""
    once = sealed(plan, 30)
    path = batch_of(plan, tmp_path / "b.parquet", once + once[:3] + once[2:3] * 4, FIRST)
    clean = batch_of(plan, tmp_path / "c.parquet", once, SECOND)
    copied = tally_sources(plan, [source_of(path)], key=KEY)
    alone = tally_sources(plan, [source_of(clean)], key=KEY)
    assert copied.rejected == {"repeated": 7}
    assert alone.rejected == {}
    assert np.array_equal(copied.counts, alone.counts)
    assert (copied.nulls, copied.responses) == (alone.nulls, alone.responses)


def test_a_key_that_was_used_twice_is_a_copy_whatever_it_seals(tmp_path: Path) -> None:
    """An ephemeral key is for one message: the first in the file counts."""
    (lane, first), (_, second) = sealed(BIT, 2)
    forged = first[:32] + second[32:]
    path = batch_of(BIT, tmp_path / "b.parquet", [(lane, first), (lane, forged)], FIRST)
    tally = tally_sources(BIT, [source_of(path)], key=KEY)
    assert sum(tally.rejected.values()) in (1, 2)  # the forged one does not open if it is first
    assert tally.rejected["repeated"] == 1


def test_large_batches_are_looked_at_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same outcome, and a bounded number of messages in memory."""
    once = sealed(BIT, 500)
    source = source_of(batch_of(BIT, tmp_path / "b.parquet", once + once[:100], FIRST))
    whole = find_repeats(source)
    monkeypatch.setattr(repeats, "AT_ONCE", 10)
    parts = find_repeats(source)
    assert whole.surplus == parts.surplus == 100
    assert whole.digests == parts.digests
    assert whole.firsts.equals(parts.firsts)


@pytest.mark.check
@pytest.mark.parametrize(
    ("second", "message"),
    [(SECOND, "must be one: a round is one batch"), (FIRST, "two batches have one id")],
)
def test_a_second_batch_of_a_round_is_refused(second: str, message: str, tmp_path: Path) -> None:
    """Also under the id of the first: a spool that was restored goes on under it."""
    all_of_one = PEOPLE * BIT.messages
    once = sealed(BIT, 2 * all_of_one)
    files = [
        batch_of(BIT, tmp_path / "old.parquet", once[:all_of_one], FIRST),
        batch_of(BIT, tmp_path / "new.parquet", once[all_of_one:], second),
    ]
    with pytest.raises(InvalidInput, match=message):
        tally_batches(BIT, files, KEY, SIGNER.public_key())


def test_a_batch_that_carries_another_id_than_its_manifest_is_refused(tmp_path: Path) -> None:
    """Nobody can give an old batch a new id without the collector's signature on both."""
    path = batch_of(BIT, tmp_path / "b.parquet", sealed(BIT, 5), FIRST)
    vouched = replace(signed(BIT, path, 5), batch_id=SECOND)
    with pytest.raises(InvalidInput, match="must carry the id that was signed"):
        open_batch(str(path), BIT, vouched)


def test_what_was_found_does_not_change_the_work_of_others(tmp_path: Path) -> None:
    """Without copies nothing is set aside."""
    source = source_of(batch_of(BIT, tmp_path / "b.parquet", sealed(BIT, 5), FIRST))
    found = find_repeats(source)
    assert (found.digests, found.firsts, found.surplus) == (b"", None, 0)
