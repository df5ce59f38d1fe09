"""Counts with flips and dummies: the law by fractions, coverage by simulation, results in words."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.mixed_surveys import both_tallies, drawn, mixed_plan_of
from analysis.simulated_surveys import true_counts
from effort import LONG
from krand.accounting.dummies import dummy_law
from krand.analysis.actual_promise import actual_flips, actual_promise
from krand.analysis.estimates.intervals import quantile_of
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.values import Interval
from krand.analysis.mechanisms.both import BothModel
from krand.analysis.mechanisms.devices import NoiseModel, row_tails
from krand.analysis.mechanisms.mixers import DummyModel
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.analysis.results_file import read_results
from krand.analysis.tally import Tally
from krand.analysis.verification.results import results_checks, tally_agrees
from krand.cli.result_tables import remarks
from krand.errors import InvalidInput
from krand.promise import DUMMY_GRID, DummyLaw
from krand.report.languages import language_of
from krand.report.page import report_page
from krand.report.promise import promise_view
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo

SURVEYS = 400 if LONG else 100
PLANNED = 2_000
QUESTIONS = (
    Choice(name="colour", choices=Choices(["red", "green", "blue"])),
    YesNo(name="smokes"),
    Number(name="age", edges=(0, 20, 40, 60)),
    PickAny(name="pets", choices=Choices(["cat", "dog", "fish"]), at_most=2),
    Words(name="tag", size=512, hashes=2),
)
ANSWERS = (
    ("colour", "red"),
    ("smokes", True),
    ("age", 30),
    ("pets", ("cat", "fish")),
    ("tag", "jazz"),
)
LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 8, DUMMY_GRID // 8))


def model(
    people: int, noise: float, law: DummyLaw, mixes: int = 1, cells: int = 1, most: int = 1
) -> BothModel:
    flips = NoiseModel(people=people, responses=people, noise=noise, cells=cells, most=most)
    dummies = DummyModel(people=people, law=law, mixes=mixes, cells=cells, most=most)
    return BothModel(flips=flips, dummies=dummies)


def product(first: Sequence[Fraction], second: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return found


def enumerated(law: BothModel, true_ones: int) -> list[Fraction]:
    """P[T = 0], P[T = 1], … in rational arithmetic."""
    q, trials = Fraction(law.flips.noise), law.flips.trials

    def binomial(n: int, chance: Fraction) -> list[Fraction]:
        return [comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)]

    found = product(binomial(true_ones, 1 - q), binomial(trials - true_ones, q))
    weights = [Fraction(weight, DUMMY_GRID) for weight in law.dummies.law.weights]
    for _ in range(law.dummies.draws):
        found = product(found, weights)
    return found


SMALL = [
    model(9, 0.25, LAW),
    model(12, 0.03125, dummy_law(1.0, 1.5, 6), mixes=2),
    model(5, 0.125, LAW, mixes=2, cells=3),
]


@pytest.mark.parametrize("law", SMALL)
def test_tails_are_those_of_rational_arithmetic(law: BothModel) -> None:
    """To eleven digits of 1, never below, for every count and every truth."""
    for true_ones in range(law.people + 1):
        chances = enumerated(law, true_ones)
        ones = np.arange(len(chances))
        truth = np.full(len(ones), true_ones)
        for found, exact in (
            (row_tails(law, truth, ones, at_least=True), [float(sum(chances[m:])) for m in ones]),
            (
                row_tails(law, truth, ones, at_least=False),
                [float(sum(chances[: m + 1])) for m in ones],
            ),
        ):
            np.testing.assert_allclose(found, exact, rtol=0, atol=1e-11)
            assert np.all(found >= np.array(exact) - 1e-15)


@pytest.mark.parametrize("law", SMALL)
def test_mean_and_variance_are_those_of_the_law(law: BothModel) -> None:
    """N·q + (p-q)·c + h·b·R, and N·p·q + h·b·σ²."""
    for true_ones in (0, law.people):
        chances = [float(chance) for chance in enumerated(law, true_ones)]
        ones = np.arange(len(chances))
        estimates = law.estimate(ones)
        assert float(estimates @ chances) == pytest.approx(true_ones)
        assert float((estimates - true_ones) ** 2 @ chances) == pytest.approx(law.sigma**2)


@pytest.mark.parametrize("law", SMALL)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_exact_intervals_cover_at_least_as_often_as_they_say(
    law: BothModel, confidence: float
) -> None:
    """Enumerated over every count, for every truth."""
    for people in range(law.people + 1):
        chances = enumerated(law, people)
        low, high = law.limits(np.arange(len(chances)), confidence)
        inside = (low - 1e-9 <= people) & (people <= high + 1e-9)
        covered = sum((c for c, held in zip(chances, inside, strict=True) if held), Fraction(0))
        assert covered >= Fraction(confidence)
    assert law.is_exact


WIDE = [
    model(100_000, 0.01, dummy_law(1.0, 12.0, 200)),
    model(100_000, 0.003, dummy_law(1.0, 40.0, 700)),
    model(20_000, 0.2, dummy_law(1.7, 20.0, 120), mixes=3, cells=4),
]
"""Many flips: the normal law of flips, with dummies of about the same, more, and less variance."""


@pytest.mark.parametrize("law", WIDE)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_wide_intervals_cover_as_often_as_they_say(law: BothModel, share: float) -> None:
    """A simulation with seed 5 of 40,000 counts: 95 % and 99 % within four deviations."""
    random, size, people = np.random.default_rng(5), 40_000, round(share * law.people)
    flips, dummies = law.flips, law.dummies
    ones = random.binomial(people, 1 - flips.noise, size)
    ones += random.binomial(flips.trials - people, flips.noise, size)
    ones += drawn(dummies.law, (size, dummies.draws), random).sum(axis=1)
    assert not law.is_exact
    unclipped = law.estimate(ones)
    assert unclipped.mean() == pytest.approx(people, abs=5 * law.sigma / math.sqrt(size))
    assert unclipped.std() == pytest.approx(law.sigma, rel=0.03)
    for confidence in (0.95, 0.99):
        low, high = law.limits(ones, confidence)
        covered = np.mean((low <= people) & (people <= high))
        spread = math.sqrt(confidence * (1 - confidence) / size)
        assert covered >= confidence - 4 * spread - 0.002
        if 0 < share < 1:  # not cut off at nobody or everybody
            assert covered <= confidence + 4 * spread + 0.004


@pytest.mark.check
def test_geometric_dummies_need_more_than_the_normal_law() -> None:
    """Heavier tails than flips: more standard deviations for sums; without dummies 1.96."""
    heavy = quantile_of(WIDE[1], 0.99)
    assert 2.6 < heavy < 3.3
    light = quantile_of(model(10**6, 0.25, LAW), 0.99)
    assert light == pytest.approx(2.576, abs=0.01)


@cache
def _plan() -> Plan:
    """Every kind of question, two of them together; two mixers, two batches."""
    return mixed_plan_of(
        QUESTIONS,
        [["colour", "smokes"]],
        mixers=2,
        batches=2,
        epsilon=4.0,
        crowd=PLANNED,
        noise=mechanisms.BOTH,
    )


def _true(people: int) -> NDArray[np.int64]:
    return true_counts(_plan(), {ANSWERS: people // 2, (): people - people // 2})


@cache
def _tally(people: int = PLANNED) -> Tally:
    (tally,) = both_tallies(_plan(), _true(people), people, 1, seed=1)
    return tally


@cache
def _results(people: int = PLANNED) -> Results:
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]})
    return make_results(_plan(), _tally(people), options)


def _inside(interval: Interval, value: float) -> bool:
    return interval.low - 1e-9 <= value <= interval.high + 1e-9


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("people", [12, PLANNED, 40_000])
def test_questions_are_unbiased_and_covered_in_any_crowd(people: int) -> None:
    """A simulation with seed 3 of surveys with two batches: every row, "unanswered" included.

    Of 100 surveys; intervals half as wide as they should be cover 67 %, the test allows 86 %. A
    bias is seen from half a standard error on. `make long` simulates 400 surveys.
    """
    plan, half = _plan(), people // 2
    truth = {"red": half, "green": 0, "blue": 0, "yes": half, "no": 0}
    truth |= {"cat": half, "dog": 0, "fish": half, "unanswered": people - half}
    held: dict[tuple[str, str], list[bool]] = {}
    counts: dict[tuple[str, str], list[float]] = {}
    errors: dict[tuple[str, str], float] = {}
    for tally in both_tallies(plan, _true(people), people, SURVEYS, seed=3, batches=2):
        for question in estimate_questions(plan, tally):
            for row in question.all_rows:
                key = question.name, row.label
                value = truth.get(row.label, half if row.label == "20 to under 40" else 0)
                held.setdefault(key, []).append(_inside(row.interval, value))
                counts.setdefault(key, []).append(row.count - value)
                errors[key] = row.standard_error
    for key, seen in held.items():
        assert np.mean(seen) >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / SURVEYS), key
        assert abs(np.mean(counts[key])) < 5 * errors[key] / math.sqrt(SURVEYS), key
        assert np.std(counts[key]) == pytest.approx(errors[key], rel=0.25), key


def test_counts_are_as_precise_as_planned() -> None:
    """In the planned crowd, with as many batches as planned."""
    (tally,) = both_tallies(_plan(), _true(PLANNED), PLANNED, 1, seed=1, batches=2)
    found = make_results(_plan(), tally)
    for question in found.questions:
        planned = _plan().precision_of(question.name).sigma
        assert question.rows[0].standard_error == pytest.approx(planned, rel=2e-5)


def test_answers_and_unanswered_add_up_to_the_people() -> None:
    """A flip makes empty messages, so that "unanswered" is what all answers leave."""
    for question in _results().questions:
        if question.unanswered is not None:
            total = sum(row.consistent for row in question.all_rows)
            assert total == pytest.approx(PLANNED)


def test_words_and_joint_tables_are_found() -> None:
    """Somebody's word; the cell that half of the people are in."""
    found = _results()
    jazz, rock = found.words[0].rows
    assert jazz.found
    assert jazz.low <= PLANNED / 2 <= jazz.high
    assert not rock.found
    table = found.joint[0].table
    assert table.interval.low[0, 0] <= PLANNED / 2 <= table.interval.high[0, 0]


def test_the_laws_of_a_question_are_those_of_its_group() -> None:
    """Rounds are compared with the tails of flips and dummies."""
    law = law_of(_results(), "smokes")
    assert isinstance(law, BothModel)
    assert law.sigma == pytest.approx(_results().questions[1].rows[0].standard_error)


@pytest.mark.parametrize("people", [12, PLANNED - 1])
def test_a_crowd_that_is_not_reached_voids_only_the_promise_of_flips(people: int) -> None:
    """The mixers' promise is that of the plan; results, remarks and report say so."""
    plan, tally = _plan(), _tally(people)
    actual = actual_promise(plan, tally).rounded(plan.survey.policy)
    assert actual == replace(plan.promise, crowd=people)
    assert actual_flips(plan, tally) is None
    found = _results(people)
    assert found.kept
    assert found.flips is None
    said = "that noise alone promises nothing; the promise of the mixers holds all the same"
    assert said in next(iter(remarks(found)))
    assert any(said in term.text for term in promise_view(found, language_of("en")).terms)
    assert said in " ".join(report_page(found).split())


@pytest.mark.check
def test_a_crowd_that_is_reached_has_both_promises() -> None:
    """That of flips is the planned one; refused messages may come from people without noise."""
    plan = _plan()
    found = _results()
    assert found.flips is not None
    assert found.flips.rounded(plan.survey.policy) == plan.flips
    assert "The noise of devices alone promises ε = 4, δ = " in next(iter(remarks(found)))
    refused = actual_flips(plan, replace(_tally(), rejected={"malformed": 7}))
    assert refused is not None
    assert plan.flips is not None
    assert refused.colluding == plan.flips.colluding + 7
    assert refused.delta > plan.flips.delta


@pytest.mark.parametrize("people", [12, PLANNED])
def test_results_are_read_back_and_recomputed(tmp_path: Path, people: int) -> None:
    """Every check of the file holds, and the tally gives the same again."""
    found = _results(people)
    found.save(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == found
    values = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    checks, _ = results_checks(values, "results.json", _plan())
    assert [(entry.name, entry.says) for entry in checks if entry.state == "failed"] == []
    assert "flips" in [entry.name for entry in checks]
    assert tally_agrees(found, _plan(), _tally(people)).holds


@pytest.mark.check
def test_a_promise_of_flips_that_is_too_good_is_found() -> None:
    """A smaller δ, or any promise to a crowd that is too small."""
    values = json.loads(json.dumps(_results().values()))
    values["flips"]["delta"] /= 2
    small = json.loads(json.dumps(_results(12).values()))
    small["flips"] = json.loads(json.dumps(_results().values()))["flips"]
    for changed in (values, small):
        checks, _ = results_checks(changed, "results.json", _plan())
        assert "flips" in {entry.name for entry in checks if entry.state == "failed"}


def test_other_results_have_no_promise_of_flips() -> None:
    """It stands in the file only where devices and mixers add noise."""
    plan = mixed_plan_of([YesNo(name="a")])
    tally = next(both_tallies(plan, np.array([5]), 10, 1, seed=1))
    values = json.loads(json.dumps(make_results(plan, tally).values()))
    assert "flips" not in values
    values["flips"] = values["promise"]
    with pytest.raises(InvalidInput, match="format"):
        results_checks(values, "results.json", plan)
