"""The page templates, and figures that comply with a strict content security policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from krand.figures.style import FIGURE_COLORS
from krand.report.pages import inline_figure
from krand.report.pages import render as fill

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')
NOT_NEEDED = re.compile(r"<(style|metadata)\b.*?</\1>", re.DOTALL)
POWER = re.compile(r"e\^\{([^}]*)\}")
NAMES = re.compile(r'(\bid="|\bhref="#|url\(#)')


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


@dataclass(frozen=True, slots=True)
class Legend:
    """A title, and for each entry the name of its colour and its text."""

    title: str
    entries: tuple[tuple[str, Markup], ...]


def legend_of(figure: Figure) -> Legend:
    """Take the legend out of a figure, whose axes then have all the room."""
    from matplotlib.colors import to_hex

    (legend,) = figure.legends
    names = {color: name for name, color in FIGURE_COLORS.items()}
    entries = []
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        assert handle is not None
        drawn = handle.get_color() if hasattr(handle, "get_color") else handle.get_facecolor()  # type: ignore[attr-defined]
        entries.append((names.get(to_hex(drawn), "ink"), _markup(text.get_text())))
    legend.remove()
    return Legend(legend.get_title().get_text(), tuple(entries))


def _markup(text: str) -> Markup:
    """Formulas as HTML: e^{2} becomes a power."""
    return Markup(POWER.sub(r"e<sup>\1</sup>", str(escape(text.replace("$", "")))))
