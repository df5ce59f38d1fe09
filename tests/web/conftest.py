"""Pages for tests: one console for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from components import require

if TYPE_CHECKING:
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8090"
TOKEN = "t0ken-" + "a" * 40
COOKIE = "krand-token-8090"


@pytest.fixture(scope="session")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The pages of an empty folder, as `krand web` starts them, for whoever has the token."""
    require("starlette")
    require("uvicorn")
    require("httpx2")
    from starlette.testclient import TestClient

    from krand.console.app import make_app
    from krand.web.access import Address

    app = make_app(Address("127.0.0.1", 8090, TOKEN), tmp_path_factory.mktemp("surveys"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("QUICK", "PAGE", "WAIT"):  # a slow machine is not a failure
            patch.setattr(f"krand.web.workers.{name}_SECONDS", 600.0)
        with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
            client.cookies.set(COOKIE, TOKEN)
            yield client
