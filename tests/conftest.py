"""Shared settings of the tests."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from covering import SELECTION, left_out
from effort import CHECK, LONG
from timing import Costs

if find_spec("hypothesis") is not None:  # absent from the oracles' own environment
    from hypothesis import settings

    # No test asserts a duration: a slow machine is not a failure.
    examples = 100 if LONG else 50 if CHECK else 25
    settings.register_profile("krand", deadline=None, print_blob=True, max_examples=examples)
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
    """What this command runs; files with slow tests come first, that none is waited for."""
    gone = set(left_out(items, config.args))
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    items[:] = [item for item in items if item not in gone]
    config.stash[SELECTION] = list(items), list(gone)
    marks = ("slow", "check", "loop", "long")
    slow = Counter(item.path for item in items if any(map(item.get_closest_marker, marks)))
    items.sort(key=lambda item: -slow[item.path])


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
