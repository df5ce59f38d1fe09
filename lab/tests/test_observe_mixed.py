"""What an outcome with dummies reveals, held against plain enumeration with fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from krand import Choice, Choices, PickAny, Plan, Tally, YesNo
from krand_lab.observe.dummies import Dummies, count_law
from krand_lab.observe.outcome import MixedSeen, observe
from made_plans import Wholes, mixed_plan_of, mixed_tallies, with_few_dummies

Law = dict[int, Fraction]

BUMPY = (3, 2, 6, 2, 3)
"""Its ratios do not grow with the count."""


def single(weights: Sequence[int]) -> Law:
    return {z: Fraction(w, sum(weights)) for z, w in enumerate(weights)}


def added(first: Law, second: Law) -> Law:
    found: Law = {}
    for (a, p), (b, q) in itertools.product(first.items(), second.items()):
        found[a + b] = found.get(a + b, Fraction(0)) + p * q
    return found


def summed(weights: Sequence[int], draws: int) -> Law:
    found: Law = {0: Fraction(1)}
    for _ in range(draws):
        found = added(found, single(weights))
    return found


def log_ratio(one: Law, zero: Law, count: int) -> float:
    top, bottom = one.get(count, 0), zero.get(count, 0)
    if not top or not bottom:
        return math.inf if top else -math.inf
    return math.log(Fraction(top) / Fraction(bottom))


def seen_in(plan: Plan, tally: Tally, most: int = 100) -> MixedSeen:
    seen = observe(plan, tally, most)
    assert isinstance(seen, MixedSeen)
    return seen


@pytest.mark.parametrize("draws", [1, 3])
def test_ratio_of_dummies(draws: int) -> None:
    """R of every count is that of the sums with and without one person; ends tell it for sure."""
    zero = summed(BUMPY, draws)
    one = {count + 1: mass for count, mass in zero.items()}
    law = count_law(Dummies(weights=BUMPY, draws=draws))
    for count in range(4 * draws + 2):
        own = log_ratio(one, zero, count)
        assert law.log_ratio(count) == pytest.approx(own, rel=1e-12)
        far = (p for c, p in zero.items() if abs(log_ratio(one, zero, c)) >= abs(own) * (1 - 1e-9))
        assert law.as_far(own) == pytest.approx(float(sum(far)), rel=1e-12)
    assert law.log_ratio(0) == -math.inf
    assert law.log_ratio(4 * draws + 1) == math.inf


COLOURS = Choices(("red", "green", "blue"))
PETS = Choices(("cat", "dog", "fish", "bird"))


def unplanned(mixers: int, *questions: YesNo | Choice | PickAny) -> Plan:
    """The survey with dummies of a law that is quickly enumerated."""
    return with_few_dummies(mixed_plan_of(questions, mixers))


def allowed(plan: Plan) -> Iterator[tuple[int, ...]]:
    """All messages of one person's answers: tokens of every position, then of "no answer"."""
    of_blocks = []
    for block in plan.layout.blocks:
        sizes = range(block.most_ones + 1)
        picks = [set(p) for m in sizes for p in itertools.combinations(range(block.positions), m)]
        rows = [tuple(int(place in pick) for place in range(block.positions)) for pick in picks]
        if plan.lanes[-1].has_noisy_nulls:
            rows = [(*row, 1 - sum(row)) for row in rows]
        of_blocks.append(rows)
    for rows in itertools.product(*of_blocks):
        yield tuple(itertools.chain(*rows))


def chance_of(law: Law, dummies: Wholes, answer: tuple[int, ...]) -> Fraction:
    """Of these counts beyond the others' messages, if one person sends these."""
    left = np.subtract(dummies, answer).tolist()
    return math.prod((law.get(count, Fraction(0)) for count in left), start=Fraction(1))


@pytest.mark.parametrize(
    "questions",
    [
        (YesNo(name="a"), YesNo(name="b")),
        (Choice(name="c", choices=COLOURS),),
        (PickAny(name="p", choices=PETS, at_most=2),),
        (PickAny(name="p", choices=PETS, at_most=4),),
    ],
)
def test_the_worst_change_is_that_over_all_changes(
    questions: Sequence[YesNo | Choice | PickAny],
) -> None:
    """Every answer against every other, each outcome's probability a product of fractions."""
    plan = unplanned(2, *questions)
    law, people = plan.laws[0], 9
    true = np.array([7, 2, 0, 4][: plan.layout.positions])
    zero = summed(law.weights, 2)
    for tally in mixed_tallies(plan, true, people, 5, seed=3):
        assert tally.lane_nulls is not None
        counts = [*tally.counts.tolist()]
        if plan.lanes[-1].has_noisy_nulls:
            counts.append(int(tally.lane_nulls[0]))
        others = [min(max(count - 2 * law.mean, 0), people - 1) for count in counts]

        chances = [chance_of(zero, np.subtract(counts, others), own) for own in allowed(plan)]
        worst = math.inf if not min(chances) else math.log(max(chances) / min(chances))
        assert seen_in(plan, tally).worst.seen == pytest.approx(worst, rel=1e-12)


def test_outcomes_of_one_honest_mixer() -> None:
    """The law of the worst change is that of a single Z at every position that one can change."""
    plan = mixed_plan_of([YesNo(name="a"), Choice(name="c", choices=COLOURS)], mixers=3)
    (tally,) = mixed_tallies(plan, np.array([300, 100, 200, 50]), 800, 1, seed=4)
    seen = seen_in(plan, tally)
    of_lanes = [single(plan.law_of(lane).weights) for lane in plan.lanes]
    rng = np.random.default_rng(6)
    draws = 20_000
    totals = np.zeros(draws)
    for zero, size in zip(of_lanes, (1, 4), strict=True):
        one = {count + 1: mass for count, mass in zero.items()}
        chances = np.array([float(mass) for mass in zero.values()])
        ratios = np.array([log_ratio(one, zero, count) for count in zero])
        drawn = rng.choice(ratios, (draws, size), p=chances / chances.sum())
        if size > 1:  # the person sends an empty message
            after = np.array([log_ratio(one, zero, count + 1) for count in zero])
            drawn[:, -1] = rng.choice(after, draws, p=chances / chances.sum())
        totals += np.abs(drawn[:, 0]) if size == 1 else drawn.max(axis=1) - drawn.min(axis=1)
    for value, level in ((seen.one_mixer.typical, 0.5), (seen.one_mixer.limit, 0.95)):
        error = 4.5 * math.sqrt(level * (1 - level) / seen.one_mixer.draws)
        assert np.mean(totals <= value * (1 + 1e-9)) >= level - error
        assert np.mean(totals < value * (1 - 1e-9)) <= level + error
    assert seen.worst.typical < seen.one_mixer.typical
    assert seen.one_mixer.limit <= plan.survey.policy.epsilon * (1 + 1e-6)


def test_positions_of_a_tally() -> None:
    """Counts, estimated others and names; empty messages are an answer of a choice."""
    plan = mixed_plan_of([YesNo(name="a"), Choice(name="c", choices=COLOURS)])
    (tally,) = mixed_tallies(plan, np.array([300, 100, 200, 50]), 800, 1, seed=4)
    seen = seen_in(plan, tally)
    assert tally.lane_nulls is not None
    rows = {(row.question, row.answer): row for row in seen.extremes}
    assert set(rows) == {("a", "yes"), *(("c", label) for label in (*COLOURS, "unanswered"))}
    empty = rows["c", "unanswered"]
    assert (empty.position, empty.count) == (None, int(tally.lane_nulls[1]))
    mean = plan.law_of(plan.lanes[1]).mean
    assert empty.others == empty.count - mean
    sizes = [abs(row.log_ratio) for row in seen.extremes]
    assert sizes == sorted(sizes, reverse=True)
    assert (seen.people, seen.positions, seen.mixers) == (800, 5, 1)
    assert len(seen_in(plan, tally, most=2).extremes) == 2
