"""A scale in two groups, the whole way: plan, people, tables, files, report, verification."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from krand import make_plan, make_results, randomize_table, tally_responses
from krand.accounting.division import Share, assess_shares
from krand.analysis.estimates.values import Statistic
from krand.analysis.results import Results
from krand.analysis.verification.results import results_checks
from krand.cli.result_tables import results_tables
from krand.report import report_page
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.survey.survey import Together
from krand.tables.answers import open_answers
from krand.tables.columns import encode_columns
from krand.testing import simulated_people, simulated_table, unsafe_exact_plan
from plans import numerators_of
from tables.rows import encode_lists

PEOPLE = 4_000
SURVEY = """
id = "rated"
policy = { epsilon = 3, delta = 1e-4, minimum_crowd = 4_000 }

[[question]]
name = "rating"
type = "scale"
lowest = 1
highest = 5
labels = ["very bad", "very good"]

[[question]]
name = "town"
type = "choice"
choices = ["north", "south", "east", "west"]

[[question]]
name = "smokes"
type = "yes_no"

[[together]]
questions = ["rating", "town"]

[[together]]
questions = ["smokes", "rating"]
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    """With the noise that the policy needs."""
    return make_plan(parse_survey(SURVEY))


def results_of(plan: Plan, folder: Path) -> Results:
    """Simulated people, randomized, counted, estimated."""
    responses = folder / "responses.parquet"
    randomize_table(plan, simulated_table(plan.survey, PEOPLE, seed=3), responses)
    return make_results(plan, tally_responses(plan, [responses]))


def test_the_promise_counts_both_groups(plan: Plan) -> None:
    """Four bits can change with one answer; the noise is that of two questions, not of one."""
    assert plan.layout.sensitivity == 4
    assert plan.layout.most_ones == 2
    shares = [Share(block.sensitivity, block.weight) for block in plan.layout.blocks]
    policy = plan.survey.policy
    numerators = numerators_of(plan)
    both = assess_shares(policy, shares, numerators, 1, 0.0)
    one = assess_shares(policy, shares[:1], numerators[:1], 1, 0.0)
    assert one.delta < both.delta <= plan.promise.delta <= 1e-4
    survey = plan.survey
    rating, town, smokes = survey.questions
    again = (rating, town, smokes, replace(rating, name="again"))
    apart = (survey.together[0], Together(("smokes", "again")))
    other = make_plan(replace(survey, questions=again, together=apart))
    assert numerators_of(other) == numerators
    alone = replace(survey, questions=(rating, town), together=survey.together[:1])
    assert make_plan(alone).blocks[0].numerator < plan.blocks[0].numerator


def test_the_margin_comes_from_the_more_precise_group(plan: Plan) -> None:
    """Sums over three cells are more precise than sums over five."""
    town, smokes = plan.layout.blocks_of("rating")
    assert (town.name, smokes.name) == ("rating+town", "smokes+rating")
    assert (town.cells_of("rating"), smokes.cells_of("rating")) == (5, 3)
    assert plan.block_of("rating").block == smokes
    widths = [m.precision.sigma for b in plan.blocks for m in b.margins if m.question == "rating"]
    assert plan.precision_of("rating").sigma == min(widths) < max(widths)


def test_without_noise_everybody_is_counted_right(tmp_path: Path) -> None:
    """Rows, mean, boxes and both tables are those of the people themselves."""
    plan = unsafe_exact_plan(parse_survey(SURVEY))
    people = simulated_people(plan.survey, PEOPLE, seed=3)
    ratings = Counter(person.get("rating") for person in people)
    answered = sorted(v for v in ratings.elements() if isinstance(v, int))
    results = results_of(plan, tmp_path)
    rating = results.questions[0]
    assert [round(row.count) for row in rating.rows] == [ratings[v] for v in range(1, 6)]
    found = {summary.statistic: summary.value for summary in rating.summaries}
    assert found[Statistic.MEAN] == pytest.approx(sum(answered) / len(answered), abs=1e-4)
    top = sum(value >= 4 for value in answered) / len(answered)
    assert found[Statistic.TOP_BOX] == pytest.approx(top, abs=1e-4)
    assert [joint.table.questions for joint in results.joint] == [
        ("rating", "town"),
        ("smokes", "rating"),
    ]
    pairs = Counter((person.get("smokes"), person.get("rating")) for person in people)
    assert round(results.joint[1].table.counts[0, 4]) == pairs[True, 5]


def test_with_noise_intervals_hold_most_truths(plan: Plan, tmp_path: Path) -> None:
    """The whole survey as it is planned: most of the intervals contain the truth."""
    people = simulated_people(plan.survey, PEOPLE, seed=3)
    ratings = Counter(person.get("rating") for person in people)
    rating = results_of(plan, tmp_path).questions[0]
    off = [
        abs(row.count - ratings[value]) / row.standard_error
        for value, row in zip(range(1, 6), rating.rows, strict=True)
    ]
    assert max(off) < 6


def test_every_form_of_results_has_every_statistic(plan: Plan, tmp_path: Path) -> None:
    """JSON, CSV, Parquet, the terminal and the report."""
    results = results_of(plan, tmp_path)
    names = [summary.statistic.value for summary in results.questions[0].summaries]
    assert names[:2] == ["mean", "top_box"]
    for form in ("json", "csv", "parquet"):
        results.save(tmp_path / f"results.{form}")
    written = json.loads((tmp_path / "results.json").read_bytes())["questions"][0]["summaries"]
    assert [entry["statistic"] for entry in written] == names
    assert written[1]["answers"] == ["4", "5 (very good)"]
    for table in (
        pq.read_table(tmp_path / "results.parquet"),
        pyarrow.csv.read_csv(tmp_path / "results.csv"),
    ):
        rows = {row["answer"]: row for row in table.to_pylist() if row["question"] == "rating"}
        assert rows.keys() >= set(names)
        assert rows["mean"]["value"] == pytest.approx(written[0]["value"])
        assert rows["mean"]["value_low"] <= rows["mean"]["value"] <= rows["mean"]["value_high"]
        assert rows["top_box"]["method"] == "4 + 5 (very good)"
    captions = [str(table.caption) for table in results_tables(results)]
    page = report_page(results)
    for words in (name.replace("_", " ") for name in names):
        assert words in captions[0]
        assert words.capitalize() in page
    assert "top box, 4 and 5 (very good):" in captions[0]
    assert "Top box, 4 and 5 (very good): " in page


def test_a_release_is_verified_and_an_edited_mean_is_found(plan: Plan, tmp_path: Path) -> None:
    """Both groups are recovered from the file; mean and boxes follow from them."""
    values = json.loads(json.dumps(results_of(plan, tmp_path).values()))
    checks, _ = results_checks(values, "results", plan)
    assert [check for check in checks if check.state == "failed"] == []
    values["questions"][0]["summaries"][0]["value"] += 0.1
    edited, _ = results_checks(values, "results", plan)
    assert [check.name for check in edited if check.state == "failed"] == ["distributions"]


def test_a_wrong_answer_to_a_question_of_two_groups_is_told_once(plan: Plan) -> None:
    """One mistake for one answer, though two groups read it."""
    found = encode_lists(plan.layout, {"rating": [3, 9], "town": ["north", "south"]})
    assert found.bad.tolist() == [1]
    assert [mistake.row for mistake in found.mistakes] == [1]


def test_devices_and_tables_agree(plan: Plan) -> None:
    """The positions of a person are the same one by one and as a table."""
    people = simulated_people(plan.survey, 50, seed=1)
    names = [question.name for question in plan.survey.questions]
    table = encode_lists(plan.layout, {n: [p.get(n) for p in people] for n in names})
    for row, person in enumerate(people):
        own = tuple(table.positions[table.rows == row].tolist())
        assert own == encode(plan.layout, person)


def test_scales_are_read_from_csv(tmp_path: Path) -> None:
    """Whole numbers however a program writes them; others are wrong, row by row."""
    survey = parse_survey(SURVEY)
    layout = layout_of(survey)
    path = tmp_path / "answers.csv"
    path.write_text(
        "rating,town,smokes\n4,north,yes\n4.0,north,yes\n,north,yes\n", encoding="utf-8"
    )
    (chunk,) = open_answers(path, layout).chunks
    found = encode_columns(layout, chunk.columns)
    assert not found.bad.size
    one, two, silent = (tuple(found.positions[found.rows == row].tolist()) for row in range(3))
    assert one == two == encode(layout, {"rating": 4, "town": "north", "smokes": True})
    assert silent == encode(layout, {"town": "north", "smokes": True})
