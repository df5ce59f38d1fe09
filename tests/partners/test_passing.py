"""A batch on its way through two partners: whole or not at all, once, and kept until then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import krand
from chaos import Clock
from mixing.by_hand import holds_key
from partners.in_threads import (
    DAY,
    START,
    Answer,
    Between,
    Organiser,
    Service,
    asked,
    down,
    rule,
    serving,
    unchanged,
    until,
)


@dataclass
class Chain:
    """An organiser and two partners; somebody stands between the two."""

    organiser: Organiser
    university: Service
    union: Service
    between: Between

    def files(self, service: Service, hop: int) -> list[Path]:
        """The file of every whole batch that left the mixer of this place, at a party."""
        return [*service.store.rglob(f"round-*-{hop}.batch")]

    @property
    def arrived(self) -> list[Path]:
        """What the analyst can take: it has no address here, so the last mixer keeps it."""
        return [
            path for path in self.files(self.union, 3) if path.with_suffix(".chain.json").exists()
        ]

    def key(self, hop: int, number: int = 1) -> str:
        return self.organiser.plan.mixers[hop - 1].keys[number - 1]

    def erased(self, service: Service) -> list[tuple[int, str, int]]:
        """What it signs that it has erased: round, reason, batches."""
        listed = asked(service.port, "GET", f"/v1/plans/{self.organiser.plan.hash}/erasures")[1]
        return [(one["round"], one["reason"], one["batches"]) for one in listed["erasures"]]

    def wake(self, service: Service) -> None:
        """It looks at once whether there is something to do."""
        route = json.loads((self.organiser.own / "route.json").read_bytes())
        path = f"/v1/plans/{self.organiser.plan.hash}/route"
        assert self.organiser.asking.ask(service, "POST", path, route)[0] == 200

    def check_counted(self) -> None:
        """Everybody is in it once, and the chain has a link of every mixer."""
        (batch,) = self.arrived
        plan, key = self.organiser.plan, self.organiser.own / "analyst" / "key.pem"
        tally = krand.tally_batches(plan, [batch], krand.read_private_key(key))
        links = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"]
        assert tally.people == 3
        assert [link["place"] for link in links] == [1, 2, 3]
        lanes = [lane for link in links for lane in link["lanes"]]
        assert sum(tally.counts) + tally.nulls == 3 + sum(lane["dummies"] for lane in lanes)


@pytest.fixture
def chain(tmp_path: Path, clock: Clock) -> Iterator[Chain]:
    university, union = (Service(tmp_path / name) for name in ("university", "union"))
    with serving(university, union), Between(union.port) as between:
        organiser = Organiser(tmp_path / "council")
        through = union.link.replace(str(union.port), str(between.port))
        organiser.pair(university.link, through)
        yield Chain(organiser, university, union, between)


def test_a_batch_arrives_whole_or_not_at_all(chain: Chain) -> None:
    """Half of it, or other bytes, are nothing; then it passes, and no key of its round is left."""
    organiser, university = chain.organiser, chain.university
    shutil.copytree(organiser.folder, organiser.folder.with_name("liar"))
    liar = Organiser(organiser.folder.with_name("liar"))
    batch, second = organiser.collected(), liar.collected()
    assert organiser.send(batch, university, 0.5)[1]["complete"] is False
    assert chain.files(university, 1) == [], "half a batch is a batch"
    university.restart()
    whole = batch.read_bytes()
    batch.write_bytes(whole[:-1] + bytes((whole[-1] ^ 1,)))
    assert organiser.send(batch, university)[1]["complete"] is False
    assert "must have the SHA-256" in rule(organiser.send(batch, university)), "it is at its end"
    assert chain.files(university, 1) == [], "a batch that nobody signed is a batch"
    batch.write_bytes(whole)
    assert "with which it was announced first" in rule(liar.send(second, university))
    done = organiser.send(batch, university)[1]
    until(lambda: chain.arrived, what="the batch")
    chain.check_counted()
    until(lambda: not chain.files(university, 1) + chain.files(university, 2), what="an end")
    for hop, service in ((2, university), (3, chain.union)):
        until(lambda service=service: chain.erased(service) == [(1, "mixed", 1)])
        held = [holds_key(service.store, chain.key(hop, number)) for number in (1, 2)]
        assert held == [False, True], f"keys of mixer {hop}"
    assert organiser.send(batch, university)[1]["receipt"] == done["receipt"]
    assert "with which it was announced first" in rule(liar.send(second, university))
    assert len(chain.arrived) == 1


def of_receipts(**values: object) -> Callable[[str, Answer], Answer]:
    """Whoever is between changes what the next party signs that it has."""

    def change(path: str, answer: Answer) -> Answer:
        status, told = answer
        if told.get("complete"):
            return status, {**told, "receipt": {**told["receipt"], **values}}
        return answer

    return change


LIES: dict[str, Callable[[str, Answer], Answer]] = {
    "nobody answers": lambda path, answer: (
        down(path, answer) if path.endswith("/batches") or "offset" in path else answer
    ),
    "a forged receipt": of_receipts(signature="00" * 64),
    "a receipt of another file": of_receipts(sha256="00" * 32),
    "no receipt": lambda _, answer: (
        (answer[0], {**answer[1], "receipt": None}) if answer[1].get("complete") else answer
    ),
}


def test_a_batch_is_kept_until_the_next_party_has_signed_for_it(chain: Chain) -> None:
    """However long that takes; its key is gone by then, so nobody can steal it."""
    chain.between.change = LIES["nobody answers"]
    chain.organiser.send(chain.organiser.collected(), chain.university)
    until(lambda: chain.files(chain.university, 2), what="mixing")
    (kept,) = chain.files(chain.university, 2)
    content = kept.read_bytes()
    until(lambda: not holds_key(chain.university.store, chain.key(2)), what="erasing")
    for name, change in LIES.items():
        chain.university.stop()
        chain.between.change, before = change, len(chain.between.asked)
        chain.university.start()
        until(lambda before=before: len(chain.between.asked) > before + 4 or not kept.exists())
        assert kept.exists(), f"removed though there was {name}"
    assert kept.read_bytes() == content
    chain.between.change = unchanged
    chain.university.restart()
    until(lambda: not kept.exists(), what="a receipt")
    until(lambda: chain.arrived, what="the batch")
    chain.check_counted()


def not_received(values: dict[str, object]) -> Callable[[str, Answer], Answer]:
    """Whoever is between answers this when a mixer asks whether a batch has left."""
    return lambda path, answer: (200, values) if path.endswith("/receipt") else answer


def test_an_older_copy_with_its_keys_mixes_nothing(chain: Chain) -> None:
    """No noise is drawn before the next party says that it has nothing, and only it can say so."""
    chain.between.change = down
    chain.organiser.send(chain.organiser.collected(), chain.university)
    forged = {"format": "krand-not-received-1", "signature": "00" * 64}
    for change in (down, not_received({}), not_received(forged)):
        chain.university.stop()
        chain.between.change, before = change, len(chain.between.asked)
        chain.university.start()
        until(lambda before=before: len(chain.between.asked) > before, what="a question")
        chain.wake(chain.university)
        assert chain.files(chain.university, 2) == [], "mixed without an answer"
        assert holds_key(chain.university.store, chain.key(2))
    chain.university.stop()
    backup = shutil.copytree(chain.university.store, chain.university.store.with_name("backup"))
    chain.between.change = unchanged
    chain.university.start()
    until(lambda: chain.arrived, what="the batch")
    before = {path: path.read_bytes() for path in chain.arrived}
    chain.university.stop()
    shutil.rmtree(chain.university.store)
    backup.rename(chain.university.store)
    for _ in range(2):
        chain.university.start()
        until(lambda: "must not have left this mixer before" in page(chain.university))
        assert chain.files(chain.university, 2) == [], "mixed again"
        chain.university.stop()
    chain.university.start()
    assert {path: path.read_bytes() for path in chain.arrived} == before


def page(service: Service) -> str:
    """What everybody reads there."""
    text: str = asked(service.port, "GET", "/")[1]["text"]
    return text


def test_keys_are_erased_by_date_and_by_the_organiser(chain: Chain, clock: Clock) -> None:
    """A round that is closed, and thirty days after the last day whatever is left."""
    service, plan = chain.university, chain.organiser.plan.hash
    path = f"/v1/plans/{plan}/rounds/2/close"
    until(lambda: chain.organiser.asking.ask(service, "POST", path)[0] == 200, what="closing")
    held = [holds_key(service.store, chain.key(2, number)) for number in (1, 2)]
    assert held == [True, False], "the key of the closed round goes, and no other"
    assert "whose key is not erased" in rule(
        chain.organiser.send(chain.organiser.collected(number=2), service)
    )
    last = START + 62 * DAY  # 4 March, thirty days after 2 February
    for now, left in ((last - 0.6 * DAY, True), (last + 0.6 * DAY, False)):
        clock.set(now)
        chain.wake(service)
        until(lambda left=left: holds_key(service.store, chain.key(2)) is left, what=f"{left}")
    until(lambda: chain.erased(service) == [(1, "date", 0), (2, "closed", 0)], what="the list")
    until(lambda: "batches of round 1 of the survey team" in page(service), what="word of the loss")


def test_a_clock_that_somebody_set_erases_nothing(chain: Chain, clock: Clock) -> None:
    """Forward or back by more than a day: the service stops, until its operator has looked."""
    service = chain.university
    for days in (90, -90):
        clock.jump(days * DAY)
        chain.wake(service)
        until(lambda: service.ended, what="an end")
        service.stop()
        service.begin()
        assert "--clock-is-right" in str(service.ended), "a start alone is no look"
        assert holds_key(service.store, chain.key(2))
        clock.jump(-days * DAY)
        service.start()
    service.stop()
    clock.jump(90 * DAY)
    service.start("--clock-is-right")
    until(lambda: not holds_key(service.store, chain.key(2)), what="erasing")
