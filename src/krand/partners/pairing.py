"""A mixer's side: requests for keys, which its operator accepts, and the plans that it signs.

    WAITING ──▶ READY ──▶ SIGNED ──▶ ENDED
       └──────────┴─────▶ REFUSED, or removed after some days

Each request has keys of its own, which serve one plan: they lie in a folder named after the request
until a plan is signed, and in one named after that plan from then on. So even an older copy of the
database signs no second plan with them. A state is recorded before anybody is told of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import OWNER_ONLY, json_object, sync_folder
from krand.partners.documents import Keys, KeysRequest
from krand.partners.fetching import partner_in
from krand.partners.identity import Identity, checked_url, is_name
from krand.sqlite_files import transaction
from krand.storage import destroy, key_folder, move, write
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import as_file, typed
from krand.survey.plan import Mixer, Plan
from krand.survey.plan_file import parse_plan
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import (
    PlanSignature,
    check_signatures,
    parse_signature,
    sign_plan,
    signature_bytes,
)
from krand.wire.signed import Signed, parse_signed

if TYPE_CHECKING:
    from krand.site.folder import Folder, Settings
    from krand.site.state import State
    from krand.site.worker import Worker

MOST_WAITING, MOST_OPEN, LONGEST_WAITING = 50, 4, 2**16
"""Requests that wait for the operator; open ones of one identity; bytes of one that waits."""
MOST_A_DAY = 200
"""Requests that a policy accepts by itself."""
KEPT_DAYS = 14
"""How long a request waits for the operator, and how long one that came to nothing is known."""
LOOK_SECONDS = 20.0
PENDING_DIGITS = 32
"""Of the name of a folder with keys of no plan; a plan's hash has twice as many."""
PAIR_AGAIN = "pair again: that takes new keys from all mixers"
REPLACED = "replaced by a later request for the same survey"
LAST_DAY_PASSED = "the last day of the survey passed before a plan was signed"
TABLES = """
CREATE TABLE pairings (
    number INTEGER PRIMARY KEY, organiser TEXT NOT NULL, id TEXT NOT NULL, survey TEXT NOT NULL,
    request TEXT NOT NULL, state TEXT NOT NULL, day TEXT NOT NULL, asked BLOB,
    chosen INTEGER NOT NULL DEFAULT 0, keys BLOB, plan TEXT, content BLOB, signature BLOB,
    reason TEXT NOT NULL DEFAULT '', UNIQUE (organiser, id)
);
"""


class Stage(StrEnum):
    """What has become of a request."""

    WAITING = "WAITING"
    """The operator has to accept it."""
    READY = "READY"
    """It has keys; if there is a plan, its promise is being computed."""
    SIGNED = "SIGNED"
    ENDED = "ENDED"
    REFUSED = "REFUSED"


OPEN = (Stage.WAITING, Stage.READY)


class Pairing(NamedTuple):
    """One request, as it is recorded."""

    number: int
    organiser: str
    id: str
    survey: str
    """The survey's id."""
    request: str
    """The SHA-256 of what was asked."""
    state: Stage
    day: str
    asked: bytes | None
    chosen: int
    """Whether the operator accepted it."""
    keys: bytes | None
    plan: str | None
    content: bytes | None
    """The plan, while its promise is being computed."""
    signature: bytes | None
    reason: str

    @property
    def wanted(self) -> KeysRequest:
        """What was asked."""
        return request_in(self.asked or b"")

    @property
    def mixer(self) -> Mixer:
        """How a plan has to describe this mixer."""
        return parse_signed(Keys, self.keys or b"", "keys").record.mixer


class Denied(InvalidInput):
    """A request that is not granted, with the status of HTTP that says so."""

    def __init__(self, status: int, field: str, rule: str, hint: str = "") -> None:
        super().__init__(field, rule, None, hint)
        self.status = status


class Pairings:
    """All requests of a mixer, in the thread of its database."""

    def __init__(
        self,
        state: State,
        folder: Folder,
        identity: Identity,
        settings: Settings,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._state, self._folder, self._identity = state, folder, identity
        self._settings, self._today, self._wake = settings, today, asyncio.Event()
        self._tidied: date | None = None
        self.say: Callable[[dict[str, Any]], None] = lambda event: None
        """Is told what the operator should know."""

    # --- what organisers ask --------------------------------------------------------------------

    def ask(self, organiser: str, content: bytes) -> Signed[Keys] | None:
        """The keys of a request; None as long as the operator has not accepted it."""
        asked, name = request_in(content), _sha256(content)
        for known in self._found("organiser = ? AND id = ?", organiser, asked.pairing):
            if known.request != name:
                raise Denied(409, "pairing", "must be asked for with what was sent before")
            if known.state in (Stage.REFUSED, Stage.ENDED):
                raise Denied(403, "keys", known.reason)
            return parse_signed(Keys, known.keys, "keys") if known.keys else None
        survey, accepted = self._admitted(organiser, asked)
        earlier = self._found("organiser = ? AND survey = ?", organiser, survey.id)
        if any(each.signature for each in earlier):
            accepted = False  # whether a survey has a second plan is for people to decide
        replaced = [each for each in earlier if each.state is Stage.READY]
        self._check_room(organiser, accepted, len(content), len(replaced))
        for each in replaced:
            self._end(each, Stage.ENDED, REPLACED)
        add = "INSERT INTO pairings (organiser, id, survey, request, state, day, asked)"
        values = (organiser, asked.pairing, survey.id, name, Stage.WAITING, self._day, content)
        with transaction(self._state.database):
            self._state.database.execute(f"{add} VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        (row,) = self._found("organiser = ? AND id = ?", organiser, asked.pairing)
        if accepted:
            return self._give_keys(row)
        self.say({"event": "waiting", **self._shown(row)})
        return None

    def submit(self, organiser: str, content: bytes) -> PlanSignature | None:
        """The signature of a plan; None as long as its promise is being computed.

        From the first plan on, the keys of a request are for this one alone.
        """
        own = self._found("organiser = ? AND keys IS NOT NULL", organiser)
        for known in own:
            if known.plan == _sha256(content):
                if known.reason and not known.signature:
                    raise Denied(422, "plan", known.reason)
                return parse_signature(known.signature) if known.signature else None
        if not own:
            raise Denied(403, "plan", "must be sent by an organiser who got keys here")
        plan = parse_plan(content)
        self._change(self._acceptable(own, plan), plan=plan.hash, content=content)
        self._wake.set()
        return None

    # --- what the operator decides --------------------------------------------------------------

    def decide(self, what: str, number: int = 0, reason: str = "") -> dict[str, Any]:
        """What the operator asks for: `waiting`, `requests`, or to `accept` or `refuse` one."""
        if what == "waiting":
            return {what: [self._shown(each) for each in self._found("state = ?", Stage.WAITING)]}
        if what == "requests":
            return {what: [self._shown(each) for each in self._found("number > 0")]}
        waiting = self._found("number = ? AND state = ?", number, Stage.WAITING)
        if not waiting:
            hint = "krand mix accept lists them"
            raise InvalidInput("number", "must be that of a request that waits", number, hint)
        if what == "accept":
            self._give_keys(waiting[0], chosen=1)
        else:
            said = reason or "the operator refused it"
            self._change(waiting[0], state=Stage.REFUSED, reason=said)
        return self._shown(self._again(waiting[0]))

    # --- what the worker does -------------------------------------------------------------------

    def settle(self) -> None:
        """What follows from what is recorded; at every start, before anything else."""
        ready = self._found("state = ?", Stage.READY)
        kept = {self._key_folder(row).name for row in ready}
        for folder in self._folder.keys.iterdir():
            if len(folder.name) == PENDING_DIGITS and folder.name not in kept:
                _destroy_folder(folder)

    async def run(self, worker: Worker) -> None:
        """Check plans, one at a time, and end what is over, for as long as the worker lives."""
        self.say = worker.say
        for each in self.decide("waiting")["waiting"]:
            self.say({"event": "waiting", **each})
        gathering = asyncio.create_task(self._gather(worker))
        try:
            while True:
                self._wake.clear()
                self._end_old(worker.clock.has_passed)
                for row in self._found("state = ? AND content IS NOT NULL", Stage.READY):
                    await self._compute(worker, row)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), LOOK_SECONDS)
        finally:
            gathering.cancel()

    # --- keys -----------------------------------------------------------------------------------

    def _give_keys(self, row: Pairing, chosen: int = 0) -> Signed[Keys]:
        """Nobody is told of keys before all of them are on the disk."""
        survey, folder = survey_in(row.wanted), self._key_folder(row)
        _destroy_folder(folder)  # of a run that was killed
        key_folder(self._folder.path, folder.name)
        keys = [generate_private_key() for _ in range(survey.rounds)]
        for number in range(survey.first_round, survey.rounds + 1):
            path, flags = folder / f"{number}.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(path, flags, OWNER_ONLY), "wb") as stream:
                stream.write(keys[number - 1].private_bytes_raw())
                stream.flush()
                os.fsync(stream.fileno())
        sync_folder(folder)
        mixer = Mixer(
            name=self._settings.name,
            identity=self._identity.public,
            url=self._settings.url,
            keys=tuple(key.public_key().public_bytes_raw().hex() for key in keys),
        )
        signed = self._identity.sign(Keys(pairing=row.id, mixer=mixer))
        self._change(row, state=Stage.READY, keys=signed.content, chosen=chosen)
        return signed

    def _key_folder(self, row: Pairing) -> Path:
        """Where keys lie until a plan is signed; nobody else chooses the name."""
        name = _sha256(f"{row.organiser} {row.id}".encode())[:PENDING_DIGITS]
        return self._folder.keys / name

    # --- what is refused ------------------------------------------------------------------------

    def _admitted(self, organiser: str, asked: KeysRequest) -> tuple[Survey, bool]:
        """The survey of a request, if a plan of it could be signed here; and whether its operator
        need not be asked."""
        policy, survey = self._settings.policy, survey_in(asked)
        if policy is None:
            raise Denied(403, "keys", "must be asked of a mixer; this party mixes for nobody else")
        if (accepted := policy.accepts(organiser)) is False:
            rule = "must be asked for by an organisation that this mixer's operator lists"
            raise Denied(403, "keys", rule)
        if canonical_json(survey.values()) != canonical_json(asked.survey):
            raise Denied(422, "survey", "must be written as it will stand in the plan")
        if not 2 <= asked.place <= survey.trust.mixers:
            rule = f"must be from 2 to {survey.trust.mixers}: the first mixer is the collector"
            raise Denied(422, "place", rule)
        if organiser not in self._settings.addresses:
            checked_url("url", asked.url, local=self._settings.local)
        policy.limits.check_survey(survey, self._today())
        return survey, bool(accepted)

    def _check_room(self, organiser: str, accepted: bool, size: int, replaced: int) -> None:
        """Strangers can fill neither the disk nor the operator's list."""
        opened = self._found("organiser = ? AND state IN (?, ?)", organiser, *OPEN)
        if len(opened) - replaced >= MOST_OPEN:
            rule = f"must be at most {MOST_OPEN} open requests of one organisation"
            raise Denied(503, "pairing", rule)
        if accepted:
            given = "day = ? AND chosen = 0 AND keys IS NOT NULL"
            if len(self._found(given, self._day)) >= MOST_A_DAY:
                raise Denied(503, "pairing", "must be asked for tomorrow: too many came today")
        elif size > LONGEST_WAITING:
            rule = f"must have at most {LONGEST_WAITING:,} bytes, to wait for the operator"
            raise Denied(422, "survey", rule)
        elif len(self._found("state = ?", Stage.WAITING)) >= MOST_WAITING:
            raise Denied(503, "pairing", "must be asked for later: too many wait for the operator")

    def _acceptable(self, own: Sequence[Pairing], plan: Plan) -> Pairing:
        """The request whose keys are in a plan, if the plan may be signed, as far as can be known
        without computing; the cheap things first."""
        named = [mixer for mixer in plan.mixers if mixer.identity == self._identity.public]
        row = next((each for each in own if [each.mixer] == named), None)
        if row is None:
            rule = "must name this mixer once, exactly as it described itself to you"
            raise Denied(403, "plan", rule, PAIR_AGAIN)
        if row.plan:
            raise Denied(409, "plan", "must be the only one with these keys", PAIR_AGAIN)
        if row.state is not Stage.READY:
            raise Denied(422, "plan", row.reason, PAIR_AGAIN)
        wanted, collector, policy = row.wanted, plan.mixers[0], self._settings.policy
        survey, asked_for = (canonical_json(x) for x in (plan.survey.values(), wanted.survey))
        for field, found, agreed in (
            ("organiser", (collector.identity, collector.url), (row.organiser, wanted.url)),
            ("survey", survey, asked_for),
            ("place", plan.mixers.index(named[0]) + 1, wanted.place),
            ("names", all(is_name(mixer.name) for mixer in plan.mixers), True),
        ):
            if found != agreed:
                raise Denied(422, field, "must be as it was agreed", PAIR_AGAIN)
        check_mixers(plan)
        if policy is not None:
            policy.limits.check_plan(plan, self._today())
        if rule := self._second(row):
            raise Denied(422, "plan", rule)
        if self._found("organiser = ? AND content IS NOT NULL", row.organiser):
            raise Denied(503, "plan", "must be sent later: another one of yours is being checked")
        return row

    def _second(self, row: Pairing) -> str:
        """The rule that is broken if another plan of this survey was signed, or may be, unless the
        operator accepted this one."""
        same = self._found("organiser = ? AND survey = ?", row.organiser, row.survey)
        others = [each for each in same if each.number != row.number]
        if row.chosen or not any(each.signature or each.state is Stage.READY for each in others):
            return ""
        return "must be the only plan of its survey, unless the operator accepts another"

    # --- plans ----------------------------------------------------------------------------------

    async def _compute(self, worker: Worker, row: Pairing) -> None:
        """Have the promise of a plan computed, by a process without keys; then sign it, or not."""
        content, path = row.content or b"", self._folder.path / "plan-to-check.json"
        write(path, content)
        try:
            found = await worker.job("check", plan=path)
            rule = None if found is None else str(found["rule"])
        except Unavailable:
            rule = None
        except KrandError as error:  # what ended with an error is not tried again
            rule = f"the promise could not be computed ({type(error).__name__})"
        finally:
            path.unlink(missing_ok=True)
        row = self._again(row)
        if rule is None or row.state is not Stage.READY:  # it was killed: once more, later
            return
        plan, pending = parse_plan(content), self._key_folder(row)
        own = self._folder.keys / plan.hash
        if not (rule := rule or self._second(row)) and pending.exists():
            move(pending, own)  # from now on they are this plan's, whatever the database says
        if not rule and not own.exists():
            rule = "its keys are gone: the database is older than they are"
        if rule:
            self._end(row, Stage.REFUSED, rule)
            self.say({"event": "refused", **self._shown(self._again(row)), "reason": rule})
            return
        signature = sign_plan(plan, self._identity.key)
        self._state.add_plan(plan, (signature,))  # killed after this, it is checked once more
        signed = {"state": Stage.SIGNED, "signature": signature_bytes(signature)}
        self._change(row, content=None, **signed)
        self.say({"event": "signed", **self._shown(self._again(row))})
        worker.add(plan)

    async def _gather(self, worker: Worker) -> None:
        """Ask each plan's collector for all signatures: with them this party publishes its page."""
        while True:
            for plan in tuple(worker.plans.values()):
                if len(self._state.signatures(plan.hash)) < len(plan.mixers):
                    collector = partner_in(self._identity, plan, 1, worker.rules)
                    with suppress(KrandError):
                        found = await asyncio.to_thread(collector.signatures, plan.hash)
                        check_signatures(plan, found)
                        self._state.add_plan(plan, found)
                        worker.add(plan)
            await asyncio.sleep(worker.poll)

    def _end_old(self, has_passed: Callable[[float], bool]) -> None:
        """Once a day, if the clock is believed: what waited too long, was not signed, or ended."""
        today = self._today()
        began = datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp()
        if today == self._tidied or not has_passed(began):
            return
        old = (today - timedelta(days=KEPT_DAYS)).isoformat()
        for row in self._found("state = ?", Stage.READY):
            if (closes := survey_in(row.wanted).closes) and closes < today:
                self._end(row, Stage.ENDED, LAST_DAY_PASSED)
        for row in self._found("state = ?", Stage.SIGNED):
            survey = survey_in(row.wanted)
            if survey.until(survey.rounds) < today:
                self._change(row, state=Stage.ENDED, asked=None, reason="the survey has ended")
        over = "signature IS NULL AND state IN (?, ?, ?) AND day < ?"
        with transaction(self._state.database):
            stages = (Stage.WAITING, Stage.ENDED, Stage.REFUSED)
            self._state.database.execute(f"DELETE FROM pairings WHERE {over}", (*stages, old))
        self._tidied = today

    # --- records --------------------------------------------------------------------------------

    @property
    def _day(self) -> str:
        return self._today().isoformat()

    def _found(self, where: str, *values: object) -> list[Pairing]:
        query = f"SELECT {', '.join(Pairing._fields)} FROM pairings WHERE {where} ORDER BY number"
        rows = map(Pairing._make, self._state.database.execute(query, values))
        return [row._replace(state=Stage(row.state)) for row in rows]

    def _again(self, row: Pairing) -> Pairing:
        return self._found("number = ?", row.number)[0]

    def _change(self, row: Pairing, **values: object) -> None:
        named = ", ".join(f"{name} = ?" for name in values)
        with transaction(self._state.database):
            change = f"UPDATE pairings SET {named} WHERE number = ?"
            self._state.database.execute(change, (*values.values(), row.number))

    def _end(self, row: Pairing, stage: Stage, reason: str) -> None:
        """Erase keys with which no plan was signed."""
        self._change(row, state=stage, reason=reason, content=None, asked=None)
        _destroy_folder(self._key_folder(row))

    def _shown(self, row: Pairing) -> dict[str, Any]:
        """What an operator is shown of a request."""
        values = {"number": row.number, "state": row.state, "day": row.day, "survey": row.survey}
        values |= {"reason": row.reason, "second": bool(self._second(row))}
        if row.asked is None:
            return values
        wanted, survey = row.wanted, survey_in(row.wanted)
        return values | {
            "link": f"{wanted.url}#{row.organiser}",
            "organiser": wanted.organiser,
            "title": survey.shown_title,
            "place": wanted.place,
            "mixers": survey.trust.mixers,
            "closes": str(survey.closes),
            "rounds": survey.rounds,
            "policy": survey.policy.values(),
        }


def request_in(content: bytes) -> KeysRequest:
    """The request for keys in these bytes."""
    values = json_object("request", content, "the request", "must ask for keys")
    with as_file("request", "a request for keys", "the request", "krand pair sends it"):
        found: KeysRequest = typed(KeysRequest, values)
        return found


def survey_in(asked: KeysRequest) -> Survey:
    """The survey of a request; it names no files of this machine."""
    return Survey.read(asked.survey, "survey")


def _destroy_folder(folder: Path) -> None:
    """Overwrite the keys in a folder, then forget it."""
    if folder.exists():
        for path in folder.iterdir():
            destroy(path)
        folder.rmdir()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
