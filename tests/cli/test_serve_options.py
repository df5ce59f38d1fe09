"""`krand serve` with origins, signatures, receipts, invitations and a last day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from collecting import Running, running
from collector.crowds import plan_of
from command_line import done, refused
from components import require
from krand.client.client import Client
from krand.survey.about import About
from krand.survey.plan import Plan
from krand.testing import UnsafeMemoryLedger
from krand.wire.plan_signatures import PlanSignature, parse_signature, sign_plan, signature_bytes
from krand.wire.receipts import check_receipt
from krand.wire.submissions import submission_bytes
from mixing.chains import Party, mixed_plan_for, stores_of
from schedules import during

require("starlette")
require("uvicorn")

FORM = "https://form.example"
OPEN_PLAN = plan_of(1000)
INVITED = replace(OPEN_PLAN, survey=replace(OPEN_PLAN.survey, invitations=True))
SERVE = "serve --plan plan.json --spool spool --port 0"
pytestmark = pytest.mark.usefixtures("here")


def serve(plan: Plan, *options: object) -> Result:
    """The command, where servers only would have run."""
    Path("plan.json").write_bytes(plan.bytes)
    return done(SERVE, *options)


def refusal(plan: Plan, *options: object) -> dict[str, Any]:
    """Why it does not start; nothing was created."""
    Path("plan.json").write_bytes(plan.bytes)
    error = refused(SERVE, *options)
    assert not Path("spool").exists()
    return error


def invite() -> None:
    """Three links for the plan that is here."""
    done(f"invite plan.json --count 3 --url {FORM}/ -o links.csv")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Servers that would have run."""
    found: list[Any] = []
    monkeypatch.setattr(
        "krand.collector.serving.serve", lambda server, _, *, quiet: found.append(server)
    )
    return found


@pytest.mark.parametrize(
    ("origins", "rule"),
    [
        ("--origin https://form.example/page", "scheme://host"),
        ("--origin form.example", "scheme://host"),
        (f"--origin * --origin {FORM}", "alone"),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(origins: str, rule: str) -> None:
    """It would never match, and nobody would know why."""
    error = refusal(OPEN_PLAN, origins)
    assert error["field"] == "origin"
    assert rule in error["rule"]


def test_invitations_are_given_exactly_where_the_survey_asks_for_them(started: list[Any]) -> None:
    """Neither a survey that nobody can answer, nor one that everybody can by mistake."""
    error = refusal(INVITED)
    assert error["field"] == "invitations"
    assert "--invitations" in error["hint"]
    invite()
    assert refusal(OPEN_PLAN, "--invitations links.json")["field"] == "invitations"
    assert started == []
    serve(INVITED, "--invitations links.json")
    assert len(started) == 1


@pytest.mark.parametrize(("closes", "over"), [(date(2020, 2, 29), True), (date.max, False)])
def test_a_survey_that_is_over_says_so_at_the_start(
    started: list[Any], closes: date, over: bool
) -> None:
    """The operator would wonder why nobody comes."""
    plan = replace(OPEN_PLAN, survey=replace(OPEN_PLAN.survey, about=About(closes=closes)))
    assert (f"The survey closed on {closes}" in serve(plan).stderr) is over


def test_two_signers_of_receipts_are_refused() -> None:
    """Only one can sign."""
    done("keygen --signing -o c.pem")
    options = "--signing-key c.pem --mixer-store store-1"
    assert refusal(OPEN_PLAN, options)["field"] == "signing_key"


@pytest.fixture(scope="module")
def party() -> Party:
    return mixed_plan_for(mixers=2)


@pytest.fixture(scope="module")
def folder(party: Party, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan, the mixers' stores and their signatures."""
    found = tmp_path_factory.mktemp("mixed")
    (found / "plan.json").write_bytes(party.plan.bytes)
    stores_of(party, found)
    for hop, identity in enumerate(party.identities, 1):
        signed = sign_plan(party.plan, identity)
        (found / f"{hop}.sig.json").write_bytes(signature_bytes(signed))
    return found


@pytest.fixture(scope="module")
def collector(folder: Path) -> Iterator[Running]:
    """As an operator starts it for browsers."""
    options = ["--origin", FORM, "--mixer-store", str(folder / "store-1")]
    for hop in (1, 2):
        options += ["--signature", str(folder / f"{hop}.sig.json")]
    files = (folder / "plan.json", folder / "spool", folder / "log")
    with running(*files, options=options) as found:
        yield found


def fetched(collector: Running, party: Party, name: str) -> Any:
    with urlopen(f"{collector.url}/v1/{party.plan.hash}/{name}", timeout=300) as answer:
        return json.loads(answer.read())


def signatures(collector: Running, party: Party) -> list[PlanSignature]:
    """Each entry is what stands in a file of its own."""
    served = fetched(collector, party, "signatures")
    return [parse_signature(json.dumps(entry).encode()) for entry in served]


def test_a_client_accepts_the_plan_with_the_signatures_that_are_served(
    collector: Running, party: Party
) -> None:
    """All mixers signed it, so nobody made it up for this device."""
    found = signatures(collector, party)
    assert len(found) == 2
    Client(party.plan, UnsafeMemoryLedger(), expected_hash=party.plan.hash, signatures=found)


def test_the_collectors_identity_in_the_plan_signs_the_receipt(
    collector: Running, party: Party
) -> None:
    """So whoever has the plan can check it without asking the collector for a key."""
    mixing = party.plan.mixing
    identity = mixing.mixers[0].identity
    assert fetched(collector, party, "status")["receipt_key"] == identity
    given = {"expected_hash": party.plan.hash, "signatures": signatures(collector, party)}
    given["now"] = during(party.plan)
    client, other = (Client(party.plan, UnsafeMemoryLedger(), **given) for _ in range(2))
    made = client.prepare({})
    request = Request(
        f"{collector.url}/v1/{party.plan.hash}/submissions",
        submission_bytes(1, made.id, made.messages),
        {"Content-Type": "application/octet-stream", "Origin": FORM},
    )
    with urlopen(request, timeout=300) as answer:
        told = json.loads(answer.read())
        assert answer.headers["Access-Control-Allow-Origin"] == FORM
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(identity))
    assert check_receipt(key, told["receipt"], party.plan.hash, 1)
    receipt = other.submit(collector.url, {})
    assert (receipt.signature, receipt.is_valid) == (told["receipt"], True)


def test_another_key_than_the_plans_is_refused_at_the_start(folder: Path, party: Party) -> None:
    """Another mixer's store, or any signing key: nobody could check such a receipt."""
    done("keygen --signing -o c.pem")
    for options in (("--mixer-store", folder / "store-2"), ("--signing-key c.pem",)):
        error = refusal(party.plan, *options)
        assert error["field"] == "key"
        assert "identity in the plan" in error["rule"]


def test_signatures_of_some_mixers_are_not_enough(folder: Path, party: Party) -> None:
    """Devices would refuse the plan; and a plan without mixers has nobody who signs it."""
    option = ("--signature", folder / "1.sig.json")
    assert "mixer 2" in refusal(party.plan, *option)["field"]
    assert refusal(OPEN_PLAN, *option)["field"] == "signature"


def test_a_plan_with_mixers_and_no_signature_is_warned_about_at_the_start(
    folder: Path, party: Party, started: list[Any]
) -> None:
    """Browsers would refuse the plan; apps that have the signatures already would not."""
    signed = [word for hop in (1, 2) for word in ("--signature", folder / f"{hop}.sig.json")]
    for number, (plan, options, is_warned) in enumerate(
        ((party.plan, [], True), (party.plan, signed, False), (OPEN_PLAN, [], False))
    ):
        told = serve(plan, *options, f"--spool {number}")
        assert ("no --signature" in told.stderr) is is_warned
    assert len(started) == 3
