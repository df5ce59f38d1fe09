"""The templates of the pages, and figures that a strict browser policy lets through."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from krand.report.pages import inline_figure

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page_figure", "render", "static"]

STYLE_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')
NOT_NEEDED = re.compile(r"<(style|metadata)\b.*?</\1>", re.DOTALL)
NAMES = re.compile(r'(\bid="|\bhref="#|url\(#)')


def render(template: str, **values: Any) -> str:
    """One of the pages' templates, filled in; everything is escaped unless it is markup."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("krand.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def static(name: str) -> bytes:
    """A file that pages load from us."""
    return files(__package__).joinpath("static", name).read_bytes()


def page_figure(svg: str, label: str, name: str) -> Markup:
    """An SVG document as a part of a page, without styles inside and with names of its own.

    Styles in a page are forbidden, so that nobody can bring their own: SVG has attributes for them.
    """
    element = NOT_NEEDED.sub("", str(inline_figure(svg, label)))
    element = STYLE_ATTRIBUTE.sub(_attributes, element)
    element = NAMES.sub(rf"\g<1>{name}-", element)
    lines = 'stroke-linejoin="round" stroke-linecap="butt"'  # what the style for all of it said
    return Markup(element.replace("<svg", f"<svg {lines}", 1))


def _attributes(style: re.Match[str]) -> str:
    pairs = (entry.split(":", 1) for entry in style[1].split(";") if ":" in entry)
    return "".join(f' {key.strip()}="{escape(value.strip())}"' for key, value in pairs)
