"""Shared settings of the tests."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from effort import EFFORT
from golden import golden, pytest_addoption

__all__ = ["golden", "pytest_addoption"]

if find_spec("hypothesis") is not None:  # absent from the oracles' own environment
    from hypothesis import settings

    # No test asserts a duration: a slow machine is not a failure.
    settings.register_profile("krand", deadline=None, print_blob=True, max_examples=25 * EFFORT)
    settings.load_profile("krand")

# What krand keeps for its user is kept here, and each test begins without any.
STATE = Path(tempfile.mkdtemp(prefix="krand-state-"))
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = str(STATE / "session")
if "PYTEST_XDIST_WORKER" not in os.environ:  # what is made once: workers inherit the name
    os.environ["KRAND_TEST_SESSION"] = str(STATE / "once")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without effort nothing of the night runs, unless it is named."""
    named = tuple(name for name in config.args if "::" in name)
    if EFFORT > 1:
        return
    left = [
        item
        for item in items
        if item.get_closest_marker("nightly") and not item.nodeid.startswith(named)
    ]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


# Containers often forbid bytecode: then every worker would compile all tests anew, and every
# process that a test starts krand.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests run side by side: threads of a product of matrices would only wait for each other, busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell lets its background jobs ignore Ctrl-C and Ctrl-\, and whatever they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


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
