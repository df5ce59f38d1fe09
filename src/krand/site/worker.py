"""The worker of `krand run`: one organisation's part in all its plans. It alone has keys.

It keeps a listener, a process without keys that strangers talk to, and starts jobs, one at a time,
for what takes long. Asking partners happens in threads, which touch no database. So whoever submits
waits for nobody but the disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from krand.collector.public import Verdict
from krand.errors import InternalError, InvalidInput, Unavailable
from krand.partners.fetching import Partner, Rules
from krand.partners.identity import ensure_identity
from krand.partners.organising import pair, progress
from krand.partners.pairing import Pairings
from krand.partners.requests import asker
from krand.partners.service import answer
from krand.site.clock import Clock
from krand.site.control import serve_control
from krand.site.folder import Folder, Settings
from krand.site.frames import (
    HASH_BYTES,
    Asked,
    BadFrame,
    Invited,
    Kind,
    Submissions,
    frame,
    number,
    read_frame,
)
from krand.site.publishing import publish_plan, set_ended, set_open
from krand.site.rounds import Counting, Round
from krand.site.state import At, State
from krand.site.status import status_of
from krand.site.walls import has_walls
from krand.storage import make_folder, write
from krand.survey.plan import Plan
from krand.web.server import listen, url_of
from krand.wire.plan_signatures import check_signatures
from krand.wire.submissions import ID_LENGTH, format_of

POLL_SECONDS, IDLE_SECONDS = 20.0, 600.0
"""Between two questions to a partner: once a round is due, and before."""
LOCAL_SECONDS = 0.5
"""The same on one machine, to try things."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a listener that ended is started again; twice as many each time."""
END_SECONDS = 40.0
"""A listener answers what has arrived before it ends; then it is killed."""
MOST_ASKING = 32
"""Threads that ask partners."""
PLAN = "plan.json"
ENDED = "ended "
"""Before a plan's hash: the organiser opens no further round."""

Found = TypeVar("Found")
Say = Callable[[dict[str, Any]], None]


class Worker:
    """Everything that one party does, until it is told to stop."""

    def __init__(
        self, folder: Folder, settings: Settings, say: Say, clock: Callable[[State], Clock] = Clock
    ) -> None:
        self.folder, self.settings, self.say = folder, settings, say
        self._lock = folder.lock()
        self.state = State(folder)
        self.identity = ensure_identity(folder.identity)
        self.clock = clock(self.state)
        self.rules = Rules(settings.addresses, settings.local)
        self.poll = LOCAL_SECONDS if settings.local else POLL_SECONDS
        self.pairings = Pairings(self.state, folder, self.identity, settings)
        self.pairings.say = say
        self.plans = dict[str, Plan]()
        self.rounds = dict[tuple[str, int], Round]()
        """Where this party is a mixer."""
        self.counts = dict[tuple[str, int], Counting]()
        """Where it is the analyst."""
        self.silent = dict[str, str]()
        """Partners that do not answer, by their identities, and why."""
        self.address = ""
        """Where the listener is reached on this machine."""
        self._one_job, self._asking = asyncio.Lock(), asyncio.Semaphore(MOST_ASKING)
        self._stopping = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._running = set[asyncio.Task[None]]()

    # --- its life -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `stop` is called, or the task is cancelled."""
        control: asyncio.Server | None = None
        try:
            control = await serve_control(self.folder.control, self._handle)
            self.pairings.settle()
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                if self.settings.listen is not None:
                    listening = listen(*self.settings.listen)
                    self.address = url_of(listening)
                    self._start(self._keep_listener(listening))
                for plan in self.state.plans():
                    self.add(plan)
                self._start(self._kept(lambda: self.pairings.run(self)))
                self._start(self._kept(self.clock.keep))
                if not has_walls():
                    self.say({"event": "no walls"})
                self.say({"event": "serving", "address": self.address})
                await self._stopping.wait()
                for task in self._running:
                    task.cancel()
        finally:
            if control is not None:
                control.close()
                self.folder.control.unlink(missing_ok=True)
            for each in self.rounds.values():
                if each.spool is not None:
                    each.spool.close()
            self.state.close()
            os.close(self._lock)

    def stop(self) -> None:
        """End soon; `run` returns."""
        self._stopping.set()

    async def _kept(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """For ever: a full disk ends nothing."""
        while True:
            try:
                return await work()
            except (Unavailable, sqlite3.OperationalError, OSError) as error:
                self.say({"event": "trouble", "what": str(error)})
                await asyncio.sleep(self.poll)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._tasks is not None
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do for any plan, as far as this party can know."""
        return all(each.is_over for each in (*self.rounds.values(), *self.counts.values()))

    # --- plans and their rounds -----------------------------------------------------------------

    def add(self, plan: Plan) -> None:
        """Take part in a plan that is recorded, from now on; publish it once all have signed."""
        if self._tasks is None:  # what is recorded is read at the start
            return
        assert plan.analyst is not None
        own, places = self.identity.public, [mixer.identity for mixer in plan.mixers]
        if plan.hash not in self.plans:
            self.plans[plan.hash] = plan
            write(make_folder(self.plan_file(plan).parent) / PLAN, plan.bytes)
            for n in range(plan.survey.first_round, plan.survey.rounds + 1):
                if own in places:
                    self.rounds[plan.hash, n] = Round(self, plan, n)
                    self._start(self.rounds[plan.hash, n].run())
                if own == plan.analyst.identity:
                    self.counts[plan.hash, n] = Counting(self, plan, n)
                    self._start(self.counts[plan.hash, n].run())
        signatures = self.state.signatures(plan.hash)
        try:
            check_signatures(plan, signatures)
        except InvalidInput:  # it is added again with the rest of them
            return
        publish_plan(
            self.folder.public,
            plan,
            signatures,
            [*places, plan.analyst.identity].index(own) + 1,
            day=datetime.fromtimestamp(self.clock.now(), UTC).date().isoformat(),
            origins=self.settings.origins,
        )

    def plan_file(self, plan: Plan) -> Path:
        """The plan, for jobs."""
        return self.folder.path / "rounds" / plan.hash / PLAN

    def has_ended(self, plan: Plan) -> bool:
        """Whether the organiser opens no further round of it."""
        return self.state.fact(ENDED + plan.hash) is not None

    def show_open(self, plan: Plan) -> None:
        """Publish which round is open: one at most, since a window ends where the next begins."""
        begun = [each for each in self._of(plan) if each.spool is not None]
        taking = [each for each in begun if each.is_taking]
        if shown := (taking or begun)[-1:]:
            set_open(self.folder.public, plan.hash, bool(taking), shown[0].number)

    def show_expired(self, plan: Plan) -> None:
        """Publish that a plan has ended, if all of its rounds have."""
        if all(each.row.state is At.EXPIRED for each in self._of(plan)):
            set_ended(self.folder.public, plan.hash)

    def _of(self, plan: Plan) -> list[Round]:
        return [each for (name, _), each in self.rounds.items() if name == plan.hash]

    # --- what rounds need -----------------------------------------------------------------------

    async def until(
        self,
        ask: Callable[[], Found | None],
        partner: Partner,
        is_due: Callable[[], bool] = lambda: True,
    ) -> Found:
        """Ask a partner, in a thread, until it answers with something that can be used."""
        while True:
            try:
                async with self._asking:
                    found = await _in_thread(ask)
                self._heard(partner, "")
                if found is not None:
                    return found
            except (Unavailable, InvalidInput, OSError) as error:
                self._heard(partner, str(error))
            due = is_due() or self.settings.local
            await asyncio.sleep(self.poll if due else IDLE_SECONDS)

    def _heard(self, partner: Partner, problem: str) -> None:
        """Tell once that a partner does not answer, and once that it does again."""
        if self.silent.get(partner.identity, "") != problem:
            self.silent[partner.identity] = problem
            self.say({"event": "partner", "identity": partner.identity, "what": problem})

    async def job(self, kind: str, **asked: object) -> dict[str, Any] | None:
        """What came of a job; None if it was killed, and has to be done again.

        While it lives, it holds the folder's lock: no other worker begins before it has ended.
        """
        async with self._one_job:
            child = await create_subprocess_exec(
                *(sys.executable, "-P", "-m", "krand.site.job"),
                stdin=PIPE,
                stdout=PIPE,
                pass_fds=[self._lock],
            )
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                line = json.dumps({"job": kind, **asked}, default=str) + "\n"
                with suppress(OSError):  # it was killed already
                    child.stdin.write(line.encode())
                    await child.stdin.drain()
                content, code = await child.stdout.read(), await child.wait()
            finally:
                await _ended(child)
        if code < 0:
            return None
        said: dict[str, Any] = json.loads(content) if code == 0 else {"failed": f"exit code {code}"}
        if "refused" in said:
            raise InvalidInput(**said["refused"])
        if "unavailable" in said:
            raise Unavailable(said["unavailable"])
        if "failed" in said:
            raise InternalError(f"a job ({kind}) failed: {said['failed']}")
        return said

    # --- the listener ---------------------------------------------------------------------------

    async def _keep_listener(self, listening: socket.socket) -> None:
        """Start it again whenever it ends; nothing that it says ends anything else."""
        with listening:
            wait = FIRST_WAIT
            while True:
                started = self.clock.now()
                why = await self._listen(listening)
                self.say(
                    {"event": "trouble", "what": f"the listener ended, and starts again ({why})"}
                )
                await asyncio.sleep(wait)
                lived = self.clock.now() - started > LONGEST_WAIT
                wait = FIRST_WAIT if lived else min(LONGEST_WAIT, 2 * wait)

    async def _listen(self, listening: socket.socket) -> str:
        """One listener's life; why it ended."""
        here, there = socket.socketpair()
        inherited = [listening.fileno(), there.fileno(), self._lock]
        child = await create_subprocess_exec(
            *(sys.executable, "-P", "-m", "krand.site.listener"),
            *map(str, inherited[:2]),
            str(self.folder.public),
            self.identity.public,
            pass_fds=inherited,
        )
        there.close()
        reader, writer = await asyncio.open_connection(sock=here)
        try:
            return await self._answer(reader, writer)
        except asyncio.CancelledError:  # what it was sent before is still answered
            child.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answer(reader, writer), END_SECONDS)
            raise
        finally:
            writer.close()
            await _ended(child)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """Answer its frames until it ends, or says what is none; why."""
        try:
            while True:
                kind, content = await read_frame(reader)
                writer.write(frame(kind, self._answered(kind, content)))
                await writer.drain()
        except Exception as error:  # nothing that it says ends the worker
            return type(error).__name__

    def _answered(self, kind: Kind, content: bytes) -> bytes:
        """The answer to a frame of the listener, of which nothing is believed."""
        if kind is Kind.SUBMIT:
            return self._submitted(Submissions.read(content))
        if kind is Kind.INVITATION:
            if len(content) != HASH_BYTES + ID_LENGTH:
                raise BadFrame("length")
            found = self._invited(content[:HASH_BYTES].hex(), content[HASH_BYTES:])
            return number(Invited[found.upper()])
        if kind is Kind.PARTNER:
            asked = Asked.read(content)
            now = int(time.time())
            own = self.identity.public
            header, path = asked.authorization, asked.path
            identity = asker(header, own, asked.method, path, asked.body, now) if header else None
            status, body = answer(self, identity, asked.method, path, asked.body)
            return number(status) + body
        raise BadFrame("kind")

    def _submitted(self, asked: Submissions) -> bytes:
        """A verdict for each body."""
        plan, found = self.plans.get(asked.plan), self.rounds.get((asked.plan, asked.round))
        if plan is None:
            raise BadFrame("plan")
        length = format_of(plan).length
        if len(asked.bodies) % length:
            raise BadFrame("length")
        starts = range(0, len(asked.bodies), length)
        bodies = [asked.bodies[at : at + length] for at in starts]
        verdicts = [Verdict.REFUSED] * len(bodies) if found is None else found.verdicts(bodies)
        return b"".join(map(number, verdicts))

    def _invited(self, plan_hash: str, name: bytes) -> str:
        if plan_hash not in self.plans:
            raise BadFrame("plan")
        found = [each for each in self._of(self.plans[plan_hash]) if each.is_taking]
        return found[-1].invitation(name) if found else "unknown"

    # --- the operator ---------------------------------------------------------------------------

    def close(self, plan: str = "", *, erase: bool = False, end: bool = False) -> dict[str, Any]:
        """Close the round of a plan that is open; with `end`, no further one is opened.

        An empty hash is that of the only plan that is collected here.
        """
        own = {
            name: each
            for name, each in self.plans.items()
            if each.mixers[0].identity == self.identity.public
        }
        found = [each for name, each in own.items() if plan in ("", name)]
        if len(found) != 1:
            rule = "must be a plan that is collected here"
            hint = ", ".join(f"{name} ({each.survey.id})" for name, each in own.items())
            raise InvalidInput("plan", rule, plan, hint or "there is none")
        (closed,) = found
        taking = [each for each in self._of(closed) if each.spool and each.spool.round().is_open]
        for each in taking:
            each.close(erase=erase)
        if end or closed.survey.schedule is None:
            self.state.remember(ENDED + closed.hash, 1.0)
        rounds = [{"round": e.number, "state": e.state, "people": e.people} for e in taking]
        return {"plan": closed.hash, "rounds": rounds}

    async def _handle(self, what: str, values: dict[str, Any]) -> dict[str, Any]:
        """A request of another command of the operator."""
        match what:
            case "status":
                return status_of(self)
            case "close":
                return self.close(**values)
            case "waiting" | "requests" | "accept" | "refuse":
                return self.pairings.decide(what, **values)
            case "pair":
                return await pair(self, **values)
            case "partners":
                return {"partners": progress(self.state, **values)}
        raise InvalidInput("request", "must be known", what)


async def _in_thread(ask: Callable[[], Found]) -> Found:
    """In a thread that keeps no program from ending: a partner may be slow."""
    answer = Future[Found]()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True, name="partner").start()
    return await asyncio.wrap_future(answer)


async def _ended(child: Process) -> None:
    """A child that was killed, if it had not ended."""
    with suppress(ProcessLookupError):
        child.kill()
    await child.wait()
