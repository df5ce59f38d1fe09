"""`krand randomize`: from a table to reports, with words for people and JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from krand.batches.responses import read_header
from krand.cli.main import krand
from survey_texts import question_text, survey_text

SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pets", "pick_any", choices=["cat", "dog", "emu"]),
    epsilon=1.0,
    delta=0.001,
    minimum_crowd=150,
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    assert run("plan", "survey.toml", "-o", "plan.json", at=tmp_path).exit_code == 0
    rows = ["yes,cat;emu,7"] * 160
    (tmp_path / "good.csv").write_text("smokes,pets,id\n" + "\n".join(rows), encoding="utf-8")
    rows[16] = "yes,yak,7"
    (tmp_path / "bad.csv").write_text("smokes,pets,id\n" + "\n".join(rows), encoding="utf-8")
    return tmp_path


def run(*arguments: str, at: Path) -> Result:
    paths = [str(at / a) if a.endswith((".csv", ".json", ".toml", ".p")) else a for a in arguments]
    return CliRunner().invoke(krand, paths)


def test_people_read_what_happened(place: Path) -> None:
    """How many people, how many reports, which plan, which file; unknown columns are named."""
    result = run("randomize", "good.csv", "--plan", "plan.json", "-o", "r.p", at=place)
    assert result.exit_code == 0, result.output
    assert "160 people" in result.stdout
    assert str(place / "r.p") in result.stdout
    assert "not in the survey: id" in result.stderr
    header = read_header(place / "r.p")
    assert header.people == 160
    assert header.plan in result.stdout


def test_programs_read_json(place: Path) -> None:
    """One object, with the rows that were left out."""
    options = ("--plan", "plan.json", "-o", "r.p", "--skip-bad-rows", "--json")
    found = json.loads(run("randomize", "bad.csv", *options, at=place).stdout)
    assert (found["people"], found["skipped"]) == (159, 1)
    (mistake,) = found["mistakes"]
    assert (mistake["row"], mistake["column"], mistake["value"]) == (17, "pets", "yak")


def test_a_bad_row_is_an_error_with_its_place(place: Path) -> None:
    """Exit code 2, row and column, and no file."""
    result = run("randomize", "bad.csv", "--plan", "plan.json", "-o", "r.p", at=place)
    assert result.exit_code == 2
    assert "row 17, pets: must be one of its choices, found 'yak'" in result.stderr
    assert "--skip-bad-rows" in result.stderr
    assert not (place / "r.p").exists()


def test_rows_left_out_are_told(place: Path) -> None:
    """People see how many, and the first of them."""
    options = ("--plan", "plan.json", "-o", "r.p", "--skip-bad-rows")
    result = run("randomize", "bad.csv", *options, at=place)
    assert result.exit_code == 0
    assert "1 row was invalid and was skipped" in result.stderr
    assert "row 17, pets" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("absent.csv", "--plan", "plan.json"), "answers"),
        (("good.csv", "--plan", "absent.json"), "plan"),
        (("good.csv", "--plan", "plan.json", "--round", "2"), "round"),
        (("good.csv", "--plan", "plan.json", "--separator", ""), "separator"),
    ],
)
def test_mistakes_are_named(arguments: tuple[str, ...], field: str, place: Path) -> None:
    """Every wrong argument is one error with its field, and writes nothing."""
    result = run("randomize", *arguments, "-o", "r.p", "--json", at=place)
    assert result.exit_code == 2
    assert json.loads(result.stdout.splitlines() and result.stdout)["error"]["field"] == field
    assert not (place / "r.p").exists()
