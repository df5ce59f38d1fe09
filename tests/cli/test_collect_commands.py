"""`krand serve`, `submit`, `status` and `release`: what they say, and how they refuse."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from collecting import KEY, exact_plan, message, running, submitted
from krand.cli.main import krand
from krand.client.ledger import Ledger
from krand.client.randomizer import message_lanes
from krand.collector.opening import config_of, open_spool
from krand.collector.states import State
from krand.collector.store import RoundClosed, StoreUnavailable
from krand.promise import Linkage
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.testing import FakeChain
from krand.wire.keys import (
    fingerprint,
    generate_private_key,
    generate_signing_key,
    write_key_pair,
)
from krand.wire.layers import layer_info
from krand.wire.messages import ANALYST, MessageFormat, Token
from krand.wire.plan_signatures import signature_bytes
from krand.wire.submissions import Submitted
from krand.wire.suites import SUITE
from krand.wording.plans import promise_sentence
from mixing.chains import mixed_plan_for

CROWD = 30


@pytest.fixture(scope="module")
def plan() -> Plan:
    return exact_plan(CROWD, Linkage.BIT)


@pytest.fixture
def at(tmp_path: Path, plan: Plan) -> Path:
    """A folder with everything that the commands need."""
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    (tmp_path / "answers.json").write_text('{"row": "n1", "column": "n2"}', encoding="utf-8")
    write_key_pair(KEY, tmp_path / "key.pem", tmp_path / "key.pub.pem")
    signer = generate_signing_key()
    write_key_pair(signer, tmp_path / "collector.pem", tmp_path / "collector.pub.pem")
    return tmp_path


def run(at: Path, command: str, *arguments: str) -> Result:
    """The command, its files in the folder."""
    usual = {
        "serve": ("--plan", "plan.json", "--spool", "spool"),
        "status": ("--plan", "plan.json", "--spool", "spool"),
        "release": (
            *("--plan", "plan.json", "--spool", "spool"),
            *("--key", "collector.pem", "-o", "out"),
        ),
        "submit": (
            "answers.json",
            *("--plan", "plan.json", "--ledger", "ledger"),
        ),
    }[command]
    placed = [
        word if word.startswith("-") or "://" in word or word.isdigit() else str(at / word)
        for word in usual
    ]
    return CliRunner().invoke(krand, [command, *placed, *arguments])


def answer(at: Path, command: str, *arguments: str) -> dict[str, Any]:
    result = run(at, command, *arguments, "--json")
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def refusal(at: Path, code: int, command: str, *arguments: str) -> dict[str, Any]:
    result = run(at, command, *arguments, "--json")
    assert result.exit_code == code, result.output
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    text = run(at, command, *arguments)
    assert text.exit_code == code
    assert text.stderr.startswith("error: ")
    assert "bug in krand" not in text.stderr
    return error


def filled(at: Path, plan: Plan, people: int, first: int = 0) -> list[Submitted]:
    """So many people have come."""
    shape = config_of(plan).format
    group = [submitted(number, shape) for number in range(first, first + people)]
    with open_spool(plan, at / "spool") as spool:
        spool.add(group)
    return group


def test_a_submission_travels_from_a_file_to_a_running_collector(at: Path, plan: Plan) -> None:
    """Once for every ledger; a second time nothing is sent, and it says so."""
    with running(at / "plan.json", at / "spool", at / "log") as collector:
        address = ("--collector", collector.url)
        found = answer(at, "submit", *address, "--plan-hash", plan.hash)
        assert found == {
            **{"plan": plan.hash, "round": 1},
            **{"delivered": True, "from_earlier_attempt": False},
            **{"receipt": None, "receipt_is_valid": None},
        }
        (at / "answers.json").write_text('{"row": "n0"}', encoding="utf-8")
        error = refusal(at, 2, "submit", *address)
        text = run(at, "submit", *address)
    assert (error["kind"], error["field"], error["value"]) == ("invalid_input", "round", 1)
    assert "must not have been answered on this device before" in error["rule"]
    assert error["hint"].startswith("the collector has the first answers")
    assert "the new ones were not sent" in text.stderr
    assert "delivered" not in text.output
    with open_spool(plan, at / "spool") as spool:
        assert spool.batches()[-1].people == 1
    assert collector.process.returncode is not None
    for line in (at / "log").read_text(encoding="utf-8").splitlines():
        if line.startswith("{") and line.endswith("}") and len(line) > 1:
            assert set(json.loads(line)) == {"level", "event"}


@pytest.mark.check
@pytest.mark.parametrize("what", ["missing", "another", "no key"])
def test_serve_does_not_start_with_another_id_key(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Every submission would fail; the error names the spool, the file and what to do."""
    filled(at, plan, 3)
    if what == "missing":  # as for another user, or after the spool was moved
        monkeypatch.setenv("XDG_STATE_HOME", str(at / "elsewhere"))
        options = []
    else:
        content = "5a" * 32 if what == "another" else "5a"
        (at / "other.key").write_text(content, encoding="ascii")
        options = ["--id-key", "other.key"]
    files = ["--plan", "plan.json", "--spool", "spool", "--port", "0", *options]
    tried = subprocess.run(
        [sys.executable, "-m", "krand", "serve", *files],
        capture_output=True,
        text=True,
        cwd=at,
        timeout=120,  # for as long as it runs, it is wrong
    )
    assert tried.returncode == 2, tried.stderr
    assert tried.stderr.startswith("error: id key: must ")
    assert "Collecting" not in tried.stderr
    assert "--id-key" in tried.stderr
    if what == "no key":
        assert "must hold 64 hex digits" in tried.stderr
    else:
        assert "spool/spool.sqlite" in tried.stderr
        assert "XDG_STATE_HOME" in tried.stderr
    assert ("other.key" if options else str(at / "elsewhere")) in tried.stderr
    found = answer(at, "status")["batches"]  # which needs no key
    assert found[0]["state"] == "open"


@pytest.mark.check
def test_quiet_has_no_log_of_the_start_and_the_end(at: Path) -> None:
    """Only warnings and errors are for somebody who asked for quiet."""
    logs = {}
    for options in ((), ("--quiet",)):
        files = (at / "plan.json", at / "spool", at / "log")
        with running(*files, options=options) as collector:
            assert urlopen(f"{collector.url}/readyz").status == 200
        logs[options], _, _ = (at / "log").read_text(encoding="utf-8").partition("{\n")
    assert "startup complete" in logs[()]
    assert logs["--quiet",] == ""


def test_devices_noise_is_not_released_by_closing_below_its_crowd(at: Path, plan: Plan) -> None:
    """Its promise needs the crowd; options of mixers are refused, too, and nothing is sealed."""
    filled(at, plan, 2)
    error = refusal(at, 2, "release", "--close", "--yes")
    assert (error["field"], error["value"]) == ("people", "about 0")
    assert "wait for more people" in error["hint"]
    error = refusal(at, 2, "release", "--close")  # nobody can be asked
    assert (error["field"], error["hint"]) == ("yes", "add --yes to close without asking")
    for option in ("--yes", "--erase"):
        assert refusal(at, 2, "release", option)["field"] == option[2:]
    for name in ("mixer_store", "anchor"):
        option = "--" + name.replace("_", "-")
        assert refusal(at, 2, "release", option, str(at / "x"))["field"] == name
    with open_spool(plan, at / "spool") as spool:
        assert [batch.state for batch in spool.batches()] == [State.OPEN]


def test_each_source_of_noise_needs_its_key(at: Path, plan: Plan) -> None:
    """A signing key for devices' noise, a mixer's store for mixers' noise."""
    filled(at, plan, 2)
    files = ("--plan", str(at / "plan.json"), "--spool", str(at / "spool"), "-o", str(at / "out"))
    found = CliRunner().invoke(krand, ["release", *files, "--json"])
    error = json.loads(found.stdout)["error"]
    assert (error["field"], error["rule"]) == ("key", "must be given with devices' noise")
    assert "krand keygen --signing" in error["hint"]
    (at / "plan.json").write_bytes(mixed_plan_for(mixers=1).plan.bytes)
    assert refusal(at, 2, "release")["field"] == "key"
    found = CliRunner().invoke(krand, ["release", *files, "--json"])
    error = json.loads(found.stdout)["error"]
    assert (error["field"], error["rule"]) == ("mixer_store", "must be given with mixers' noise")


def free_port() -> int:
    """One at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.mark.check
def test_a_collector_that_is_not_there_is_exit_code_75(
    at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every attempt is told, and in the end what is kept and how to go on: trying again is safe."""
    monkeypatch.setattr("krand.client.sending.FIRST_WAIT", 0.0)
    address = ("--collector", f"http://127.0.0.1:{free_port()}")
    first = run(at, "submit", *address, "--trust-this-plan", "--json")
    error = json.loads(first.stdout)["error"]
    assert error["kind"] == "unavailable"
    assert "in 8 attempts" in error["reason"]
    assert f"the sealed submission is kept in {at / 'ledger'}" in error["reason"]
    assert "run the same command again" in error["reason"]
    assert error["message"] == error["reason"]
    told = run(at, "submit", *address)
    assert told.exit_code == 75
    for attempt in range(1, 8):
        assert f"attempt {attempt} of 8 failed" in told.stderr
    assert "attempt" not in run(at, "submit", *address, "--quiet").stderr.partition("error:")[0]
    with running(at / "plan.json", at / "spool", at / "log") as collector:
        found = answer(at, "submit", "--collector", collector.url)
    assert (found["delivered"], found["from_earlier_attempt"]) == (True, True)


@pytest.mark.check
def test_ctrl_c_loses_nothing(at: Path, plan: Plan) -> None:
    """While it waits for a dead collector: exit code 130, and what is kept is said."""
    arguments = ["answers.json", "--plan", "plan.json", "--ledger", "ledger", "--trust-this-plan"]
    arguments += ["--collector", f"http://127.0.0.1:{free_port()}"]
    with subprocess.Popen(
        [sys.executable, "-m", "krand", "submit", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=at,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "attempt 1 of 8 failed" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert "the sealed submission is kept in ledger" in said
    (entry,) = Ledger(at / "ledger").entries()
    assert (entry.plan_hash, entry.acknowledged) == (plan.hash, False)


def test_submit_takes_no_plan_that_nobody_trusts(at: Path) -> None:
    """Not even one that three invented mixers signed: the error says whom it names and promises."""
    chain = FakeChain(mixed_plan_for(mixers=3).plan)
    (at / "plan.json").write_bytes(chain.plan.bytes)
    signed: list[str] = []
    for number, signature in enumerate(chain.signatures):
        (at / f"{number}.json").write_bytes(signature_bytes(signature))
        signed += ["--signature", str(at / f"{number}.json")]
    address = ("--collector", f"http://127.0.0.1:{free_port()}")
    error = refusal(at, 2, "submit", *address, *signed)
    assert (error["field"], error["value"]) == ("plan", chain.plan.hash)
    assert chain.plan.mixing is not None
    for mixer in chain.plan.mixing.mixers:
        assert f"{mixer.name} ({mixer.identity})" in error["hint"]
    for part in (promise_sentence(chain.plan), "--plan-hash", "--trust-this-plan"):
        assert part in error["hint"]
    assert Ledger(at / "ledger").entries() == ()


@pytest.mark.check
@pytest.mark.parametrize("by_hash", [True, False])
def test_the_ledger_remembers_which_plan_is_trusted(at: Path, plan: Plan, by_hash: bool) -> None:
    """By hash or on first use; another plan of the same survey has to be trusted by itself."""
    trusted = ("--plan-hash", plan.hash) if by_hash else ("--trust-this-plan",)
    with running(at / "plan.json", at / "spool", at / "log") as collector:
        address = ("--collector", collector.url)
        refusal(at, 2, "submit", *address)
        assert answer(at, "submit", *address, *trusted)["delivered"]
        error = refusal(at, 2, "submit", *address)
        assert error["field"] == "round"  # the plan is accepted, the round is answered
        other = exact_plan(CROWD + 1, Linkage.BIT)
        assert other.survey.id == plan.survey.id
        (at / "plan.json").write_bytes(other.bytes)
        error = refusal(at, 2, "submit", *address)
    assert (error["field"], error["value"]) == ("plan", other.hash)
    assert f"this device trusts another one, {plan.hash}" in error["rule"]


@pytest.mark.parametrize("url", ["http://collector.example", "http://192.0.2.1", "http://127.1"])
def test_submit_sends_nothing_unencrypted(at: Path, url: str) -> None:
    """Not over http://, except on this machine; no ledger is made."""
    error = refusal(at, 2, "submit", "--collector", url, "--trust-this-plan")
    assert (error["field"], error["value"]) == ("url", url)
    assert "must begin with https://" in error["rule"]
    assert "TLS" in error["hint"]
    assert not (at / "ledger").exists()


def test_submit_takes_only_the_plan_that_is_expected(at: Path, plan: Plan) -> None:
    """--plan-hash pins it: both hashes in the error, and no ledger entry."""
    address = ("--collector", "http://127.0.0.1:1")
    error = refusal(at, 2, "submit", *address, "--plan-hash", "ab" * 32)
    assert (error["field"], error["value"]) == ("plan", plan.hash)
    assert "ab" * 32 in error["rule"]
    assert Ledger(at / "ledger").entries() == ()


def _sealed_for(key: X25519PublicKey, plan: Plan, lane: Lane) -> bytes:
    info = layer_info(ANALYST, bytes.fromhex(plan.hash), 1, lane.number)
    return SUITE.encrypt(MessageFormat(lane).encode(Token(lane.offset)), key, info)


def sealed_batch(at: Path, plan: Plan, sealed_for: X25519PublicKey) -> Path:
    """A batch whose messages were sealed for a key, whatever the plan says; signed."""
    with open_spool(plan, at / "spool") as spool:
        for number in range(CROWD):
            own = (_sealed_for(sealed_for, plan, lane) for lane in message_lanes(plan))
            spool.add([Submitted(number.to_bytes(16), b"".join(own))])
    (batch,) = answer(at, "release")["released"]
    return Path(batch["batch"])


def tally_of(at: Path, batch: Path, key: str) -> Result:
    options = {"plan": "plan.json", "key": key, "collector-key": "collector.pub.pem"}
    given = [word for name, file in options.items() for word in (f"--{name}", str(at / file))]
    workers = ["--workers", "1", "-o", str(at / "tally.json")]
    return CliRunner().invoke(krand, ["tally", str(batch), *given, *workers])


def test_a_key_that_is_not_the_plans_opens_nothing(at: Path, plan: Plan) -> None:
    """Exit code 2 and the fingerprints of both, and no tally is written."""
    batch = sealed_batch(at, plan, KEY.public_key())
    other = generate_private_key()
    write_key_pair(other, at / "other.pem", at / "other.pub.pem")
    result = tally_of(at, batch, "other.pem")
    assert result.exit_code == 2, result.output
    assert "these messages were sealed for another key" in result.stderr
    assert fingerprint(KEY.public_key()) in result.stderr
    assert fingerprint(other.public_key()) in result.stderr
    assert not (at / "tally.json").exists()
    assert tally_of(at, batch, "key.pem").exit_code == 0


def test_messages_of_which_none_opens_are_no_tally(at: Path, plan: Plan) -> None:
    """Devices that sealed for another key than the plan's: exit code 2, and nothing is written."""
    batch = sealed_batch(at, plan, generate_private_key().public_key())
    result = tally_of(at, batch, "key.pem")
    assert result.exit_code == 2, result.output
    assert "not the key these messages were sealed for" in result.stderr
    assert not list(at.glob("*tally.json*"))


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "must be a JSON object"),
        (b"\xff", "must be a JSON object"),
        (b"[" * 100_000, "must be a JSON object"),
        (b"[1]", "must be a JSON object"),
    ],
)
def test_answers_that_are_no_object_are_refused(at: Path, content: bytes, rule: str) -> None:
    """Exit code 2, the field is answers, and the ledger is not made."""
    (at / "answers.json").write_bytes(content)
    error = refusal(at, 2, "submit", "--collector", "http://127.0.0.1:1")
    assert error["field"] == "answers"
    assert rule in error["rule"]
    assert not (at / "ledger").exists()


def test_what_else_submit_refuses(at: Path) -> None:
    """No file, a bad address, a round that was not planned: each by its field."""
    assert refusal(at, 2, "submit", "--collector", "example.org")["field"] == "url"
    assert (
        refusal(
            *(at, 2, "submit", "--collector", "https://x.invalid"),
            *("--round", "2", "--trust-this-plan"),
        )["field"]
        == "round"
    )
    (at / "answers.json").unlink()
    assert refusal(at, 2, "submit", "--collector", "http://127.0.0.1:1")["field"] == "answers"


def test_status_tells_people_in_steps(at: Path, plan: Plan) -> None:
    """The open batch coarsely, a full one exactly; for people and for programs."""
    filled(at, plan, CROWD + 19)
    found = answer(at, "status", "--check")
    assert (found["plan"], found["step"]) == (plan.hash, 10)
    full, waiting = found["batches"]
    assert (full["state"], full["people"], full["messages"]) == (
        *("sealed", CROWD),
        CROWD * plan.messages,
    )
    assert (waiting["state"], waiting["people"], waiting["messages"]) == ("open", 10, None)
    text = run(at, "status", "--check").stdout
    assert "about 10" in text
    assert f"With {CROWD + 10} people the margin of error (95 %)" in text
    assert "Nothing is damaged." in text


def test_status_changes_nothing_where_there_is_no_spool(at: Path) -> None:
    """It is an error, and no folder is made."""
    for command in ("status", "release"):
        assert refusal(at, 2, command)["field"] == "spool"
    assert not (at / "spool").exists()


def test_another_plan_or_round_is_refused(at: Path, plan: Plan) -> None:
    """What was planned cannot be changed afterwards, least of all the crowd."""
    filled(at, plan, 3)
    smaller = exact_plan(CROWD - 1, Linkage.BIT)
    (at / "plan.json").write_bytes(smaller.bytes)
    for command in ("status", "release", "serve"):
        error = refusal(at, 2, command, *(["--port", "0"] if command == "serve" else []))
        assert error["field"] == "spool"
        assert "cannot be changed" in error["hint"]


def test_release_below_the_crowd_is_refused(at: Path, plan: Plan) -> None:
    """Exit code 2; how many are missing is told coarsely, and nothing is written."""
    filled(at, plan, CROWD - 1)
    assert answer(at, "release")["released"] == []
    error = refusal(at, 2, "release", "--close", "--yes")
    assert (error["field"], error["value"]) == ("people", "about 0")
    assert not list((at / "out").glob("*")) if (at / "out").exists() else True


def test_release_writes_what_is_full_and_then_nothing_new(at: Path, plan: Plan) -> None:
    """Batch and manifest by number; a second time it says that the next crowd is awaited."""
    filled(at, plan, 2 * CROWD + 4)
    found = answer(at, "release")
    assert [batch["number"] for batch in found["released"]] == [1, 2]
    for batch in found["released"]:
        assert batch["people"] == CROWD
        assert Path(batch["batch"]).exists()
        assert Path(batch["manifest"]).exists()
    assert answer(at, "release")["released"] == []
    assert "Nothing new" in run(at, "release").stdout
    filled(at, plan, CROWD, first=1_000)
    text = run(at, "release").stdout
    assert f"batch 3: {CROWD} people, {CROWD * plan.messages} messages" in text


def test_a_release_never_replaces_another_batch(at: Path, plan: Plan) -> None:
    """Two collectors with one folder: the second is refused, and what lies there stays."""
    filled(at, plan, CROWD)
    (batch,) = answer(at, "release")["released"]
    before = Path(batch["batch"]).read_bytes()
    (at / "spool").rename(at / "first")
    filled(at, plan, CROWD, first=500)
    error = refusal(at, 2, "release")
    assert (error["field"], error["value"]) == ("output", batch["batch"])
    assert Path(batch["batch"]).read_bytes() == before
    assert answer(at, "status")["batches"][0]["state"] == "releasing"


def test_a_release_needs_the_collectors_key(at: Path, plan: Plan) -> None:
    """Before anything is written."""
    filled(at, plan, CROWD)
    (at / "collector.pem").write_bytes((at / "key.pem").read_bytes())
    assert refusal(at, 2, "release")["kind"] == "invalid_input"
    assert not (at / "out").exists()


def test_a_disk_that_fails_is_exit_code_75(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a bug of ours, and not the user's mistake."""
    filled(at, plan, 3)

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("the spool cannot be written now: disk full")

    monkeypatch.setattr("krand.collector.opening.Spool", fail)
    for command in ("status", "release", "serve"):
        error = refusal(at, 75, command, *(["--port", "0"] if command == "serve" else []))
        assert (error["kind"], error["field"]) == ("unavailable", None)
        assert "disk full" in error["reason"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--port", "-1"], "port"),
        (["--port", "99999"], "port"),
        (["--port", "0", "--host", "no.such.host.invalid"], "host"),
        (["--port", "0", "--host", "192.0.2.1"], "port"),
    ],
)
def test_serve_refuses_where_it_cannot_listen(at: Path, options: list[str], field: str) -> None:
    """Before a spool is made."""
    assert refusal(at, 2, "serve", *options)["field"] == field
    assert not (at / "spool").exists()


def test_serve_refuses_a_port_that_is_taken(at: Path) -> None:
    """And says so, by its number."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        error = refusal(at, 2, "serve", "--port", str(port))
    assert (error["field"], error["value"]) == ("port", f"127.0.0.1:{port}")


def test_serve_refuses_a_round_that_was_not_planned(at: Path) -> None:
    """As every command does."""
    assert refusal(at, 2, "serve", "--port", "0", "--round", "7")["field"] == "round"


def test_closing_asks_and_says_what_it_does(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody who came is in the batch; the preview is coarse, and can be declined."""
    one_batch = replace(plan, survey=replace(plan.survey, release_every=None))
    (at / "plan.json").write_bytes(one_batch.bytes)
    filled(at, one_batch, CROWD + 17)
    monkeypatch.setattr("krand.cli.commands.release._can_ask", lambda: True)
    command = ["release", "--plan", "plan.json", "--spool", "spool", "--key", "collector.pem"]
    words = [str(at / w) if "." in w or w == "spool" else w for w in command]
    words += ["-o", str(at / "out"), "--close"]
    declined = CliRunner().invoke(krand, words, input="n\n")
    assert declined.exit_code == 130
    said = " ".join(declined.stderr.split())
    assert "About 32 people are in the open batch (told in steps of 32)." in said
    assert "They are released as one batch, and the round is closed." in said
    assert "Nothing was closed." in said
    assert answer(at, "status")["batches"][0]["state"] == "open"
    done = CliRunner().invoke(krand, words, input="y\n")
    assert done.exit_code == 0, done.output
    assert f"Batch 1 is closed with {CROWD + 17} people." in done.stdout
    assert answer(at, "status")["closed"] is True


def test_a_round_that_is_too_small_is_erased_only_on_demand(at: Path, plan: Plan) -> None:
    """Nothing is released, no message is left in the spool, and the round stays closed."""
    filled(at, plan, CROWD - 1)
    found = answer(at, "release", "--close", "--yes", "--erase")
    assert found["released"] == []
    assert (found["closed"]["state"], found["closed"]["lost"]) == ("erased", CROWD - 1)
    content = b"".join(path.read_bytes() for path in (at / "spool").iterdir())
    assert message(3, 0)[:12] not in content
    assert answer(at, "release", "--close", "--yes", "--erase")["closed"] is None
    with open_spool(plan, at / "spool") as spool, pytest.raises(RoundClosed):
        spool.add([submitted(5_000, config_of(plan).format)])
