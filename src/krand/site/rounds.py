"""Which round of a schedule is open, as the clock and the survey's folder tell.

A round was opened if it has a spool, and a spool says whether it was closed. Both are on the disk
before anybody is told, so whoever is killed goes on where it was, and nothing happens twice. The
clock alone decides when, and only a clock that nobody moved: as long as it is more than a day off,
nothing is opened or closed.
"""

from __future__ import annotations

import json
from pathlib import Path

from krand.collector.rounds import State, read_round, rounds_begun
from krand.errors import InvalidInput, KrandError
from krand.files import read_whole, write_atomically
from krand.partners.clock import DAY_SECONDS, CheckedClock, Clock, ClockJumped
from krand.site.checks import published_plan
from krand.site.site_file import SiteSurvey
from krand.survey.plan import Plan
from krand.survey.survey_folder import SurveyFolder, folder_beside

KEEP_SECONDS = 3600.0
"""How often the time is recorded."""


class SiteClock:
    """A clock that is compared with the time that was recorded last, also by another process.

    Since the machine was started its steady clock goes on, whoever was killed meanwhile. After
    another start only a clock that went back is known to be wrong.
    """

    def __init__(self, clock: Clock, record: Path) -> None:
        self._clock, self._record = clock, record
        self._boot: str = getattr(clock, "boot", str)()
        self._last: float | None = None
        self._checked = CheckedClock(clock, None)
        boot, wall, steady = self._recorded()
        if self._boot and boot == self._boot:
            self._checked.go_on_from(wall, steady)
        elif clock.wall() < wall - DAY_SECONDS:
            self._checked.go_on_from(wall, clock.steady())

    def now(self) -> float:
        """Seconds since 1970; ClockJumped if the system's clock is off."""
        return self._checked.now()

    def keep(self) -> None:
        """Record the time now and then, if it is right."""
        steady = self._clock.steady()
        if self._last is None or steady - self._last >= KEEP_SECONDS:
            values = {"boot": self._boot, "wall": self.now(), "steady": steady}
            write_atomically("clock", self._record, json.dumps(values))
            self._last = steady

    def _recorded(self) -> tuple[str, float, float]:
        try:
            known = json.loads(read_whole("clock", self._record))
            return str(known["boot"]), float(known["wall"]), float(known["steady"])
        except (KrandError, ValueError, LookupError, TypeError):  # none yet, or not one
            return "", 0.0, 0.0


def open_round(survey: Path, number: int | None = None) -> tuple[SurveyFolder, Plan, int]:
    """The folder and the plan of a survey file or folder, and its open round, or the one given."""
    folder = SurveyFolder(survey) if survey.is_dir() else folder_beside(survey)
    plan = published_plan(folder)
    opened = rounds_begun(folder.collector, plan)
    if number is not None and opened and number not in opened:
        rule = "must be a round that was opened"
        hint = f"they are {', '.join(map(str, opened))}"
        raise InvalidInput("round", rule, number, hint)
    return folder, plan, max(opened, default=1) if number is None else number


def rounds_of(folder: SurveyFolder, plan: Plan) -> list[int]:
    """The rounds that a site looks after: the only one, or those that a schedule has opened."""
    return [1] if plan.survey.schedule is None else rounds_begun(folder.collector, plan)


def round_is_closed(folder: SurveyFolder, plan: Plan, number: int) -> bool:
    """Whether a round takes nobody any more."""
    found = read_round(folder.collector, plan, number)
    return found is not None and not found.is_open


def has_results(folder: SurveyFolder, plan: Plan, number: int) -> bool | None:
    """Whether a round has results; None until it is closed and its messages have left the spool.

    With too few people it has none.
    """
    found = read_round(folder.collector, plan, number)
    return None if found is None or found.state.has_messages else found.state is State.RELEASED


def round_to_serve(survey: SiteSurvey, plan: Plan, clock: SiteClock) -> int:
    """The round that the collector takes answers for, or took them last.

    A round that is not closed yet stays. Otherwise it is the one whose window it is, unless the
    schedule was ended; never one before.
    """
    schedule, folder = plan.survey.schedule, survey.folder
    if schedule is None:
        return 1
    last = max(rounds_begun(folder.collector, plan), default=0)
    stays = last or schedule.first
    if folder.ended.exists() or (last and not round_is_closed(folder, plan, last)):
        return stays
    try:
        return max(stays, schedule.open_at(clock.now()) or stays)
    except ClockJumped:
        return stays


def is_over(plan: Plan, number: int, clock: SiteClock) -> bool:
    """Whether a round takes no answers by the clock; one that jumped does not tell."""
    schedule = plan.survey.schedule
    if schedule is None:
        return plan.survey.is_over()
    try:
        return not schedule.is_open(number, clock.now())
    except ClockJumped:
        return False
