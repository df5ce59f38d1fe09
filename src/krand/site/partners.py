"""Whether the partners of a survey are there, with their keys, and what they have erased.

Every mixer of a chain is needed. So the organiser has to see early that one is silent: each is
asked every hour for a signed answer with the keys that it holds, for its signed erasures, and for
its signed list of plans, which the results name.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from krand.collector.closing import is_closed
from krand.collector.opening import read_batches
from krand.collector.store import State
from krand.errors import KrandError
from krand.partners.documents import Station
from krand.partners.siblings import asked_list, keep_lists
from krand.partners.talking import Conversation, Talks, erased_keys, held_keys
from krand.site.checks import route_of
from krand.site.rounds import rounds_of
from krand.site.site_file import ANALYST, SiteSurvey

if TYPE_CHECKING:
    from krand.partners.identity import Identity
    from krand.site.part import Say
    from krand.survey.plan import Plan

ASK_SECONDS, SOON_SECONDS = 3600.0, 20.0
"""How often partners are asked: when all is well, and when one is silent or has yet to erase."""


class Partners:
    """The mixers of one survey that have a service."""

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
            released = any(self._folder.batches(1).parent.glob("*/*.parquet"))
            settled = all(answers and (erased or not released) for answers, erased in asked)
            time.sleep(ASK_SECONDS if settled else SOON_SECONDS)

    def _asked(self, station: Station) -> tuple[bool, bool]:
        """Whether a mixer answers, and whether it has erased all its keys."""
        try:
            with Conversation(self._identity, station.address) as talk:
                held = held_keys(talk, station, self._plan)
                erased = erased_keys(talk, station, self._plan)
                signed = asked_list(talk, station.identity, station.url)
                keep_lists(self._folder.siblings, self._plan, [signed])
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
        """A round may end with fewer batches than the plan allows; its key is then of no use.

        All rounds that are through, and those that were left out while nothing ran here.
        """
        rounds, first = rounds_of(self._survey, self._plan), self._plan.survey.first_round
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
    """Whether a round is closed, and all its batches have reached the analyst, who is here."""
    folder = survey.folder
    if ANALYST not in survey.roles or not (folder.spool(number) / "spool.sqlite").exists():
        return False
    batches = read_batches(plan, folder.spool(number), number)
    arrived = {path.name.split("-")[1] for path in folder.incoming.glob("*.chain.json")}
    left = {batch.id for batch in batches if batch.state is not State.ERASED}
    return is_closed(batches) and left <= arrived
