"""Small crowds, in which noise is loud: what is shown is possible, and intervals contain it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from analysis.simulated_surveys import (
    plan_of,
    record_tallies,
    simulated_tallies,
    tally_of,
    true_counts,
)
from krand.analysis.estimates.counted import question_law
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.share_differences import compare_surveys
from krand.analysis.estimates.values import Interval, QuestionEstimate
from krand.analysis.joint.conditional import conditional_table
from krand.analysis.joint.tables import joint_table
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, YesNo

PEOPLE = 60
COLOUR = Choice(name="colour", choices=Choices(("red", "green", "blue", "grey")))
AGE = Number(name="age", edges=(0, 20, 40, 60))
ITEMS = PickAny(name="items", choices=Choices(("a", "b", "c")), at_most=2)
SAMPLINGS = [None, Sampling(), Sampling(5_000)]


@cache
def plan() -> Plan:
    questions = [COLOUR, AGE, ITEMS, YesNo(name="y"), YesNo(name="z")]
    return plan_of(questions, 0.1, PEOPLE, [("colour", "z")])


TRUE = {
    (("colour", "red"), ("z", True), ("age", 30), ("items", ("a",)), ("y", True)): 50,
    (("colour", "green"), ("z", False), ("age", 5), ("items", ("a", "b")), ("y", False)): 10,
}


@cache
def loud() -> tuple[tuple[QuestionEstimate, ...], ...]:
    """Estimates of simulated crowds, and of the counts that are hardest to believe."""
    true = true_counts(plan(), TRUE)
    positions = plan().layout.positions
    extremes = [
        np.zeros(positions, dtype=np.int64),
        np.full(positions, PEOPLE),
        np.arange(positions) % 2 * PEOPLE,
    ]
    tallies = [
        *simulated_tallies(plan(), true, PEOPLE, 9, 14),
        *(tally_of(plan(), PEOPLE, counts) for counts in extremes),
    ]
    return tuple(
        estimate_questions(plan(), tally, EstimateOptions(sampling=sampling))
        for tally in tallies
        for sampling in SAMPLINGS
    )


def holds(interval: Interval, value: float, most: float = 1.0) -> bool:
    """Whether it is possible, contains the value, and is more than a point."""
    return 0 <= interval.low <= value <= interval.high <= most and interval.low < interval.high


@pytest.mark.check
def test_shown_counts_are_possible_and_lie_in_their_intervals() -> None:
    """Nobody is negative, and answers of which everybody gives one add up to the crowd."""
    raw = []
    for questions in loud():
        for question in questions:
            shares = [row.consistent_share for row in question.all_rows]
            raw += [row.share for row in question.all_rows]
            if question.unanswered is not None:
                assert sum(shares) == pytest.approx(1.0)
            for row, share in zip(question.all_rows, shares, strict=True):
                assert share == row.consistent / PEOPLE
                assert holds(row.interval, row.consistent, PEOPLE)
                assert holds(row.simultaneous, row.consistent, PEOPLE)
                assert holds(row.share_interval, share)
            if question.picks is not None:
                assert holds(question.picks.interval, question.picks.consistent, ITEMS.most_ones)
    assert min(raw) < -0.1 < 1.1 < max(raw)  # the noise is as loud as it should be for this test


def test_distributions_of_few_people_are_possible() -> None:
    """At most the crowd answered; shares, quantiles and mean lie in their intervals."""
    seen = 0
    for questions in loud():
        for question in questions:
            spread = question.distribution
            if spread is None:
                continue
            seen += 1
            assert 0 < spread.answered <= PEOPLE * (1 + 1e-12)
            for point in spread.cdf:
                assert point.interval.low <= point.share <= point.interval.high
                assert point.simultaneous.low <= point.share <= point.simultaneous.high
            for entry in spread.quantiles:
                assert entry.low <= entry.value <= entry.high
            mean = spread.mean
            assert mean.interval.low <= mean.value <= mean.interval.high
            assert mean.low <= mean.interval.low <= mean.interval.high <= mean.high
    assert seen > 20


def test_cells_of_few_people_lie_in_their_intervals() -> None:
    """In tables of groups and of whole records; so do shares of subgroups."""
    record = plan_of(
        [YesNo(name="a"), YesNo(name="b"), YesNo(name="c")], 0.2, PEOPLE, linkage=Linkage.RECORD
    )
    patterns = np.array([40, 0, 0, 0, 0, 0, 0, 20])
    true = true_counts(plan(), TRUE)
    cases = [
        *((plan(), t, ("colour", "z")) for t in simulated_tallies(plan(), true, PEOPLE, 8, 3)),
        *((record, t, ("a", "b")) for t in record_tallies(record, patterns, 8, 4)),
    ]
    least = 0.0
    for made, tally, names in cases:
        table = joint_table(made, tally, names)
        least = min(least, float(table.counts.min()))
        assert table.consistent.sum() == pytest.approx(PEOPLE)
        for band in (table.interval, table.simultaneous):
            assert (band.low >= 0).all()
            assert (band.low <= table.consistent).all()
            assert (table.consistent <= band.high).all()
            assert (band.high <= PEOPLE * (1 + 1e-12)).all()
            assert (band.low < band.high).all()
        for name in names:
            for cell in (c for group in conditional_table(table, name).groups for c in group):
                if cell.consistent is not None:
                    assert cell.interval.low <= cell.consistent <= cell.interval.high
    assert least < -5


def test_differences_of_few_people_are_possible() -> None:
    """From -100 to 100 points, inside their intervals, whatever the noise did."""
    found = []
    for first, second in zip(loud(), reversed(loud()), strict=True):
        for here, there in zip(first, second, strict=True):
            law = question_law(plan(), here.name, PEOPLE, PEOPLE)
            found += compare_surveys(here, there, (law, law))
    assert max(abs(row.difference) for row in found) > 1
    for row in found:
        assert -1 <= row.interval.low <= row.consistent <= row.interval.high <= 1


@pytest.mark.check
def test_intervals_that_contain_what_is_shown_cover_no_less() -> None:
    """Of the answers of a crowd of sixty, at least as many intervals hold the truth as they say."""
    true = true_counts(plan(), TRUE)
    truth = {"age": [10, 50, 0, 0], "items": [60, 10, 0], "y": [50]}
    hits: list[bool] = []
    for tally in simulated_tallies(plan(), true, PEOPLE, 60, 15):
        for question in estimate_questions(plan(), tally):
            for row, people in zip(question.all_rows, truth.get(question.name, ()), strict=False):
                hits.append(row.interval.low <= people <= row.interval.high)
    assert len(hits) == 480
    assert np.mean(hits) > 0.95


@pytest.mark.parametrize(("people", "reads"), [(600, True), (10, False)])
def test_a_margin_above_15_percent_cannot_be_read(people: int, reads: bool) -> None:
    """Rows, cells of tables, differences."""
    asked = plan_of([COLOUR, YesNo(name="y"), YesNo(name="z")], 0.1, people, [("y", "z")])
    tally = tally_of(asked, people, np.full(asked.layout.positions, people // 5))
    colour = estimate_questions(asked, tally)[0]
    assert (1.96 * colour.rows[0].standard_error / people < 0.15) is reads
    assert [row.readable for row in colour.rows] == [reads] * 4
    assert (colour.unreadable == ()) is reads
    table = joint_table(asked, tally, ("y", "z"))
    wide = 1.96 * table.standard_errors > 0.15 * people
    assert (table.readable == ~wide).all()
    assert wide.any() is not np.bool_(reads)
    law = question_law(asked, "colour", people, people)
    rows = compare_surveys(colour, colour, (law, law))
    assert [row.readable for row in rows] == [reads] * 4


def test_a_sample_may_say_nothing_though_its_counts_do() -> None:
    """Twenty people, almost without noise: their shares say little about everybody."""
    asked = plan_of([YesNo(name="y")], 0.001, 20)
    tally = tally_of(asked, 20, np.array([10]))
    assert estimate_questions(asked, tally)[0].rows[0].readable
    assert (
        not estimate_questions(asked, tally, EstimateOptions(sampling=Sampling()))[0]
        .rows[0]
        .readable
    )
