"""The console as one application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import ASGIApp

from krand.console.folder import Surveys
from krand.console.mailing import Mailing
from krand.console.published import Published
from krand.console.running import Keeping
from krand.console.writing import Writing
from krand.errors import KrandError
from krand.web.access import Address
from krand.web.app import application, shared_with
from krand.web.workers import PAGE_SECONDS, Desk, Workers


def make_app(address: Address, folder: Path) -> ASGIApp:
    """The surveys of a folder."""
    workers = Workers()
    shared = shared_with("krand web")
    desk, surveys, keeping = Desk(workers), Surveys(folder), Keeping()
    writing = Writing(surveys, desk, keeping, shared)
    published = Published(surveys.place, keeping, shared)
    mailing = Mailing(surveys.place, keeping, shared)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(keeping.serve_all, surveys.places())
        first = asyncio.create_task(_ready(workers))
        yield
        first.cancel()
        await workers.stop()

    routes = [*writing.routes(), *published.routes(), *mailing.routes()]
    return application(address, routes, shared, life, writing.free)


async def _ready(workers: Workers) -> None:
    """A process that has loaded what it needs, before the first page asks for numbers."""
    with suppress(KrandError):  # the first request for one reports the error
        await workers.run("ready", {}, PAGE_SECONDS)
