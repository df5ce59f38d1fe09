"""What every store must do: the contract of `krand.collector.store`, over each store.

A new store needs one more entry in `STORES`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from collecting import files_in, message, people_in, released, spool_config, submitted
from collector.crowds import SIGNER
from collector.memory_store import Contents, MemoryStore
from krand.batches.chain import parse_manifest
from krand.collector.intake import Intake
from krand.collector.release import release_batch, release_sealed
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP, Batch, RoundClosed, SpoolConfig, State, Store
from krand.errors import InternalError, InvalidInput
from krand.survey.plan_check import CrowdTooSmall
from krand.wire.submissions import Submitted

CROWD = 40
CONFIG = spool_config(CROWD)
Opener = Callable[[SpoolConfig], Store]
"""Opens the same store each time."""


def sqlite_store(folder: Path) -> Opener:
    return lambda config: Spool(folder / "spool", config, folder / "key")


def memory_store(_: Path) -> Opener:
    contents = Contents()
    return lambda config: MemoryStore(contents, config)


STORES = {"sqlite": sqlite_store, "memory": memory_store}


@pytest.fixture(params=list(STORES))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return STORES[request.param](tmp_path)


def people(numbers: Sequence[int]) -> list[Submitted]:
    return [submitted(number, CONFIG.format) for number in numbers]


def messages_of(numbers: Sequence[int]) -> Counter[bytes]:
    copies = range(CONFIG.format.messages)
    return Counter(message(number, copy) for number in numbers for copy in copies)


def messages_in(store: Store, batch: Batch, scratch: Path) -> list[bytes]:
    """Of a sealed batch, which is being released from then on."""
    store.mark_releasing(batch)
    return [row.tobytes() for _, rows in store.lane_messages(batch, scratch) for row in rows]


def test_a_new_store_has_one_open_batch(open_store: Opener) -> None:
    """Number 1, empty, of the planned crowd."""
    with open_store(CONFIG) as store:
        (batch,) = store.batches()
        assert store.config == CONFIG
    assert (batch.number, batch.state, batch.crowd) == (1, State.OPEN, CROWD)
    assert (batch.people, batch.messages, batch.sha256) == (0, 0, None)


LANED = replace(CONFIG, crowd=1, lanes=(1,) * CONFIG.format.messages, release_every=0, closings=2)
"""Where mixers add the noise: every message is a lane, and two batches may be closed."""


@pytest.mark.parametrize("numbers", [range(12), range(100)])
def test_every_message_keeps_its_lane(open_store: Opener, tmp_path: Path, numbers: range) -> None:
    """People come one by one and in a large group; the lane is the place in the submission."""
    with open_store(LANED) as store:
        for number in numbers[:50]:
            store.add(people([number]))
        store.add(people(numbers[50:]))
        sealed = store.mark_releasing(store.close_batch().batch)
        found = Counter(
            (int(lane), row.tobytes())
            for lanes, rows in store.lane_messages(sealed, tmp_path)
            for lane, row in zip(lanes, rows, strict=True)
        )
        store.check()
    copies = range(CONFIG.format.messages)
    assert found == Counter((copy, message(n, copy)) for n in numbers for copy in copies)


def test_a_round_is_closed_after_the_planned_closings(open_store: Opener, tmp_path: Path) -> None:
    """Whatever the crowd, but at least one; then only retries are known, and nothing is stored."""
    with open_store(LANED) as store:
        with pytest.raises(InvalidInput, match="people: must be at least 1"):
            store.close_batch()
        store.add(people(range(3)))
        assert [batch.state for batch in store.batches()] == [State.OPEN]
        assert store.close_batch().batch.people == 3
        store.add(people([3]))
        assert store.close_batch().batch.state is State.SEALED
        for _ in range(2):
            with pytest.raises(RoundClosed, match="must not be closed"):
                store.add(people([0, 4]))
        with pytest.raises(RoundClosed):
            store.close_batch()
        assert store.add(people([0])) == [False]
        assert store.known(people([0, 4, 3])) == [True, False, True]
        store.probe()
    with open_store(LANED) as store:
        first, second = store.batches()
        assert (first.people, second.people) == (3, 1)
        store.mark_releasing(first)
        store.mark_released(first, "5a" * 32)
        store.check()
        with pytest.raises(RoundClosed):
            store.add(people([4]))


ONE_BATCH = replace(CONFIG, release_every=0, closings=1)
"""Open until the organiser closes it: the usual round."""
TWO_OR_MORE = replace(CONFIG, release_every=50, closings=0)
LAST_TAKES_ALL = replace(CONFIG, crowd=10, release_every=50, closings=2)


class Closing(NamedTuple):
    """Some people come, some sealed batches are begun to be written, the round is closed."""

    config: SpoolConfig
    people: int
    written: int
    batches: str
    """State and people of every batch afterwards."""
    lost: int = 0


CLOSINGS = {
    "one below the crowd": Closing(ONE_BATCH, 39, 0, "erased 39", lost=39),
    "the crowd": Closing(ONE_BATCH, 40, 0, "sealed 40"),
    "one above it": Closing(ONE_BATCH, 41, 0, "sealed 41"),
    "half as many again": Closing(ONE_BATCH, 60, 0, "sealed 60"),
    "nobody": Closing(ONE_BATCH, 0, 0, "erased 0"),
    "a remainder joins": Closing(TWO_OR_MORE, 103, 0, "sealed 50, sealed 53, erased 0"),
    "and only a batch that nobody wrote": Closing(
        TWO_OR_MORE, 103, 1, "releasing 50, sealed 53, erased 0"
    ),
    "or is lost": Closing(TWO_OR_MORE, 103, 2, "releasing 50, releasing 50, erased 3", lost=3),
    "a remainder with its crowd": Closing(TWO_OR_MORE, 90, 1, "releasing 50, sealed 40"),
    "no remainder": Closing(TWO_OR_MORE, 50, 1, "releasing 50, erased 0"),
    "the last batch takes all": Closing(LAST_TAKES_ALL, 130, 1, "releasing 50, sealed 80"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CLOSINGS.values(), ids=CLOSINGS)
@pytest.mark.parametrize("group", [7, 200])
def test_closing_leaves_nobody_out_unnoticed(
    open_store: Opener, tmp_path: Path, case: Closing, group: int
) -> None:
    """Everybody is in a sealed batch, or is named as lost and erased; later ones are told."""
    numbers = range(case.people)
    with open_store(case.config) as store:
        for start in range(0, case.people, group):
            store.add(people(numbers[start : start + group]))
        begun = {b.number: messages_in(store, b, tmp_path) for b in store.batches()[: case.written]}
        before = store.batches()
        if case.lost or not case.people:
            with pytest.raises(CrowdTooSmall, match="with --erase"):
                store.close_batch()
            assert store.batches() == before
        closed = store.close_batch(erase=case.lost > 0 or not case.people)
        assert closed.lost == case.lost
    with open_store(case.config) as store:
        batches = store.batches()
        assert ", ".join(f"{b.state.value} {b.people}" for b in batches) == case.batches
        with pytest.raises(RoundClosed):
            store.add(people([case.people]))
        with pytest.raises(RoundClosed):
            store.close_batch(erase=True)
        assert store.known(people(numbers)) == [True] * case.people
        store.tidy()
        store.check()
        found: Counter[bytes] = Counter()
        for batch in batches:
            if batch.state.has_messages:
                own = messages_in(store, batch, tmp_path)
                assert own == begun.get(batch.number, own)
                found.update(own)
            else:
                with pytest.raises(InvalidInput):
                    store.mark_releasing(batch)
    assert found == messages_of(numbers[: case.people - case.lost])


def test_a_retry_after_the_closing_is_still_acknowledged(open_store: Opener) -> None:
    """Somebody whose answer was lost must not be told that they are not in it."""

    async def asked() -> list[object]:
        intake = Intake(store)
        intake.start()
        waiting = [intake.submit(one) for one in people([1, 7, 2])]
        found = await asyncio.gather(*waiting, return_exceptions=True)
        await intake.check_ready()
        await intake.stop()
        return [type(one) if isinstance(one, Exception) else one for one in found]

    store = open_store(replace(LANED, closings=1))
    store.add(people([1, 2, 3]))
    store.close_batch()
    assert asyncio.run(asked()) == [False, RoundClosed, False]


def test_a_retry_is_counted_once(open_store: Opener) -> None:
    """In the same group, in a later one, and after the store was closed."""
    with open_store(CONFIG) as store:
        assert store.add([]) == []
        assert store.add(people([1, 2, 1])) == [True, True, False]
        assert store.add(people([2, 3])) == [False, True]
    with open_store(CONFIG) as store:
        assert store.add(people([3, 1, 4])) == [False, False, True]
        (batch,) = store.batches()
    assert (batch.people, batch.messages) == (4, 4 * CONFIG.format.messages)


@pytest.mark.parametrize("group", [1, 7, MINIMUM_GROUP, 3 * CROWD])
def test_a_complete_crowd_seals_its_batch(open_store: Opener, tmp_path: Path, group: int) -> None:
    """However the groups fall: everybody is in one batch, and no batch is larger than planned."""
    numbers = range(2 * CROWD + 5)
    with open_store(CONFIG) as store:
        for start in range(0, len(numbers), group):
            store.add(people(numbers[start : start + group]))
        batches = store.batches()
        sealed = [messages_in(store, batch, tmp_path) for batch in batches[:2]]
    assert [batch.number for batch in batches] == [1, 2, 3]
    assert [batch.state for batch in batches] == [State.SEALED, State.SEALED, State.OPEN]
    assert [batch.people for batch in batches] == [CROWD, CROWD, 5]
    assert len({batch.id for batch in batches}) == 3
    assert Counter(sealed[0]) == messages_of(numbers[:CROWD])
    assert Counter(sealed[1]) == messages_of(numbers[CROWD : 2 * CROWD])


def test_the_order_of_a_sealed_batch_is_random_and_drawn_once(
    open_store: Opener, tmp_path: Path
) -> None:
    """Whenever it is read, before and after the store is closed: rows of bytes, the same ones."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD)))
        batch = store.batches()[0]
        first = messages_in(store, batch, tmp_path)
        assert messages_in(store, batch, tmp_path) == first
        for _, rows in store.lane_messages(batch, tmp_path):
            assert (rows.dtype, rows.shape[1]) == (np.uint8, CONFIG.format.message_length)
    with open_store(CONFIG) as store:
        assert messages_in(store, batch, tmp_path) == first
    arrived = list(messages_of(range(CROWD)))
    assert len(set(first)) == len(first) == len(arrived)
    assert first != arrived  # one of 80! orders


def test_two_stores_draw_different_orders(tmp_path: Path) -> None:
    """The order depends on no submission and on no store's name."""
    for make in STORES.values():
        orders = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir(exist_ok=True)
            with make(tmp_path / name)(CONFIG) as store:
                store.add(people(range(CROWD)))
                orders.append(messages_in(store, store.batches()[0], tmp_path))
        assert orders[0] != orders[1]


def test_an_open_batch_hands_out_nothing(open_store: Opener, tmp_path: Path) -> None:
    """Not even if the caller says that it is sealed."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD - 1)))
        (batch,) = store.batches()
        for claimed in (batch, replace(batch, state=State.SEALED, people=CROWD)):
            with pytest.raises(InvalidInput, match="must be marked as releasing, found 'open'"):
                store.lane_messages(claimed, tmp_path)
            with pytest.raises(InvalidInput, match="must be sealed, found 'open'"):
                store.mark_releasing(claimed)
            with pytest.raises(InternalError):
                store.mark_released(claimed, "00" * 32)
        assert store.batches() == (batch,)


def test_a_released_batch_is_forgotten_and_its_people_are_not(
    open_store: Opener, tmp_path: Path
) -> None:
    """Its messages are gone, its number and digest stay, and a retry is still known."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD)))
        batch = store.batches()[0]
        with pytest.raises(InternalError):  # not before the first byte was announced
            store.mark_released(batch, "ab" * 32)
        store.mark_releasing(batch)
        for _ in range(2):
            store.mark_released(batch, "ab" * 32)
        with pytest.raises(InternalError):
            store.mark_released(batch, "cd" * 32)
    with open_store(CONFIG) as store:
        found, waiting = store.batches()
        assert found == replace(batch, state=State.RELEASED, sha256="ab" * 32)
        assert (waiting.number, waiting.people) == (2, 0)
        with pytest.raises(InvalidInput, match="must be marked as releasing, found 'released'"):
            store.lane_messages(found, tmp_path)
        assert not any(store.add(people(range(CROWD))))


def test_upkeep_changes_nothing(open_store: Opener, tmp_path: Path) -> None:
    """Whatever is called when nobody is waiting: batches and messages are as before."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD + 3)))
        store.mark_releasing(store.batches()[0])
        before = store.batches()
        first = messages_in(store, before[0], tmp_path)
        for upkeep in (store.tidy, store.probe, store.check_people, store.check):
            upkeep()
            assert store.batches() == before
            assert messages_in(store, before[0], tmp_path) == first
        assert not any(store.add(people(range(CROWD + 3))))


@pytest.mark.parametrize(
    "other",
    [
        replace(CONFIG, crowd=CROWD - 1),
        replace(CONFIG, plan_hash="00" * 32),
        replace(CONFIG, format=replace(CONFIG.format, round=2)),
        replace(CONFIG, format=replace(CONFIG.format, messages=1)),
    ],
)
def test_a_store_is_of_one_plan_crowd_and_round(
    open_store: Opener, other: SpoolConfig, tmp_path: Path
) -> None:
    """Another one is refused, and the store stays what it was, to the byte."""
    open_store(CONFIG).close()
    before = files_in(tmp_path / "spool")
    with pytest.raises(InvalidInput, match=r"cannot be changed|of the same plan") as caught:
        open_store(other)
    assert caught.value.field == "spool"
    assert files_in(tmp_path / "spool") == before
    with open_store(CONFIG) as store:
        assert store.add(people([1])) == [True]


def test_release_writes_a_sealed_batch_and_nothing_below_the_crowd(
    open_store: Opener, tmp_path: Path
) -> None:
    """The release gate knows the interface alone."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD - 1)))
        assert release_sealed(store, tmp_path / "out", SIGNER) == ()
        with pytest.raises(InvalidInput, match="must be sealed"):
            release_batch(store, store.batches()[0], tmp_path / "out", SIGNER)
        store.add(people([CROWD - 1]))
        (done,) = release_sealed(store, tmp_path / "out", SIGNER)
        assert store.batches()[0].state is State.RELEASED
        assert release_sealed(store, tmp_path / "out", SIGNER) == ()
    assert Counter(released(done.data)) == messages_of(range(CROWD))
    manifest = parse_manifest(done.manifest.read_bytes(), SIGNER.public_key())
    assert (manifest.submissions, manifest.batch_id) == (CROWD, done.batch.id)


def test_an_interrupted_release_writes_the_same_bytes(
    open_store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that were written before the store could forget the batch are accepted."""
    with open_store(CONFIG) as store:
        store.add(people(range(CROWD)))
        with monkeypatch.context() as patch:
            patch.setattr(store, "mark_released", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                release_sealed(store, tmp_path / "out", SIGNER)
        (file,) = (tmp_path / "out").glob("*.parquet")
        before = file.read_bytes()
        (done,) = release_sealed(store, tmp_path / "out", SIGNER)
    assert done.data.read_bytes() == before


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_intake_serves_any_store(open_store: Opener) -> None:
    """Submissions one by one, with retries: each is counted once, and the store is closed."""
    store = open_store(CONFIG)

    async def take() -> tuple[list[bool], int]:
        intake = Intake(store)
        intake.start()
        await intake.check_ready()
        verdicts = [await intake.submit(one) for one in people([1, 2, 1, 3])]
        (batch,) = await intake.batches()
        await intake.stop()
        return verdicts, batch.people

    verdicts, came = asyncio.run(take())
    assert verdicts == [True, True, False, True]
    assert came == 3
    with open_store(CONFIG) as again:
        assert people_in(again) == 3
