"""Figures: every label can be read, and a page gives them its colours."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from components import require
from krand import Linkage, Policy, ResponseFormat
from krand.accounting.frontier import Frontier, FrontierRow
from krand.figures.draw_frontier import frontier_figure
from krand.figures.plot import svg_document
from krand.report.pages import inline_figure

POLICY, BITS = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10_000_000), 40


def row(name: str, linkage: Linkage | None, copies: int, sigma: float, size: int) -> FrontierRow:
    guarantee = "certified" if linkage else "trusted curator" if "curator" in name else "local"
    return FrontierRow(
        name=name,
        linkage=linkage,
        copies=copies,
        noise=0.25,
        sigma=sigma,
        half_width_95=1.96 * sigma,
        messages=copies,
        bytes_per_user=size,
        guarantee=guarantee,
        best=linkage is Linkage.BIT,
    )


def frontier_of(copies: list[int]) -> Frontier:
    """A frontier made by hand: the pages are tested apart from the engine."""
    rows = [row("bits apart", Linkage.BIT, 1, 14.5, 2000)]
    rows += [row("record", Linkage.RECORD, k, 6500 / k**0.47, 53 * k) for k in copies]
    rows += [row("local <DP> & co", None, 1, 63_000, 53), row("the curator", None, 1, 14.1, 5)]
    return Frontier(POLICY, ResponseFormat(BITS), tuple(rows))


def frontier_svg() -> str:
    return svg_document(lambda: frontier_figure(frontier_of([1, 4])))


@pytest.mark.check
@pytest.mark.parametrize("copies", [[1, 2, 4, 16, 64, 256, 1024], list(range(1, 31))])
def test_labels_of_a_figure_never_cover_each_other(copies: list[int]) -> None:
    """Labels find a free place or are left out, however close the points lie."""
    require("matplotlib")
    figure = frontier_figure(frontier_of(copies))
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 8
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_every_kind_of_row_is_in_the_legend() -> None:
    """Bit, record, local and curator are told apart in words, not by colour alone."""
    require("matplotlib")
    legend = frontier_figure(frontier_of([1, 4])).axes[0].get_legend()
    labels = " / ".join(text.get_text() for text in legend.get_texts())
    for part in ("each bit separately", "whole record", "local differential privacy", "curator"):
        assert part in labels


def test_a_figure_is_the_same_file_every_time() -> None:
    """No date, no random identifiers: figures can be compared byte for byte."""
    require("matplotlib")
    assert frontier_svg() == frontier_svg()


def test_an_inlined_figure_takes_the_colours_of_the_page() -> None:
    """Light and dark pages recolour the figure: no colour of its own is left."""
    require("matplotlib")
    element = inline_figure(frontier_svg(), "σ versus data sent")
    assert element.startswith('<svg role="img" aria-label="')
    assert re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}", element) == []
