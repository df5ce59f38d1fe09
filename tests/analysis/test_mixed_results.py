"""Results of surveys in which mixers add the noise: promises and checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import true_counts
from krand.analysis.actual_promise import actual_promise
from krand.analysis.mechanisms.mixers import DummyModel
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.analysis.results_file import read_results, results_in
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import check_tally, tally_checks
from krand.analysis.verification.results import results_checks, tally_agrees
from krand.errors import InvalidInput
from krand.planning.coalitions import Coalition, Remains, coalitions_of
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo

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


@cache
def _plan() -> Plan:
    """Two questions together; two mixers."""
    return mixed_plan_of(QUESTIONS, [["colour", "smokes"]], mixers=2, epsilon=4.0)


@cache
def _tally(people: int = 700) -> Tally:
    """Half of the people answer everything, the others nothing."""
    true = true_counts(_plan(), {ANSWERS: people // 2, (): people - people // 2})
    (tally,) = mixed_tallies(_plan(), true, people, 1, seed=1)
    return tally


@cache
def _results(people: int = 700) -> Results:
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]})
    return make_results(_plan(), _tally(people), options)


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
    """A round has one: with none or two nobody knows how many dummies there are."""
    values = _values()
    for batches in ([], ["ab" * 32, "cd" * 32]):
        values["batches"] = batches
        with pytest.raises(InvalidInput, match="format") as caught:
            results_in(values)
        assert "should be one, as a round has" in caught.value.hint


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
    """By one; in a table of words by its messages."""
    blocks = _results().plan.blocks
    shifts = {b.name: (b.shift.too_high, b.shift.too_low) for b in blocks}
    assert shifts["age"] == (1.0, 1.0)
    assert shifts["tag"] == (2.0, 1.0)


@pytest.mark.check
def test_words_and_joint_tables_are_found() -> None:
    """Somebody's word, and nobody's is not; the cell that half of the people are in."""
    found, people = _results(700), 700
    jazz, rock = found.words[0].rows
    assert jazz.found
    assert jazz.low <= people / 2 <= jazz.high
    assert not rock.found
    table = found.joint[0].table
    assert table.interval.low[0, 0] <= people / 2 <= table.interval.high[0, 0]


@pytest.mark.check
def test_the_laws_of_a_question_are_those_of_its_group() -> None:
    """A margin adds up cells; rounds are compared with the tails of dummies."""
    found = law_of(_results(), "smokes")
    assert isinstance(found, DummyModel)
    assert found.sigma == pytest.approx(_results().questions[1].rows[0].standard_error)


def _values(people: int = 700) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(_results(people).values()))
    return found


def _failed(values: dict[str, Any]) -> set[str]:
    checks, _ = results_checks(values, "results.json", _plan())
    return {entry.name for entry in checks if entry.state == "failed"}


@pytest.mark.check
@pytest.mark.parametrize("people", [12, 700])
def test_results_are_read_back_and_recomputed(people: int, tmp_path: Path) -> None:
    """An infinite ε₀ included; every check of the file holds, and the tally gives the same."""
    found = _results(people)
    found.save(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == found
    assert _failed(_values(people)) == set()
    assert tally_agrees(found, _plan(), _tally(people)).holds


PLANNED_NOISE = {"plan.noise", "plan.mixing"}
LANE_LAWS = ("plan", "mixing", "lane_laws")
CHANGED = [
    (("questions", 2, "rows", 0, "count"), lambda count: count + 0.5, {"counts"}),
    (("questions", 2, "rows", 1, "interval", "high"), lambda high: high - 1, {"intervals"}),
    (("questions", 2, "unanswered", "count"), lambda count: count + 1, {"shares"}),
    (("questions", 3, "rows", 0, "standard_error"), lambda error: error * 0.9, {"standard_errors"}),
    (("promise", "delta"), lambda delta: delta * 0.5, {"promise"}),
    (("promise", "local_epsilon"), lambda _: 5.0, {"promise"}),
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
    """Of 700 people, and of 12."""
    for tally in (_tally(), _tally(12)):
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
        ({"lane": AGE, "batches": ("a", "b")}, "batches"),
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
