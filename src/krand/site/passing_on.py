"""What becomes of a survey that is closed: its batch is released, and passed on.

The order of steps is that of `krand release`: each is recorded before the next one begins, so a
process that is killed goes on where it was. The organiser closes a survey with `krand close`; the
survey's last day closes it, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from krand.batches.batch import CHAIN_ENDING, ENDING, batch_beside
from krand.collector.release import release_closed
from krand.collector.rounds import Round, State, read_round
from krand.collector.spool import Spool
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import ensure_directory
from krand.mixing.store import MixerStore
from krand.partners.clock import Clock, ClockJumped
from krand.partners.deliveries import Deliveries, Told
from krand.partners.documents import Route, Station, batch_name
from krand.partners.identity import Address, Identity, read_identity
from krand.partners.talking import Conversation, Talks, erased_keys, has_batch, held_keys
from krand.site.checks import published_plan, route_of
from krand.site.part import Say, look_again
from krand.site.rounds import SiteClock, rounds_of
from krand.site.site_file import ANALYST, SiteSurvey
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall
from krand.survey.schedule import Schedule

CLOCK = (
    "the clock has moved by more than a day, so nothing is opened or closed by date. Set it right,"
    " or stop krand run and start it with --clock-is-right; krand close closes at any time"
)
ASK_SECONDS, SOON_SECONDS = 3600.0, 20.0
"""How often partners are asked: when all is well, and when one is silent or has yet to erase."""


def run(survey: SiteSurvey, say: Say, clock: Clock) -> None:
    """Look again and again."""
    plan, identity = published_plan(survey.folder), read_identity(survey.folder.identity)
    releasing = Releasing(survey, plan, identity, say, clock)
    partners = Partners(survey, plan, identity, say)
    for work in (releasing.deliveries.run, partners.run):  # each waits for others
        threading.Thread(target=work, daemon=True).start()
    look_again(releasing.look, say)


class Releasing:
    """One survey, all its rounds up to the open one."""

    def __init__(
        self,
        survey: SiteSurvey,
        plan: Plan,
        identity: Identity,
        say: Say,
        clock: Clock,
    ) -> None:
        self._survey, self._folder, self._plan, self._say = survey, survey.folder, plan, say
        self._identity, self._added = identity, set[Path]()
        self.deliveries = Deliveries(self._folder.deliveries, self._talk, tell=self._delivered)
        """What is passed on; its `run` needs a thread of its own, since a partner may be slow."""
        self._route: Route | None = None
        self._clock = SiteClock(clock, self._folder.clock)
        if plan.survey.schedule is not None:
            with suppress(ClockJumped):  # told at the first look
                self._clock.keep()
        self._finished = set[int]()
        """Rounds that are closed, and whose batches have left the spool."""

    def look(self) -> None:
        """Close what is over, release what is closed, and pass on what is released."""
        self._follow_route()
        for number in rounds_of(self._folder, self._plan):
            if number in self._finished:
                continue
            self._tend(number)
            self._pass_on_batches(number)
        if self._schedule is not None:
            self._keep_time()

    @property
    def _schedule(self) -> Schedule | None:
        return self._plan.survey.schedule

    def _keep_time(self) -> None:
        try:
            self._clock.keep()
        except ClockJumped:
            raise Unavailable(CLOCK) from None

    def _tend(self, number: int) -> None:
        found = read_round(self._folder.collector, self._plan, number)
        if found is None:  # the collector makes it
            return
        over = self._is_over(found, number)
        if found.is_open and not over:
            return
        with Spool(self._folder.collector, self._plan, number, create=False) as spool:
            if over:
                self._close(spool, number)
            self._release(spool, number)
            found = spool.round()
        self._pass_on_batches(number)
        self._finished.add(number)
        if found.state is State.ERASED:
            self._say("missed", round=number, people=found.people)

    def _is_over(self, found: Round, number: int) -> bool:
        """Whether the window of a round has passed, or the last day and somebody waits."""
        schedule = self._schedule
        if not found.is_open or (schedule is None and not found.people):
            return False
        try:
            now = self._clock.now()
        except ClockJumped:  # closing cannot be taken back
            raise Unavailable(CLOCK) from None
        if schedule is not None:
            return now >= schedule.window(number)[1]
        return self._plan.survey.is_over(datetime.fromtimestamp(now, UTC).date())

    def _close(self, spool: Spool, number: int) -> None:
        """A round of a schedule ends in any case, also with too few people."""
        if not spool.round().is_open:  # the operator was faster
            return
        if self._schedule is not None:
            closed = spool.close_round(erase=True)
            self._say("round closed", round=number, people=closed.people)
            return
        try:
            closed = spool.close_round()
        except CrowdTooSmall as error:
            hint = "the last day has passed, so nobody else can come: krand close --erase"
            raise CrowdTooSmall(error.field, error.rule, error.value, hint) from None
        self._say("closed", people=closed.people)

    def _release(self, spool: Spool, number: int) -> None:
        """A round that is closed; the same bytes however often it is interrupted."""
        if spool.round().state is State.ERASED:
            return
        target = self._folder.batches(number)
        ensure_directory("batches", target.parent)
        with MixerStore(self._folder.mixer_store, self._survey.anchor) as mixer:
            self._check_not_left(mixer, number)
            if (done := release_closed(spool, mixer, target)) is not None:
                self._say("released", round=number, people=done.round.people)

    def _check_not_left(self, mixer: MixerStore, number: int) -> None:
        """Refuse what the next party has already: this store is then an older copy."""
        station = self._next()
        if station is None or not station.url or mixer.of_round(number) is not None:
            return
        with self._talk(station.address) as talk:
            has_left = has_batch(
                talk, station, self._plan.hash, batch_name(self._plan.hash, number)
            )
        if has_left:
            rule = f"must not have left before, and {station.name} has it already"
            hint = (
                "this folder is an older copy: released again with other noise, the batch"
                " would show more than the promise allows. Go on with the newer folder"
            )
            raise InvalidInput("batch", rule, f"round {number}", hint)

    def _talk(self, address: Address) -> Conversation:
        return Conversation(self._identity, address)

    def _delivered(self, told: Told) -> None:
        """A receipt, or what is in its way."""
        name = told.delivery.station.name
        problem = "" if told.problem is None else str(told.problem)
        self._say("passed on", to=name, batch=told.delivery.batch_id, what=problem)

    def _follow_route(self) -> None:
        """A newer route may change addresses, also of what is on its way."""
        route = route_of(self._folder, self._plan)
        if route is not None and route != self._route:
            self.deliveries.reroute(route)
        self._route = route

    def _next(self) -> Station | None:
        """Whom batches are passed on to; None where the analyst of this site takes them."""
        if self._route is None:
            return None
        station = self._route.after(1)
        here = station.hop == 0 and ANALYST in self._survey.roles
        return None if here else station

    def _pass_on_batches(self, number: int) -> None:
        """Record what is to be passed on; what was recorded before stays as it is."""
        new = [pair for pair in self._batches(number) if pair[0] not in self._added]
        station = self._next() if new else None
        for data, chain in new:
            if station is not None:
                self.deliveries.add(data, chain, station)
            self._added.add(data)

    def _batches(self, number: int) -> Iterator[tuple[Path, Path]]:
        for chain in self._folder.batches(number).glob(f"*{CHAIN_ENDING}"):
            if batch_beside(chain).exists():
                yield batch_beside(chain), chain


class Partners:
    """The mixers of one survey that have a service.

    Every mixer of a chain is needed. So the organiser has to see early that one is silent: each is
    asked every hour for a signed answer with the keys that it holds, and for its signed erasures.
    """

    def __init__(self, survey: SiteSurvey, plan: Plan, identity: Identity, say: Say) -> None:
        self._survey, self._plan, self._identity, self._say = survey, plan, identity, say
        self._folder = survey.folder
        self._said: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        """For ever; an answer that cannot be had is told."""
        while True:
            stations: tuple[Station, ...] = ()
            with suppress(KrandError):  # a route that cannot be read is told by who passes on
                route = route_of(self._folder, self._plan)
                stations = () if route is None else route.stations
            asked = [self._asked(each) for each in stations if each.hop > 1 and each.url]
            released = any(self._folder.batches(1).parent.glob(f"*/*{ENDING}"))
            settled = all(answers and (erased or not released) for answers, erased in asked)
            time.sleep(ASK_SECONDS if settled else SOON_SECONDS)

    def _asked(self, station: Station) -> tuple[bool, bool]:
        """Whether a mixer answers, and whether it has erased all its keys."""
        try:
            with Conversation(self._identity, station.address) as talk:
                held = held_keys(talk, station, self._plan)
                erased = erased_keys(talk, station, self._plan)
                closed = self._close_rounds(talk, {one.round for one in erased})
        except KrandError as error:
            self._tell(station, answers=False, what=str(error))
            return False, False
        done = [{"round": one.round, "reason": one.reason.value} for one in erased]
        self._tell(station, answers=True, what="", held=held, erased=done)
        later = self._plan.survey.schedule is not None  # keys of rounds to come are held
        done_with = later and {*closed} <= {one.round for one in erased}
        return True, done_with or not held

    def _close_rounds(self, talk: Talks, erased: set[int]) -> list[int]:
        """A round may end without a batch; its key is then of no use.

        All rounds that are through, and those that were left out while nothing ran here.
        """
        rounds, first = rounds_of(self._folder, self._plan), self._plan.survey.first_round
        through = [each for each in rounds if is_through(self._survey, self._plan, each)]
        through += {*range(first, max(rounds, default=0))}.difference(rounds)
        for number in through:
            if number not in erased:
                talk.post(f"/v1/plans/{self._plan.hash}/rounds/{number}/close")
        return through

    def _tell(self, station: Station, **values: Any) -> None:
        """Whatever is new."""
        if self._said.get(station.identity) != values:
            self._said[station.identity] = values
            self._say("partner", name=station.name, **values)


def is_through(survey: SiteSurvey, plan: Plan, number: int) -> bool:
    """Whether a round is closed, and its batch has reached the analyst, who is here."""
    folder = survey.folder
    found = read_round(folder.collector, plan, number)
    if ANALYST not in survey.roles or found is None:
        return False
    arrived = any(folder.incoming.glob(f"round-{number}-*{CHAIN_ENDING}"))
    return found.state is State.ERASED or (not found.is_open and arrived)
