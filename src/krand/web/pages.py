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
    """A static file; the map of trust has its script beside the form's, its style from reports."""
    room = "krand.web.form" if name == "trust.js" else __package__
    own = files(room).joinpath("static", name).read_bytes()
    shared = files("krand.report").joinpath("templates", "trust_map.css")
    return own + shared.read_bytes() if name.endswith(".css") else own
