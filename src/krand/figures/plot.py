"""A figure that a notebook shows by itself, and that can be saved."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.figures.style import PAPER, in_style
from krand.files import write_atomically
from krand.showing import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")
DOTS_PER_INCH = 200
"""Of PNG files; the other forms have no dots."""
NOTHING = {
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
    "png": {"Software": None},
    "pdf": dict.fromkeys(("Creator", "Producer", "CreationDate")),
}
"""What matplotlib would write about itself and the time: the same figure is the same file."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plot:
    """A figure: Jupyter shows it, `save` writes it, `figure` is matplotlib's own.

    >>> from krand import Policy, ResponseFormat, plan_noise, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plot = figures.density(plan_noise(policy, ResponseFormat(bits=4)))
    >>> plot.save("density.png")
    >>> plot
    <Plot: Privacy ratio R of one person's answers>
    """

    figure: Figure
    """matplotlib's figure, for those who want to change it; no state of pyplot is touched."""
    title: str

    def save(self, path: str | Path) -> None:
        """Write the figure; the ending decides: .svg, .png or .pdf."""
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            hint = "vectors for documents: .svg and .pdf; pixels for slides and chats: .png"
            raise InvalidInput("path", f"must end in {' or '.join(ENDINGS)}", str(path), hint)
        content = figure_bytes(self.figure, ending.removeprefix("."), self.title)
        write_atomically("path", Path(path), content)

    def _repr_svg_(self) -> str:
        return figure_bytes(self.figure, "svg", self.title).decode()

    def __repr__(self) -> str:
        return one_line("Plot", self.title)


def figure_bytes(figure: Figure, form: str, title: str = "") -> bytes:
    """The figure as a file in krand's style, on white: the same bytes every time.

    Screen readers say the title of an SVG.
    """
    buffer = io.BytesIO()
    about = {**NOTHING[form], **({"Title": title} if title else {})}
    dots = DOTS_PER_INCH if form == "png" else "figure"
    with in_style():
        figure.savefig(buffer, format=form, metadata=about, facecolor=PAPER, dpi=dots)
    return buffer.getvalue()


def svg_document(draw: Callable[[], Figure]) -> str:
    """A figure, drawn in krand's style, as an SVG document: the same bytes every time."""
    with in_style():
        return figure_bytes(draw(), "svg").decode()
