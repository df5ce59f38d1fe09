"""The console as one application, and serving it in the loop of the party's worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp

from krand.console.folder import Surveys
from krand.console.pages import Backstage
from krand.console.published import Published
from krand.console.writing import Writing
from krand.errors import KrandError
from krand.site.running import Running
from krand.web.access import Address, new_token, serve_pages
from krand.web.app import application, shared_with
from krand.web.workers import PAGE_SECONDS, Desk, Workers


async def serve_console(
    running: Running, folder: Path | None, tell: Callable[[dict[str, Any]], None]
) -> None:
    """The surveys of a folder, or those of the site, until the task is cancelled."""
    surveys = Surveys(folder, running.site.surveys)
    token = new_token()

    def ready(host: str, port: int) -> ASGIApp:
        address = Address(host, port, token)
        tell({"event": "console", "url": address.entrance})
        return make_app(address, running, surveys)

    await serve_pages(running.site.console, ready)


def make_app(address: Address, running: Running, surveys: Surveys) -> ASGIApp:
    """The pages of a party."""
    workers, back, shared = Workers(), Backstage(running, surveys), shared_with()
    writing, published = Writing(back, Desk(workers), shared), Published(back, shared)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        first = asyncio.create_task(_ready(workers)) if surveys.path is not None else None
        yield
        if first is not None:
            first.cancel()
        await back.stop()
        await workers.stop()

    routes = [*writing.routes(), *published.routes()]
    return application(address, routes, shared, life, writing.free)


async def _ready(workers: Workers) -> None:
    """A process that has loaded what it needs, before the first page asks for numbers."""
    with suppress(KrandError):  # the first request for one reports the error
        await workers.run("ready", {}, PAGE_SECONDS)
