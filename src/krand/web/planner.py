"""Pages with numbers: what processes compute for them, and the experts' page."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.errors import KrandError
from krand.languages.speaking import language
from krand.web.limits import (
    FRONTIER_SECONDS,
    NUMBERS_SECONDS,
    PAGE_SECONDS,
    QUICK_SECONDS,
    SURVEY_SECONDS,
)
from krand.web.pages import render
from krand.web.settings import CHOICES, FIELDS, Settings, settings_from
from krand.web.tasks import refusal
from krand.web.texts import TEXTS
from krand.web.workers import Answer, Workers

SECONDS = {
    "numbers": NUMBERS_SECONDS,
    "numbers_quick": QUICK_SECONDS,
    "density": NUMBERS_SECONDS,
    "frontier": FRONTIER_SECONDS,
    "promise": SURVEY_SECONDS,
    "promise_quick": QUICK_SECONDS,
    "curve": SURVEY_SECONDS,
    "more": SURVEY_SECONDS,
    "form": SURVEY_SECONDS,
}
"""How long each task may take."""
STATUS = {
    "planned": 200,
    "unknown": 200,
    "refused": 200,
    "invalid": 422,
    "busy": 503,
    "failed": 500,
}
RETRY = {"busy": {"Retry-After": "10"}}


class Desk:
    """Asks the processes; quick bounds have some of their own."""

    def __init__(self, workers: Workers, quick: Workers) -> None:
        self._workers, self._quick = workers, quick

    async def answer(
        self, request: Request, task: str, arguments: dict[str, Any], asked: str
    ) -> Answer:
        """The answer of a task, with the request that it belongs to."""
        workers = self._quick if task.endswith("_quick") else self._workers
        spoken = {**arguments, "language": language()}
        work = workers.run(task, spoken, _seconds(request, task))
        return _echoed(await answered(request, work), asked)


class Numbers:
    """The experts' page; `shared` is what every page shows around its content."""

    def __init__(self, desk: Desk, shared: dict[str, Any]) -> None:
        self._desk, self._shared = desk, shared

    def routes(self) -> Sequence[Route]:
        """The routes."""
        parts = (
            Route(f"/part/{task}", partial(self.part, task), methods=["GET"])
            for task in ("numbers_quick", "numbers", "density", "frontier")
        )
        return (Route("/numbers", self.page), *parts)

    async def page(self, request: Request) -> Response:
        """A form, and where it is asked for by a browser without scripts, its result."""
        settings = settings_from(request.query_params)
        answer: Answer = {"state": "unknown", "field": None, "html": ""}
        if {"numbers", "frontier"} & set(request.query_params):
            answer = await self._answer(request, "numbers", settings)
        density = frontier = None
        if answer["state"] == "planned":
            density = Markup((await self._answer(request, "density", settings))["html"])
        if "frontier" in request.query_params and answer["state"] in ("planned", "refused"):
            frontier = Markup((await self._answer(request, "frontier", settings))["html"])
        page = render(
            "numbers.html",
            **self._shared,
            fields=FIELDS,
            choices=CHOICES,
            texts=TEXTS,
            settings=settings,
            answer=answer,
            result=Markup(answer["html"]),
            density=density,
            frontier=frontier,
        )
        return page_with(answer, page)

    async def part(self, task: str, request: Request) -> Response:
        """One part of the page."""
        return part_of(await self._answer(request, task, settings_from(request.query_params)))

    async def _answer(self, request: Request, task: str, settings: Settings) -> Answer:
        query = {"query": dict(settings.texts)}
        return await self._desk.answer(request, task, query, settings.query())


def _echoed(answer: Answer, request: str) -> Answer:
    """The answer with the request that it belongs to, so that a page can compare the two."""
    html = render("answer.html", answer=answer, html=Markup(answer["html"]), request=request)
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


def page_with(answer: Answer, html: str, headers: Mapping[str, str] | None = None) -> Response:
    """A page that shows this answer."""
    state = answer["state"]
    return HTMLResponse(html, STATUS[state], {**RETRY.get(state, {}), **(headers or {})})


def _seconds(request: Request, task: str) -> float:
    """The time limit of a task: all tasks of one page share that of the page."""
    now = asyncio.get_running_loop().time()
    if not hasattr(request.state, "end"):
        request.state.end = now + PAGE_SECONDS
    return float(min(SECONDS[task], max(request.state.end - now, 0.0)))


def part_of(answer: Answer) -> Response:
    """For the script a refusal is a normal answer; only a bug in krand is a failure."""
    state = answer["state"]
    status = STATUS[state] if state in ("failed", "busy") else 200
    headers = {"X-State": state, "X-Field": answer["field"] or "", **RETRY.get(state, {})}
    plain = {name: text for name, text in headers.items() if text.isascii() and text.isprintable()}
    return HTMLResponse(answer["html"], status, plain)
