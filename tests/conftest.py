"""Shared settings of the tests."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from sampling import beyond_the_sample
from timing import DURATIONS, Costs, slowest_files

if find_spec("hypothesis") is not None:  # absent from the oracles' own environment
    from hypothesis import settings

    # No test asserts a duration: a slow machine is not a failure.
    few = 100 if os.environ.get("KRAND_LONG") == "1" else 50
    settings.register_profile("krand", deadline=None, print_blob=True, max_examples=few)
    settings.load_profile("krand")

# What krand keeps for its user is kept here, and each test begins without any.
STATE = Path(tempfile.mkdtemp(prefix="krand-state-"))
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = str(STATE / "session")


def pytest_configure(config: pytest.Config) -> None:
    """Write what each test costs where `make durations` wants it."""
    if "KRAND_DURATIONS" in os.environ:
        config.pluginmanager.register(Costs(Path(os.environ["KRAND_DURATIONS"]).absolute()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A sample where variants take long; then files with the slowest tests come first."""
    if os.environ.get("KRAND_LONG") != "1":
        left_out = beyond_the_sample(items)
        config.hook.pytest_deselected(items=left_out)
        names = {item.nodeid for item in left_out}
        items[:] = [item for item in items if item.nodeid not in names]
    seconds = slowest_files(DURATIONS.read_text(encoding="utf-8"))
    items.sort(key=lambda item: -seconds[item.nodeid.partition("::")[0]])


# Containers often forbid bytecode: then every process that a test starts would compile krand anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets its background jobs ignore Ctrl-C, and whatever they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what another one has randomized."""
    monkeypatch.setenv("XDG_STATE_HOME", str(STATE / uuid4().hex))


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 columns, so that text wraps alike everywhere (parallel test runners set COLUMNS)."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "KRAND_DEBUG"):
        monkeypatch.delenv(name, raising=False)
