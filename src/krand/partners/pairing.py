"""The organiser's side of pairing: keys from every mixer, one plan, signatures of all.

Everything is done in steps, and each step leaves a file in the survey's folder. So pairing can be
interrupted at any time: whoever starts it again with the same request goes on where it was. A
partner that does not answer, or whose operator has to accept first, is asked again and again. A
partner that answers something wrong ends it, and the error names that partner.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from krand.errors import InvalidInput, Unavailable
from krand.files import read_whole, write_atomically
from krand.mixing.keys import descriptor_bytes, generate_mixer_keys, parse_descriptor
from krand.mixing.mixer import sign_checked_plan
from krand.mixing.store import MixerStore, create_store
from krand.partners.documents import (
    Line,
    Nonce,
    Public,
    Route,
    Station,
)
from krand.partners.identity import Identity, fingerprint
from krand.partners.signing import KeysRequest
from krand.partners.talking import OPERATOR, WAITS, Conversation, held_keys
from krand.planning.making import make_plan
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Positive, Sha256, as_file, plain, typed, values_in
from krand.survey.plan_file import read_plan
from krand.wire.keys import generate_signing_key
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import (
    PlanSignature,
    check_signatures,
    is_valid,
    parse_signature,
    read_signature,
    signature_bytes,
)
from krand.wire.signed import Signed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from krand.partners.identity import Address
    from krand.partners.talking import About, Answer, Talks
    from krand.survey.plan import Mixer, Plan
    from krand.survey.survey import Survey
    from krand.survey.survey_folder import SurveyFolder

T = TypeVar("T")

FORMAT = "krand-pairing-1"
LOOK_SECONDS, SOON_SECONDS = 5.0, 0.5
"""Until a partner is asked again: where people have to do something, and where it is at it."""
HINT = "name another folder with -o to pair again: that takes new keys from all mixers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A mixer that takes part."""

    hop: Positive
    identity: Public
    url: str
    """Empty for one that works with files by hand."""

    def __str__(self) -> str:
        return f"mixer {self.hop} ({self.url or 'by hand'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingRequest:
    """What is to be paired; the same in every run of it."""

    pairing: Nonce
    """Drawn once: to pair again takes new keys."""
    survey: Sha256
    """Of the survey's text."""
    organiser: Line
    identity: Public
    analyst_key: str
    partners: tuple[Partner, ...]
    receiver: Station


class Waiting(Unavailable):
    """Something that others have to do first; the same command goes on afterwards."""


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that is not there yet, and why."""

    why: str
    soon: bool = False
    """Whether the partner is at it, so that nobody has to do anything."""


def survey_hash(text: str) -> str:
    """Of a survey's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_survey(survey: Survey, mixers: int) -> None:
    """Refuse what no service would take part in, before anybody is asked."""
    if not survey.trust.chain:
        rule = 'must say noise = "mixers" in [trust]'
        hint = "only mixers need partners: krand plan and krand serve do without"
        raise InvalidInput("survey", rule, survey.trust.noise, hint)
    if survey.trust.mixers != mixers + 1:
        rule = f"must be {survey.trust.mixers - 1}, as the survey has {survey.trust.mixers} mixers"
        hint = "the collector is the first of them; name each other one once"
        raise InvalidInput("mixer", rule, mixers, hint)
    if survey.closes is None:
        rule = "must say the last day on which answers are taken"
        hint = "mixers erase their keys some weeks after it: closes = 2027-01-31"
        raise InvalidInput("closes", rule, None, hint)


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """One survey on its way from a file to a plan that all mixers have signed."""

    folder: SurveyFolder
    survey: Survey
    text: str
    """The survey as partners get it."""
    request: PairingRequest
    identity: Identity
    converse: Callable[[Partner], Talks]
    tell: Callable[[str], None]
    wait: Callable[[float], None]
    patient: bool = True
    """Whether to wait where people have to do something first, or end with `Waiting`."""
    anchor: Path | None = None
    names: dict[int, str] = field(default_factory=dict)
    """What partners call themselves, once it is known."""
    told: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Record the request; another one than before is refused."""
        before = earlier_request(self.folder)
        if before is None:
            content = canonical_json({"format": FORMAT, **plain(self.request)})
            write_atomically("output", self.folder.pairing, content)
            return
        for what in _differences(before, self.request):
            rule = f"must be paired with the same {what} as before"
            raise InvalidInput("output", rule, str(self.folder.path), HINT)

    def gather_keys(self) -> tuple[Mixer, ...]:
        """The description of every mixer, the collector first."""
        own = self._collector()
        found = self._from_all(self._asked_for_keys, "keys")
        return (own, *(found[partner.hop] for partner in self.request.partners))

    def make_plan(self, mixers: tuple[Mixer, ...], key: X25519PublicKey) -> Plan:
        """The plan of these mixers, made once."""
        path = self.folder.plan
        if path.exists():
            plan = read_plan(path)
            if plan.mixers != mixers:
                rule = "must name the mixers' keys as they gave them"
                raise InvalidInput("plan", rule, str(path), HINT)
            return plan
        made = make_plan(self.survey).with_parties(mixers, key)
        check_mixers(made)
        made.save(path)
        return made

    def route(self, plan: Plan) -> Signed[Route]:
        """Where each party is reached, signed by the organiser."""
        own = Station(hop=1, name=self.request.organiser, identity=self.identity.public, url="")
        others = tuple(self._station(partner, plan) for partner in self.request.partners)
        stations = (self.request.receiver, own, *others)
        signed = self.identity.sign(Route(plan=plan.hash, number=1, stations=stations))
        if not self.folder.route.exists():
            write_atomically("output", self.folder.route, signed.content)
        return signed

    def gather_signatures(self, plan: Plan) -> tuple[PlanSignature, ...]:
        """The plan's signatures by all mixers, each of which has recomputed its promise."""
        with MixerStore(self.folder.mixer_store, self.anchor) as store:
            own = sign_checked_plan(store, plan)
        write_atomically("output", self.folder.signature(1), signature_bytes(own))
        route = self.route(plan)
        found = self._from_all(
            lambda partner: self._asked_to_sign(partner, plan, route), "signature"
        )
        signatures = (own, *(found[partner.hop] for partner in self.request.partners))
        check_signatures(plan, signatures)
        return signatures

    def check_heartbeats(self, plan: Plan) -> None:
        """Every mixer with a service must answer, with its keys, before the survey opens."""
        self._from_all(lambda partner: self._heartbeat(partner, plan), "heartbeat")

    def _collector(self) -> Mixer:
        """The collector's store, made once, and its description."""
        path = descriptor_path(self.folder, 1)
        if not path.exists():
            if not self.folder.mixer_store.exists():
                keys = generate_mixer_keys(0, identity=self.identity.key)
                create_store(
                    self.folder.mixer_store, self.request.organiser, keys, anchor=self.anchor
                )
            with MixerStore(self.folder.mixer_store, self.anchor) as store:
                keep_descriptor(self.folder, 1, store.keys.described(store.name))
        return parse_descriptor(read_whole("mixer", path), str(path))

    def _asked_for_keys(self, partner: Partner) -> Mixer | Later:
        path = descriptor_path(self.folder, partner.hop)
        if path.exists():
            mixer = parse_descriptor(read_whole("mixer", path), str(path))
        else:
            asked = KeysRequest(
                survey=self.text,
                organiser=self.request.organiser,
                hop=partner.hop,
                pairing=self.request.pairing,
            )
            answer = self.converse(partner).post("/v1/keys", plain(asked))
            if answer.status == WAITS:
                return self._later(answer, "it is making them")
            mixer = parse_descriptor(canonical_json(answer.values), partner.url)
        if mixer.identity != partner.identity:
            rule = f"must describe the identity that was asked, {partner.identity}"
            raise InvalidInput("keys", rule, mixer.identity, "nothing was paired with it")
        if len(mixer.keys) != self.survey.rounds:
            rule = f"must be one for each round of the plan, {self.survey.rounds}"
            raise InvalidInput("keys", rule, len(mixer.keys), "nothing was paired with it")
        self.names[partner.hop] = mixer.name
        keep_descriptor(self.folder, partner.hop, mixer)
        return mixer

    def _asked_to_sign(
        self, partner: Partner, plan: Plan, route: Signed[Route]
    ) -> PlanSignature | Later:
        path = self.folder.signature(partner.hop)
        if path.exists():
            return self._checked(partner, plan, read_signature(path))
        if not partner.url:
            return Later(
                f"send it {self.folder.plan}; it runs krand mix sign plan.json --store … and sends"
                f" back its signature, which belongs at {path}"
            )
        sent = {"plan": plan.bytes.decode(), "route": route.values}
        answer = self.converse(partner).post("/v1/plans", sent)
        if answer.status == WAITS:
            return self._later(answer, "it is checking the plan's promise")
        content = canonical_json(answer.values.get("signature"))
        signature = self._checked(partner, plan, parse_signature(content, partner.url))
        write_atomically("output", path, signature_bytes(signature))
        return signature

    def _checked(self, partner: Partner, plan: Plan, signature: PlanSignature) -> PlanSignature:
        if signature.plan != plan.hash:
            rule = f"must be of the plan that was sent, {plan.hash}"
            hint = "it signed another plan: do not open the survey with this partner"
            raise InvalidInput("signature", rule, signature.plan, hint)
        if signature.mixer != partner.identity:
            rule = f"must be by the identity that was asked, {partner.identity}"
            raise InvalidInput("signature", rule, signature.mixer, "nothing was kept of it")
        if not is_valid(plan, plan.mixers[partner.hop - 1], signature):
            hint = "nothing was kept of it: ask the partner"
            raise InvalidInput("signature", "must be valid for this plan", signature.mixer, hint)
        return signature

    def _heartbeat(self, partner: Partner, plan: Plan) -> None:
        if not partner.url:
            return
        mixer = plan.mixers[partner.hop - 1]
        needed = plan.survey.rounds - plan.survey.first_round + 1
        if held_keys(self.converse(partner), self._station(partner, plan), plan) < needed:
            rule = "must be of all keys that the plan names"
            raise InvalidInput("heartbeat", rule, mixer.name, "it has erased some: pair again")

    def _station(self, partner: Partner, plan: Plan) -> Station:
        return Station(
            hop=partner.hop,
            name=plan.mixers[partner.hop - 1].name,
            identity=partner.identity,
            url=partner.url,
        )

    def _from_all(self, ask: Callable[[Partner], T | Later], what: str) -> dict[int, T]:
        """What every partner answers, asked again and again until the last one has."""
        found: dict[int, T] = {}
        while True:
            left = [partner for partner in self.request.partners if partner.hop not in found]
            later = {}
            for partner in left:
                answer = self._tried(partner, ask)
                if isinstance(answer, Later):
                    later[partner] = answer
                else:
                    found[partner.hop] = answer
            if not later:
                return found
            self._tell_new(later, what)
            people = [each for each, answer in later.items() if not answer.soon]
            if people and not (self.patient and any(each.url for each in later)):
                reasons = "; ".join(f"{self._named(each)}: {later[each].why}" for each in people)
                raise Waiting(
                    f"no {what} yet from {reasons}. Then run the same command again: it goes on"
                    " from here"
                )
            self.wait(LOOK_SECONDS if people else SOON_SECONDS)

    def _tried(self, partner: Partner, ask: Callable[[Partner], T | Later]) -> T | Later:
        try:
            with self._naming(partner):
                return ask(partner)
        except Unavailable as error:
            return Later(f"it does not answer ({error})")

    def _tell_new(self, later: Mapping[Partner, Later], what: str) -> None:
        for partner, answer in later.items():
            line = f"{self._named(partner)}: waiting for its {what}: {answer.why}"
            if line not in self.told:
                self.told.append(line)
                self.tell(line)

    def _named(self, partner: Partner) -> str:
        name = self.names.get(partner.hop)
        return str(partner) if name is None else f"{name}, mixer {partner.hop}"

    def _later(self, answer: Answer, soon: str) -> Later:
        if answer.values.get("waiting") == OPERATOR:
            own = fingerprint(self.identity.public).words
            why = "its operator has to accept it first: krand mix accept, which shows your words,"
            return Later(f"{why} {own}")
        return Later(soon, soon=True)

    @contextmanager
    def _naming(self, partner: Partner) -> Iterator[None]:
        """Errors begin with the partner that can mend them."""
        try:
            yield
        except InvalidInput as error:
            field = f"{self._named(partner)}, {error.field}"
            raise InvalidInput(field, error.rule, error.value, error.hint) from None


def descriptor_path(folder: SurveyFolder, hop: int) -> Path:
    """Where a mixer's description is kept."""
    return folder.partners / f"{hop}.json"


def keep_descriptor(folder: SurveyFolder, hop: int, mixer: Mixer) -> None:
    """Keep it; one that is there stays."""
    path = descriptor_path(folder, hop)
    if not path.exists():
        write_atomically("output", path, descriptor_bytes(mixer))


def earlier_request(folder: SurveyFolder) -> PairingRequest | None:
    """What an earlier run recorded, if there was one."""
    path = folder.pairing
    if not path.exists():
        return None
    values = values_in(read_whole("output", path), "pairing", FORMAT, str(path), HINT)
    with as_file("pairing", FORMAT, str(path), HINT):
        found: PairingRequest = typed(PairingRequest, values)
        return found


def _differences(before: PairingRequest, now: PairingRequest) -> Iterator[str]:
    words = {"survey": "survey file", "analyst_key": "analyst's key", "receiver": "address"}
    for each in fields(PairingRequest):
        if getattr(before, each.name) != getattr(now, each.name):
            yield words.get(each.name, each.name)


def who_answers(address: Address) -> About:
    """Who answers at an address that names no identity, whatever its certificate is.

    Nothing but that is asked here. Once people have compared the fingerprint, every other
    conversation accepts this identity alone.
    """
    with _FirstContact(Identity(generate_signing_key()), address) as conversation:
        return conversation.about()


class _FirstContact(Conversation):
    """Accepts any certificate."""

    def _possible_contexts(self) -> tuple[ssl.SSLContext | None, ...]:
        if self._parts.scheme == "http":
            return (None,)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return (context,)
