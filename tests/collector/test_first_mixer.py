"""The collector as the first mixer: from devices to the analyst, with kills and bad input."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collecting import asked, files_in, quick_folder, running
from collector.callers import Repeated
from collector.halting import spread_over
from collector.lives import Nursery
from command_line import done, refused, run, told
from components import require
from krand.batches.chain import read_chain, verify_chain
from krand.client.client import Client
from krand.collector.first_mixer import mix_sealed
from krand.collector.opening import config_of, open_spool
from krand.collector.sqlite.mixing import KEY_BYTES, LaneColumn
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP, RoundClosed, State
from krand.errors import InvalidInput
from krand.mixing.mixer import MixedFiles, MixOptions, mix_batch
from krand.mixing.store import MixerStore
from krand.testing import FakeCollector
from krand.wire.submissions import Submitted, format_of, submission_bytes
from mixing.chains import (
    Answers,
    Party,
    counted,
    drawn_dummies,
    mixed_plan_for,
    random_answers,
    sealed_people,
    stores_of,
    true_counts,
)

require("uvicorn")
require("starlette")

FAULTS = int(os.environ.get("KRAND_FAULTS", "6"))
KILLED = -9
ALONE = MixOptions(workers=1)
PETS = ("cat", "dog", "none")


def said(answers: Answers) -> dict[str, object]:
    """The same as a device takes it."""
    smokes, pet, places = answers
    found: dict[str, object] = {"places": [f"option {place}" for place in places]}
    if smokes is not None:
        found["smokes"] = True
    if pet is not None:
        found["pet"] = PETS[pet]
    return found


def submissions(party: Party, people: list[Answers]) -> list[Submitted]:
    """What devices send, read as the collector reads it."""
    form = format_of(party.plan)
    found = []
    for answers in people:
        made = party.client().prepare(said(answers))
        found.append(form.read(submission_bytes(1, made.id, made.messages)))
    return found


def sealed(party: Party, count: int, seed: int = 1) -> list[Submitted]:
    """The same, quicker."""
    rows = sealed_people(party.plan, random_answers(count, seed))
    return [Submitted(os.urandom(16), row.tobytes()) for row in rows]


RELEASE = "release --plan plan.json --spool spool --mixer-store store-1 -o out"
CLOSE = f"{RELEASE} --close --yes"
PLACES = ("plan.json", "spool", "store-1", "out")


def prepared(party: Party, folder: Path) -> Path:
    (folder / "plan.json").write_bytes(party.plan.bytes)
    stores_of(party, folder)
    return folder


def through_the_chain(party: Party, folder: Path, batch: dict[str, Any]) -> MixedFiles:
    """What a release tells of, then the other mixers, one after the other."""
    data, chain = folder / batch["batch"], folder / batch["chain"]
    files = MixedFiles(data=data, chain=chain, link=read_chain(chain)[-1].record)
    for hop in range(2, len(party.identities) + 1):
        with MixerStore(folder / f"store-{hop}") as store:
            place = folder / f"from-{hop}"
            files = mix_batch(store, party.plan, files.data, files.chain, place, ALONE)
    return files


def check_everybody(
    party: Party, files: MixedFiles, people: list[Answers], dummies: Counter[tuple[int, int]]
) -> None:
    """Every payload exactly once, and the dummies that the chain states."""
    links = read_chain(files.chain)
    verify_chain(party.plan, links)
    assert sum(link.record.dummies for link in links) == dummies.total()
    assert [link.record.submissions for link in links] == [len(people)] * len(links)
    assert counted(party, files) == true_counts(party.plan, people) + dummies


@pytest.mark.check
def test_twelve_people_reach_the_analyst_by_one_mixer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices send to a running collector; after the closing it says so to later ones."""
    party, people = mixed_plan_for(mixers=1), random_answers(12)
    prepared(party, tmp_path)
    with running(tmp_path / "plan.json", tmp_path / "spool", tmp_path / "log") as collector:
        first = party.client()
        old = submission_body(first, people[0])  # kept, as if its answer were lost
        first.submit(collector.url, said(people[0]))
        for answers in people[1:]:
            party.client().submit(collector.url, said(answers))
        with drawn_dummies(monkeypatch) as dummies:
            (batch,) = told(CLOSE, at=tmp_path)["released"]
        with pytest.raises(InvalidInput, match="410 must not be closed"):
            party.client().submit(collector.url, said(people[0]))
        new = submission_body(party.client(), people[0])
        for kind in ("application/octet-stream", "application/octet-stream; a=b"):  # both ways in
            for body, expected in ((new, (410, "round")), (old, (202, "known"))):
                path = f"/v1/{party.plan.hash}/submissions"
                answer = asked(collector.port, "POST", path, body, {"Content-Type": kind})
                assert (answer.status, answer.told) == expected
    assert (batch["number"], batch["people"], batch["repeats"]) == (1, 12, 0)
    assert batch["dummies"] == dummies.total()
    files = through_the_chain(party, tmp_path, batch)
    check_everybody(party, files, people, dummies)
    with open_spool(party.plan, tmp_path / "spool") as spool:
        assert [entry.state for entry in spool.batches()] == [State.RELEASED]


def submission_body(client: Client, answers: Answers) -> bytes:
    made = client.prepare(said(answers))
    return submission_bytes(1, made.id, made.messages)


@pytest.mark.check
def test_forty_people_reach_the_analyst_by_three_mixers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They came one by one and in a group."""
    party, people = mixed_plan_for(mixers=3), random_answers(40)
    prepared(party, tmp_path)
    waiting = submissions(party, people)
    with open_spool(party.plan, tmp_path / "spool") as spool:
        for one in waiting[:5]:
            spool.add([one])
        spool.add(waiting[5:])
    with drawn_dummies(monkeypatch) as dummies:
        (batch,) = told(CLOSE, at=tmp_path)["released"]
        files = through_the_chain(party, tmp_path, batch)
    check_everybody(party, files, people, dummies)


def test_a_copied_submission_leaves_once(tmp_path: Path) -> None:
    """Under another id the collector counts it as a person; its messages are dropped."""
    party = prepared_party(tmp_path, people=3)
    with open_spool(party.plan, tmp_path / "spool") as spool:
        copied = sealed(party, 1, seed=5)[0]
        spool.add([copied, Submitted(os.urandom(16), copied.messages)])
    (batch,) = told(CLOSE, at=tmp_path)["released"]
    assert (batch["people"], batch["repeats"]) == (5, party.plan.messages)


def prepared_party(folder: Path, people: int, mixers: int = 1) -> Party:
    """Keys, and a spool with some people."""
    party = mixed_plan_for(mixers=mixers)
    prepared(party, folder)
    with open_spool(party.plan, folder / "spool") as spool:
        spool.add(sealed(party, people))
    return party


def test_a_round_has_one_batch(tmp_path: Path) -> None:
    """Closed once; what is waiting is released without --close, and only once."""
    party = prepared_party(tmp_path, people=2)
    assert "takes submissions until --close" in run(RELEASE, at=tmp_path).output
    assert [batch["state"] for batch in status(tmp_path)["batches"]] == ["open"]
    with open_spool(party.plan, tmp_path / "spool") as spool:
        spool.close_batch()
    (batch,) = told(RELEASE, at=tmp_path)["released"]
    assert (batch["number"], batch["people"]) == (1, 2)
    assert told(RELEASE, at=tmp_path)["released"] == []
    assert "the round is closed" in run(RELEASE, at=tmp_path).output
    again = told(CLOSE, at=tmp_path)
    assert (again["closed"], again["released"]) == (None, [])
    assert [batch["state"] for batch in status(tmp_path)["batches"]] == ["released"]
    with open_spool(party.plan, tmp_path / "spool") as spool, pytest.raises(RoundClosed):
        spool.add(sealed(party, 1, seed=3))


def status(folder: Path) -> dict[str, Any]:
    line = "status --plan plan.json --spool spool"
    text = done(line, "--check", at=folder).output
    assert "The round is closed" in text or "The batch is sealed when" in text
    return told(line, at=folder)


def test_an_anchored_store_needs_its_anchor(tmp_path: Path) -> None:
    """It is replaced by the release, so that an older copy of the store cannot mix again."""
    party = mixed_plan_for(mixers=1)
    (tmp_path / "plan.json").write_bytes(party.plan.bytes)
    stores_of(party, tmp_path, anchored=True)
    with open_spool(party.plan, tmp_path / "spool") as spool:
        spool.add(sealed(party, 2))
    assert refused(CLOSE, at=tmp_path)["field"] == "anchor"
    with open_spool(party.plan, tmp_path / "spool") as spool:
        assert [batch.state for batch in spool.batches()] == [State.OPEN]
    before = (tmp_path / "anchor-1").read_bytes()
    (batch,) = told(CLOSE, "--anchor anchor-1", at=tmp_path)["released"]
    assert batch["people"] == 2
    assert (tmp_path / "anchor-1").read_bytes() != before


def close_the_round(folder: Path) -> None:
    """Nobody could mix its batch any more."""
    with MixerStore(folder / "store-1") as store:
        store.close_round(1)


def make_another_store(folder: Path) -> None:
    """Of a mixer whose keys the plan does not name."""
    (folder / "other").mkdir()
    stores_of(mixed_plan_for(mixers=1, rounds=1), folder / "other")


FIRST = "must be the first mixer of the plan, the collector"
USELESS: dict[str, tuple[int, Callable[[Path], None], str, dict[str, object]]] = {
    "nobody came": (
        0,
        lambda _: None,
        "",
        {"field": "people", "rule": "must be at least 1", "value": 0},
    ),
    "another mixer's": (
        2,
        make_another_store,
        "--mixer-store other/store-1",
        {"field": "identity"},
    ),
    "its round is closed": (2, close_the_round, "", {"field": "round", "value": 1}),
    "a later mixer's": (
        2,
        lambda _: None,
        "--mixer-store store-2",
        {"field": "store", "rule": FIRST},
    ),
}
"""How many people came, what is done, the option that names a store; then the error."""


@pytest.mark.parametrize("case", USELESS)
def test_a_batch_that_a_store_could_not_mix_is_not_closed(case: str, tmp_path: Path) -> None:
    """The error says why, and the batch stays open."""
    people, prepare, option, expected = USELESS[case]
    party = prepared_party(tmp_path, people=people, mixers=2)
    prepare(tmp_path)
    assert refused(CLOSE, option, at=tmp_path).items() >= expected.items()
    with open_spool(party.plan, tmp_path / "spool") as spool:
        assert [batch.state for batch in spool.batches()] == [State.OPEN]


def test_a_spool_of_another_plan_is_not_mixed(tmp_path: Path) -> None:
    party, other = prepared_party(tmp_path, people=2), mixed_plan_for(mixers=1, rounds=1)
    with (
        open_spool(party.plan, tmp_path / "spool") as spool,
        MixerStore(tmp_path / "store-1") as store,
        pytest.raises(InvalidInput, match="plan: must be the plan of the spool"),
    ):
        mix_sealed(spool, store, other.plan, tmp_path / "out")


def test_an_older_copy_of_the_spool_never_leaves_with_other_people(tmp_path: Path) -> None:
    """The mixer's store knows what the batch was: another noise for the same people is refused."""
    party = prepared_party(tmp_path, people=3)
    shutil.copytree(tmp_path / "spool", tmp_path / "older")
    told(CLOSE, at=tmp_path)
    before = files_in(tmp_path / "out")
    shutil.rmtree(tmp_path / "spool")
    shutil.copytree(tmp_path / "older", tmp_path / "spool")
    with open_spool(party.plan, tmp_path / "spool") as spool:
        spool.add(sealed(party, 1, seed=9))
    assert refused(CLOSE, at=tmp_path)["field"] == "batch_id"
    assert files_in(tmp_path / "out") == before


@pytest.mark.check
@pytest.mark.parametrize("pieces", [False, True])
def test_large_batches_take_the_way_by_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: bool
) -> None:
    """Sorted by way of piles, lanes arrive in many chunks; everybody is there once."""
    if pieces:
        monkeypatch.setattr("krand.collector.sqlite.mixing.IN_MEMORY_BYTES", 0)
        monkeypatch.setattr("krand.collector.sqlite.mixing.PIECE_BYTES", 2**12)
    party, people = mixed_plan_for(mixers=1), random_answers(70)
    prepared(party, tmp_path)
    with open_spool(party.plan, tmp_path / "spool") as spool:
        spool.add(submissions(party, people))
        spool.close_batch()
        with MixerStore(tmp_path / "store-1") as store, drawn_dummies(monkeypatch) as dummies:
            (entry,) = mix_sealed(spool, store, party.plan, tmp_path / "out", ALONE)
    check_everybody(party, entry.files, people, dummies)


def test_the_pool_keeps_a_whole_group_of_every_lane(tmp_path: Path) -> None:
    """Of each lane as many messages as 32 people send, so that none stands nearly alone."""
    party = prepared_party(tmp_path, people=0)
    config = config_of(party.plan)
    with Spool(tmp_path / "spool", config) as spool:
        for one in sealed(party, 2 * MINIMUM_GROUP):
            spool.add([one])
    with closing(sqlite3.connect(tmp_path / "spool" / "spool.sqlite")) as connection:
        query = "SELECT content FROM pool WHERE name = 'messages'"
        ((content,),) = connection.execute(query).fetchall()
    lanes = LaneColumn(config)
    rows = np.frombuffer(content, np.uint8).reshape(-1, KEY_BYTES + lanes.stored_length)
    found = np.bincount(lanes.numbers(rows, KEY_BYTES)).tolist()
    assert found == [MINIMUM_GROUP * lane.messages for lane in party.plan.lanes]


@pytest.mark.check
def test_the_fake_collector_is_the_first_mixer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process; then its round is closed for new people, not for retries."""
    party, people = mixed_plan_for(mixers=2), random_answers(12)
    stores_of(party, tmp_path)
    collector = FakeCollector(party.plan)
    with MixerStore(tmp_path / "store-1") as store:
        with pytest.raises(InvalidInput, match="people: must be at least 1"):
            collector.release(tmp_path / "out", store)
        clients = [party.client(transport=collector) for _ in people]
        for client, answers in zip(clients, people, strict=True):
            client.submit(collector.url, said(answers))
        with pytest.raises(InvalidInput, match="mixer: must be given"):
            collector.release(tmp_path / "out")
        with drawn_dummies(monkeypatch) as dummies:
            data = collector.release(tmp_path / "out", store)
            left = {"batch": data, "chain": data.with_suffix(".chain.json")}
            files = through_the_chain(party, tmp_path, left)
    check_everybody(party, files, people, dummies)
    with pytest.raises(InvalidInput, match="410 must not be closed"):
        party.client(transport=collector).submit(collector.url, said(people[0]), 1)


@pytest.mark.check
@pytest.mark.loop
def test_a_killed_release_never_leaves_with_two_draws_of_noise(home: Nursery) -> None:
    """Killed where it changes files, then run to its end: one output, and one closing."""
    with quick_folder() as place:
        folder, changing = place / "work", ("spool", "store-1", "out")
        folder.mkdir()
        party = prepared_party(folder, people=10)
        placed = [str(folder / w) if w in PLACES else w for w in CLOSE.split()]
        releases = Repeated(home, folder, changing, placed)
        assert releases.run() == 0
        calls = releases.calls()
        seen: Counter[int] = Counter()
        ours = [n for n, (_, path) in enumerate(calls, 1) if "/out" in path]
        half = FAULTS // 2
        for stop_at in [*spread_over(1, len(calls), half), *spread_over(ours[0], ours[-1], half)]:
            releases.begin_again()
            assert releases.run(stop_at=stop_at) == KILLED
            before = files_in(folder / "out")
            seen[len(before)] += 1
            assert releases.run() == 0
            after = files_in(folder / "out")
            assert {name: after[name] for name in before} == before
            assert sorted(name.partition(".")[2] for name in after) == ["chain.json", "parquet"]
            with open_spool(party.plan, folder / "spool") as spool:
                assert [batch.state for batch in spool.batches()] == [State.RELEASED]
        print(f"\n{seen.total()} kills among {len(calls)} calls: files visible {dict(seen)}")
        assert {0, 2} <= {*seen}
