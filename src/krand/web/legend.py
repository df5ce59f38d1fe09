"""A figure's legend as part of a page: below the figure, in letters as large as any others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from krand.figures.style import FIGURE_COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Legend", "legend_of"]

POWER = re.compile(r"e\^\{([^}]*)\}")


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
