"""The console of a folder, over HTTP in this process, for whoever has the token.

Nothing is started beside it: what plans and what runs a survey are processes of their own, and
begin only where a test enters the client (`with console:`).
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


def console_of(folder: Path, host: str = "127.0.0.1", **options: Any) -> TestClient:
    """A browser at the pages of this folder."""
    for component in ("starlette", "uvicorn", "httpx2"):
        require(component)
    from starlette.testclient import TestClient

    # No public name makes the pages without a process: `krand web` serves until it is stopped.
    from krand.console.app import make_app
    from krand.web.access import Address

    client = TestClient(make_app(Address(host, 8090, TOKEN), folder), BASE, **options)
    client.cookies.set(COOKIE, TOKEN)
    return client
