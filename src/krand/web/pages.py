"""The page templates and static files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from krand.report.pages import render as fill


def render(template: str, **values: Any) -> str:
    """A template of the pages, filled in; everything is escaped unless it is markup."""
    return fill(template, room=__package__, **values)


@cache
def static(name: str) -> bytes:
    """A static file."""
    return files(__package__).joinpath("static", name).read_bytes()
