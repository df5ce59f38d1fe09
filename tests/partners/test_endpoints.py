"""What a mixer's service answers over HTTP, to whom, and what strangers can make it do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from collecting import asked
from krand.partners.endpoints import mixer_endpoints
from krand.partners.policy import AcceptPolicy
from krand.partners.records import Stage
from krand.partners.signing import MOST_A_DAY
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import plain
from krand.survey.plan import Plan
from partners.mixer_services import Organiser, Running
from partners.services import Asked, new_identity, partner_service, problem

STRANGERS = MOST_A_DAY + 60


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(tmp_path)


@pytest.fixture
def port(running: Running) -> Iterator[int]:
    with partner_service(running.identity, mixer_endpoints(running.service, running.work)) as found:
        yield found


@pytest.fixture
def organiser(running: Running, port: int) -> Organiser:
    return Organiser()


@pytest.fixture
def plan(running: Running, organiser: Organiser) -> Plan:
    return running.paired(organiser)


def by(running: Running, port: int, organiser: Organiser) -> Asked:
    return Asked(port, running.identity.public, organiser.identity)


def test_only_the_organiser_ends_a_round(
    running: Running, port: int, organiser: Organiser, plan: Plan
) -> None:
    """The erasure is signed, and everybody may read it."""
    own, stranger = by(running, port, organiser), by(running, port, Organiser())
    path = f"/v1/plans/{plan.hash}/rounds/1/close"
    assert problem(stranger.ask("POST", path)) == (403, "identity")
    assert own.ask("POST", path).status == 202
    erasure = json.loads(own.ask("POST", path).content)
    assert (erasure["round"], erasure["reason"]) == (1, "closed")
    listed = json.loads(asked(port, "GET", f"/v1/plans/{plan.hash}/erasures").content)
    assert listed == {"erasures": [erasure]}
    assert problem(own.ask("POST", f"/v1/plans/{plan.hash}/rounds/9/close")) == (422, "round")
    assert problem(own.ask("POST", f"/v1/plans/{'0' * 64}/rounds/1/close")) == (404, "plan")


def test_another_route_comes_from_the_organiser(
    running: Running, port: int, organiser: Organiser, plan: Plan
) -> None:
    """With a higher number; nobody else can send batches elsewhere."""
    own, path = by(running, port, organiser), f"/v1/plans/{plan.hash}/route"
    later = organiser.route(plan, 2, {0: "https://analyst.example"})
    assert json.loads(own.ask("POST", path, later.content).content) == {"number": 2}
    assert problem(own.ask("POST", path, organiser.route(plan).content)) == (422, "route")
    forged = Organiser().route(plan, 3)
    assert problem(own.ask("POST", path, forged.content)) == (422, "route")
    stranger = by(running, port, Organiser())
    assert problem(stranger.ask("POST", path, later.content)) == (403, "identity")


BATCH = "5a" * 16
BATCH_PATHS = (
    ("POST", "/batches"),
    ("PATCH", f"/batches/{BATCH}?offset=0"),
    ("GET", f"/batches/{BATCH}"),
    ("POST", f"/batches/{BATCH}/receipt"),
)


@pytest.mark.parametrize(("method", "path"), BATCH_PATHS, ids=lambda part: part[:12])
def test_batches_come_from_the_party_before(
    running: Running, port: int, organiser: Organiser, plan: Plan, method: str, path: str
) -> None:
    """That is the collector here; a stranger is refused before a byte is stored."""
    path = f"/v1/plans/{plan.hash}{path}"
    stranger = by(running, port, Organiser())
    assert problem(stranger.ask(method, path, b"anything")) == (403, "identity")
    own = by(running, port, organiser).ask(method, path, b"anything")
    assert own.status == 422
    assert list(running.folder.rglob("uploads/*")) == []
    other = path.replace(plan.hash, "0" * 64)
    assert problem(stranger.ask(method, other, b"anything")) == (404, "plan")


@pytest.mark.parametrize("offset", ["", "-1", "x", "1e3", "9" * 30])
def test_an_offset_is_a_number(
    running: Running, port: int, organiser: Organiser, plan: Plan, offset: str
) -> None:
    """Anything else is named."""
    path = f"/v1/plans/{plan.hash}/batches/{BATCH}?offset={offset}"
    assert problem(by(running, port, organiser).ask("PATCH", path, b"x")) == (422, "offset")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/keys", b"{"),
        ("/v1/keys", b"{}"),
        ("/v1/keys", b'{"survey": 7, "organiser": "x", "hop": 2, "pairing": "0"}'),
        ("/v1/plans", b"[]"),
        ("/v1/plans", b'{"plan": "{}", "route": {}}'),
    ],
)
def test_nonsense_is_named(
    running: Running, port: int, organiser: Organiser, plan: Plan, path: str, body: bytes
) -> None:
    """As the request's own mistake; what strangers send to be signed is not looked at."""
    assert problem(by(running, port, organiser).ask("POST", path, body)) == (422, "request")
    expected = (422, "request") if path == "/v1/keys" else (403, "identity")
    assert problem(by(running, port, Organiser()).ask("POST", path, body)) == expected


@pytest.mark.check
@pytest.mark.parametrize("asks", [True, False])
def test_strangers_who_ask_for_keys_in_large_numbers_get_few(tmp_path: Path, asks: bool) -> None:
    """However many identities they make; whoever is a partner already is answered all the same."""
    running = Running(tmp_path)
    partner = Organiser()
    plan = running.paired(partner)
    if asks:
        running.policy = AcceptPolicy()
        running.restart()
    endpoints = mixer_endpoints(running.service, lambda: None)
    with partner_service(running.identity, endpoints) as port:

        def stranger(_: int) -> int:
            someone = Organiser(identity=new_identity())
            body = canonical_json(plain(someone.request()))
            return by(running, port, someone).ask("POST", "/v1/keys", body).status

        with ThreadPoolExecutor(8) as pool:
            answers = Counter(pool.map(stranger, range(STRANGERS)))
        nonce = canonical_json({"nonce": "5b" * 16})
        beat = by(running, port, partner).ask("POST", f"/v1/plans/{plan.hash}/heartbeat", nonce)
    assert beat.status == 200
    assert answers.keys() == {202, 503}
    assert answers[202] <= MOST_A_DAY
    stage = Stage.WAITING if asks else Stage.ACCEPTED
    assert len(running.service.records.in_stage(stage)) == answers[202]
    assert len(list((tmp_path / "service" / "surveys").iterdir())) == 1  # the partner's
