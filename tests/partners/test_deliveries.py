"""Batches that leave: tried again for days, and done when exactly the right receipt is stored."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from krand.errors import InternalError, InvalidInput, Unavailable
from krand.partners.deliveries import (
    FIRST_WAIT,
    LEAST_CHUNK,
    LONGEST_WAIT,
    Deliveries,
    Told,
)
from krand.partners.documents import BatchReceipt, NotReceived, Route, Station
from krand.partners.identity import Address
from krand.partners.talking import Conversation, Refused, ask_receipt, has_batch
from krand.partners.uploads import MOST_CHUNK
from krand.wire.signed import Signed, signed_in
from mixing.test_kills import KILLED, lived
from partners.passing import URL, Batch, Receiver, batch, party, receiver
from partners.services import (
    Direct,
    Done,
    Service,
    certificate,
    new_identity,
    receiving,
)

FAULTS = int(os.environ.get("KRAND_FAULTS", "12"))
DAY = 86_400.0


@dataclass
class Sender:
    """Passes batches on to a receiver, by a clock that the test moves."""

    folder: Path
    place: Receiver
    talks: Callable[[Address], Direct] | None = None
    seconds: float = 0.0
    chunk: int = MOST_CHUNK
    told: list[Told] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    addresses: list[Address] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.deliveries = Deliveries(
            self.folder / "deliveries.sqlite",
            self._talk,
            tell=self.told.append,
            now=lambda: self.seconds,
            most_chunk=self.chunk,
        )

    def add(self, sent: Batch) -> None:
        self.deliveries.add(*sent.written(self.folder / "out"), self.place.station)

    def after(self, seconds: float) -> None:
        self.seconds += seconds
        self.deliveries.work()

    @property
    def problem(self) -> str:
        (waiting,) = self.deliveries.waiting()
        return waiting.problem

    def answers(self, done: Done) -> None:
        """From now on the receiver does this."""
        self.talks = lambda _: Direct(done, self.asked)

    def _talk(self, address: Address) -> Direct:
        self.addresses.append(address)
        assert self.talks is not None
        return self.talks(address)


@pytest.fixture
def sender(tmp_path: Path) -> Sender:
    found = Sender(tmp_path, receiver(tmp_path / "incoming"))
    found.answers(receiving(found.place.uploads))
    return found


def is_down(*_: object) -> dict:
    raise Unavailable("nobody is there")


def arrived(sender: Sender, sent: Batch) -> None:
    """The right files are there, the receipt is stored, and its owner knows."""
    assert sender.place.found == {
        f"{sent.name}.parquet": sent.data,
        f"{sent.name}.chain.json": sent.chain,
    }
    (receipt,) = sender.deliveries.receipts(party().plan.hash)
    assert receipt.is_by(sender.place.identity.public)
    assert receipt.record.sha256 == sent.link.output_sha256
    assert [told.receipt for told in sender.told if told.receipt] == [receipt]
    assert sender.deliveries.waiting() == ()


def test_a_batch_is_delivered_and_its_owner_told_once(sender: Sender) -> None:
    """Nothing is sent again, and the file stays where it is."""
    sent = batch()
    sender.add(sent)
    sender.after(0)
    arrived(sender, sent)
    asked = len(sender.asked)
    sender.add(sent)
    sender.restart()
    sender.after(DAY)
    assert len(sender.asked) == asked
    assert sender.addresses == [Address(URL, sender.place.identity.public)]
    assert sorted(path.name for path in (sender.folder / "out").iterdir()) == sorted(
        sender.place.found
    )


def test_a_receiver_that_is_down_is_tried_again_for_days(sender: Sender) -> None:
    """At first every second, later every hour; its owner is told once why."""
    sent, genuine, tries = batch(), receiving(sender.place.uploads), []

    def down(*_: object) -> dict:
        tries.append(sender.seconds)
        raise Unavailable("nobody is there")

    sender.answers(down)
    sender.add(sent)
    sender.after(0)
    for wait in (*(2**n for n in range(12)), *[LONGEST_WAIT] * 71):
        count = len(tries)
        sender.after(wait - 0.5)
        assert len(tries) == count
        sender.after(0.5)
        assert len(tries) == count + 1
    assert sender.seconds > 2.9 * DAY
    assert [str(told.problem) for told in sender.told] == ["nobody is there"]
    sender.answers(genuine)
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


def test_what_is_to_be_delivered_survives_a_restart(sender: Sender) -> None:
    """And is tried at once, however long the wait was before."""
    sent = batch()
    sender.answers(is_down)
    sender.add(sent)
    for _ in range(20):
        sender.after(LONGEST_WAIT)
    sender.restart()
    sender.answers(receiving(sender.place.uploads))
    sender.after(0)
    arrived(sender, sent)


def interrupted(genuine: Done, every: int) -> Done:
    """A receiver that is cut off after so many chunks, each time."""
    left = every

    def done(method: str, path: str, body: bytes) -> dict:
        nonlocal left
        if method == "PATCH":
            left -= 1
            if left < 0:
                left = every
                raise Unavailable("cut off")
        return genuine(method, path, body)

    return done


def test_a_file_goes_on_where_the_receiver_is(sender: Sender) -> None:
    """No byte that was acknowledged is sent again, and waits stay short while there is progress."""
    sender.chunk = LEAST_CHUNK
    sender.restart()
    sent = batch(200_000)
    sender.answers(interrupted(receiving(sender.place.uploads), 1))
    sender.add(sent)
    while sender.deliveries.waiting():
        sender.after(FIRST_WAIT)
        assert sender.seconds < 10
    arrived(sender, sent)
    offsets = [path.partition("=")[2] for method, path, _ in sender.asked if method == "PATCH"]
    assert list(dict.fromkeys(offsets)) == ["0", "65536", "131072", "196608"]


def test_chunks_become_smaller_where_large_ones_do_not_arrive(sender: Sender) -> None:
    """A slow connection gets on as well; a receiver that is down changes nothing."""
    genuine = receiving(sender.place.uploads)

    def slow(method: str, path: str, body: bytes) -> dict:
        if len(body) > 2**17:
            raise Unavailable("too slow")
        return genuine(method, path, body)

    sent = batch(200_000)
    sender.answers(is_down)
    sender.add(sent)
    for _ in range(9):
        sender.after(LONGEST_WAIT)
    sender.answers(slow)
    while sender.deliveries.waiting():
        sender.after(LONGEST_WAIT)
    arrived(sender, sent)
    sizes = [size for method, _, size in sender.asked if method == "PATCH"]
    assert sizes[0] == min(len(sent.data), MOST_CHUNK)


def test_a_route_with_a_new_address_is_used_at_the_next_try(sender: Sender) -> None:
    """Which is now; a route with another identity is refused."""
    sent = batch()
    sender.answers(is_down)
    sender.add(sent)
    for _ in range(15):
        sender.after(LONGEST_WAIT)
    moved = "https://moved.example.org"
    stations = tuple(
        replace(sender.place.station, hop=hop, url=moved if hop == 2 else "") for hop in range(4)
    )
    route = Route(plan=party().plan.hash, number=2, stations=stations)
    other = replace(stations[2], identity=new_identity().public)
    with pytest.raises(InvalidInput, match="a route may change addresses alone"):
        sender.deliveries.reroute(replace(route, stations=(*stations[:2], other, stations[3])))
    sender.deliveries.reroute(route)
    sender.answers(receiving(sender.place.uploads))
    sender.after(0)
    assert sender.addresses[-1].url == moved
    arrived(sender, sent)


def test_a_station_without_an_address_takes_files_by_hand(sender: Sender) -> None:
    """Nobody is asked; when it gets an address, the batch is sent."""
    sent = batch()
    by_hand = replace(sender.place.station, url="")
    sender.deliveries.add(*sent.written(sender.folder / "out"), by_hand)
    sender.after(DAY)
    assert sender.addresses == []
    assert sender.problem == ""
    stations = tuple(replace(sender.place.station, hop=hop) for hop in range(4))
    sender.deliveries.reroute(Route(plan=party().plan.hash, number=2, stations=stations))
    sender.after(0)
    arrived(sender, sent)


def other_receipts(sender: Sender) -> Iterator[tuple[str, str, Callable[[dict], Any]]]:
    """What a receiver might sign, or not, instead."""
    own, stranger = sender.place.identity, new_identity()

    def signed(**changes: object) -> Callable[[dict], Any]:
        def change(values: dict) -> dict:
            genuine = signed_in(BatchReceipt, values).record
            return own.sign(replace(genuine, **changes)).values

        return change

    yield "sha256", "must be", signed(sha256="00" * 32)
    yield "batch_id", "must be", signed(batch_id="00" * 16)
    yield "plan", "must be", signed(plan="00" * 32)
    yield "round", "must be 1", signed(round=2)
    yield "hop", "must be 2", signed(hop=3)
    yield "receiver", "must be", signed(receiver=stranger.public)
    yield "signature", "must be signed by the identity", lambda v: v | {"signature": "00" * 64}
    yield "none", "must be of the format", lambda _: None
    yield "text", "must be of the format", lambda _: "yes"


def test_another_receipt_is_refused_and_named(sender: Sender) -> None:
    """Of another hash, batch, plan, round or place, by somebody else, or none at all."""
    sent = batch()
    sender.add(sent)
    genuine = receiving(sender.place.uploads)
    for name, problem, change in other_receipts(sender):

        def lying(method: str, path: str, body: bytes, change: Any = change) -> dict:
            values = genuine(method, path, body)
            return values | {"receipt": change(values["receipt"])} if values["complete"] else values

        sender.answers(lying)
        sender.after(LONGEST_WAIT)
        assert sender.problem.startswith("receipt of next"), name
        assert problem in sender.problem
        assert sender.deliveries.receipts(party().plan.hash) == ()
    sender.answers(genuine)
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "must say how much has arrived"),
        ({"offset": -1, "complete": False, "receipt": None}, "must say how much has arrived"),
        ({"offset": 0, "complete": "yes", "receipt": None}, "must say how much has arrived"),
        ({"offset": 10**9, "complete": False, "receipt": None}, "must be at most 100,000"),
        ({"offset": 7, "complete": False, "receipt": None}, "must be 100,000, or all"),
        ({"offset": 100_000, "complete": False, "receipt": None}, "must be 100,000, or all"),
    ],
)
def test_a_receiver_that_answers_nonsense_is_named_and_tried_again(
    sender: Sender, values: dict, problem: str
) -> None:
    """It cannot make the sender send for ever."""
    sent = batch()
    sender.answers(lambda *_: values)
    sender.add(sent)
    sender.after(0)
    assert problem in sender.problem
    assert len(sender.asked) < 5
    sender.answers(receiving(sender.place.uploads))
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


def test_what_nobody_foresaw_keeps_nothing_from_being_tried_again(sender: Sender) -> None:
    """It is told by the name of its type."""
    sent = batch()
    sender.answers(lambda *_: 1 / 0)  # type: ignore[arg-type,return-value]
    sender.add(sent)
    sender.after(0)
    (told,) = sender.told
    assert isinstance(told.problem, InternalError)
    assert "ZeroDivisionError" in sender.problem
    sender.answers(receiving(sender.place.uploads))
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


def test_a_receiver_that_got_another_file_gets_it_again(sender: Sender) -> None:
    """Bytes that changed on the way: the receiver throws them away and says so."""
    sent, genuine = batch(), receiving(sender.place.uploads)

    def changing(method: str, path: str, body: bytes) -> dict:
        return genuine(method, path, bytes(len(body)) if method == "PATCH" else body)

    sender.answers(changing)
    sender.add(sent)
    sender.after(0)
    assert "must have the SHA-256 that its chain says" in sender.problem
    sender.answers(genuine)
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


def test_a_file_that_is_not_the_one_that_was_signed_is_not_passed_on(sender: Sender) -> None:
    """Neither at first, nor a second one under the same id, nor one that has gone."""
    sent = batch(batch_id="5a" * 16)
    data, chain = sent.written(sender.folder / "out")
    data.write_bytes(sent.data[:-1])
    with pytest.raises(InvalidInput, match="must be the file that link 1"):
        sender.deliveries.add(data, chain, sender.place.station)
    sender.add(sent)
    other = batch(seed=2, batch_id="5a" * 16).written(sender.folder / "other")
    with pytest.raises(InvalidInput, match="nothing is passed on twice"):
        sender.deliveries.add(*other, sender.place.station)
    data.unlink()
    sender.after(0)
    assert "must be a file that can be read" in sender.problem
    sent.written(sender.folder / "out")
    sender.after(LONGEST_WAIT)
    arrived(sender, sent)


def test_a_damaged_file_of_deliveries_is_named(sender: Sender) -> None:
    """And so is one of a later version."""
    path = sender.folder / "deliveries.sqlite"
    for other in path.parent.glob("deliveries.sqlite-*"):
        other.unlink()
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(InvalidInput, match="must be a whole file of deliveries"):
        sender.restart()


def test_a_mixer_asks_whether_a_batch_has_left_before(sender: Sender) -> None:
    """The station's word counts only if it is signed, and for this question."""
    place, sent, plan = sender.place, batch(), party().plan.hash
    talk = Direct(receiving(place.uploads))
    name = sent.link.batch_id
    assert ask_receipt(talk, place.station, plan, name) is None
    assert not has_batch(talk, place.station, plan, name)
    place.uploads.begin(sent.chain)  # the chain alone has left, too
    assert ask_receipt(talk, place.station, plan, name) is None
    assert has_batch(talk, place.station, plan, name)
    sender.add(sent)
    sender.after(0)
    assert has_batch(talk, place.station, plan, name)
    found = ask_receipt(talk, place.station, plan, name)
    assert isinstance(found, Signed)
    assert found.record.sha256 == sent.link.output_sha256
    no = NotReceived(plan=plan, batch_id=name, receiver=place.identity.public, nonce="00" * 16)
    stranger = new_identity().sign(replace(no, nonce="00" * 16))
    for values, problem in (
        (place.identity.sign(no).values, "nonce"),  # an answer that was recorded before
        (stranger.values, "nonce"),
        ({}, "must be of the format"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            ask_receipt(Direct(lambda *_, v=values: v), place.station, plan, name)  # type: ignore[misc]


def test_a_stopped_sender_ends_after_a_chunk_and_goes_on_later(sender: Sender) -> None:
    """Without a problem to report."""
    sent, genuine = batch(), receiving(sender.place.uploads)

    def stopping(method: str, path: str, body: bytes) -> dict:
        sender.deliveries.stop()
        return genuine(method, path, body)

    sender.answers(stopping)
    sender.add(sent)
    sender.after(0)
    assert sender.told == []
    sender.restart()
    sender.answers(genuine)
    sender.after(0)
    arrived(sender, sent)


def test_a_station_that_hangs_keeps_no_other_one_waiting(tmp_path: Path) -> None:
    """Each is served by a thread of its own; the real loop, which ends when it is told."""
    slow, quick = receiver(tmp_path / "slow"), receiver(tmp_path / "quick")
    let_go, ended = threading.Event(), threading.Event()

    def talk(address: Address) -> Direct:
        if address.identity == slow.identity.public:
            let_go.wait()
        place = slow if address.identity == slow.identity.public else quick
        return Direct(receiving(place.uploads))

    def tell(told: Told) -> None:
        assert told.receipt is not None
        if told.delivery.station.identity == quick.identity.public:
            let_go.set()
        else:
            ended.set()

    deliveries = Deliveries(tmp_path / "deliveries.sqlite", talk, tell=tell)
    deliveries.add(*batch(seed=1).written(tmp_path / "out"), slow.station)
    thread = threading.Thread(target=deliveries.run)
    thread.start()
    try:
        deliveries.add(*batch(seed=2).written(tmp_path / "out"), quick.station)
        assert ended.wait(60)
    finally:
        let_go.set()
        deliveries.stop()
        thread.join()
    assert deliveries.waiting() == ()


def test_a_disk_that_cannot_be_used_for_a_while_ends_nothing(tmp_path: Path) -> None:
    """The loop looks again; what was to be delivered is still known."""
    place, path, away = receiver(tmp_path / "next"), tmp_path / "kept", tmp_path / "away"
    looks, ended = threading.Semaphore(0), threading.Event()

    def now() -> float:
        looks.release()
        return time.monotonic()

    deliveries = Deliveries(
        path, lambda _: Direct(receiving(place.uploads)), tell=lambda _: ended.set(), now=now
    )
    deliveries.add(*batch().written(tmp_path / "out"), place.station)
    path.rename(away)
    thread = threading.Thread(target=deliveries.run)
    thread.start()
    try:
        assert all(looks.acquire(timeout=300) for _ in range(2))  # it looks a second time
        away.rename(path)
        assert ended.wait(60)
    finally:
        deliveries.stop()
        thread.join()
    assert deliveries.waiting() == ()


def test_a_batch_passes_over_real_tls(tmp_path: Path) -> None:
    """Signed requests, a certificate of the receiver's identity, chunks, and the receipt."""
    place, own, sent = receiver(tmp_path / "incoming"), new_identity(), batch()
    service = Service(place.identity, receiving(place.uploads))
    told: list[Told] = []
    with service.serving(certificate(tmp_path / "tls.pem", place.identity)) as url:
        deliveries = Deliveries(
            tmp_path / "deliveries.sqlite",
            lambda address: Conversation(own, address),
            tell=told.append,
        )
        files = sent.written(tmp_path / "out")
        deliveries.add(*files, replace(place.station, url=url))
        deliveries.work()
        with Conversation(own, Address(url, place.identity.public)) as talk:
            plan = party().plan.hash
            assert ask_receipt(talk, place.station, plan, sent.link.batch_id) is not None
            with pytest.raises(Refused, match="whose chain is known"):
                talk.get(f"/v1/plans/{plan}/batches/{'00' * 16}")
    assert [each.problem for each in told] == [None]
    assert place.found[f"{sent.name}.parquet"] == sent.data
    assert {identity for identity, _, _ in service.asked} == {own.public}


@pytest.mark.check
@pytest.mark.loop
def test_killed_at_random_a_batch_arrives_once_with_equal_bytes(tmp_path: Path) -> None:
    """Sender and receiver together, killed at random calls, several times for each batch."""
    sent, place = batch(200_000), receiver(tmp_path / "incoming")
    files = sent.written(tmp_path / "out")

    def work(folder: Path) -> None:
        at = replace(place, folder=folder / "incoming")
        deliveries = Deliveries(
            folder / "deliveries.sqlite",
            lambda _: Direct(receiving(at.uploads)),
            tell=raising,
            most_chunk=LEAST_CHUNK,
        )
        deliveries.add(*files, at.station)
        deliveries.work()
        assert deliveries.waiting() == ()

    whole = tmp_path / "whole"
    whole.mkdir()
    calls = 1
    while lived(work, whole, calls) == KILLED:  # how many calls there are, roughly
        shutil.rmtree(whole)
        whole.mkdir()
        calls *= 2
    chance, kills = random.Random(), 0
    while kills < FAULTS:
        folder = tmp_path / f"life {kills}"
        folder.mkdir()
        for _ in range(3):
            kills += lived(work, folder, chance.randint(1, calls // 2)) == KILLED
        assert lived(work, folder, 0) == 0
        at = replace(place, folder=folder / "incoming")
        assert at.found[f"{sent.name}.parquet"] == sent.data
        assert at.found[f"{sent.name}.chain.json"] == sent.chain
        assert len(at.found) == 2
        shutil.rmtree(folder)


def raising(told: Told) -> None:
    """A problem ends the child with an error."""
    if told.problem is not None:
        raise told.problem


def test_a_station_is_found_by_its_place(sender: Sender) -> None:
    """The same batch may go to two places of a chain; each has its own receipt."""
    sent = batch()
    sender.add(sent)
    elsewhere = Station(hop=3, name="other", identity=new_identity().public, url="")
    sender.deliveries.add(*sent.written(sender.folder / "out"), elsewhere)
    sender.after(0)
    (waiting,) = sender.deliveries.waiting()
    assert waiting.delivery.station == elsewhere
