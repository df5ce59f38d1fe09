"""The status page of a site: all its surveys, and how its parts are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from krand.web.dashboard import PATH, REFRESH_SECONDS, Seldom
from krand.web.pages import render


@dataclass(frozen=True, slots=True)
class PartState:
    """How one process is."""

    kind: str
    state: str
    trouble: str = ""
    """What is in its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyState:
    """One survey of the site."""

    id: str
    title: str
    form: str
    """Where people answer; empty where another party collects."""
    parts: tuple[PartState, ...]
    lines: tuple[str, ...]
    """What happened, and what is to be known."""
    ending: str = ""
    """How to end it; empty if it has a report, or another party collects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteState:
    """A site as it is now."""

    name: str
    surveys: tuple[SurveyState, ...]
    parts: tuple[PartState, ...] = ()
    """Those that are for all surveys."""
    mistakes: str = ""
    """What is wrong with a changed site file."""


def survey_path(name: str) -> str:
    """The address of a survey's own page."""
    return f"{PATH}/surveys/{name}"


async def _to_the_page(_: Request) -> Response:
    return RedirectResponse(PATH, 303)


class SitePage:
    """The routes of the page; `shared` is what every page shows around its content."""

    def __init__(
        self, state: Callable[[], SiteState], paths: Mapping[str, str], shared: dict[str, Any]
    ) -> None:
        """`paths`: the address of each survey's own page."""
        self._state, self._paths, self._shared = state, paths, shared
        self._shown = Seldom(self._look)

    def routes(self) -> Sequence[Route]:
        """The routes."""
        return (
            Route("/", _to_the_page),
            Route(PATH, self.page),
            Route(f"{PATH}/part", self.part),
        )

    async def page(self, _: Request) -> Response:
        """The whole page."""
        html = render(
            "site.html",
            **self._shared,
            name=self._state().name,
            refresh=REFRESH_SECONDS,
            path=PATH,
            result=Markup(await self._shown.shown()),
        )
        return HTMLResponse(html)

    async def part(self, _: Request) -> Response:
        """The part that is updated."""
        return HTMLResponse(await self._shown.shown())

    def _look(self) -> str:
        return render("site_state.html", state=self._state(), paths=self._paths)
