"""Plans whose promise was computed anew and holds, remembered by hash.

In this process, and for the next one as empty files in the user's cache directory, apart for every
release of krand. Without a cache that can be used, promises are computed again: nothing else.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from krand import __version__

__all__ = ["is_remembered", "remember", "remember_here"]

_HERE: set[str] = set()


def is_remembered(plan_hash: str) -> bool:
    """Whether the promise of this plan was found to hold."""
    if plan_hash in _HERE:
        return True
    with suppress(OSError, RuntimeError):
        if _file(plan_hash).is_file():
            _HERE.add(plan_hash)
    return plan_hash in _HERE


def remember_here(plan_hash: str) -> None:
    """For this process alone."""
    _HERE.add(plan_hash)


def remember(plan_hash: str) -> None:
    """For the user's next commands too, if there is a place that can be written to."""
    remember_here(plan_hash)
    with suppress(OSError, RuntimeError):
        path = _file(plan_hash)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # not through a link


def _file(plan_hash: str) -> Path:
    """Its existence is all that it says; RuntimeError where the user has no home."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = given if given.is_absolute() else Path.home() / ".cache"
    return cache / "krand" / "promises" / __version__ / plan_hash
