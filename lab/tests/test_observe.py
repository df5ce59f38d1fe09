"""Privacy of what was seen: ratios and their laws, held against enumeration and simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln

from krand import Choice, Choices, Linkage, PickAny, Plan, Policy, Survey, Tally, Trust, YesNo
from krand_lab.enumeration import Multiset, collection_law
from krand_lab.exact.direct import summable
from krand_lab.formulas.counts import (
    probability_003_9_1,
    probability_modified_000_0_1,
    probability_original_000_0_2,
)
from krand_lab.formulas.vectors import ratio_001_3_4, set_bit_histogram_001_3_3
from krand_lab.observe.bits import (
    crowd_law,
    see_counts,
    tail_of_outlier,
    tail_of_zeros,
)
from krand_lab.observe.change import BlockSeen, worst_change
from krand_lab.observe.outcome import BitsSeen, RecordSeen, observe
from made_plans import Question, plan_with_noise

QUARTER = Fraction(1, 4)


def planned(
    questions: Sequence[Question], noise: float, linkage: Linkage = Linkage.BIT, copies: int = 1
) -> Plan:
    policy = Policy(epsilon=1.0, minimum_crowd=1000, delta=1e-6)
    survey = Survey(
        id="seen",
        policy=policy,
        questions=tuple(questions),
        linkage=linkage,
        copies=copies,
        trust=Trust(noise="devices"),
    )
    return plan_with_noise(survey, round(noise * 2**32))


def yes_no(number: int) -> list[Question]:
    return [YesNo(name=f"q{place}") for place in range(number)]


def bit_tally(plan: Plan, counts: Sequence[int], people: int) -> Tally:
    numbers = np.array(counts, dtype=np.int64)
    return Tally(
        plan_hash=plan.hash,
        linkage=Linkage.BIT,
        positions=numbers.size,
        round=1,
        people=people,
        crowd=people,
        responses=people,
        counts=numbers,
    )


def record_tally(plan: Plan, histogram: Sequence[int], people: int | None = None) -> Tally:
    """Only the histogram matters to R; the counts of the bits are left at 0."""
    bits, responses = len(histogram) - 1, sum(histogram)
    everybody = responses // plan.survey.copies if people is None else people
    return Tally(
        plan_hash=plan.hash,
        linkage=Linkage.RECORD,
        positions=bits,
        round=1,
        people=everybody,
        crowd=everybody,
        responses=responses,
        counts=np.zeros(bits, np.int64),
        histogram=np.array(histogram, dtype=np.int64),
    )


def seen_records(plan: Plan, histogram: Sequence[int]) -> RecordSeen:
    seen = observe(plan, record_tally(plan, histogram))
    assert isinstance(seen, RecordSeen)
    return seen


def seen_bits(plan: Plan, counts: Sequence[int], people: int, most: int = 10) -> BitsSeen:
    seen = observe(plan, bit_tally(plan, counts, people), most)
    assert isinstance(seen, BitsSeen)
    return seen


# --- whole records ------------------------------------------------------------------------------


def pair_laws(
    people: int, bits: int, copies: int
) -> tuple[dict[Multiset, Fraction], dict[Multiset, Fraction]]:
    """Every outcome of the drafts' pair with its probability, in rational numbers."""
    zeros, ones = (0,) * bits, (1,) * bits
    return (
        collection_law([zeros] * people, QUARTER, copies),
        collection_law([zeros] * (people - 1) + [ones], QUARTER, copies),
    )


def histograms(
    laws: Sequence[dict[Multiset, Fraction]], bits: int
) -> Iterator[tuple[tuple[int, ...], Fraction, Fraction, Fraction]]:
    """Each histogram with R and both tails P[R ≥ this], by going through all outcomes."""
    alike, outlier = laws
    ratios = {s: outlier[s] / alike[s] for s in alike}
    by_histogram = {set_bit_histogram_001_3_3(s, bits): ratios[s] for s in alike}
    for histogram, ratio in by_histogram.items():
        tails = [sum((law[s] for s in law if ratios[s] >= ratio), Fraction()) for law in laws]
        yield histogram, ratio, tails[0], tails[1]


@pytest.mark.parametrize(("people", "bits"), [(2, 1), (3, 2), (2, 3), (5, 1)])
def test_records_of_small_crowds_are_exact(people: int, bits: int) -> None:
    """R and both tails are those of the enumeration of all outcomes, ties included."""
    plan = planned(yes_no(bits), 0.25, Linkage.RECORD)
    for histogram, ratio, alike, outlier in histograms(pair_laws(people, bits, 1), bits):
        seen = seen_records(plan, histogram)
        assert ratio == ratio_001_3_4(histogram, QUARTER)
        assert math.exp(seen.log_ratio) == pytest.approx(float(ratio), rel=1e-12)
        assert seen.alike.value == pytest.approx(float(alike), rel=1e-9)
        assert seen.outlier.value == pytest.approx(float(outlier), rel=1e-9)
        assert seen.draws == 0


def test_copies_of_small_crowds_are_exact() -> None:
    """With two copies R is e_2/C(2N, 2), and the simulated tails hold the enumerated ones."""
    people, bits = 2, 2
    plan = planned(yes_no(bits), 0.25, Linkage.RECORD, copies=2)
    for histogram, ratio, alike, outlier in histograms(pair_laws(people, bits, 2), bits):
        seen = seen_records(plan, histogram)
        assert seen.log_ratio == pytest.approx(math.log(ratio), abs=1e-9)
        assert seen.draws == 10_000
        for found, true in ((seen.alike, float(alike)), (seen.outlier, float(outlier))):
            off = 5 * math.sqrt(true * (1 - true) / seen.draws)
            assert abs(found.value - true) <= off + 1e-12
            assert found.lower <= found.value <= found.upper


@pytest.mark.parametrize("histogram", [(375, 275, 50), (410, 260, 30)])
def test_outcomes_that_tie_count_in_full(histogram: tuple[int, int, int]) -> None:
    """Where many histograms give one R, "at least" holds them all, on either side of R = 1."""
    people = sum(histogram)
    first, second = np.meshgrid(np.arange(people + 1), np.arange(people + 1), indexing="ij")
    kinds = np.stack([first, second, people - first - second])[:, first + second <= people]
    chances = np.log([9 / 16, 6 / 16, 1 / 16])
    assert not summable(chances, people)  # so that the law is found by inversion
    log_p = gammaln(people + 1) - gammaln(kinds + 1).sum(axis=0) + chances @ kinds
    ratios = np.array([1, 9, 81]) @ kinds  # of 9N, so that they are whole numbers
    seen = seen_records(planned(yes_no(2), 0.25, Linkage.RECORD), histogram)
    found = np.dot([1, 9, 81], histogram)
    assert seen.log_ratio == pytest.approx(math.log(found / (9 * people)), abs=1e-12)
    own = np.exp(log_p) * ratios / (9 * people)  # P(S|D_m) = R·P(S|D)
    far = ratios >= found
    assert seen.alike.value == pytest.approx(np.exp(log_p)[far].sum(), rel=1e-4)
    assert seen.outlier.value == pytest.approx(own[far].sum(), rel=1e-4)


# --- single positions ---------------------------------------------------------------------------


def test_tails_of_the_drafts_pair_are_exact() -> None:
    """P[M ≥ m] is the sum of the drafts' probabilities, whether or not one person has a 1."""
    for people, m in itertools.product((2, 3, 8), range(9)):
        counts = range(m, people + 1)
        zeros = sum((probability_modified_000_0_1(people, i, QUARTER) for i in counts), Fraction())
        one = sum((probability_original_000_0_2(people, i, QUARTER) for i in counts), Fraction())
        assert tail_of_zeros(people, m, 0.25) == pytest.approx(float(zeros), rel=1e-12)
        assert tail_of_outlier(people, m, 0.25) == pytest.approx(float(one), rel=1e-12)


@pytest.mark.parametrize("people", [2, 3, 7])
def test_laws_of_small_crowds_are_exact(people: int) -> None:
    """For every number of true ones the law, its ratios and their tail are rational sums."""
    for true in range(people):
        law = crowd_law(people, true, 0.25)
        before, after = (
            [probability_003_9_1(people, ones, m, QUARTER) for m in range(people + 1)]
            for ones in (true, true + 1)
        )
        ratios = [b / a for a, b in zip(before, after, strict=True)]
        assert law.start == 0
        assert law.chances == pytest.approx([float(v) for v in before], rel=1e-12)
        for m, ratio in enumerate(ratios):
            assert law.log_ratio(m) == pytest.approx(math.log(ratio), abs=1e-12)
            assert law.log_ratios[m] == pytest.approx(math.log(ratio), abs=1e-12)
            far = [max(r, 1 / r) >= max(ratio, 1 / ratio) for r in ratios]
            tail = sum((p for p, out in zip(before, far, strict=True) if out), Fraction())
            assert law.as_far(law.log_ratio(m)) == pytest.approx(float(tail), rel=1e-12)


def test_ratios_of_a_crowd_are_calibrated() -> None:
    """|log R| is at least this large as often as its tail says, up to the steps of the count."""
    people, true, noise = 20_000, 700, 0.01
    law = crowd_law(people, true, noise)
    rng = np.random.default_rng(5)
    drawn = rng.binomial(true, 1 - noise, 20_000) + rng.binomial(people - true, noise, 20_000)
    distinct, often = np.unique(drawn, return_counts=True)
    tails = np.array([law.as_far(law.log_ratio(int(m))) for m in distinct])
    for level in (0.05, 0.2, 0.5, 0.8):
        reached = often[tails <= level].sum() / drawn.size
        off = 4 * math.sqrt(level * (1 - level) / drawn.size)
        assert level - 2 * law.chances.max() - off <= reached <= level + off


# --- the worst change ---------------------------------------------------------------------------

MIXED: list[Question] = [
    Choice(name="colour", choices=Choices(("red", "green", "blue"))),
    YesNo(name="smokes"),
    PickAny(name="pets", choices=Choices(("cat", "dog", "fish", "bird", "ant")), at_most=2),
    PickAny(name="sports", choices=Choices(("run", "swim"))),
]


def allowed(most_ones: int, positions: int) -> Iterator[tuple[int, ...]]:
    for bits in itertools.product((0, 1), repeat=positions):
        if sum(bits) <= most_ones:
            yield bits


@pytest.mark.parametrize("seed", range(5))
def test_worst_change_is_that_of_all_pairs_of_answers(seed: int) -> None:
    """ε_seen is the largest |log R| over any two answers that one person could give."""
    plan = planned(MIXED, 0.2)
    people = 30
    counts = np.random.default_rng(seed).integers(0, people + 1, plan.layout.positions)
    seen = seen_bits(plan, counts.tolist(), people)
    found, rows = see_counts(people, counts, np.full(counts.size, plan.blocks[0].noise))
    log_r = np.array([found[row].log_here for row in rows])
    worst = 0.0
    for block in plan.layout.blocks:
        own = log_r[block.offset : block.offset + block.positions]
        answers = list(allowed(block.most_ones, block.positions))
        worst += max(float(np.dot(np.subtract(a, b), own)) for a in answers for b in answers)
    assert seen.worst.seen == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize(("positions", "most"), [(40, 1), (40, 3), (9, 3), (6, 6), (5, 3)])
def test_law_of_the_worst_change(positions: int, most: int) -> None:
    """Its median and limit are those of crowds simulated position by position."""
    people, noise = 5000, 0.02
    small, large = crowd_law(people, 0, noise), crowd_law(people, 900, noise)
    groups = [(small, positions - 2), (large, 2)]
    block = BlockSeen(most, np.zeros(positions), groups)
    found = worst_change([block, block])
    rng = np.random.default_rng(8)
    draws = 20_000
    totals = np.zeros(draws)
    for _ in range(2):
        true = np.array([0] * (positions - 2) + [900] * 2)
        size = (draws, positions)
        counts = rng.binomial(true, 1 - noise, size) + rng.binomial(people - true, noise, size)
        ratios = np.concatenate(
            [
                small.log_ratios[counts[:, :-2] - small.start],
                large.log_ratios[counts[:, -2:] - large.start],
            ],
            axis=1,
        )
        up, down = (-np.sort(-np.maximum(sign * ratios, 0.0), axis=1) for sign in (1, -1))
        totals += up[:, :most].sum(axis=1) + down[:, :most].sum(axis=1)
    for value, level in ((found.typical, 0.5), (found.limit, 0.95)):
        below = float(np.mean(totals <= value))
        assert below == pytest.approx(level, abs=4.5 * math.sqrt(level * (1 - level) / found.draws))


# --- all together -------------------------------------------------------------------------------


def test_extremes_are_the_largest_ratios_and_named() -> None:
    """The positions furthest from R = 1 come first, with question and answer."""
    plan = planned(MIXED, 0.2)
    counts = [200, 200, 990, 204, 200, 201, 202, 120, 200, 230, 200]
    seen = seen_bits(plan, counts, 1000, most=3)
    assert [(row.question, row.answer) for row in seen.extremes] == [
        ("colour", "blue"),
        ("pets", "bird"),
        ("sports", "run"),
    ]
    sizes = [abs(row.log_outlier) for row in seen.extremes]
    assert sizes == sorted(sizes, reverse=True)
    first = seen.extremes[0]
    assert (first.position, first.count, first.true_ones) == (2, 990, 999)
    assert seen.extremes[2].true_ones == 50
    assert (seen.people, seen.positions, seen.beyond) == (1000, 11, 0)
