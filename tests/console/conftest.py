"""The console of an empty folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from web.conftest import no_plans, opened

if TYPE_CHECKING:
    from starlette.testclient import TestClient


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The console of an empty folder."""
    monkeypatch.setattr("krand.console.app._ready", no_plans)
    monkeypatch.setattr("krand.console.running.Keeping.serve_all", lambda *_: None)
    with opened(tmp_path) as client:
        yield client
