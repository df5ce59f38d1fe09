"""The dot chart: dots are where their values are, and text is text."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from krand.demo.dots import DARK, LIGHT, Dot, LogScale, dot_chart, dot_document

DOTS = [
    Dot(name="a <b>", aside="trusted: nobody", value=20.0, label="± 20", color="bit", strong=True),
    Dot(name="c", aside="trusted: c", value=2_000.0, label="± 2,000", color="record"),
    Dot(name="d", aside="trusted: d", value=None, label="not run", color="local"),
]


@pytest.mark.parametrize(
    ("values", "ends", "ticks"),
    [
        ((34.0, 10_535.0), (20, 20_000), [100, 1_000, 10_000]),
        ((20.0, 80.0), (20, 100), [20, 50, 100]),
        ((0.3, 0.3), (0.2, 0.5), [0.2, 0.5]),
        ((1.0, 1_000.0), (1, 2_000), [1, 10, 100, 1_000]),
    ],
)
def test_a_scale_ends_at_round_numbers(
    values: tuple[float, float], ends: tuple[float, float], ticks: list[float]
) -> None:
    """It has at least two lines with numbers, and only powers of ten if there are several."""
    scale = LogScale.around(values)
    assert (scale.low, scale.high) == ends
    assert scale.ticks() == ticks


def test_equal_ratios_are_equal_distances() -> None:
    """Everything is inside the drawing."""
    scale = LogScale.around([3.0, 4_000.0])
    places = [scale.place(value) for value in (4.0, 40.0, 400.0, 4_000.0)]
    steps = [after - before for before, after in itertools.pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.11)
    assert places[0] > 0
    assert places[-1] < 100


def test_each_value_is_one_dot_at_its_place() -> None:
    """A row without a value has words alone; a label is on the side where there is room."""
    chart = ElementTree.fromstring(str(dot_chart(DOTS, "people")))
    scale = LogScale.around([20.0, 2_000.0])
    circles = [circle.attrib for circle in chart.iter("circle")]
    assert [circle["cx"] for circle in circles] == [
        f"{scale.place(20.0)}%",
        f"{scale.place(2_000.0)}%",
    ]
    assert [circle["fill"] for circle in circles] == ["var(--bit)", "var(--record)"]
    assert float(circles[0]["r"]) > float(circles[1]["r"])
    sides = {text.text: text.get("text-anchor") for text in chart.iter("text")}
    assert (sides["± 20"], sides["± 2,000"]) == ("start", "end")
    assert "not run" in sides


def test_the_chart_is_said_in_words() -> None:
    """For people who do not see it; names are text, whatever they contain."""
    chart = ElementTree.fromstring(str(dot_chart(DOTS, "people")))
    assert chart.attrib["aria-label"] == (
        "people. a <b> (trusted: nobody): ± 20; c (trusted: c): ± 2,000; d (trusted: d): not run."
    )


def test_a_document_has_every_colour_it_uses() -> None:
    """Light and dark; a page brings its own."""
    document = dot_document(DOTS, "people")
    ElementTree.fromstring(document)
    light, dark = document.partition("</style>")[0].split("@media")
    used = set(re.findall(r"var\((--\w+)\)", document))
    assert used >= {"--paper", "--ink", "--bit", "--record"}
    for style in (light, dark):
        assert used <= set(re.findall(r"(--\w+):", style))


def test_a_document_has_the_colours_of_reports() -> None:
    """Light and dark, by the same names."""
    base = files("krand.report").joinpath("templates", "base.html").read_text(encoding="utf-8")
    light, dark = base.split("prefers-color-scheme: dark")[:2]
    for own, sheet in ((LIGHT, light), (DARK, dark)):
        known = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", sheet))
        assert {name: known[name] for name in own} == own
