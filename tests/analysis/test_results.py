"""Results: estimates that cannot be had without the promise for the crowd that came."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.simulated_surveys import noisy_counts, tally_of, true_counts
from krand.analysis.actual_promise import actual_promise
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_file import read_results
from krand.analysis.tally import Tally
from krand.errors import CannotMeet, InvalidInput
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall, keeps_policy
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo
from krand.survey.survey import Survey, Together
from plans import planned_by_test
from sealed_tallies import in_lanes

PEOPLE = 20_000
COLOURS = Choices(["red", "green", "blue"])
SURVEY = Survey(
    id="s",
    policy=Policy(epsilon=1.0, minimum_crowd=PEOPLE, delta=1e-6),
    questions=(
        Choice(name="colour", choices=COLOURS, text="Which colour?"),
        YesNo(name="smokes"),
        Number(name="age", edges=(0, 20, 40, 60)),
        PickAny(name="pets", choices=Choices(["cat", "dog"])),
        Words(name="tag", size=512, hashes=2),
    ),
    together=(Together(("colour", "smokes")),),
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(SURVEY)


def crowd_of(people: int) -> dict[tuple[tuple[str, object], ...], int]:
    """Half smoke and like red; the others are silent."""
    half = {"colour": "red", "smokes": True, "age": 30, "pets": ("cat",), "tag": "jazz"}
    return {tuple(half.items()): people // 2, (): people - people // 2}


def tally_for(plan: Plan, people: int = PEOPLE, **more: Any) -> Tally:
    crowd = crowd_of(people) if plan.survey.id == SURVEY.id else {(("smokes", True),): people}
    true = true_counts(plan, crowd)
    (counts,) = noisy_counts(plan, true, people, 1, np.random.default_rng(1))
    return replace(tally_of(plan, people, counts), **more)


@pytest.fixture(scope="module")
def results(plan: Plan) -> Results:
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]})
    return make_results(plan, tally_for(plan, batches=("ab" * 32,)), options)


def test_an_estimate_cannot_be_had_without_a_guarantee() -> None:
    """Results have no promise by default, and tables carry it in every row."""
    (field,) = (f for f in fields(Results) if f.name == "promise")
    assert (field.default, field.default_factory) == (MISSING, MISSING)


def test_the_guarantee_is_that_of_the_crowd_that_came(plan: Plan) -> None:
    """Exactly the planned crowd: the plan's own promise; a larger one: a better one."""
    planned = actual_promise(plan, tally_for(plan))
    assert planned.rounded(plan.survey.policy) == plan.promise
    larger = actual_promise(plan, tally_for(plan, 2 * PEOPLE))
    assert larger.crowd == 2 * PEOPLE
    assert larger.delta < plan.promise.delta / 10


def test_merged_batches_are_as_good_as_the_smallest(plan: Plan) -> None:
    """Two batches of N hide a person in N, not in 2N."""
    merged = actual_promise(plan, tally_for(plan, 2 * PEOPLE, crowd=PEOPLE))
    assert merged.rounded(plan.survey.policy) == plan.promise


def test_refused_messages_weaken_the_guarantee(plan: Plan) -> None:
    """Each may be a client without noise; what is left is told, and whether it is enough."""
    tally = in_lanes(plan, tally_for(plan, rejected={"wrong_length": 2_000}))
    promise = actual_promise(plan, tally)
    assert promise.delta > plan.promise.delta
    assert promise.colluding == 2_000
    assert not keeps_policy(plan, promise)
    assert keeps_policy(plan, actual_promise(plan, tally_for(plan)))
    assert not make_results(plan, tally).kept


def test_refused_messages_and_planned_colluders_add_up() -> None:
    """A planned colluder looks like everybody else, so each refused message is one more."""
    survey = Survey(
        id="one",
        policy=Policy(epsilon=1.0, minimum_crowd=1_000, delta=1e-4, colluding=200),
        questions=(YesNo(name="smokes"),),
    )
    plan = planned_by_test(survey, (2**28,))
    promises = {
        refused: actual_promise(plan, tally_for(plan, 1_000, rejected={"wrong_length": refused}))
        for refused in (0, 150, 300)
    }
    assert {refused: p.colluding for refused, p in promises.items()} == {0: 200, 150: 350, 300: 500}
    deltas = [promise.delta for promise in promises.values()]
    assert deltas == sorted(set(deltas))
    with pytest.raises(CannotMeet, match="799 messages were refused, and the plan counts on 200"):
        actual_promise(plan, tally_for(plan, 1_000, rejected={"wrong_length": 799}))


def test_below_the_planned_crowd_nothing_is_released(plan: Plan) -> None:
    """Whatever the tally holds."""
    with pytest.raises(CrowdTooSmall):
        make_results(plan, tally_for(plan, PEOPLE - 1))


def test_everything_is_there(plan: Plan, results: Results) -> None:
    """All questions, the declared table, its conditionals and test, words, versions."""
    assert results.questions == estimate_questions(plan, tally_for(plan))
    assert [q.name for q in results.questions] == ["colour", "smokes", "age", "pets"]
    (joint,) = results.joint
    assert joint.table.questions == ("colour", "smokes")
    assert [table.given for table in joint.given] == ["colour", "smokes"]
    (words,) = results.words
    assert [word.word for word in words.found] == ["jazz"]
    assert {"krand", "numpy", "scipy", "python"} <= set(results.versions)
    assert results.kept


def test_joint_tables_match_the_truth(results: Results) -> None:
    """Every cell lies in the simultaneous interval (a crowd drawn with a fixed seed)."""
    table = results.joint[0].table
    truth = np.zeros(table.counts.shape)
    truth[0, 0] = truth[-1, -1] = PEOPLE / 2
    assert np.all(table.simultaneous.low <= truth)
    assert np.all(truth <= table.simultaneous.high)


def test_candidates_are_for_words(plan: Plan) -> None:
    """Of a question that exists and takes words."""
    with pytest.raises(InvalidInput, match="of type words"):
        make_results(plan, tally_for(plan), ResultsOptions(candidates={"age": ["x"]}))
    with pytest.raises(InvalidInput, match="question of the survey"):
        make_results(plan, tally_for(plan), ResultsOptions(candidates={"nothing": ["x"]}))


def test_json_holds_everything(plan: Plan, results: Results, tmp_path: Path) -> None:
    """Standard JSON, with the plan inside, that gives back the estimates."""
    results.save(tmp_path / "r.json")
    values = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"), parse_constant=fail)
    assert values == json.loads(json.dumps(results.values()))
    assert values["plan_hash"] == plan.hash
    assert values["plan"] == json.loads(plan.bytes)
    assert values["promise"]["delta"] == results.promise.delta
    assert values["batches"] == ["ab" * 32]
    assert read_results(tmp_path / "r.json").questions == results.questions


def fail(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_sampling_survives_the_file(plan: Plan, tmp_path: Path) -> None:
    """Results made for a larger population say so when they are read again."""
    options = ResultsOptions(sample_of=10**6)
    made = make_results(plan, tally_for(plan), options)
    made.save(tmp_path / "r.json")
    found = read_results(tmp_path / "r.json")
    assert {question.sampling for question in found.questions} == {Sampling(10**6)}
    assert found == made


def test_a_sample_is_of_a_number_of_people_or_of_everybody() -> None:
    """As --sample-of takes it; another word is refused."""
    found = [
        ResultsOptions(sample_of=of).estimate_options.sampling for of in (None, 9, "everybody")
    ]
    assert found == [None, Sampling(9), Sampling()]
    with pytest.raises(InvalidInput, match="sample_of: must be a number of people, or 'everybody'"):
        ResultsOptions(sample_of="nobody")


def test_what_is_read_back_equals_what_was_written(results: Results, tmp_path: Path) -> None:
    """Every number, table, word and the plan; a change of any cell makes other results."""
    results.save(tmp_path / "r.json")
    found = read_results(tmp_path / "r.json")
    assert found == results
    assert found.plan.hash == results.plan.hash
    (joint,) = found.joint
    cells = joint.table.counts.copy()
    cells[0, 0] += 1
    other = replace(joint, table=replace(joint.table, counts=cells))
    assert replace(found, joint=(other,)) != results
    low = replace(joint.table.interval, low=cells)
    assert replace(joint.table, interval=low) != joint.table


def test_words_that_cannot_be_told_apart_survive_the_file(results: Results, tmp_path: Path) -> None:
    """They have no standard error."""
    (words,) = results.words
    rows = (replace(words.rows[0], standard_error=None), *words.rows[1:])
    made = replace(results, words=(replace(words, rows=rows),))
    made.save(tmp_path / "r.json")
    assert read_results(tmp_path / "r.json") == made


MALFORMED: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("questions[0].rows[1].count: should be a number", lambda v: row(v).update(count="7")),
    ("questions[0].rows[1].readable: should be true or", lambda v: row(v).update(readable=1)),
    ("questions[0].rows[1].method: should be one of exact", lambda v: row(v).update(method="?")),
    ("questions[0].rows[1].share: is missing", lambda v: row(v).pop("share")),
    ("questions[0].rows[1].more: should not be there", lambda v: row(v).update(more=1)),
    ("more: should not be there", lambda v: v.update(more=1)),
    ("rejected.x: should be a whole number", lambda v: v.update(rejected={"x": 0.5})),
    (
        "joint[0].independence.questions: should have 2",
        lambda v: v["joint"][0]["independence"]["questions"].pop(),
    ),
    ("joint[0].table.counts: should be a whole table", lambda v: table(v)["counts"][0].pop()),
    ("joint[0].table.counts: should be a whole", lambda v: table(v)["counts"][0].append(True)),
    ("joint[0].table.noise: should not be there", lambda v: table(v).update(noise=None)),
    ("is not a whole table", lambda v: table(v)["readable"].pop()),
    ("plan_hash: should be that of the plan inside", lambda v: v.update(plan_hash="0" * 64)),
    ("plan: ", lambda v: v["plan"]["blocks"][0].update(noise_numerator=0)),
]


def row(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = values["questions"][0]["rows"][1]
    return found


def table(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = values["joint"][0]["table"]
    return found


@pytest.mark.parametrize(("says", "edit"), MALFORMED)
def test_an_error_says_what_is_wrong_where(
    says: str, edit: Callable[[dict[str, Any]], object], results: Results, tmp_path: Path
) -> None:
    """The path of the value, and what should be there."""
    values = json.loads(json.dumps(results.values()))
    edit(values)
    (tmp_path / "r.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(says)):
        read_results(tmp_path / "r.json")


def test_other_forms_and_files_are_refused(results: Results, tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(InvalidInput, match="json, parquet, csv, xlsx"):
        results.save(tmp_path / "r", "ods")
    for content in (b"{}", b'{"format": "krand-results-2", "questions": [{}]}'):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(InvalidInput, match="krand-results-1"):
            read_results(tmp_path / "r")
    for content in (b"[1]", b"\xff"):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(InvalidInput, match="must be a whole JSON file"):
            read_results(tmp_path / "r")
    with pytest.raises(InvalidInput, match="no such file"):
        read_results(tmp_path / "absent")


def test_records_show_what_is_asked_for(tmp_path: Path) -> None:
    """In record linkage any questions can be seen together."""
    asked = (YesNo(name="smokes"), Choice(name="colour", choices=COLOURS))
    survey = Survey(
        id="s",
        policy=Policy(epsilon=2.0, minimum_crowd=50_000, delta=1e-4),
        questions=asked,
        linkage=Linkage.RECORD,
    )
    plan = make_plan(survey)
    table = np.zeros(16, np.int64)
    table[[0, 8, 12]] = 20_000, 10_000, 20_000
    ones = np.array([[i >> b & 1 for b in (3, 2, 1, 0)] for i in range(16)])
    made = make_results(
        plan,
        tally_of(plan, 50_000, table @ ones, table=table),
        ResultsOptions(joint=(("smokes", "colour"),)),
    )
    assert made.joint[0].table.counts.shape == (2, 4)
    made.save(tmp_path / "r.json")
    json.loads((tmp_path / "r.json").read_text(encoding="utf-8"), parse_constant=fail)
    assert read_results(tmp_path / "r.json") == made
