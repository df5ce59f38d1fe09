"""One round at one party: a coroutine that is read from top to bottom.

What cannot be undone is recorded before it is done, so that it can be done again after a kill:
first the record, then the key is destroyed, then the output is shown. `settle` does what follows
from a record. It is called after every record and at every start, so that the way of recovery is
the way of every day.

Two outputs of one input show which messages are people's. So before anything is mixed, a party asks
its neighbour whether that holds this party's own link: if so, this is an older copy of its folder,
which adopts the link and mixes nothing. And an output is shown only once the neighbour holds its
very link. With one mixer there is nobody to ask, and the name of the collector's key alone decides.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import traceback
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from krand.batches.batch import sha256_of_file
from krand.batches.chain import (
    LaneCounts,
    Link,
    SignedLink,
    chain_bytes,
    parse_chain,
    verify_chain,
)
from krand.collector.intake import Intake
from krand.collector.invitations import Followed
from krand.collector.public import Verdict
from krand.collector.rounds import State as SpoolState
from krand.collector.spool import Spool
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import sync_folder
from krand.partners.fetching import Partner, partner_in
from krand.site.clock import midnight_after
from krand.site.state import At, Part, Row
from krand.storage import destroy, make_folder, move, write
from krand.survey.plan import Plan
from krand.wire.messages import ANALYST, length_at
from krand.wire.signed import parse_signed

if TYPE_CHECKING:
    from krand.site.worker import Worker

KINDS = ("key", "open", "closed", "mixed")
"""Endings of a round's key files."""
LOOK_SECONDS = 1.0
"""How long nobody must come before a spool is tidied."""


class Stage(ABC):
    """What a mixer and the analyst have in common: a round that waits, is fetched, and ends."""

    part: Part

    def __init__(self, worker: Worker, plan: Plan, number: int) -> None:
        self.worker, self.plan, self.number = worker, plan, number
        self.ends = midnight_after(plan.survey.until(number))
        schedule = plan.survey.schedule
        if schedule is not None:
            self.opens, self.closes = schedule.window(number)
        else:
            assert plan.survey.closes is not None
            self.opens, self.closes = 0.0, midnight_after(plan.survey.closes)
        self.folder = worker.folder.path / "rounds" / plan.hash / str(number)
        self.trouble = ""
        """What is in the way, in words for the operator."""

    @property
    def row(self) -> Row:
        """What is recorded."""
        return self.worker.state.row(self.plan.hash, self.number, self.part)

    @property
    def state(self) -> str:
        """How far it is, in a word."""
        return self.row.state

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether nothing is left to do, as far as this party can know."""

    async def run(self) -> None:
        """Go on from what is recorded, until the last day of the round's keys has passed."""
        going = asyncio.create_task(self._tried(self._keep_going))
        try:
            await self.worker.clock.passed(self.ends)
        finally:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)
        await self._tried(self._expire)

    async def _keep_going(self) -> None:
        if self.row.state is not At.EXPIRED:
            self.settle()
            await self._go_on()

    async def _expire(self) -> None:
        self.expire()

    async def _tried(self, work: Callable[[], Awaitable[None]]) -> None:
        """What may pass is tried again. Otherwise the operator decides; other rounds go on."""
        while True:
            try:
                return await work()
            except (Unavailable, OSError) as error:
                self.tell_trouble(str(error))
                await asyncio.sleep(self.worker.poll)
            except Exception as error:
                if not isinstance(error, KrandError):
                    traceback.print_exc()
                self.tell_trouble(str(error) or type(error).__name__)
                return

    @abstractmethod
    async def _go_on(self) -> None:
        """The rest of the way."""

    @abstractmethod
    def settle(self) -> None:
        """What follows from what is recorded."""

    @abstractmethod
    def expire(self) -> None:
        """Record that the round is over, and keep no copy."""

    def _enter(self, row: Row) -> None:
        self.worker.state.enter(self.plan.hash, self.number, self.part, row)
        self.settle()

    def say(self, event: str, **values: object) -> None:
        """Something happened in this round."""
        self.worker.say({"event": event, "plan": self.plan.hash, "round": self.number, **values})

    def tell_trouble(self, what: str) -> None:
        """What is in the way, or nothing any more; told once."""
        if what != self.trouble:
            self.trouble = what
            self.say("trouble", what=what)

    async def _chain_of(self, place: int, own: SignedLink | None = None) -> tuple[SignedLink, ...]:
        """The chain of a party, verified; one that has passed this party holds its very link."""
        partner = self._partner(place)

        def ask() -> tuple[SignedLink, ...] | None:
            links = partner.chain(self.plan.hash, self.number)
            if links is None:
                return None
            verify_chain(self.plan, links)
            if len(links) != place or links[0].record.round != self.number:
                rule = f"must be {place} links of round {self.number}"
                raise InvalidInput("chain", rule, len(links), f"it is from {partner.url}")
            if own is not None and links[own.record.place - 1] != own:
                rule = "must go on from the link of this party"
                raise InvalidInput("chain", rule, links[own.record.place - 1].sha256)
            return links

        await self.worker.clock.reached(self.opens)
        return await self.worker.until(
            ask, partner, lambda: own is not None or self.worker.clock.now() >= self.closes
        )

    async def _fetch(self, place: int, last: Link, target: Path) -> None:
        """The batch of a party, if it is the one that its link names."""
        partner, part = self._partner(place), _part_of(target)
        place_after = place + 1 if place < len(self.plan.mixers) else ANALYST
        size = sum(last.counts) * length_at(self.plan, place_after)

        def fetch() -> bool:
            have = part.stat().st_size if part.exists() else 0
            if shutil.disk_usage(part.parent).free < 2 * (size - have):
                raise Unavailable(f"the batch of round {self.number} needs twice {size:,} bytes")
            partner.batch(self.plan.hash, self.number, part, size)
            if sha256_of_file(part) != last.output:
                destroy(part)
                rule = "must be the file that its chain names"
                raise InvalidInput("batch", rule, f"round {self.number} of {partner.url}")
            move(part, target)
            return True

        await self.worker.until(fetch, partner)

    def _partner(self, place: int) -> Partner:
        return partner_in(self.worker.identity, self.plan, place, self.worker.rules)


OLDER = (
    "the partner holds another link of this party: this folder is an older copy, and what it mixed"
    " is never shown"
)
LOST = (
    "the output is not here, and its key is destroyed: if the next party has not fetched it, the"
    " round is lost"
)


def _part_of(path: Path) -> Path:
    """Where a file is, as long as not all of it has come."""
    return path.with_suffix(".part")


class Round(Stage):
    """At a mixer."""

    part = Part.MIXER

    def __init__(self, worker: Worker, plan: Plan, number: int) -> None:
        super().__init__(worker, plan, number)
        identities = [mixer.identity for mixer in plan.mixers]
        self.place = identities.index(worker.identity.public) + 1
        self._last = self.place == len(plan.mixers)
        self._came, self._work = self.folder / "in", self.folder / "work"
        self._key, self._batch = self._file("key"), self._shown("batch")
        alone = len(plan.mixers) == 1
        self._witness = None if alone else self._partner(self.place - 1 or 2)
        self.spool: Spool | None = None
        self._intake: Intake | None = None
        self._closing = asyncio.Event()
        self.left = asyncio.Event()
        """The output may be fetched, also by the analyst beside; or there is none."""
        self.is_taking = False
        """Whether it is open, and it is its time."""

    @property
    def state(self) -> str:
        """Of a collector whose batch is not mixed yet, that of its spool."""
        row = self.row
        found = self.spool.round().state if self.spool and row.state is At.WAITING else None
        return found.name if found else row.state

    @property
    def people(self) -> int | None:
        """How many came, as far as that is known here."""
        if self.spool is not None:
            return self.spool.round().people
        links = self.links()
        return links[min(links)].record.people if links else None

    def status(self) -> dict[str, bool]:
        """What partners are told."""
        row = self.row
        return {
            "key": self._key.exists(),
            "fetched": row.chain is not None,
            "mixed": row.link is not None,
            "expired": row.state in (At.MISSED, At.EXPIRED),
        }

    @property
    def is_over(self) -> bool:
        counted = self._last and (self.plan.hash, self.number) in self.worker.counts
        return counted or self.row.state in (At.DONE, At.MISSED, At.EXPIRED)

    def links(self) -> dict[int, SignedLink]:
        """The links that this party holds, by place."""
        row = self.row
        found = [] if row.chain is None else list(parse_chain(row.chain))
        found += [parse_signed(Link, one, "link") for one in (row.link, row.after) if one]
        return {link.record.place: link for link in found}

    def verdicts(self, bodies: Sequence[bytes]) -> list[Verdict]:
        """What becomes of submissions."""
        if self._intake is None:
            over = self.worker.clock.now() >= self.closes
            return [Verdict.CLOSED if over else Verdict.REFUSED] * len(bodies)
        return self._intake.verdicts(bodies)

    def invitation(self, name: bytes) -> str:
        """Whether an id is invited, and was used."""
        return "unknown" if self._intake is None else self._intake.invitation(name)

    def close(self, *, erase: bool) -> None:
        """Take nobody any more; CrowdTooSmall if too few came, unless what they sent is erased."""
        if self.spool is None:
            rule = "must be open"
            raise InvalidInput("round", rule, self.number, "it was not opened yet")
        self.spool.close_round(erase=erase)
        self._closing.set()

    async def _go_on(self) -> None:
        await (self._collect() if self.place == 1 else self._receive())
        if self.row.state is At.MIXED:
            await self._serve()

    # The way of a collector, until its batch is mixed.

    async def _collect(self) -> None:
        """Open the round when it is time, take submissions, close it, mix what came."""
        while self.spool is None and self.row.state is At.WAITING:
            if self.worker.has_ended(self.plan):
                self._miss(0)
            elif self.worker.clock.now() >= self.opens:
                self._begin()
            else:
                await asyncio.sleep(LOOK_SECONDS)
        if self.spool is None:
            return
        if self.spool.round().is_open:
            await self._until_closed(self.spool)
            self.say("round closed", people=self.spool.round().people)
        self.is_taking = False
        self.worker.show_open(self.plan)
        if self.row.state is At.WAITING:
            state, people = self.spool.round().state, self.spool.round().people
            if state is SpoolState.ERASED:
                self._miss(people)
            else:
                await self._mix((), people, [people * lane.messages for lane in self.plan.lanes])

    def _miss(self, people: int) -> None:
        self._enter(Row(At.MISSED))
        self.left.set()
        self.say("missed", people=people)

    def _begin(self) -> None:
        invited = None
        if self.plan.survey.invitations:
            path = self.worker.folder.invitations(self.plan.hash)
            if not path.exists():
                raise Unavailable("nobody is invited yet: krand invite makes links")
            invited = Followed(path, self.plan, self.number)
        spool = Spool(self.worker.folder.path, self.plan, self.number)
        self._intake = Intake(spool, invited, self._is_time, self.tell_trouble)
        self.spool = spool
        if spool.round().is_open:
            self.say("opened")

    def _is_time(self) -> bool:
        return self.opens <= self.worker.clock.now() < self.closes

    async def _until_closed(self, spool: Spool) -> None:
        """The operator closes it, or the clock, which has to be believed first."""
        assert self._intake is not None
        while spool.round().is_open:
            self.is_taking = self._is_time()
            self.worker.show_open(self.plan)
            if self.worker.clock.has_passed(self.closes):
                spool.close_round(erase=True)
                return
            self._intake.rest()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), LOOK_SECONDS)

    # The way of all others.

    async def _receive(self) -> None:
        """Take a chain and the batch that it names, and mix that."""
        if self.row.state is At.WAITING:
            links = await self._chain_of(self.place - 1)
            if (policy := self.worker.settings.policy) is not None:
                policy.limits.check_messages(sum(links[-1].record.counts))
            self._enter(Row(At.FETCHED, chain=chain_bytes(links)))  # no other is asked for
        row = self.row
        if row.state is At.FETCHED:
            assert row.chain is not None
            links = parse_chain(row.chain)
            await self._mix(links, links[-1].record.people, links[-1].record.counts)

    async def _mix(self, links: tuple[SignedLink, ...], people: int, came: Sequence[int]) -> None:
        """Once: if the neighbour holds this party's link, that is adopted, and nothing is mixed."""
        chain = chain_bytes(links) if links else None
        if self._witness is not None:
            (held,) = await self.worker.until(lambda: (self._held(),), self._witness)
            if held is not None:
                self.say("adopted")
                return self._enter(Row(At.MIXED, chain, held.content))
        make_folder(self._work)
        if self.spool is not None:
            self.spool.write(self._came)  # of a round that was mixed, nothing is written
        elif not self._key.exists():
            hint = "this is an older copy of the folder, or the key is lost: nothing is mixed"
            raise InvalidInput("key", "must be there", str(self._key), hint)
        elif not self._came.exists():
            await self._fetch(self.place - 1, links[-1].record, self._came)
        asked = {
            "plan": self.worker.plan_file(self.plan),
            "number": self.number,
            "place": self.place,
            "came": list(came),
            "batch": self._came,
            "key": self._key,
            "work": self._work,
        }
        while (made := await self.worker.job("mix", **asked)) is None:
            self.settle()
        move(self._work / "new", self._work / made["output"])
        link = Link(
            plan=self.plan.hash,
            round=self.number,
            place=self.place,
            people=people,
            lanes=tuple(LaneCounts(**lane) for lane in made["lanes"]),
            input=links[-1].record.output if links else "",
            output=made["output"],
            previous=links[-1].sha256 if links else "",
        )
        self._enter(Row(At.MIXED, chain, self.worker.identity.sign(link).content))
        self.say("mixed", people=people)

    async def _serve(self) -> None:
        """Show the output once the neighbour holds its link, until the party after has taken it."""
        own = self.links()[self.place]
        if self._witness is not None:
            held = await self.worker.until(self._held, self._witness)
            if held != own:  # this is an older copy, and what it mixed is never shown
                destroy(self._work / own.record.output)
                own = held
                self._enter(self.row._replace(link=held.content))
                self.tell_trouble(OLDER)
        output = self._work / own.record.output
        if output.exists():
            move(output, self._batch)
            self.say("released", people=own.record.people)
        if self._batch.exists():
            self.left.set()
        else:
            self.tell_trouble(LOST)
        if not self._last:
            links = await self._chain_of(self.place + 1, own)
            self._enter(self.row._replace(state=At.DONE, after=links[-1].content))

    def _held(self) -> SignedLink | None:
        """This party's link, as its neighbour holds it: signed by this party, whoever sent it."""
        assert self._witness is not None
        link = self._witness.held(self.plan.hash, self.number, self.place)
        if link is not None:
            found = link.record
            wanted = (self.plan.hash, self.number, self.place)
            own = link.is_by(self.worker.identity.public)
            if (found.plan, found.round, found.place) != wanted or not own:
                rule = "must be one of this party, or none"
                raise InvalidInput("link", rule, link.sha256, f"it is from {self._witness.url}")
        return link

    def settle(self) -> None:
        """The key goes before anything else."""
        if self.place == 1 and self.spool is None and (self.folder / "spool.sqlite").exists():
            self._begin()
        row, kept = self.row, ""
        if row.link is not None:
            if self.spool is not None:
                self.spool.forget()
            destroy(self._key)
            links = self.links()
            kept = links[self.place].record.output
            own = [links[place] for place in sorted(links) if place <= self.place]
            write(self._shown("chain"), chain_bytes(own))
            destroy(self._came)
            destroy(_part_of(self._came))
        for path in sorted(self._work.iterdir()) if self._work.exists() else ():
            if path.name != kept:
                destroy(path)
        if row.state is At.DONE:
            self._batch.unlink(missing_ok=True)

    def expire(self) -> None:
        if self.row.state is not At.EXPIRED:
            self._enter(self.row._replace(state=At.EXPIRED))
            self.say("expired")
        if self.spool is not None:
            self.spool.close()
            self.spool = self._intake = None
        for kind in KINDS:
            destroy(self._file(kind))
        for kind in ("batch", "chain"):
            self._shown(kind).unlink(missing_ok=True)
        inside = [path for path in self.folder.rglob("*") if path.is_file()]
        for path in inside:
            destroy(path)
        if self.folder.exists():
            shutil.rmtree(self.folder)
            sync_folder(self.folder.parent)
        self.worker.show_expired(self.plan)

    def _file(self, kind: str) -> Path:
        return self.worker.folder.key(self.plan.hash, self.number, kind)

    def _shown(self, kind: str) -> Path:
        return self.worker.folder.shown(self.plan.hash, self.number, kind)


class Counting(Stage):
    """At the analyst: the last batch is fetched, or taken from the mixer beside, and counted."""

    part = Part.ANALYST

    def __init__(self, worker: Worker, plan: Plan, number: int) -> None:
        super().__init__(worker, plan, number)
        beside = worker.rounds.get((plan.hash, number))
        last = beside is not None and beside.place == len(plan.mixers)
        self._beside = beside if last else None
        results = worker.folder.results(plan)
        self._chain, self._batch = (
            results / f"round-{number}{ending}" for ending in (".chain.json", ".batch")
        )

    @property
    def is_over(self) -> bool:
        return self.row.state in (At.COUNTED, At.MISSED, At.EXPIRED)

    async def _go_on(self) -> None:
        if self.row.state is At.WAITING:
            if self._beside is None:
                links = await self._chain_of(len(self.plan.mixers))
            else:
                await self._beside.left.wait()
                if self._beside.row.state is At.MISSED:
                    return self._enter(Row(At.MISSED))
                held = self._beside.links()
                links = tuple(held[place] for place in sorted(held))
            self._enter(Row(At.FETCHED, chain=chain_bytes(links)))
        row = self.row
        if row.state is At.FETCHED:
            assert row.chain is not None
            links = parse_chain(row.chain)
            await self._take(links[-1].record)
            write(self._chain, row.chain)
            people = links[-1].record.people
            self.say("fetched", people=people)
            found = await self._counted()
            self._enter(row._replace(state=At.COUNTED))
            self.say("reported", **{"survey": self.plan.survey.id, "people": people, **found})

    async def _take(self, last: Link) -> None:
        if self._batch.exists():
            return
        if self._beside is None:
            await self._fetch(len(self.plan.mixers), last, self._batch)
        else:
            os.link(self.worker.folder.shown(self.plan.hash, self.number, "batch"), self._batch)
            sync_folder(self._batch.parent)

    async def _counted(self) -> dict[str, object]:
        asked = {
            "plan": self.worker.plan_file(self.plan),
            "batch": self._batch,
            "key": self.worker.folder.analyst_key,
            "results": self.worker.folder.results(self.plan),
        }
        while (found := await self.worker.job("count", **asked)) is None:
            pass
        return found

    def settle(self) -> None:
        """Nothing follows: a file that was fetched in part goes on where it was."""

    def expire(self) -> None:
        if self.row.state in (At.WAITING, At.FETCHED):
            self._enter(self.row._replace(state=At.EXPIRED))
