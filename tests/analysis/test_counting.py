"""Counting files: every number of a tally is what numpy finds in the file; what does not fit is
refused.

Files are written here as the reference on formats says, so that they can hold anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import krand
import world
from draws import survey_of
from effort import EFFORT
from krand.testing import (
    MIXED_SURVEY,
    FakeChain,
    FakeCollector,
    unsafe_exact_plan,
)

Rows = NDArray[np.uint8]


@cache
def plan_of(positions: int, linked: bool = True, copies: int = 1, people: int = 2) -> krand.Plan:
    """One question with so many positions, without noise; two people are enough."""
    names = krand.Choices([f"c{number}" for number in range(max(2, positions))])
    asked = krand.Choice(name="c", choices=names) if positions > 1 else krand.YesNo(name="c")
    linkage = krand.Linkage.RECORD if linked else krand.Linkage.BIT
    return unsafe_exact_plan(survey_of(asked, people=people, linkage=linkage, copies=copies))


def written(path: Path, of: krand.Plan, content: Any, **header: Any) -> Path:
    """A data holder's file with these responses: positions, or packed rows."""
    linked = of.survey.linkage is krand.Linkage.RECORD
    said = {
        "format": "krand-responses-1",
        "plan": of.hash,
        "round": 1,
        "people": len(content) // of.survey.copies if linked else len(content),
        "linkage": of.survey.linkage.value,
        "positions": of.layout.positions,
        "run": "5e" * 16,
        "provenance": "table",
        **header,
    }
    width = (of.layout.positions + 7) // 8
    kind = pa.binary(width) if linked else pa.int32()
    field = pa.field("vector" if linked else "position", kind, nullable=False)
    schema = pa.schema([field], {b"krand": json.dumps(said, sort_keys=True).encode()})
    if linked:
        raw = pa.py_buffer(np.ascontiguousarray(content).tobytes())
        column = pa.FixedSizeBinaryArray.from_buffers(kind, len(content), [None, raw])
    else:
        column = pa.array(np.asarray(content, np.int32))
    pq.write_table(pa.Table.from_arrays([column], schema=schema), path, row_group_size=70_000)
    return path


def random_rows(rows: int, bits: int, chance: float = 0.4) -> Rows:
    ones = np.random.default_rng([rows, bits]).random((rows, bits)) < chance
    return np.packbits(ones, axis=1)


def check_records(plan: krand.Plan, rows: Rows, path: Path) -> None:
    """Counts, histogram, and the table of all vectors, against unpacked bits."""
    tally = krand.tally_responses(plan, [written(path, plan, rows)])
    bits = plan.layout.positions
    ones = np.unpackbits(rows, axis=1)[:, :bits].astype(np.int64)
    assert np.array_equal(tally.counts, ones.sum(axis=0))
    assert np.array_equal(tally.histogram, np.bincount(ones.sum(axis=1), minlength=bits + 1))
    assert (tally.table is None) == (bits > 16)
    if tally.table is not None:
        numbers = ones @ (1 << np.arange(bits)[::-1])
        assert np.array_equal(tally.table, np.bincount(numbers, minlength=1 << bits))
    assert (tally.responses, tally.batches) == (len(rows), (digest(path),))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


WIDTHS = (1, 5, 8, 9, 16, 17, 40, 64, 65, 130, 249)


@pytest.mark.parametrize("bits", WIDTHS)
def test_records_of_any_length_and_number(bits: int, tmp_path: Path) -> None:
    """Around every power of two, sparse and full: where additions carry, and where they do not."""
    plan = plan_of(bits)
    for number in (2, 7, 8, 63, 65, 255, 257, 1_025):
        check_records(plan, random_rows(number, bits), tmp_path / "r.parquet")
        check_records(plan, random_rows(number, bits, 1.0), tmp_path / "r.parquet")


@pytest.mark.parametrize("bits", [3, 16, 40, 77])
def test_many_records(bits: int, tmp_path: Path) -> None:
    """More than are added up at a time, in several row groups."""
    check_records(plan_of(bits), random_rows(150_001 * EFFORT, bits), tmp_path / "r.parquet")


@pytest.mark.parametrize("positions", [1, 40, 64, 65, 1_000, 70_000])
def test_positions_of_any_number_and_order(positions: int, tmp_path: Path) -> None:
    """Sorted as krand writes them, in any order, in long runs, few of many and many of few."""
    plan, random = plan_of(positions, linked=False), np.random.default_rng(positions)
    for number in (2, 257, 300 * min(positions, 100) + 257):
        drawn = random.integers(0, positions, number)
        for tokens in (drawn, np.sort(drawn), np.repeat(drawn[: number // 17 + 1], 17)):
            path = written(tmp_path / "r.parquet", plan, tokens)
            tally = krand.tally_responses(plan, [path])
            assert np.array_equal(tally.counts, np.bincount(tokens, minlength=positions))
            assert tally.responses == tally.people == len(tokens)


def test_bits_that_were_asked_for_are_counted_jointly(tmp_path: Path) -> None:
    """Of records too long for a table of all vectors; the first bit is the highest."""
    plan, rows = world.plan("records"), random_rows(world.crowd("records"), 19)
    path = written(tmp_path / "r.parquet", plan, rows)
    tally = krand.tally_responses(plan, [path], joint=[("smokes", "pet"), ("pet", "age")])
    ones = np.unpackbits(rows, axis=1).astype(np.int64)
    assert tally.joint
    for bits, table in tally.joint.items():
        numbers = ones[:, list(bits)] @ (1 << np.arange(len(bits))[::-1])
        assert np.array_equal(table, np.bincount(numbers, minlength=1 << len(bits))), bits


def test_records_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Too few people, no whole copies, a one behind the last position."""
    plan, rows = plan_of(13, copies=2, people=10), random_rows(20, 13)
    for content, people, says in (
        (rows, 9, "at least the planned crowd of 10"),
        (rows, 11, "2 records for each of 11 people"),
        (rows | 1, 10, "zeros behind its last position"),
    ):
        path = written(tmp_path / "r.parquet", plan, content, people=people)
        with pytest.raises(krand.InvalidInput, match=says):
            krand.tally_responses(plan, [path])


@pytest.mark.parametrize("wrong", [-1, 40, 64, 2**31 - 1, -(2**31)])
def test_a_position_that_there_is_not_is_refused(wrong: int, tmp_path: Path) -> None:
    """Wherever it stands; nobody could have more than all positions either."""
    plan = plan_of(40, linked=False)
    for place in (0, 500, 999):
        tokens = np.arange(1_000) % 40
        tokens[place] = wrong
        path = written(tmp_path / "r.parquet", plan, tokens)
        with pytest.raises(krand.InvalidInput, match="position from 0 to 39") as caught:
            krand.tally_responses(plan, [path])
        assert caught.value.value == wrong
    path = written(tmp_path / "r.parquet", plan, np.arange(81) % 40, people=2)
    with pytest.raises(krand.InvalidInput, match="at most 40 tokens of each person"):
        krand.tally_responses(plan, [path])


@pytest.mark.parametrize(
    ("content", "says"), [(None, "no such file"), (b"text", "must be a Parquet file")]
)
def test_what_is_no_file_of_responses_is_refused(
    content: bytes | None, says: str, tmp_path: Path
) -> None:
    """A table without krand's header too; an address of a file is as good as its path."""
    if content is not None:
        (tmp_path / "r").write_bytes(content)
    with pytest.raises(krand.InvalidInput, match=says):
        krand.tally_responses(plan_of(13), [tmp_path / "r"])
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t")
    with pytest.raises(krand.InvalidInput, match="krand-responses-1"):
        krand.tally_responses(plan_of(13), [tmp_path / "t"])
    path = written(tmp_path / "good.parquet", plan_of(13), random_rows(20, 13))
    tallies = [krand.tally_responses(plan_of(13), [each]) for each in (path, path.as_uri())]
    assert tallies[0].same_as(tallies[1])


# --- sealed batches ------------------------------------------------------------------------------

ANSWERS = ({"smokes": True, "pet": "cat"}, {"smokes": False, "pet": "dog"}, {"pet": "cat"}, {})
TWELVE = [dict(ANSWERS[number % 4]) for number in range(12)]


@cache
def exact_plan(linked: bool = False) -> krand.Plan:
    """A small survey without noise; twelve people are enough."""
    pet = krand.Choice(name="pet", choices=krand.Choices(["cat", "dog", "none"]))
    more: dict[str, Any] = {"linkage": krand.Linkage.RECORD, "copies": 2} if linked else {}
    return unsafe_exact_plan(survey_of(krand.YesNo(name="smokes"), pet, people=12, **more))


class Copying(FakeCollector):
    """Sends the messages of the first one again under so many other ids."""

    replayed = 0

    def post(self, url: str, body: bytes) -> Any:
        for number in range(0 if self.people else self.replayed):
            other = hashlib.sha256(b"%d" % number).digest()[:16]
            super().post(url, body[:3] + other + body[19:])
        return super().post(url, body)


def submitted(plan: krand.Plan, people: Sequence[Any], replayed: int = 0) -> FakeChain:
    """Everybody answers; the first one's messages come under so many other ids too."""
    chain = FakeChain(plan)
    chain.collector = Copying(chain.plan)
    chain.collector.replayed = replayed
    for answers in people:
        chain.client().submit(answers)
    return chain


def tallied(chain: FakeChain, folder: Path) -> krand.Tally:
    return krand.tally_batches(chain.plan, [chain.release(folder)], chain.key)


@pytest.mark.parametrize("linked", [False, True])
def test_sealed_messages_are_opened_and_counted(linked: bool, tmp_path: Path) -> None:
    """What people said, and the empty messages of every lane."""
    plan = exact_plan(linked)
    tally = tallied(submitted(plan, TWELVE), tmp_path)
    times = plan.survey.copies
    assert tally.counts.tolist() == [3 * times, 6 * times, 3 * times, 0]
    assert (tally.people, tally.crowd, dict(tally.rejected)) == (12, 12, {})
    if not linked:
        sent = np.array([12 * lane.messages for lane in plan.lanes])
        used = [
            tally.counts[lane.offset : lane.offset + lane.positions].sum() for lane in plan.lanes
        ]
        assert tally.lane_nulls.tolist() == (sent - used).tolist()
        assert tally.nulls == sum(tally.lane_nulls)


def test_messages_that_come_again_count_once_and_weaken_the_promise(tmp_path: Path) -> None:
    """Refused by a reason of their own; each may be of somebody who hides nobody."""
    plan, people = world.plan("tiny"), world.people("tiny", 40)
    chains = [submitted(plan, people, again) for again in (0, 2)]
    tallies = [tallied(chain, tmp_path / str(n)) for n, chain in enumerate(chains)]
    assert [tally.people for tally in tallies] == [40, 42]
    assert tallies[1].rejected == {"repeated": 2 * plan.messages}
    assert tallies[1].nulls + int(tallies[1].counts.sum()) == 40 * plan.messages
    promises = [
        krand.make_results(chain.plan, tally).promise
        for chain, tally in zip(chains, tallies, strict=True)
    ]
    assert promises[1].colluding == promises[0].colluding + 2 * plan.messages
    assert promises[1].delta > promises[0].delta


def test_a_crowd_of_one_person_hides_nobody(tmp_path: Path) -> None:
    """One person's messages under many ids are no crowd, however they are signed."""
    chain = submitted(world.plan("tiny"), world.people("tiny", 1), 30)
    tally = tallied(chain, tmp_path)
    with pytest.raises(krand.CannotMeet, match="nobody may be protected"):
        krand.make_results(chain.plan, tally)


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


# --- batches that have passed mixers -------------------------------------------------------------


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[FakeChain, Path, Path]:
    """Twelve people and two mixers: the batch as it left the first one, and the last one."""
    folder = tmp_path_factory.mktemp("chain")
    chain = FakeChain(krand.make_plan(krand.parse_survey(MIXED_SURVEY)))
    for answers in TWELVE:
        chain.client().submit(answers)
    first = chain.collect(folder / "first")
    return chain, first, chain.mix(first, 2, folder / "last")


def test_dummies_are_counted_with_what_people_sent(chain: Any) -> None:
    """The sums are those that the last mixer signed; people are within what dummies can hide."""
    made, _, last = chain
    plan = made.plan
    tally = krand.tally_batches(plan, [last], made.key)
    links = json.loads(last.with_suffix(".chain.json").read_bytes())["links"]
    told = [lane["out"] for lane in links[-1]["lanes"]]
    for lane, messages in zip(plan.lanes, told, strict=True):
        tokens = int(tally.counts[lane.offset : lane.offset + lane.positions].sum())
        assert tokens + int(tally.lane_nulls[lane.number]) == messages, lane
        for place, truth in enumerate([3] if lane.positions == 1 else [6, 3, 0]):
            most = truth + 2 * 2 * plan.law_of(lane).reach
            assert truth <= tally.counts[lane.offset + place] <= most
    assert (tally.people, dict(tally.rejected)) == (12, {})
    results = krand.make_results(plan, tally)
    assert results.kept


def _edited(change: Callable[[Any], object]) -> Callable[[Path, Path], object]:
    def edit(path: Path, first: Path) -> None:
        beside = path.with_suffix(".chain.json")
        values = json.loads(beside.read_bytes())
        change(values["links"])
        beside.write_bytes(json.dumps(values, sort_keys=True, separators=(",", ":")).encode())

    return edit


NOT_SIGNED = "signed by its mixer and unchanged"
MIXED: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "a layer is left": (_edited(lambda links: links.pop()), "passed all 2 mixers"),
    "one byte is another": (lambda path, _: flipped(path), "the last mixer signed"),
    "the batch before": (
        lambda path, first: path.write_bytes(first.read_bytes()),
        "last mixer signed",
    ),
    "no chain": (lambda path, _: path.with_suffix(".chain.json").unlink(), r"chain\.json"),
    "more submissions": (_edited(lambda links: links[1].update(people=13)), NOT_SIGNED),
    "another round": (_edited(lambda links: links[1].update(round=2)), NOT_SIGNED),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_batch_that_mixers_did_not_sign_is_refused(name: str, chain: Any, tmp_path: Path) -> None:
    """Every link is checked with the keys in the plan."""
    made, first, last = chain
    change, says = MIXED[name]
    path = tmp_path / last.name
    for suffix in (last.suffix, ".chain.json"):
        path.with_suffix(suffix).write_bytes(last.with_suffix(suffix).read_bytes())
    change(path, first)
    with pytest.raises(krand.InvalidInput, match=says):
        krand.tally_batches(made.plan, [path], made.key)
