"""The console of a folder, over HTTP in this process, for whoever has the token.

Nothing is started beside it: what plans is a process of its own, and begins only where a test
enters the client (`with console:`). The party's worker is there, and does not run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from components import require

if TYPE_CHECKING:
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8090"
TOKEN = "t0ken-" + "a" * 40
COOKIE = "krand-token-8090"


def console_of(folder: Path, **options: Any) -> TestClient:
    """A browser at the pages of this folder."""
    for component in ("starlette", "uvicorn", "httpx2"):
        require(component)
    from starlette.testclient import TestClient

    # No public name makes the pages without a process: `krand run` serves until it is stopped.
    from krand.console import app
    from krand.console import folder as files
    from krand.site.running import Running, site_of_folder
    from krand.web.access import Address

    running = Running(site_of_folder(folder), lambda event: None)
    address = Address("127.0.0.1", 8090, TOKEN)
    client = TestClient(app.make_app(address, running, files.Surveys(folder)), BASE, **options)
    client.cookies.set(COOKIE, TOKEN)
    return client
