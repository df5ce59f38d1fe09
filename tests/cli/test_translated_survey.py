"""A survey in two languages, from its file to the report, with a table of answers in either."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import done, refused, told
from krand.analysis.results_file import read_results

SURVEY = """\
id = "pets"
title = "Pets"
[policy]
epsilon = 60
delta = 1e-4
minimum_crowd = 100
[[question]]
name = "pet"
type = "choice"
text = "Which pet?"
choices = ["cat", "dog", "chat"]
[translations.fr]
title = "Animaux"
[translations.fr.question.pet]
text = "Quel animal ?"
choices = { cat = "chat", dog = "chien", chat = "discussion" }
"""
SHARES = {"en": ["cat"] * 60 + ["dog"] * 40, "fr": ["chat"] * 60 + ["chien"] * 40}


@pytest.mark.parametrize("language", SHARES)
def test_a_table_in_one_language_is_counted_in_its_words(language: str, tmp_path: Path) -> None:
    """A word that both languages have means what it means in the language that was named."""
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    (tmp_path / "answers.csv").write_text("\n".join(["pet", *SHARES[language]]), encoding="utf-8")
    assert "Languages: en, fr" in done("plan survey.toml -o plan.json", at=tmp_path).stdout
    made = "randomize answers.csv --plan plan.json -o responses.parquet --again"
    other = {"en": "fr", "fr": "en"}[language]
    for wrong, rule in ((other, "one of its choices"), ("de", "a language of the survey: en, fr")):
        assert refused(f"{made} --language {wrong}", at=tmp_path)["rule"] == f"must be {rule}"
    said = told(f"{made} --language {language}", at=tmp_path)
    assert said["people"] == 100
    done("tally responses.parquet --plan plan.json -o tally.json --quiet", at=tmp_path)
    done("estimate tally.json --plan plan.json -o results.json --quiet", at=tmp_path)
    (pet,) = read_results(tmp_path / "results.json").questions
    counts = {row.label: row.consistent for row in pet.rows}
    assert counts == pytest.approx({"cat": 60, "dog": 40, "chat": 0}, abs=10)
    done("report results.json -o report.html --language fr --quiet", at=tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(text in page for text in ("Animaux", "Quel animal ?", "chien", "discussion"))
    assert "dog" not in page
