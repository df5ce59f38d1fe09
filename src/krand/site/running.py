"""A site while it runs: its parts, its file, and what it tells."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from krand.client.transport import is_loopback
from krand.errors import KrandError, Unavailable
from krand.files import OWNER_FOLDER, unwritable, write_atomically
from krand.partners.clock import SYSTEM_CLOCK, Clock
from krand.partners.identity import ensure_identity
from krand.partners.joining import await_survey
from krand.site.checks import checked_site, publish
from krand.site.part import Part, Receiving
from krand.site.rounds import SiteClock, has_results, rounds_of
from krand.site.site_file import ANALYST, COLLECTOR, Site, SiteSurvey
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.wording.failures import explain
from krand.wording.parties import one_hand_text

LOOK_SECONDS = 1.0
AGAIN_LOOKS = 5
"""So many looks later, what was missing may be there: files that the site file names, or a plan."""

Tell = Callable[[dict[str, Any]], None]
Stamp = tuple[int, int, int]
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a part that died is started again; twice as many each time."""
HEALTHY_SECONDS = 60.0
"""A part that lived so long has not failed at once."""
END_SECONDS = 40.0
"""A collector answers what has arrived before it ends; then a part is killed."""

Heard = Callable[[Part, dict[str, Any]], None]


def parts_of(site: Site, clock: Clock, *, console: bool = True) -> Iterator[Part]:
    """Every process of a site; with the console, surveys can be closed in a browser."""
    for survey in site.surveys:
        if COLLECTOR in survey.roles:
            yield Part("collector", survey, clock)
            yield Part("passing on", survey, clock)
        if ANALYST in survey.roles:
            yield Part("analyst", survey)
    if site.receiver is not None:
        analysts = tuple(each.folder for each in site.surveys if ANALYST in each.roles)
        received = Receiving(site.receiver, site.name, analysts, site.awaited)
        yield Part("receiver", received)
    here = is_loopback(site.status.host)  # pages for others change nothing
    yield Part("console" if console and here else "status page", site)


class Running:
    """A site, from its start to its end."""

    def __init__(
        self,
        file: Path,
        tell: Tell,
        *,
        ends: bool = False,
        console: bool = True,
    ) -> None:
        """`ends`: when every survey is closed and reported, unless it was closed in the console."""
        self._file, self._tell, self._ends, self._console = file, tell, ends, console
        self.site = checked_site(file)
        self._stamp = _stamp(file)
        self._wrong, self._looks, self._reported = "", 0, False
        self._warned: set[str] = set()
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._states: dict[Part, dict[str, Any]] = {}
        self._supervisor = Supervisor(self._heard)

    def end(self) -> None:
        """End soon; `run` returns when all parts have ended."""
        self._ending.set()

    def run(self) -> None:
        """Until `end` is called."""
        _prepare(self.site)
        with _alone(self.site.folder / "lock"):
            self._tell({"event": "begun", "site": self.site.name})
            try:
                self._keep()
                while not self._ending.wait(LOOK_SECONDS):
                    self._look()
                    if self._ends and self._reported and _is_over(self.site, SYSTEM_CLOCK):
                        self.end()
            finally:
                self._supervisor.end()

    def _keep(self) -> None:
        plans = {survey: read_plan(survey.folder.plan) for survey in self.site.surveys}
        for survey, plan in plans.items():
            if plan.hash not in self._warned and (warning := one_hand_text(plan)):
                self._warned.add(plan.hash)
                place = str(survey.folder.path)
                self._tell({"event": "one hand", "survey": place, "what": warning})
        self._supervisor.keep(parts_of(self.site, SYSTEM_CLOCK, console=self._console))

    def _look(self) -> None:
        """Read the file again if it has changed; one with mistakes changes nothing."""
        stamp, self._looks = _stamp(self._file), self._looks + 1
        due = (self._wrong or self.site.awaited) and self._looks % AGAIN_LOOKS == 0
        if stamp == self._stamp and not due:
            return
        self._stamp = stamp
        try:
            site = checked_site(self._file)
            _prepare(site)
        except KrandError as error:
            self._mistaken(explain(error))
            return
        self._mistaken("")
        if site != self.site:
            self.site = site
            self._tell({"event": "changed", "surveys": len(site.surveys)})
            self._keep()

    def _mistaken(self, what: str) -> None:
        if what != self._wrong:
            self._wrong = what
            self._tell({"event": "mistaken", "what": what})
            self._write()

    def _heard(self, part: Part, event: dict[str, Any]) -> None:
        """Something that a part said, or that happened to it."""
        with self._lock:
            if event["event"] == "ended":
                self._states.pop(part, None)
            else:
                key = f"{event['event']} {event.get('name', '')}".strip()
                self._states.setdefault(part, {})[key] = event
            if event["event"] == "started":
                self._states[part].pop("died", None)
            self._write()
        self._ends &= event["event"] != "stays"  # somebody reads the results there
        self._reported |= event["event"] in ("reported", "missed")
        with suppress(OSError):  # nobody reads it any more
            self._tell({"part": part.kind, "survey": part.survey, **event})

    def _write(self) -> None:
        """What the status page shows: of each part what it last said of each kind."""
        parts = [
            {"kind": part.kind, "survey": part.survey, "said": said}
            for part, said in self._states.items()
        ]
        state = {"site": self.site.name, "mistakes": self._wrong, "parts": parts}
        with suppress(KrandError):  # a full disk must not end the parts: they say so themselves
            write_atomically("state", self.site.state, json.dumps(state))


def _prepare(site: Site) -> None:
    """The site's own folder, and that no other plans are served from the surveys' folders."""
    try:
        site.folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
    except OSError as error:
        raise unwritable("folder", site.folder, error) from None
    if site.receiver is not None:
        ensure_identity(site.receiver.identity)
    for folder in site.awaited:
        await_survey(folder)
    for survey in site.surveys:
        publish(survey.folder, read_plan(survey.folder.plan))


def _is_over(site: Site, clock: Clock) -> bool:
    """Whether the last round of every survey is closed and reported."""
    with suppress(KrandError):  # it is asked again in a second
        return all(is_reported(survey, clock) for survey in site.surveys)
    return False


def is_reported(survey: SiteSurvey, clock: Clock) -> bool:
    """Whether its last round is closed and reported, or had too few people."""
    plan, folder = read_plan(survey.folder.plan), survey.folder
    schedule, rounds = plan.survey.schedule, rounds_of(folder, plan)
    if schedule is not None and not folder.ended.exists():
        ends = schedule.opens[-1].timestamp()
        if SiteClock(clock, folder.clock).now() < ends:
            return False
    return all(_has_its_report(folder, plan, number) for number in rounds[-1:] + rounds[:-1])


def _has_its_report(folder: SurveyFolder, plan: Plan, number: int) -> bool:
    """Whether nothing of a round is left to do; until then its messages are in the spool."""
    there = has_results(folder, plan, number)
    report = folder.results("report.html", number, plan.survey.rounds)
    return there is False or (there is True and report.exists())


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock: two sites with the same files would be in each other's way."""
    import fcntl

    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Unavailable(
                f"the site of {path.parent} runs already, in another process"
            ) from None
        yield


def is_running(site: Site) -> bool:
    """Whether a process runs this site."""
    import fcntl

    try:
        with (site.folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _stamp(file: Path) -> Stamp | None:
    """Whether a file is still the same; None while there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class Keeper(threading.Thread):
    """One part: a process, and another one whenever it dies."""

    def __init__(self, part: Part, heard: Heard) -> None:
        super().__init__(name=f"{part.kind} {part.survey}", daemon=True)
        self._part, self._heard = part, heard
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Until `end` is called."""
        wait = FIRST_WAIT
        while not self._ending.is_set():
            began = time.monotonic()
            code = self._life()
            if self._ending.is_set():
                return
            wait = FIRST_WAIT if time.monotonic() - began >= HEALTHY_SECONDS else wait
            self._heard(self._part, {"event": "died", "code": code, "again": wait})
            self._ending.wait(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def end(self) -> None:
        """Tell it to end; `join` waits for it."""
        self._ending.set()
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def kill(self) -> None:
        """It did not end in time."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def _life(self) -> int | None:
        """From its start to its end; its exit code."""
        with self._lock:
            if self._ending.is_set():
                return None
            self._process = process = _started(self._part)
        self._heard(self._part, {"event": "started", "process": process.pid})
        assert process.stdout is not None
        for line in process.stdout:
            self._heard(self._part, json.loads(line))
        return process.wait()


def _started(part: Part) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "krand.site.part"],  # -P: not from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the supervisor, which ends all of them in turn
    )
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps(part))
        process.stdin.flush()
    except BrokenPipeError:  # it died at once, which is seen below
        pass
    return process


class Supervisor:
    """Starts the parts of a site, starts again those that died, and leaves none behind.

    Every part is a process of its own, and is given what it needs through a pipe. The pipe stays
    open as long as the supervisor lives, however it ends; a part whose pipe ends, ends. So nothing
    has to be cleaned up after a supervisor that was killed.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._keepers: dict[Part, Keeper] = {}

    def keep(self, wanted: Iterable[Part]) -> None:
        """Start what is new, and end what is not wanted any more; others are left alone."""
        parts = list(wanted)
        gone = [part for part in self._keepers if part not in parts]
        _end([self._keepers.pop(part) for part in gone])
        for part in gone:
            self._heard(part, {"event": "ended"})
        for part in parts:
            if part not in self._keepers:
                self._keepers[part] = keeper = Keeper(part, self._heard)
                keeper.start()

    def end(self) -> None:
        """End all of them, and wait until they have."""
        self.keep(())


def _end(keepers: list[Keeper]) -> None:
    for keeper in keepers:
        keeper.end()
    until = time.monotonic() + END_SECONDS
    for keeper in keepers:
        keeper.join(max(0.0, until - time.monotonic()))
        if keeper.is_alive():
            keeper.kill()
            keeper.join()
