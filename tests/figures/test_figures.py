"""Figures show the numbers of the API, in one style, the same every time."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from components import require
from figures.estimates import answer, question
from krand.accounting.calibration import plan_noise
from krand.accounting.curator import curator
from krand.errors import CannotMeet, InvalidInput, MissingComponent
from krand.figures.draw_copies import copies_figure
from krand.figures.draw_density import density_figure, density_of
from krand.figures.draw_estimates import estimates_figure
from krand.figures.plot import svg_document
from krand.planning.making import make_plan
from krand.promise import Z95, Assurance, Linkage, NoisePlan, Policy, ResponseFormat
from krand.report.pages import inline_figure
from krand.survey.questions import YesNo
from krand.survey.survey import Survey

POLICY = Policy(epsilon=1.0, minimum_crowd=10_000, delta=1e-4)
QUICK = Policy(epsilon=1.0, minimum_crowd=10_000, delta=1e-3, assurance=Assurance.OUTLIER)
matplotlib = require("matplotlib")


@pytest.fixture(scope="module")
def plan() -> NoisePlan:
    return plan_noise(POLICY, ResponseFormat(4))


FRUIT = question(answer("apple", 0.5), answer("pear", 0.02), unanswered=answer("none", 0.1))


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# density ------------------------------------------------------------------------------------


def test_the_curves_of_the_density_are_its_law(plan: NoisePlan) -> None:
    """Read back from the axes: both areas are one, and every cell is the API's."""
    density, axes = density_of(plan), density_figure(plan).axes[0]
    curves = [patch.get_data() for patch in axes.patches[:2]]
    for curve, mass in zip(curves, (density.mine, density.another), strict=True):
        areas = curve.values * np.diff(curve.edges)
        assert float(areas.sum()) == pytest.approx(1, abs=1e-3)
        assert areas == pytest.approx(mass)


def test_the_limits_and_what_lies_beyond_them_are_marked(plan: NoisePlan) -> None:
    """Lines stand at ±ε; the patch beyond holds both tails, enlarged as the legend says."""
    figure = density_figure(plan)
    axes, density = figure.axes[0], density_of(plan)
    assert sorted(line.get_xdata()[0] for line in axes.lines) == [-1.0, 1.0]
    beyond = axes.patches[2].get_data()
    (enlarged,) = (text for text in legend(figure) if "beyond" in text)
    factor = int(re.search(r"([\d,]+) times", enlarged)[1].replace(",", ""))  # type: ignore[index]
    area = float((beyond.values * np.diff(beyond.edges)).sum())
    assert area / factor == pytest.approx(density.above + density.below, rel=0.1)
    assert factor == 10 ** round(math.log10(factor))
    assert max(beyond.values) < 0.31 * max(axes.patches[0].get_data().values)


def test_the_numbers_of_the_density_are_written_beside_it(plan: NoisePlan) -> None:
    """η of the law, δ and η as proven, and which law is drawn for which crowd."""
    figure = density_figure(plan)
    words = legend(figure)
    above = f"{density_of(plan).above:.3g}".rstrip("0")
    assert f"with probability {above}" in words[0]
    assert "proven for every crowd: δ ≤ 0.0001, η ≤ 0.00287" in words[-1]
    assert plan.promise.eta <= 0.00287
    title = figure.legends[0].get_title().get_text()
    assert "supremum over all crowds, sensitivity 4, 10,000 people" in title


def test_an_attack_is_not_called_a_proof() -> None:
    """Without a certificate the legend says for whom the numbers hold."""
    words = legend(density_figure(plan_noise(QUICK, ResponseFormat(2))))
    assert "for such crowds" in words[-1]
    assert not any("proven" in text for text in words)


@pytest.mark.parametrize("linkage", list(Linkage))
def test_the_plan_of_a_survey_has_a_density(linkage: Linkage) -> None:
    """Its blocks are composed, each with its own noise; its promise is what is written."""
    weight = 4.0 if linkage is Linkage.BIT else 1.0
    questions = (YesNo(name="a", weight=weight), YesNo(name="b"), YesNo(name="c"))
    survey = Survey(id="three", policy=QUICK, questions=questions, linkage=linkage)
    made = make_plan(survey)
    figure = density_figure(made)
    density = density_of(made)
    assert max(density.above, density.below) <= made.promise.eta
    assert max(density.above, density.below) > made.promise.delta
    assert "δ ≤ 0.001, η ≤ " in legend(figure)[-1]
    law = "sensitivity 3" if linkage is Linkage.BIT else "1 record"
    assert law in figure.legends[0].get_title().get_text()


def test_names_stand_above_the_axes_at_every_size(plan: NoisePlan) -> None:
    """Small or large, the legend covers no curve and stays inside the figure."""
    figure = density_figure(plan)
    for size in ((4.8, 3.9), (8.0, 5.0), (12.0, 7.0)):
        figure.set_size_inches(*size)
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert box.y0 >= figure.axes[0].bbox.y1
        assert box.x1 <= figure.bbox.x1


# copies -------------------------------------------------------------------------------------


@pytest.mark.check
def test_the_points_of_copies_are_plans() -> None:
    """± at 95 % of every k, of every bit alone, and of a trusted curator; σ on the right."""
    axes = copies_figure(QUICK, 2, (4, 1)).axes[0]
    record, alone, trusted = axes.lines
    plans = [plan_noise(QUICK, ResponseFormat(2, linkage=Linkage.RECORD, copies=k)) for k in (1, 4)]
    assert list(record.get_xdata()) == [1, 4]
    assert list(record.get_ydata()) == [p.precision.half_width_95 for p in plans]
    expected = plan_noise(QUICK, ResponseFormat(2)).precision.half_width_95
    assert alone.get_ydata()[0] == expected
    assert trusted.get_ydata()[0] == Z95 * curator(QUICK, ResponseFormat(2)).sigma
    (sigma,) = axes.child_axes
    axes.figure.draw_without_rendering()
    assert sigma.get_ylim() == pytest.approx([end / Z95 for end in axes.get_ylim()])


@pytest.mark.check
def test_copies_that_cannot_keep_the_policy_are_left_out() -> None:
    """What can be met is drawn; if nothing can, the reason is told."""
    tight = Policy(epsilon=0.3, minimum_crowd=100, delta=1e-3)
    with pytest.raises(CannotMeet, match="every count is"):
        plan_noise(tight, ResponseFormat(6, linkage=Linkage.RECORD))
    axes = copies_figure(tight, 6, (1, 8)).axes[0]
    assert list(axes.lines[0].get_xdata()) == [8]
    with pytest.raises(CannotMeet, match="every count is"):
        copies_figure(tight, 6, (1,))


def test_no_copies_at_all_are_refused() -> None:
    """An empty list is a mistake, not an empty figure."""
    with pytest.raises(InvalidInput, match="at least one number"):
        copies_figure(QUICK, 2, ())


# estimates ----------------------------------------------------------------------------------


def test_bars_and_lines_are_shares_and_intervals() -> None:
    """Every answer and the missing ones, in percent."""
    axes = estimates_figure(FRUIT).axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([50.0, 2.0, 10.0])
    (lines,) = axes.collections
    ends = [tuple(segment[:, 0]) for segment in lines.get_segments()]
    assert ends == [pytest.approx(pair) for pair in ((49.0, 52.0), (1.0, 4.0), (9.0, 12.0))]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["apple", "pear", "none"]
    assert [text.get_text() for text in axes.texts] == ["50 %", "2 %", "10 %"]
    assert axes.patches[2].get_facecolor() != axes.patches[0].get_facecolor()


def test_of_many_answers_the_most_frequent_are_drawn() -> None:
    """Twenty of three hundred, and the title says so."""
    rows = [answer(f"answer {i}", (i * 37 % 300) / 1000) for i in range(300)]
    figure = estimates_figure(question(*rows))
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(
        [share / 10 for share in range(299, 279, -1)]
    )
    assert "the 20 most frequent of 300 answers" in figure.get_suptitle()


def test_answers_are_never_formulas() -> None:
    """Dollar signs are text; long answers are cut; the numbers fit into the axes."""
    figure = estimates_figure(question(answer("$x^$", 0.3), answer("y" * 90, 0.8)))
    svg_document(lambda: figure)
    first, second = (label.get_text() for label in figure.axes[0].get_yticklabels())
    assert first == "$x^$"
    assert second.endswith("y…")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert all(text.get_window_extent().x1 <= axes.bbox.x1 for text in axes.texts)


# all ----------------------------------------------------------------------------------------

DRAWN: dict[str, Callable[[], Any]] = {
    "density": lambda: density_figure(plan_noise(QUICK, ResponseFormat(2))),
    "copies": lambda: copies_figure(QUICK, 2, (1,)),
    "estimates": lambda: estimates_figure(FRUIT),
}


@pytest.mark.check
@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_the_same_whatever_the_notebook_looks_like(name: str) -> None:
    """The same bytes twice, and under somebody else's settings; those are left as they were."""
    document = svg_document(DRAWN[name])
    strange = {"font.size": 23.0, "text.color": "red", "axes.facecolor": "pink"}
    with matplotlib.rc_context(strange):
        figure = DRAWN[name]()
        assert {key: matplotlib.rcParams[key] for key in strange} == strange
        assert svg_document(lambda: figure) == document


@pytest.mark.check
@pytest.mark.parametrize("name", DRAWN)
def test_a_page_can_exchange_every_colour(name: str) -> None:
    """No colour is left that a dark page could not replace."""
    element = inline_figure(svg_document(DRAWN[name]), "a figure")
    assert re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}", element) == []
    assert "var(--ink)" in element


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_the_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback about imports: the error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingComponent, match=r"krand\[figures\]"):
        DRAWN[name]()
