"""The planner's pages: plan a survey, a survey file, numbers; with scripts or without."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.errors import InvalidInput, KrandError
from krand.web.forms import Form, read_form
from krand.web.limits import (
    ADVICE_SECONDS,
    FRONTIER_SECONDS,
    NUMBERS_SECONDS,
    PAGE_SECONDS,
    QUICK_SECONDS,
    SURVEY_SECONDS,
)
from krand.web.pages import render
from krand.web.recipes import notebook_of, script_of
from krand.web.settings import CHOICES, FIELDS, Settings, settings_from
from krand.web.survey_form import CHOICES as FORM_CHOICES
from krand.web.survey_form import FIELDS as FORM_FIELDS
from krand.web.survey_form import PRESETS, SurveyForm, survey_form_from
from krand.web.surveys import (
    EXAMPLES,
    SurveyText,
    example,
    text_from_field,
    text_from_file,
)
from krand.web.tasks import refusal
from krand.web.texts import TEXTS
from krand.web.workers import Answer, Workers

FIRST_EXAMPLE = "browser"
PLAN_FILE = "plan.json"
FILES: dict[str, tuple[str, Callable[[SurveyForm], str]]] = {
    "survey.toml": ("application/toml", SurveyForm.survey_text),
    "run_survey.py": ("text/x-python", script_of),
    "run_survey.ipynb": ("application/x-ipynb+json", notebook_of),
}
"""What the first page can save beside the plan: the type of a file, and its content."""
SECONDS = {
    "first": SURVEY_SECONDS,
    "first_quick": QUICK_SECONDS,
    "more": SURVEY_SECONDS,
    "advice": ADVICE_SECONDS,
    "numbers": NUMBERS_SECONDS,
    "numbers_quick": QUICK_SECONDS,
    "density": NUMBERS_SECONDS,
    "frontier": FRONTIER_SECONDS,
    "survey": SURVEY_SECONDS,
    "survey_quick": QUICK_SECONDS,
}
"""How long each task may take."""
STATUS = {"planned": 200, "refused": 200, "invalid": 422, "busy": 503, "failed": 500}
RETRY = {"busy": {"Retry-After": "10"}}
# Without a referrer browsers send no origin with forms, and only our own pages may send forms.
SENDS_FORMS = {"Referrer-Policy": "same-origin"}


class Planner:
    """The planner's routes; `shared` is what every page shows around its content."""

    def __init__(self, workers: Workers, quick: Workers, shared: dict[str, Any]) -> None:
        self._workers, self._quick, self._shared = workers, quick, shared

    def routes(self) -> Sequence[Route]:
        """The routes."""
        first = (
            Route(f"/part/{task}", partial(self.first_part, task), methods=["GET"])
            for task in ("first_quick", "first", "more", "advice")
        )
        numbers = (
            Route(f"/part/{task}", partial(self.numbers_part, task), methods=["GET"])
            for task in ("numbers_quick", "numbers", "density", "frontier")
        )
        files = (
            Route(f"/planned/{name}", partial(self.planned, name), methods=["GET"])
            for name in (PLAN_FILE, *FILES)
        )
        return (
            Route("/", self.first),
            Route("/numbers", self.numbers),
            *first,
            *numbers,
            *files,
            Route("/survey", self.survey, methods=["GET", "POST"]),
            *(
                Route(f"/part/{task}", partial(self.survey_part, task), methods=["POST"])
                for task in ("survey_quick", "survey")
            ),
            Route("/survey.toml", self.save_survey, methods=["POST"]),
            Route("/plan.json", self.save_plan, methods=["POST"]),
        )

    async def warm_up(self) -> None:
        """Compute what the first visitor will see."""
        form = {"form": dict(survey_form_from({}).texts)}
        await asyncio.gather(
            self._workers.run("first", form, SURVEY_SECONDS),
            self._quick.run("first_quick", form, SURVEY_SECONDS),
        )
        await self._workers.run("more", form, SURVEY_SECONDS)

    async def first(self, request: Request) -> Response:
        """The first page: whom to ask about what, and what comes of it."""
        form = survey_form_from(request.query_params)
        answer = await self._first(request, "first", form)
        more = advice = None
        if answer["state"] == "planned":
            more = Markup((await self._first(request, "more", form))["html"])
        if "advice" in request.query_params and answer["state"] in ("planned", "refused"):
            advice = Markup((await self._first(request, "advice", form))["html"])
        page = render(
            "first.html",
            **self._shared,
            fields=FORM_FIELDS,
            choices=FORM_CHOICES,
            texts=TEXTS,
            presets=[(name, SurveyForm(form).query()) for name, form in PRESETS.items()],
            settings=form,
            answer=answer,
            result=Markup(answer["html"]),
            more=more,
            advice=advice,
        )
        return page_with(answer, page)

    async def first_part(self, task: str, request: Request) -> Response:
        """One part of the first page."""
        return _part(await self._first(request, task, survey_form_from(request.query_params)))

    async def planned(self, name: str, request: Request) -> Response:
        """A file of the first page's plan, for what the form says now."""
        form = survey_form_from(request.query_params)
        try:
            form.survey()
            if name in FILES:  # needs no plan, and may be of a survey that cannot be planned
                kind, content = FILES[name]
                return _download(name, kind, content(form).encode())
        except KrandError as error:
            return self._not_saved(refusal(error))
        answer = await self._first(request, "first", form)
        if answer["state"] != "planned":
            return self._not_saved(answer)
        return _download(name, "application/json", answer["plan"].encode())

    async def numbers(self, request: Request) -> Response:
        """The experts' page: a form and its result."""
        settings = settings_from(request.query_params)
        answer = await self._numbers(request, "numbers", settings)
        density = frontier = None
        if answer["state"] == "planned":
            density = Markup((await self._numbers(request, "density", settings))["html"])
        if "frontier" in request.query_params and answer["state"] in ("planned", "refused"):
            frontier = Markup((await self._numbers(request, "frontier", settings))["html"])
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

    async def numbers_part(self, task: str, request: Request) -> Response:
        """One part of the experts' page."""
        return _part(await self._numbers(request, task, settings_from(request.query_params)))

    async def survey(self, request: Request) -> Response:
        """The whole page: a survey to edit, and its plan."""
        text = example(FIRST_EXAMPLE)
        try:
            if request.method == "POST":
                text = _survey_text(await read_form(request), text)
            elif "example" in request.query_params:
                text = example(request.query_params["example"])
            elif "questions" in request.query_params:
                text = SurveyText(survey_form_from(request.query_params).survey_text())
            answer = await self._survey(request, "survey", text)
        except KrandError as error:
            answer = _echoed(refusal(error), "")
        page = render(
            "survey.html",
            **self._shared,
            survey=text,
            examples=EXAMPLES,
            answer=answer,
            result=Markup(answer["html"]),
        )
        return page_with(answer, page, SENDS_FORMS)

    async def survey_part(self, task: str, request: Request) -> Response:
        """Only the plan of the survey, or bounds of it."""
        try:
            text = _survey_text(await read_form(request))
        except KrandError as error:
            return _part(_echoed(refusal(error), ""))
        return _part(await self._survey(request, task, text))

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
        answer = await self._survey(request, "survey", text)
        if answer["state"] != "planned":
            return self._not_saved(answer)
        return _download("plan.json", "application/json", answer["plan"].encode())

    def _not_saved(self, answer: Answer) -> Response:
        page = render("refused.html", **self._shared, result=Markup(answer["html"]))
        return page_with(answer, page)

    async def _first(self, request: Request, task: str, form: SurveyForm) -> Answer:
        return await self._answer(request, task, {"form": dict(form.texts)}, form.query())

    async def _numbers(self, request: Request, task: str, settings: Settings) -> Answer:
        query = {"query": dict(settings.texts)}
        return await self._answer(request, task, query, settings.query())

    async def _survey(self, request: Request, task: str, text: SurveyText) -> Answer:
        digest = hashlib.sha256(text.text.encode(errors="replace")).hexdigest()
        return await self._answer(request, task, {"text": text.text}, digest)

    async def _answer(
        self, request: Request, task: str, arguments: dict[str, Any], asked: str
    ) -> Answer:
        """The answer of a task, with the request that it belongs to."""
        workers = self._quick if task.endswith("_quick") else self._workers
        work = workers.run(task, arguments, _seconds(request, task))
        return _echoed(await answered(request, work), asked)


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


def _part(answer: Answer) -> Response:
    """For the script a refusal is a normal answer; only a bug in krand is a failure."""
    state = answer["state"]
    status = STATUS[state] if state in ("failed", "busy") else 200
    headers = {"X-State": state, "X-Field": answer["field"] or "", **RETRY.get(state, {})}
    plain = {name: text for name, text in headers.items() if text.isascii() and text.isprintable()}
    return HTMLResponse(answer["html"], status, plain)


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
