"""Results of surveys in which mixers, or devices and mixers, add the noise: promises and checks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.mixed_surveys import both_tallies, mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import inside, true_counts
from effort import LONG
from krand.analysis.actual_promise import actual_flips, actual_promise
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.mechanisms.both import BothModel
from krand.analysis.mechanisms.mixers import DummyModel
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.analysis.results_file import read_results, results_in
from krand.analysis.tally import Tally, merged
from krand.analysis.tally_checks import check_tally, tally_checks
from krand.analysis.verification.results import results_checks, tally_agrees
from krand.cli.result_tables import remarks
from krand.errors import InvalidInput
from krand.planning.coalitions import Coalition, Remains, coalitions_of
from krand.report.languages import language_of
from krand.report.page import report_page
from krand.report.promise import promise_view
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo

SURVEYS = 400 if LONG else 100
PLANNED = 2_000
"""The crowd where devices add noise as well."""
QUESTIONS = (
    Choice(name="colour", choices=Choices(["red", "green", "blue"])),
    YesNo(name="smokes"),
    Number(name="age", edges=(0, 20, 40, 60)),
    PickAny(name="pets", choices=Choices(["cat", "dog"])),
    PickAny(name="towns", choices=Choices([f"town {n}" for n in range(40)]), at_most=1),
    Words(name="tag", size=512, hashes=2, at_most=2),
    YesNo(name="drives"),
)
ANSWERS = (
    ("colour", "red"),
    ("smokes", True),
    ("age", 30),
    ("pets", ("cat",)),
    ("towns", ("town 1",)),
    ("tag", "jazz"),
)


BOTH_QUESTIONS = (
    *QUESTIONS[:3],
    PickAny(name="pets", choices=Choices(["cat", "dog", "fish"]), at_most=2),
    Words(name="tag", size=512, hashes=2),
)
BOTH_ANSWERS = (*ANSWERS[:3], ("pets", ("cat", "fish")), ("tag", "jazz"))
ASKED = {
    "mixers": (mechanisms.MIXERS, QUESTIONS, ANSWERS, 800, mixed_tallies),
    "both": (mechanisms.BOTH, BOTH_QUESTIONS, BOTH_ANSWERS, PLANNED, both_tallies),
}
"""Every kind of question."""


@cache
def _plan(by: str = "mixers") -> Plan:
    """Two questions together; two mixers, two batches."""
    noise, questions, _, crowd, _ = ASKED[by]
    more = {"mixers": 2, "batches": 2, "epsilon": 4.0, "crowd": crowd, "noise": noise}
    return mixed_plan_of(questions, [["colour", "smokes"]], **more)


def _true(people: int, by: str) -> NDArray[np.int64]:
    """Half of the people answer everything, the others nothing."""
    return true_counts(_plan(by), {ASKED[by][2]: people // 2, (): people - people // 2})


@cache
def _tally(people: int = 700, batches: int = 1, by: str = "mixers") -> Tally:
    tallies = ASKED[by][-1]
    (tally,) = tallies(_plan(by), _true(people, by), people, 1, seed=1, batches=batches)
    return tally


@cache
def _results(people: int = 700, by: str = "mixers") -> Results:
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]}, corrupted=5)
    return make_results(_plan(by), _tally(people, by=by), options)


@pytest.mark.parametrize("people", [2, 12, 799, 20_000])
def test_the_promise_needs_no_crowd(people: int) -> None:
    """12 or 799 of 800 people, and refused messages, leave it as it was planned."""
    plan = _plan()
    refused = replace(_tally(people), rejected={"malformed": 7})
    for tally in (_tally(people), refused):
        found = actual_promise(plan, tally).rounded(plan.survey.policy)
        assert found == replace(plan.promise, crowd=people)
    assert make_results(plan, _tally(people)).kept


def test_results_without_batches_are_none() -> None:
    """Without their number nobody knows how many dummies there are."""
    values = _values()
    values["batches"] = []
    with pytest.raises(InvalidInput, match="format") as caught:
        results_in(values)
    assert "each with its dummies" in caught.value.hint


def test_coalitions_are_those_of_the_crowd_that_came() -> None:
    """The promise for whoever colludes but one mixer, without a planned crowd."""
    rows = _results().coalitions
    assert rows == coalitions_of(_plan(), crowd=700)
    (half,) = (row for row in rows if row.coalition is Coalition.PEOPLE)
    assert (half.people, half.delta) == (350, _plan().promise.delta)
    assert rows[-1].remains is Remains.NOTHING


@pytest.mark.parametrize("change", [{"people": 700}, {"mixers": 4}, {"people": -1}])
def test_more_cannot_collude_than_there_are(change: dict[str, int]) -> None:
    """Nobody else is left to be protected, or no such mixer is in the plan."""
    values = _values()
    values["coalitions"][1].update(change)
    with pytest.raises(InvalidInput) as caught:
        results_in(values)
    assert "coalitions" in caught.value.hint


def test_a_lie_moves_a_count_by_the_messages_of_its_lane() -> None:
    """Five people: by five; in a table of words by their messages."""
    shifts = {shift.name: (shift.too_high, shift.too_low) for shift in _results().shifts}
    assert shifts["age"] == (5.0, 5.0)
    assert shifts["tag"] == (10.0, 5.0)


@pytest.mark.check
@pytest.mark.parametrize(("by", "people"), [("mixers", 700), ("both", PLANNED)])
def test_words_and_joint_tables_are_found(by: str, people: int) -> None:
    """Somebody's word, and nobody's is not; the cell that half of the people are in."""
    found = _results(people, by)
    jazz, rock = found.words[0].rows
    assert jazz.found
    assert jazz.low <= people / 2 <= jazz.high
    assert not rock.found
    table = found.joint[0].table
    assert table.interval.low[0, 0] <= people / 2 <= table.interval.high[0, 0]


@pytest.mark.check
@pytest.mark.parametrize(("by", "law"), [("mixers", DummyModel), ("both", BothModel)])
def test_the_laws_of_a_question_are_those_of_its_group(by: str, law: type) -> None:
    """A margin adds up cells; rounds are compared with the tails of flips and dummies."""
    found = law_of(_results(by=by), "smokes")
    assert isinstance(found, law)
    assert found.sigma == pytest.approx(_results(by=by).questions[1].rows[0].standard_error)


def _values(people: int = 700, by: str = "mixers") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(_results(people, by).values()))
    return found


def _failed(values: dict[str, Any], by: str = "mixers") -> set[str]:
    checks, _ = results_checks(values, "results.json", _plan(by))
    return {entry.name for entry in checks if entry.state == "failed"}


@pytest.mark.check
@pytest.mark.parametrize(("by", "people"), [("mixers", 700), ("both", 12), ("both", PLANNED)])
def test_results_are_read_back_and_recomputed(by: str, people: int, tmp_path: Path) -> None:
    """An infinite ε₀ included; every check of the file holds, and the tally gives the same."""
    found = _results(people, by)
    found.save(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == found
    assert _failed(_values(people, by), by) == set()
    checks, _ = results_checks(_values(people, by), "results.json", _plan(by))
    assert ("flips" in [entry.name for entry in checks]) == (by == "both")
    assert tally_agrees(found, _plan(by), _tally(people, by=by)).holds


PLANNED_NOISE = {"plan.noise", "plan.mixing"}
LANE_LAWS = ("plan", "mixing", "lane_laws")
CHANGED = [
    (("questions", 2, "rows", 0, "count"), lambda count: count + 0.5, {"counts"}),
    (("questions", 2, "rows", 1, "interval", "high"), lambda high: high - 1, {"intervals"}),
    (("questions", 2, "unanswered", "count"), lambda count: count + 1, {"shares"}),
    (("questions", 3, "rows", 0, "standard_error"), lambda error: error * 0.9, {"standard_errors"}),
    (("promise", "delta"), lambda delta: delta * 0.5, {"promise"}),
    (("promise", "local_epsilon"), lambda _: 5.0, {"promise"}),
    (("shifts", 0, "too_high"), lambda people: people - 1, {"shifts"}),
    ((*LANE_LAWS, -1), lambda _: 99, PLANNED_NOISE),
    # Both lanes of pets are one question: a second law there would be counted by nobody.
    ((*LANE_LAWS, 3), lambda law: 0 if law else 1, PLANNED_NOISE),
    (("plan", "mixing", "surplus"), lambda surplus: surplus * 0.5, PLANNED_NOISE),
]


@pytest.mark.parametrize(("path", "change", "names"), CHANGED)
def test_a_changed_number_is_found(
    path: tuple[str | int, ...], change: Callable[[Any], Any], names: set[str]
) -> None:
    """Each is one that whole counts, the plan's dummies, or its policy do not give."""
    values = _values()
    *way, last = path
    place = reduce(getitem, way, values)
    place[last] = change(place[last])
    assert names & _failed(values)


def test_a_tally_of_dummies_adds_up() -> None:
    """Of one batch, of two, of 12 people, and of two tallies that were merged."""
    both = merged(_tally(), replace(_tally(500), batches=("cd" * 32,)))
    for tally in (_tally(), _tally(batches=2), _tally(12), both):
        assert all(entry.state != "failed" for entry in tally_checks(_plan(), tally))


def _changed(tally: Tally, lane: int, nulls: int = 0, tokens: int = 0, **more: Any) -> Tally:
    """More empty messages and more tokens of a lane."""
    lane_nulls, counts = tally.lane_nulls.copy(), tally.counts.copy()
    lane_nulls[lane] += nulls
    counts[_plan().lanes[lane].offset] += tokens
    return replace(tally, lane_nulls=lane_nulls, nulls=tally.nulls + nulls, counts=counts, **more)


GROUP, AGE, CAT, TAG = 0, 1, 2, 5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lane": CAT, "nulls": 1}, "pets: "),
        ({"lane": CAT, "nulls": -1}, "pets: "),
        ({"lane": TAG, "nulls": -1}, "tag: "),
        ({"lane": GROUP, "tokens": 10**4}, "colour+smokes: "),
        ({"lane": AGE, "nulls": -600}, "age: "),
        ({"lane": AGE, "rejected": {"malformed": 10**6}}, "were refused"),
        ({"lane": AGE, "lane_nulls": np.zeros(2, np.int64)}, "lanes"),
        ({"lane": AGE, "batches": ()}, "batches"),
        ({"lane": AGE, "batches": ("a", "b", "c")}, "batches"),
    ],
)
def test_messages_of_every_lane_are_counted(change: dict[str, Any], says: str) -> None:
    """Exactly those of people and dummies where their number is known; else a range."""
    lanes = _plan().lanes
    assert [lanes[n].block for n in (GROUP, AGE, CAT, TAG)] == [
        "colour+smokes",
        "age",
        "pets",
        "tag",
    ]
    own = {name: change.pop(name) for name in ("lane_nulls",) if name in change}
    tally = replace(_changed(_tally(), **change), **own)
    (counts,) = (entry for entry in tally_checks(_plan(), tally) if entry.name == "counts")
    assert not counts.holds
    assert says in counts.says
    with pytest.raises(InvalidInput, match="must pass every check"):
        check_tally(_plan(), tally)


def test_refused_messages_may_be_missing_anywhere() -> None:
    """As many as were refused, and no more."""
    missing = _changed(_tally(), CAT, nulls=-2, rejected={"malformed": 2})
    check_tally(_plan(), missing)
    with pytest.raises(InvalidInput, match="counts"):
        check_tally(_plan(), replace(missing, rejected={"malformed": 1}))


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("people", [12, PLANNED, 40_000])
def test_questions_are_unbiased_and_covered_in_any_crowd(people: int) -> None:
    """A simulation with seed 3 of surveys with two batches: every row, "unanswered" included.

    Of 100 surveys; intervals half as wide as they should be cover 67 %, the test allows 86 %. A
    bias is seen from half a standard error on. `make long` simulates 400 surveys.
    """
    plan, half = _plan("both"), people // 2
    truth = {"red": half, "green": 0, "blue": 0, "yes": half, "no": 0}
    truth |= {"cat": half, "dog": 0, "fish": half, "unanswered": people - half}
    held: dict[tuple[str, str], list[bool]] = {}
    counts: dict[tuple[str, str], list[float]] = {}
    errors: dict[tuple[str, str], float] = {}
    for tally in both_tallies(plan, _true(people, "both"), people, SURVEYS, seed=3, batches=2):
        for question in estimate_questions(plan, tally):
            for row in question.all_rows:
                key = question.name, row.label
                value = truth.get(row.label, half if row.label == "20 to under 40" else 0)
                held.setdefault(key, []).append(inside(row.interval, value))
                counts.setdefault(key, []).append(row.count - value)
                errors[key] = row.standard_error
    for key, seen in held.items():
        assert np.mean(seen) >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / SURVEYS), key
        assert abs(np.mean(counts[key])) < 5 * errors[key] / math.sqrt(SURVEYS), key
        assert np.std(counts[key]) == pytest.approx(errors[key], rel=0.25), key


@pytest.mark.check
def test_counts_are_as_precise_as_planned() -> None:
    """In the planned crowd, with as many batches as planned."""
    plan = _plan("both")
    for question in make_results(plan, _tally(PLANNED, 2, "both")).questions:
        planned = plan.precision_of(question.name).sigma
        assert question.rows[0].standard_error == pytest.approx(planned, rel=2e-5)


@pytest.mark.check
def test_answers_and_unanswered_add_up_to_the_people() -> None:
    """A flip makes empty messages, so that "unanswered" is what all answers leave."""
    for question in _results(PLANNED, "both").questions:
        if question.unanswered is not None:
            total = sum(row.consistent for row in question.all_rows)
            assert total == pytest.approx(PLANNED)


@pytest.mark.check
@pytest.mark.parametrize("people", [12, PLANNED - 1])
def test_a_crowd_that_is_not_reached_voids_only_the_promise_of_flips(people: int) -> None:
    """The mixers' promise is that of the plan; results, remarks and report say so."""
    plan, tally = _plan("both"), _tally(people, by="both")
    actual = actual_promise(plan, tally).rounded(plan.survey.policy)
    assert actual == replace(plan.promise, crowd=people)
    assert actual_flips(plan, tally) is None
    found = _results(people, "both")
    assert found.kept
    assert found.flips is None
    said = "that noise alone promises nothing; the promise of the mixers holds all the same"
    assert said in next(iter(remarks(found)))
    assert any(said in term.text for term in promise_view(found, language_of("en")).terms)
    assert said in " ".join(report_page(found).split())


@pytest.mark.check
def test_a_crowd_that_is_reached_has_both_promises() -> None:
    """That of flips is the planned one; refused messages may come from people without noise."""
    plan, found = _plan("both"), _results(PLANNED, "both")
    assert found.flips.rounded(plan.survey.policy) == plan.flips
    assert "The noise of devices alone promises ε = 4, δ = " in next(iter(remarks(found)))
    refused = actual_flips(plan, replace(_tally(PLANNED, by="both"), rejected={"malformed": 7}))
    assert refused.colluding == plan.flips.colluding + 7
    assert refused.delta > plan.flips.delta


@pytest.mark.check
def test_a_promise_of_flips_that_is_too_good_is_found() -> None:
    """A smaller δ, or any promise to a crowd that is too small."""
    values, small = _values(PLANNED, "both"), _values(12, "both")
    small["flips"] = dict(values["flips"])
    values["flips"]["delta"] /= 2
    for changed in (values, small):
        assert "flips" in _failed(changed, "both")


def test_other_results_have_no_promise_of_flips() -> None:
    """It stands in the file only where devices and mixers add noise."""
    values = _values()
    assert "flips" not in values
    with pytest.raises(InvalidInput, match="format"):
        results_checks({**values, "flips": values["promise"]}, "results.json", _plan())
