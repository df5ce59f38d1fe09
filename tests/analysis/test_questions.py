"""A thousand simulated surveys with known answers: unbiased, as precise as planned, covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.simulated_surveys import (
    noisy_counts,
    plan_of,
    randomized_tally,
    simulated_tallies,
    tally_of,
    true_counts,
)
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.questions import estimate_question, estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.values import Interval, Method, Row
from krand.analysis.tally import merged
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo

PEOPLE, SURVEYS = 20_000, 1_000
COLOURS = Choices([f"colour {n}" for n in range(12)])
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="colour", choices=COLOURS),
    Choice(name="engine", choices=Choices(["a", "b", "c"])),
    YesNo(name="blocker"),
    PickAny(name="sports", choices=Choices(["run", "swim", "row", "ski"]), at_most=3),
    Number(name="age", edges=(0, 20, 40, 60, 100)),
)
TOGETHER = [["engine", "blocker"]]
Floats = NDArray[np.float64]


def _crowd(seed: int) -> dict[tuple[tuple[str, object], ...], int]:
    """Some kinds of people, some of them silent here and there."""
    random = np.random.default_rng(seed)
    sizes = random.multinomial(PEOPLE - 500, random.dirichlet(np.full(60, 0.5)))
    crowd: dict[tuple[tuple[str, object], ...], int] = {(): 500}
    for size in sizes:
        answers: dict[str, object] = {
            "smokes": bool(random.integers(2)),
            "colour": COLOURS[int(random.integers(9))],  # three colours nobody likes
            "engine": "abc"[int(random.integers(3))],
            "blocker": bool(random.integers(2)),
            "sports": ["run", "swim", "ski"][: int(random.integers(4))],
            "age": float(random.integers(100)),
        }
        silent = set(random.choice(list(answers), 2, replace=False).tolist())
        key = tuple((n, a) for n, a in answers.items() if n not in silent)
        key = tuple((n, tuple(a) if isinstance(a, list) else a) for n, a in key)
        crowd[key] = crowd.get(key, 0) + int(size)
    return crowd


def _asked(crowd: dict[tuple[tuple[str, object], ...], int]) -> dict[str, dict[str, int]]:
    """The truth by looking at everybody: how many gave each answer to each question."""
    truth: dict[str, dict[str, int]] = {question.name: {} for question in QUESTIONS}
    for answers, people in crowd.items():
        given = dict(answers)
        for question in QUESTIONS:
            answer = given.get(question.name)
            labels: tuple[str, ...]
            if isinstance(answer, tuple):
                labels = tuple(str(item) for item in answer)
            elif isinstance(answer, bool):
                labels = ("yes" if answer else "no",)
            elif isinstance(answer, float):
                lower = max(edge for edge in (0, 20, 40, 60) if edge <= answer)
                labels = (f"{lower} to under {100 if lower == 60 else lower + 20}",)
            else:
                labels = ("unanswered",) if answer is None else (str(answer),)
            for label in labels:
                truth[question.name][label] = truth[question.name].get(label, 0) + people
    return truth


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(QUESTIONS, 0.02, PEOPLE, TOGETHER)


class Simulated:
    """All rows of all questions of all surveys, beside the truth."""

    def __init__(self, plan: Plan) -> None:
        crowd = _crowd(11)
        truth = _asked(crowd)
        tallies = simulated_tallies(plan, true_counts(plan, crowd), PEOPLE, SURVEYS, seed=12)
        self.surveys = [estimate_questions(plan, tally) for tally in tallies]
        first = self.surveys[0]
        self.names = [estimate.name for estimate in first for _ in estimate.all_rows]
        rows = [(estimate.name, row) for estimate in first for row in estimate.all_rows]
        self.truth = np.array([truth[name].get(row.label, 0) for name, row in rows])
        self.sigma = np.array([row.standard_error for _, row in rows])
        self.counts = self.column(lambda row: row.count)

    def places(self, question: str) -> list[int]:
        """Where its rows are."""
        return [place for place, name in enumerate(self.names) if name == question]

    def column(self, read: Callable[[Row], float]) -> Floats:
        """One number of every row: surveys down, rows across."""
        return np.array(
            [[read(row) for e in survey for row in e.all_rows] for survey in self.surveys]
        )

    def covered(self, read: Callable[[Row], Interval], scale: float = 1.0) -> NDArray[np.bool_]:
        low, high = self.column(lambda row: read(row).low), self.column(lambda row: read(row).high)
        truth = self.truth * scale
        return (low <= truth + 1e-12) & (truth <= high + 1e-12)


@pytest.fixture(scope="module")
def simulated(plan: Plan) -> Simulated:
    return Simulated(plan)


def test_estimates_are_unbiased(simulated: Simulated) -> None:
    """The mean of every row is within three standard errors of the truth, and they add up."""
    off = (simulated.counts.mean(axis=0) - simulated.truth) / simulated.sigma * SURVEYS**0.5
    assert np.abs(off).max() < 3
    assert 0.3 < (off**2).mean() < 2


def test_estimates_are_as_precise_as_planned(simulated: Simulated, plan: Plan) -> None:
    """The realised deviation is the planned one within 2 %, for single positions and for sums."""
    off = (simulated.counts - simulated.truth) / simulated.sigma
    assert (off**2).mean() ** 0.5 == pytest.approx(1, rel=0.02)
    for name in {"smokes", "colour", "engine", "blocker", "sports", "age"}:
        chosen = simulated.places(name)
        one = (off[:, chosen] ** 2).mean() ** 0.5
        assert one == pytest.approx(1, rel=5 / (2 * SURVEYS * len(chosen)) ** 0.5)
    by_name = {block.name: block.precision for block in plan.blocks}
    for estimate in simulated.surveys[0]:
        if estimate.name in by_name:
            planned = by_name[estimate.name].sigma
            assert [row.standard_error for row in estimate.rows] == pytest.approx(
                [planned] * len(estimate.rows)
            )


def test_intervals_cover_as_often_as_they_say(simulated: Simulated) -> None:
    """Answers that somebody gave: 94 to 96 %; answers that nobody gave can only be missed above."""
    covered = simulated.covered(lambda row: row.interval)
    given = simulated.truth > 100
    assert 0.94 <= covered[:, given].mean() <= 0.96
    assert covered[:, ~given].mean() == pytest.approx(0.975, abs=0.01)
    shares = simulated.covered(lambda row: row.share_interval, 1 / PEOPLE)
    np.testing.assert_array_equal(shares, covered)


def test_simultaneous_intervals_hold_together(simulated: Simulated) -> None:
    """Per question: all rows at once in 94 to 96 % of the surveys, up to what 1,000 can tell."""
    covered = simulated.covered(lambda row: row.simultaneous)
    held = []
    for name in ("colour", "sports", "age", "engine", "blocker", "smokes"):
        chosen = [place for place in simulated.places(name) if simulated.truth[place] > 100]
        held.append(covered[:, chosen].all(axis=1).mean())
    assert 0.94 <= np.mean(held) <= 0.965
    assert min(held) > 0.93


def test_consistent_counts_are_possible_and_nearer(simulated: Simulated) -> None:
    """Never negative, answers and silence add up to the crowd, and the error is no larger."""
    fitted = simulated.column(lambda row: row.consistent)
    assert fitted.min() >= 0
    for name in ("colour", "engine", "blocker", "age"):
        chosen = simulated.places(name)
        np.testing.assert_allclose(fitted[:, chosen].sum(axis=1), PEOPLE, rtol=1e-9)
    chosen = simulated.places("colour")[:-1]
    error = ((fitted - simulated.truth)[:, chosen] ** 2).sum(axis=1)
    raw = ((simulated.counts - simulated.truth)[:, chosen] ** 2).sum(axis=1)
    assert (error <= raw + 1e-6).all()
    assert error.mean() < 0.95 * raw.mean()


def test_picks_of_a_person(simulated: Simulated) -> None:
    """The mean number of picks: unbiased and covered."""
    items = simulated.places("sports")
    truth = simulated.truth[items].sum() / PEOPLE
    picks = [e.picks for survey in simulated.surveys for e in survey if e.picks is not None]
    assert len(picks) == SURVEYS
    off = np.array([p.value for p in picks]) - truth
    assert abs(off.mean()) < 3 * picks[0].standard_error / SURVEYS**0.5
    assert off.std() == pytest.approx(picks[0].standard_error, rel=0.08)
    covered = np.mean([p.interval.low <= truth <= p.interval.high for p in picks])
    assert 0.93 <= covered <= 0.97


def test_margins_of_a_group_have_the_deviation_of_a_sum(plan: Plan) -> None:
    """Each engine is a sum over three cells, each blocker over four; silence over all of them."""
    (one,) = (b.precision.sigma for b in plan.blocks if b.name == "engine+blocker")
    tally = tally_of(plan, PEOPLE, np.full(plan.layout.positions, 2_000))
    engine = estimate_question(plan, tally, "engine")
    blocker = estimate_question(plan, tally, "blocker")
    assert [row.standard_error for row in engine.rows] == pytest.approx([one * 3**0.5] * 3)
    assert [row.standard_error for row in blocker.rows] == pytest.approx([one * 4**0.5] * 2)
    assert engine.unanswered.standard_error == pytest.approx(one * 9**0.5)
    assert [row.label for row in blocker.rows] == ["yes", "no"]


def _people(crowd: dict[tuple[tuple[str, object], ...], int], plan: Plan) -> Iterator[list[int]]:
    for answers, people in crowd.items():
        ones = list(encode(plan.layout, dict(answers)))
        yield from [ones] * people


@pytest.mark.parametrize("linkage", list(Linkage))
def test_the_real_randomizer_does_what_binomials_do(linkage: Linkage) -> None:
    """A crowd of two thousand, person by person: estimates within six deviations of the truth."""
    questions = (QUESTIONS[0], QUESTIONS[2], QUESTIONS[5])
    copies = 3 if linkage is Linkage.RECORD else 1
    plan = plan_of(questions, 0.1, 2_000, linkage=linkage, copies=copies)
    crowd: dict[tuple[tuple[str, object], ...], int] = {
        (("smokes", True), ("engine", "a"), ("age", 30.0)): 900,
        (("smokes", False), ("engine", "b"), ("age", 99.0)): 700,
        (("smokes", True),): 400,
    }
    tally = randomized_tally(plan, list(_people(crowd, plan)))
    truth = {"yes": 1300, "a": 900, "b": 700, "c": 0, "unanswered": 400}
    truth |= {"20 to under 40": 900, "60 to under 100": 700}
    truth |= {"0 to under 20": 0, "40 to under 60": 0}
    sigma = (2_000 * 0.09 / copies) ** 0.5 / 0.8
    for estimate in estimate_questions(plan, tally):
        assert estimate.rows[0].standard_error == pytest.approx(sigma)
        for row in estimate.all_rows:
            assert abs(row.count - truth[row.label]) < 6 * row.standard_error


def test_copies_are_worth_their_weight() -> None:
    """Sixteen copies: a quarter of the deviation, realised, and covered."""
    plan = plan_of(
        [Choice(name="c", choices=COLOURS)], 0.3, 1_000, linkage=Linkage.RECORD, copies=16
    )
    true = np.array([0, 0, 10, 50, 100, 100, 100, 100, 100, 150, 150, 100])
    estimates = [
        estimate_question(plan, tally, "c")
        for tally in simulated_tallies(plan, true, 1_000, 300, seed=4)
    ]
    counts = np.array([[row.count for row in e.rows] for e in estimates])
    sigma = (1_000 * 0.21 / 16) ** 0.5 / 0.4
    assert (((counts - true) / sigma) ** 2).mean() ** 0.5 == pytest.approx(1, rel=0.02)
    inside = [
        row.interval.low <= people <= row.interval.high
        for e in estimates
        for row, people in zip(e.rows[2:], true[2:], strict=True)
    ]
    assert 0.94 <= np.mean(inside) <= 0.96


def test_batches_of_one_plan_add_up() -> None:
    """Two batches merged are estimated as one crowd."""
    plan = plan_of([YesNo(name="smokes")], 0.05, 3_000)
    first = tally_of(plan, 1_000, np.array([300]))
    second = tally_of(plan, 2_000, np.array([500]))
    both = estimate_question(plan, merged(first, second), "smokes").rows[0]
    parts = [estimate_question(plan, tally, "smokes").rows[0] for tally in (first, second)]
    assert both.count == pytest.approx(sum(row.count for row in parts))
    assert both.standard_error**2 == pytest.approx(sum(row.standard_error**2 for row in parts))


def test_refused_reports_leave_the_others_to_speak() -> None:
    """Half of the vectors counted: the same share of all people, less precise by √2."""
    plan = plan_of([YesNo(name="a")], 0.25, 1_000, linkage=Linkage.RECORD, copies=4)
    whole = tally_of(plan, 1_000, np.array([2_000]))
    half = replace(whole, responses=2_000, counts=np.array([1_000]))
    one, other = (estimate_question(plan, tally, "a").rows[0] for tally in (whole, half))
    assert one.count == pytest.approx(other.count) == pytest.approx(500)
    assert other.standard_error == pytest.approx(one.standard_error * 2**0.5)


@pytest.mark.check
def test_a_small_crowd_gets_exact_intervals() -> None:
    """And covers at least 95 %, in simulation too."""
    plan = plan_of([YesNo(name="a")], 0.05, 200)
    random = np.random.default_rng(8)
    covered = []
    for true in (0, 7, 90, 200):
        counts = noisy_counts(plan, np.array([true]), 200, 100, random)
        for ones in counts:
            row = estimate_question(plan, tally_of(plan, 200, ones), "a").rows[0]
            assert row.method is Method.EXACT
            covered.append(row.interval.low <= true <= row.interval.high)
    assert np.mean(covered) >= 0.94


def test_a_yes_no_alone_is_one_row(plan: Plan) -> None:
    """No and silence look the same, so neither has a row."""
    tally = tally_of(plan, PEOPLE, np.full(plan.layout.positions, 1_000))
    smokes, *others = estimate_questions(plan, tally, EstimateOptions(0.9, Sampling()))
    assert [row.label for row in smokes.rows] == ["yes"]
    assert smokes.unanswered is None
    assert smokes.rows[0].interval == smokes.rows[0].simultaneous
    assert [estimate.name for estimate in others] == [q.name for q in QUESTIONS[1:]]


def test_words_are_left_to_decoding() -> None:
    """They have no rows of their own; asking for them says why."""
    plan = plan_of([YesNo(name="a"), Words(name="w", size=64, hashes=2)], 0.1, 1_000)
    tally = tally_of(plan, 1_000, np.full(65, 150))
    assert [estimate.name for estimate in estimate_questions(plan, tally)] == ["a"]
    with pytest.raises(InvalidInput, match="candidates"):
        estimate_question(plan, tally, "w")


def test_a_tally_must_be_of_the_plan(plan: Plan) -> None:
    """Another plan's tally, an empty one and one of another size are refused."""
    tally = tally_of(plan, PEOPLE, np.full(plan.layout.positions, 1_000))
    other = plan_of(QUESTIONS, 0.03, PEOPLE, TOGETHER)
    with pytest.raises(InvalidInput, match=plan.hash):
        estimate_questions(other, tally)
    with pytest.raises(InvalidInput, match="at least one response"):
        estimate_questions(plan, replace(tally, people=0))
    with pytest.raises(InvalidInput, match="positions"):
        estimate_questions(plan, replace(tally, counts=tally.counts[1:]))
    with pytest.raises(InvalidInput, match="quantile"):
        estimate_questions(plan, tally, EstimateOptions(quantiles=(0.5, 1.0)))
