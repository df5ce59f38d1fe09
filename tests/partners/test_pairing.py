"""Pairing: a plan that all mixers signed, or an error that names the partner who can mend it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from krand.errors import InvalidInput, Unavailable
from krand.mixing.store import MixerStore
from krand.partners.documents import Station, keys_hash
from krand.partners.endpoints import mixer_endpoints
from krand.partners.http import Endpoints
from krand.partners.identity import Address, fingerprint
from krand.partners.pairing import (
    Pairing,
    PairingRequest,
    Partner,
    Waiting,
    check_survey,
    earlier_request,
    survey_hash,
    who_answers,
)
from krand.partners.policy import AcceptPolicy
from krand.partners.siblings import read_lists
from krand.partners.signing import survey_in
from krand.partners.talking import Answer, Conversation
from krand.survey.document import survey_text as text_of
from krand.survey.plan import Plan
from krand.survey.survey_folder import SurveyFolder
from krand.testing import MIXED_SURVEY
from krand.wire.plan_signatures import check_signatures
from partners.mixer_services import ANALYST, Organiser, Running, survey_text
from partners.services import listening, new_identity, partner_service

NONE = Endpoints(signed=())


@contextmanager
def at_work(running: Running) -> Iterator[str]:
    """A mixer's service over HTTP; its URL. It works whenever it is told to."""
    with partner_service(running.identity, mixer_endpoints(running.service, running.work)) as port:
        yield f"http://127.0.0.1:{port}"


@dataclass
class Bent:
    """A conversation whose answers are changed on their way."""

    real: Conversation
    change: Callable[[str, Answer], Answer]

    def get(self, path: str) -> Answer:
        return self.change(path, self.real.get(path))

    def post(self, path: str, body: bytes | Mapping[str, Any] = b"") -> Answer:
        return self.change(path, self.real.post(path, body))

    def patch(self, path: str, offset: int, chunk: bytes) -> Answer:
        return self.real.patch(path, offset, chunk)

    def close(self) -> None:
        self.real.close()


def unchanged(_: str, answer: Answer) -> Answer:
    return answer


@dataclass
class Trying:
    """An organiser with one partner, which may answer anything."""

    folder: Path
    url: str
    identity: str
    organiser: Organiser = field(default_factory=Organiser)
    text: str = text_of(survey_in(survey_text()))
    change: Callable[[str, Answer], Answer] = unchanged
    told: list[str] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    patient: bool = False
    nonce: str = "5b" * 16
    seconds: float = 5.0

    @property
    def pairing(self) -> Pairing:
        """As the command makes it, in every run anew."""
        own = self.organiser.identity
        folder = SurveyFolder(self.folder / "survey.krand")
        folder.make("output", folder.partners)
        receiver = Station(hop=0, name="council", identity=self.organiser.analyst.public, url="")
        request = PairingRequest(
            pairing=self.nonce,
            survey=survey_hash(self.text),
            organiser="The council",
            identity=own.public,
            analyst_key=ANALYST.public_key().public_bytes_raw().hex(),
            partners=(Partner(hop=2, identity=self.identity, url=self.url),),
            receiver=receiver,
        )

        def converse(partner: Partner) -> Bent:
            return Bent(
                Conversation(own, Address(partner.url, partner.identity), self.seconds), self.change
            )

        return Pairing(
            folder=folder,
            survey=survey_in(self.text),
            text=self.text,
            request=request,
            identity=own,
            converse=converse,
            tell=self.told.append,
            wait=self.waited.append,
            patient=self.patient,
        )

    def paired(self) -> Plan:
        """All steps."""
        pairing = self.pairing
        pairing.begin()
        plan = pairing.make_plan(pairing.gather_keys(), ANALYST.public_key())
        check_signatures(plan, pairing.gather_signatures(plan))
        pairing.check_heartbeats(plan)
        return plan

    def plan_made(self) -> Plan:
        """The plan, before it is signed."""
        pairing = self.pairing
        return pairing.make_plan(pairing.gather_keys(), ANALYST.public_key())

    def refused(self) -> InvalidInput:
        """The error that ends it, which names the partner."""
        with pytest.raises(InvalidInput) as found:
            self.paired()
        assert "mixer 2" in found.value.field
        return found.value


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(tmp_path / "university")


@pytest.fixture
def trying(tmp_path: Path, running: Running) -> Iterator[Trying]:
    with at_work(running) as url:
        yield Trying(tmp_path, url, running.identity.public)


def test_a_plan_that_all_have_signed(trying: Trying, running: Running) -> None:
    """Keys, plan, signatures, a heartbeat, and an entry in the partner's list."""
    plan = trying.paired()
    names = [mixer.name for mixer in plan.mixing.mixers]
    assert names == ["The council", "university"]
    siblings = trying.pairing.gather_lists(plan)
    assert (siblings.lists, siblings.plans) == (("university",), ())
    (listed,) = read_lists(trying.pairing.folder.siblings)
    assert [entry.record.plan for entry in listed.entries] == [plan.hash]
    with MixerStore(trying.pairing.folder.mixer_store) as store:
        assert store.plan == plan.hash


def test_the_same_command_goes_on(trying: Trying, running: Running) -> None:
    """The same plan again, whatever was asked for before; the partner has given keys once."""
    first = trying.paired()
    assert trying.paired().hash == first.hash
    assert len(running.service.records.entries) == 1
    trying.change = lambda path, answer: pytest.fail(path)  # all but the heartbeat is kept
    pairing = trying.pairing
    pairing.begin()
    plan = pairing.make_plan(pairing.gather_keys(), ANALYST.public_key())
    pairing.gather_signatures(plan)
    assert plan.hash == first.hash


@pytest.mark.parametrize("what", ["survey file", "partners", "organiser"])
def test_another_request_in_the_same_folder_is_refused(trying: Trying, what: str) -> None:
    """The error says what is different."""
    trying.paired()
    now = trying.pairing
    other = {
        "survey file": replace(now.request, survey="0" * 64),
        "partners": replace(now.request, partners=()),
        "organiser": replace(now.request, organiser="The union"),
    }[what]
    with pytest.raises(InvalidInput, match=f"with the same {what} as before"):
        replace(now, request=other).begin()
    assert earlier_request(now.folder) == now.request


def test_an_operator_who_has_to_accept_is_named(trying: Trying, running: Running) -> None:
    """And asked for; then the same command goes on."""
    running.policy = AcceptPolicy()
    running.restart()
    with at_work(running) as url:
        trying.url = url
        with pytest.raises(Waiting, match="its operator has to accept it first") as found:
            trying.paired()
        assert found.value.exit_code == 75
        running.accept_all()
        trying.paired()


def test_whoever_waits_is_told_once(trying: Trying, running: Running) -> None:
    """However often the partner is asked."""
    running.policy = AcceptPolicy()
    running.restart()
    with at_work(running) as url:
        trying.url, trying.patient = url, True

        def accept_after_three(_: float) -> None:
            trying.waited.append(0)
            if len(trying.waited) == 3:
                running.accept_all()

        pairing = replace(trying.pairing, wait=accept_after_three)
        pairing.begin()
        pairing.gather_keys()
    said = [line for line in trying.told if "operator" in line]
    assert (len(trying.waited) >= 3, len(said)) == (True, 1)


def at(path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Answer]:
    """A partner that answers something else at one path."""

    def changed(asked: str, answer: Answer) -> Answer:
        wrong = asked.endswith(path) and answer.status == 200
        return replace(answer, values=change(answer.values)) if wrong else answer

    return changed


def with_part(name: str, **values: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda old: {**old, name: {**old[name], **values}}


OTHER = new_identity().public
WRONG: dict[str, tuple[Callable[..., Answer], str, str]] = {
    "nonsense instead of keys": (at("/keys", lambda _: {"keys": 7}), "mixer", "format"),
    "keys of another identity": (
        at("/keys", lambda old: {**old, "identity": OTHER}),
        "keys",
        "must describe the identity that was asked",
    ),
    "keys for too few rounds": (
        at("/keys", lambda old: {**old, "keys": old["keys"][:1]}),
        "keys",
        "must be one for each round",
    ),
    "a signature of another plan": (
        at("/plans", with_part("signature", plan="0" * 64)),
        "signature",
        "must be of the plan that was sent",
    ),
    "a signature of another identity": (
        at("/plans", with_part("signature", mixer=OTHER)),
        "signature",
        "must be by the identity that was asked",
    ),
    "a forged signature": (
        at("/plans", with_part("signature", signature="0" * 128)),
        "signature",
        "must be valid for this plan",
    ),
    "an old heartbeat": (
        at("/heartbeat", lambda old: {**old, "nonce": "0" * 32}),
        "heartbeat of university, nonce",
        "must be",
    ),
    "a heartbeat without keys": (
        at("/heartbeat", lambda old: {**old, "keys": keys_hash(())}),
        "heartbeat of university",
        "must be signed by the identity",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_partner_that_answers_something_wrong_is_named(trying: Trying, name: str) -> None:
    """With what is wrong; the survey is not opened with it."""
    trying.change, field_name, rule = WRONG[name]
    error = trying.refused()
    assert error.field.endswith(field_name)
    assert rule in error.rule
    trying.change = unchanged
    trying.paired()  # nothing wrong was kept


def test_keys_that_are_gone_are_noticed(trying: Trying, running: Running) -> None:
    """A heartbeat that is the partner's own, but tells that a key was erased."""
    plan = trying.paired()
    running.service.close_round(trying.organiser.identity.public, plan.hash, 1)
    running.work()
    with pytest.raises(InvalidInput, match="must be of all keys that the plan names"):
        trying.pairing.check_heartbeats(plan)


def test_somebody_else_at_the_address_is_refused(trying: Trying) -> None:
    """The link named another identity than the one that answers."""
    trying.identity = OTHER
    with pytest.raises(InvalidInput, match=r"mixer 2.*signature"):
        trying.paired()


def test_a_partner_that_is_down_is_tried_again(trying: Trying, running: Running) -> None:
    """It is not an error of the request; without patience the command ends and can go on."""
    good, trying.url = trying.url, "http://127.0.0.1:9"
    with pytest.raises(Unavailable, match="it does not answer"):
        trying.paired()
    trying.folder, trying.url = trying.folder / "again", good
    trying.paired()


def test_a_partner_that_stalls_is_tried_again(trying: Trying) -> None:
    """It takes the connection, and then says nothing, or little at a time."""

    def says_little(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
        while connection.recv(1000):  # until the other side hangs up
            pass

    with listening(says_little) as place:
        trying.url, trying.seconds = f"http://{place}", 0.3
        with pytest.raises(Unavailable, match="it does not answer"):
            trying.paired()


def test_limits_of_a_policy_reach_the_organiser(trying: Trying) -> None:
    """With the rule, the value and whom to ask; nothing was given."""
    trying.text = text_of(survey_in(survey_text(closes="2028-01-31")))
    error = trying.refused()
    assert (error.rule, error.hint) == (
        "must be 2027-03-02 or earlier",
        "ask the mixer's operator, whose policy says so",
    )


def test_pairing_again_takes_new_keys(trying: Trying, running: Running) -> None:
    """In another folder; a second signed plan of the survey has to be accepted by the operator."""
    first = trying.paired()
    trying.folder, trying.nonce = trying.folder / "again", "6c" * 16
    with pytest.raises(Waiting, match="its operator has to accept it first"):
        trying.paired()
    running.accept_all()
    second = trying.paired()
    assert first.mixing.mixers[1].keys != second.mixing.mixers[1].keys
    assert [each.plan for each in trying.pairing.gather_lists(second).plans] == [first.hash]


def test_a_partner_with_files_is_waited_for(trying: Trying, tmp_path: Path) -> None:
    """The error says which file to send, and where its signature belongs."""
    from krand.mixing.keys import generate_mixer_keys
    from krand.mixing.mixer import sign_checked_plan
    from krand.mixing.store import create_store
    from krand.partners.pairing import keep_descriptor
    from krand.wire.plan_signatures import signature_bytes

    mixer = create_store(tmp_path / "by-hand", "the archive", generate_mixer_keys(2))
    trying.url, trying.identity, trying.patient = "", mixer.identity, True
    folder = trying.pairing.folder
    keep_descriptor(folder, 2, mixer)
    with pytest.raises(Waiting) as found:
        trying.paired()
    place = folder.signature(2)
    assert all(str(path) in str(found.value) for path in (folder.plan, place))
    with MixerStore(tmp_path / "by-hand") as store:
        place.write_bytes(signature_bytes(sign_checked_plan(store, trying.plan_made())))
    assert trying.paired().mixing.mixers[1].name == "the archive"


@pytest.mark.parametrize(
    ("text", "mixers", "field_name"),
    [
        (survey_text(), 2, "mixer"),
        (MIXED_SURVEY, 1, "closes"),
        (MIXED_SURVEY.partition("[trust]")[0], 1, "survey"),
    ],
)
def test_what_no_partner_would_take_is_refused_at_once(
    text: str, mixers: int, field_name: str
) -> None:
    """Before anybody is asked."""
    if "[trust]" not in text:
        text = text.replace("[policy]", "[policy]\nminimum_crowd = 100")
    with pytest.raises(InvalidInput) as found:
        check_survey(survey_in(text), mixers)
    assert found.value.field == field_name


def test_who_answers_is_asked_whatever_the_certificate_is(tmp_path: Path) -> None:
    """So that people can compare its fingerprint; nothing else is asked."""
    from krand.partners.serving import identity_context

    own = new_identity()
    context = identity_context(own, tmp_path / "tls.pem")
    with partner_service(own, NONE, context) as port:
        about = who_answers(Address(f"https://127.0.0.1:{port}"))
        assert fingerprint(about.identity) == fingerprint(own.public)
        known = Conversation(new_identity(), Address(f"https://127.0.0.1:{port}", own.public), 5)
        assert known.about().identity == own.public
        other = Conversation(new_identity(), Address(f"https://127.0.0.1:{port}", OTHER), 5)
        with pytest.raises(Unavailable, match="certificate is not accepted"):
            other.about()
