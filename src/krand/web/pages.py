"""The page templates, and figures that comply with a strict content security policy."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from krand.report.pages import inline_figure
from krand.showing import unbroken_html

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page_figure", "render", "static"]

STYLE_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')
NOT_NEEDED = re.compile(r"<(style|metadata)\b.*?</\1>", re.DOTALL)
NAMES = re.compile(r'(\bid="|\bhref="#|url\(#)')


def render(template: str, **values: Any) -> str:
    """A rendered template; everything is escaped unless it is markup."""
    return unbroken_html(_environment().get_template(template).render(**values))


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
    """A static file of the pages."""
    return files(__package__).joinpath("static", name).read_bytes()


def page_figure(svg: str, label: str, name: str) -> Markup:
    """An SVG document as part of a page, without inline styles and with unique names.

    The content security policy forbids inline styles, so they become SVG attributes.
    """
    element = NOT_NEEDED.sub("", str(inline_figure(svg, label)))
    element = STYLE_ATTRIBUTE.sub(_attributes, element)
    element = NAMES.sub(rf"\g<1>{name}-", element)
    lines = 'stroke-linejoin="round" stroke-linecap="butt"'  # of the whole document
    return Markup(element.replace("<svg", f"<svg {lines}", 1))


def _attributes(style: re.Match[str]) -> str:
    pairs = (entry.split(":", 1) for entry in style[1].split(";") if ":" in entry)
    return "".join(f' {key.strip()}="{escape(value.strip())}"' for key, value in pairs)
