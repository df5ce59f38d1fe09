"""Words decoded: what is found, how often that is wrong, counts, and what cannot be known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from effort import LONG
from krand.analysis.words import regression as words_regression
from krand.analysis.words.decoding import (
    WordsEstimate,
    adjusted_p_values,
    decode_words,
    grouped,
    p_values,
)
from krand.analysis.words.regression import regress
from krand.errors import InvalidInput
from krand.promise import Policy
from krand.survey.kinds.words import word_positions
from krand.survey.layout import Layout, layout_of
from krand.survey.questions import Words, YesNo
from krand.survey.survey import Survey

PEOPLE = 100_000
NOISE = 4e-4  # 40 flips at each position: σ of about 6.3
SIGMA = math.sqrt(PEOPLE * NOISE * (1 - NOISE)) / (1 - 2 * NOISE)
LISTED = [f"listed-{number}" for number in range(200)]
TOWN = Words(name="town", size=2048, hashes=2)


class Truth(NamedTuple):
    """One simulated survey: its layout, and what is estimated for each position."""

    layout: Layout
    estimates: NDArray[np.float64]


def layout(question: Words, survey_id: str = "s") -> Layout:
    return layout_of(
        Survey(
            id=survey_id,
            policy=Policy(epsilon=1.0, minimum_crowd=PEOPLE, delta=1e-6),
            questions=(question,),
        )
    )


def noisy(
    true: NDArray[np.int64], rng: np.random.Generator, copies: int = 1
) -> NDArray[np.float64]:
    """The estimates of positions that so many people set, by the law of the counts."""
    ones = rng.binomial(copies * true, 1 - NOISE)
    counts = ones + rng.binomial(copies * (PEOPLE - true), NOISE)
    return (counts / copies - NOISE * PEOPLE) / (1 - 2 * NOISE)


def simulated(named: dict[str, int], seed: int, question: Words = TOWN, copies: int = 1) -> Truth:
    """A survey in which so many people named each word; every seed has hashes of its own."""
    survey_id = f"survey-{seed}"
    true = np.zeros(question.size, dtype=np.int64)
    for word, count in named.items():
        true[list(word_positions(survey_id, question, word))] += count
    estimates = noisy(true, np.random.default_rng(seed), copies)
    return Truth(layout(question, survey_id), estimates)


def decoded(truth: Truth, listed: Sequence[str] = LISTED, sigma: float = SIGMA) -> WordsEstimate:
    return decode_words(truth.layout, "town", truth.estimates, sigma, PEOPLE, listed)


def unknown_words(number: int) -> dict[str, int]:
    """Words on no list, most of them rare and some of them very popular."""
    return {f"unknown-{rank}": 8_000 // rank for rank in range(1, number + 1)}


# --- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_p_values_count_all_sets_of_positions(hashes: int) -> None:
    """The formula agrees with trying every set of positions."""
    estimates = np.array([5.0, -1.0, 2.0, 2.0, 9.0, 0.0, 2.0])
    tables = Words(name="town", size=7, hashes=hashes).tables
    sets = list(product(*tables))
    least = [min(estimates[list(chosen)]) for chosen in sets]
    expected = [sum(other >= own for other in least) / len(sets) for own in least]
    assert p_values(estimates, np.array(sets), tables) == pytest.approx(expected, rel=1e-12)


def test_adjusted_p_values_agree_with_scipy() -> None:
    """The rule of Benjamini and Hochberg, against another library's."""
    values = np.random.default_rng(1).uniform(size=300) ** 2
    values[:20] = values[20:40]
    assert adjusted_p_values(values) == pytest.approx(stats.false_discovery_control(values))


@pytest.mark.check
@pytest.mark.parametrize("unknown", [0, 120])
@pytest.mark.parametrize("hashes", [1, 2])
def test_nothing_is_found_where_nothing_on_the_list_was_named(unknown: int, hashes: int) -> None:
    """All candidates absent: one is found in 5 % of surveys, unknown words or not."""
    question = Words(name="town", size=8192 if hashes == 1 else 2048, hashes=hashes)
    runs, false = 300, 0
    for seed in range(runs):
        truth = simulated(unknown_words(unknown), seed, question)
        false += any(row.found for row in decoded(truth, LISTED[:40]).rows)
    spread = math.sqrt(0.05 * 0.95 / runs)
    assert false / runs <= 0.05 + 3 * spread
    assert false / runs >= 0.05 - 3.5 * spread  # exact, not just cautious


@pytest.mark.check
@pytest.mark.parametrize("outside", [0, 150])
def test_false_discoveries_are_as_rare_as_promised(outside: int) -> None:
    """Named, absent and unknown words together: at most 5 % of what is found is wrong."""
    named = {word: 3_000 // (place + 1) for place, word in enumerate(LISTED[:60])}
    shares = []
    for seed in range(100):
        result = decoded(simulated(named | unknown_words(outside), seed))
        false = [row.word not in named for row in result.rows if row.found]
        shares.append(np.mean(false) if false else 0.0)
    error = np.std(shares) / math.sqrt(len(shares))
    assert np.mean(shares) <= 0.05 + 3 * error
    assert np.mean(shares) > 0.01  # the level is used, not wasted


def neighbour(word: str, seed: int) -> str:
    """A word on no list that shares exactly one position with this one."""
    own = set(word_positions(f"survey-{seed}", TOWN, word))
    others = (f"other-{number}" for number in range(100_000))
    return next(o for o in others if len(own & {*word_positions(f"survey-{seed}", TOWN, o)}) == 1)


def test_sharing_a_position_with_a_popular_unknown_word_finds_nothing() -> None:
    """A candidate nobody named stays unfound and near zero, though one of its positions is full."""
    row = decoded(simulated({neighbour(LISTED[0], 7): 50_000}, 7)).rows[0]
    assert not row.found
    assert row.p_value > 1e-3
    assert abs(row.unclipped) < 5 * row.standard_error


def test_a_popular_unknown_word_does_not_swell_a_found_one() -> None:
    """A position that holds far more than the word's other one is set aside."""
    row = decoded(simulated({neighbour(LISTED[0], 7): 50_000, LISTED[0]: 700}, 7)).rows[0]
    assert row.found
    assert abs(row.unclipped - 700) < 5 * row.standard_error
    assert row.standard_error == pytest.approx(SIGMA, rel=0.2)  # of one position, not of two


# --- from how many people on ---------------------------------------------------------------------


@pytest.mark.check
def test_a_word_at_the_reported_limit_would_have_been_found() -> None:
    """The limit that comes with a result holds for a word added to the same survey."""
    named = {word: 2_000 // place for place, word in enumerate(LISTED[1:41], start=1)}
    hits, runs = 0, 120
    for seed in range(runs):
        without = decoded(simulated(named, seed))
        count = math.ceil(without.detection_limit)
        hits += decoded(simulated(named | {LISTED[0]: count}, 10_000 + seed)).rows[0].found
    assert hits / runs >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / runs)


def test_where_no_word_can_be_found_the_limit_says_so() -> None:
    """One hash and too many candidates: every finding could be chance, so there is none."""
    question = Words(name="town", size=2048, hashes=1)
    result = decoded(simulated({LISTED[0]: 50_000}, 1, question))
    assert result.found == ()
    assert result.detection_limit is None


def test_copies_lower_the_limit_as_they_lower_sigma() -> None:
    """With 16 copies σ is a quarter, and so are errors and limit."""
    named = dict.fromkeys(LISTED[:10], 500)
    one, many = (
        decoded(simulated(named, 3, copies=k), sigma=SIGMA / math.sqrt(k)) for k in (1, 16)
    )
    assert many.detection_limit == pytest.approx(one.detection_limit / 4, rel=0.15)
    assert many.rows[0].standard_error == pytest.approx(one.rows[0].standard_error / 4, rel=0.1)
    assert all(abs(row.count - 500) < 6 * row.standard_error for row in many.rows[:10])


# --- how often -----------------------------------------------------------------------------------


@pytest.mark.check
@pytest.mark.parametrize(("hashes", "outside"), [(1, 0), (2, 0), (3, 0), (2, 400)])
def test_counts_are_unbiased_and_intervals_cover(hashes: int, outside: int) -> None:
    """Named often, seldom or not at all: counts are right on average, 95 % of intervals too."""
    question = Words(name="town", size=8192, hashes=hashes)
    named = {word: 1_000 // (place + 1) for place, word in enumerate(LISTED[:80])}
    rare = {f"unknown-{number}": 5 for number in range(outside)}
    errors, inside = [], []
    for seed in range(40):
        for row in decoded(simulated(named | rare, seed, question)).rows:
            true = sum(named.get(word, 0) for word in (row.word, *row.same_positions))
            errors.append(row.unclipped - true)
            inside.append(row.low <= true <= row.high)
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors))
    assert 0.94 <= np.mean(inside) <= 0.975


@pytest.mark.loop
@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_few_positions_bias_no_counts(hashes: int) -> None:
    """On 256 positions most words share some, and most of those named are not found."""
    question = Words(name="town", size=256, hashes=hashes)
    named = {word: 1_000 // (place + 1) for place, word in enumerate(LISTED[:80])}
    runs = 2_500 if LONG else 50
    errors = []
    for seed in range(runs):
        rows = decoded(simulated(named, seed, question)).rows
        absent = [row for row in rows if not named.keys() & {row.word, *row.same_positions}]
        errors.append(np.mean([row.unclipped for row in absent]))
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(runs)


@pytest.mark.check
def test_answers_of_several_words_are_decoded() -> None:
    """Each person names three words; a shared position is set once, which costs next to nothing."""
    question = Words(name="town", size=1024, hashes=2, at_most=3)
    rng = np.random.default_rng(5)
    vocabulary, absent = LISTED[:40], LISTED[40:140]
    errors, shares = [], []
    for seed in range(30):
        survey_id = f"survey-{seed}"
        places = np.array([word_positions(survey_id, question, word) for word in vocabulary])
        people = np.argsort(rng.random((4_000, 40)), axis=1)[:, :3]
        answers = np.zeros((4_000, 1024), dtype=bool)
        answers[np.arange(4_000)[:, None], places[people].reshape(4_000, -1)] = True
        truth = Truth(layout(question, survey_id), noisy(answers.sum(axis=0), rng))
        result = decoded(truth, vocabulary + absent)
        counted = np.bincount(people.ravel(), minlength=40)
        errors += [row.unclipped / counted[place] - 1 for place, row in enumerate(result.rows[:40])]
        shares.append(np.mean([row.word in absent for row in result.rows if row.found]))
    bound = 2 * 2 / 1024  # (at_most - 1)·h/P
    assert -bound - 0.004 < np.mean(errors) < 0.004
    assert np.mean(shares) <= 0.05


def test_what_the_list_does_not_explain_is_told() -> None:
    """The total counts every word; what is unexplained is what unknown words were named."""
    named, outside = dict.fromkeys(LISTED[:20], 1_000), {"unknown": 30_000}
    result = decoded(simulated(named | outside, 2))
    assert abs(result.named - 50_000) < 4 * result.named_error
    assert abs(result.unexplained - 30_000) < 4 * result.named_error
    assert result.named_error == pytest.approx(SIGMA * math.sqrt(2048) / 2)
    assert {row.word for row in result.found} >= set(LISTED[:20])


@pytest.mark.check
def test_both_solvers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many words that share positions: dense and sparse ways give the same."""
    rng = np.random.default_rng(8)
    positions = np.array([rng.choice(300, 2, replace=False) for _ in range(200)])
    true = rng.uniform(50, 500, 200)
    values = rng.normal(0, 3, 300)
    np.add.at(values, positions, true[:, None])
    found = np.ones(200, dtype=bool)
    dense = regress(values, positions, found, 3.0, 0.95)
    monkeypatch.setattr(words_regression, "LARGE", 3)
    sparse = regress(values, positions, found, 3.0, 0.95)
    known = np.isfinite(dense.standard_errors) & np.isfinite(sparse.standard_errors)
    assert known.sum() > 50
    assert sparse.counts[known] == pytest.approx(dense.counts[known], abs=1e-2)
    assert sparse.standard_errors[known] == pytest.approx(dense.standard_errors[known], rel=1e-6)
    within = np.abs(dense.counts - true)[known] < 4 * dense.standard_errors[known]
    assert within.mean() > 0.99


def test_words_in_a_circle_have_no_known_count() -> None:
    """Four words whose positions form a circle can be exchanged, and the errors say so."""
    positions = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [4, 5]])
    values = np.zeros(60)
    np.add.at(values, positions, 100.0)
    result = regress(values, positions, np.ones(5, dtype=bool), 1.0, 0.95)
    assert np.isinf(result.standard_errors[:4]).all()
    assert result.standard_errors[4] == pytest.approx(1 / math.sqrt(2))
    assert result.counts[4] == pytest.approx(100.0)


# --- candidates ----------------------------------------------------------------------------------


def test_words_with_the_same_positions_are_not_told_apart() -> None:
    """Two words that share all positions are one finding, and each row names the other."""
    question = Words(name="town", size=40, hashes=1)
    twins: dict[tuple[int, ...], list[str]] = {}
    for word in LISTED:
        twins.setdefault(word_positions("survey-1", question, word), []).append(word)
    first, second = next(group[:2] for group in twins.values() if len(group) >= 2)
    alone = next(group[0] for group in twins.values() if group[0] not in (first, second))
    truth = simulated({first: 20_000}, 1, question)
    one, two, other = decoded(truth, [first, second, alone]).rows
    assert one.found
    assert two.found
    assert (one.same_positions, two.same_positions) == ((second,), (first,))
    assert (one.count, one.p_value) == (two.count, two.p_value)
    assert other.same_positions == ()


def test_spellings_of_one_word_are_one_candidate() -> None:
    """What the encoder takes for one word is one row, spelled as most are; others are counted."""
    listed = ["zürich", "Zürich", " ZÜRICH", "Zu\u0308rich ", "BERN", "Bern"]
    result = decoded(simulated({"zürich": 9_000}, 4), listed)
    assert [row.word for row in result.rows] == ["Zürich", "BERN"]  # of equals the first
    assert result.merged == 4
    assert result.rows[0].found


def test_intervals_stay_between_nobody_and_everybody() -> None:
    """Counts are held between 0 and the number of people."""
    truth = simulated({LISTED[0]: PEOPLE}, 6)
    for row in decoded(truth).rows:
        assert 0 <= row.low <= row.count <= row.high <= PEOPLE


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"estimates": np.zeros(7)}, "estimates"),
        ({"estimates": np.full(2048, np.nan)}, "estimates"),
        ({"sigma": 0.0}, "sigma"),
        ({"sigma": math.inf}, "sigma"),
        ({"people": 0}, "people"),
        ({"candidates": []}, "candidates"),
        ({"candidates": "Bern"}, "candidates"),
        ({"candidates": [" "]}, "candidates"),
        ({"false_discovery_rate": 1.0}, "false_discovery_rate"),
        ({"confidence": 0.0}, "confidence"),
        ({"block_name": "village"}, "question"),
    ],
)
def test_mistakes_are_named(change: dict[str, object], field: str) -> None:
    """Wrong input is refused with the field that is wrong."""
    right: dict[str, object] = {
        "layout": layout(TOWN),
        "block_name": "town",
        "estimates": np.zeros(2048),
        "sigma": SIGMA,
        "people": PEOPLE,
        "candidates": LISTED,
    }
    with pytest.raises(InvalidInput) as caught:
        decode_words(**(right | change))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_only_words_questions_are_decoded() -> None:
    """A question of another type is refused."""
    survey = Survey(
        id="s",
        policy=Policy(epsilon=1.0, minimum_crowd=PEOPLE, delta=1e-6),
        questions=(YesNo(name="town"),),
    )
    with pytest.raises(InvalidInput, match="type words"):
        decode_words(layout_of(survey), "town", np.zeros(1), SIGMA, PEOPLE, LISTED)


def test_a_candidate_may_become_longer_when_it_is_normalized() -> None:
    """U+FDFA becomes 18 characters; people may answer a thousand of them, so one may ask."""
    long = "\ufdfa" * 1000
    question = Words(name="town", size=64, hashes=2)
    found = grouped("s", question, [long])
    assert found.positions.tolist() == [sorted(word_positions("s", question, long))]
