"""The status page of a site: all its surveys, and how its parts are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.languages.speaking import language
from krand.web.pages import render

LOOK_SECONDS = 2.0
"""What parts said is read no more often than this, for any number of viewers."""
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


class SitePage:
    """The routes of the page; `shared` is what every page shows around its content."""

    def __init__(
        self, state: Callable[[], SiteState], paths: Mapping[str, str], shared: dict[str, Any]
    ) -> None:
        """`paths`: the address of a survey's own page, where it has one."""
        self._state, self._paths, self._shared = state, paths, shared
        self._shown = Seldom(self._look)

    def routes(self) -> Sequence[Route]:
        """The routes."""
        return (Route("/", self.page), Route("/part", self.part))

    async def page(self, _: Request) -> Response:
        """The whole page."""
        html = render(
            "site.html",
            **self._shared,
            name=self._state().name,
            refresh=REFRESH_SECONDS,
            result=Markup(await self._shown.shown()),
        )
        return HTMLResponse(html)

    async def part(self, _: Request) -> Response:
        """The part that is updated."""
        return HTMLResponse(await self._shown.shown())

    def _look(self) -> str:
        return render("site_state.html", state=self._state(), paths=self._paths)
