"""Figures and pages stand alone and show every row."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest

from components import require
from krand import Linkage, Policy, Reports, plan_noise
from krand.present import plots
from krand.present.demo import BITS, POLICY, Demonstration, Headline, write
from krand.present.pages import inline_figure
from krand.present.report import FIGURE_LABEL, planner_report
from krand.privacy.frontier import Frontier, FrontierRow


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
    return Frontier(POLICY, Reports(BITS), tuple(rows))


@pytest.fixture(scope="module")
def demonstration() -> Demonstration:
    policy = Policy(epsilon=2.0, delta=1e-4, population=10_000)
    plan = plan_noise(policy, Reports(3))
    return Demonstration((Headline("every <bit>", plan, 10.0),), frontier_of([1, 4, 16]))


@pytest.mark.parametrize("copies", [[1, 2, 4, 16, 64, 256, 1024], list(range(1, 31))])
def test_labels_of_a_figure_never_cover_each_other(copies: list[int]) -> None:
    """Labels find a free place or are left out, however close the points lie."""
    require("matplotlib")
    figure = plots.frontier_figure(frontier_of(copies))
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 8
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_every_kind_of_row_is_in_the_legend() -> None:
    """Bit, record, local and curator are told apart in words, not by colour alone."""
    require("matplotlib")
    legend = plots.frontier_figure(frontier_of([1, 4])).axes[0].get_legend()
    assert legend is not None
    labels = " / ".join(text.get_text() for text in legend.get_texts())
    for part in ("every bit alone", "whole record", "local differential privacy", "curator"):
        assert part in labels


def test_a_figure_is_the_same_file_every_time() -> None:
    """No date, no random identifiers: figures can be compared byte for byte."""
    require("matplotlib")
    assert plots.frontier_svg(frontier_of([1, 4])) == plots.frontier_svg(frontier_of([1, 4]))


def test_an_inlined_figure_takes_the_colours_of_the_page() -> None:
    """Light and dark pages recolour the figure: no colour of its own is left."""
    require("matplotlib")
    element = inline_figure(plots.frontier_svg(frontier_of([1, 4])), FIGURE_LABEL)
    assert element.startswith('<svg role="img" aria-label="')
    assert re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}", element) == []


class Reader(HTMLParser):
    """Collects what a browser would load, and checks that elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#"):
                self.loads.append(value)
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_needs_nothing_but_itself(demonstration: Demonstration) -> None:
    """No script, no request to anywhere; well-formed; every row and headline is in it."""
    svg = plots.frontier_svg(demonstration.frontier) if plots.is_available() else None
    page = planner_report(demonstration, svg)
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert reader.loads == []
    assert "<script" not in page
    assert "url(http" not in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    for entry in demonstration.frontier.rows:
        assert entry.name in reader.text
    assert "every <bit>" in reader.text
    assert "e^2 ≈ 7.389" in reader.text


def test_the_demonstration_is_written_with_and_without_a_figure(
    demonstration: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Report and numbers always; the figure where matplotlib is installed."""
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    written = write(demonstration, tmp_path / "without")
    assert set(written) == {"report", "numbers"}
    assert "matplotlib is not installed" in written["report"].read_text(encoding="utf-8")
    numbers = json.loads(written["numbers"].read_text(encoding="utf-8"))
    assert len(numbers["rows"]) == len(demonstration.frontier.rows)
    monkeypatch.undo()
    require("matplotlib")
    written = write(demonstration, tmp_path / "with")
    assert set(written) == {"report", "numbers", "figure"}
    assert all(path.parent == tmp_path / "with" and path.exists() for path in written.values())
