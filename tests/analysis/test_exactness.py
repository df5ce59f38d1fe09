"""Estimates and intervals, against computations of their own by the formulas of the method.

What is computed here is slow and plain: convolved laws, every truth tried, equations checked at
the ends of intervals. docs/explanation/method.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chi2_contingency

import coverage_table
import estimates
import krand
from coverage_table import Case, Round, draws_of, plan_of, rounds_of
from draws import Draws, law_of_ones, tally_of
from krand.testing import unsafe_exact_plan

FEW, MANY = 150, 10_000
TAIL, Z = 0.025, 1.959963984540054
Floats = NDArray[np.float64]


@cache
def tails(trials: int, copies: int, people: int, noise: float) -> tuple[Floats, Floats]:
    """P[M ≥ m] and P[M ≤ m] for every truth, row by row."""
    table = np.array([law_of_ones(copies * d, trials, noise) for d in range(people + 1)])
    return np.cumsum(table[:, ::-1], axis=1)[:, ::-1], np.cumsum(table, axis=1)


def every_truth_tried(
    ones: int, trials: int, copies: int, people: int, noise: float, tail: float = TAIL
) -> tuple[int, int]:
    """The least and the greatest number of people that do not contradict the count.

    A count below what nobody gives on average says as much as that one, and the same above.
    """
    nobody = trials * noise
    most = nobody + copies * people * (1 - 2 * noise)
    at_least, at_most = tails(trials, copies, people, noise)
    low = np.flatnonzero(at_least[:, min(ones, math.floor(most))] > tail)
    high = np.flatnonzero(at_most[:, max(ones, math.ceil(nobody))] > tail)
    return (int(low[0]) if len(low) else people), (int(high[-1]) if len(high) else 0)


@pytest.mark.parametrize("noise", ["flips", "record", "copies"])
def test_few_flips_are_searched_from_their_exact_law(noise: str) -> None:
    """Whatever was counted: answers alone, and all that hold together."""
    plan, random = plan_of(noise), np.random.default_rng(3)
    copies, trials = plan.survey.copies, plan.survey.copies * FEW
    for _ in range(4):
        counts = random.integers(0, trials + 1, plan.layout.positions)
        results = krand.make_results(plan, tally_of(plan, FEW, counts))
        for name in ("first", "mood"):
            place = plan.block_of(name).offset
            q, rows = plan.block_of(name).noise, estimates.counts(results, name)
            each = 1 - 0.95 ** (1 / max(1, len(rows)))
            wider = estimates.counts_together(results, name)
            for offset, label in enumerate(label for label in rows if label != "unanswered"):
                ones, seen = int(counts[place + offset]), rows[label]
                estimate = (ones / copies - q * FEW) / (1 - 2 * q)
                assert seen.unbiased == pytest.approx(estimate)
                for found, tail in ((seen, TAIL), (wider[label], each / 2)):
                    low, high = every_truth_tried(ones, trials, copies, FEW, q, tail)
                    expected = min(low, seen.value), max(high, seen.value)
                    assert (found.low, found.high) == pytest.approx(expected), (label, ones)


def test_people_who_gave_no_answer_are_what_all_answers_leave() -> None:
    """And an answer to a question of a group adds up cells: counts of more bits, with their law."""
    plan, random = plan_of("flips"), np.random.default_rng(4)
    colour, group = plan.block_of("colour"), plan.block_of("team")
    for _ in range(4):
        counts = random.integers(0, FEW // 2, plan.layout.positions)
        results = krand.make_results(plan, tally_of(plan, FEW, counts))
        silent = estimates.counts(results, "colour")["unanswered"]
        ones = int(counts[colour.offset : colour.offset + 3].sum())
        low, high = every_truth_tried(ones, 3 * FEW, 1, FEW, colour.noise)
        expected = min(FEW - high, silent.value), max(FEW - low, silent.value)
        assert (silent.low, silent.high) == pytest.approx(expected)
        # cells are unanswered × yes, unanswered × no, then red × unanswered, yes, no, and blue
        ones = int(counts[group.offset + 2 : group.offset + 5].sum())
        red = estimates.counts(results, "team")["red"]
        low, high = every_truth_tried(ones, 3 * FEW, 1, FEW, group.noise)
        assert (red.low, red.high) == pytest.approx((min(low, red.value), max(high, red.value)))
        assert red.unbiased == pytest.approx((ones - 3 * FEW * group.noise) / (1 - 2 * group.noise))


@pytest.mark.parametrize("noise", ["flips", "record", "copies"])
def test_many_flips_are_normal_but_for_their_skewness(noise: str) -> None:
    """d ± zσ, moved by (1-2d/N)(z²-1)/6k; how many responses there are decides, not people."""
    plan = plan_of(noise)
    q, copies = plan.block_of("first").noise, plan.survey.copies
    refused = 0 if noise == "flips" else 1_000
    responses = copies * MANY - refused
    for people in (1_000, 8_000):
        ones = round(people * responses / MANY * (1 - 2 * q) + responses * q)
        tally = tally_of(plan, MANY, np.full(plan.layout.positions, ones))
        if refused:
            lanes = np.zeros(len(plan.lanes), np.int64)
            rejected = {"malformed": refused}
            tally = replace(tally, responses=responses, rejected=rejected, lane_nulls=lanes)
        seen = estimates.counts(krand.make_results(plan, tally), "first")["yes"]
        per_person = responses / MANY
        middle = (ones - responses * q) / (1 - 2 * q) / per_person
        sigma = math.sqrt(responses * q * (1 - q)) / (1 - 2 * q) / per_person
        assert (seen.unbiased, seen.error) == pytest.approx((middle, sigma))
        middle -= (1 - 2 * middle / MANY) * (Z * Z - 1) / 6 / per_person
        low, high = middle - Z * sigma, middle + Z * sigma
        assert (seen.low, seen.high) == pytest.approx((min(low, seen.value), max(high, seen.value)))


def dummies(plan: krand.Plan, question: str, draws: int) -> tuple[float, Floats]:
    """The mean of so many numbers of dummies, and the chance of every distance 0, 1, … from it."""
    block = plan.block_of(question)
    (law, *_) = (plan.law_of(lane) for lane in plan.lanes if lane.offset == block.offset)
    one, masses = np.array(law.weights, np.float64) / 2.0**63, np.ones(1)
    for _ in range(draws):
        masses = np.convolve(masses, one)
    middle = len(masses) // 2
    above = masses[middle:].copy()
    above[1:] *= 2
    return float(middle), above


@pytest.mark.parametrize(("noise", "mixers"), [("mixer", 1), ("mixers", 3)])
def test_dummies_are_taken_off_and_bounded_by_their_exact_law(noise: str, mixers: int) -> None:
    """T - nR ± w, for n numbers of dummies: of every mixer, at every position of a row."""
    plan = plan_of(noise)
    (found,) = rounds_of(Case(noise, MANY), 1, 5)
    tally = found.tally
    for name, label, cells, first in (("first", "yes", 1, 0), ("team", "red", 3, 2)):
        mean, masses = dummies(plan, name, mixers * cells)
        (width,) = np.flatnonzero(np.cumsum(masses) >= 0.95)[:1]
        offset = plan.block_of(name).offset + first
        estimate = tally.counts[offset : offset + cells].sum() - mean
        seen = estimates.counts(found.results, name)[label]
        assert seen.unbiased == estimate
        ends = min(estimate - width, seen.value), max(estimate + width, seen.value)
        assert (seen.low, seen.high) == pytest.approx(ends)
        variance = float(masses @ np.arange(len(masses)) ** 2)
        assert seen.error == pytest.approx(math.sqrt(variance))


def test_four_rounds_have_the_dummies_of_four_rounds() -> None:
    """Their mean is of all people of these rounds, with the exact law of the sum."""
    found = list(rounds_of(Case("mixers", MANY), 4, 6))
    mean = krand.make_trend([each.results for each in found]).line("first", "yes").mean
    assert mean is not None
    rows = [estimates.counts(each.results, "first")["yes"] for each in found]
    _, masses = dummies(plan_of("mixers"), "first", 4 * 3)
    (width,) = np.flatnonzero(np.cumsum(masses) >= 0.95)[:1]
    share = sum(row.unbiased or 0.0 for row in rows) / (4 * MANY)
    assert mean.share == pytest.approx(share)
    half = width / (4 * MANY)
    assert (mean.interval.low, mean.interval.high) == pytest.approx((share - half, share + half))


@pytest.mark.parametrize("population", [40_000, "everybody"])
def test_a_sample_says_less_about_those_who_were_not_asked(population: int | str) -> None:
    """Wilson's interval with noise: at its ends (s-π)² = z²(σ² + c·π(1-π)); and so are ratios."""
    plan = plan_of("flips")
    (found,) = rounds_of(Case("flips", MANY), 1, 7)
    results = krand.make_results(plan, found.tally, krand.ResultsOptions(sample_of=population))
    left = 1.0 if population == "everybody" else (population - MANY) / (population - 1)
    for name in ("first", "second", "gate"):
        seen = estimates.shares(results, name)["yes"]
        assert seen.unbiased is not None
        assert seen.error is not None
        for end in (seen.low, seen.high):
            spread = seen.error**2 + left / MANY * end * (1 - end)
            assert (seen.unbiased - end) ** 2 == pytest.approx(Z**2 * spread)
    with pytest.raises(krand.InvalidInput, match="at least the crowd of 10,000"):
        krand.make_results(plan, found.tally, krand.ResultsOptions(sample_of=MANY - 1))


def test_means_have_fiellers_intervals() -> None:
    """At the ends of a ratio X/Y: (X-θY)² = z²·Var(X-θY), with the noise of every answer."""
    (found,) = rounds_of(Case("flips", MANY), 1, 8)
    rows = estimates.counts(found.results, "mood")
    people = np.array([rows[label].unbiased for label in "123"], np.float64)
    shown = np.array([rows[label].value for label in "123"])
    values = {"mean": [1, 2, 3], "top_box": [0, 0, 1], "bottom_box": [1, 0, 0]}
    for name, weights in values.items():
        seen = estimates.summaries(found.results, "mood")[name]
        assert seen.value == pytest.approx(shown @ weights / shown.sum())
        for end in (seen.low, seen.high):
            sides = np.array(weights) - end
            spread = float(sides @ sides) * (rows["1"].error or 0.0) ** 2
            assert (sides @ people) ** 2 == pytest.approx(Z**2 * spread)


def test_what_is_shown_is_the_nearest_that_people_could_have_given() -> None:
    """As a general optimizer finds it: nobody is negative, and nobody gives two answers to one."""
    plan, random = plan_of("flips"), np.random.default_rng(9)
    for _ in range(3):
        counts = random.integers(0, FEW // 2, plan.layout.positions)
        results = krand.make_results(plan, tally_of(plan, FEW, counts))
        for name, most in (("colour", 1), ("pets", 2)):
            rows = [v for k, v in estimates.counts(results, name).items() if k != "unanswered"]
            raw = np.array([row.unbiased for row in rows])
            nearest = minimize(
                lambda x, raw=raw: ((x - raw) ** 2).sum(),
                np.full(len(raw), 10.0),
                bounds=[(0, FEW)] * len(raw),
                constraints={"type": "ineq", "fun": lambda x, most=most: FEW * most - x.sum()},
                options={"ftol": 1e-12, "maxiter": 500},
            )
            assert [row.value for row in rows] == pytest.approx(nearest.x, abs=0.01)


def test_a_table_of_records_is_inverted_bit_by_bit() -> None:
    """By the inverse matrix of all vectors of three bits, and the variance of every person's part.

    A person in cell (t, h) adds a product of two factors, whose variances are v for a bit, and 2v
    for "none of two answers".
    """
    plan = plan_of("copies")
    (found,) = rounds_of(Case("copies", FEW), 1, 10)
    tally = found.tally
    q, copies = plan.blocks[0].noise, plan.survey.copies
    happy, red = plan.block_of("happy").offset, plan.block_of("team").offset
    assert tally.table is not None
    whole = tally.table.reshape((2,) * tally.positions)
    bits = (red, red + 1, happy)
    kept = whole.sum(axis=tuple(axis for axis in range(whole.ndim) if axis not in bits))
    kept = np.transpose(kept, np.argsort(np.argsort(bits)))
    flip = np.array([[1 - q, q], [q, 1 - q]])
    back = np.linalg.solve(np.kron(np.kron(flip, flip), flip), kept.ravel()) / copies
    back = back.reshape(2, 2, 2)
    one, two = back[1].sum(axis=0), back[:, 1].sum(axis=0)
    people = np.array([one[::-1], two[::-1], (back.sum(axis=(0, 1)) - one - two)[::-1]])
    seen = list(estimates.cells(found.results).values())
    assert [each.unbiased for each in seen] == pytest.approx(people.ravel())
    v = q * (1 - q) / (1 - 2 * q) ** 2
    shown, spread = np.array([each.value for each in seen]).reshape(3, 2), np.zeros((3, 2))
    for cell in np.ndindex(3, 2):
        for person in np.ndindex(3, 2):
            mean = [float(a == b) for a, b in zip(cell, person, strict=True)]
            first = mean[0] + (2 * v if cell[0] == 2 else v)
            spread[cell] += shown[person] * (first * (mean[1] + v) - mean[0] * mean[1])
    errors = [each.error for each in seen]
    assert errors == pytest.approx(np.sqrt(spread / copies).ravel())


@pytest.mark.parametrize("noise", ["flips", "record"])
def test_without_noise_everything_is_what_people_said(noise: str) -> None:
    """Every statistic, as it was counted; and the test of independence is Pearson's."""
    survey = plan_of(noise).survey.changed(trust=krand.Trust(noise="devices"))
    draws = Draws(unsafe_exact_plan(survey), draws_of(noise).answers)
    people = np.rint(coverage_table.chances(related=True) * 20_000).astype(np.int64)
    linked = noise == "record"
    options = krand.ResultsOptions(
        joint=(("team", "happy"),) if linked else (),
        candidates={} if linked else {"town": coverage_table.TOWNS},
    )
    tally = draws.tally(people, np.random.default_rng(1))
    truth = coverage_table.Truth(draws.answers, tuple(people.tolist()))
    found = Round(krand.make_results(draws.plan, tally, options), truth, tally)
    seen = 0
    for statistic in coverage_table.OF_ONE:
        for trial in statistic(found):
            assert trial.held, (statistic.__name__, trial)
            if trial.seen is not None:
                seen += 1
                assert trial.seen.value == pytest.approx(trial.truth, rel=1e-3, abs=1e-3), trial
    assert seen > (40 if linked else 70)
    rows = estimates.cells(found.results)
    said = [name for name in dict.fromkeys(name for _, name in rows) if name != "unanswered"]
    table = [[round(rows[team, name].value) for name in said] for team in ("red", "blue")]
    pearson = chi2_contingency(table, correction=False)
    test = found.results.joint[0].independence
    assert test is not None
    assert (test.statistic, test.degrees) == (pytest.approx(pearson.statistic, rel=1e-4), 1)
    assert estimates.quantiles(found.results, "age")[0.5] == (pytest.approx(11), 10, 20)
