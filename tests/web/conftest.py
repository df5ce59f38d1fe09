"""Pages for tests, as `krand web` starts them, for whoever has the token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from components import require

if TYPE_CHECKING:
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8090"
TOKEN = "t0ken-" + "a" * 40
COOKIE = "krand-token-8090"


async def no_plans(_: object) -> None:
    """Instead of what plans."""


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[TestClient]:
    """The pages of this folder."""
    for component in ("starlette", "uvicorn", "httpx2"):
        require(component)
    from starlette.testclient import TestClient

    from krand.console.app import make_app
    from krand.web.access import Address

    app = make_app(Address("127.0.0.1", 8090, TOKEN), folder)
    with TestClient(app, base_url=BASE, **options) as client:
        client.cookies.set(COOKIE, TOKEN)
        yield client


@pytest.fixture(scope="session")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The pages of an empty folder: one for all of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("QUICK", "PAGE", "WAIT"):  # a slow machine is not a failure
            patch.setattr(f"krand.web.workers.{name}_SECONDS", 600.0)
        with opened(tmp_path_factory.mktemp("surveys"), raise_server_exceptions=False) as client:
            yield client
