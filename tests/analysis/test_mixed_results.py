"""Results of a survey in which mixers add the noise: promise, files, checks, verification."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import true_counts
from krand.analysis.actual_promise import actual_promise
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.analysis.results_file import read_results, results_in
from krand.analysis.tally import Tally, empty_tally, merged
from krand.analysis.tally_checks import check_tally, tally_checks
from krand.analysis.tally_file import read_tally
from krand.analysis.verification.results import results_checks, tally_agrees
from krand.errors import InvalidInput
from krand.planning.coalitions import Coalition, Remains, coalitions_of
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo

PLANNED = 800
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
    """Every kind of question, two of them together; two mixers, two batches."""
    return mixed_plan_of(
        QUESTIONS, [["colour", "smokes"]], mixers=2, batches=2, epsilon=4.0, crowd=PLANNED
    )


@cache
def _tally(people: int = 700, batches: int = 1) -> Tally:
    plan = _plan()
    crowd = {ANSWERS: people // 2, (): people - people // 2}
    (tally,) = mixed_tallies(plan, true_counts(plan, crowd), people, 1, seed=1, batches=batches)
    return tally


@cache
def _results() -> Results:
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]}, corrupted=5)
    return make_results(_plan(), _tally(), options)


@pytest.mark.parametrize("people", [2, 12, 799, 20_000])
def test_the_promise_needs_no_crowd(people: int) -> None:
    """12 or 799 of 800 people, and refused messages, leave it as it was planned."""
    plan = _plan()
    refused = replace(_tally(people), rejected={"malformed": 7})
    for tally in (_tally(people), refused):
        found = actual_promise(plan, tally).rounded(plan.survey.policy)
        assert found == replace(plan.promise, crowd=people)
    assert make_results(plan, _tally(people)).kept


def test_results_are_read_back_as_they_were_saved(tmp_path: Path) -> None:
    """An infinite ε₀ included."""
    _results().save(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == _results()


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


def test_words_are_found() -> None:
    """Somebody's word is found, nobody's is not."""
    (words,) = _results().words
    jazz, rock = words.rows
    assert jazz.found
    assert jazz.low <= 350 <= jazz.high
    assert not rock.found


def test_the_laws_of_a_question_are_those_of_its_group() -> None:
    """A margin adds up cells; two mixers, one batch."""
    law = law_of(_results(), "smokes")
    assert law.sigma == _results().questions[1].rows[0].standard_error


def _values() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(_results().values()))
    return found


def _failed(values: dict[str, Any]) -> set[str]:
    checks, _ = results_checks(values, "results.json", _plan())
    return {entry.name for entry in checks if entry.state == "failed"}


def test_everything_is_recomputed() -> None:
    """From the file alone, and from the tally."""
    assert _failed(_values()) == set()
    assert tally_agrees(_results(), _plan(), _tally()).holds


def _raise_count(values: dict[str, Any]) -> None:
    values["questions"][2]["rows"][0]["count"] += 0.5


def _narrow_interval(values: dict[str, Any]) -> None:
    values["questions"][2]["rows"][1]["interval"]["high"] -= 1


def _raise_unanswered(values: dict[str, Any]) -> None:
    values["questions"][2]["unanswered"]["count"] += 1


def _shrink_error(values: dict[str, Any]) -> None:
    values["questions"][3]["rows"][0]["standard_error"] *= 0.9


def _shrink_delta(values: dict[str, Any]) -> None:
    values["promise"]["delta"] *= 0.5


def _finite_epsilon(values: dict[str, Any]) -> None:
    values["promise"]["local_epsilon"] = 5.0


def _shrink_shift(values: dict[str, Any]) -> None:
    values["shifts"][0]["too_high"] -= 1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (_raise_count, "counts"),
        (_narrow_interval, "intervals"),
        (_raise_unanswered, "shares"),
        (_shrink_error, "standard_errors"),
        (_shrink_delta, "promise"),
        (_finite_epsilon, "promise"),
        (_shrink_shift, "shifts"),
    ],
)
def test_a_changed_number_is_found(change: Callable[[dict[str, Any]], None], name: str) -> None:
    """Each is one that whole counts and the plan's dummies do not give."""
    values = _values()
    change(values)
    assert name in _failed(values)


def _other_law(mixing: dict[str, Any]) -> None:
    mixing["lane_laws"][-1] = 99


def _lanes_apart(mixing: dict[str, Any]) -> None:
    """Both lanes of pets are one question: a second law there would be counted by nobody."""
    first = mixing["lane_laws"][2]
    mixing["lane_laws"][3] = next(n for n in range(len(mixing["laws"])) if n != first)


def _rarer_surplus(mixing: dict[str, Any]) -> None:
    mixing["surplus"] *= 0.5


@pytest.mark.parametrize("change", [_other_law, _lanes_apart, _rarer_surplus])
def test_dummies_that_the_plan_does_not_allow_are_found(
    change: Callable[[dict[str, Any]], None],
) -> None:
    """In the plan inside results, by name."""
    values = _values()
    change(values["plan"]["mixing"])
    assert {"plan.noise", "plan.mixing"} & _failed(values)


def test_tallies_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    """Nulls lane by lane; a tally of responses that were not sealed has none."""
    for tally in (_tally(), replace(_tally(), lane_nulls=None, nulls=0)):
        tally.save(tmp_path / "tally.json")
        assert read_tally(tmp_path / "tally.json").same_as(tally)


@pytest.mark.parametrize("nulls", [None, [], [-1], "many", [1, 2]])
def test_nulls_of_lanes_are_read_strictly(tmp_path: Path, nulls: object) -> None:
    """Counts that add up to all nulls."""
    values = {**_tally().values(), "lane_nulls": nulls}
    (tmp_path / "tally.json").write_text(json.dumps(values))
    with pytest.raises(InvalidInput, match="must be a file of the format"):
        read_tally(tmp_path / "tally.json")


def test_batches_are_merged() -> None:
    """Nulls of every lane add up, and nothing counted yet changes nothing."""
    first, lanes = _tally(), len(_plan().lanes)
    second = replace(_tally(500), batches=("cd" * 32,))
    both = merged(first, second)
    assert first.lane_nulls is not None
    assert second.lane_nulls is not None
    np.testing.assert_array_equal(both.lane_nulls, first.lane_nulls + second.lane_nulls)
    check_tally(_plan(), both)
    nothing = empty_tally(first.plan_hash, first.linkage, first.positions, lanes=lanes)
    assert merged(nothing, first).same_as(first)


def test_a_tally_of_dummies_adds_up() -> None:
    """Of one batch, of two, and of 12 people."""
    for tally in (_tally(), _tally(batches=2), _tally(12)):
        assert all(entry.state != "failed" for entry in tally_checks(_plan(), tally))


def _changed(tally: Tally, lane: int, nulls: int = 0, tokens: int = 0, **more: Any) -> Tally:
    """More empty messages and more tokens of a lane."""
    assert tally.lane_nulls is not None
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
