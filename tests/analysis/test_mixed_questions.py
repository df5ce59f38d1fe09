"""Simulated surveys with mixers' dummies: unbiased, as precise as planned, covered by any crowd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import inside, tally_of, true_counts
from krand.accounting.dummy_bounds import dummy_law
from krand.analysis.estimates.intervals import quantile_of
from krand.analysis.estimates.questions import estimate_question, estimate_questions
from krand.analysis.estimates.share_differences import compare_surveys
from krand.analysis.estimates.values import Interval, QuestionEstimate, Row, Statistic
from krand.analysis.joint.conditional import conditional_table
from krand.analysis.joint.tables import JointTable, joint_table
from krand.analysis.mechanisms.mixers import DummyModel, dummies_of
from krand.analysis.tally import merged
from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Question, Scale, YesNo
from krand_lab.observe.outcome import MixedSeen, observe

SURVEYS = 320
CROWDS = (12, 800, 20_000)
KINDS: dict[str, Question] = {
    "yes_no": YesNo(name="asked"),
    "choice": Choice(name="asked", choices=Choices(["a", "b", "c"])),
    "scale": Scale(name="asked", lowest=1, highest=5),
    "number": Number(name="asked", edges=(0, 20, 40, 60, 100)),
    "pick_any": PickAny(name="asked", choices=Choices(["a", "b", "c", "d"]), at_most=3),
    "long list": PickAny(
        name="asked", choices=Choices([f"item {n}" for n in range(40)]), at_most=2
    ),
    "long list, one pick": PickAny(
        name="asked", choices=Choices([f"item {n}" for n in range(40)]), at_most=1
    ),
}
GIVEN: dict[str, tuple[object, ...]] = {
    "yes_no": (True, False),
    "choice": ("a", "a", "b"),
    "scale": (5, 5, 4, 2),
    "number": (10.0, 30.0, 30.0, 50.0),
    "pick_any": (("a",), ("a", "b", "c"), ("b",)),
    "long list": (("item 0", "item 1"), ("item 1",), ("item 1", "item 39")),
    "long list, one pick": (("item 0",), ("item 1",), ("item 1",)),
}


def _crowd(kind: str, people: int) -> dict[tuple[tuple[str, object], ...], int]:
    """Somebody says nothing; everybody else gives the answers in turn."""
    silent = people // 6
    given = GIVEN[kind]
    crowd: dict[tuple[tuple[str, object], ...], int] = {(): silent}
    for place in range(len(given)):
        share = len(range(place, people - silent, len(given)))
        key = (("asked", given[place]),)
        crowd[key] = crowd.get(key, 0) + share
    return crowd


def _sees(covered: NDArray[np.bool_] | Sequence[bool], confidence: float = 0.95) -> None:
    """At least as often as said, but for four deviations of so many independent surveys."""
    share, size = float(np.mean(covered)), SURVEYS
    assert share >= confidence - 4 * math.sqrt(confidence * (1 - confidence) / size)


def _truth(plan: Plan, kind: str, people: int) -> NDArray[np.int64]:
    return true_counts(plan, _crowd(kind, people))


@pytest.fixture(scope="module", params=list(KINDS))
def asked(request: pytest.FixtureRequest) -> tuple[str, Plan]:
    """One question of every kind, two mixers."""
    kind = str(request.param)
    return kind, mixed_plan_of([KINDS[kind]], mixers=2)


@pytest.mark.parametrize("people", CROWDS)
def test_counts_are_unbiased_as_precise_as_planned_and_covered(
    asked: tuple[str, Plan], people: int
) -> None:
    """For 12 people as for 20,000: mean, deviation and intervals, "unanswered" included."""
    kind, plan = asked
    true = _truth(plan, kind, people)
    found = [
        estimate_question(plan, tally, "asked")
        for tally in mixed_tallies(plan, true, people, SURVEYS, seed=1)
    ]
    answers = [*true.tolist(), *([people - int(true.sum())] if found[0].unanswered else [])]
    assert len(answers) == len(found[0].all_rows)
    sigma = plan.precision_of("asked").sigma
    columns = list(zip(*(estimate.all_rows for estimate in found), strict=True))
    for rows, value in zip(columns, answers, strict=True):
        _check_row(rows, value, sigma)
    together = [
        all(inside(row.simultaneous, v) for row, v in zip(e.all_rows, answers, strict=True))
        for e in found
    ]
    _sees(together)


def _check_row(rows: tuple[Row, ...], value: int, sigma: float) -> None:
    counts = np.array([row.count for row in rows])
    assert rows[0].standard_error == pytest.approx(sigma, rel=2e-5)
    assert abs(counts.mean() - value) < 5 * sigma / math.sqrt(SURVEYS)
    assert np.std(counts) == pytest.approx(sigma, rel=5 * math.sqrt(1.25 / SURVEYS))
    _sees([inside(row.interval, value) for row in rows])


@pytest.mark.parametrize("people", CROWDS)
def test_answers_and_unanswered_add_up_to_the_people(people: int) -> None:
    """One message of everybody: the nearest counts have the right sum, however large the noise."""
    plan = mixed_plan_of([KINDS["choice"]], mixers=2)
    true = _truth(plan, "choice", people)
    for tally in mixed_tallies(plan, true, people, 50, seed=2):
        estimate = estimate_question(plan, tally, "asked")
        shown = [row.consistent for row in estimate.all_rows]
        assert min(shown) >= 0
        assert sum(shown) == pytest.approx(people)


def test_consistent_counts_are_nearer_than_unbiased_ones() -> None:
    """The projection onto the known sum takes out a part of the noise."""
    plan = mixed_plan_of([KINDS["choice"]])
    crowd = {(("asked", "a"),): 300, (("asked", "b"),): 200, (("asked", "c"),): 150, (): 150}
    true = true_counts(plan, crowd)
    errors = np.zeros(2)
    for tally in mixed_tallies(plan, true, 800, SURVEYS, seed=3):
        rows = estimate_question(plan, tally, "asked").rows
        errors += [
            sum((row.count - value) ** 2 for row, value in zip(rows, true, strict=True)),
            sum((row.consistent - value) ** 2 for row, value in zip(rows, true, strict=True)),
        ]
    assert errors[1] == pytest.approx(0.75 * errors[0], rel=0.1)  # 3 of 4 dimensions are left


def test_yes_no_has_no_unanswered() -> None:
    """An empty message is a no, or no answer."""
    plan = mixed_plan_of([KINDS["yes_no"]])
    (tally,) = mixed_tallies(plan, _truth(plan, "yes_no", 12), 12, 1, seed=4)
    assert estimate_question(plan, tally, "asked").unanswered is None


@pytest.mark.check
@pytest.mark.parametrize("people", CROWDS)
def test_means_boxes_and_quantiles_cover(people: int) -> None:
    """Ratios of weighted sums, by Fieller, with the law of dummies.

    Where as far as the noise tells nobody answered, nothing is claimed.
    """
    number = Number(name="n", edges=(0, 1, 2, 3))
    plan = mixed_plan_of([Scale(name="s", lowest=1, highest=5), number])
    crowd = {
        (("s", 5), ("n", 0.5)): people // 2,
        (("s", 1), ("n", 1.5)): people // 4,
        (): people - people // 2 - people // 4,
    }
    tallies = mixed_tallies(plan, true_counts(plan, crowd), people, SURVEYS, seed=5)
    found = [estimate_questions(plan, tally) for tally in tallies]
    summaries = [{s.statistic: s.interval for s in scale.summaries} for scale, _ in found]
    summaries = [each for each in summaries if each]
    spreads = [s for _, number in found if (s := number.distribution) is not None]
    assert min(len(summaries), len(spreads)) >= 0.95 * SURVEYS
    _sees([inside(each[Statistic.MEAN], 11 / 3) for each in summaries])
    _sees([inside(each[Statistic.TOP_BOX], 2 / 3) for each in summaries])
    _sees([inside(spread.cdf[1].interval, 2 / 3) for spread in spreads])
    means = [spread.mean.interval for spread in spreads]
    _sees([mean is not None and inside(mean, 5 / 6) for mean in means])
    middle = [next(q for q in spread.quantiles if q.level == 0.5) for spread in spreads]
    _sees([q.low is not None and q.high is not None and q.low <= 0.75 <= q.high for q in middle])


def test_pick_any_covers_the_mean_number_of_picks() -> None:
    """The sum over all options has the sum of their dummies."""
    plan = mixed_plan_of([KINDS["pick_any"]], mixers=2)
    true = _truth(plan, "pick_any", 800)
    tallies = mixed_tallies(plan, true, 800, SURVEYS, seed=6)
    picks = [estimate_question(plan, tally, "asked").picks for tally in tallies]
    _sees([each is not None and inside(each.interval, true.sum() / 800) for each in picks])


GROUP = (YesNo(name="smokes"), Choice(name="pet", choices=Choices(["cat", "dog"])))


@pytest.mark.parametrize("people", CROWDS)
def test_groups_and_their_margins_cover(people: int) -> None:
    """Every cell, the one in which nothing is answered, and sums over cells."""
    plan = mixed_plan_of(GROUP, [["smokes", "pet"]], mixers=2)
    sixth = people // 6
    crowd = {
        (("smokes", True), ("pet", "cat")): 3 * sixth,
        (("smokes", False),): sixth,
        (): people - 4 * sixth,
    }
    true = np.zeros((3, 3))  # yes, no, unanswered by cat, dog, unanswered
    true[0, 0], true[1, 2], true[2, 2] = 3 * sixth, sixth, people - 4 * sixth
    tallies = list(mixed_tallies(plan, true_counts(plan, crowd), people, SURVEYS, seed=7))
    tables = [joint_table(plan, tally, ["smokes", "pet"]) for tally in tallies]
    _check_tables(tables, true, plan.blocks[0].precision.sigma)
    smokes = [estimate_question(plan, tally, "smokes") for tally in tallies]
    margins = true.sum(axis=1).tolist()
    columns = zip(*(estimate.all_rows for estimate in smokes), strict=True)
    for rows, value in zip(columns, margins, strict=True):
        _check_row(rows, value, plan.precision_of("smokes").sigma)
    shown = [sum(row.consistent for row in estimate.all_rows) for estimate in smokes]
    np.testing.assert_allclose(shown, people)


def _check_tables(tables: list[JointTable], true: NDArray[np.float64], sigma: float) -> None:
    counts = np.array([table.counts for table in tables])
    np.testing.assert_allclose(tables[0].standard_errors, sigma, rtol=2e-5)
    assert np.all(np.abs(counts.mean(axis=0) - true) < 5 * sigma / math.sqrt(SURVEYS))
    assert np.std(counts - true) == pytest.approx(sigma, rel=0.1)
    for cell in np.ndindex(true.shape):
        bands = [Interval(t.interval.low[cell], t.interval.high[cell]) for t in tables]
        _sees([inside(band, true[cell]) for band in bands])
    shown = [table.consistent.sum() for table in tables]
    np.testing.assert_allclose(shown, true.sum())


def test_shares_of_a_group_cover() -> None:
    """Among those with a cat, how many smoke."""
    plan = mixed_plan_of(GROUP, [["smokes", "pet"]])
    crowd = {
        (("smokes", True), ("pet", "cat")): 300,
        (("smokes", False), ("pet", "cat")): 100,
        (("pet", "dog"),): 400,
    }
    covered = []
    for tally in mixed_tallies(plan, true_counts(plan, crowd), 800, SURVEYS, seed=8):
        table = conditional_table(joint_table(plan, tally, ["smokes", "pet"]), "pet")
        covered.append(inside(table.group("cat")[0].interval, 0.75))
    _sees(covered)


@pytest.mark.parametrize("scale", [0.3, 0.5, 0.75, 1.0, 2.0])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_weighted_sums_stay_within_the_quantile(scale: float, confidence: float) -> None:
    """Enumerated: sums of two rows with whole and other weights, geometric noise of any width."""
    law = dummy_law(1.0, scale, 27)
    z = quantile_of(DummyModel(people=100, law=law, mixes=1), confidence)
    weights = np.array(law.weights, dtype=np.float64) / 2.0**63
    distance = np.arange(-law.reach, law.reach + 1)
    chances = np.outer(weights, weights)
    for second in np.linspace(-1, 1, 81):
        sums = distance[:, None] + second * distance
        far = np.abs(sums) > z * math.sqrt(law.variance * (1 + second**2)) * (1 + 1e-12)
        assert chances[far].sum() <= 1 - confidence


def test_two_tallies_are_compared() -> None:
    """Enumerated: a difference covers as often as it says, though little noise is not normal."""
    plan = mixed_plan_of([KINDS["yes_no"]], epsilon=2.0)
    law, sizes, true = plan.law_of(plan.lanes[0]), (800, 600), (400, 300)
    sides = [
        [_with_dummies(plan, people, yes, z) for z in range(2 * law.reach + 1)]
        for people, yes in zip(sizes, true, strict=True)
    ]
    weights = np.array(law.weights, dtype=np.float64) / 2.0**63
    laws = (dummies_of(plan, plan.blocks[0], 800), dummies_of(plan, plan.blocks[0], 600))
    covered = 0.0
    for first, second in np.ndindex(weights.size, weights.size):
        pair = sides[0][first], sides[1][second]
        (found,) = compare_surveys(*pair, laws)
        assert found.difference == pytest.approx(pair[1].rows[0].share - pair[0].rows[0].share)
        covered += weights[first] * weights[second] * inside(found.interval, 0.0)
    assert covered >= 0.95


def _with_dummies(plan: Plan, people: int, yes: int, dummies: int) -> QuestionEstimate:
    """The estimate where this many dummies were added to the answer yes."""
    lane = plan.lanes[0]
    nulls = np.array([people - yes + 2 * plan.law_of(lane).reach - dummies])
    more = {"nulls": int(nulls[0]), "lane_nulls": nulls, "batches": ("ab" * 32,)}
    tally = tally_of(plan, people, np.array([yes + dummies]), **more)
    return estimate_question(plan, tally, "asked")


def test_a_second_batch_of_a_round_is_refused() -> None:
    """It has dummies of its own, which nobody would subtract."""
    plan = mixed_plan_of([KINDS["choice"]])
    first, second = mixed_tallies(plan, _truth(plan, "choice", 400), 400, 2, seed=11)
    both = merged(first, replace(second, batches=("ff" * 32,)))
    for tally in (both, replace(first, batches=())):
        with pytest.raises(InvalidInput, match="must count one batch"):
            estimate_question(plan, tally, "asked")


def test_observe_speaks_of_dummies() -> None:
    """Its ratios are those of the dummies' law, and one mixer's alone are shown beside."""
    plan = mixed_plan_of([KINDS["choice"]])
    (tally,) = mixed_tallies(plan, _truth(plan, "choice", 400), 400, 1, seed=13)
    assert isinstance(observe(plan, tally), MixedSeen)
