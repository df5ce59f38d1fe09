"""What tests of commands share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from krand.planning.making import promise_for


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise is not computed twice, where most tests are about one and the same plan."""
    for module in ("planning.making", "analysis.actual_promise"):
        monkeypatch.setattr(f"krand.{module}.promise_for", _promise_for)


_promise_for = cache(promise_for)
