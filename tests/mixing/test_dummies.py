"""Dummies: exact draws, the right numbers of tokens and nulls, nothing kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtrc

from effort import LONG
from krand.accounting.dummy_bounds import dummy_law
from krand.batches.chain import dummies_allowed
from krand.mixing.dummies import (
    NULL,
    draw_lane,
    draw_numbers,
)
from krand.promise import DUMMY_GRID, DummyLaw
from krand.randomness.generator import SecureRandom
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from mixing.chains import mixed_plan_for

DRAWS = 10**7 if LONG else 10**6
ALPHA = 1e-6
LAWS = (
    dummy_law(1.0, 1.0, 14),
    dummy_law(1.0, 2.0, 27),
    dummy_law(1.3, 11.0, 80),
    dummy_law(2.0, 24.0, 140),
    DummyLaw((DUMMY_GRID - 2 * 2**61, 2**61)),
)


class Scripted:
    """A generator whose words a test has chosen; it counts how often it was refreshed."""

    def __init__(self, *words: int) -> None:
        self.left, self.refreshed = list(words), 0

    def words(self, count: int, dtype: Any) -> NDArray[Any]:
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype)

    def refresh(self) -> None:
        self.refreshed += 1


def p_value(law: DummyLaw, drawn: NDArray[np.int64]) -> float:
    """Of a chi-square test; outcomes that are expected fewer than ten times are taken together."""
    expected = np.array(law.weights, float) * (drawn.size / DUMMY_GRID)
    found = np.bincount(drawn, minlength=expected.size).astype(float)
    rare = expected < 10
    cells = np.append(expected[~rare], expected[rare].sum())
    seen = np.append(found[~rare], found[rare].sum())
    keep = cells > 0
    statistic = float((((seen - cells) ** 2)[keep] / cells[keep]).sum())
    return float(chdtrc(keep.sum() - 1, statistic))


@pytest.mark.loop
@pytest.mark.parametrize("law", LAWS, ids=[f"reach {law.reach}" for law in LAWS])
def test_numbers_have_their_law(law: DummyLaw) -> None:
    """A chi-square test over all outcomes; `make long` draws ten times as many."""
    drawn = draw_numbers(law, DRAWS, SecureRandom())
    assert drawn.min() >= 0
    assert drawn.max() <= 2 * law.reach
    assert p_value(law, drawn) > ALPHA


def test_the_chi_square_test_sees_a_wrong_law() -> None:
    """A scale that is three per cent too large, or a mean that is off by one, is found."""
    law, wider = dummy_law(1.0, 2.0, 27), dummy_law(1.0, 2.06, 27)
    drawn = draw_numbers(wider, 10**6, SecureRandom())
    assert p_value(law, drawn) < ALPHA
    assert p_value(wider, np.clip(drawn + 1, 0, 54)) < ALPHA


@pytest.mark.parametrize("law", LAWS, ids=[f"reach {law.reach}" for law in LAWS])
def test_each_outcome_owns_exactly_its_weight(law: DummyLaw) -> None:
    """The first and the last 63-bit number of every outcome: the law is exact, to the integer."""
    end = 0
    for outcome, weight in enumerate(law.weights):
        first, end = end, end + weight
        words = [2 * first, 2 * first + 1, 2 * (end - 1), 2 * (end - 1) + 1]
        found = draw_numbers(law, 4, Scripted(*words))  # type: ignore[arg-type]
        assert found.tolist() == [outcome] * 4
    assert end == DUMMY_GRID


@pytest.fixture(scope="module")
def plan() -> Plan:
    return mixed_plan_for(mixers=3).plan


def kinds(plan: Plan) -> dict[str, Lane]:
    single, several, padded = plan.lanes
    assert single.is_single
    assert several.has_noisy_nulls
    assert padded.messages > 1
    return {"single": single, "several": several, "padded": padded}


def test_a_single_position_gets_as_many_dummies_whatever_is_drawn(plan: Plan) -> None:
    """Always 2R: Z tokens and 2R - Z nulls, so that nulls tell nothing more."""
    lane = kinds(plan)["single"]
    reach, random = plan.law_of(lane).reach, SecureRandom()
    drawn = [draw_lane(plan, lane, random) for _ in range(500)]
    assert {found.total for found in drawn} == {2 * reach}
    assert all(found.nulls == 2 * reach - found.tokens[0] for found in drawn)
    assert len({found.nulls for found in drawn}) > 1


@pytest.mark.check
def test_nulls_of_a_choice_have_noise_of_their_own(plan: Plan) -> None:
    """The number of nulls has the law of a position, and does not follow from the tokens."""
    lane = kinds(plan)["several"]
    random = SecureRandom()
    drawn = [draw_lane(plan, lane, random) for _ in range(20_000)]
    nulls = np.array([found.nulls for found in drawn])
    tokens = np.array([found.tokens.sum() for found in drawn])
    assert p_value(plan.law_of(lane), nulls) > ALPHA
    assert abs(np.corrcoef(nulls, tokens)[0, 1]) < 0.05
    for place in range(lane.positions):
        counts = np.array([found.tokens[place] for found in drawn])
        assert p_value(plan.law_of(lane), counts) > ALPHA


def test_a_lane_of_several_messages_is_filled_up_with_nulls(plan: Plan) -> None:
    """To the padding of the plan; a surplus of tokens is sent all the same, without nulls."""
    lane = kinds(plan)["padded"]
    assert plan.mixing is not None
    padding = plan.mixing.paddings[lane.number]
    found = draw_lane(plan, lane, SecureRandom())
    assert found.total == padding
    assert found.nulls > 0
    all_ones = 2**64 - 1
    most = draw_lane(plan, lane, Scripted(*[all_ones] * lane.positions))  # type: ignore[arg-type]
    assert most.nulls == 0
    assert most.total == 2 * plan.law_of(lane).reach * lane.positions > padding


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_payloads_are_the_numbers_that_were_drawn(plan: Plan, size: int) -> None:
    """Every token and every null once, whatever the size of the chunks."""
    random = SecureRandom()
    for found in (draw_lane(plan, lane, random) for lane in plan.lanes):
        chunks = list(found.payloads(size))
        assert max(map(len, chunks)) <= size
        counted = Counter(np.concatenate(chunks).tolist())
        expected = Counter({found.lane.offset + j: int(z) for j, z in enumerate(found.tokens)})
        expected[NULL] = found.nulls
        assert counted == +expected
        assert all(found.lane.holds(place) for place in counted if place != NULL)


def test_numbers_of_dummies_stay_within_what_a_plan_allows(plan: Plan) -> None:
    """Those of honest mixers do; the ends are reached by extreme draws."""
    extremes: tuple[Callable[[int], int], ...] = (lambda _: 0, lambda _: 2**64 - 1)
    for lane in plan.lanes:
        least, most = dummies_allowed(plan, lane)
        assert least <= draw_lane(plan, lane, SecureRandom()).total <= most
        words = [Scripted(*map(end, range(lane.positions + 1))) for end in extremes]
        totals = [draw_lane(plan, lane, script).total for script in words]  # type: ignore[arg-type]
        assert (min(totals), max(totals)) == (least, most)


def test_rule_9_randomness_is_fresh_and_numbers_are_erased(plan: Plan) -> None:
    """Entropy of the system before every lane; the numbers are overwritten, and never shown."""
    for lane in plan.lanes:
        random = Scripted(*[2**63] * (lane.positions + 1))
        found = draw_lane(plan, lane, random)  # type: ignore[arg-type]
        assert random.refreshed == 1
        assert "tokens" not in repr(found)
        found.erase()
        assert not found.tokens.any()


def test_the_expected_number_of_dummies_is_their_mean(plan: Plan) -> None:
    """A progress bar is as long as the work, give or take the noise."""
    random = SecureRandom()
    totals = [sum(draw_lane(plan, lane, random).total for lane in plan.lanes) for _ in range(400)]
    spread = float(np.std(totals)) / 20
    assert abs(float(np.mean(totals)) - plan.expected_dummies) <= 6 * spread + 1
