"""The same terminal for every test: width, colour and debugging do not come from outside."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 columns, so that text wraps alike everywhere (parallel test runners set COLUMNS)."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "KRAND_DEBUG"):
        monkeypatch.delenv(name, raising=False)
