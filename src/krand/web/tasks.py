"""The tasks of a planning process: from a form to a part of a page.

Each answer has `html` and `state`: planned, quick (proven bounds of a plan that is still
searched), unknown (nothing is proven yet), refused (the request cannot be met), invalid (a value
is), busy (try again later) or failed (a bug in krand). `field` names the invalid field, `said` is
the answer in one sentence, for those who listen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

from krand.errors import CannotMeet, Unavailable
from krand.web import numbers
from krand.web.asked import asked_from
from krand.web.pages import render
from krand.web.settings import Settings, settings_from
from krand.web.texts import TEXTS
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
    said = {"refused": TEXTS.facts.said_refused, "invalid": TEXTS.facts.said_invalid}.get(state, "")
    return {"html": html, "state": state, "field": found["field"], "said": said}


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


def _planned(html: str, said: str = "", **more: Any) -> Answer:
    return {"html": html, "state": "planned", "field": None, "said": said, **more}


def _quick(found: tuple[str, str] | None) -> Answer:
    """Proven bounds, or nothing yet."""
    if found is None:
        return {"html": "", "state": "unknown", "field": None, "said": ""}
    return {"html": found[0], "state": "quick", "field": None, "said": found[1]}


@_told
def numbers_quick_task(*, query: dict[str, str]) -> Answer:
    """Bounds of the numbers form's result that are proven at once."""
    settings = settings_from(query)
    try:
        return _quick(numbers.numbers_quick(settings))
    except CannotMeet:  # the search says why, and what would do
        return _quick(None)


@_told
def numbers_task(*, query: dict[str, str]) -> Answer:
    """The result of the numbers form."""
    settings = settings_from(query)
    return _planned(numbers.numbers_part(settings), numbers.numbers_said(settings))


@_told
def density_task(*, query: dict[str, str]) -> Answer:
    """The figure of the numbers form's result."""
    return _planned(numbers.density_part(settings_from(query)))


@_told
def frontier_task(*, query: dict[str, str]) -> Answer:
    """Precision versus data sent, for the numbers form."""
    return _planned(numbers.frontier_part(settings_from(query)))


@_told
def leading_quick_task(*, asked: dict[str, str]) -> Answer:
    """Bounds of the first page's result that are proven at once."""
    from krand.web.leading import quick_part

    return _quick(quick_part(asked_from(asked).survey()))


@_told
def leading_task(*, asked: dict[str, str]) -> Answer:
    """The plan of the first page, with its file."""
    from krand.web.leading import leading_part, said_of

    html, plan = leading_part(asked_from(asked))
    return _planned(html, said_of(plan), plan=plan.bytes.decode())


@_told
def more_task(*, asked: dict[str, str]) -> Answer:
    """Coalitions and a preview for the first page."""
    from krand.web.leading import more_part

    return _planned(more_part(asked_from(asked)))


@_told
def advice_task(*, asked: dict[str, str]) -> Answer:
    """What would help, for the first page."""
    from krand.web.leading import advice_part

    return _planned(advice_part(asked_from(asked)))


@_told
def survey_quick_task(*, text: str) -> Answer:
    """Bounds of a survey's precisions that are proven at once."""
    from krand.web.leading import quick_part
    from krand.web.surveys import survey_from

    return _quick(quick_part(survey_from(text)))


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
    return refusal(
        Unavailable("This needs more memory than a page may use. Choose smaller values.")
    )


TASKS: dict[str, Callable[..., Answer]] = {
    "numbers": numbers_task,
    "numbers_quick": numbers_quick_task,
    "density": density_task,
    "frontier": frontier_task,
    "leading": leading_task,
    "leading_quick": leading_quick_task,
    "more": more_task,
    "advice": advice_task,
    "survey_quick": survey_quick_task,
    "survey": survey_task,
    "results": results_task,
    "too_large": too_large_task,
}
