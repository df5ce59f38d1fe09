"""The planner's pages: numbers in the address, a survey in a form; with scripts or without."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.errors import InvalidInput, KrandError
from krand.web.forms import Form, read_form
from krand.web.limits import FRONTIER_SECONDS, NUMBERS_SECONDS, SURVEY_SECONDS
from krand.web.pages import render
from krand.web.settings import CHOICES, FIELDS, Settings, settings_from
from krand.web.surveys import (
    EXAMPLES,
    SurveyText,
    example,
    text_from_field,
    text_from_file,
)
from krand.web.tasks import refusal
from krand.web.workers import Answer, Workers

__all__ = ["FIRST_EXAMPLE", "Planner", "answered", "status_of"]

FIRST_EXAMPLE = "browser"
STATUS = {"planned": 200, "refused": 200, "invalid": 422, "busy": 503, "failed": 500}
# Without a referrer browsers send no origin with forms, and only our own pages may send forms.
SENDS_FORMS = {"Referrer-Policy": "same-origin"}


class Planner:
    """The planner's routes; `shared` is what every page shows around its content."""

    def __init__(self, workers: Workers, shared: dict[str, Any]) -> None:
        self._workers, self._shared = workers, shared

    def routes(self) -> Sequence[Route]:
        """The routes."""
        return (
            Route("/", self.numbers),
            Route("/part/numbers", self.numbers_part),
            Route("/part/frontier", self.frontier_part),
            Route("/survey", self.survey, methods=["GET", "POST"]),
            Route("/part/survey", self.survey_part, methods=["POST"]),
            Route("/survey.toml", self.save_survey, methods=["POST"]),
            Route("/plan.json", self.save_plan, methods=["POST"]),
        )

    async def warm_up(self) -> None:
        """Compute what the first visitor will see."""
        await self._workers.run("numbers", _query(settings_from({})), NUMBERS_SECONDS)

    async def numbers(self, request: Request) -> Response:
        """The whole page: a form and its result."""
        settings = settings_from(request.query_params)
        answer = await self._numbers(request, settings)
        frontier = None
        if "frontier" in request.query_params and answer["state"] != "invalid":
            frontier = Markup((await self._frontier(request, settings))["html"])
        page = render(
            "numbers.html",
            **self._shared,
            fields=FIELDS,
            choices=CHOICES,
            settings=settings,
            answer=answer,
            result=Markup(answer["html"]),
            frontier=frontier,
        )
        return HTMLResponse(page, status_of(answer))

    async def numbers_part(self, request: Request) -> Response:
        """Only the result of the form."""
        return _part(await self._numbers(request, settings_from(request.query_params)))

    async def frontier_part(self, request: Request) -> Response:
        """Only precision versus data sent."""
        return _part(await self._frontier(request, settings_from(request.query_params)))

    async def survey(self, request: Request) -> Response:
        """The whole page: a survey to edit, and its plan."""
        text = example(FIRST_EXAMPLE)
        try:
            if request.method == "POST":
                text = _survey_text(await read_form(request), text)
            elif "example" in request.query_params:
                text = example(request.query_params["example"])
            answer = await self._survey(request, text)
        except KrandError as error:
            answer = refusal(error)
        page = render(
            "survey.html",
            **self._shared,
            survey=text,
            examples=EXAMPLES,
            answer=answer,
            result=Markup(answer["html"]),
        )
        return HTMLResponse(page, status_of(answer), SENDS_FORMS)

    async def survey_part(self, request: Request) -> Response:
        """Only the plan of the survey."""
        try:
            text = _survey_text(await read_form(request))
        except KrandError as error:
            return _part(refusal(error))
        return _part(await self._survey(request, text))

    async def save_survey(self, request: Request) -> Response:
        """The survey as a file, valid or not."""
        try:
            text = _survey_text(await read_form(request))
        except KrandError as error:
            return self._not_saved(refusal(error))
        return _download("survey.toml", "application/toml", text.bytes)

    async def save_plan(self, request: Request) -> Response:
        """The plan as a file."""
        try:
            text = _survey_text(await read_form(request))
        except KrandError as error:
            return self._not_saved(refusal(error))
        answer = await self._survey(request, text)
        if answer["state"] != "planned":
            return self._not_saved(answer)
        return _download("plan.json", "application/json", answer["plan"].encode())

    def _not_saved(self, answer: Answer) -> Response:
        page = render("refused.html", **self._shared, result=Markup(answer["html"]))
        return HTMLResponse(page, status_of(answer))

    async def _numbers(self, request: Request, settings: Settings) -> Answer:
        work = self._workers.run("numbers", _query(settings), NUMBERS_SECONDS)
        return await answered(request, work)

    async def _frontier(self, request: Request, settings: Settings) -> Answer:
        work = self._workers.run("frontier", _query(settings), FRONTIER_SECONDS)
        return await answered(request, work)

    async def _survey(self, request: Request, text: SurveyText) -> Answer:
        work = self._workers.run("survey", {"text": text.text}, SURVEY_SECONDS)
        return await answered(request, work)


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


def status_of(answer: Answer) -> int:
    """The status of a page with this answer."""
    return STATUS[answer["state"]]


def _part(answer: Answer) -> Response:
    """For the script a refusal is a normal answer; only a bug in krand is a failure."""
    status = 500 if answer["state"] == "failed" else 200
    headers = {"X-State": answer["state"], "X-Field": answer["field"] or ""}
    return HTMLResponse(answer["html"], status, _ascii(headers))


def _ascii(headers: dict[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in headers.items() if value.isascii() and value.isprintable()
    }


def _query(settings: Settings) -> dict[str, Any]:
    return {"query": dict(settings.texts)}


def _survey_text(form: Form, otherwise: SurveyText | None = None) -> SurveyText:
    """The chosen file if there is one, otherwise the text field."""
    if "file" in form.files:
        return text_from_file(form.files["file"])
    if "survey" in form.texts:
        lines, mark = (form.texts.get(name) == "yes" for name in ("windows_lines", "mark"))
        return text_from_field(form.texts["survey"], lines, mark)
    if otherwise is None:
        raise InvalidInput("survey", "must be given", None)
    return otherwise


def _download(name: str, kind: str, content: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=kind)
