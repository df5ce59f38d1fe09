"""What processes compute for pages."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from krand.errors import KrandError
from krand.languages.speaking import language
from krand.web.limits import PAGE_SECONDS, QUICK_SECONDS, SURVEY_SECONDS
from krand.web.pages import render
from krand.web.tasks import refusal
from krand.web.workers import Answer, Workers

SECONDS = {
    "promise": SURVEY_SECONDS,
    "promise_quick": QUICK_SECONDS,
    "curve": SURVEY_SECONDS,
    "more": SURVEY_SECONDS,
    "form": SURVEY_SECONDS,
}
"""How long each task may take."""
STATUS = {"busy": 503, "failed": 500}
"""For the script a refusal is a normal answer; only a bug in krand is a failure."""
RETRY = {"busy": {"Retry-After": "10"}}


class Desk:
    """Asks the processes; quick bounds have some of their own."""

    def __init__(self, workers: Workers, quick: Workers) -> None:
        self._workers, self._quick = workers, quick

    async def answer(self, request: Request, task: str, arguments: dict[str, Any]) -> Answer:
        """The answer of a task, and what is said of it."""
        workers = self._quick if task.endswith("_quick") else self._workers
        spoken = {**arguments, "language": language()}
        work = workers.run(task, spoken, _seconds(request, task))
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


def _seconds(request: Request, task: str) -> float:
    """The time limit of a task: all tasks of one page share that of the page."""
    now = asyncio.get_running_loop().time()
    if not hasattr(request.state, "end"):
        request.state.end = now + PAGE_SECONDS
    return float(min(SECONDS[task], max(request.state.end - now, 0.0)))


def part_of(answer: Answer) -> Response:
    """An answer as a part of a page."""
    state = answer["state"]
    headers = {"X-State": state, **RETRY.get(state, {})}
    return HTMLResponse(answer["html"], STATUS.get(state, 200), headers)
