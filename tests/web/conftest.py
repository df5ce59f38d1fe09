"""Pages for tests: one planner for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from components import require

if TYPE_CHECKING:
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8090"


@pytest.fixture(scope="session")
def planner() -> Iterator[TestClient]:
    """The planner alone, as `krand web` starts it."""
    require("starlette")
    require("uvicorn")
    require("httpx2")
    from starlette.testclient import TestClient

    from krand.web.access import Address
    from krand.web.app import make_app
    from krand.web.planner import SECONDS

    app = make_app(Address("127.0.0.1", 8090))
    with pytest.MonkeyPatch.context() as patch:
        for task in SECONDS:  # a slow machine is not a failure
            patch.setitem(SECONDS, task, 600.0)
        patch.setattr("krand.web.planner.PAGE_SECONDS", 600.0)
        patch.setattr("krand.web.workers.WAIT_SECONDS", 600.0)
        with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
            yield client
