"""What the pages of the console have in common: their survey, its stage, what they refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from krand.console.folder import Changed, Place, Stage, Surveys
from krand.errors import KrandError
from krand.languages.speaking import marked
from krand.report.pages import render as fill
from krand.site.counting import report_of
from krand.site.running import Running
from krand.site.status import is_over
from krand.survey.plan import Plan
from krand.wording.failures import as_krand_error, explain

if TYPE_CHECKING:
    from krand.partners.identity import Link
    from krand.survey.survey import Survey

STEPS = (
    ("questions", marked("Questions")),
    ("promise", marked("Promise")),
    ("publish", marked("Publish")),
    ("watch", marked("Watch")),
    ("results", marked("Results")),
)
REFRESH_SECONDS = 5
SENDS_FORMS = {"Referrer-Policy": "same-origin"}
ROOMS = ("krand.console", "krand.web")
CONFLICT = marked(
    "Somebody else changed survey.toml since this page was loaded, so nothing was saved. Go back:"
    " what you wrote is still there. Copy it, load the page again, and write it once more."
)
STAGES = {
    Stage.DRAFT: marked("draft"),
    Stage.WAITING: marked("being published"),
    Stage.OPEN: marked("open"),
    Stage.CLOSED: marked("closed, being counted"),
    Stage.EMPTY: marked("ended without results"),
    Stage.REPORTED: marked("reported"),
}

Handler = Callable[[Request, Place], Awaitable[Response]]


class Backstage:
    """What runs behind the pages: the party, and what is being published."""

    def __init__(self, running: Running, surveys: Surveys) -> None:
        self.running, self.surveys = running, surveys
        self._work: dict[str, asyncio.Task[Plan]] = {}

    def plan(self, place: Place) -> Plan | None:
        """The plan of a survey that is published here."""
        name = place.document.get("id")
        plans = self.running.worker.plans.values()
        return next((plan for plan in plans if plan.survey.id == name), None)

    def stage(self, place: Place) -> Stage:
        """How far a survey is."""
        plan, work = self.plan(place), self._work.get(place.name)
        if plan is None:
            return Stage.DRAFT if work is None or work.done() else Stage.WAITING
        status = self.running.status(plan)
        if is_over(status):
            folder, rounds = self.running.folder.results(plan), plan.survey.rounds
            numbers = range(plan.survey.first_round, rounds + 1)
            reported = any(report_of(folder, plan, number).exists() for number in numbers)
            return Stage.REPORTED if reported else Stage.EMPTY
        is_open = status["open"] or plan.survey.schedule is not None
        return Stage.OPEN if is_open else Stage.CLOSED

    def failure(self, place: Place) -> str:
        """Why a survey was not published, or what is in its way; empty if nothing is."""
        work, plan = self._work.get(place.name), self.plan(place)
        if work is not None and work.done() and not work.cancelled() and work.exception():
            error = work.exception()
            assert error is not None
            return explain(as_krand_error(error))
        known = place.document.get("id", "") if plan is None else plan.hash
        return self.running.troubles.get(str(known), "")

    def publish(self, place: Place, survey: Survey, links: Sequence[Link]) -> None:
        """Begin to publish it."""
        work = self._work.get(place.name)
        if work is None or work.done():
            begun = self.running.publish(survey, links)
            self._work[place.name] = asyncio.get_running_loop().create_task(begun)

    async def stop(self) -> None:
        """End what is being published; it goes on when it is asked for again."""
        for work in self._work.values():
            work.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._work.values(), return_exceptions=True)


class Pages:
    """Some pages of surveys; `shared` is what every page shows around its content."""

    def __init__(self, back: Backstage, shared: dict[str, Any]) -> None:
        self.back, self._shared = back, shared

    def _routes(self, method: str, handlers: Mapping[str, Handler]) -> Iterable[Route]:
        for path, handler in handlers.items():
            at = f"/surveys/{{name}}/{path}".rstrip("/")
            yield Route(at, self._of_survey(handler), methods=[method])

    def _of_survey(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler for the survey that the address names."""

        async def found(request: Request) -> Response:
            place = self.back.surveys.place(request.path_params["name"])
            if place is None:
                return HTMLResponse(self._render("missing.html"), 404)
            try:
                return await handler(request, place)
            except Changed:
                return self._conflict(request, place)
            except KrandError as error:
                return self._refused(request, place, explain(error))

        return found

    def _render(self, template: str, **values: Any) -> str:
        return fill(template, room=ROOMS, **{**self._shared, **values})

    def _page(self, template: str, place: Place, here: str, **values: Any) -> str:
        stage = self.back.stage(place)
        return self._render(
            template,
            place=place,
            survey_title=place.title,
            step=here,
            steps=STEPS,
            stage=stage,
            stages=STAGES,
            here="surveys",
            refresh=REFRESH_SECONDS,
            **values,
        )

    def _part(self, place: Place, html: str) -> Response:
        """A part that is updated; where the survey is further than its page, all comes anew."""
        return HTMLResponse(html, headers={"X-Stage": self.back.stage(place)})

    def _conflict(self, request: Request, place: Place) -> Response:
        """Somebody else wrote the file: nothing of what was written here is lost."""
        if "part" in request.query_params:
            html = self._render("conflict.html", place=place)
            return JSONResponse({"state": "changed", "html": html, "fields": []}, 409)
        return self._refused(request, place, CONFLICT, 409)

    def _refused(self, request: Request, place: Place, what: str, status: int = 422) -> Response:
        if "part" in request.query_params:
            html = self._render("refused_part.html", what=what)
            return JSONResponse({"state": "refused", "html": html, "fields": []}, status)
        page = self._page("refused_page.html", place, "", what=what)
        return HTMLResponse(page, status, SENDS_FORMS)


def to(path: str) -> Response:
    return RedirectResponse(path, 303)
