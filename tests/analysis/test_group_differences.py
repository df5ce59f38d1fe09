"""Differences between groups: intervals hold over simulated surveys, and files give the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import inside, plan_of, record_tallies, simulated_tallies
from effort import LONG
from krand.analysis.group_differences import GroupDifference, _noise, group_differences
from krand.analysis.joint.tables import joint_table
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_file import read_results
from krand.analysis.tally import Tally
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice

A = Choice(name="a", choices=Choices(["x", "y", "z"]))
B = Choice(name="b", choices=Choices(["u", "v"]))
Wholes = NDArray[np.int64]
CROWDS = {
    "large": ([[200, 100], [150, 75], [100, 150]], 800),
    "tiny group": ([[20, 10], [40, 20], [300, 200]], 800),
    "zero cells": ([[10, 0], [40, 0], [300, 200]], 800),
    "all tiny": ([[5, 3], [5, 3], [3, 0]], 100),
}


def _plan(noise: str, people: int) -> Plan:
    if noise == "records":
        return plan_of([A, B], 0.05, people, linkage=Linkage.RECORD)
    if noise == "flips":
        return plan_of([A, B], 0.02, people, [["a", "b"]])
    mixers = 3 if noise == "three mixers" else 1
    return mixed_plan_of([A, B], [["a", "b"]], crowd=100, mixers=mixers)


def _tallies(noise: str, plan: Plan, cells: Wholes, people: int, repeats: int) -> Iterator[Tally]:
    if noise == "records":
        patterns = np.zeros(32, dtype=np.int64)
        for (row, column), count in np.ndenumerate(cells):
            patterns[(16 >> row) + (2 >> column)] = count
        patterns[0] = people - patterns.sum()
        return record_tallies(plan, patterns, repeats, 5)
    true = np.zeros((4, 3), dtype=np.int64)
    true[1:, 1:] = cells
    draw = simulated_tallies if noise == "flips" else mixed_tallies
    return draw(plan, true.ravel()[1:], people, repeats, 5)


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("noise", ["one mixer", "three mixers", "flips", "records"])
@pytest.mark.parametrize("crowd", list(CROWDS))
def test_differences_between_groups_are_covered(noise: str, crowd: str) -> None:
    """In at most 5 % of surveys a difference is given and missed.

    Two groups that are equal are called different as rarely.
    """
    shares, people = np.array(CROWDS[crowd][0]), CROWDS[crowd][1]
    truth, plan = shares / shares.sum(axis=1, keepdims=True), _plan(noise, people)
    assert np.array_equal(truth[0], truth[1])
    repeats = 1_000 if LONG else 60
    missed = np.zeros((3, 3, 2))
    for rows in _differences(plan, _tallies(noise, plan, shares, people, repeats)):
        for row in rows:
            first, second = row.groups
            true = truth[second, row.answer] - truth[first, row.answer]
            missed[first, second, row.answer] += not inside(row.interval, true)
    assert missed.max() <= 0.05 * repeats + 3 * (0.05 * 0.95 * repeats) ** 0.5


@pytest.mark.check
def test_groups_of_a_sample_are_covered() -> None:
    """The differences are those of the population; rare answers and small groups too."""
    random, chances = np.random.default_rng(6), np.array([0.03, 0.0, 0.3, 0.02, 0.35, 0.2])
    truth = chances.reshape(3, 2) / chances.reshape(3, 2).sum(axis=1, keepdims=True)
    plan, misses = _plan("one mixer", 800), []
    crowds = random.multinomial(800, np.append(chances, 0.1), 300)[:, :6]
    drawn = (_tallies("one mixer", plan, cells.reshape(3, 2), 800, 1) for cells in crowds)
    for rows in _differences(plan, chain.from_iterable(drawn), sample_of="everybody"):
        for row in rows:
            first, second = row.groups
            true = truth[second, row.answer] - truth[first, row.answer]
            misses.append(not inside(row.interval, true))
    assert np.mean(misses) <= 0.065


def _differences(
    plan: Plan, tallies: Iterable[Tally], sample_of: str | None = None
) -> Iterator[tuple[GroupDifference, ...]]:
    """Of the groups of the first question; the promise is computed once."""
    results: Results | None = None
    for tally in tallies:
        results = results or make_results(plan, tally, ResultsOptions(sample_of=sample_of))
        yield group_differences(results, joint_table(plan, tally, ["a", "b"]), axis=0)


def test_shares_of_records_are_correlated() -> None:
    """Differences of two groups vary as their intervals say, whose shares have bits in common."""
    cells, people = np.array([[300, 500], [700, 100], [0, 0]]), 2_000
    plan = plan_of([A, B], 0.3, people, linkage=Linkage.RECORD)
    tallies = _tallies("records", plan, cells, people, 200)
    found = [rows[0] for rows in _differences(plan, tallies)]
    spread = float(np.std([each.difference for each in found]))
    halves = [each.interval.half for each in found]
    assert 1.96 * spread == pytest.approx(float(np.mean(halves)), rel=0.15)


@pytest.mark.parametrize("noise", ["one mixer", "three mixers", "flips", "records"])
def test_a_file_gives_what_the_tally_gave(noise: str, tmp_path: Path) -> None:
    """The noise that a file does not hold follows from its plan, and is that of the table."""
    plan, cells = _plan(noise, 3_200), np.array(CROWDS["large"][0]) * 4
    (tally,) = _tallies(noise, plan, cells, 3_200, 1)
    joint = (("a", "b"),) if noise == "records" else ()
    results = make_results(plan, tally, ResultsOptions(joint=joint))
    results.save(tmp_path / "results.json")
    read = read_results(tmp_path / "results.json")
    for axis in (0, 1):
        rows = group_differences(results, results.joint[0].table, axis)
        assert rows == group_differences(read, read.joint[0].table, axis)
        places = [(*row.groups, row.answer) for row in rows]
        groups, answers = results.joint[0].table.answers[:: 1 - 2 * axis]
        pairs = combinations(range(groups), 2)
        assert places == [(*pair, answer) for pair in pairs for answer in range(answers)]
        assert all(row.interval.low <= row.shown <= row.interval.high for row in rows)
    table = results.joint[0].table
    assert table.noise is not None
    again = _noise(read, read.joint[0].table)
    assert again.of_cells([0, 2], [0, 1]) == pytest.approx(table.noise.of_cells([0, 2], [0, 1]))


def test_a_group_that_may_be_empty_is_left_out() -> None:
    """The noise alone may have made it."""
    cells = np.array([[200, 100], [0, 0], [100, 150]])
    plan = _plan("one mixer", 800)
    (rows,) = _differences(plan, _tallies("one mixer", plan, cells, 800, 1))
    assert {row.groups for row in rows} == {(0, 2)}
