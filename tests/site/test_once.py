"""A round has one output, whoever is killed when, and whatever is put back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos import quick_folder
from effort import EFFORT
from halting import KILLED, Faults, Nursery, calls_noted, nursery, spread_over
from neighbours import Neighbours, chain_of, relinked
from parties import Chain, until

KILLS = 6 * EFFORT


@pytest.fixture
def beside() -> Iterator[Neighbours]:
    """A mixer that waits for the batch of the one before."""
    with quick_folder() as home:
        chain = Chain.made(home, "trio")
        chain.parties[1].port = None
        yield Neighbours(chain)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Where parties begin that are there to be killed."""
    with nursery(tmp_path_factory.mktemp("lives") / "errors", "neighbours") as made:
        yield made


def messages(beside: Neighbours) -> list[bytes]:
    """Those that the mixer serves."""
    assert beside.link is not None
    content = beside.output.read_bytes()
    length = len(content) // sum(beside.link.record.counts)
    return [content[at : at + length] for at in range(0, len(content), length)]


class Folder:
    """A folder that can be put back as it was."""

    def __init__(self, path: Path) -> None:
        self.path, self._copies = path, 0

    def copied(self) -> Path:
        self._copies += 1
        return Path(
            shutil.copytree(
                self.path,
                self.path.with_name(f"copy-{self._copies}"),
                ignore=lambda _, names: {"control", "control.key"} & {*names},
            )
        )

    def put_back(self, copy: Path, *, keys: bool) -> None:
        """A copy, with its keys or with those of today."""
        today = self.path.with_name("today")
        shutil.move(self.path, today)
        shutil.copytree(copy, self.path)
        if not keys:
            shutil.rmtree(self.path / "keys")
            shutil.copytree(today / "keys", self.path / "keys")
        shutil.rmtree(today)


# Whoever is killed when.


def test_once_kills(beside: Neighbours, home: Nursery, tmp_path: Path) -> None:
    """Of a mixer: at any call that writes, by it or by its job. No byte is served while the key is
    there, all that was ever served is one output, and every message of people is in it."""
    folder, note = Folder(beside.party.at), tmp_path / "note"
    fresh = folder.copied()
    with beside.serving() as addresses:
        given = {"at": str(beside.party.at), "addresses": json.dumps(addresses)}

        def run(stop_at: int = 0) -> int:
            note.unlink(missing_ok=True)
            held = Faults(under=str(beside.party.at), note=str(note), stop_at=stop_at)
            home.call("neighbours:live", held, **given)
            return home.wait()

        assert run() == 0
        calls = calls_noted(note)
        assert any("work" in path for _, path in calls), "the job is watched as well"
        for number in spread_over(1, len(calls), KILLS):
            folder.put_back(fresh, keys=True)
            beside.forget()
            assert run(number) in (KILLED, 0)  # near the end a life may need fewer calls
            served = set[str]()
            check_served(beside, served, calls[number - 1])
            assert run() == 0
            check_served(beside, served, calls[number - 1])
            assert len(served) == 1
            assert beside.link is not None
            assert served == {beside.link.record.output}, f"another output after {number}"
            assert sum(lane.refused + lane.repeats for lane in beside.link.record.lanes) == 0
            left = [*beside.party.at.rglob("work/*")]
            assert not left, f"an output that nobody gets after {number}: {left}"


def check_served(beside: Neighbours, served: set[str], when: object) -> None:
    if beside.output.exists():
        assert not beside.key.exists(), f"served before its key was destroyed, after {when}"
        served.add(hashlib.sha256(beside.output.read_bytes()).hexdigest())


def test_once_kills_of_a_collector(tmp_path: Path, home: Nursery) -> None:
    """Alone, so that only the name of its key says what was mixed; it is its own analyst."""
    with quick_folder() as place:
        chain = Chain.made(place, "mixer", analyst=1)
        (party,) = chain.parties
        asyncio.run(answered(chain, 5))
        folder, note = Folder(party.at), tmp_path / "note"
        fresh, shown = folder.copied(), party.at / "public" / chain.plan.hash / "1.batch"
        keys = party.at / "keys" / chain.plan.hash

        def run(stop_at: int = 0) -> int:
            note.unlink(missing_ok=True)
            held = Faults(under=str(party.at), note=str(note), stop_at=stop_at)
            home.call("neighbours:collect", held, at=str(party.at))
            return home.wait()

        def served() -> set[str]:
            if not shown.exists():
                return set()
            assert {path.name for path in keys.iterdir()} == {"1.mixed"}
            return {hashlib.sha256(shown.read_bytes()).hexdigest()}

        assert run() == 0
        for number in spread_over(1, len(calls_noted(note)), KILLS // 2):
            folder.put_back(fresh, keys=True)
            assert run(number) in (KILLED, 0)
            seen = served()
            assert run() == 0
            assert len(seen | served()) == 1, f"two outputs after {number}"
            results = json.loads(next(party.at.rglob("results.json")).read_bytes())
            assert results["people"] == 5, number
            assert not [*party.at.rglob("work/*")]


async def answered(chain: Chain, people: int) -> None:
    async with chain.running():
        await chain.answer(people)


# Whatever is put back.


def test_older_copy_is_dead(beside: Neighbours) -> None:
    """Without keys, from any moment: nothing is mixed, though the neighbour denies everything."""
    folder = Folder(beside.party.at)
    copies = [folder.copied()]

    async def first() -> None:
        async with beside.running() as worker:
            job = worker.job

            async def watched(*given: Any, **named: Any) -> Any:
                copies.append(folder.copied())
                return await job(*given, **named)

            worker.job = watched
            await beside.party.told("released")

    async def again() -> None:
        async with beside.running():
            await until(lambda: beside.party.said("trouble") or beside.output.exists())
            assert "key" in beside.party.said("trouble")[0]["what"]

    asyncio.run(first())
    beside.held = lambda: None
    for copy in copies:
        folder.put_back(copy, keys=False)
        asyncio.run(again())
        assert not beside.output.exists()
        assert not [*beside.party.at.rglob("work/*")]


def test_snapshot_adopts(beside: Neighbours) -> None:
    """A copy with its keys takes over the link that its neighbour holds, and mixes nothing."""
    folder = Folder(beside.party.at)
    fresh = folder.copied()
    asyncio.run(mixed(beside))
    link = beside.link

    async def again() -> None:
        async with beside.running() as worker:
            worker.job = never
            await until(lambda: beside.party.said("adopted") or beside.party.said("trouble"))
            assert beside.party.said("adopted")

    folder.put_back(fresh, keys=True)
    asyncio.run(again())
    assert beside.link == link
    assert not beside.key.exists()
    assert not beside.output.exists()


def test_snapshot_that_mixed_serves_nothing(beside: Neighbours) -> None:
    """Its neighbour said nothing at first, and then holds the link of the other one."""
    folder = Folder(beside.party.at)
    fresh = folder.copied()
    asyncio.run(mixed(beside))
    link = beside.link
    folder.put_back(fresh, keys=True)
    answers = iter([None])
    beside.held = lambda: next(answers, link)

    async def again() -> None:
        async with beside.running():
            await beside.party.told("mixed")
            await until(lambda: beside.party.said("trouble") or beside.output.exists())
            assert "older copy" in beside.party.said("trouble")[0]["what"]

    asyncio.run(again())
    assert not beside.output.exists()
    assert not [*beside.party.at.rglob("work/*")]
    assert beside.link == link


def test_intersection(beside: Neighbours) -> None:
    """What the question prevents: two outputs of one input have exactly the people in common."""
    folder = Folder(beside.party.at)
    fresh = folder.copied()
    outputs = []
    for _ in range(2):
        beside.held = lambda: beside.link  # which denies until there is one, and forgets the other
        asyncio.run(mixed(beside))
        outputs.append(messages(beside))
        folder.put_back(fresh, keys=True)
        beside.forget()
    came = sum(beside.first.record.counts)
    assert len({*outputs[0]} & {*outputs[1]}) == came < min(map(len, outputs))


async def mixed(beside: Neighbours) -> None:
    async with beside.running():
        await beside.party.told("released")


async def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("a job was started")


# What comes from the neighbour.


def test_second_chain(beside: Neighbours) -> None:
    """The first one that was recorded is the one; none is asked for again."""

    async def fetched() -> None:
        async with beside.running() as worker:
            worker.job = never
            await until(lambda: any(path.name == "in" for path in beside.party.at.rglob("in")))

    asyncio.run(fetched())
    beside.asked.clear()
    asyncio.run(mixed(beside))
    assert beside.asked["chain 1"] == 0
    assert beside.link is not None
    assert beside.link.record.previous == beside.first.sha256


def test_not_opened_before(beside: Neighbours) -> None:
    """Whole chain, whole file, signed answer: without one of them no job is given the key."""
    honest = beside.chain_served, beside.batch, beside.sign
    parties, first = beside.chain.parties, beside.first
    lanes = [dict(each) for each in first.values["lanes"]]
    fewer = [{**lanes[0], "out": lanes[0]["out"] - 1}, *lanes[1:]]
    by_another = parties[2].identity.sign(first.record)

    def chain(*signed: Any) -> Callable[[], None]:
        return lambda: setattr(beside, "chain_served", chain_of(*signed))

    lies: dict[str, tuple[Callable[[], None], str]] = {
        "signed by another": (chain(by_another), "chain 1"),
        "a link too many": (chain(first, first), "chain 1"),
        "counts that do not add up": (chain(relinked(first, beside.chain, lanes=fewer)), "chain 1"),
        "another round": (chain(relinked(first, beside.chain, round=2)), "chain 1"),
        "more people": (chain(relinked(first, beside.chain, people=6)), "chain 1"),
        "an unsigned none": (lambda: setattr(beside, "sign", lambda _: b"{}"), "held 1"),
        "a none of another party": (
            lambda: setattr(beside, "sign", lambda r: parties[2].identity.sign(r).content),
            "held 1",
        ),
        "a changed byte": (lambda: setattr(beside, "batch", b"x" + honest[1][1:]), "batch 1"),
        "a part": (lambda: setattr(beside, "batch", honest[1][:-1]), "batch 1"),
    }

    async def tried(kind: str) -> None:
        async with beside.running() as worker:
            worker.job = never
            await until(lambda: beside.asked[kind] >= 2 or beside.party.said("trouble"))
            assert not [e for e in beside.party.said("trouble") if "job" in e["what"]]

    folder = Folder(beside.party.at)
    fresh = folder.copied()
    for lie, (change, kind) in lies.items():
        beside.chain_served, beside.batch, beside.sign = honest
        beside.forget()
        change()
        asyncio.run(tried(kind))
        assert beside.link is None, lie
        assert beside.key.exists(), lie
        folder.put_back(fresh, keys=True)
    beside.chain_served, beside.batch, beside.sign = honest
    asyncio.run(mixed(beside))
    assert beside.link is not None
