"""A mixer that organisers ask, without a listener before it: as `krand mix` keeps its folder.

university = Mixer(tmp_path / "university")           # every request waits for its operator
council = Organiser(mixers=2)
status, values = university.asked(council.keys_request())
university.pairings.decide("accept", number=1)
status, values = university.asked(council.plan_request(plan))
university.work()                                     # the promise is computed, the plan signed
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import krand
import world
from chaos import free_port
from krand.partners import fetching, identity, organising, pairing, policy, requests, service
from krand.site import folder, state, worker
from krand.wire import keys
from parties import until

__all__ = [
    "Mixer",
    "Organiser",
    "Party",
    "Request",
    "described",
    "fetching",
    "identity",
    "keys",
    "life",
    "organising",
    "policy",
    "requests",
    "state",
    "stranger",
]
LATER = timedelta(days=30)


@dataclass(frozen=True)
class Request:
    """A request as it is on the wire."""

    method: str
    path: str
    body: bytes = b""
    by: identity.Identity | None = None


class Mixer:
    """A folder, and what works in it."""

    def __init__(self, at: Path, **policies: Any) -> None:
        self.at, self.events = at, list[dict[str, Any]]()
        self.policy: policy.AcceptPolicy | None = policy.AcceptPolicy(**policies)
        self.folder = folder.Folder(at)
        self.identity = identity.ensure_identity(self.folder.identity)
        self.url = f"https://{at.name}.example"
        self.computed, self.believes_the_clock = 0, True
        self.today = datetime.now(UTC).date()
        self._loop = asyncio.new_event_loop()
        self._state: state.State | None = None
        self.begin()

    def begin(self) -> None:
        """Start, or start again."""
        if self._state is not None:
            self._state.close()
        settings = folder.Settings(name=self.at.name, url=self.url, policy=self.policy)
        self._state = state.State(self.folder)
        self.pairings = pairing.Pairings(
            self._state, self.folder, self.identity, settings, lambda: self.today
        )
        self.pairings.settle()
        self.plans = {plan.hash: plan for plan in self._state.plans()}
        self.worker: Any = SimpleNamespace(
            add=lambda plan: self.plans.update({plan.hash: plan}),
            clock=SimpleNamespace(has_passed=lambda moment: self.believes_the_clock),
            identity=self.identity,
            job=self._job,
            pairings=self.pairings,
            plans=self.plans,
            poll=60.0,
            rounds={},
            rules=fetching.Rules(),
            say=self.events.append,
            settings=settings,
        )

    def close(self) -> None:
        """End, so that others may work in the folder."""
        assert self._state is not None
        self._state.close()
        self._state = None

    def asked(self, request: Request) -> tuple[int, Any]:
        """What it answers."""
        who = None if request.by is None else request.by.public
        status, content = service.answer(
            self.worker, who, request.method, request.path, request.body
        )
        return status, json.loads(content)

    def work(self) -> None:
        """Until every plan that was sent has been checked."""
        self._loop.run_until_complete(self._work())

    async def _work(self) -> None:
        task = asyncio.create_task(self.pairings.run(self.worker))
        await asyncio.sleep(0)
        while self._read("SELECT 1 FROM pairings WHERE content IS NOT NULL") and not task.done():
            await asyncio.sleep(0.001)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def _job(self, kind: str, plan: Path) -> dict[str, str]:
        self.computed += 1
        assert kind == "check"
        return policy.check_plan_promise(plan)

    def said(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]

    def records(self) -> list[tuple[Any, ...]]:
        """All that its database holds of requests and plans."""
        return self._read("SELECT * FROM pairings") + self._read("SELECT * FROM plans")

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        assert self._state is not None
        return self._state.database.execute(query).fetchall()

    def states(self) -> list[str]:
        """Of all requests, in their order."""
        return [each["state"] for each in self.pairings.decide("requests")["requests"]]

    def key_files(self) -> dict[str, bytes]:
        """Opening keys, by folder and round."""
        found = self.folder.keys.glob("*/*.key")
        return {str(path.relative_to(self.folder.keys)): path.read_bytes() for path in found}


class Party:
    """A folder, with a worker while a block runs."""

    def __init__(self, at: Path, **settings: Any) -> None:
        port = free_port()
        place, self.events = folder.Place("127.0.0.1", port), list[dict[str, Any]]()
        self.url, self.folder = f"http://127.0.0.1:{port}", folder.Folder(at)
        self.identity = identity.ensure_identity(self.folder.identity)
        self.link = identity.Link(self.url, self.identity.public)
        self.settings = folder.Settings(
            name=at.name, listen=place, url=self.url, local=True, **settings
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[worker.Worker]:
        found = worker.Worker(self.folder, self.settings, self.events.append)
        task = asyncio.create_task(found.run())
        try:
            await until(lambda: any(each["event"] == "serving" for each in self.events))
            yield found
        finally:
            found.stop()
            await task

    async def publish(self, survey: krand.Survey, *links: identity.Link, **given: Any) -> Any:
        """One call, as a command makes it."""
        with closing(state.State(self.folder)) as kept:
            return await organising.publish(
                kept, self.folder, self.settings, survey, links, **given
            )


@dataclass
class Organiser:
    """Asks a mixer at place 2 of a plan, and makes the plan; it listens nowhere."""

    mixers: int = 2
    survey_id: str = "trio"
    closes: date = field(default_factory=lambda: datetime.now(UTC).date() + LATER)
    identity: identity.Identity = field(
        default_factory=lambda: identity.Identity(keys.generate_signing_key())
    )
    name: str = "Works council"
    url: str = "https://council.example"

    @property
    def survey(self) -> krand.Survey:
        survey = world.survey("trio")
        trust = survey.trust.changed(mixers=self.mixers, analyst_runs=(1,))
        return survey.changed(id=self.survey_id, closes=self.closes, trust=trust)

    def keys_request(self, nonce: str = "", **changes: Any) -> Request:
        """Another one each time, unless there is a nonce."""
        values = {
            "pairing": nonce or secrets.token_hex(32),
            "organiser": self.name,
            "url": self.url,
            "place": 2,
            "survey": self.survey.values(),
            **changes,
        }
        return Request("POST", "/v1/keys", json.dumps(values).encode(), self.identity)

    def paired(self, mixer: Mixer, **changes: Any) -> krand.Mixer:
        """How the mixer describes itself, which accepts by its policy."""
        status, values = mixer.asked(self.keys_request(**changes))
        assert status == 200, values
        return described(values)

    def plan(self, *others: krand.Mixer, **changes: Any) -> krand.Plan:
        """Of these mixers; all further ones are strangers."""
        collector = krand.Mixer(name=self.name, identity=self.identity.public, url=self.url)
        strangers = map(stranger, range(self.mixers - 1 - len(others)))
        key = keys.public_hex(keys.generate_private_key())
        analyst = krand.Analyst(key=key, identity=self.identity.public)
        made = replace(world.plan("trio"), survey=self.survey)
        named = made.with_parties((collector, *others, *strangers), analyst)
        return replace(named, **changes)

    def plan_request(self, plan: krand.Plan) -> Request:
        return Request("POST", "/v1/plans", plan.bytes, self.identity)


def described(values: dict[str, Any]) -> krand.Mixer:
    """The mixer in signed keys."""
    found = values["mixer"]
    return krand.Mixer(**{**found, "keys": tuple(found["keys"])})


def stranger(number: int = 0) -> krand.Mixer:
    """A mixer that nobody has asked."""
    return krand.Mixer(
        name=f"stranger {number}",
        identity=keys.public_hex(keys.generate_signing_key()),
        url=f"https://stranger-{number}.example",
        keys=(keys.public_hex(keys.generate_private_key()),),
    )


def life(at: str, organiser: str, plans: list[str], signed: str) -> None:
    """A mixer's life, for a nursery: it is sent these plans; what it signed is in a file."""
    own = identity.ensure_identity(Path(organiser))
    mixer = Mixer(Path(at), accept="listed", organisations=[own.public])
    mixer.work()
    for path in plans:
        request = Request("POST", "/v1/plans", Path(path).read_bytes(), own)
        for _ in range(2):
            status, values = mixer.asked(request)
            if status == 200:
                with Path(signed).open("a") as stream:
                    stream.write(values["plan"] + "\n")
            mixer.work()
