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
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from collecting import Running, running
from collector.crowds import plan_of
from components import require
from krand.cli.main import krand
from krand.client.client import Client
from krand.survey.about import About
from krand.survey.plan import Plan
from krand.testing import UnsafeMemoryLedger
from krand.wire.keys import generate_signing_key, write_key_pair
from krand.wire.plan_signatures import PlanSignature, parse_signature, sign_plan, signature_bytes
from krand.wire.receipts import check_receipt
from krand.wire.submissions import submission_bytes
from mixing.chains import Party, mixed_plan_for, stores_of

require("starlette")
require("uvicorn")

FORM = "https://form.example"
OPEN_PLAN = plan_of(1000)


def serve(folder: Path, plan: Plan, *options: str) -> Result:
    """The command, which ends because it cannot start."""
    (folder / "plan.json").write_bytes(plan.bytes)
    usual = ["--plan", str(folder / "plan.json"), "--spool", str(folder / "spool"), "--port", "0"]
    return CliRunner().invoke(krand, ["serve", *usual, *options])


def refusal(folder: Path, plan: Plan, *options: str) -> dict[str, Any]:
    """Why it does not start; nothing was created."""
    told = serve(folder, plan, *options, "--json")
    assert told.exit_code == 2, told.output
    assert not (folder / "spool").exists()
    error: dict[str, Any] = json.loads(told.stdout)["error"]
    return error


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
        (("https://form.example/page",), "scheme://host"),
        (("form.example",), "scheme://host"),
        (("*", FORM), "alone"),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(
    tmp_path: Path, origins: tuple[str, ...], rule: str
) -> None:
    """It would never match, and nobody would know why."""
    options = [word for origin in origins for word in ("--origin", origin)]
    error = refusal(tmp_path, OPEN_PLAN, *options)
    assert error["field"] == "origin"
    assert rule in error["rule"]


def test_invitations_are_given_exactly_where_the_survey_asks_for_them(tmp_path: Path) -> None:
    """Neither a survey that nobody can answer, nor one that everybody can by mistake."""
    invited = replace(OPEN_PLAN, survey=replace(OPEN_PLAN.survey, invitations=True))
    error = refusal(tmp_path, invited)
    assert error["field"] == "invitations"
    assert "--invitations" in error["hint"]
    made = ["invite", str(tmp_path / "plan.json"), "--count", "3", "--url", f"{FORM}/"]
    links = str(tmp_path / "links.csv")
    assert CliRunner().invoke(krand, [*made, "-o", links]).exit_code == 0
    option = ("--invitations", str(tmp_path / "links.json"))
    assert refusal(tmp_path, OPEN_PLAN, *option)["field"] == "invitations"


def test_the_invitations_of_the_survey_are_taken(tmp_path: Path, started: list[Any]) -> None:
    """Those of its round."""
    invited = replace(OPEN_PLAN, survey=replace(OPEN_PLAN.survey, invitations=True))
    (tmp_path / "plan.json").write_bytes(invited.bytes)
    made = ["invite", str(tmp_path / "plan.json"), "--count", "3", "--url", f"{FORM}/"]
    links = str(tmp_path / "links.csv")
    assert CliRunner().invoke(krand, [*made, "-o", links]).exit_code == 0
    told = serve(tmp_path, invited, "--invitations", str(tmp_path / "links.json"))
    assert told.exit_code == 0, told.output
    assert len(started) == 1


@pytest.mark.parametrize(("closes", "over"), [(date(2020, 2, 29), True), (date.max, False)])
def test_a_survey_that_is_over_says_so_at_the_start(
    tmp_path: Path, started: list[Any], closes: date, over: bool
) -> None:
    """The operator would wonder why nobody comes."""
    plan = replace(OPEN_PLAN, survey=replace(OPEN_PLAN.survey, about=About(closes=closes)))
    told = serve(tmp_path, plan)
    assert told.exit_code == 0, told.output
    assert (f"The survey closed on {closes}" in told.stderr) is over


def test_two_signers_of_receipts_are_refused(tmp_path: Path) -> None:
    """Only one can sign."""
    write_key_pair(generate_signing_key(), tmp_path / "c.pem", tmp_path / "c.pub.pem")
    options = ("--signing-key", str(tmp_path / "c.pem"), "--mixer-store", str(tmp_path / "store-1"))
    assert refusal(tmp_path, OPEN_PLAN, *options)["field"] == "signing_key"


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
    with urlopen(f"{collector.url}/v1/{party.plan.hash}/{name}", timeout=60) as answer:
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
    assert mixing is not None
    identity = mixing.mixers[0].identity
    assert fetched(collector, party, "status")["receipt_key"] == identity
    client, other = (
        Client(
            party.plan,
            UnsafeMemoryLedger(),
            expected_hash=party.plan.hash,
            signatures=signatures(collector, party),
        )
        for _ in range(2)
    )
    made = client.prepare({})
    request = Request(
        f"{collector.url}/v1/{party.plan.hash}/submissions",
        submission_bytes(1, made.id, made.messages),
        {"Content-Type": "application/octet-stream", "Origin": FORM},
    )
    with urlopen(request, timeout=60) as answer:
        told = json.loads(answer.read())
        assert answer.headers["Access-Control-Allow-Origin"] == FORM
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(identity))
    assert check_receipt(key, told["receipt"], party.plan.hash, 1)
    receipt = other.submit(collector.url, {})
    assert (receipt.signature, receipt.is_valid) == (told["receipt"], True)


def test_another_key_than_the_plans_is_refused_at_the_start(
    tmp_path: Path, folder: Path, party: Party
) -> None:
    """Another mixer's store, or any signing key: nobody could check such a receipt."""
    write_key_pair(generate_signing_key(), tmp_path / "c.pem", tmp_path / "c.pub.pem")
    for options in (
        ("--mixer-store", str(folder / "store-2")),
        ("--signing-key", str(tmp_path / "c.pem")),
    ):
        error = refusal(tmp_path, party.plan, *options)
        assert error["field"] == "key"
        assert "identity in the plan" in error["rule"]


def test_signatures_of_some_mixers_are_not_enough(
    tmp_path: Path, folder: Path, party: Party
) -> None:
    """Devices would refuse the plan; and a plan without mixers has nobody who signs it."""
    option = ("--signature", str(folder / "1.sig.json"))
    assert "mixer 2" in refusal(tmp_path, party.plan, *option)["field"]
    assert refusal(tmp_path, OPEN_PLAN, *option)["field"] == "signature"


def test_a_plan_with_mixers_and_no_signature_is_warned_about_at_the_start(
    tmp_path: Path, folder: Path, party: Party, started: list[Any]
) -> None:
    """Browsers would refuse the plan; apps that have the signatures already would not."""
    signed = [word for hop in (1, 2) for word in ("--signature", str(folder / f"{hop}.sig.json"))]
    for plan, options, is_warned in (
        (party.plan, [], True),
        (party.plan, signed, False),
        (OPEN_PLAN, [], False),
    ):
        (tmp_path / str(len(started))).mkdir()
        told = serve(tmp_path / str(len(started)), plan, *options)
        assert told.exit_code == 0, told.output
        assert ("no --signature" in told.stderr) is is_warned
    assert len(started) == 3
