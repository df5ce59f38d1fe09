"""Spools are made by fixtures of whole modules, so their keys must outlive a single test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.lives import Nursery, nursery
from conftest import STATE


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder of state for all tests of the collector."""
    monkeypatch.setenv("XDG_STATE_HOME", str(STATE / "session"))


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where lives write what they have to say."""
    return tmp_path_factory.mktemp("lives") / "errors"


@pytest.fixture(scope="module")
def home(errors: Path) -> Iterator[Nursery]:
    """Where collectors begin that are there to be killed."""
    with nursery(errors) as made:
        yield made
