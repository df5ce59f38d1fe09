"""Spools are made by fixtures of whole modules, so their keys must outlive a single test."""

from __future__ import annotations

import pytest

from conftest import STATE


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder of state for all tests of the collector."""
    monkeypatch.setenv("XDG_STATE_HOME", str(STATE / "session"))
