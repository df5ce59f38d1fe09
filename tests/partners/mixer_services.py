"""A mixer's service without a network, its organiser, and a clock that tests set."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from krand.partners.documents import Route, Station
from krand.partners.identity import Identity
from krand.partners.mixer_service import MixerService, accept
from krand.partners.place import Place
from krand.partners.policy import AcceptPolicy, policy_in
from krand.partners.records import Stage
from krand.partners.signing import KeysRequest, survey_in
from krand.planning.making import make_plan
from krand.survey.plan import Mixer, Plan
from krand.survey.toml_file import TomlFile
from krand.testing import MIXED_SURVEY
from krand.wire.keys import generate_private_key
from krand.wire.signed import Signed
from partners.services import new_identity

DAY = 86_400.0
START = datetime(2027, 1, 1, tzinfo=UTC).timestamp()
ANALYST = generate_private_key()
EVERYBODY = policy_in(
    TomlFile(
        "policy.toml",
        'accept = "everybody"\n[limits]\nlargest_epsilon = 2\nlargest_delta = 1e-3\n'
        "fewest_mixers = 2\nmost_positions = 100\nmost_rounds = 2\nmost_messages = 100_000\n"
        "latest_closing = 60\n",
    )
)


@dataclass
class FakeClock:
    """Both clocks go on together, unless somebody sets the one on the wall."""

    time: float = START
    passed: float = 0.0

    def wall(self) -> float:
        return self.time

    def steady(self) -> float:
        return self.passed

    def pass_days(self, days: float) -> None:
        self.time += days * DAY
        self.passed += days * DAY


def survey_text(
    name: str = "pets", closes: str = "2027-01-31", mixers: int = 2, batches: int = 1
) -> str:
    """A survey of two rounds that mixers protect."""
    text = MIXED_SURVEY.replace('id = "pets"', f'id = "{name}"\ncloses = {closes}\nrounds = 2')
    return text.replace("mixers = 2", f"mixers = {mixers}\nbatches = {batches}")


@cache
def bare_plan(text: str) -> Plan:
    return make_plan(survey_in(text)).sealed_for(ANALYST.public_key())


@dataclass
class Organiser:
    """Whoever wants a survey to be mixed."""

    identity: Identity = field(default_factory=new_identity)
    analyst: Identity = field(default_factory=new_identity)

    @property
    def mixer(self) -> Mixer:
        return Mixer(name="collector", identity=self.identity.public)

    def request(self, text: str = survey_text(), hop: int = 2) -> KeysRequest:
        """A new one each time."""
        pairing = secrets.token_hex(16)
        return KeysRequest(survey=text, organiser="The council", hop=hop, pairing=pairing)

    def plan(self, *mixers: Mixer, text: str = survey_text()) -> Plan:
        return bare_plan(text).mixed_by((self.mixer, *mixers))

    def route(
        self, plan: Plan, number: int = 1, urls: dict[int, str] | None = None
    ) -> Signed[Route]:
        """By hand everywhere, unless there are addresses."""
        parties = [("analyst", self.analyst.public)]
        parties += [(mixer.name, mixer.identity) for mixer in plan.mixing.mixers]
        stations = tuple(
            Station(hop=hop, name=name, identity=identity, url=(urls or {}).get(hop, ""))
            for hop, (name, identity) in enumerate(parties)
        )
        return self.identity.sign(Route(plan=plan.hash, number=number, stations=stations))


@dataclass
class Running:
    """A service that can be stopped and started again."""

    folder: Path
    policy: AcceptPolicy = EVERYBODY
    name: str = "university"
    identity: Identity = field(default_factory=new_identity)
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        for name in ("service", "anchors"):
            (self.folder / name).mkdir(parents=True)
        self.service = self.started()

    @property
    def place(self) -> Place:
        return Place(
            folder=self.folder / "service",
            name=self.name,
            identity=self.identity,
            anchors=self.folder / "anchors",
            policy=self.policy,
        )

    def started(self, *, clock_is_right: bool = False) -> MixerService:
        return MixerService(self.place, clock=self.clock, clock_is_right=clock_is_right)

    def restart(self, *, clock_is_right: bool = False) -> None:
        self.service.close()
        self.service = self.started(clock_is_right=clock_is_right)

    def work(self) -> None:
        """Until there is nothing to do at once."""
        while not self.service.work():
            pass

    def accept_all(self) -> None:
        records = self.service.records
        for pairing in records.in_stage(Stage.WAITING, Stage.SECOND):
            accept(records, pairing)

    def keys(self, organiser: Organiser, request: KeysRequest | None = None) -> Mixer:
        asked = request or organiser.request()
        assert self.service.ask_keys(organiser.identity.public, asked) is None
        self.work()
        found = self.service.ask_keys(organiser.identity.public, asked)
        assert found is not None
        return found

    def send(self, organiser: Organiser, plan: Plan) -> object:
        """What the organiser is answered about its plan."""
        text, route = plan.bytes.decode(), organiser.route(plan)
        return self.service.ask_signature(organiser.identity.public, text, route)

    def paired(self, organiser: Organiser, text: str = survey_text()) -> Plan:
        """A plan that the service has signed."""
        plan = organiser.plan(self.keys(organiser, organiser.request(text)), text=text)
        assert self.send(organiser, plan) is None
        self.work()
        assert self.send(organiser, plan) is not None
        return plan
