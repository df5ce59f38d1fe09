"""A survey with a schedule: `krand run` from its first round to its last, whatever happens."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import pytest

from command_line import done, refused, told
from components import require
from effort import LONG
from krand import Client, InvalidInput, read_plan, read_results
from krand.client.ledger import Submission
from krand.collector.closing import is_closed
from krand.collector.opening import open_spool, read_batches
from krand.collector.store import State
from krand.errors import Unavailable
from krand.files import write_atomically
from krand.partners.clock import ClockJumped
from krand.partners.identity import read_identity
from krand.site.checks import publish, signatures_in
from krand.site.making import folder_of
from krand.site.part import Say
from krand.site.passing_on import Releasing
from krand.site.rounds import SiteClock, is_over, opened_rounds, round_to_serve
from krand.site.site_file import SiteSurvey, read_site
from krand.survey.survey_folder import SurveyFolder, folder_beside
from krand.testing import FileClock, UnsafeMemoryLedger
from krand.wire.submissions import Submitted
from report.page_reader import spaced
from site_processes import WAIT_SECONDS, is_open, kill, running

STARTS = date(2027, 1, 4)
BEGINS = datetime(STARTS.year, STARTS.month, STARTS.day, tzinfo=UTC).timestamp()
HOUR, WEEK = 3600.0, 7 * 86400.0
TEXT = """\
id = "app"
rounds = {rounds}

[policy]
epsilon = 1.0
delta = 1e-6

[trust]
noise = "mixers"

[schedule]
every = "week"
starts = 2027-01-04

[[question]]
name = "fair"
type = "yes_no"
"""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("uvicorn")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))


@pytest.fixture
def clock(tmp_path: Path) -> FileClock:
    found = FileClock(str(tmp_path / "clock"))
    found.set(week(1))
    return found


def week(number: int, hours: float = 1) -> float:
    """So many hours into a round."""
    return BEGINS + (number - 1) * WEEK + hours * HOUR


def survey_in(folder: Path, rounds: int, text: str = TEXT) -> Path:
    file = folder / "app.toml"
    file.write_text(text.format(rounds=rounds), encoding="utf-8")
    return file


def devices(folder: SurveyFolder, clock: FileClock, people: int) -> list[Client]:
    plan, signatures = read_plan(folder.plan), signatures_in(folder)
    return [
        Client(
            plan,
            UnsafeMemoryLedger(),
            expected_hash=plan.hash,
            signatures=signatures,
            now=clock.steady,  # nobody sets the clocks of all devices
        )
        for _ in range(people)
    ]


def reported(folder: SurveyFolder, rounds: int) -> dict[int, int]:
    """How many people the results of each round have."""
    paths = {number: folder.results("results.json", number, rounds) for number in range(rounds + 1)}
    return {number: read_results(path).people for number, path in paths.items() if path.exists()}


@pytest.mark.check
def test_six_rounds_with_one_command(tmp_path: Path, clock: FileClock) -> None:
    """From a survey file to a trend page: 200 devices, of which some skip rounds or come late.

    One collector takes all rounds. What comes late is refused as closed. A round without people is
    told, and has no results.
    """
    rounds, file = 6, survey_in(tmp_path, 6)
    clock.set(BEGINS - HOUR)
    folder, sent = folder_beside(file), Counter[int]()
    with running(file, clock) as site:
        url = site.wait("serving")["url"]
        late, *people = devices(folder, clock, 201)
        unsent = Submission(bytes(16), ())
        with pytest.raises(InvalidInput, match="must be open"):
            late.submit(url, {"fair": True})
        for number in range(1, rounds + 1):
            clock.set(week(number))
            if number > 1:
                site.wait("opened", round=number)
                with pytest.raises(InvalidInput, match="410"):
                    late.deliver(url, unsent, number - 1)
            else:
                site.wait_until(partial(is_open, late, url, number))
            unsent = late.prepare({"fair": True}, number)
            for place, device in enumerate(people):
                if number != 4 and (place + number) % 7 and number >= place % 3:
                    receipt = device.submit(url, {"fair": place % 2 == 0})
                    assert (receipt.round, receipt.is_valid) == (number, True)
                    sent[number] += 1
        clock.set(week(rounds + 1))
        assert site.process.wait(WAIT_SECONDS) == 0
        events = [(event["event"], event.get("part"), event.get("round")) for event in site.events]
        assert events.count(("started", "collector", None)) == 1
        assert [number for event, _, number in events if event == "missed"] == [4]
        (*_, page) = (each["page"] for each in site.events if each["event"] == "followed")
    assert reported(folder, rounds) == sent
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    reports = [folder.results("report.html", n, rounds).read_text("utf-8") for n in sorted(sent)]
    shown = ["5 rounds of 6 planned, rounds 1 to 6" in spaced(report) for report in reports]
    assert shown == [False] * 4 + [True]
    assert ["Answers over rounds" in report for report in reports] == [False] + [True] * 4
    assert late.ledger.spent().epsilon == late.plan.promise.epsilon


@pytest.mark.check
@pytest.mark.loop
def test_killed_and_with_clocks_that_jump_rounds_keep_their_schedule(
    tmp_path: Path, clock: FileClock
) -> None:
    """kill -9 of any part or of all, clocks that are a week off: nothing lost, nothing twice."""
    kills, rounds = (300, 20) if LONG else (4, 2)
    file, draw = survey_in(tmp_path, rounds), random.Random(5)
    folder, sent, done = folder_beside(file), Counter[int](), 0
    number = 1
    while number <= rounds:
        with running(file, clock) as site:
            url, died = site.wait("serving")["url"], False
            while number <= rounds and not died:
                (device,) = devices(folder, clock, 1)
                site.wait_until(partial(is_open, device, url, number))
                assert device.submit(url, {"fair": True}).round == number
                sent[number] += 1
                if done < kills:
                    done += 1
                    clock.jump(draw.choice((-WEEK, 0, 0, WEEK)))
                    died = draw.random() < 0.3
                    part = draw.choice(("collector", "passing on", "analyst", "console"))
                    kill(site.process.pid) if died else site.kill(part)
                    clock.set(clock.steady() + draw.random() * HOUR)
                if sent[number] * rounds >= kills:
                    number += 1
                    clock.set(week(number))
            if died:
                site.process.wait()
            else:
                assert site.process.wait(WAIT_SECONDS) == 0
    if not reported(folder, rounds).keys() >= sent.keys():
        with running(file, clock) as site:
            assert site.process.wait(WAIT_SECONDS) == 0
    assert reported(folder, rounds) == sent
    for number in range(1, rounds + 1):
        assert len(list(folder.batches(number).glob("*.parquet"))) == 1


class Site:
    """The parts of a site that open and close rounds, in this process; each can be killed."""

    def __init__(self, folder: SurveyFolder, survey: SiteSurvey, clock: FileClock) -> None:
        self.folder, self.survey, self.clock = folder, survey, clock
        self.plan = read_plan(folder.plan)
        self.taken = dict[bytes, int]()
        self.start()

    def start(self) -> None:
        """All processes anew, with nothing but what is on the disk."""
        self._own = SiteClock(self.clock, self.folder.clock)
        identity = read_identity(self.folder.identity)
        with open("/dev/null", "wb") as nowhere:
            self._releasing = Releasing(self.survey, self.plan, identity, Say(nowhere), self.clock)
            self._releasing._say = lambda *_, **__: None  # type: ignore[assignment]
        self.number = round_to_serve(self.survey, self.plan, self._own)
        open_spool(self.plan, self.folder.spool(self.number), self.number).close()

    def turn(self) -> None:
        """A look of the collector."""
        self.number = round_to_serve(self.survey, self.plan, self._own)
        open_spool(self.plan, self.folder.spool(self.number), self.number).close()

    def release(self) -> None:
        """A look of who passes on; a clock that jumped is told."""
        with suppress(Unavailable):
            self._releasing.look()

    def submit(self, name: bytes) -> bool:
        """Somebody sends, as the collector takes it."""
        if is_over(self.plan, self.number, self._own):
            return False
        config = open_spool(self.plan, self.folder.spool(self.number), self.number)
        with config as store:
            if is_closed(store.batches()):
                return False
            length = store.config.format.message_length * store.config.format.messages
            store.add([Submitted(name, random.Random(name).randbytes(length))])
        self.taken[name] = self.number
        return True


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a survey of six rounds."""
    place = tmp_path_factory.mktemp("made")
    folder = folder_of(survey_in(place, 6))
    publish(folder, read_plan(folder.plan))
    return place


def copied(made: Path, place: Path, now: float) -> Site:
    """The site of a copy of that folder, begun at a time."""
    folder, clock = SurveyFolder(place / "app.krand"), FileClock(str(place / "clock"))
    shutil.copytree(made / "app.krand", folder.path)
    clock.set(now)
    return Site(folder, read_site(folder.site_file).surveys[0], clock)


@pytest.mark.check
def test_an_ended_schedule_opens_no_further_round(made: Path, tmp_path: Path) -> None:
    """Rounds that passed while nobody ran the site are left out; krand close takes the open one."""
    site = copied(made, tmp_path, week(3))
    assert opened_rounds(site.folder) == [3]
    assert site.submit(bytes(16))
    shown = " ".join(done("status", site.folder.path).output.split())
    assert "sealed when the round ends (2027-01-25 00:00 UTC), or when krand close closes" in shown
    assert refused("status", site.folder.path, "--round 2")["field"] == "round"
    closed = told("close", site.folder.path, "--end", "--yes")
    assert (closed["round"], closed["closed"]["people"]) == (3, 1)
    assert not site.submit(bytes(15) + b"1")
    site.release()
    assert len(list(site.folder.batches(3).glob("*.parquet"))) == 1
    site.clock.set(week(4))
    site.turn()
    site.start()
    assert (site.number, opened_rounds(site.folder)) == (3, [3])


@pytest.mark.check
def test_a_release_is_told_though_somebody_reads_the_spool(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the journal cannot be wiped at once, but the batch has left."""
    site, said = copied(made, tmp_path, week(1)), list[str]()
    site._releasing._say = lambda event, **_: said.append(event)  # type: ignore[assignment]
    assert site.submit(bytes(16))
    site.clock.set(week(2))
    monkeypatch.setattr("krand.collector.sqlite.spool.WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(site.folder.spool(1) / "spool.sqlite")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        site.release()
    assert said == ["round closed", "released"]
    (batch,) = read_batches(site.plan, site.folder.spool(1), 1)
    assert (batch.state, batch.people) == (State.RELEASED, 1)
    site.release()
    assert said == ["round closed", "released"]


@pytest.mark.parametrize("seed", range(300 if LONG else 3))
@pytest.mark.check
@pytest.mark.loop
def test_whatever_the_clock_does_each_round_is_held_once(
    made: Path, tmp_path: Path, seed: int
) -> None:
    """Random looks, restarts and jumps of weeks: rounds go up, one is open, nobody is lost."""
    site, draw = copied(made, tmp_path, week(1)), random.Random(seed)
    folder, clock = site.folder, site.clock
    schedule, before, jumped = site.plan.survey.schedule, 0, 0.0
    assert schedule is not None
    while clock.steady() < week(6, 160):
        what = draw.choice(["pass", "pass", "jump", "back", "restart", "turn", "release", "answer"])
        if what == "pass":
            later = clock.steady() + draw.choice((12, 40)) * HOUR
            clock.set(later)
            clock.jump(jumped)
        elif what == "jump":
            jumped = draw.choice((-WEEK, WEEK))
            clock.jump(jumped)
        elif what == "back":
            jumped = 0.0
            clock.set(clock.steady())
        elif what == "restart":
            site.start()
        elif what == "turn":
            site.turn()
        elif what == "release":
            site.release()
        elif site.submit(draw.randbytes(16)) and not jumped:
            assert schedule.is_open(site.number, clock.steady())
        opened = opened_rounds(folder)
        assert site.number == opened[-1] >= before
        before = opened[-1]
        for number in opened[-2:-1]:
            assert is_closed(read_batches(site.plan, folder.spool(number), number))
        true = schedule.open_at(clock.steady())
        assert true is None or opened[-1] <= true  # never before its time
    clock.set(schedule.opens[-1].timestamp() + HOUR)
    site.start()
    site.release()
    site.release()
    counted = Counter(site.taken.values())
    for number in opened_rounds(folder):
        (batch,) = read_batches(site.plan, folder.spool(number), number)
        found = (State.RELEASED, counted[number]) if counted[number] else (State.ERASED, 0)
        assert (batch.state, batch.people) == found
        assert len(list(folder.batches(number).glob("*.parquet"))) == bool(counted[number])


def test_a_clock_that_is_off_opens_and_closes_nothing(tmp_path: Path) -> None:
    """While it runs, after a restart, and after another start of the machine if it went back."""

    class Other(FileClock):
        def boot(self) -> str:
            return "another"

    record, clock = tmp_path / "record", FileClock(str(tmp_path / "clock"))
    clock.set(week(5))
    kept = SiteClock(clock, record)
    kept.keep()
    for off in (-WEEK, WEEK):
        clock.jump(off)
        for each in (kept, SiteClock(clock, record)):
            with pytest.raises(ClockJumped):
                each.now()
        clock.set(clock.steady() + HOUR)
        assert kept.now() == SiteClock(clock, record).now() == clock.steady()
    other = Other(clock.path)
    other.set(week(9))  # the machine was off for a month
    assert SiteClock(other, record).now() == week(9)
    other.set(week(3))
    with pytest.raises(ClockJumped):
        SiteClock(other, record).now()
    for content in ("", "[]", "{", '{"boot": 1}', '{"boot": "x", "wall": "y", "steady": 1}'):
        write_atomically("record", record, content)
        assert SiteClock(clock, record).now() == week(3)
