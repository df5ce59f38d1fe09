"""Shares inside groups, and whether two questions are related."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from analysis.simulated_surveys import noisy_tables, plan_of, record_tallies, tally_of
from krand.accounting.division import Share
from krand.accounting.dummy_division import divide_dummies
from krand.analysis.estimates.counted import nearest_possible
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.values import Band
from krand.analysis.joint.conditional import conditional_table
from krand.analysis.joint.independence import independence_test
from krand.analysis.joint.table_noise import IndependentCells
from krand.analysis.joint.tables import JointTable, joint_table
from krand.analysis.mechanisms.mixers import DummyModel
from krand.errors import InvalidInput
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.questions import Choice, YesNo

PEOPLE = 8_000
A = Choice(name="a", choices=Choices(["x", "y", "z"]))
B = Choice(name="b", choices=Choices(["u", "v"]))
RELATED = np.array([[0.25, 0.05], [0.1, 0.2], [0.1, 0.2]])
UNRELATED = np.outer([0.3, 0.3, 0.3], [0.4, 0.6])


def _tables(
    shares: NDArray[np.float64], linkage: Linkage, repeats: int, seed: int, noise: float = 0.05
) -> list[JointTable]:
    """Crowds drawn from a population with these shares (the rest is silent), then randomized."""
    random = np.random.default_rng(seed)
    chances = np.append(shares.ravel(), 1 - shares.sum())
    tables = []
    groups = [["a", "b"]] if linkage is Linkage.BIT else []
    plan = plan_of([A, B], noise, PEOPLE, groups, linkage)
    ones = np.array(list(itertools.product((0, 1), repeat=5)))
    for cells in random.multinomial(PEOPLE, chances, repeats):
        if linkage is Linkage.BIT:
            true = np.zeros((4, 3), dtype=np.int64)
            true[1:, 1:] = cells[:-1].reshape(3, 2)
            flat = true.ravel()[1:]
            counts = random.binomial(flat, 1 - noise) + random.binomial(PEOPLE - flat, noise)
            tally = tally_of(plan, PEOPLE, counts)
        else:
            patterns = np.zeros(32, dtype=np.int64)
            for i in range(3):
                for j in range(2):
                    patterns[(1 << (4 - i)) + (1 << (1 - j))] = cells[2 * i + j]
            patterns[0] = cells[-1]
            table = noisy_tables(plan, patterns, 1, random)[0]
            tally = tally_of(plan, PEOPLE, table @ ones, table=table)
        tables.append(joint_table(plan, tally, ["a", "b"]))
    return tables


@pytest.mark.check
@pytest.mark.parametrize("linkage", list(Linkage))
def test_conditional_shares_are_covered(linkage: Linkage) -> None:
    """Either question given the other, for the population that the crowds were drawn from."""
    tables = _tables(RELATED, linkage, 500, seed=61)
    for given, truth in (
        ("a", RELATED / RELATED.sum(axis=1, keepdims=True)),
        ("b", (RELATED / RELATED.sum(axis=0)).T),
    ):
        found = [conditional_table(table, given, Sampling()) for table in tables]
        covered, off = [], []
        for table in found:
            for group, shares in zip(table.groups, truth, strict=True):
                for cell, share in zip(group, shares, strict=True):
                    covered.append(cell.interval.low <= share <= cell.interval.high)
                    off.append((cell.share - share) / cell.standard_error)
        assert 0.94 <= np.mean(covered) <= 0.96
        assert np.mean(np.square(off)) == pytest.approx(1, abs=0.08)
        assert abs(np.mean(off)) < 0.1


def test_a_group_that_may_be_empty_says_anything_is_possible() -> None:
    """From 0 to 1, instead of a narrow guess."""
    plan = plan_of([A, B], 0.05, PEOPLE, [["a", "b"]])
    counts = np.full(11, 400)
    counts[3:] += 500
    shares = conditional_table(joint_table(plan, tally_of(plan, PEOPLE, counts), ["a", "b"]), "a")
    assert shares.groups[0][0].share is not None
    lost = tally_of(plan, PEOPLE, counts - 500 * (np.arange(11) < 5))
    table = joint_table(plan, lost, ["a", "b"])
    shares = conditional_table(table, "a")
    assert shares.groups[0][0].share is None
    assert shares.groups[0][0].interval.low == 0
    assert shares.groups[0][0].interval.high == 1
    assert shares.group("x") == shares.groups[0]
    with pytest.raises(InvalidInput, match="the answers are x, y, z"):
        shares.group("w")


def test_the_noise_turns_with_the_table() -> None:
    """Given the second question: as with the questions exchanged."""
    plan = plan_of([A, B], 0.2, PEOPLE, linkage=Linkage.RECORD)
    patterns = np.zeros(32, dtype=np.int64)
    patterns[[0b10010, 0b01010, 0b00110, 0b00101]] = 4_000, 1_000, 500, 2_500
    (tally,) = record_tallies(plan, patterns, 1, seed=60)
    there = conditional_table(joint_table(plan, tally, ["a", "b"]), "b")
    here = conditional_table(joint_table(plan, tally, ["b", "a"]), "b")
    for left, right in zip(there.groups, here.groups, strict=True):
        for one, other in zip(left, right, strict=True):
            assert (one.given, one.label) == (other.given, other.label)
            assert one.standard_error == pytest.approx(other.standard_error)
            assert one.interval.low == pytest.approx(other.interval.low)


@pytest.mark.check
@pytest.mark.parametrize("linkage", list(Linkage))
def test_the_independence_test_keeps_its_level(linkage: Linkage) -> None:
    """5 % rejects 4 to 6 % of 2,000 unrelated crowds."""
    rejected = [independence_test(t).p_value < 0.05 for t in _tables(UNRELATED, linkage, 2_000, 62)]
    assert 0.04 <= np.mean(rejected) <= 0.06


@pytest.mark.check
def test_the_level_holds_where_noise_is_most_of_the_variance() -> None:
    """Whole records at q = 0.25: the plain test on estimated counts would reject far too often."""
    tables = _tables(UNRELATED, Linkage.RECORD, 1_000, 63, noise=0.25)
    assert 0.03 <= np.mean([independence_test(t).p_value < 0.05 for t in tables]) <= 0.07
    cells = [np.maximum(table.counts[:3, :2], 1) for table in tables[:200]]
    plain = [chi2_contingency(cell, correction=False)[1] for cell in cells]
    assert np.mean(np.array(plain) < 0.05) > 0.3


@pytest.mark.check
def test_the_level_holds_with_the_heavier_tails_of_dummies() -> None:
    """Of 3,000 unrelated crowds 5 % rejects 4 to 6 %; by the normal law it would be 7 %."""
    random, people, four = np.random.default_rng(63), 400, np.full(4, 0.25)
    base, noise = _mixed_table(people)
    errors, masses = noise.jumps()
    normal = replace(base, noise=_Normal(noise.law))
    found = []
    for _ in range(3_000):
        cells = np.zeros((5, 5))
        cells[:4, :4] = random.multinomial(people, np.outer(four, four).ravel()).reshape(4, 4)
        cells += random.choice(errors, size=(5, 5), p=masses / masses.sum())
        fitted = nearest_possible(cells.ravel(), people).reshape(5, 5)
        tables = (replace(each, counts=cells, consistent=fitted) for each in (base, normal))
        found.append([independence_test(table).p_value < 0.05 for table in tables])
    exact, by_normal = np.mean(found, axis=0)
    assert 0.04 <= exact <= 0.06
    assert by_normal > 0.062


def test_a_table_that_is_mostly_noise_is_not_tested() -> None:
    """The number would depend on the noise more than on the people."""
    table, _ = _mixed_table(60)
    with pytest.raises(InvalidInput, match="margins of error"):
        independence_test(table)


class _Normal(IndependentCells):
    """The same covariance, taken for normal."""

    def jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.zeros(1), np.ones(1)


def _mixed_table(people: int) -> tuple[JointTable, IndependentCells]:
    """Two questions of four answers, all equally frequent, with one mixer's noise at ε = 0.5."""
    policy = Policy(epsilon=0.5, delta=1e-6, minimum_crowd=2)
    law = divide_dummies(policy, [Share(2)]).laws[0]
    noise = IndependentCells(DummyModel(people=people, law=law, mixes=1))
    cells, labels = np.zeros((5, 5)), ("a", "b", "c", "d", "unanswered")
    cells[:4, :4] = people / 16
    band = Band(cells, cells)
    table = JointTable(
        questions=("first", "second"),
        labels=(labels, labels),
        answers=(4, 4),
        people=people,
        confidence=0.95,
        counts=cells,
        consistent=cells,
        standard_errors=np.full((5, 5), noise.law.sigma),
        interval=band,
        simultaneous=band,
        readable=np.ones((5, 5), dtype=bool),
        noise=noise,
    )
    return table, noise


@pytest.mark.parametrize("linkage", list(Linkage))
def test_the_independence_test_finds_what_is_related(linkage: Linkage) -> None:
    """Every time, for a strong relation in a crowd of 8,000; often for a faint one."""
    assert all(independence_test(t).p_value < 1e-6 for t in _tables(RELATED, linkage, 30, 64))
    faint = UNRELATED + 0.012 * np.array([[1, -1], [-1, 1], [0, 0]])
    found = [independence_test(t).p_value < 0.05 for t in _tables(faint, linkage, 200, 65)]
    assert np.mean(found) > 0.35


@pytest.mark.parametrize("linkage", list(Linkage))
def test_without_noise_it_is_pearsons_test(linkage: Linkage) -> None:
    """The statistic and p-value of scipy, to six digits."""
    (table,) = _tables(RELATED, linkage, 1, seed=66, noise=1e-9)
    found = independence_test(table)
    pearson = chi2_contingency(np.rint(table.counts[:3, :2]), correction=False)
    assert found.statistic == pytest.approx(pearson.statistic, rel=1e-5)
    assert found.degrees == pearson.dof == 2
    (calm,) = _tables(UNRELATED, linkage, 1, seed=67, noise=1e-9)
    pearson = chi2_contingency(np.rint(calm.counts[:3, :2]), correction=False)
    assert independence_test(calm).p_value == pytest.approx(pearson.pvalue, rel=1e-4)


def test_answers_that_nobody_gave_are_left_out() -> None:
    """They cost degrees of freedom and say nothing; with too few left the test is refused."""
    shares = np.array([[0.3, 0.3], [0.2, 0.2], [0, 0]])
    (table,) = _tables(shares, Linkage.BIT, 1, seed=68, noise=1e-9)
    fitted = table.consistent.copy()
    fitted[2] = 0
    found = independence_test(replace(table, consistent=fitted))
    assert found.left_out == ("a=z",)
    assert found.degrees == 1
    fitted[1] = 0
    with pytest.raises(InvalidInput, match="two answers"):
        independence_test(replace(table, consistent=fitted))


def test_only_two_way_tables_are_tested_and_divided() -> None:
    """Three questions have no single group to condition on."""
    questions = [A, B, YesNo(name="c")]
    plan = plan_of(questions, 0.05, PEOPLE, [["a", "b", "c"]])
    tally = tally_of(plan, PEOPLE, np.full(plan.layout.positions, 500))
    cube = joint_table(plan, tally, ["a", "b", "c"])
    with pytest.raises(InvalidInput, match="two questions"):
        independence_test(cube)
    with pytest.raises(InvalidInput, match="two questions"):
        conditional_table(cube, "a")
    with pytest.raises(InvalidInput, match="two questions"):
        conditional_table(joint_table(plan, tally, ["a", "b"]), "c")
