"""Errors as text for people and as JSON for programs."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from krand.errors import (
    CannotMeet,
    InternalError,
    InvalidInput,
    KrandError,
    MissingComponent,
    NoEntropy,
    Unavailable,
)
from krand.mistakes import Problem, SurveyErrors

OPTIONS = {
    "again": "--again",
    "different_people": "--different-people",
    "overwrite": "--force",
    "round_number": "--round",
    "separator": "--separator",
    "skip_bad_rows": "--skip-bad-rows",
}
"""Parameters that hints of the library name, as the commands call them."""
PARAMETER = re.compile(rf"\b({'|'.join(OPTIONS)})=('[^']*'|[\w.-]*\w)")


def as_krand_error(error: BaseException) -> KrandError:
    """The same failure as one of krand's errors, so that usage errors name their field too."""
    if isinstance(error, KrandError):
        return error
    if isinstance(error, click.MissingParameter):
        hint = f"add {max(error.param.opts, key=len)}" if error.param is not None else ""
        return InvalidInput(_name(error.param), "must be given", None, hint)
    if isinstance(error, click.NoSuchOption):
        known = ", ".join(error.possibilities or ())
        hint = f"did you mean {known}?" if known else _help(error)
        return InvalidInput(error.option_name, "no such option", None, hint)
    if isinstance(error, click.BadParameter):
        return InvalidInput(_name(error.param), error.message.rstrip("."), None, _help(error))
    if isinstance(error, click.UsageError):
        return InvalidInput("command line", error.format_message().rstrip("."), None, _help(error))
    if isinstance(error, click.ClickException):
        return InvalidInput("command line", error.format_message(), None)
    return InternalError(f"{type(error).__name__}: {error}")


def describe(error: KrandError) -> dict[str, Any]:
    """The failure as a JSON object that always has the same keys."""
    entry: dict[str, Any] = {
        "kind": "internal_error",
        "message": explain(error),
        "field": None,
        "rule": None,
        "value": None,
        "hint": None,
        "reason": None,
        "nearest": [],
        "problems": [],
    }
    if isinstance(error, InvalidInput):
        entry |= {"kind": "invalid_input", "field": error.field, "rule": error.rule}
        entry |= {"value": _plain(error.value), "hint": _as_options(error.hint) or None}
        if isinstance(error, SurveyErrors):
            entry |= {"problems": [_problem(problem) for problem in error.problems]}
    elif isinstance(error, CannotMeet):
        entry |= {"kind": "cannot_meet", "reason": error.reason, "nearest": list(error.nearest)}
    elif isinstance(error, MissingComponent):
        entry |= {"kind": "missing_component", "field": error.component, "hint": str(error)}
    elif isinstance(error, NoEntropy):
        entry |= {"kind": "no_entropy", "reason": str(error)}
    elif isinstance(error, Unavailable):
        entry |= {"kind": "unavailable", "reason": str(error)}
    else:
        entry |= {"reason": str(error)}
    return {"error": entry}


def explain(error: KrandError) -> str:
    """The failure in a few lines for a person."""
    if isinstance(error, InvalidInput):
        found = "" if error.value is None else f", found {error.value!r}"
        hint = f"\n  {_as_options(error.hint)}" if error.hint else ""
        return f"{error.field}: {error.rule}{found}{hint}"
    if isinstance(error, CannotMeet):
        if not error.nearest:
            return error.reason
        nearest = "".join(f"\n  • {request}" for request in error.nearest)
        return f"{error.reason}\nsimilar requests that can be met:{nearest}"
    if isinstance(error, (MissingComponent, NoEntropy, Unavailable)):
        return str(error)
    return f"internal error: {error}\n  this is a bug in krand; please report it with your command"


def _as_options(hint: str) -> str:
    """A hint for a command: the library names its parameters, which are options here."""
    return PARAMETER.sub(_as_option, hint)


def _as_option(found: re.Match[str]) -> str:
    option, value = OPTIONS[found[1]], found[2]
    if value == "True":
        return option
    plain = value.strip("'")
    return f"{option} {plain if plain.replace('-', '').isalnum() else value}"


def _problem(problem: Problem) -> dict[str, Any]:
    """One mistake in a survey file; what is unknown is null."""
    return {
        "path": problem.path or None,
        "line": problem.line,
        "rule": problem.rule,
        "value": _plain(problem.value),
        "hint": problem.hint or None,
    }


def _plain(value: object) -> object:
    """The value itself if JSON can represent it, otherwise its text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _name(param: click.Parameter | None) -> str:
    return param.name if param is not None and param.name else "command line"


def _help(error: click.UsageError) -> str:
    return f"see '{error.ctx.command_path} --help'" if error.ctx is not None else ""
