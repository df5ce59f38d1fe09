"""A survey with conditions, from its file to the report: every command says whom shares are of."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import done, refused, run, told
from krand.analysis.results_file import read_results
from krand.cli.exit_codes import CHECK_FAILED
from krand.notebook.html import html_of
from krand.report import save_report

SURVEY = """\
id = "work"
expected = 2000
[policy]
epsilon = 4
delta = 1e-4
minimum_crowd = 1000
[[question]]
name = "bullied"
text = "Were you bullied at work?"
type = "yes_no"
[[question]]
name = "often"
type = "scale"
lowest = 1
highest = 3
asked_if = { question = "bullied", is = true }
[[question]]
name = "told"
type = "yes_no"
asked_if = { question = "often", is = [2, 3] }
[[question]]
name = "why"
type = "choice"
choices = ["fear", "shame"]
asked_if = { question = "told", is = "no" }
[[question]]
name = "rare"
type = "choice"
choices = ["a", "b"]
asked_if = { question = "why", is = "shame" }
"""
PEOPLE = 1200
ROWS = [
    *[("yes", "1", "yes", "", "")] * 300,
    *[("yes", "3", "no", "fear", "a")] * 200,
    *[("no", "x", "", "", "")] * (PEOPLE - 500),
]
"""300 answers to "told", 200 to "rare" and 700 wrong ones to "often" come from nobody who was
asked."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the commands write."""
    here = tmp_path_factory.mktemp("conditions")
    (here / "survey.toml").write_text(SURVEY, encoding="utf-8")
    with (here / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["bullied", "often", "told", "why", "rare"])
        writer.writerows(ROWS)
    done("plan survey.toml -o plan.json --quiet", at=here)
    made = "randomize answers.csv --plan plan.json -o responses.parquet --again"
    said = told(made, at=here)
    assert said["not_asked"] == {"often": 700, "told": 300, "rare": 200}
    assert said["unanswered"] == {}
    done("tally responses.parquet --plan plan.json -o tally.json --quiet", at=here)
    done("estimate tally.json --plan plan.json -o results.json --quiet", at=here)
    return here


def test_the_plan_says_how_many_must_be_asked(folder: Path) -> None:
    """For the least precise question, and what half of those expected give."""
    text = " ".join(done("plan survey.toml", at=folder).stdout.split())
    assert "people must be asked rare, the least precise of them, for shares of those" in text
    assert "With 1,000 people asked, half of those expected, it is ±" in text


def test_dropped_answers_are_told(folder: Path, tmp_path: Path) -> None:
    """To people as to programs."""
    options = f"--plan plan.json -o {tmp_path / 'r.parquet'} --again"
    said = done(f"randomize answers.csv {options}", at=folder)
    assert "not asked, dropped unread: often 700, told 300, rare 200" in said.stderr


def test_results_have_shares_of_those_asked(folder: Path) -> None:
    """On the terminal, in the file, in a table, a notebook and a report in two languages."""
    text = " ".join(
        done("estimate tally.json --plan plan.json -o again.json", at=folder).stdout.split()
    )
    assert "Asked only of people who answered “yes” to “bullied”. About" in text
    assert "often: share of those asked" in text
    assert "why: share of those who answered" in text
    assert "unanswered or not asked" in text
    assert "Shares of those asked are not given: as far as the noise tells" in text
    found = {each.question: each for each in read_results(folder / "results.json").asked}
    assert set(found) == {"often", "told", "why", "rare"}
    assert found["rare"].withheld
    shares = {row.label: row.consistent for row in found["often"].rows}
    assert shares == pytest.approx({"1": 0.6, "2": 0.0, "3": 0.4}, abs=0.1)
    done("export results.json -o table.csv --quiet", at=folder)
    with (folder / "table.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["question"] == "often"]
    of_asked = [row["answer"] for row in rows if row["share_of"] == "asked"]
    assert of_asked == ["asked", "1", "2", "3", "unanswered"]
    results = read_results(folder / "results.json")
    assert results.to_pandas(question="often")["answer"].tolist() == ["1", "2", "3", "unanswered"]
    assert "share of those asked" in html_of(results)
    for language, said in (("en", "share of those asked"), ("de", "Anteil an den Gefragten")):
        save_report(results, folder / "report.html", language=language)
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert said in page
        assert "Were you bullied at work?" in page


FORGED: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("share", lambda asked: asked["rows"][0].update(share=0.9)),
    ("interval", lambda asked: asked["rows"][0]["interval"].update(low=0.59)),
    ("number", lambda asked: asked.update(consistent=10.0)),
    ("base", lambda asked: asked.update(base="answered")),
    ("withheld", lambda asked: asked.update(rows=[], unanswered=None)),
]


@pytest.mark.parametrize(("part", "edit"), FORGED)
def test_a_forged_share_of_those_asked_is_caught(
    part: str, edit: Callable[[dict[str, Any]], object], folder: Path, tmp_path: Path
) -> None:
    """By the check of this name; what is true holds."""
    values = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    edit(values["asked"][0])
    (tmp_path / "results.json").write_text(json.dumps(values), encoding="utf-8")
    for file, code in ((folder / "results.json", 0), (tmp_path / "results.json", CHECK_FAILED)):
        checks = json.loads(run("verify", file, "--json").stdout)["files"][-1]["checks"]
        states = {each["name"]: each["state"] for each in checks}
        assert (states["asked"] == "failed") == bool(code), part
        assert {name for name, state in states.items() if state == "failed"} <= {"asked"}


def test_results_must_have_them_exactly_where_there_are_conditions(
    folder: Path, tmp_path: Path
) -> None:
    """A file without them, for a plan with conditions, is no results file."""
    values = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    del values["asked"]
    (tmp_path / "results.json").write_text(json.dumps(values), encoding="utf-8")
    error = refused("report", tmp_path / "results.json", f"-o {tmp_path / 'r.html'}")
    assert "asked: is missing" in error["hint"]
