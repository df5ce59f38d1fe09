"""`krand report`: a page for whoever has a results file, and a clear word for every other file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import done, refused, run, told
from krand.report import report_page
from krand.survey.about import About
from report.examples import bit_example, record_example, refused_example

REPORT = "report results.json -o report.html"


@pytest.fixture
def results(here: Path) -> Path:
    path = here / "results.json"
    path.write_text(bit_example().text, encoding="utf-8")
    return path


def page() -> str:
    return Path("report.html").read_text(encoding="utf-8")


def refusal() -> dict[str, Any]:
    """Why there is no page of results.json."""
    error = refused(REPORT)
    assert not Path("report.html").exists()
    return error


def test_the_page_is_written(results: Path) -> None:
    """The very page that Python gives, and the command that checks it."""
    printed = done(REPORT).stdout
    assert page() == report_page(bit_example().results)
    assert "Written: report.html" in printed
    assert "krand verify results.json" in printed


def test_the_rate_of_participation_stands_beside_the_people(results: Path) -> None:
    """As the option says; a survey that says nothing has none."""
    done(REPORT)
    assert "invited" not in page()
    people = bit_example().results.people
    done(REPORT, f"--invited {2 * people}")
    shown = " ".join(re.sub("<[^>]*>", " ", page()).split())
    assert f"of the {2 * people:,} people who were invited 50 %" in shown
    assert page() == report_page(bit_example().results, invited=2 * people)


def test_programs_are_told_what_was_written(results: Path) -> None:
    """One object; quiet says nothing at all."""
    assert told(REPORT) == {
        "results": "results.json",
        "output": "report.html",
        "plan": bit_example().plan.hash,
        "kept": True,
    }
    assert done("report results.json -o b.html --quiet").output == ""
    assert Path("b.html").exists()


def test_a_broken_promise_is_a_warning_too(results: Path) -> None:
    """On stderr, whatever goes to stdout; the page is written."""
    results.write_text(refused_example().text, encoding="utf-8")
    result = done(REPORT, "--json")
    assert "weaker than the survey's" in result.stderr
    assert json.loads(result.stdout)["kept"] is False
    assert "The promise was not kept" in page()


def test_an_unknown_language_is_refused(results: Path) -> None:
    """With the known ones; a known one gives its page."""
    for unknown in ("fr", "tlh"):
        error = refused(REPORT, f"--language {unknown}")
        assert (error["field"], error["rule"]) == ("language", "must be one of: de, en")
    assert not Path("report.html").exists()
    done(REPORT, "--language en")
    assert page() == report_page(bit_example().results)


@pytest.mark.parametrize(
    ("own", "asked", "shown"),
    [
        ("de-AT", "", "de"),
        ("pt", "", "en"),
        ("ar", "", "en"),
        ("de", "--language en", "en"),
        ("en", "--language de", "de"),
        ("fr", "", "en"),
    ],
)
def test_the_page_speaks_the_surveys_language(
    results: Path, own: str, asked: str, shown: str
) -> None:
    """If krand has it; an option overrules it."""
    found = bit_example().results
    survey = replace(found.plan.survey, about=About(language=own))
    replace(found, plan=replace(found.plan, survey=survey)).save(results)
    done(REPORT, asked)
    assert f'<html lang="{shown}">' in page()


def test_records_are_reported_too(results: Path) -> None:
    """Results of whole records, without its plan or anything else beside it."""
    results.write_text(record_example().text, encoding="utf-8")
    done(REPORT)


@pytest.mark.parametrize("part", [0, 1, 100, 0.25, 0.5, 0.9, -1])
def test_a_file_cut_off_is_refused(results: Path, part: float) -> None:
    """Wherever it ends."""
    content = results.read_bytes()
    end = int(part * len(content)) if isinstance(part, float) else part
    results.write_bytes(content[:end])
    error = refusal()
    assert error["field"] == "results"
    assert "must be a whole JSON file" in error["rule"]


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b'"krand-results-2"',
        b"PAR1\x00\xff",
        b"question,kind\n",
        b'{"format": NaN}',
        b'{"format": "krand-results-2", "people": 1e999}',
        b'{"format": "\\ud800"}',
        b"[" * 100_000,
        b'{"format": "krand-tally-3"}',
        b'{"format": 7}',
        b'{"format": "krand-results-2"}',
        b"{}",
    ],
)
def test_foreign_files_are_refused(results: Path, content: bytes) -> None:
    """Other formats, other programs' files, numbers and texts that cannot be."""
    results.write_bytes(content)
    error = refusal()
    assert (error["kind"], error["field"]) == ("invalid_input", "results")
    assert error["value"] == "results.json"
    assert error["hint"]


def test_a_plan_is_no_results_file(results: Path) -> None:
    """The error says what was found and what makes the right file."""
    results.write_bytes(bit_example().plan.bytes)
    error = refusal()
    assert "krand-results-1" in error["rule"]
    assert "'krand-plan-1'; krand estimate writes it" in error["hint"]


def test_files_that_cannot_be_had_are_named(results: Path) -> None:
    """An absent file, an output without a folder."""
    assert refused("report absent.json -o report.html")["field"] == "results"
    assert refused("report results.json -o nowhere/report.html")["field"] == "output"


def test_a_failure_leaves_the_old_page(results: Path) -> None:
    """The page is replaced whole, or not at all."""
    Path("report.html").write_text("old", encoding="utf-8")
    results.write_text("{}", encoding="utf-8")
    assert run(REPORT).exit_code == 2
    assert page() == "old"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"habits-2026-03"', '"\\ud800"'),
        ('"nulls": ', '"nulls": 1e999, "more": '),
        ('"nulls": ', '"nulls": NaN, "more": '),
    ],
)
def test_values_that_no_page_can_show_are_refused(results: Path, old: str, new: str) -> None:
    """In a file that is one of results otherwise: half a character, a number beyond all numbers."""
    text = results.read_text(encoding="utf-8")
    assert old in text
    results.write_text(text.replace(old, new), encoding="utf-8")
    assert "must be a whole JSON file" in refusal()["rule"]
