"""What tests of commands share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from krand.planning.checking import verify_promise
from krand.planning.coalitions import coalitions_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise is not computed twice, where most tests are about one and the same plan."""
    for module in ("planning.checking", "analysis.actual_promise", "analysis.verification.plans"):
        monkeypatch.setattr(f"krand.{module}.verify_promise", _verify_promise)
    monkeypatch.setattr("krand.analysis.actual_promise.coalitions_of", _coalitions_of)


_verify_promise, _coalitions_of = cache(verify_promise), cache(coalitions_of)
