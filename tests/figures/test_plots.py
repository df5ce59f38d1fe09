"""The public figures: one line each, light to import, clear about what they need."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.simulated_surveys import tally_of
from components import require
from krand import Assurance, Policy, ResponseFormat, figures, frontier, plan_noise
from krand.analysis.results import Results, make_results
from krand.errors import InvalidInput, MissingComponent
from krand.figures.draw_density import density_figure
from krand.figures.plot import svg_document
from krand.planning.making import make_plan
from krand.survey.questions import Number
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey
from krand.testing import unsafe_exact_plan
from survey_texts import question_text, survey_text

require("matplotlib")
POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=20_000, assurance=Assurance.OUTLIER)


@pytest.fixture(scope="module")
def results() -> Results:
    plan = make_plan(
        Survey(id="family", policy=POLICY, questions=(Number(name="children", edges=(0, 1, 3, 9)),))
    )
    return make_results(plan, tally_of(plan, 20_000, np.array([9_000, 5_000, 700])))


def widths(plot: figures.Plot) -> list[float]:
    return [bar.get_width() for bar in plot.figure.axes[0].patches]


def test_the_density_of_a_noise_plan() -> None:
    """`density` draws what `density_figure` draws."""
    plan = plan_noise(POLICY, ResponseFormat(2))
    public = svg_document(lambda: figures.density(plan).figure)
    assert public == svg_document(lambda: density_figure(plan))


def test_a_frontier_is_computed_or_taken_as_it_is() -> None:
    """From a policy and reports, or finished; the points are the same."""
    ways = frontier(POLICY, ResponseFormat(2), [1])
    drawn = [figures.frontier(ways), figures.frontier(POLICY, ResponseFormat(2), copies=[1])]
    first, second = (
        [tuple(line.get_ydata()) for line in plot.figure.axes[0].lines] for plot in drawn
    )
    assert first == second
    record = next(row for row in ways.rows if row.name == "krand record")
    assert (record.sigma,) in first
    with pytest.raises(InvalidInput, match="must be given with a policy"):
        figures.frontier(POLICY)


def test_copies_of_a_record() -> None:
    """The copies that were asked for are on the axis."""
    axes = figures.copies(POLICY, 2, copies=[1, 2]).figure.axes[0]
    assert list(axes.lines[0].get_xdata()) == [1, 2]


def test_estimates_of_a_release_or_of_its_file(results: Results, tmp_path: Path) -> None:
    """The same bars, from memory and from the file; another name is refused by name."""
    shares = [row.consistent_share for row in results.questions[0].rows]
    shown = widths(figures.estimates(results, "children"))
    assert shown[:3] == pytest.approx([100 * share for share in shares])
    path = tmp_path / "results.json"
    results.save(path)
    assert widths(figures.estimates(path, "children")) == pytest.approx(shown)
    assert widths(figures.estimates(str(path), "children")) == pytest.approx(shown)
    with pytest.raises(InvalidInput, match="the questions are children"):
        figures.estimates(results, "pets")


def test_a_missing_matplotlib_is_named_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; nothing is computed first, so nothing needs to be right."""
    monkeypatch.setattr("krand.figures.style.find_spec", lambda _: None)
    calls = (
        lambda: figures.density(None),  # type: ignore[arg-type]
        lambda: figures.frontier(POLICY),
        lambda: figures.copies(POLICY, -1),
        lambda: figures.estimates("nowhere", "x"),
        lambda: figures.joint("nowhere", ["x", "y"]),
        lambda: figures.rounds(["nowhere"], "x"),
        lambda: figures.methods(POLICY),
    )
    for call in calls:
        with pytest.raises(MissingComponent, match=r"pip install 'krand\[figures\]'"):
            call()


@pytest.fixture(scope="module")
def plot() -> figures.Plot:
    return figures.density(plan_noise(POLICY, ResponseFormat(2)))


def test_a_notebook_shows_a_plot_without_a_magic_command(plot: figures.Plot) -> None:
    """IPython takes its SVG, on white and with a title, and pyplot is not even loaded."""
    formatters = require("IPython").core.formatters
    found, _ = formatters.DisplayFormatter().format(plot)
    assert found["text/plain"] == repr(plot) == f"<Plot: {plot.title}>"
    assert found["image/svg+xml"] == plot._repr_svg_()
    root = ElementTree.fromstring(plot._repr_svg_())
    assert root.findtext("{*}title") == plot.title
    background = root.find(".//{*}g[@id='patch_1']/{*}path")
    assert "fill: #ffffff" in background.get("style", "")


@pytest.mark.check
@pytest.mark.parametrize(
    ("ending", "begins"), [("svg", b"<?xml"), ("PNG", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_plot_is_saved_as_its_name_says(
    ending: str, begins: bytes, plot: figures.Plot, tmp_path: Path
) -> None:
    """The same bytes each time, over an older file too."""
    path = tmp_path / f"figure.{ending}"
    plot.save(path)
    first = path.read_bytes()
    assert first.startswith(begins)
    plot.save(str(path))
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["figure", "figure.jpg", "figure.svg.gz"])
def test_other_names_are_refused(name: str, plot: figures.Plot, tmp_path: Path) -> None:
    """With the endings that there are."""
    with pytest.raises(InvalidInput, match=r"path: must end in \.svg or \.png or \.pdf"):
        plot.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_plot_cannot_be_changed(plot: figures.Plot) -> None:
    """It is a value; matplotlib's figure inside is the reader's own."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        plot.title = "another"  # type: ignore[misc]


def test_methods_are_drawn_where_their_margin_of_error_is() -> None:
    """One point for each row of the frontier, the most precise at the top."""
    ways = frontier(POLICY, ResponseFormat(2), [1])
    axes = figures.methods(ways).figure.axes[0]
    points = [(line.get_ydata()[0], line.get_xdata()[0]) for line in axes.lines]
    expected = sorted(ways.rows, key=lambda row: row.half_width_95)
    assert points == [(place, row.half_width_95) for place, row in enumerate(expected)]
    assert [t.get_text() for t in axes.get_yticklabels()] == [row.name for row in expected]


TWO_QUESTIONS = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog"]),
    rounds=3,
    epsilon=1,
    delta=0.001,
    minimum_crowd=1000,
    together=["smokes", "pet"],
)


@pytest.fixture(scope="module")
def three_rounds() -> list[Results]:
    plan = unsafe_exact_plan(parse_survey(TWO_QUESTIONS))
    counts = np.arange(plan.layout.positions) * 10
    tallies = [tally_of(plan, 1000, counts + 20 * number, round=number) for number in (1, 2, 3)]
    return [make_results(plan, tally) for tally in tallies]


def test_a_joint_table_is_drawn_cell_by_cell(three_rounds: list[Results]) -> None:
    """Shares and margins of error as the results have them; more people are darker."""
    found = three_rounds[0]
    axes = figures.joint(found, ["pet", "smokes"]).figure.axes[0]
    table = found.joint[0].table
    shares = (table.consistent / table.people).ravel()
    drawn = [float(text.get_text().split(" %")[0]) for text in axes.texts]
    assert drawn == pytest.approx(100 * shares, abs=0.06)
    opacities = [cell.get_facecolor()[3] for cell in axes.patches]
    assert np.argsort(opacities).tolist() == np.argsort(shares).tolist()
    assert [t.get_text() for t in axes.get_yticklabels()] == list(table.labels[0])
    with pytest.raises(InvalidInput, match="the joint tables are: smokes, pet"):
        figures.joint(found, ["pet", "age"])


def test_cells_that_are_too_noisy_have_no_number(three_rounds: list[Results]) -> None:
    """As everywhere else."""
    (joint,) = three_rounds[0].joint
    none = dataclasses.replace(joint.table, readable=np.zeros_like(joint.table.readable))
    noisy = dataclasses.replace(joint, table=none)
    plot = figures.joint(dataclasses.replace(three_rounds[0], joint=(noisy,)), ["pet", "smokes"])
    assert {text.get_text() for text in plot.figure.axes[0].texts} == {"too noisy"}


def test_rounds_are_drawn_in_order_with_their_intervals(three_rounds: list[Results]) -> None:
    """In whatever order they are given; each answer has a line, each point an interval."""
    axes = figures.rounds(three_rounds[::-1], "pet", ["dog"]).figure.axes[0]
    line, *intervals = axes.lines
    rows = [found.questions[1].rows[1] for found in three_rounds]
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [100 * row.consistent_share for row in rows]
    ends = [list(interval.get_ydata()) for interval in intervals]
    assert ends == [[100 * r.share_interval.low, 100 * r.share_interval.high] for r in rows]


def test_of_yes_and_no_one_line_is_enough(three_rounds: list[Results]) -> None:
    """The other one is its mirror image; other questions show all answers."""
    for question, shown in (("smokes", ["yes"]), ("pet", ["cat", "dog"])):
        figure = figures.rounds(three_rounds, question).figure
        assert [text.get_text() for text in figure.legends[0].get_texts()] == shown


def test_rounds_that_cannot_be_drawn_are_refused(three_rounds: list[Results]) -> None:
    """Without results there is nothing to draw; answers are those of the question."""
    with pytest.raises(InvalidInput, match="at least one"):
        figures.rounds([], "pet")
    with pytest.raises(InvalidInput, match="the answers are cat, dog"):
        figures.rounds(three_rounds, "pet", ["horse"])
    with pytest.raises(InvalidInput, match="must be 1 to 6 answers"):
        figures.rounds(three_rounds, "pet", [])
