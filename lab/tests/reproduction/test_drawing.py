"""Any picture becomes a figure that can be read, alone or among others on one page."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from krand_lab.reproduction.drawing import ROLES, element, figure, spoken, svg
from krand_lab.reproduction.entries import Mark, Picture, Section, Series

CURVES = Picture(
    key="001-1-curves",
    section=Section.RATIO,
    source="001 §1",
    title='Curves & "points", λ < 2',
    draft_shows="",
    caption="",
    x_label="copies, $k$",
    y_label="noise, $q$",
    series=(
        Series("drawn", "draft", (1.0, 10.0, 200.0), (0.1, 0.2, 0.4)),
        Series("drawn as well", "draft", (1.0, 10.0, 200.0), (0.2, 0.3, 0.5)),
        Series("right $\\sqrt{pq}$", "right", (1.0, 200.0), (0.3, 0.6), (0.2, 0.5), (0.4, 0.7)),
        Series("limit", "limit", (1.0, 200.0), (0.9, 0.8)),
        Series("a point", "draft", (5.0,), (0.5,)),
    ),
    marks=(
        Mark("λ", 2.0),
        Mark("level", 0.3, vertical=False),
        Mark("third", 50.0),
        Mark("fourth", 100.0),
    ),
    log_x=True,
    log_y=True,
)
INTERVALS = replace(
    CURVES,
    key="001-1-intervals",
    series=(
        Series("$S$, printed: [1, 9]", "draft", (0.0,), (5.0,), (1.0,), (9.0,)),
        Series("$S$, right: [4, 6]", "right", (0.0,), (5.0,), (4.0,), (6.0,)),
    ),
    marks=(Mark("a value", 7.0, vertical=False),),
    log_x=False,
    log_y=False,
    intervals=True,
)
BOTH = pytest.mark.parametrize("picture", [CURVES, INTERVALS], ids=lambda p: p.key)


@BOTH
def test_a_drawing_is_the_same_file_every_time(picture: Picture) -> None:
    """Equal data, equal bytes."""
    assert svg(picture) == svg(picture)


def test_inlined_drawings_share_no_identifier() -> None:
    """Each drawing finds its own definitions, and only those."""
    pages = [svg(CURVES), svg(INTERVALS), svg(replace(CURVES, key="001-2"))]
    names = [re.findall(r'\bid="([^"]+)"', page) for page in pages]
    for page, own in zip(pages, names, strict=True):
        assert len(own) == len(set(own)) > 10
        used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page))
        assert used
        assert {a or b for a, b in used} <= set(own)
    for a, b in combinations(names, 2):
        assert not set(a) & set(b)


@BOTH
def test_an_inlined_drawing_takes_the_colours_of_the_page_and_has_words(picture: Picture) -> None:
    """No colour of its own is left; the title is read aloud, escaped."""
    inlined = element(picture)
    assert re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}", inlined) == []
    assert inlined.startswith('<svg role="img" aria-label="Figure: Curves &amp; &#34;points&#34;')
    assert inlined.count("aria-label") == 1
    assert "001 §1" in spoken(picture)


@BOTH
def test_text_is_drawn_as_paths(picture: Picture) -> None:
    """The figure needs no font."""
    assert "<text" not in svg(picture)
    assert "font-family" not in svg(picture)


@BOTH
def test_nothing_is_cut_off_and_names_never_cover_the_curves(picture: Picture) -> None:
    """All that is drawn lies inside the drawing, and the legend above the axes."""
    drawn = figure(picture)
    drawn.draw_without_rendering()
    (axes,), (legend,) = drawn.axes, drawn.legends
    inside, (width, height) = drawn.get_tightbbox(), drawn.get_size_inches()
    assert inside.x0 >= 0 <= inside.y0
    assert inside.x1 <= width
    assert inside.y1 <= height
    assert legend.get_window_extent().y0 >= axes.bbox.y1 - 1


def test_every_curve_and_mark_is_named_and_differs_in_more_than_colour() -> None:
    """Curves of one role differ in dashes and markers; the fourth mark is drawn too."""
    drawn = figure(CURVES)
    (axes,), (legend,) = drawn.axes, drawn.legends
    expected = [series.label for series in CURVES.series] + [mark.label for mark in CURVES.marks]
    assert [text.get_text() for text in legend.get_texts()] == expected
    curves = axes.lines[:4]
    looks = {(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in curves}
    assert len(looks) == 4
    assert len({(look[1], look[2]) for look in looks}) == 4
    assert axes.lines[4].get_linestyle() == "None"


def test_uncertainty_is_drawn() -> None:
    """A series with ends gets a bar at each point, from the lower to the upper end."""
    (bars,) = figure(CURVES).axes[0].collections
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[0.2, 0.4], [0.5, 0.7]]


def test_intervals_lie_in_rows_with_their_names() -> None:
    """One row each, the first on top; a level of y becomes a vertical line."""
    axes = figure(INTERVALS).axes[0]
    assert [text.get_text() for text in axes.texts] == [s.label for s in INTERVALS.series]
    rows = [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() != "None"]
    assert rows[0] > rows[2]
    assert list(axes.lines[0].get_xdata()) == [1.0, 9.0]
    assert list(axes.lines[-1].get_xdata()) == [7.0, 7.0]


def test_logarithmic_axes_show_plain_numbers() -> None:
    """1, 2, 5 and their multiples on a short axis, powers of ten on a long one."""
    drawn = figure(CURVES)
    drawn.draw_without_rendering()
    labels = {text.get_text() for text in drawn.axes[0].get_xticklabels()}
    assert {"1", "2", "5", "10", "20", "50", "100", "200"} <= labels
    long = Series("long", "right", (1.0, 2.0), (1e-8, 1.0))
    drawn = figure(replace(CURVES, series=(long,)))
    drawn.draw_without_rendering()
    labels = {text.get_text() for text in drawn.axes[0].get_yticklabels()}
    assert {"$10^{-8}$", "0.001", "1"} <= labels


def test_an_unknown_role_is_refused() -> None:
    """Colours mean something, so a misspelt role is an error and not a default."""
    wrong = replace(CURVES.series[0], role="rihgt")
    assert wrong.role not in ROLES
    with pytest.raises(KeyError):
        figure(replace(CURVES, series=(wrong,)))
