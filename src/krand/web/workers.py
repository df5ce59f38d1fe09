"""Planning processes: limited in number and in time.

A thread cannot be stopped, but a process can. A form that would take an hour occupies a worker for
a few seconds; then the worker is stopped and replaced. Waiting for a worker is part of the time,
and ends early where others keep all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import OrderedDict
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from krand.errors import InternalError, KrandError, Unavailable
from krand.languages.speaking import language, marked
from krand.web.pages import render
from krand.web.worker import Answer, refusal

WORKERS = 2
"""The most plans at a time."""
MOST_WAITING = 8
"""The most plans that wait; further requests are told to try again."""
WAIT_SECONDS = 30.0
"""How long a plan waits for others; then the request is told to try again."""
PAGE_SECONDS = 60.0
"""The work for a request ends after this time, waiting included, however many there are."""
PATIENCE_SECONDS = 10.0
"""How long a plan continues if nobody waits for it: a new process would cost as much."""
KEPT_ANSWERS = 64
"""The most answers kept in memory; the same request always has the same answer."""
LONGEST_LINE = 2**28
STATUS = {"busy": 503, "failed": 500}
"""For the script a refusal is a normal answer; only a bug in krand is a failure."""
RETRY = {"busy": {"Retry-After": "10"}}


class Busy(Unavailable):
    """Too many requests are waiting."""


class TooSlow(Unavailable):
    """The task exceeds its time limit."""


class Workers:
    """Up to `most` processes; a task waits for a free one."""

    def __init__(self, most: int = WORKERS, most_waiting: int = MOST_WAITING) -> None:
        self._slots = asyncio.Semaphore(most)
        self._most_waiting, self._waiting = most_waiting, 0
        self._idle: list[_Process] = []
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._jobs: set[asyncio.Task[Answer]] = set()

    async def run(self, task: str, arguments: dict[str, Any], seconds: float) -> Answer:
        """The task's answer; Busy or TooSlow if there is none in time, waiting included."""
        key = json.dumps([task, arguments], sort_keys=True)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        end = asyncio.get_running_loop().time() + seconds
        await self._wait_for_slot(min(seconds, WAIT_SECONDS))
        job = asyncio.create_task(self._job(key, end, seconds))
        self._jobs.add(job)
        job.add_done_callback(self._done)
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:  # nobody is waiting any longer
            asyncio.get_running_loop().call_later(PATIENCE_SECONDS, job.cancel)
            raise

    async def stop(self) -> None:
        """End all of them."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        for process in self._idle:
            await process.end()
        self._idle.clear()

    async def _wait_for_slot(self, seconds: float) -> None:
        busy = Busy(marked("Too many plans are being computed. Try again in a moment."))
        if self._waiting >= self._most_waiting:
            raise busy
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise busy from None
        finally:
            self._waiting -= 1

    async def _job(self, key: str, end: float, seconds: float) -> Answer:
        process = None
        try:
            async with asyncio.timeout_at(end):
                process = self._idle.pop() if self._idle else await _Process.start()
                answer = await process.ask(key)
        except BaseException as error:  # its work cannot be stopped in any other way
            if process is not None:
                await process.end()
            if isinstance(error, TimeoutError):
                raise TooSlow(
                    f"This takes longer than {seconds:g} seconds, the limit for a page."
                    " Choose fewer bits or copies, or use the command line, which has no limit."
                ) from None
            raise
        finally:
            self._slots.release()
        self._idle.append(process)
        self._kept[key] = answer
        if len(self._kept) > KEPT_ANSWERS:
            self._kept.popitem(last=False)
        return answer

    def _done(self, job: asyncio.Task[Answer]) -> None:
        self._jobs.discard(job)
        if not job.cancelled():
            job.exception()  # everybody who waits gets it; nobody has to wait


class _Process:
    """One worker: a line of JSON in, a line of JSON out."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        one_core = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the current folder must not affect what is imported
                "-m",
                "krand.web.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=os.environ | one_core,
                limit=LONGEST_LINE,
            )
        )

    async def ask(self, line: str) -> Answer:
        """Its answer; InternalError if the process has died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        answer = b""
        with suppress(ConnectionError):
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
            answer = await self._process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise InternalError("a planning process ended without an answer")
        found: Answer = json.loads(answer)
        return found

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class Desk:
    """Asks the processes."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def answer(self, request: Request, task: str, arguments: dict[str, Any]) -> Answer:
        """The answer of a task, and what is said of it."""
        now = asyncio.get_running_loop().time()
        if not hasattr(request.state, "end"):  # all tasks of one page share its time
            request.state.end = now + PAGE_SECONDS
        seconds = min(PAGE_SECONDS, max(request.state.end - now, 0.0))
        work = self._workers.run(task, {**arguments, "language": language()}, seconds)
        answer = await answered(request, work)
        html = render("answer.html", answer=answer, html=Markup(answer["html"]))
        return {**answer, "html": html}


async def answered(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """The answer, or why there is none; the work stops if nobody waits for it."""
    job, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({job, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not job.done():
            raise ClientDisconnect
        return await job
    except KrandError as error:
        return refusal(error)
    finally:
        job.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    """Returns when the browser has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def part_of(answer: Answer) -> Response:
    """An answer as a part of a page."""
    state = answer["state"]
    headers = {"X-State": state, **RETRY.get(state, {})}
    return HTMLResponse(answer["html"], STATUS.get(state, 200), headers)
