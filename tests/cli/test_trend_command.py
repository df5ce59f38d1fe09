"""`krand trend`: tables, files and the page, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analysis.simulated_years import results_of_round, yearly_plan
from krand.analysis.trends.trend import make_trend
from krand.cli.main import krand
from krand.report.trend_page import trend_page
from krand.survey.choices import Choices
from krand.survey.questions import Choice, YesNo


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Six rounds without the third; crashes rise in the last two."""
    folder = tmp_path_factory.mktemp("rounds")
    browser = Choice(name="browser", choices=Choices(("fox & hound", "<b>chrome")))
    plan = yearly_plan([browser, YesNo(name="crash", text="Did it crash?")], 6)
    paths = []
    for number in (1, 2, 4, 5, 6):
        true = [300, 500, 300 if number > 4 else 20]
        paths.append(str(folder / f"results-{number}.json"))
        results_of_round(plan, number, true, 1_000 - 10 * number, seed=1).save(paths[-1])
    return paths


def run(*arguments: str) -> Result:
    return CliRunner().invoke(krand, ["trend", *arguments])


def test_the_terminal_shows_the_answer_first(files: list[str]) -> None:
    """What is now, what changed, who is missing, and what the promise is."""
    shown = run(*files, "--between", "6", "1")
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.output.split())
    for said in (
        "5 rounds of 6 planned, rounds 1 to 6, with 940 to 990 people each.",
        "Without results: round 3.",
        "mean of last 4",
        "crash, round 1 to 6",
        "50 fewer people took part later (940) than earlier (990).",
        "at most 5.1 points",
        "window test on raw counts",
        "ε = 1, δ = 10⁻⁶ for whoever took part in all rounds.",
    ):
        assert said in text
    assert re.search(
        r"Did it crash\? yes: [\d.]+ % now .* up from [\d.]+ % in rounds 1 to 4; found",
        text,
    )


def test_a_confidence_near_one_is_not_rounded_to_one(files: list[str]) -> None:
    shown = " ".join(run(*files, "--confidence", "0.999").output.split())
    assert shown.count("99.9 %") == 2
    assert "100 %" not in shown


def test_json_has_every_line_and_the_difference(files: list[str]) -> None:
    """For programs."""
    found = json.loads(run(*files, "--json", "--between", "1", "6").output)
    assert found["format"] == "krand-trend-1"
    first = found["lines"][0]
    assert (first["question"], first["changes"][0]["found"]) == ("crash", 5)
    assert found["between"]["rounds"] == [1, 6]
    assert found["between"]["questions"]["crash"][0]["differences"][0]["label"] == "yes"


def test_some_questions_alone(files: list[str]) -> None:
    """The error rate is shared with the others all the same."""
    found = json.loads(run(*files, "--json", "--question", "browser").output)
    assert {line["question"] for line in found["lines"]} == {"browser"}
    refused = run(*files, "--question", "brouser")
    assert refused.exit_code != 0
    assert "the questions are" in refused.stderr


@pytest.mark.parametrize("name", ["trend.html", "trend.csv", "trend.parquet", "trend.json"])
def test_what_is_written(files: list[str], name: str, tmp_path: Path) -> None:
    """By the ending of the name, and again over it."""
    for _ in range(2):
        assert run(*files, "-o", str(tmp_path / name), "--force").exit_code == 0
    assert (tmp_path / name).stat().st_size > 1_000


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--between", "1", "3"], "must be rounds of the results"),
        (["--between", "2", "2"], "must be two different rounds"),
        (["--error-rate", "0"], "must be between 0 and 1"),
    ],
)
def test_what_is_refused(files: list[str], more: list[str], said: str) -> None:
    assert said in run(*files, *more).stderr


def test_a_file_twice_is_named(files: list[str]) -> None:
    refused = run(*files, files[0])
    assert "is of round 1 too" in refused.stderr
    assert "given twice" in refused.stderr


def test_the_report_of_the_last_round_shows_the_trend(files: list[str], tmp_path: Path) -> None:
    """In whichever order the results are given, and in a language."""
    page = tmp_path / "report.html"
    told = ["report", *reversed(files), "-o", str(page), "--language", "de", "--json"]
    done = CliRunner().invoke(krand, told)
    assert json.loads(done.stdout)["results"] == files[-1]
    trend = tmp_path / "trend.html"
    assert run(*files, "-o", str(trend), "--language", "de").exit_code == 0
    for text in (page.read_text(encoding="utf-8"), trend.read_text(encoding="utf-8")):
        assert "Was sich geändert hat" in text
        assert re.search(r"Did it crash\? ja: [\d,]+\s% jetzt", text)
    assert "Runde 6 von 6" in page.read_text(encoding="utf-8")
    refused = run(*files, "-o", str(tmp_path / "other.html"), "--language", "tlh")
    assert "must be one of: de, en" in refused.stderr


def test_the_page_needs_nothing_but_itself(files: list[str]) -> None:
    """No script, no address; texts are escaped; every line has a picture with words for it."""
    page = trend_page(make_trend(files))
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "<b>chrome" not in page
    assert "&lt;b&gt;chrome" in page
    assert page.count('role="img"') == 4 + 1
    assert page.index("What changed") < page.index("Answers over rounds")
    assert "Did it crash?" in page
    assert "NaN" not in page
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", page)
