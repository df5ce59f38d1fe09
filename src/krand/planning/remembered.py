"""Remembers plans whose promise has been checked, by their hash without a key.

The promise does not depend on the key that messages are sealed for.

They are remembered in this process, and for later ones as empty files in the user's cache folder,
separately for each version of krand. Without a usable cache, promises are only checked again.
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
    """Whether the promise of this plan has been checked."""
    name = _name(plan)
    if name in _HERE:
        return True
    with suppress(OSError, RuntimeError):
        if _file(name).is_file():
            _HERE.add(name)
    return name in _HERE


def remember_here(plan: Plan) -> None:
    """Remember it in this process only."""
    _HERE.add(_name(plan))


def remember(plan: Plan) -> None:
    """Remember it for the user's next commands too, if the cache is writable."""
    remember_here(plan)
    with suppress(OSError, RuntimeError):
        path = _file(_name(plan))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # follows no link


def _name(plan: Plan) -> str:
    return plan.hash if plan.analyst_key is None else replace(plan, analyst_key=None).hash


def _file(name: str) -> Path:
    """Only its existence matters; RuntimeError if the user has no home folder."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = given if given.is_absolute() else Path.home() / ".cache"
    return cache / "krand" / "promises" / __version__ / name
