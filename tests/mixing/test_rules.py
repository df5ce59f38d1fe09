"""The nine rules of mixing, at each mixer's step: what came, what was refused, and what left."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import krand
from command_line import done, run
from golden import Golden
from krand.testing import FakeCollector
from mixing.by_hand import (
    INSIDE,
    ByHand,
    Chain,
    files_in,
    holds_key,
    lanes_of,
    plan,
    some_people,
    when_first_shown,
)

PEOPLE = some_people(20)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """Twenty people have answered; the collector has mixed nothing yet."""
    found = Chain(plan())
    found.answered(PEOPLE)
    return found


@pytest.fixture(scope="module")
def passed(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What left each of the three honest mixers: the batch's path, and its last link."""
    folder = tmp_path_factory.mktemp("passed")
    batches = [chain.collect(folder / "1")]
    files = []
    for hop in (2, 3):
        files.append(chain.mixed(batches[-1], hop, folder / str(hop)))
        batches.append(files[-1].data)
    return files


@pytest.fixture
def by_hand(tmp_path: Path) -> ByHand:
    return ByHand(tmp_path)


def test_every_answer_arrives_once_with_the_dummies_of_all(chain: Chain, passed: list[Any]) -> None:
    """Counts minus dummies are the people's; and so much is in each lane as the links say."""
    last = passed[-1]
    tally = krand.tally_batches(chain.plan, [last.data], chain.key)
    assert tally.people == len(PEOPLE)
    assert sum(tally.counts) + tally.nulls == last.link.total("out")
    links = [one["lanes"] for one in json.loads(last.chain.read_bytes())["links"]]
    dummies = [[lane["dummies"] for lane in link] for link in links]
    for number, lane in enumerate(chain.plan.lanes):
        added = sum(each[number] for each in dummies)
        found = len(lanes_of(last.data)[number])
        assert found == len(PEOPLE) * lane.messages + added, f"lane {number}"
    names = [f"p{n}" for n in range(33)]
    said = Counter(place for one in PEOPLE for place in one.get("places") or ())
    results = krand.make_results(chain.plan, tally).questions[-1].rows
    reach = 3 * 2 * chain.plan.law_of(chain.plan.lanes[2]).reach
    for row, name in zip(results, names, strict=False):
        assert row.label == name
        assert abs(row.count - said[name]) <= reach, f"{name}: more than all dummies could do"


def test_rule_1_a_message_opens_only_where_it_belongs(by_hand: ByHand) -> None:
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
    left = Counter(lanes_of(files.data)[0])
    found = [name for name, mark in marks.items() if left[mark]]
    assert found == ["where it belongs"], "these messages left"
    assert left[b"\xff" * INSIDE] == 0, "a broken seal must not open"
    assert files.link.total("refused") == len(odd)  # one of them is right, one more is broken


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


def test_rule_2_copies_leave_once(by_hand: ByHand, tmp_path: Path) -> None:
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
    assert [files.link.total(name) for name in ("repeats", "refused")] == [2, 0], (
        "a copy of the head is a copy"
    )


def test_rule_2_a_round_is_one_batch(by_hand: ByHand) -> None:
    """A second one would go through with other dummies."""
    lanes = by_hand.honest()
    by_hand.mixed(by_hand.batch(lanes))
    shorter = {**lanes, 0: lanes[0][1:]}
    said = by_hand.not_mixed(by_hand.batch(shorter, "other"))
    assert said == "batch: must be the only batch of its round"


def test_rule_3_one_input_has_one_output(by_hand: ByHand) -> None:
    """Run again it is the same, to another folder too; one that is lost is not drawn anew."""
    batch = by_hand.batch(by_hand.honest())
    first = by_hand.mixed(batch)
    assert by_hand.mixed(batch) == first
    kept = files_in(by_hand.folder / "out")
    by_hand.mixed(batch, "elsewhere")
    assert files_in(by_hand.folder / "elsewhere") == kept
    done("mix close --round 1", by_hand.options)
    assert "must not have been mixed before" in by_hand.not_mixed(batch, "third")
    assert by_hand.mixed(batch) == first, "what is there may be told again"


def test_rule_3_two_runs_at_once_show_one_output(by_hand: ByHand) -> None:
    """One of them may be sent away; both together show one batch."""
    batch, shown = by_hand.batch(by_hand.honest()), set[bytes]()

    def run(name: str) -> None:
        try:
            store = by_hand.store
            shown.add(
                krand.mix(by_hand.plan, batch, store, by_hand.folder / name).data.read_bytes()
            )
        except krand.Unavailable:
            return

    with ThreadPoolExecutor(4) as pool:
        [*pool.map(run, map(str, range(4)))]
    assert len(shown) == 1


def test_rule_4_an_older_copy_mixes_nothing(tmp_path: Path) -> None:
    """With an anchor a copy from before the run is dead, and the store of today goes on."""
    chain = ByHand(tmp_path, anchored=True)
    shutil.copytree(chain.store, tmp_path / "older")
    batch = chain.batch(chain.honest())
    first = chain.mixed(batch)
    assert not holds_key(chain.store, chain.mixers[1]["keys"][1]), "only the anchor opens it"
    said = chain.not_mixed(batch, "again", tmp_path / "older")
    assert said == "anchor: must be the anchor that was written together with this store"
    chain.anchored = False
    assert chain.not_mixed(batch, "again").startswith("anchor: must be given")
    chain.anchored = True
    assert chain.mixed(batch) == first


@pytest.mark.parametrize("ended", ["mixed", "closed"])
def test_rule_5_the_key_of_a_round_is_nowhere(by_hand: ByHand, ended: str) -> None:
    """Destroyed with the round's batch, or when the round is closed; the next round's key stays."""
    keys, store = by_hand.mixers[1]["keys"], by_hand.store
    assert all(holds_key(store, key) for key in keys), "the search finds what is there"
    batch = by_hand.batch(by_hand.honest())
    if ended == "mixed":
        out = by_hand.folder / "out"
        with when_first_shown(out, lambda: holds_key(store, keys[0])) as held:
            by_hand.mixed(batch)
        assert held == [False], "the key was there when the output was written"
    else:
        done("mix close --round 1", by_hand.options)
        assert "round: must be a round that is not closed yet" in by_hand.not_mixed(batch)
    assert [holds_key(store, key) for key in keys] == [False, True]


def test_rule_6_a_mixer_signs_one_plan_that_keeps_its_promise(
    tmp_path: Path, golden: Golden
) -> None:
    """Not one with too little noise, other keys or another name for it, and never two."""
    by_hand = ByHand(tmp_path, signs=False)
    key, whole = by_hand.mixers[1]["keys"][0], by_hand.plan_file.read_text("utf-8")
    texts = {
        "promises more": whole.replace('"delta":0.01,', '"delta":0.001,'),
        "renames it": whole.replace('"mixer 2"', '"data protection office"'),
        "has other keys": whole.replace(key, key[::-1]),
        "is fine": whole,
        "is another": whole.replace('"id":"lanes"', '"id":"other"'),
    }
    said = []
    for name, text in texts.items():
        (tmp_path / "sent.json").write_text(text, encoding="utf-8")
        signature = tmp_path / f"{name}.sig.json"
        result = run("mix sign", tmp_path / "sent.json", by_hand.options, "-o", signature)
        said.append(f"a plan that {name}: {result.stderr.splitlines()[:1]}")
        assert signature.exists() is (name == "is fine"), (name, result.output)
    golden("mixing/plans-not-signed", "\n".join(said))


def test_rule_7_only_bytes_decide(by_hand: ByHand, golden: Golden) -> None:
    """What opens leaves, whatever is in it; what a mixer before this one signed must be true."""
    lanes = by_hand.honest()
    zeros = by_hand.sealed(bytes(INSIDE))
    lanes[0][0] = zeros
    good = by_hand.batch(lanes)
    bad = {
        "cut off": lambda path: path.write_bytes(path.read_bytes()[:-1]),
        "no messages": lambda path: path.write_bytes(b""),
        "no chain": lambda path: path.with_suffix(".chain.json").write_text("{}"),
    }
    said = []
    for name, change in bad.items():
        path = by_hand.batch(lanes, name.replace(" ", "-"))
        change(path)
        said.append(f"{name}: {by_hand.not_mixed(path)}")
    for name, lies in LIES.items():
        path = by_hand.batch(lanes, "lie", **lies)
        said.append(f"{name}: {by_hand.not_mixed(path)}")
    fewer = by_hand.batch({**lanes, 0: lanes[0][2:]}, "fewer", without=2)
    said.append(f"fewer dummies: {by_hand.not_mixed(fewer)}")
    garbage = {lane: [os.urandom(len(zeros)) for _ in rows] for lane, rows in lanes.items()}
    said.append(f"nothing opens: {by_hand.not_mixed(by_hand.batch(garbage, 'garbage'))}")
    files = by_hand.mixed(good)
    assert not files.link.total("refused")
    said.append(f"its own output: {by_hand.not_mixed(files.data, 'again')}")
    golden("mixing/refused-batches", "\n".join(said))
    assert Counter(lanes_of(files.data)[0])[bytes(INSIDE)] == 1


LIES: dict[str, dict[str, Any]] = {
    "another plan": {"plan": "00" * 32},
    "another round": {"round": 3},
    "another place": {"place": 2},
    "more people": {"people": 21},
    "another file": {"output": "00" * 32},
}


def test_rule_7_counts_obey_the_chain(passed: list[Any]) -> None:
    """Out = in - repeats - refused + dummies in each lane, and in is what left before."""
    links = json.loads(passed[-1].chain.read_bytes())["links"]
    assert [link["place"] for link in links] == [1, 2, 3]
    for before, link in zip([None, *links], links, strict=False):
        for number, lane in enumerate(link["lanes"]):
            gone = lane["repeats"] + lane["refused"]
            assert lane["out"] == lane["came"] - gone + lane["dummies"]
            if before is not None:
                assert lane["came"] == before["lanes"][number]["out"]


def test_rule_8_dummies_look_like_messages(chain: Chain, passed: list[Any]) -> None:
    """Of every mixer: as long as the others, opened by every later one, read by the analyst."""
    for files, length in zip(passed, (6 + 48 + 48, 6 + 48), strict=True):
        rows = [row for rows in lanes_of(files.data).values() for row in rows]
        assert {len(row) for row in rows} == {length}
        assert files.link.total("refused") == 0
        assert files.link.total("dummies") > len(PEOPLE) * chain.plan.messages
        assert len({row[:32] for row in rows}) == len(rows), "no two are sealed alike"
    tally = krand.tally_batches(chain.plan, [passed[-1].data], chain.key)
    assert not tally.rejected
