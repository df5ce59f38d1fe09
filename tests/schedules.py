"""Schedules of surveys that are asked several times, and clocks that stand in one of the rounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from krand.survey.plan import Plan
from krand.survey.schedule import Schedule

STARTS = date(2099, 1, 5)
WEEKLY = f'\n[schedule]\nevery = "week"\nstarts = {STARTS}\n'
"""The table of a survey file."""


def days(rounds: int, starts: date = STARTS) -> Schedule | None:
    """A round a day; one round needs no schedule."""
    return Schedule(every="day", starts=starts) if rounds > 1 else None


def during(plan: Plan, number: int = 1) -> Callable[[], float]:
    """A clock that stands still while a round is open."""
    schedule = plan.survey.schedule
    if schedule is None:
        return time.time
    opens, closes = schedule.window(number)
    return lambda: (opens + closes) / 2


def of_campaign(plan: Plan, campaign: str) -> Plan:
    """The same, spent beside other campaigns."""
    schedule = plan.survey.schedule
    assert schedule is not None
    return replace(plan, survey=replace(plan.survey, schedule=replace(schedule, campaign=campaign)))
