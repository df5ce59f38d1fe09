"""The style of the drafts' pictures, and how they become SVG: colours, letters, the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, for colour-blind readers; markers and dashes differ as well.
INK, PAPER, GRID = "#1c2128", "#ffffff", "#d5d9de"
BIT, RECORD, LOCAL, CURATOR = "#d55e00", "#0072b2", "#6e7781", "#009e73"
COLORS = {
    "ink": INK,
    "paper": PAPER,
    "grid": GRID,
    "bit": BIT,
    "record": RECORD,
    "local": LOCAL,
    "curator": CURATOR,
}
"""The name of each colour, so that a page can replace it with its own."""

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "svg.hashsalt": "krand",  # the same numbers give the same file, byte for byte
    "svg.fonttype": "path",  # readable if the font is missing
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
NOTHING = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""What matplotlib would write about itself and the time."""


@contextmanager
def _in_style() -> Iterator[None]:
    """These settings, with matplotlib's defaults for the rest; restored afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def svg_document(draw: Callable[[], Figure]) -> str:
    """A figure as an SVG document: the same bytes every time."""
    buffer = io.BytesIO()
    with _in_style():
        draw().savefig(buffer, format="svg", metadata=NOTHING, facecolor=PAPER, dpi="figure")
    return buffer.getvalue().decode()


def inline_figure(svg: str, label: str) -> Markup:
    """An SVG document as an element of a page, in the page's own colours, with words for it."""
    element = svg[svg.index("<svg") :]
    for name, color in COLORS.items():
        element = re.sub(re.escape(color), f"var(--{name})", element, flags=re.IGNORECASE)
    return Markup(element.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1))
