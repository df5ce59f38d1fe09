"""Dummies: drawn from exactly the plan's law, as many as it says, in an order that says nothing."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtrc

from effort import EFFORT

# Only a million draws show a law to a part in a thousand, and only chosen words its integers.
from krand.mixing.dummies import draw_numbers
from mixing.by_hand import ByHand, plan

ALPHA, FAR = 1e-7, 5.3
"""How often a right program fails a test, and how many standard deviations that is."""
COPIES = 6 * EFFORT
GRID = 2**63


class Words:
    """A generator whose words a test has chosen; the system's if it has chosen none."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, dtype: Any) -> NDArray[Any]:
        if not self.left:
            return np.frombuffer(os.urandom(8 * count), dtype).copy()
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype)


def p_value(law: Any, drawn: NDArray[np.int64]) -> float:
    """Of a chi-square test; outcomes that are expected fewer than ten times are taken together."""
    expected = np.array(law.weights, float) * (drawn.size / GRID)
    found = np.bincount(drawn, minlength=expected.size).astype(float)
    assert found.size == expected.size, "an outcome that the law does not have"
    rare = expected < 5
    cells = np.append(expected[~rare], expected[rare].sum())
    seen = np.append(found[~rare], found[rare].sum())
    return float(chdtrc(max(1, cells.size - 1), ((seen - cells) ** 2 / cells).sum()))


LAWS = [plan().law_of(lane) for lane in plan().lanes]


@pytest.mark.parametrize("law", LAWS, ids=["yes/no", "choice", "long list"])
def test_each_outcome_has_exactly_its_weight(law: Any) -> None:
    """The first and the last of the words that give it; and so do a million fresh ones."""
    end = 0
    for outcome, weight in enumerate(law.weights):
        first, end = end, end + weight
        words = Words(2 * first, 2 * first + 1, 2 * end - 2, 2 * end - 1)
        assert draw_numbers(law, 4, words).tolist() == [outcome] * 4  # type: ignore[arg-type]
    assert end == GRID
    drawn = draw_numbers(law, 10**6 * min(EFFORT, 10), Words())  # type: ignore[arg-type]
    assert p_value(law, drawn) > ALPHA
    assert p_value(law, np.minimum(drawn + 1, 2 * law.reach)) < ALPHA, "the test sees a wrong mean"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[ByHand, list[Any]]:
    """One batch without a single answer, and what a mixer made of it again and again.

    In earnest its key is gone after the first time; here it shows many draws for one batch.
    """
    chain = ByHand(tmp_path_factory.mktemp("many"))
    batch = chain.batch(chain.honest(people=2), crowd=2)
    return chain, [chain.mixed(batch, f"out {number}") for number in range(COPIES)]


def test_what_a_mixer_adds_has_the_plans_law(many: tuple[ByHand, list[Any]]) -> None:
    """As the analyst finds it: tokens of every position, and nulls that tell nothing more."""
    chain, mixed = many
    single, choice, padded = chain.plan.lanes
    counts = np.array([chain.tokens(files.lanes) for files in mixed])
    for lane in chain.plan.lanes:
        drawn = counts[:, lane.offset : lane.offset + lane.positions].ravel()
        law = chain.plan.law_of(lane)
        assert p_value(law, drawn) > ALPHA, f"lane {lane.number}: {np.bincount(drawn)}"
        z = (drawn.mean() - law.mean) / np.sqrt(law.variance / drawn.size)
        assert abs(z) < FAR, f"lane {lane.number}: {z:.1f} standard deviations off"
    dummies = [[lane.dummies for lane in files.counts] for files in mixed]
    reach = chain.plan.law_of(single).reach
    assert {each[0] for each in dummies} == {2 * reach}, "one position: always as many"
    padding = padded.padding
    tokens = counts[:, padded.offset :].sum(axis=1)
    expected = [max(padding, int(total)) for total in tokens]
    assert [each[2] for each in dummies] == expected, "a long list is filled up"
    added = counts[:, choice.offset : choice.offset + choice.positions].sum(axis=1)
    nulls = np.array([each[1] for each in dummies]) - added
    assert p_value(chain.plan.law_of(choice), nulls) > ALPHA
    assert len(set(nulls.tolist())) > 1, "nulls have noise of their own"


def test_order_says_nothing(many: tuple[ByHand, list[Any]]) -> None:
    """Neither which messages were there before, nor in which order they came."""
    chain, mixed = many
    found: dict[str, list[float]] = {"order": [], "people among dummies": []}
    for files in mixed:
        for number, left in files.lanes.items():
            place = {row: each for each, row in enumerate(left)}
            came = np.array([place[row] for row in chain.inside[number]], float)
            count, total = len(came), len(left)
            order = np.corrcoef(came, np.arange(count))[0, 1]
            found["order"].append(order * np.sqrt(count - 1))
            spread = np.sqrt((total + 1) * (total - count) / (12 * count))
            found["people among dummies"].append((came.mean() - (total - 1) / 2) / spread)
    for name, each in found.items():
        z = sum(each) / np.sqrt(len(each))
        assert abs(z) < FAR, f"{name}: {z:.1f} standard deviations off"
        assert 0.2 < np.mean(np.square(each)) < 4, f"{name}: {np.round(each, 1)}"
