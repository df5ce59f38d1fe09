"""What a mixer's service does, without HTTP: keys, signatures, batches, erasing, heartbeats.

Every request is recorded before it is answered, and everything else happens in `work`, which one
thread or process calls again and again. Each of its steps can be repeated, so that the service may
be killed at any point.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import Unwritable
from krand.mixing.keys import EraseReason, parse_descriptor
from krand.mixing.store import MixerStore
from krand.mixing.watching import WatchOptions
from krand.partners.clock import CheckedClock, Clock, ClockJumped, SystemClock
from krand.partners.documents import Erasure, Heartbeat, PlanState, Route, check_route, keys_hash
from krand.partners.identity import Address, fingerprint
from krand.partners.passing import Passing
from krand.partners.records import OPEN, SERVED, PairingRecord, Records, Refusal, RoundState, Stage
from krand.partners.requests import NotAdmitted, NotFound
from krand.partners.service_folder import ServiceFolder
from krand.partners.signing import Signing, route_in, survey_in
from krand.partners.talking import Conversation, Talks
from krand.partners.uploads import Uploads
from krand.survey.plan import Plan
from krand.wire.signed import Signed

LAST_SEEN = "last seen"
SEEN_EVERY = 600.0
"""Seconds after which the time is recorded again."""
SOON, AGAIN, LATER = 0.0, 1.0, 5.0
"""Seconds until `work` should be called again."""
ITSELF = (0, "service")
"""The subject of problems that concern no survey."""


class MixerService:
    """The service of one mixer for any number of surveys."""

    def __init__(
        self,
        folder: ServiceFolder,
        *,
        talk: Callable[[Address], Talks] | None = None,
        clock: Clock | None = None,
        clock_is_right: bool = False,
        options: WatchOptions | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`talk` opens a conversation with another party; `report` writes a line of the log."""
        self._folder = folder
        self.records = Records(folder.path, folder.anchor)
        seen = self.records.fact(LAST_SEEN)
        self._clock = CheckedClock(
            clock or SystemClock(), float(seen) if seen else None, is_right=clock_is_right
        )
        self._seen, self._report = 0.0, report
        self._recorded: dict[int, tuple[int, int]] = {}
        """How many keys and batches a store had when the records were last brought up to date."""
        self._problems: dict[tuple[int, str], str] = {}
        """What the log has, by the number of a request and what of it is concerned."""
        self._day: date | None = None
        """On which unused keys were looked at last."""
        self.signing = Signing(folder, self.records, self._clock)
        for pairing in self.records.in_stage(Stage.UNUSED):
            folder.remove(pairing.key)  # if a kill came before that
        self._passing = Passing(
            folder,
            self.records,
            talk or (lambda address: Conversation(folder.identity, address)),
            options or WatchOptions(),
            self._tell,
            report,
        )
        self.deliveries = self._passing.deliveries
        """What leaves for the party after; its `run` needs a thread of its own."""
        for pairing in self.records.in_stage(*SERVED):  # if a kill came between the two files
            self.deliveries.reroute(route_in(pairing).record)

    def close(self) -> None:
        """Let go of the records."""
        self.records.close()

    # Pairing

    def is_partner(self, identity: str) -> bool:
        """Whether this identity has asked for something that was accepted.

        One whose plan was not signed in the end stays one: it is told why.
        """
        stages = {*OPEN, *SERVED} - {Stage.WAITING}
        own = self.records.of_organiser(identity)
        return any(each.stage in stages or each.plan for each in own)

    def set_route(self, identity: str, plan: str, route: Signed[Route]) -> None:
        """Take another route from the organiser."""
        pairing = self._organised(identity, plan)
        check_route(self._folder.plan(pairing), route, route_in(pairing))
        self.records.change(pairing, route=route.content)
        self.deliveries.reroute(route.record)

    # Batches

    def uploads(self, plan: str) -> Uploads:
        """What arrives for a plan from the party before."""
        return self._passing.uploads(self._served(plan))

    def stop(self) -> None:
        """End soon what `work` and the deliveries are doing."""
        self._passing.stop()

    # Ending

    def close_round(self, identity: str, plan: str, round_number: int) -> Signed[Erasure] | None:
        """The organiser ends a round: the erasure of its key, or None as long as it is there."""
        pairing = self._organised(identity, plan)
        rounds = len(parse_descriptor(pairing.descriptor).keys)
        if not 1 <= round_number <= rounds:
            hint = "the survey has no other rounds"
            raise InvalidInput("round", f"must be from 1 to {rounds:,}", round_number, hint)
        self.records.want_closed(pairing, round_number)
        found = (each for each in self.erasures(plan) if each.record.round == round_number)
        return next(found, None)

    def erasures(self, plan: str) -> tuple[Signed[Erasure], ...]:
        """What was erased of a plan's keys; anybody may read it."""
        pairing = self.records.of_plan(plan)
        if pairing is None:
            raise _unknown(plan)
        return self.records.erasures(pairing)

    def unused(self) -> tuple[Signed[Erasure], ...]:
        """Erasures of keys with which no plan was signed."""
        gone = self.records.in_stage(Stage.UNUSED)
        return tuple(one for pairing in gone for one in self.records.erasures(pairing))

    def heartbeat(self, identity: str, plan: str, nonce: str) -> Signed[Heartbeat]:
        """That this mixer is there, and which keys it has; for parties of the plan."""
        pairing = self._served(plan)
        if identity not in {station.identity for station in route_in(pairing).record.stations}:
            rule, hint = "must be a party of the plan's route", "ask the organiser for the route"
            raise NotAdmitted("identity", rule, identity, hint)
        self._clock.now()
        beat = Heartbeat(
            plan=plan,
            mixer=self._folder.identity.public,
            nonce=nonce,
            keys=keys_hash(()) if pairing.why else pairing.held,
        )
        return self._folder.identity.sign(beat)

    # Work

    def work(self) -> float:
        """Do what is due; in how many seconds to look again. ClockJumped ends the service.

        A disk that is full, or a file that is in use, is told once and tried again.
        """
        self._clock.now()
        try:
            self._see_time()
            waits = self._tend_all()
            if self.signing.work() or self._end_refused():
                return SOON
            self._problems.pop(ITSELF, None)
        except ClockJumped:
            raise
        except (Unavailable, Unwritable, OSError, sqlite3.Error) as error:
            self._say(ITSELF, f"tried again: {error}")
            return LATER
        return waits

    def _tend_all(self) -> float:
        today = self._clock.today()
        if today != self._day:
            for pairing in self.records.in_stage(Stage.READY, Stage.SECOND):
                if survey_in(pairing.survey).is_over(today):
                    self.signing.erase_unused(pairing, "the survey's last day has passed")
            self._day = today
        served = self.records.in_stage(*SERVED)
        return min([LATER, *(self._tended(each, today) for each in served)])

    def _tended(self, pairing: PairingRecord, today: date) -> float:
        """Do what is due for one plan.

        A survey with a problem keeps no other one waiting, and no problem with a batch puts off
        what has to be erased.
        """
        try:
            with self._told(pairing, "batches"):
                self._passing.work(pairing)
        finally:
            with self._told(pairing, "keys"):
                self._end(pairing, today)
        return AGAIN if self._passing.rounds_to_mix(pairing) else LATER

    def _end(self, pairing: PairingRecord, today: date) -> None:
        if pairing.stage is Stage.ERASED:
            self._passing.forget(pairing)
            return
        try:
            self._erase_due(pairing, today)
        except InvalidInput:  # keys that cannot be opened are not there for a heartbeat
            self.records.change(pairing, held=keys_hash(()))
            self._recorded.pop(pairing.number, None)
            raise

    @contextmanager
    def _told(self, pairing: PairingRecord, what: str) -> Iterator[None]:
        """Write a problem to the log, once as long as it stays the same, and go on."""
        name = f"{what} of the survey {pairing.survey_id}"
        try:
            yield
            self._problems.pop((pairing.number, what), None)
        except (KrandError, OSError, sqlite3.Error) as error:
            is_new = self._say((pairing.number, what), f"{name} are tried again: {error}")
            if is_new and isinstance(error, InvalidInput) and not isinstance(error, Unwritable):
                self._tell(name, f"{error.field}: {error.rule}")

    def _say(self, subject: tuple[int, str], line: str) -> bool:
        """Write a line of the log, unless it is the last one about this; whether it was."""
        is_new = self._problems.get(subject) != line
        if is_new:
            self._problems[subject] = line
            self._report(line)
        return is_new

    def _erase_due(self, pairing: PairingRecord, today: date) -> None:
        """Erase what is to be erased of a signed plan."""
        plan = self._folder.plan(pairing)
        until = plan.survey.keys_until
        assert until is not None
        waiting = self._passing.rounds_to_mix(pairing)
        with self._folder.open_store(pairing) as store:
            left = tuple(store.keys.opening)
            if today > until and left:
                self._tell_lost(pairing, plan, store, left)
                store.erase(EraseReason.DATE, *left)
            elif closing := {*self.records.closing(pairing)}.intersection(left) - waiting:
                store.erase(EraseReason.CLOSED, *sorted(closing))
            self._record_store(pairing, plan, store)

    def _tell_lost(
        self, pairing: PairingRecord, plan: Plan, store: MixerStore, left: Iterable[int]
    ) -> None:
        """Before the erasure, so that a kill in between hides nothing."""
        planned = [number for number in left if number >= plan.survey.first_round]
        missing = [number for number in planned if not store.of_round(number)]
        if missing:
            rule = f"must come before the keys are erased, on {plan.survey.keys_until}"
            rounds = ", ".join(map(str, missing[:10])) + (", …" if missing[10:] else "")
            self._tell(f"batches of round {rounds} of the survey {pairing.survey_id}", rule)

    def _record_store(self, pairing: PairingRecord, plan: Plan, store: MixerStore) -> None:
        """Bring the records up to date with the store, which decides."""
        state = len(store.keys.opening), store.batches
        if self._recorded.get(pairing.number) == state:
            return
        known = self.records.rounds(pairing)
        for number in range(1, plan.survey.rounds + 1):
            mixed, reason = int(store.of_round(number) is not None), store.erased(number)
            if reason is not None and known.get(number) is not RoundState.CLOSED:
                erasure = Erasure(
                    plan=plan.hash,
                    round=number,
                    mixer=self._folder.identity.public,
                    reason=reason,
                    batches=mixed,
                )
                self.records.add_erasure(pairing, self._folder.identity.sign(erasure))
            elif mixed and known.get(number, RoundState.OPEN) is RoundState.OPEN:
                self.records.set_round(pairing, number, RoundState.MIXED)
        held = keys_hash(store.keys.described(store.name).keys)
        if held != pairing.held:
            self.records.change(pairing, held=held)
        if not store.keys.opening:
            self.signing.add_entry(pairing, plan, PlanState.ERASED, stage=Stage.ERASED)
        self._recorded[pairing.number] = state

    def _end_refused(self) -> bool:
        """Erase the keys of requests that the operator refused after they were made."""
        refused = [each for each in self.records.in_stage(Stage.REFUSED) if each.key]
        for pairing in refused:
            self.signing.erase_unused(pairing, pairing.why)
        return bool(refused)

    def _see_time(self) -> None:
        now = self._clock.now()
        if abs(now - self._seen) > SEEN_EVERY:
            self.records.set_fact(LAST_SEEN, repr(now))
            self._seen = now

    def _served(self, plan: str) -> PairingRecord:
        pairing = self.records.of_plan(plan)
        if pairing is None or pairing.stage not in SERVED:
            raise _unknown(plan)
        return pairing

    def _organised(self, identity: str, plan: str) -> PairingRecord:
        """The same, if this identity is its organiser."""
        pairing = self._served(plan)
        if identity != pairing.organiser:
            rule, hint = "must be the organiser of the plan", "only its first mixer asks for this"
            raise NotAdmitted("identity", rule, identity, hint)
        return pairing

    def _tell(self, asked: str, rule: str) -> None:
        self.records.tell(self._clock.today().isoformat(), asked, rule)


def _unknown(plan: str) -> NotFound:
    rule = "must be one that this mixer has signed"
    return NotFound("plan", rule, plan, "GET /v1/plans lists them; krand pair asks for a signature")


def accept(records: Records, pairing: PairingRecord) -> PairingRecord:
    """The operator accepts a request for keys, or a second plan of its survey."""
    if pairing.stage is Stage.SECOND:
        return records.change(pairing, Stage.SECOND, stage=Stage.CHECKING, may_be_second=True)
    return records.change(pairing, Stage.WAITING, stage=Stage.ACCEPTED)


def refuse(records: Records, pairing: PairingRecord, why: str) -> PairingRecord:
    """The operator refuses it, and says why."""
    values = {"stage": Stage.REFUSED, "why": why, "survey": ""}
    return records.change(pairing, Stage.WAITING, Stage.SECOND, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSurvey:
    """A survey whose plan this mixer signed."""

    survey: str
    plan: str
    organiser: str
    """What the organiser calls itself."""
    organiser_words: str
    """The fingerprint of the identity that asked."""
    epsilon: float
    delta: float
    hop: int
    mixers: int
    closes: date
    erased_by: date
    """The day on which keys that are left are erased."""
    state: str
    rounds: tuple[RoundState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows."""

    name: str
    identity: str
    words: str
    digits: str
    surveys: tuple[ShownSurvey, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def overview_of(folder: ServiceFolder, records: Records) -> Overview:
    """The page of this service, as it is now."""
    own = folder.identity.public
    return Overview(
        name=folder.name,
        identity=own,
        words=fingerprint(own).words,
        digits=fingerprint(own).digits,
        surveys=tuple(_shown(folder, records, each) for each in records.in_stage(*SERVED)),
        refusals=records.refusals,
    )


def _shown(folder: ServiceFolder, records: Records, pairing: PairingRecord) -> ShownSurvey:
    plan, states = folder.plan(pairing), records.rounds(pairing)
    about = plan.survey
    assert about.closes is not None
    assert about.keys_until is not None
    return ShownSurvey(
        survey=pairing.survey_id,
        plan=plan.hash,
        organiser=pairing.name,
        organiser_words=fingerprint(pairing.organiser).words,
        epsilon=plan.survey.policy.epsilon,
        delta=plan.survey.policy.asked,
        hop=pairing.hop,
        mixers=plan.survey.trust.mixers,
        closes=about.closes,
        erased_by=about.keys_until,
        state=pairing.stage.value,
        rounds=tuple(
            states.get(number, RoundState.OPEN)
            for number in range(plan.survey.first_round, plan.survey.rounds + 1)
        ),
    )
