"""`krand ledger`: what was answered, what that cost, and nothing is touched."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from command_line import done, refused, told
from krand.client.ledger import Ledger, Submission
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from schedules import days, of_campaign

POLICY = Policy(epsilon=1.0, delta=1e-4, minimum_crowd=10_000)


def words(result: Result) -> str:
    """The output without its line breaks."""
    return " ".join(result.stdout.split())


def answer(file: Path, plan: Plan, number: int, epsilon: float | None = None) -> None:
    """Let a device answer; with another ε, as if the plan had promised that."""
    if epsilon is not None:
        plan = replace(plan, promise=replace(plan.promise, epsilon=epsilon))
        plan = of_campaign(plan, f"of-{epsilon}")
    made = Submission(os.urandom(16), (os.urandom(54),))
    Ledger(file).submission(plan, number, lambda: made)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(
        Survey(
            id="habits",
            policy=POLICY,
            questions=(YesNo(name="smokes"),),
            rounds=12,
            schedule=days(12),
        )
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.ledger"


@pytest.fixture
def answered(plan: Plan, file: Path) -> Path:
    """Three rounds of one plan, one of another; two are acknowledged."""
    other = of_campaign(replace(plan, survey=replace(plan.survey, id="health")), "health")
    for number in (10, 2, 1):
        answer(file, plan, number)
    answer(file, other, 1)
    Ledger(file).acknowledge(plan, 2)
    Ledger(file).acknowledge(other, 1)
    return file


def test_programs_get_every_round_and_the_sum(plan: Plan, answered: Path) -> None:
    """In an order that says nothing about time: by survey, plan and round."""
    found = told("ledger", answered)
    assert [(r["survey"], r["round"], r["state"]) for r in found["rounds"]] == [
        ("habits", 1, "waiting"),
        ("habits", 2, "acknowledged"),
        ("habits", 10, "waiting"),
        ("health", 1, "acknowledged"),
    ]
    assert {r["plan"] for r in found["rounds"] if r["survey"] == "habits"} == {plan.hash}
    spent = found["spent"]
    assert (spent["epsilon"], spent["surveys"]) == (2.0, 2)
    assert 0 < spent["delta"] <= 2e-4


def test_people_get_a_table_and_what_the_sum_means(plan: Plan, answered: Path) -> None:
    """The same rounds with a shortened plan, and one sentence on what is promised in all."""
    shown = done("ledger", answered)
    rows = [line.split("│")[1:5] for line in shown.stdout.splitlines() if plan.hash[:12] in line]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["habits", plan.hash[:12], "1", "waiting"],
        ["habits", plan.hash[:12], "2", "acknowledged"],
        ["habits", plan.hash[:12], "10", "waiting"],
    ]
    assert plan.hash[:13] not in shown.stdout
    text = words(shown)
    meaning = told("ledger", answered)["spent"]["meaning"]
    assert meaning in text
    assert "Spent by 2 surveys: ε = 2, δ = 0.0002" in meaning
    assert "at most e^2 ≈ 7.39" in meaning
    assert "covers all of its rounds" in meaning


def test_one_survey_is_one_survey(plan: Plan, file: Path) -> None:
    """However many of its rounds were answered."""
    answer(file, plan, 1)
    answer(file, plan, 2)
    assert "Spent by 1 survey: ε = 1," in words(done("ledger", file))


def test_what_promises_next_to_nothing_gets_no_number(plan: Plan, file: Path) -> None:
    """e^772 is more than a float can hold, and more than anybody can weigh."""
    for epsilon in range(93, 101):
        answer(file, plan, 1, epsilon)
    text = words(done("ledger", file))
    assert "a factor of at most e^772, plus at most δ" in text


def test_an_empty_ledger_says_so(file: Path) -> None:
    """Nothing answered, nothing spent."""
    Ledger(file)
    said = "This device has answered nothing, so no privacy is spent."
    assert words(done("ledger", file)) == said
    found = told("ledger", file)
    assert found["rounds"] == []
    assert (found["spent"]["epsilon"], found["spent"]["surveys"]) == (0, 0)


def test_looking_changes_nothing(answered: Path) -> None:
    """Not a byte, and no file beside it."""
    before = answered.read_bytes()
    done("ledger", answered)
    assert answered.read_bytes() == before
    assert list(answered.parent.iterdir()) == [answered]


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    """Exit code 2 with field and value; the directory stays empty."""
    error = refused("ledger", tmp_path / "none")
    assert (error["field"], error["value"]) == ("ledger", str(tmp_path / "none"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"id = 'no ledger'\n" * 100])
def test_what_is_no_ledger_is_refused(tmp_path: Path, content: bytes) -> None:
    """An empty file, a text or a directory: exit code 2, and it stays as it is."""
    file = tmp_path / "file"
    file.write_bytes(content)
    for path in (file, tmp_path):
        assert refused("ledger", path)["field"] == "ledger"
    assert file.read_bytes() == content
