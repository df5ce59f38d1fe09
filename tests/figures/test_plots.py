"""The public figures: one line each, light to import, clear about what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import krand.plots
from components import require
from krand import Assurance, Policy, ResponseFormat, frontier, plan_noise, plots
from krand.analysis.results import Results, make_results
from krand.analysis.results_file import write_results
from krand.analysis.tally import Tally
from krand.errors import InvalidInput, MissingComponent
from krand.figures import svg as figures
from krand.planning.making import make_plan
from krand.survey.questions import Number
from krand.survey.survey import Survey

POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=20_000, assurance=Assurance.OUTLIER)


@pytest.fixture(scope="module")
def results() -> Results:
    plan = make_plan(
        Survey(id="family", policy=POLICY, questions=(Number(name="children", edges=(0, 1, 3, 9)),))
    )
    counts = np.array([9_000, 5_000, 700])
    tally = Tally(
        plan_hash=plan.hash,
        linkage=plan.survey.linkage,
        positions=3,
        round=1,
        people=20_000,
        crowd=20_000,
        responses=20_000,
        counts=counts,
    )
    return make_results(plan, tally)


def widths(figure: object) -> list[float]:
    return [bar.get_width() for bar in figure.axes[0].patches]  # type: ignore[attr-defined]


def test_importing_the_figures_loads_nothing_heavy() -> None:
    """Neither matplotlib nor the mathematics, before a figure is asked for."""
    code = "import sys, krand.plots; print({'matplotlib', 'numpy', 'rich'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_every_function_has_an_example() -> None:
    """Each docstring shows a line that works; the suite runs them."""
    for name in krand.plots.__all__:
        assert ">>> from krand import" in getattr(plots, name).__doc__
        assert f"plots.{name}(" in getattr(plots, name).__doc__
        assert "SKIP" not in getattr(plots, name).__doc__


def test_the_density_of_a_noise_plan() -> None:
    """`density` draws what `density_figure` draws."""
    require("matplotlib")
    plan = plan_noise(POLICY, ResponseFormat(2))
    public = figures.svg_document(lambda: plots.density(plan))
    assert public == figures.svg_document(lambda: figures.density_figure(plan))


def test_a_frontier_is_computed_or_taken_as_it_is() -> None:
    """From a policy and reports, or finished; the points are the same."""
    require("matplotlib")
    ways = frontier(POLICY, ResponseFormat(2), [1])
    drawn = [plots.frontier(ways), plots.frontier(POLICY, ResponseFormat(2), copies=[1])]
    first, second = ([tuple(line.get_ydata()) for line in f.axes[0].lines] for f in drawn)
    assert first == second
    record = next(row for row in ways.rows if row.name == "krand record")
    assert (record.sigma,) in first
    with pytest.raises(InvalidInput, match="must be given with a policy"):
        plots.frontier(POLICY)


def test_copies_of_a_record() -> None:
    """The copies that were asked for are on the axis."""
    require("matplotlib")
    axes = plots.copies(POLICY, 2, copies=[1, 2]).axes[0]
    assert list(axes.lines[0].get_xdata()) == [1, 2]


def test_estimates_of_a_release_or_of_its_file(results: Results, tmp_path: Path) -> None:
    """The same bars, from memory and from the file; another name is refused by name."""
    require("matplotlib")
    shares = [row.consistent_share for row in results.questions[0].rows]
    shown = widths(plots.estimates(results, "children"))
    assert shown[:3] == pytest.approx([100 * share for share in shares])
    path = tmp_path / "results.json"
    write_results("results", path, results)
    assert widths(plots.estimates(path, "children")) == pytest.approx(shown)
    assert widths(plots.estimates(str(path), "children")) == pytest.approx(shown)
    with pytest.raises(InvalidInput, match="the questions are children"):
        plots.estimates(results, "pets")


def test_a_missing_matplotlib_is_named_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; nothing is computed first, so nothing needs to be right."""
    monkeypatch.setattr(figures, "find_spec", lambda _: None)
    calls = (
        lambda: plots.density(None),  # type: ignore[arg-type]
        lambda: plots.frontier(POLICY),
        lambda: plots.copies(POLICY, -1),
        lambda: plots.estimates("nowhere", "x"),
    )
    for call in calls:
        with pytest.raises(MissingComponent, match=r"pip install 'krand\[plots\]'"):
            call()
