"""The console of an empty folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from components import require

if TYPE_CHECKING:
    from starlette.testclient import TestClient

TOKEN = "t0ken-" + "a" * 40
COOKIE = "krand-token-8090"
BASE = "http://127.0.0.1:8090"


async def _nothing(_: object) -> None:
    """These tests do not plan."""


@contextmanager
def opened(folder: Path) -> Iterator[TestClient]:
    """A console of this folder, for somebody who has the token."""
    from starlette.testclient import TestClient

    from krand.console.app import make_app
    from krand.web.access import Address

    app = make_app(Address("127.0.0.1", 8090, TOKEN), folder)
    with TestClient(app, base_url=BASE, follow_redirects=True) as client:
        client.cookies.set(COOKIE, TOKEN)
        yield client


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The console of an empty folder."""
    for component in ("starlette", "uvicorn", "httpx2"):
        require(component)
    monkeypatch.setattr("krand.console.app._ready", _nothing)
    monkeypatch.setattr("krand.console.running.Keeping.serve_all", lambda *_: None)
    with opened(tmp_path) as client:
        yield client
