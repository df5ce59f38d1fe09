"""From a request for keys to a signed plan: what the service does, and what its operator decides.

Requests are recorded, and `work` does the rest, one step at a time, so that it can be interrupted
anywhere. Keys are made for one request and serve one plan. A plan's promise is always computed
anew, one plan at a time, however many are sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import write_atomically
from krand.mixing.keys import EraseReason, descriptor_bytes, generate_mixer_keys, parse_descriptor
from krand.mixing.mixer import sign_checked_plan
from krand.partners.clock import CheckedClock
from krand.partners.documents import (
    Erasure,
    Line,
    Nonce,
    PlanEntry,
    PlanState,
    Route,
    check_route,
    keys_hash,
)
from krand.partners.policy import Decision
from krand.partners.records import OPEN, SERVED, PairingRecord, Records, Stage
from krand.partners.requests import NotAdmitted
from krand.partners.service_folder import ServiceFolder, key_name
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Positive, plain
from krand.survey.plan import Mixer, Plan
from krand.survey.plan_file import parse_plan
from krand.survey.reading import TomlFile
from krand.survey.survey import Survey
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import PlanSignature, parse_signature, signature_bytes
from krand.wire.signed import Signed, parse_signed

LISTED = "ask the operator to list your identity in the policy"
PAIR_AGAIN = "pair again: that takes new keys from all mixers"
REPLACED = "replaced by a later request for the same survey: use the keys of that one"
MOST_OPEN = 4
"""Requests of one identity from which no signed plan has come yet."""
MOST_CHECKING = 1
"""Plans of one identity that wait for their promise to be computed."""
MOST_A_DAY, MOST_OF_ONE_A_DAY = 200, 20
"""New requests that are recorded: a stranger must not fill the disk."""
MOST_WAITING = 200
"""Requests that wait for the operator; like MOST_A_DAY it is for strangers together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysRequest:
    """What an organiser asks for; the same again gets the same keys."""

    survey: str
    """The survey file, in which lists of choices stand inside."""
    organiser: Line
    """What the organiser calls itself."""
    hop: Positive
    """The place in the chain that this mixer is asked to take."""
    pairing: Nonce
    """Drawn for each pairing: to pair again takes new keys."""


class Signing:
    """Requests for keys, and plans."""

    def __init__(self, folder: ServiceFolder, records: Records, clock: CheckedClock) -> None:
        self._folder, self._records, self._clock = folder, records, clock

    def ask_keys(self, identity: str, request: KeysRequest) -> Mixer | None:
        """The description of new keys; None as long as they are not there."""
        asked = canonical_json({**plain(request), "identity": identity})
        name = hashlib.sha256(asked).hexdigest()
        known = self._records.of_request(name)
        if known is None:
            known = self._records.add(self._accepted(identity, request, name))
            for earlier in self._earlier(known, Stage.WAITING):
                self._records.change(earlier, stage=Stage.REFUSED, why=REPLACED, survey="")
        if known.stage in (Stage.REFUSED, Stage.UNUSED):
            raise NotAdmitted("keys", "must be asked for again", known.survey_id, known.why)
        if known.stage in (Stage.WAITING, Stage.ACCEPTED):
            return None
        return parse_descriptor(known.descriptor)

    def ask_signature(
        self, identity: str, content: str, route: Signed[Route]
    ) -> PlanSignature | None:
        """The signature of a plan; None as long as its promise is being checked.

        The plan must be made with keys that this identity got, and is from then on the only one for
        which they may be used.
        """
        plan = parse_plan(content.encode(), "plan")
        pairing = self._pairing_of(identity, plan)
        if pairing.plan not in ("", plan.hash):
            rule = f"must be the only one with these keys: that is {pairing.plan}"
            raise InvalidInput("plan", rule, plan.hash, PAIR_AGAIN)
        if not pairing.plan:
            self._check_new(pairing, plan)
            check_route(plan, route)
            pairing = self._submitted(pairing, plan, route)
        if pairing.stage in (Stage.REFUSED, Stage.UNUSED):
            raise InvalidInput("plan", "must not have been refused", pairing.plan, pairing.why)
        return parse_signature(pairing.signature) if pairing.signature else None

    def work(self) -> bool:
        """Make the keys of a request, or check a plan; whether there was anything to do."""
        for pairing in self._records.in_stage(Stage.ACCEPTED):
            self._make_keys(pairing)
            return True
        for pairing in self._records.in_stage(Stage.CHECKING):
            self._check(pairing)
            return True
        return False

    def erase_unused(self, pairing: PairingRecord, why: str) -> None:
        """Erase keys with which no plan was signed; each is listed."""
        for number in self._erased_keys(pairing):
            erasure = Erasure(
                plan=pairing.plan,
                round=number,
                mixer=self._folder.identity.public,
                reason=EraseReason.UNUSED,
                batches=0,
            )
            self._records.add_erasure(pairing, self._folder.identity.sign(erasure))
        self._records.change(pairing, stage=Stage.UNUSED, why=why, held=keys_hash(()), survey="")
        self._folder.remove(pairing.key)

    def _erased_keys(self, pairing: PairingRecord) -> Iterable[int]:
        """The rounds whose keys are erased now; none if nobody can open the store any more."""
        try:
            store = self._folder.open_store(pairing)
        except InvalidInput:
            return ()
        with store:
            if store.plan:
                hint = "service.sqlite is older than the store: bring back the newest one"
                raise InvalidInput("keys", "must not be in a signed plan", store.plan, hint)
            rounds = range(1, len(parse_descriptor(pairing.descriptor).keys) + 1)
            store.erase(EraseReason.UNUSED, *rounds)
            return rounds

    def add_entry(
        self, pairing: PairingRecord, plan: Plan, state: PlanState, **values: object
    ) -> None:
        """Add an entry to the list of plans, and change the pairing with it."""
        before = self._records.entries
        closes = plan.survey.closes
        assert closes is not None
        entry = PlanEntry(
            number=len(before) + 1,
            plan=plan.hash,
            survey=plan.survey.id,
            organiser=pairing.organiser,
            epsilon=plan.survey.policy.epsilon,
            delta=plan.survey.policy.asked,
            closes=closes.isoformat(),
            state=state,
            previous=before[-1].sha256 if before else "",
        )
        self._records.append(self._folder.identity.sign(entry), pairing, **values)

    def _accepted(self, identity: str, request: KeysRequest, name: str) -> PairingRecord:
        """A new request as it is recorded, if it may be."""
        decision = self._folder.policy.decision(identity)
        if decision is Decision.REFUSED:
            rule = "must be asked for by an organisation that this mixer's policy lists"
            self._tell("keys", rule)
            raise NotAdmitted("keys", rule, identity, "ask the mixer's operator to list it")
        own, today = self._records.of_organiser(identity), self._clock.today()
        if sum(each.stage in OPEN for each in own) >= MOST_OPEN:
            hint = "finish or end one of them first, or ask the mixer's operator to refuse one"
            rule = f"must be at most {MOST_OPEN} open requests of one organisation"
            raise NotAdmitted("keys", rule, MOST_OPEN + 1, hint)
        day = today.isoformat()
        if not (self._folder.policy.lists(identity) or any(each.stage in SERVED for each in own)):
            self._check_strangers(decision, day)
        if self._records.asked_on(day, identity) >= MOST_OF_ONE_A_DAY:
            raise Unavailable("too many requests of yours came today; ask tomorrow")
        survey = survey_in(request.survey)
        try:
            self._check_survey(survey, request.hop)
        except InvalidInput as error:
            # Nobody but a partner chooses words for the page.
            self._tell(f"keys for the survey {survey.id}" if own else "keys", _said(error))
            raise
        return PairingRecord(
            request=name,
            day=day,
            organiser=identity,
            name=request.organiser,
            survey_id=survey.id,
            survey=request.survey,
            hop=request.hop,
            stage=Stage.ACCEPTED if decision is Decision.ACCEPTED else Stage.WAITING,
        )

    def _check_strangers(self, decision: Decision, day: str) -> None:
        """Refuse one more of those who are not listed and never had a plan signed here."""
        if (
            decision is Decision.WAITING
            and len(self._records.in_stage(Stage.WAITING)) >= MOST_WAITING
        ):
            raise Unavailable(f"too many requests wait for the operator of this mixer; {LISTED}")
        if self._records.asked_on(day) >= MOST_A_DAY:
            raise Unavailable(f"too many requests came today; ask tomorrow, or {LISTED}")

    def _check_survey(self, survey: Survey, hop: int) -> None:
        if not survey.trust.chain:
            rule = 'must have noise = "mixers" in [trust]'
            hint = "a survey without mixers needs no partner"
            raise InvalidInput("trust.noise", rule, survey.trust.noise, hint)
        if not 2 <= hop <= survey.trust.mixers:
            rule = f"must be from 2 to {survey.trust.mixers}: the first mixer is the collector"
            raise InvalidInput("hop", rule, hop, "name as many mixers as the survey has")
        self._folder.policy.limits.check_survey(survey, self._clock.today())

    def _pairing_of(self, identity: str, plan: Plan) -> PairingRecord:
        """The request whose keys are in the plan, if the plan is its organiser's."""
        mixers = check_mixers(plan)
        own = next((m for m in mixers if m.identity == self._folder.identity.public), None)
        found = None if own is None else self._records.of_key(key_name(descriptor_bytes(own)))
        if own is None or found is None or found.descriptor != descriptor_bytes(own):
            rule = "must name this mixer with keys that it gave for this survey"
            raise NotAdmitted("plan", rule, plan.hash, "ask for keys first, and change nothing")
        if not identity == found.organiser == mixers[0].identity:
            rule = "must be sent by the organiser, who asked for its keys and is its first mixer"
            raise NotAdmitted("plan", rule, identity, PAIR_AGAIN)
        return found

    def _check_new(self, pairing: PairingRecord, plan: Plan) -> None:
        """Whatever can be known without computing."""
        if pairing.stage is not Stage.READY:
            raise NotAdmitted("keys", "must not be erased", pairing.key, pairing.why)
        hops = [mixer.identity for mixer in plan.mixers]
        if hops.index(self._folder.identity.public) != pairing.hop - 1:
            rule = f"must have this mixer at the place that was agreed, {pairing.hop}"
            raise InvalidInput("plan", rule, plan.hash, PAIR_AGAIN)
        if plan.survey != survey_in(pairing.survey):
            rule = "must be made from the survey for which the keys were asked"
            raise InvalidInput("plan", rule, plan.hash, "pair again with the changed survey")
        checking = self._records.in_stage(Stage.CHECKING)
        if sum(each.organiser == pairing.organiser for each in checking) >= MOST_CHECKING:
            raise Unavailable("another plan of yours is being checked; ask again later")
        try:
            self._folder.policy.limits.check_plan(plan, self._clock.today())
        except InvalidInput as error:
            self._tell(f"a signature for the survey {plan.survey.id}", _said(error))
            raise

    def _submitted(self, pairing: PairingRecord, plan: Plan, route: Signed[Route]) -> PairingRecord:
        write_atomically("plan", self._folder.plan_file(pairing.key), plan.bytes)
        stage = Stage.CHECKING if self._is_first(pairing) else Stage.SECOND
        values = {"stage": stage, "plan": plan.hash, "route": route.content}
        return self._records.change(pairing, Stage.READY, **values)

    def _is_first(self, pairing: PairingRecord) -> bool:
        """Whether no other plan of this survey was signed or may be about to be."""
        others = (*SERVED, Stage.CHECKING)
        same = self._records.of_survey(pairing.survey_id)
        return pairing.may_be_second or not any(
            each.stage in others and each.number != pairing.number for each in same
        )

    def _make_keys(self, pairing: PairingRecord) -> None:
        """The descriptor is shown only when its store is complete."""
        if pairing.key:  # of a run that was interrupted: nobody has seen these keys
            self._folder.remove(pairing.key)
        survey = survey_in(pairing.survey)
        keys = generate_mixer_keys(survey.rounds, self._folder.identity.key)
        descriptor = self._folder.descriptor(keys)
        pairing = self._records.change(pairing, key=key_name(descriptor), descriptor=descriptor)
        self._folder.make_store(keys)
        if survey.first_round > 1:  # nobody seals for rounds before it
            with self._folder.open_store(pairing) as store:
                store.erase(EraseReason.UNUSED, *range(1, survey.first_round))
                keys = store.keys
        self._replace_earlier(pairing)
        held = keys_hash(keys.described(self._folder.name).keys)
        self._records.change(pairing, stage=Stage.READY, held=held)

    def _replace_earlier(self, pairing: PairingRecord) -> None:
        """Whoever pairs again gives up what was not signed."""
        for earlier in self._earlier(pairing, Stage.READY, Stage.SECOND):
            self.erase_unused(earlier, REPLACED)

    def _earlier(self, pairing: PairingRecord, *stages: Stage) -> list[PairingRecord]:
        """Requests of the same organiser for the same survey that came before."""
        return [
            each
            for each in self._records.of_organiser(pairing.organiser)
            if each.survey_id == pairing.survey_id
            and each.number < pairing.number
            and each.stage in stages
        ]

    def _check(self, pairing: PairingRecord) -> None:
        """Compute the promise and sign; the signature is shown once it is in the list."""
        plan = self._folder.plan(pairing)
        try:
            with self._folder.open_store(pairing) as store:
                signature = sign_checked_plan(store, plan)
        except Unavailable:
            raise
        except KrandError as error:
            self._tell(f"a signature for the survey {pairing.survey_id}", _said(error))
            self.erase_unused(pairing, str(error))
            return
        values = {"stage": Stage.SIGNED, "signature": signature_bytes(signature)}
        self.add_entry(pairing, plan, PlanState.SIGNED, **values)

    def _tell(self, asked: str, rule: str) -> None:
        self._records.tell(self._clock.today().isoformat(), asked, rule)


def survey_in(text: str) -> Survey:
    """The survey of a TOML text of somebody else: it names no files of this machine."""
    return TomlFile("survey", text).read(Survey)


def route_in(pairing: PairingRecord) -> Signed[Route]:
    """The route that was accepted last."""
    return parse_signed(Route, pairing.route, "route")


def _said(error: KrandError) -> str:
    """The rule for the page, without the value that somebody sent."""
    return f"{error.field}: {error.rule}" if isinstance(error, InvalidInput) else str(error)
