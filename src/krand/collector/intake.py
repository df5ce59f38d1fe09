"""Intake: what becomes of submissions. It alone has the spool, and trusts nothing that it is given.

`Intake` is a round's: submissions in, verdicts out. `Serving` runs it beside the application, in
a thread of its own, so that requests keep arriving while the disk is synced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from krand.collector.http import Collector
from krand.collector.public import Page, Verdict, open_page, plan_pages, root_of
from krand.collector.rounds import MINIMUM_GROUP
from krand.collector.spool import Spool
from krand.errors import KrandError
from krand.randomness.generator import secure_random
from krand.wire.submissions import Refused, Submitted, round_in

if TYPE_CHECKING:
    from krand.collector.invitations import Followed
    from krand.wire.plan_signatures import PlanSignature

T = TypeVar("T")
LOOK_SECONDS = 1.0
"""Between two looks at the spool, and how long nobody must come before it is tidied."""

log = logging.getLogger("krand.collector")


class Intake:
    """The one writer of a round's spool, which it owns from now on. One call at a time."""

    def __init__(
        self,
        spool: Spool,
        invitations: Followed | None = None,
        is_over: Callable[[], bool] | None = None,
    ) -> None:
        """`is_over` tells whether the last moment of the round has passed."""
        self.plan, self._spool, self._invitations = spool.plan, spool, invitations
        self._is_over = is_over or spool.plan.survey.is_over
        self.format = spool.format
        self._newest, self._room = set[bytes](), 0
        self._failure = ""  # the one that was logged last
        self._came, self._untidy = False, True
        self._is_open = True

    def verdicts(self, bodies: Sequence[bytes]) -> list[Verdict]:
        """Store what can be stored, all of it or nothing; a verdict on each."""
        found = [self._checked(body) for body in bodies]
        fresh = [one for one in found if isinstance(one, Submitted)]
        self._came = self._untidy = True
        try:
            stored = iter(self._stored(fresh) if fresh else [])
            self._succeeded()
        except Exception as error:  # whatever it was: nobody in this group is acknowledged
            self._failed(error)
            stored = iter([Verdict.UNAVAILABLE] * len(fresh))
        return [next(stored) if isinstance(one, Submitted) else one for one in found]

    def _checked(self, body: bytes) -> Submitted | Verdict:
        try:
            found = self.format.read(body)
        except Refused:
            earlier = len(body) == self.format.length and round_in(body) < self.format.round
            return Verdict.CLOSED if earlier else Verdict.REFUSED
        if self._invitations is not None and not self._invitations.admit(found.id):
            return Verdict.UNINVITED
        return found

    def _stored(self, submissions: Sequence[Submitted]) -> list[Verdict]:
        """Once the round is over nobody new is stored, and retries are still acknowledged."""
        said = self._spool.add(submissions, taking=not self._is_over())
        if self._invitations is not None:
            for submission, verdict in zip(submissions, said, strict=True):
                if verdict is Verdict.ACCEPTED:
                    self._note(submission.id)
        return said

    def _note(self, name: bytes) -> None:
        """Somebody came: nobody is told before at least as many others did as hide them."""
        if len(self._newest) >= self._room:
            self._newest.clear()
            self._room = MINIMUM_GROUP + secure_random().below(MINIMUM_GROUP)
        self._newest.add(name)

    def invitation(self, name: bytes) -> str:
        """Whether an id belongs to an invitation, and whether that was used a while ago."""
        if self._invitations is None or not self._invitations.admit(name):
            return "unknown"
        (said,) = self._spool.add([Submitted(name, b"")], taking=False)
        return "used" if said is Verdict.KNOWN and name not in self._newest else "unused"

    def look(self) -> bool:
        """Whether the round is open. When nobody came for a while, the spool is tidied."""
        try:
            if self._untidy and not self._came:
                self._spool.tidy()
                self._untidy = False
            self._came = False
            self._is_open = self._spool.round().is_open and not self._is_over()
        except Exception as error:  # what was known before still holds
            self._failed(error)
        return self._is_open

    def close(self) -> None:
        """Close the spool."""
        self._spool.close()

    def _failed(self, error: Exception) -> None:
        """Each failure is logged once, however many submissions it affects.

        krand's own messages contain nothing of a request; of others only the kind is told.
        """
        failure = str(error) if isinstance(error, KrandError) else type(error).__name__
        if failure != self._failure:
            self._failure = failure
            log.error("submissions cannot be stored: %s", failure)

    def _succeeded(self) -> None:
        if self._failure:
            self._failure = ""
            log.info("submissions are stored again")


Following = Callable[[int], Intake | None]
"""The round after this one, once it is open."""


class Serving:
    """One round after the other, with the application that takes their submissions."""

    def __init__(
        self,
        intake: Intake,
        *,
        signatures: Sequence[PlanSignature] = (),
        origins: Sequence[str] = (),
        pages: Mapping[str, Page] | None = None,
        following: Following | None = None,
    ) -> None:
        plan = intake.plan
        self._intake, self._following = intake, following
        # One thread: a spool has one writer, and whoever changes the round waits for it.
        self._thread = ThreadPoolExecutor(1, "store")
        self._open = f"{root_of(plan.hash)}/open"
        self._pages = {**(pages or {}), **plan_pages(plan, signatures)}
        self._look()
        known = self._known if plan.survey.invitations else None
        length = intake.format.length
        self.application = Collector(
            plan.hash, length, self._pages, self._store, known, origins, self._life
        ).application

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _store(self, bodies: Sequence[bytes]) -> Sequence[Verdict]:
        return await self._in_thread(lambda: self._intake.verdicts(bodies))

    async def _known(self, name: bytes) -> str:
        return await self._in_thread(lambda: self._intake.invitation(name))

    @asynccontextmanager
    async def _life(self) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch())
        yield
        watching.cancel()
        await self._in_thread(lambda: self._intake.close())
        self._thread.shutdown()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._in_thread(self._look)
            if self._following is not None:
                await self._follow(self._following)

    def _look(self) -> None:
        self._pages[self._open] = open_page(self._intake.look(), self._intake.format.round)

    async def _follow(self, following: Following) -> None:
        loop, now = asyncio.get_running_loop(), self._intake.format.round
        try:
            found = await loop.run_in_executor(None, following, now)
        except Exception as error:  # it is asked again; meanwhile the round is served as it is
            log.error("the next round was not opened: %s", type(error).__name__)
            return
        if found is not None:
            await self._in_thread(partial(self._change, found))

    def _change(self, intake: Intake) -> None:
        before, self._intake = self._intake, intake
        self._look()
        before.close()
