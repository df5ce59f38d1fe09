"""What the pages of the console have in common: their survey, their steps, what they refuse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from krand.console import commands
from krand.console.folder import Changed, Place, Stage
from krand.console.running import Keeping
from krand.errors import KrandError
from krand.languages.speaking import marked
from krand.report.pages import render as fill
from krand.wording.failures import explain

STEPS = (
    ("questions", marked("Questions")),
    ("promise", marked("Promise")),
    ("partners", marked("Partners")),
    ("publish", marked("Publish")),
    ("watch", marked("Watch")),
    ("results", marked("Results")),
)
SITE_STEPS = STEPS[3:]
"""What is left to do with a survey that krand run runs."""
SENDS_FORMS = {"Referrer-Policy": "same-origin"}
ROOMS = ("krand.console", "krand.web")
CONFLICT = marked(
    "Somebody else changed survey.toml since this page was loaded, so nothing was saved. Go back:"
    " what you wrote is still there. Copy it, load the page again, and write it once more."
)
STAGES = {
    Stage.DRAFT: marked("draft"),
    Stage.PAIRING: marked("waiting for partners"),
    Stage.READY: marked("ready to publish"),
    Stage.OPEN: marked("open"),
    Stage.CLOSED: marked("closed, being counted"),
    Stage.EMPTY: marked("ended without results"),
    Stage.REPORTED: marked("reported"),
}


Handler = Callable[[Request, Place], Awaitable[Response]]
Find = Callable[[str], Place | None]
"""The survey that an address names."""


class Pages:
    """Some pages of surveys; `shared` is what every page shows around its content."""

    def __init__(self, find: Find, keeping: Keeping, shared: dict[str, Any]) -> None:
        self._find, self.keeping, self._shared = find, keeping, shared

    def _routes(self, method: str, handlers: Mapping[str, Handler]) -> Iterable[Route]:
        for path, handler in handlers.items():
            at = f"/surveys/{{name}}/{path}".rstrip("/")
            yield Route(at, self._of_survey(handler), methods=[method])

    def _of_survey(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler for the survey that the address names."""

        async def found(request: Request) -> Response:
            place = self._find(request.path_params["name"])
            if place is None:
                return HTMLResponse(self._render("missing.html"), 404)
            try:
                return await handler(request, place)
            except Changed:
                return self._conflict(request, place)
            except KrandError as error:
                return self._refused(request, place, explain(error))

        return found

    # --- what all pages have ---

    def _render(self, template: str, **values: Any) -> str:
        return fill(template, room=ROOMS, **{**self._shared, **values})

    def _page(self, template: str, place: Place, here: str, **values: Any) -> str:
        stage = stage_of(place)
        return self._render(
            template,
            place=place,
            own_file=commands.relative(place, place.file),
            own_folder=commands.relative(place, place.folder.path),
            survey_title=place.title,
            step=here,
            steps=STEPS if place.site is None else SITE_STEPS,
            is_whole=place.site is None,
            stage=stage,
            stages=STAGES,
            here="surveys",
            **values,
        )

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


def stage_of(place: Place) -> Stage | None:
    """None where the folder cannot be read."""
    try:
        return place.stage
    except KrandError:
        return None


def part_now(place: Place, html: str) -> Response:
    """A part that is updated; where the survey is further than its page, the page comes anew."""
    return HTMLResponse(html, headers={"X-Stage": place.stage})


def to(path: str) -> Response:
    return RedirectResponse(path, 303)
