"""What a planning process does with a task, in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from krand.survey.about import About
from krand.web import worker
from krand.web.tasks import TASKS
from report.examples import bit_example


def test_a_task_that_needs_too_much_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process lives on and says so."""

    def hungry(**_: object) -> dict[str, object]:
        raise MemoryError

    monkeypatch.setitem(TASKS, "numbers", hungry)
    answer = worker._done("numbers", {"query": {}})
    assert "more memory than a page may use" in answer["html"]
    assert answer["state"] == "busy"


def test_a_bug_in_a_task_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """In krand's own words, without a traceback."""

    def broken(_: object) -> str:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("krand.web.numbers.numbers_part", broken)
    answer = worker._done("numbers", {"query": {}})
    assert answer["state"] == "failed"
    assert "This is a bug in krand" in answer["html"]
    assert "Traceback" not in answer["html"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "other"}'])
def test_a_file_that_is_no_results_file_is_an_answer_too(tmp_path: Path, content: str) -> None:
    """Whatever lies in the folder, the dashboard lives on."""
    path = tmp_path / "results.json"
    path.write_text(content, encoding="utf-8")
    answer = worker._done("results", {"path": str(path), "stamp": [0, 0]})
    assert answer["state"] != "planned"
    assert json.dumps(answer)


def test_results_are_shown_in_the_surveys_language(tmp_path: Path) -> None:
    """As in the report that `krand report` writes."""
    found = bit_example().results
    survey = replace(found.plan.survey, about=About(language="de"))
    path = tmp_path / "results.json"
    replace(found, plan=replace(found.plan, survey=survey)).save(path)
    answer = worker._done("results", {"path": str(path), "stamp": [0, 0]})
    assert '<html lang="de">' in answer["html"]
