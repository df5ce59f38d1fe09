"""Intake: submissions are stored in groups and acknowledged when their group is on the disk.

Syncing the disk takes milliseconds, for one submission or for a hundred. So submissions that arrive
while one group is being written make up the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from krand.collector.progress import Newest
from krand.collector.store import (
    CLOSED_RULE,
    MINIMUM_GROUP,
    OVER_RULE,
    Round,
    RoundClosed,
    Store,
    StoreUnavailable,
)
from krand.errors import KrandError
from krand.wire.submissions import Submitted

MOST_WAITING = 4_096
MOST_IN_GROUP = 256
GATHER_SECONDS, GATHER_STEPS = 0.005, 5
"""How long, and in how many steps, intake waits for a group to grow. A group of the minimum size
hides its own members, and the larger a group is, the less each submission costs."""
QUIET_SECONDS = 1.0

log = logging.getLogger("krand.collector")


class QueueFull(StoreUnavailable):
    """More submissions are waiting than can be stored soon."""


class _Waiting(NamedTuple):
    submission: Submitted
    stored: asyncio.Future[bool]


class Intake:
    """The one writer of a store."""

    def __init__(self, store: Store, is_over: Callable[[], bool] | None = None) -> None:
        """`is_over` tells whether the last day on which answers are taken has passed."""
        self.store, self._is_over = store, is_over
        self.newest: Newest | None = None
        """Who came since the last step, where that is asked for."""
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(MOST_WAITING)
        # One thread: a store has one writer, and requests keep arriving meanwhile.
        self._thread = ThreadPoolExecutor(1, "store")
        self._task: asyncio.Task[None] | None = None
        self._asked: asyncio.Future[Round] | None = None
        self._failing = self._stopping = False
        self._logged_failure = ""  # the failure that was logged last

    @property
    def is_over(self) -> bool:
        """Whether the last day on which answers are taken has passed."""
        return self._is_over is not None and self._is_over()

    async def submit(self, submission: Submitted) -> bool:
        """Whether it is new. Returns only when it is durably stored, now or before."""
        return await self.enqueue(submission)

    def enqueue(self, submission: Submitted) -> asyncio.Future[bool]:
        """The same without waiting: the future is done when it is durably stored, now or before."""
        self._check_writer()
        stored: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait(_Waiting(submission, stored))
        except asyncio.QueueFull:
            raise QueueFull("too many submissions are waiting") from None
        return stored

    async def known(self, name: bytes) -> bool:
        """Whether a submission with this id was counted before, read between two groups."""
        loop, asked = asyncio.get_running_loop(), [Submitted(name, b"")]
        (found,) = await loop.run_in_executor(self._thread, self.store.known, asked)
        return found

    async def round(self) -> Round:
        """The round, read between two groups. Callers that ask meanwhile share one answer."""
        if self._asked is None or self._asked.done():
            loop = asyncio.get_running_loop()
            self._asked = loop.run_in_executor(self._thread, self.store.round)
        return await asyncio.shield(self._asked)

    async def check_ready(self) -> None:
        """Raise an error if nothing can be stored. After a failure, storing is tried."""
        self._check_writer()
        await self.round()
        if self._failing:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self.store.probe)
            self._failing = False

    def start(self) -> None:
        """Begin to store submissions."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Store what is waiting, then close the store."""
        await self._waiting.join()
        if self._task is not None:
            self._stopping = True
            self._task.cancel()
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self.store.close)
        finally:
            self._thread.shutdown()

    async def _run(self) -> None:
        while True:
            group = [await self._next()]
            await self._gather()
            while len(group) < MOST_IN_GROUP and not self._waiting.empty():
                group.append(self._waiting.get_nowait())
            try:
                await self._store(group)
            finally:
                self._done_with(group)

    async def _gather(self) -> None:
        """Wait a little for more submissions, until they are enough to hide each other."""
        for _ in range(GATHER_STEPS):
            if self._waiting.qsize() >= MINIMUM_GROUP:
                return
            await asyncio.sleep(GATHER_SECONDS / GATHER_STEPS)

    async def _next(self) -> _Waiting:
        """The next submission. When none comes for a while, the store is tidied first."""
        try:
            return await asyncio.wait_for(self._waiting.get(), QUIET_SECONDS)
        except TimeoutError:
            await self._tidy()
            return await self._waiting.get()

    async def _tidy(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self.store.tidy)
        except Exception as error:  # whatever it was: the writer continues, and the store is tried
            self._failing = True
            log.error("the spool could not be tidied: %s", _logged(error))

    def _check_writer(self) -> None:
        if self._task is not None and self._task.done():
            raise StoreUnavailable("the writer of the spool has ended")

    def _ended(self, task: asyncio.Task[None]) -> None:
        """The writer has ended. Unless it was stopped, nobody must wait for it any longer."""
        if self._stopping:
            return
        error = None if task.cancelled() else task.exception()
        log.critical("the writer of the spool has ended: %s", type(error).__name__)
        while not self._waiting.empty():
            self._done_with([self._waiting.get_nowait()])

    def _done_with(self, group: list[_Waiting]) -> None:
        """The group is finished: submissions without an answer are to be tried again."""
        for entry in group:
            if not entry.stored.done():
                entry.stored.set_exception(StoreUnavailable("the writer of the spool has ended"))
            self._waiting.task_done()

    async def _store(self, group: list[_Waiting]) -> None:
        loop = asyncio.get_running_loop()
        if self.is_over:
            await self._tell_closed(group, OVER_RULE)
            return
        submissions = [entry.submission for entry in group]
        try:
            verdicts = await loop.run_in_executor(self._thread, self.store.add, submissions)
        except RoundClosed:
            await self._tell_closed(group, CLOSED_RULE)
            return
        except Exception as error:  # whatever it was: nobody in this group is acknowledged
            self._fail(group, error)
            return
        if self._logged_failure:
            log.info("submissions are stored again")
        self._failing, self._logged_failure = False, ""
        for entry, new in zip(group, verdicts, strict=True):
            if new and self.newest is not None:
                self.newest.add(entry.submission.id)
            if not entry.stored.done():  # the client may have disconnected meanwhile
                entry.stored.set_result(new)

    async def _tell_closed(self, group: list[_Waiting], rule: str) -> None:
        """Nobody new is stored any more. A retry of what was stored is still acknowledged."""
        loop = asyncio.get_running_loop()
        submissions = [entry.submission for entry in group]
        try:
            known = await loop.run_in_executor(self._thread, self.store.known, submissions)
        except Exception as error:
            self._fail(group, error)
            return
        for entry, before in zip(group, known, strict=True):
            if entry.stored.done():
                continue
            if before:
                entry.stored.set_result(False)
            else:
                entry.stored.set_exception(RoundClosed(rule))

    def _fail(self, group: list[_Waiting], error: Exception) -> None:
        """Nothing of this group was stored: its submissions are to be tried again.

        Each failure is logged once, however many requests it affects.
        """
        self._failing, failure = True, _logged(error)
        if failure != self._logged_failure:
            self._logged_failure = failure
            log.error("a group of submissions could not be stored: %s", failure)
        for entry in group:
            if not entry.stored.done():
                # A new one for each: an exception must not be raised in several places.
                entry.stored.set_exception(StoreUnavailable(str(error)))


def _logged(error: Exception) -> str:
    """What is logged: krand's own messages contain nothing of a request."""
    return str(error) if isinstance(error, KrandError) else type(error).__name__
