"""What tests of commands share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from krand.planning.checking import verify_promises


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise is not computed twice, where most tests are about one and the same plan."""
    for module in ("planning.checking", "analysis.actual_promise"):
        monkeypatch.setattr(f"krand.{module}.verify_promises", _verify_promises)


_verify_promises = cache(verify_promises)
