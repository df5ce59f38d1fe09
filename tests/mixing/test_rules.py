"""What a mixer does with a batch: what came, what was refused, and what left."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import krand
from krand.testing import FakeCollector
from mixing.by_hand import INSIDE, ByHand, Chain, lanes_of, plan, some_people

PEOPLE = some_people(20)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """Twenty people have answered; the collector has mixed nothing yet."""
    found = Chain(plan())
    found.answered(PEOPLE)
    return found


@pytest.fixture(scope="module")
def passed(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The batches that left the second and the third mixer, both honest."""
    folder = tmp_path_factory.mktemp("passed")
    second = chain.mix(chain.collect(folder / "1"), 2, folder / "2")
    return [second, chain.mix(second, 3, folder / "3")]


def links_of(batch: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"]
    return found


def total(batch: Path, name: str) -> int:
    """What happened so often in all lanes at the last mixer."""
    return sum(int(lane[name]) for lane in links_of(batch)[-1]["lanes"])


@pytest.fixture
def by_hand(tmp_path: Path) -> ByHand:
    return ByHand(tmp_path)


def test_every_answer_arrives_once_with_the_dummies_of_all(
    chain: Chain, passed: list[Path]
) -> None:
    """Counts minus dummies are the people's; and so much is in each lane as the links say."""
    last = passed[-1]
    tally = krand.tally_batches(chain.plan, [last], chain.key)
    assert tally.people == len(PEOPLE)
    assert sum(tally.counts) + tally.nulls == total(last, "out")
    links = [one["lanes"] for one in links_of(last)]
    dummies = [[lane["dummies"] for lane in link] for link in links]
    for number, lane in enumerate(chain.plan.lanes):
        added = sum(each[number] for each in dummies)
        found = len(lanes_of(last)[number])
        assert found == len(PEOPLE) * lane.messages + added, f"lane {number}"
    names = [f"p{n}" for n in range(33)]
    said = Counter(place for one in PEOPLE for place in one.get("places") or ())
    results = krand.make_results(chain.plan, tally).questions[-1].rows
    reach = 3 * 2 * chain.plan.law_of(chain.plan.lanes[2]).reach
    for row, name in zip(results, names, strict=False):
        assert row.label == name
        assert abs(row.count - said[name]) <= reach, f"{name}: more than all dummies could do"


def test_a_message_opens_only_where_it_belongs(by_hand: ByHand) -> None:
    """Sealed with the right key, but for another lane, round, place, plan: refused, and one left.

    A mixer that looked away would let an earlier one file a person's message where it is alone.
    """
    marks = {name: bytes((number,)) * INSIDE for number, name in enumerate(WRONG)}
    odd = [by_hand.sealed(marks[name], **info) for name, info in WRONG.items()]
    broken = bytearray(by_hand.sealed(b"\xff" * INSIDE))
    broken[-1] ^= 1
    lanes = by_hand.honest()
    lanes[0][: len(odd) + 1] = [*odd, bytes(broken)]
    files = by_hand.mixed(by_hand.batch(lanes))
    left = Counter(files.lanes[0])
    found = [name for name, mark in marks.items() if left[mark]]
    assert found == ["where it belongs"], "these messages left"
    assert left[b"\xff" * INSIDE] == 0, "a broken seal must not open"
    assert files.total("refused") == len(odd)  # one of them is right, one more is broken


WRONG: dict[str, dict[str, Any]] = {
    "where it belongs": {},
    "another lane": {"lane": 1},
    "another round": {"round": 2},
    "another place": {"hop": 3},
    "another plan": {"plan": "00" * 32},
}


class Copying(FakeCollector):
    """Somebody on the way sends every submission under four further ids."""

    def post(self, url: str, body: bytes) -> Any:
        for _ in range(4):
            super().post(url, body[:3] + os.urandom(16) + body[19:])
        return super().post(url, body)


def test_copies_leave_once(by_hand: ByHand, tmp_path: Path) -> None:
    """Those under another id at the collector, and what an earlier mixer has doubled."""
    chain = Chain(plan())
    chain.collector = Copying(chain.plan)
    chain.answered(PEOPLE[:5])
    sent = {message for _, message in chain.collector.messages()}
    (link,) = json.loads(chain.collect(tmp_path).with_suffix(".chain.json").read_bytes())["links"]
    (batch,) = tmp_path.glob("*.batch")
    left = Counter(message for rows in lanes_of(batch).values() for message in rows)
    assert {left[message] for message in sent} == {1}, "how often a message left"
    assert [lane["repeats"] for lane in link["lanes"]] == [20, 20, 40]

    lanes = by_hand.honest()
    lanes[0][1] = lanes[0][0]
    lanes[1][1] = lanes[1][0][:32] + os.urandom(len(lanes[1][0]) - 32)
    files = by_hand.mixed(by_hand.batch(lanes))
    assert [files.total(name) for name in ("repeats", "refused")] == [2, 0], (
        "a copy of the head is a copy"
    )


def test_only_bytes_decide(by_hand: ByHand) -> None:
    """What opens leaves, whatever is in it; where nothing opens, nothing leaves."""
    lanes = by_hand.honest()
    lanes[0][0] = by_hand.sealed(bytes(INSIDE))
    left = by_hand.mixed(by_hand.batch(lanes))
    assert not left.total("refused")
    assert Counter(left.lanes[0])[bytes(INSIDE)] == 1
    garbage = {lane: [os.urandom(len(rows[0])) for _ in rows] for lane, rows in lanes.items()}
    with pytest.raises(krand.InvalidInput, match="at least one message"):
        by_hand.mixed(by_hand.batch(garbage, "garbage"))
    short = by_hand.batch(lanes, "short")
    short.write_bytes(short.read_bytes()[:-1])
    with pytest.raises(krand.InvalidInput, match="bytes"):
        by_hand.mixed(short)


def test_counts_obey_the_chain(passed: list[Path]) -> None:
    """Out = in - repeats - refused + dummies in each lane, and in is what left before."""
    links = links_of(passed[-1])
    assert [link["place"] for link in links] == [1, 2, 3]
    for before, link in zip([None, *links], links, strict=False):
        for number, lane in enumerate(link["lanes"]):
            gone = lane["repeats"] + lane["refused"]
            assert lane["out"] == lane["came"] - gone + lane["dummies"]
            if before is not None:
                assert lane["came"] == before["lanes"][number]["out"]


def test_dummies_look_like_messages(chain: Chain, passed: list[Path]) -> None:
    """Of every mixer: as long as the others, opened by every later one, read by the analyst."""
    for batch, length in zip(passed, (6 + 48 + 48, 6 + 48), strict=True):
        rows = [row for rows in lanes_of(batch).values() for row in rows]
        assert {len(row) for row in rows} == {length}
        assert total(batch, "refused") == 0
        assert total(batch, "dummies") > len(PEOPLE) * chain.plan.messages
        assert len({row[:32] for row in rows}) == len(rows), "no two are sealed alike"
    tally = krand.tally_batches(chain.plan, [passed[-1]], chain.key)
    assert not tally.rejected
