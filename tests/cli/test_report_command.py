"""`krand report`: a page for whoever has a results file, and a clear word for every other file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from krand.cli.main import krand
from krand.report import report_page
from krand.survey.about import About
from report.examples import bit_example, record_example, refused_example


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(krand, ["report", *map(str, arguments)])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(bit_example().text, encoding="utf-8")
    return path


def test_the_page_is_written(results: Path, tmp_path: Path) -> None:
    """The very page that Python gives, and the command that checks it."""
    result = run(results, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == report_page(bit_example().results)
    assert f"Written: {tmp_path / 'report.html'}" in result.stdout
    assert f"krand verify {results}" in result.stdout


def test_programs_are_told_what_was_written(results: Path, tmp_path: Path) -> None:
    """One object; quiet says nothing at all."""
    result = run(results, "-o", tmp_path / "a.html", "--json")
    assert json.loads(result.stdout) == {
        "results": str(results),
        "output": str(tmp_path / "a.html"),
        "plan": bit_example().plan.hash,
        "kept": True,
    }
    assert run(results, "-o", tmp_path / "b.html", "--quiet").output == ""
    assert (tmp_path / "b.html").exists()


def test_a_broken_promise_is_a_warning_too(tmp_path: Path) -> None:
    """On stderr, whatever goes to stdout; the page is written."""
    path = tmp_path / "results.json"
    path.write_text(refused_example().text, encoding="utf-8")
    result = run(path, "-o", tmp_path / "report.html", "--json")
    assert "weaker than the survey promised" in result.stderr
    assert json.loads(result.stdout)["kept"] is False
    assert "The promise was not kept" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_unknown_language_is_refused(results: Path, tmp_path: Path) -> None:
    """With the known ones; a known one gives its page."""
    page = tmp_path / "report.html"
    refused = run(results, "-o", page, "--language", "tlh")
    assert refused.exit_code == 2
    assert "language: must be one of: de, en, found 'tlh'" in refused.stderr
    assert not page.exists()
    assert run(results, "-o", page, "--language", "en").exit_code == 0
    assert page.read_text(encoding="utf-8") == report_page(bit_example().results)


@pytest.mark.parametrize(
    ("own", "asked", "shown"),
    [("de", (), "de"), ("de-AT", (), "de"), ("fr", (), "en"), ("de", ("--language", "en"), "en")],
)
def test_the_page_speaks_the_surveys_language(
    results: Path, tmp_path: Path, own: str, asked: tuple[str, ...], shown: str
) -> None:
    """If krand has it; an option overrules it."""
    found = bit_example().results
    survey = replace(found.plan.survey, about=About(language=own))
    replace(found, plan=replace(found.plan, survey=survey)).save(results)
    page = tmp_path / "report.html"
    assert run(results, "-o", page, *asked).exit_code == 0
    assert f'<html lang="{shown}">' in page.read_text(encoding="utf-8")


def test_records_are_reported_too(tmp_path: Path) -> None:
    """Results of whole records, without its plan or anything else beside it."""
    path = tmp_path / "r.json"
    path.write_text(record_example().text, encoding="utf-8")
    assert run(path, "-o", tmp_path / "r.html").exit_code == 0


def refusal(path: Path, output: Path) -> dict[str, Any]:
    """The error as programs read it; people read the same, and nothing is written."""
    result = run(path, "-o", output, "--json")
    assert result.exit_code == 2, result.output
    assert not output.exists()
    text = run(path, "-o", output)
    assert text.exit_code == 2
    assert "bug in krand" not in text.stderr
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    return error


@pytest.mark.parametrize("part", [0, 1, 100, 0.25, 0.5, 0.9, -1])
def test_a_file_cut_off_is_refused(results: Path, tmp_path: Path, part: float) -> None:
    """Wherever it ends."""
    content = results.read_bytes()
    end = int(part * len(content)) if isinstance(part, float) else part
    results.write_bytes(content[:end])
    error = refusal(results, tmp_path / "report.html")
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
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    """Other formats, other programs' files, numbers and texts that cannot be."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    error = refusal(path, tmp_path / "report.html")
    assert (error["kind"], error["field"]) == ("invalid_input", "results")
    assert error["value"] == str(path)
    assert error["hint"]


def test_a_plan_is_no_results_file(tmp_path: Path) -> None:
    """The error says what was found and what makes the right file."""
    path = tmp_path / "plan.json"
    path.write_bytes(bit_example().plan.bytes)
    error = refusal(path, tmp_path / "report.html")
    assert "krand-results-3" in error["rule"]
    assert "'krand-plan-6'; krand estimate writes it" in error["hint"]


def test_files_that_cannot_be_had_are_named(results: Path, tmp_path: Path) -> None:
    """An absent file, an output without a folder."""
    assert refusal(tmp_path / "absent.json", tmp_path / "report.html")["field"] == "results"
    assert refusal(results, tmp_path / "nowhere" / "report.html")["field"] == "output"


def test_a_failure_leaves_the_old_page(results: Path, tmp_path: Path) -> None:
    """The page is replaced whole, or not at all."""
    page = tmp_path / "report.html"
    page.write_text("old", encoding="utf-8")
    results.write_text("{}", encoding="utf-8")
    assert run(results, "-o", page).exit_code == 2
    assert page.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"habits-2026-03"', '"\\ud800"'),
        ('"nulls": ', '"nulls": 1e999, "more": '),
        ('"nulls": ', '"nulls": NaN, "more": '),
    ],
)
def test_values_that_no_page_can_show_are_refused(
    results: Path, tmp_path: Path, old: str, new: str
) -> None:
    """In a file that is one of results otherwise: half a character, a number beyond all numbers."""
    text = results.read_text(encoding="utf-8")
    assert old in text
    results.write_text(text.replace(old, new), encoding="utf-8")
    assert "must be a whole JSON file" in refusal(results, tmp_path / "report.html")["rule"]
