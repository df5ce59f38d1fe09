"""A mixer's service without a network, its organiser, and a clock that tests set."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np

from krand.errors import Unavailable
from krand.mixing.keys import MixerKeys
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix
from krand.mixing.store import MixerStore, create_store
from krand.mixing.watching import WatchOptions
from krand.partners.documents import Route, Station
from krand.partners.identity import Address, Identity
from krand.partners.mixer_service import MixerService, Overview, accept, overview_of
from krand.partners.policy import AcceptPolicy, policy_in
from krand.partners.records import PairingRecord, Stage
from krand.partners.service_folder import ServiceFolder
from krand.partners.signing import KeysRequest, survey_in
from krand.partners.talking import Talks
from krand.partners.uploads import Progress, Uploads
from krand.planning.making import make_plan
from krand.survey.plan import Mixer, Plan
from krand.survey.toml_file import TomlFile
from krand.testing import MIXED_SURVEY
from krand.wire.keys import generate_private_key
from krand.wire.layers import LayerSealer
from krand.wire.messages import Null
from krand.wire.signed import Signed
from partners.services import Direct, new_identity, receiving

DAY = 86_400.0
ALONE = MixOptions(workers=1)
OPTIONS = WatchOptions(mixing=ALONE, retry=0.0)
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


def survey_text(name: str = "pets", closes: str = "2027-01-31", mixers: int = 2) -> str:
    """A survey of two rounds, a day each, that mixers protect."""
    text = MIXED_SURVEY.replace('id = "pets"', f'id = "{name}"\nrounds = 2')
    text = text.replace("mixers = 2", f"mixers = {mixers}")
    starts = date.fromisoformat(closes) - timedelta(days=1)
    return f'{text}\n[schedule]\nevery = "day"\nstarts = {starts}\n'


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
    talk: Callable[[Address], Talks] | None = None
    said: list[str] = field(default_factory=list)
    """The log."""

    def __post_init__(self) -> None:
        for name in ("service", "anchors"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.service = self.started()

    @property
    def service_folder(self) -> ServiceFolder:
        return ServiceFolder(
            path=self.folder / "service",
            name=self.name,
            identity=self.identity,
            anchors=self.folder / "anchors",
            policy=self.policy,
        )

    @property
    def overview(self) -> Overview:
        return overview_of(self.service_folder, self.service.records)

    def started(self, *, clock_is_right: bool = False) -> MixerService:
        return MixerService(
            self.service_folder,
            talk=self.talk,
            clock=self.clock,
            clock_is_right=clock_is_right,
            options=OPTIONS,
            report=self.said.append,
        )

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
        assert self.service.signing.ask_keys(organiser.identity.public, asked) is None
        self.work()
        found = self.service.signing.ask_keys(organiser.identity.public, asked)
        assert found is not None
        return found

    def send(self, organiser: Organiser, plan: Plan, urls: dict[int, str] | None = None) -> object:
        """What the organiser is answered about its plan."""
        text, route = plan.bytes.decode(), organiser.route(plan, urls=urls)
        return self.service.signing.ask_signature(organiser.identity.public, text, route)

    def paired(self, organiser: Organiser, text: str = survey_text()) -> Plan:
        """A plan that the service has signed."""
        plan = organiser.plan(self.keys(organiser, organiser.request(text)), text=text)
        assert self.send(organiser, plan) is None
        self.work()
        assert self.send(organiser, plan) is not None
        return plan


THREE = survey_text(mixers=3)
URLS = {0: "https://analyst.example", 2: "https://two.example", 3: "https://three.example"}


@dataclass
class Connected:
    """A collector, two services and an analyst, joined without a network."""

    folder: Path
    text: str = THREE
    organiser: Organiser = field(default_factory=Organiser)
    down: set[str] = field(default_factory=set)
    """Addresses that do not answer."""
    confused: set[str] = field(default_factory=set)
    """Addresses that answer nonsense."""

    def __post_init__(self) -> None:
        names = {2: "university", 3: "union"}
        self.mixers = {
            hop: Running(self.folder / str(hop), name=name, talk=self._talk)
            for hop, name in names.items()
        }
        described = [self._described(hop) for hop in self.mixers]
        self.plan = self.organiser.plan(*described, text=self.text)
        for running in self.mixers.values():
            assert running.send(self.organiser, self.plan, URLS) is None
            running.work()
            assert running.send(self.organiser, self.plan, URLS) is not None
        own = MixerKeys(self.organiser.identity.key, {})
        create_store(self.folder / "store", "collector", own)
        (self.folder / "analyst").mkdir()

    def _described(self, hop: int) -> Mixer:
        return self.mixers[hop].keys(self.organiser, self.organiser.request(self.text, hop))

    @property
    def analyst(self) -> Uploads:
        return Uploads(self.folder / "analyst", self.plan, 0, self.organiser.analyst)

    def collected(self, people: int = 3, round_number: int = 1) -> MixedFiles:
        """A batch as it leaves the collector."""
        sealer = LayerSealer(self.plan, round_number)
        one = [(lane, Null()) for lane in self.plan.lanes for _ in range(lane.messages)]
        joined = b"".join(sealer.seal(lane, null) for _ in range(people) for lane, null in one)
        shape = (people, self.plan.messages, sealer.length)
        messages, name = np.frombuffer(joined, np.uint8).reshape(shape), secrets.token_hex(16)
        with MixerStore(self.folder / "store") as store:
            out = self.folder / "collected"
            return first_mix(store, self.plan, round_number, name, messages, out, ALONE)

    def push(self, files: MixedFiles, hop: int = 2) -> Progress:
        """The whole batch arrives at a mixer."""
        uploads = self.mixers[hop].service.uploads(self.plan.hash)
        name, progress = uploads.begin(files.chain.read_bytes())
        if not progress.complete:
            progress = uploads.append(name, progress.offset, files.data.read_bytes())
        return progress

    def work(self, hop: int) -> None:
        """Mix what is there, and try to pass it on."""
        running = self.mixers[hop]
        for _ in range(3):  # files must be the same at two looks; then what arrived is removed
            running.work()
            running.service.deliveries.work()

    def folders(self, hop: int) -> dict[str, list[str]]:
        """The names of all batches that a mixer has."""
        own = self.mixers[hop].service_folder.own(self.pairing(hop).key)
        places = {"incoming": own / "incoming", "outgoing": own / "outgoing"}
        places["outbox"] = own / "store" / "outbox"
        return {
            name: sorted(path.name for path in place.iterdir() if path.is_file())
            for name, place in places.items()
        }

    def pairing(self, hop: int) -> PairingRecord:
        (found,) = self.mixers[hop].service.records.in_stage(Stage.SIGNED, Stage.ERASED)
        return found

    def arrived(self) -> dict[str, bytes]:
        """What the analyst has."""
        return {
            path.name: path.read_bytes()
            for path in (self.folder / "analyst").iterdir()
            if path.is_file()
        }

    def _talk(self, address: Address) -> Talks:
        if address.url in self.down:
            raise Unavailable(f"{address.url} cannot be reached now")
        if address.url in self.confused:
            return Direct(lambda *_: {"format": "krand-not-received-1"})
        (hop,) = [hop for hop, url in URLS.items() if url == address.url]
        uploads = self.mixers[hop].service.uploads(self.plan.hash) if hop else self.analyst
        return Direct(receiving(uploads))
