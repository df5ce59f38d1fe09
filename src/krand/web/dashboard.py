"""The dashboard: the progress of a running collector."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.errors import KrandError
from krand.languages.speaking import language
from krand.web.guard import document_policy
from krand.web.limits import RESULTS_SECONDS
from krand.web.pages import render
from krand.web.planner import answered, page_with
from krand.web.results_folder import ResultsFile, ResultsFolder
from krand.web.tasks import refusal
from krand.web.watching import Condition, Crowd, Watched, condition_of, crowd_of
from krand.web.workers import Workers
from krand.wording.plans import promise_sentence, promised_guess
from krand.wording.surveys import about_sentence, survey_name

PATH = "/collector"
LOOK_SECONDS = 2.0
"""The collector is read no more often than this, for any number of viewers."""
REFRESH_SECONDS = 5


class Seldom:
    """A part of a page that is made anew at most every few seconds, for any number of viewers."""

    def __init__(self, look: Callable[[], str]) -> None:
        self._look, self._looking = look, asyncio.Lock()
        self._seen: dict[str, tuple[str, float]] = {}

    async def shown(self) -> str:
        """As it was seen last, in the language that is spoken."""
        async with self._looking:
            seen, at = self._seen.get(language(), ("", -LOOK_SECONDS))
            if time.monotonic() - at >= LOOK_SECONDS:
                seen = await asyncio.to_thread(self._look)
                self._seen[language()] = seen, time.monotonic()
            return seen


class Dashboard:
    """The routes of one collector; `shared` is what every page shows around its content."""

    def __init__(
        self, watch: Watched, workers: Workers, shared: dict[str, Any], path: str = PATH
    ) -> None:
        self._watch, self._path = watch, path
        self._workers, self._shared = workers, shared
        self._results = None if watch.results is None else ResultsFolder(watch.results)
        self._state = Seldom(self._look)

    def routes(self) -> Sequence[Route]:
        """The routes."""
        return (
            Route(self._path, self.page),
            Route(f"{self._path}/part", self.part),
            Route(f"{self._path}/results/{{name}}", self.results),
        )

    async def page(self, request: Request) -> Response:
        """The whole page."""
        html = render(
            "collector.html",
            **self._shared,
            plan=self._watch.plan,
            survey_name=survey_name(self._watch.plan.survey),
            about=about_sentence(self._watch.plan.survey),
            round=self._watch.round,
            guess=promised_guess(self._watch.plan),
            promise=promise_sentence(self._watch.plan),
            refresh=REFRESH_SECONDS,
            path=self._path,
            result=Markup(await self._state.shown()),
        )
        return HTMLResponse(html)

    async def part(self, _: Request) -> Response:
        """The part that is updated."""
        return HTMLResponse(await self._state.shown())

    async def results(self, request: Request) -> Response:
        """Results as a report page."""
        for file in await asyncio.to_thread(self._files):
            if file.name == request.path_params["name"]:
                arguments = {"path": file.path, "stamp": list(file.stamp)}
                work = self._workers.run("results", arguments, RESULTS_SECONDS)
                answer = await answered(request, work)
                if answer["state"] == "planned":
                    policy = {"Content-Security-Policy": document_policy()}
                    return HTMLResponse(answer["html"], headers=policy)
                page = render("refused.html", **self._shared, result=Markup(answer["html"]))
                return page_with(answer, page)
        return HTMLResponse(render("missing.html", **self._shared), 404)

    def _look(self) -> str:
        crowd: Crowd | None = None
        trouble = Markup("")
        try:
            crowd = None if self._watch.spool is None else crowd_of(self._watch)
        except KrandError as error:
            trouble = Markup(refusal(error)["html"])
        address = self._watch.collector
        condition: Condition | None = None if address is None else condition_of(address)
        return render(
            "collector_state.html",
            crowd=crowd,
            trouble=trouble,
            collector=address,
            condition=condition,
            results=None if self._results is None else self._files(),
            plan_hash=self._watch.plan.hash,
            path=self._path,
        )

    def _files(self) -> tuple[ResultsFile, ...]:
        return () if self._results is None else self._results.files()
