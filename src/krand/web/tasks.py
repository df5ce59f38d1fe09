"""The tasks of a planning process: from a form to a part of a page.

Each answer has `html` and `state`: planned, refused (the request cannot be met), invalid (a value
is), busy (try again later) or failed (a bug in krand). `field` names the invalid field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

from krand.errors import Unavailable
from krand.web import numbers
from krand.web.pages import render
from krand.web.settings import Settings, settings_from
from krand.wording.failures import as_krand_error, describe

__all__ = ["TASKS", "refusal"]

P = ParamSpec("P")
Answer = dict[str, Any]

STATES = {
    "invalid_input": "invalid",
    "missing_component": "invalid",
    "cannot_meet": "refused",
    "unavailable": "busy",
}


def refusal(error: BaseException, settings: Settings | None = None) -> Answer:
    """The failure as a part of a page: a message, never a traceback."""
    found = describe(as_krand_error(error))["error"]
    state = STATES.get(found["kind"], "failed")
    nearest = [(text, numbers.nearest_query(settings, text)) for text in found["nearest"]]
    html = render("refusal.html", error=found, state=state, nearest=nearest)
    return {"html": html, "state": state, "field": found["field"]}


def _told(task: Callable[P, Answer]) -> Callable[P, Answer]:
    """Run the task; failures become answers."""

    @wraps(task)
    def safely(*arguments: P.args, **more: P.kwargs) -> Answer:
        try:
            return task(*arguments, **more)
        except MemoryError:
            raise
        except Exception as error:
            query = more.get("query")
            return refusal(error, settings_from(query) if isinstance(query, Mapping) else None)

    return safely


def _planned(html: str, **more: Any) -> Answer:
    return {"html": html, "state": "planned", "field": None, **more}


@_told
def numbers_task(*, query: dict[str, str]) -> Answer:
    """The result of the numbers form."""
    return _planned(numbers.numbers_part(settings_from(query)))


@_told
def frontier_task(*, query: dict[str, str]) -> Answer:
    """Precision versus data sent, for the numbers form."""
    return _planned(numbers.frontier_part(settings_from(query)))


@_told
def survey_task(*, text: str) -> Answer:
    """The plan of a survey, with its file."""
    from krand.planning.making import make_plan
    from krand.web.survey_part import survey_part
    from krand.web.surveys import survey_from

    plan = make_plan(survey_from(text))
    return _planned(survey_part(plan), plan=plan.bytes.decode())


@_told
def results_task(*, path: str, stamp: list[int]) -> Answer:
    """A results file as a report page; `stamp` distinguishes versions of the file."""
    from krand.analysis.results_file import read_results
    from krand.report import report_page

    return _planned(report_page(read_results(path)))


def too_large_task() -> Answer:
    """The answer if there was not enough memory."""
    return refusal(Unavailable("This needs more memory than a page may use. Choose less."))


TASKS: dict[str, Callable[..., Answer]] = {
    "numbers": numbers_task,
    "frontier": frontier_task,
    "survey": survey_task,
    "results": results_task,
    "too_large": too_large_task,
}
