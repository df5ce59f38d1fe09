"""The parties of a plan, each with a folder of its own, as pairing leaves them.

chain = Chain.made(tmp_path, "trio")            # three mixers and an analyst, and their plan
async with chain.running() as workers:          # all of them in this process
    await chain.answer(5)
    chain.close()
    await chain.analyst.told("reported")
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import krand
import world
from krand.partners import identity
from krand.site import clock, folder, state, worker
from krand.terminal.places import Place
from krand.testing import FakeCollector, UnsafeMemoryLedger
from krand.wire import keys, plan_signatures

PATIENCE = 120.0
DAY = timedelta(days=1)


class Party:
    """One of them: its folder, and what its worker has said."""

    def __init__(self, at: Path, port: int | None = None) -> None:
        """Without a port it listens nowhere: nobody asks it anything."""
        self.at, self.port = at, port
        self.events: list[dict[str, Any]] = []
        self.worker: worker.Worker | None = None

    @cached_property
    def folder(self) -> folder.Folder:
        return folder.Folder(self.at)

    @cached_property
    def identity(self) -> identity.Identity:
        return identity.ensure_identity(self.folder.identity)

    def settings(self, addresses: Mapping[str, str], **given: Any) -> folder.Settings:
        listen = None if self.port is None else Place("127.0.0.1", self.port)
        known = {"name": self.at.name, "listen": listen, "addresses": addresses, "local": True}
        return folder.Settings(**{**known, **given})

    def said(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]

    @asynccontextmanager
    async def running(
        self, addresses: Mapping[str, str], time: FakeTime | None = None, **given: Any
    ) -> AsyncIterator[worker.Worker]:
        """Its worker, until the block ends; `given` are further settings."""
        made = {} if time is None else {"clock": time.clock}
        settings = self.settings(addresses, **given)
        self.events.clear()
        self.worker = worker.Worker(self.folder, settings, self.events.append, **made)
        task = asyncio.create_task(self.worker.run())
        try:
            await until(lambda: self.said("serving") or task.done())
            if task.done():
                await task
            yield self.worker
        finally:
            self.worker.stop()
            await task
            self.worker = None

    async def told(self, event: str) -> dict[str, Any]:
        """What its worker says sooner or later."""
        await until(lambda: self.said(event), lambda: self.events)
        return self.said(event)[-1]


class Chain:
    """A plan, and everybody in it."""

    def __init__(self, at: Path, plan: krand.Plan, parties: list[Party]) -> None:
        self.at, self.plan, self.parties = at, plan, parties

    @classmethod
    def made(
        cls,
        at: Path,
        survey: str | krand.Plan = "trio",
        *,
        analyst: int | None = None,
        party: Party | None = None,
        **changes: Any,
    ) -> Chain:
        """New ones; the analyst may be one of the mixers, by its place, and `party` all of them.

        Of a plan that is given, browsers find everybody, too: on this machine.
        """
        made = world.plan(survey) if isinstance(survey, str) else survey
        mixers = made.survey.trust.mixers
        parties = [Party(at / f"party-{place}", _free_port()) for place in range(1, mixers + 1)]
        if party is not None:
            parties = [party]
        if analyst is None:
            parties.append(Party(at / "analyst", _free_port()))
        counting = parties[analyst - 1 if analyst else -1]
        trust = made.survey.trust.changed(analyst_runs=(analyst,) if analyst else ())
        given = {"trust": trust, "closes": datetime.now(UTC).date() + 7 * DAY, **changes}
        if "schedule" in changes:
            given.pop("closes")
        survey_of = made.survey.changed(**given) if isinstance(survey, str) else made.survey
        rounds = range(1, survey_of.rounds + 1)
        opening = [[keys.generate_private_key() for _ in rounds] for _ in parties[1:mixers]]
        described = tuple(
            krand.Mixer(
                name=f"party {place}",
                identity=each.identity.public,
                url=f"https://party-{place}.example"
                if isinstance(survey, str)
                else f"http://127.0.0.1:{each.port}",
                keys=tuple(map(keys.public_hex, opening[place - 2])) if place > 1 else (),
            )
            for place, each in enumerate(parties[:mixers], 1)
        )
        key = keys.generate_private_key()
        if counting.folder.analyst_key.exists():
            key = keys.read_private_key(counting.folder.analyst_key)
        else:
            keys.write_private("key", counting.folder.analyst_key, keys.private_key_pem(key))
        named = krand.Analyst(key=keys.public_hex(key), identity=counting.identity.public)
        plan = replace(made, survey=survey_of).with_parties(described, named)
        chain = cls(at, plan, parties)
        for each, own in zip(parties[1:mixers], opening, strict=True):
            for number in rounds:
                path = each.folder.key(plan.hash, number)
                path.write_bytes(own[number - 1].private_bytes_raw())
        for each in parties:
            kept = state.State(each.folder)
            kept.add_plan(plan, chain.signatures)
            kept.close()
        return chain

    @cached_property
    def signatures(self) -> tuple[krand.PlanSignature, ...]:
        """Of all mixers."""
        mixers = self.parties[: len(self.plan.mixers)]
        return tuple(plan_signatures.sign_plan(self.plan, each.identity.key) for each in mixers)

    @property
    def addresses(self) -> dict[str, str]:
        return {each.identity.public: f"http://127.0.0.1:{each.port}" for each in self.parties}

    @property
    def analyst(self) -> Party:
        assert self.plan.analyst is not None
        return next(e for e in self.parties if e.identity.public == self.plan.analyst.identity)

    @asynccontextmanager
    async def running(self, *places: int, time: FakeTime | None = None) -> AsyncIterator[None]:
        """These parties, or all of them, until the block ends; the analyst apart is the last."""
        chosen = [self.parties[place - 1] for place in places] or self.parties
        async with AsyncExitStack() as stack:
            for party in chosen:
                await stack.enter_async_context(party.running(self.addresses, time))
            yield

    async def answer(self, people: int, start: int = 1) -> None:
        """So many people answer, each on a device of their own."""
        url = f"http://127.0.0.1:{self.parties[0].port}"

        def send() -> None:
            for person in world.people(self.plan.survey.id, people, start):
                self.device(url).submit(dict(person))

        await asyncio.to_thread(send)

    def device(self, url: str, **given: Any) -> krand.Client:
        known = {"expected_hash": self.plan.hash, "signatures": self.signatures}
        return krand.Client(self.plan, UnsafeMemoryLedger(), url=url, **known, **given)

    def body(self, number: int = 1, **given: Any) -> bytes:
        """What a new device sends."""
        sent = Recorder(self.plan, number, self.signatures)
        self.device(Recorder.url, transport=sent, **given).submit({}, round_number=number)
        return sent.body

    def close(self, **how: Any) -> dict[str, Any]:
        """The collector's operator closes the round."""
        collector = self.parties[0].worker
        assert collector is not None
        return collector.close(**how)


class Recorder(FakeCollector):
    """Keeps what a device sends."""

    body = b""

    def post(self, url: str, body: bytes) -> Any:
        self.body = body
        return super().post(url, body)


class FakeTime:
    """A clock that a test sets; it goes on as fast as the test says."""

    def __init__(self) -> None:
        self.wall = datetime.now(UTC).timestamp()
        self.steady = 1000.0

    def pass_(self, seconds: float) -> None:
        self.wall, self.steady = self.wall + seconds, self.steady + seconds

    def clock(self, kept: state.State) -> clock.Clock:
        return clock.Clock(kept, lambda: self.wall, lambda: self.steady, 0.01)


async def until(happened: Any, shown: Any = lambda: "") -> None:
    """Wait for something, and never for a time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not happened():
        assert loop.time() < end, f"it did not happen: {shown()}"
        await asyncio.sleep(0.01)


async def passes(time: FakeTime, happened: Any) -> None:
    """Time goes on until something has happened."""

    def step() -> Any:
        time.pass_(5)
        return happened()

    await until(step)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
