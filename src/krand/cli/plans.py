"""Read the plan that a command is given, and check its promise once for each plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.survey.plan import Plan
    from krand.terminal.output import Output

__all__ = ["checked_plan"]


def checked_plan(path: Path, out: Output) -> Plan:
    """The plan in a file; an error if it promises more than its noise gives."""
    from krand.planning.checking import check_promise
    from krand.survey.plan_file import read_plan

    plan = read_plan(path)
    with out.progress("checking the plan's promise"):
        check_promise(plan)
    return plan
