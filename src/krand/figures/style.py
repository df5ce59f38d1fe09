"""The style of all figures: colours, sizes, axes, titles.

matplotlib is loaded only when a figure is drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ParamSpec

from krand.errors import MissingComponent
from krand.languages.speaking import language
from krand.wording.number_format import number_format

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's palette, for colour-blind readers; markers and dashes differ as well.
INK, PAPER, GRID = "#1c2128", "#ffffff", "#d5d9de"
BIT, RECORD, LOCAL, CURATOR = "#d55e00", "#0072b2", "#6e7781", "#009e73"
SERIES = (
    (RECORD, "o"),
    (BIT, "D"),
    (CURATOR, "^"),
    ("#cc79a7", "s"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
)
"""Colour and marker of each line of a figure that has several."""
FIGURE_COLORS = {
    "ink": INK,
    "paper": PAPER,
    "grid": GRID,
    "bit": BIT,
    "record": RECORD,
    "local": LOCAL,
    "curator": CURATOR,
}
"""The name of each colour, so that a page can replace it with its own."""

WIDTH = 4.8
"""Inches. If the figure is 360 pixels wide, ten points are ten pixels."""
SMALL = 9.0

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

Arguments = ParamSpec("Arguments")


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise MissingComponent before any long computation."""
    if not is_available():
        raise MissingComponent("matplotlib", "figures")


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Draw in krand's style, independent of the notebook's settings."""

    @functools.wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        with in_style():
            return draw(*args, **kwargs)

    return drawn


@contextmanager
def in_style() -> Iterator[None]:
    """krand's settings, with matplotlib's defaults for the rest; restored afterwards."""
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of this size in inches, with automatic layout."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot(facecolor=PAPER)


def draw_frame(axes: Axes, grid: str = "both") -> None:
    """Draw two spines and a faint grid, in explicit colours."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=SMALL)
    if grid != "none":
        axes.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]


def name_above(figure: Figure, title: str, columns: int = 1) -> None:
    """Put title and legend above the axes, so that they never cover a curve."""
    figure.legend(
        title=title,
        loc="outside upper left",
        ncols=columns,
        alignment="left",
        frameon=False,
        fontsize=SMALL,
        title_fontsize=SMALL,
        handlelength=2.2,
        labelspacing=0.3,
        borderpad=0.1,
        borderaxespad=0.3,
    )


def plain_ticks(axis: Axis, few_powers: bool) -> None:
    """Plain numbers on a logarithmic axis, with 1, 2 and 5 if there are few powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few_powers else (1.0,), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: plain(value))


def plain(value: float) -> str:
    """5,000 or 0.02, without exponents."""
    return number_format(language()).written(value, ",.0f" if value >= 1 else "g")
