"""The plan that a command is given: read, and its promise computed anew, once for each plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.present.output import Output
    from krand.survey.plan import Plan

__all__ = ["checked_plan"]


def checked_plan(path: Path, out: Output) -> Plan:
    """The plan of a file, or an error where it promises more than its noise gives."""
    from krand.survey.plan_file import read_plan
    from krand.survey.promises import check_promise

    plan = read_plan(path)
    with out.progress("computing the plan's promise anew"):
        check_promise(plan)
    return plan
