"""A planning process: it reads tasks and writes answers line by line until its input ends.

The pages start it as `python -m krand.web.worker`; people do not. A task makes a part of a page
from a survey. Each answer has `html` and `state`: planned, refused (the request cannot be met),
invalid (a value is), busy (try again later) or failed (a bug in krand). `field` names the invalid
field, `said` is the answer in one sentence, for those who listen.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, BinaryIO, ParamSpec

from krand.errors import Unavailable
from krand.languages.cldr import ENGLISH
from krand.languages.speaking import marked, speaking, text_of
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey
from krand.web.pages import render
from krand.wording.failures import as_krand_error, describe

P = ParamSpec("P")
Answer = dict[str, Any]

MOST_MEMORY = 4 * 2**30
SURVEY = "survey.toml"
OWN_FILES = (".html", ".json")
"""Endings of a form's files that are different for each survey."""
STATES = {
    "invalid_input": "invalid",
    "missing_component": "invalid",
    "cannot_meet": "refused",
    "unavailable": "busy",
}


def refusal(error: BaseException) -> Answer:
    """The failure as a part of a page: a message, never a traceback."""
    found = describe(as_krand_error(error))["error"]
    state = STATES.get(found["kind"], "failed")
    html = render("refusal.html", error=found, state=state)
    said = text_of(SAID.get(state, ""))
    return {"html": html, "state": state, "field": found["field"], "said": said}


SAID = {
    "refused": marked("This promise is not possible."),
    "invalid": marked("A value is invalid."),
}
TASKS: dict[str, Callable[..., Answer]] = {}
"""What a planning process does, by the name of its function."""


def _task(task: Callable[P, Answer]) -> Callable[P, Answer]:
    """A task of the processes; failures become answers."""

    @wraps(task)
    def safely(*arguments: P.args, **more: P.kwargs) -> Answer:
        try:
            return task(*arguments, **more)
        except MemoryError:
            raise
        except Exception as error:
            return refusal(error)

    TASKS[task.__name__] = safely
    return safely


def _planned(html: str, said: str = "", **more: Any) -> Answer:
    return {"html": html, "state": "planned", "field": None, "said": said, **more}


@_task
def promise(*, text: str, directory: str) -> Answer:
    """What a survey promises, and how precise its results will be."""
    from krand.web.plan_parts import promise_part, said_of

    plan = _plan(text, directory)
    return _planned(promise_part(plan), said_of(plan))


@_task
def more(*, text: str, directory: str, plan: str = "") -> Answer:
    """Coalitions, and a result of simulated people; of a plan that is made already, its own."""
    from krand.survey.plan_file import read_plan
    from krand.web.plan_parts import more_part

    return _planned(more_part(read_plan(plan) if plan else _plan(text, directory)))


@_task
def curve(*, text: str, directory: str) -> Answer:
    """The margin of error against ε."""
    from krand.web.plan_parts import curve_part

    return _planned(curve_part(_survey(text, directory)))


@_task
def form(*, text: str, directory: str) -> Answer:
    """The form of a survey before any key exists, its files by their names."""
    from krand.web.form.site import preview_of

    files = preview_of(_plan(text, directory))
    made = {name: page.content.decode() for name, page in files.items() if name.endswith(OWN_FILES)}
    return _planned("", files=made, headers=dict(files["index.html"].headers))


def _plan(text: str, directory: str) -> Plan:
    from krand.planning.making import make_plan

    return make_plan(_survey(text, directory), suggestions=False)


def _survey(text: str, directory: str) -> Survey:
    """As it will be published: whoever asks collects and counts, and the plan says so."""
    survey = parse_survey(text, directory, SURVEY)
    return survey.changed(trust=survey.trust.with_analyst_as_collector())


@_task
def ready() -> Answer:
    """Nothing: a process that answers has loaded what every task needs."""
    return _planned("")


@_task
def too_large() -> Answer:
    """The answer if there was not enough memory."""
    return refusal(
        Unavailable(marked("This needs more memory than a page may use. Choose smaller values."))
    )


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    _limit()
    answers = _own_output()
    _warm_up()
    for line in sys.stdin.buffer:
        task, arguments = json.loads(line)
        answers.write(json.dumps(_done(task, arguments)).encode() + b"\n")
        answers.flush()


def _done(task: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with speaking(arguments.pop("language", ENGLISH)):
        try:
            return TASKS[task](**arguments)
        except MemoryError:
            return TASKS["too_large"]()


def _limit() -> None:
    """Limit the memory of a task, if the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _own_output() -> BinaryIO:
    """The pipe for answers, separate from anything that prints."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _warm_up() -> None:
    """Load what every task needs before the first one arrives."""
    import krand.accounting.promises
    import krand.web.plan_parts  # noqa: F401


if __name__ == "__main__":
    main()
