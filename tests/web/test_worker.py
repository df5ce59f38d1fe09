"""What a planning process does with a task, in this process."""

from __future__ import annotations

import pytest

from krand.web import worker
from krand.web.worker import TASKS


def test_a_task_that_needs_too_much_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process lives on and says so."""

    def hungry(**_: object) -> dict[str, object]:
        raise MemoryError

    monkeypatch.setitem(TASKS, "promise", hungry)
    answer = worker._done("promise", {"text": "", "directory": "."})
    assert "more memory than a page may use" in answer["html"]
    assert answer["state"] == "busy"


def test_a_bug_in_a_task_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """In krand's own words, without a traceback."""

    def broken(*_: object) -> str:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("krand.web.worker.parse_survey", broken)
    answer = worker._done("promise", {"text": "", "directory": "."})
    assert answer["state"] == "failed"
    assert "This is a bug in krand" in answer["html"]
    assert "Traceback" not in answer["html"]
