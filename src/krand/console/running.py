"""What a published survey does now: whether it runs, how many people came, what parts say."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from krand.collector.closing import Preview, preview_of
from krand.collector.rounds import read_round, rounds_begun
from krand.console import commands
from krand.console.folder import Place, Stage
from krand.errors import KrandError
from krand.languages.speaking import gettext
from krand.site.running import is_running
from krand.site.site_file import SiteSurvey, read_site
from krand.site.status import state_of
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.web.site_page import SurveyState
from krand.wording.phrases import whole


class Keeping:
    """The commands that go on by themselves, as far as this console started them."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, place: Place, *words: str) -> None:
        """Start a command, unless one is under way."""
        if not self.is_at_work(place):
            self._processes[place.name] = commands.start(place, *words)

    def is_at_work(self, place: Place) -> bool:
        """Whether the site of a survey runs, or a command of ours prepares it."""
        process = self._processes.get(place.name)
        if process is not None and process.poll() is None:
            return True
        file = place.folder.site_file
        return place.site is not None or (file.exists() and is_running(read_site(file)))

    def failure(self, place: Place) -> str:
        """What the last command said that failed."""
        process = self._processes.get(place.name)
        failed = process is not None and process.poll() not in (None, 0)
        return commands.said(place) if failed else ""

    def serve(self, place: Place) -> None:
        """Run the site of a survey: the organiser's own chain, or the one that was paired."""
        self.start(place, *site_words(place))

    def serve_all(self, places: list[Place]) -> None:
        """After a restart: whatever is published and not over goes on."""
        for place in places:
            try:
                goes_on = place.stage in (Stage.OPEN, Stage.CLOSED, Stage.EMPTY)
                if goes_on and not self.is_at_work(place):
                    self.serve(place)
            except KrandError:
                continue  # its own page says what is wrong


def site_words(place: Place) -> tuple[str, ...]:
    """The command that runs a survey."""
    folder = place.folder
    file = folder.site_file if folder.route.exists() else place.file
    return ("run", str(file), "--no-console")


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """A survey that is published."""

    plan: Plan
    served: SiteSurvey
    state: SurveyState
    closing: Preview | None
    """How many came, and what closing would do; None where nothing is to be closed."""
    is_running: bool
    round: int
    """The one that is open, or was last."""
    is_closed: bool
    """Whether this round takes nobody any more."""

    @property
    def round_ends(self) -> str:
        """When a round of a schedule ends; empty without one."""
        schedule = self.plan.survey.schedule
        return f"{schedule.closes(self.round):%Y-%m-%d %H:%M} UTC" if schedule else ""

    @property
    def form(self) -> str:
        """Where people answer."""
        return self.served.address or self.state.form

    @property
    def came(self) -> str:
        """How many people came: in steps, so that nobody sees one person arrive."""
        if self.closing is None:
            return ""
        if not self.closing.fewest:
            return gettext("Fewer than %(number)s so far", number=whole(self.closing.step))
        return gettext("At least %(number)s so far", number=whole(self.closing.fewest))


def now(place: Place, keeping: Keeping) -> Now:
    """What is known of a published survey."""
    site, plan = place.site or read_site(place.folder.site_file), read_plan(place.folder.plan)
    served = place.served
    (state,) = state_of(site, {plan.survey.id: (served, plan)}).surveys
    number, closing = _rounds(place, plan)[-1], None
    if found := read_round(place.folder.collector, plan, number):
        closing = preview_of(plan, found)
    return Now(
        plan=plan,
        served=served,
        state=state,
        closing=closing,
        is_running=keeping.is_at_work(place),
        round=number,
        is_closed=found is not None and closing is None,
    )


def results_files(place: Place, plan: Plan) -> dict[str, Path]:
    """What the analyst has written of the last round that is reported, by name."""
    folder, rounds = place.folder, plan.survey.rounds
    numbers = _rounds(place, plan)
    reported = [n for n in numbers if folder.results("report.html", n, rounds).is_file()]
    if not reported:
        return {}
    names = ("report.html", "results.json", "results.xlsx")
    found = {name: folder.results(name, reported[-1], rounds) for name in names}
    found["trend.html"] = folder.analyst / "trend.html"
    return {name: path for name, path in found.items() if path.is_file()}


def _rounds(place: Place, plan: Plan) -> list[int]:
    """Those that are open or were, the last one last; the first one where none was opened yet."""
    return rounds_begun(place.folder.collector, plan) or [plan.survey.first_round]
