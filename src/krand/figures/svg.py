"""All figures, and any of them as an SVG document."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from krand.errors import MissingComponent
from krand.figures.copies import copies_figure
from krand.figures.density import density_figure
from krand.figures.estimates import estimates_figure
from krand.figures.frontier import frontier_figure
from krand.figures.plot import figure_bytes
from krand.figures.style import (
    BIT,
    CURATOR,
    FIGURE_COLORS,
    GRID,
    INK,
    LOCAL,
    PAPER,
    RECORD,
    in_style,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from krand.accounting.frontier import Frontier

__all__ = [
    "BIT",
    "CURATOR",
    "FIGURE_COLORS",
    "GRID",
    "INK",
    "LOCAL",
    "PAPER",
    "RECORD",
    "copies_figure",
    "density_figure",
    "estimates_figure",
    "frontier_figure",
    "frontier_svg",
    "is_available",
    "require_matplotlib",
    "svg_document",
]


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise MissingComponent before any long computation."""
    if not is_available():
        raise MissingComponent("matplotlib", "plots")


def svg_document(draw: Callable[[], Figure]) -> str:
    """The figure as an SVG document in krand's style: the same bytes every time."""
    require_matplotlib()
    with in_style():
        return figure_bytes(draw(), "svg").decode()


def frontier_svg(frontier: Frontier) -> str:
    """σ versus bytes per person, both logarithmic, as an SVG document."""
    return svg_document(lambda: frontier_figure(frontier))
