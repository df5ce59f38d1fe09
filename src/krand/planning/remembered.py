"""Plans whose promise was computed anew and holds, remembered by their hash without a key.

No promise depends on the key that messages are sealed for.

In this process, and for the next one as empty files in the user's cache directory, apart for every
release of krand. Without a cache that can be used, promises are computed again: nothing else.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from krand import __version__
from krand.survey.plan import Plan

__all__ = ["is_remembered", "remember", "remember_here"]

_HERE: set[str] = set()


def is_remembered(plan: Plan) -> bool:
    """Whether the promise of this plan was found to hold."""
    name = _name(plan)
    if name in _HERE:
        return True
    with suppress(OSError, RuntimeError):
        if _file(name).is_file():
            _HERE.add(name)
    return name in _HERE


def remember_here(plan: Plan) -> None:
    """For this process alone."""
    _HERE.add(_name(plan))


def remember(plan: Plan) -> None:
    """For the user's next commands too, if there is a place that can be written to."""
    remember_here(plan)
    with suppress(OSError, RuntimeError):
        path = _file(_name(plan))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # not through a link


def _name(plan: Plan) -> str:
    return plan.hash if plan.analyst_key is None else replace(plan, analyst_key=None).hash


def _file(name: str) -> Path:
    """Its existence is all that it says; RuntimeError where the user has no home."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = given if given.is_absolute() else Path.home() / ".cache"
    return cache / "krand" / "promises" / __version__ / name
