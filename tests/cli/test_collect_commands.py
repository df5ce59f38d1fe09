"""`krand serve`, `submit`, `status` and `release`: what they say, and how they refuse."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import Result
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from collecting import KEY, exact_plan, files_in, message, running, submitted
from command_line import done, refused, run, told
from krand.client.ledger import Ledger
from krand.client.randomizer import message_lanes
from krand.collector.opening import config_of, open_spool
from krand.collector.store import RoundClosed, State, StoreUnavailable
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
from krand.wire.layers import SUITE, layer_info
from krand.wire.messages import ANALYST, MessageFormat, Token
from krand.wire.plan_signatures import signature_bytes
from krand.wire.submissions import Submitted
from krand.wording.plans import promise_sentence
from mixing.chains import mixed_plan_for

CROWD = 30
SERVE = "serve --plan plan.json --spool spool --port 0"
STATUS = "status --plan plan.json --spool spool"
RELEASE_OF = "release --plan plan.json --spool spool -o out"
RELEASE = f"{RELEASE_OF} --key collector.pem"
SUBMIT = "submit answers.json --plan plan.json --ledger ledger --collector"
NOWHERE = "http://127.0.0.1:1"
FILES = (Path("plan.json"), Path("spool"), Path("log"))
"""What a collector that runs reads and writes."""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return exact_plan(CROWD, Linkage.BIT)


@pytest.fixture
def at(here: Path, plan: Plan) -> Path:
    """A folder with everything that the commands need."""
    (here / "plan.json").write_bytes(plan.bytes)
    (here / "answers.json").write_text('{"row": "n1", "column": "n2"}', encoding="utf-8")
    write_key_pair(KEY, here / "key.pem", here / "key.pub.pem")
    write_key_pair(generate_signing_key(), here / "collector.pem", here / "collector.pub.pem")
    return here


def filled(
    at: Path, plan: Plan, people: int, first: int = 0, *, closed: bool = False
) -> list[Submitted]:
    """So many people have come, and perhaps the round was closed then."""
    shape = config_of(plan).format
    group = [submitted(number, shape) for number in range(first, first + people)]
    with open_spool(plan, at / "spool") as spool:
        spool.add(group)
        if closed:
            spool.close_batch()
    return group


@pytest.mark.check
def test_a_submission_travels_from_a_file_to_a_running_collector(at: Path, plan: Plan) -> None:
    """Once for every ledger; a second time nothing is sent, and it says so."""
    with running(*FILES) as collector:
        found = told(SUBMIT, collector.url, "--plan-hash", plan.hash)
        assert found == {
            **{"plan": plan.hash, "round": 1},
            **{"delivered": True, "from_earlier_attempt": False},
            **{"receipt": None, "receipt_is_valid": None},
        }
        (at / "answers.json").write_text('{"row": "n0"}', encoding="utf-8")
        error = refused(SUBMIT, collector.url)
        text = run(SUBMIT, collector.url)
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
    named, option = "other.key", "--id-key other.key"
    if what == "missing":  # as for another user, or after the spool was moved
        named, option = str(at / "elsewhere"), ""
        monkeypatch.setenv("XDG_STATE_HOME", named)
    else:
        content = "5a" * 32 if what == "another" else "5a"
        (at / "other.key").write_text(content, encoding="ascii")
    words = [sys.executable, "-m", "krand", *SERVE.split(), *option.split()]
    # For as long as it runs, it is wrong.
    tried = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert tried.returncode == 2, tried.stderr
    assert tried.stderr.startswith("error: id key: must ")
    assert "Collecting" not in tried.stderr
    expected = ("spool/spool.sqlite", "XDG_STATE_HOME")
    expected = ("must hold 64 hex digits",) if what == "no key" else expected
    for part in ("--id-key", named, *expected):
        assert part in tried.stderr
    assert told(STATUS)["batches"][0]["state"] == "open"  # which needs no key


@pytest.mark.check
def test_quiet_has_no_log_of_the_start_and_the_end(at: Path) -> None:
    """Only warnings and errors are for somebody who asked for quiet."""
    logs = []
    for options in ((), ("--quiet",)):
        with running(*FILES, options=options) as collector:
            assert urlopen(f"{collector.url}/readyz").status == 200
        logs.append((at / "log").read_text(encoding="utf-8").partition("{\n")[0])
    assert "startup complete" in logs[0]
    assert logs[1] == ""


def test_devices_noise_is_not_released_by_closing_below_its_crowd(at: Path, plan: Plan) -> None:
    """Its promise needs the crowd; options of mixers are refused, too, and nothing is sealed."""
    filled(at, plan, CROWD - 1)
    assert told(RELEASE)["released"] == []
    error = refused(RELEASE, "--close --yes")
    assert (error["field"], error["value"]) == ("people", "about 0")  # told coarsely
    assert "wait for more people" in error["hint"]
    error = refused(RELEASE, "--close")  # nobody can be asked
    assert (error["field"], error["hint"]) == ("yes", "add --yes to close without asking")
    for option, field in (
        ("--yes", "yes"),
        ("--erase", "erase"),
        ("--mixer-store x", "mixer_store"),
        ("--anchor x", "anchor"),
    ):
        assert refused(RELEASE, option)["field"] == field
    assert files_in(at / "out") == {}
    with open_spool(plan, at / "spool") as spool:
        assert [batch.state for batch in spool.batches()] == [State.OPEN]


def test_each_source_of_noise_needs_its_key(at: Path, plan: Plan) -> None:
    """A signing key for devices' noise, a mixer's store for mixers' noise."""
    filled(at, plan, 2)
    error = refused(RELEASE_OF)
    assert (error["field"], error["rule"]) == ("key", "must be given with devices' noise")
    assert "krand keygen --signing" in error["hint"]
    (at / "plan.json").write_bytes(mixed_plan_for(mixers=1).plan.bytes)
    assert refused(RELEASE)["field"] == "key"
    error = refused(RELEASE_OF)
    assert (error["field"], error["rule"]) == ("mixer_store", "must be given with mixers' noise")


@pytest.fixture
def silent() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.check
def test_a_collector_that_is_not_there_is_exit_code_75(
    at: Path, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every attempt is told, and in the end what is kept and how to go on: trying again is safe."""
    monkeypatch.setattr("krand.client.sending.FIRST_WAIT", 0.0)
    first = run(SUBMIT, silent, "--trust-this-plan --json")
    error = json.loads(first.stdout)["error"]
    assert error["kind"] == "unavailable"
    assert "in 8 attempts" in error["reason"]
    assert "the sealed submission is kept in ledger" in error["reason"]
    assert "run the same command again" in error["reason"]
    assert error["message"] == error["reason"]
    again = run(SUBMIT, silent)
    assert again.exit_code == 75
    for attempt in range(1, 8):
        assert f"attempt {attempt} of 8 failed" in again.stderr
    assert "attempt" not in run(SUBMIT, silent, "--quiet").stderr.partition("error:")[0]
    with running(*FILES) as collector:
        found = told(SUBMIT, collector.url)
    assert (found["delivered"], found["from_earlier_attempt"]) == (True, True)


@pytest.mark.check
def test_ctrl_c_loses_nothing(at: Path, plan: Plan, silent: str) -> None:
    """While it waits for a dead collector: exit code 130, and what is kept is said."""
    words = [*SUBMIT.split(), silent, "--trust-this-plan"]
    with subprocess.Popen(
        [sys.executable, "-m", "krand", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
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
    for number, signature in enumerate(chain.signatures):
        (at / f"{number}.json").write_bytes(signature_bytes(signature))
    signed = " ".join(f"--signature {number}.json" for number in range(3))
    error = refused(SUBMIT, NOWHERE, signed)
    assert (error["field"], error["value"]) == ("plan", chain.plan.hash)
    named = [f"{mixer.name} ({mixer.identity})" for mixer in chain.plan.mixing.mixers]
    for part in (*named, promise_sentence(chain.plan), "--plan-hash", "--trust-this-plan"):
        assert part in error["hint"]
    assert Ledger(at / "ledger").entries() == ()


@pytest.mark.check
@pytest.mark.parametrize("by_hash", [True, False])
def test_the_ledger_remembers_which_plan_is_trusted(at: Path, plan: Plan, by_hash: bool) -> None:
    """By hash or on first use; another plan of the same survey has to be trusted by itself."""
    with running(*FILES) as collector:
        submit = f"{SUBMIT} {collector.url}"
        refused(submit)
        trusted = f"--plan-hash {plan.hash}" if by_hash else "--trust-this-plan"
        assert told(submit, trusted)["delivered"]
        assert refused(submit)["field"] == "round"  # the plan is accepted, the round is answered
        other = exact_plan(CROWD + 1, Linkage.BIT)
        assert other.survey.id == plan.survey.id
        (at / "plan.json").write_bytes(other.bytes)
        error = refused(submit)
    assert (error["field"], error["value"]) == ("plan", other.hash)
    assert f"this device trusts another one, {plan.hash}" in error["rule"]


@pytest.mark.parametrize("url", ["http://collector.example", "http://192.0.2.1", "http://127.1"])
def test_submit_sends_nothing_unencrypted(at: Path, url: str) -> None:
    """Not over http://, except on this machine; no ledger is made."""
    error = refused(SUBMIT, url, "--trust-this-plan")
    assert (error["field"], error["value"]) == ("url", url)
    assert "must begin with https://" in error["rule"]
    assert "TLS" in error["hint"]
    assert not (at / "ledger").exists()


def test_submit_takes_only_the_plan_that_is_expected(at: Path, plan: Plan) -> None:
    """--plan-hash pins it: both hashes in the error, and no ledger entry."""
    error = refused(SUBMIT, NOWHERE, "--plan-hash", "ab" * 32)
    assert (error["field"], error["value"]) == ("plan", plan.hash)
    assert "ab" * 32 in error["rule"]
    assert Ledger(at / "ledger").entries() == ()


def _sealed_for(key: X25519PublicKey, plan: Plan, lane: Lane) -> bytes:
    info = layer_info(ANALYST, bytes.fromhex(plan.hash), 1, lane.number)
    return SUITE.encrypt(MessageFormat(lane).encode(Token(lane.offset)), key, info)


def tally_of(at: Path, plan: Plan, sealed_for: X25519PublicKey, key: str) -> Result:
    """Of a batch whose messages were sealed for a key, whatever the plan says; signed."""
    if not (at / "spool").exists():
        with open_spool(plan, at / "spool") as spool:
            for number in range(CROWD):
                own = (_sealed_for(sealed_for, plan, lane) for lane in message_lanes(plan))
                spool.add([Submitted(number.to_bytes(16), b"".join(own))])
        done(RELEASE, "--close --yes")
    (batch,) = (at / "out").glob("*.parquet")
    options = "--plan plan.json --collector-key collector.pub.pem --workers 1 -o tally.json"
    return run("tally", batch, options, f"--key {key}")


def test_a_key_that_is_not_the_plans_opens_nothing(at: Path, plan: Plan) -> None:
    """Exit code 2 and the fingerprints of both, and no tally is written."""
    other = generate_private_key()
    write_key_pair(other, at / "other.pem", at / "other.pub.pem")
    result = tally_of(at, plan, KEY.public_key(), "other.pem")
    assert result.exit_code == 2, result.output
    assert "these messages were sealed for another key" in result.stderr
    assert fingerprint(KEY.public_key()) in result.stderr
    assert fingerprint(other.public_key()) in result.stderr
    assert not (at / "tally.json").exists()
    assert tally_of(at, plan, KEY.public_key(), "key.pem").exit_code == 0


def test_messages_of_which_none_opens_are_no_tally(at: Path, plan: Plan) -> None:
    """Devices that sealed for another key than the plan's: exit code 2, and nothing is written."""
    result = tally_of(at, plan, generate_private_key().public_key(), "key.pem")
    assert result.exit_code == 2, result.output
    assert "not the key these messages were sealed for" in result.stderr
    assert not list(at.glob("*tally.json*"))


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"[1]"])
def test_answers_that_are_no_object_are_refused(at: Path, content: bytes) -> None:
    """Exit code 2, the field is answers, and the ledger is not made."""
    (at / "answers.json").write_bytes(content)
    error = refused(SUBMIT, NOWHERE)
    assert error["field"] == "answers"
    assert "must be a JSON object" in error["rule"]
    assert not (at / "ledger").exists()


MISTAKES = [
    (f"{SUBMIT} example.org", "url"),
    (f"{SUBMIT.replace('answers', 'absent')} {NOWHERE}", "answers"),
    (STATUS, "spool"),
    (RELEASE, "spool"),
    (f"{SERVE} --round 7", "round"),
    (f"{SERVE} --port -1", "port"),
    (f"{SERVE} --port 99999", "port"),
    (f"{SERVE} --host no.such.host.invalid", "host"),
    (f"{SERVE} --host 192.0.2.1", "port"),
]


@pytest.mark.parametrize(("line", "field"), MISTAKES)
def test_mistakes_are_named(at: Path, line: str, field: str) -> None:
    """No file, a bad address, a round that was not planned, where no spool is; none is made."""
    assert refused(line)["field"] == field
    assert not (at / "spool").exists()


def test_serve_refuses_a_port_that_is_taken(at: Path) -> None:
    """And says so, by its number."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        error = refused(SERVE, f"--port {port}")
    assert (error["field"], error["value"]) == ("port", f"127.0.0.1:{port}")


def test_status_tells_people_in_steps(at: Path, plan: Plan) -> None:
    """An open batch coarsely, a closed one exactly; for people and for programs."""
    people = CROWD + 19
    filled(at, plan, people)

    def shown() -> list[tuple[str, int, int | None]]:
        found = told(STATUS, "--check")
        assert (found["plan"], found["step"]) == (plan.hash, 10)
        return [(each["state"], each["people"], each["messages"]) for each in found["batches"]]

    assert shown() == [("open", 40, None)]
    text = done(STATUS, "--check").stdout
    assert "about 40" in text
    assert "With 40 people the margin of error (95 %)" in text
    assert "Nothing is damaged." in text
    filled(at, plan, 0, closed=True)
    assert shown() == [("sealed", people, people * plan.messages)]


def test_the_rate_of_participation_is_as_coarse_as_the_number_of_people(
    at: Path, plan: Plan
) -> None:
    """Of the same rounded number, for people and programs; as the option or the survey says."""
    filled(at, plan, CROWD + 19)
    assert told(STATUS)["participation"] is None
    found = told(STATUS, "--invited 160")
    assert (found["invited"], found["participation"]) == (160, 40 / 160)
    text = done(STATUS, "--invited 160").stdout
    assert "At least 40 of 160 invited people have answered (25 %)." in text
    for wrong in ("0", "-3", "1" * 30, "none.json"):
        assert refused(STATUS, f"--invited={wrong}")["field"] in ("invited", "invitations")


def test_another_plan_or_round_is_refused(at: Path, plan: Plan) -> None:
    """What was planned cannot be changed afterwards, least of all the crowd."""
    filled(at, plan, 3)
    (at / "plan.json").write_bytes(exact_plan(CROWD - 1, Linkage.BIT).bytes)
    for command in (STATUS, RELEASE, SERVE):
        error = refused(command)
        assert error["field"] == "spool"
        assert "cannot be changed" in error["hint"]


def test_release_writes_what_is_closed_and_then_nothing_new(at: Path, plan: Plan) -> None:
    """Batch and manifest; before, it says that --close is awaited, and later that all is done."""
    filled(at, plan, CROWD + 4)
    assert "the batch takes submissions until --close closes it" in done(RELEASE).stdout
    filled(at, plan, 0, closed=True)
    (batch,) = told(RELEASE)["released"]
    assert (batch["number"], batch["people"]) == (1, CROWD + 4)
    assert all(Path(batch[name]).exists() for name in ("batch", "manifest"))
    assert told(RELEASE)["released"] == []
    assert "the round is closed, and its batch is written" in done(RELEASE).stdout


def test_a_release_never_replaces_another_batch(at: Path, plan: Plan) -> None:
    """Two collectors with one folder: the second is refused, and what lies there stays."""
    filled(at, plan, CROWD, closed=True)
    (batch,) = told(RELEASE)["released"]
    before = Path(batch["batch"]).read_bytes()
    (at / "spool").rename(at / "first")
    filled(at, plan, CROWD, first=500, closed=True)
    error = refused(RELEASE)
    assert (error["field"], error["value"]) == ("output", batch["batch"])
    assert Path(batch["batch"]).read_bytes() == before
    assert told(STATUS)["batches"][0]["state"] == "releasing"


def test_a_release_needs_the_collectors_key(at: Path, plan: Plan) -> None:
    """Before anything is written."""
    filled(at, plan, CROWD, closed=True)
    (at / "collector.pem").write_bytes((at / "key.pem").read_bytes())
    assert refused(RELEASE)["kind"] == "invalid_input"
    assert not (at / "out").exists()


def test_a_disk_that_fails_is_exit_code_75(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a bug of ours, and not the user's mistake."""
    filled(at, plan, 3)

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("the spool cannot be written now: disk full")

    monkeypatch.setattr("krand.collector.opening.Spool", fail)
    for command in (STATUS, RELEASE, SERVE):
        error = refused(command, code=75)
        assert (error["kind"], error["field"]) == ("unavailable", None)
        assert "disk full" in error["reason"]


def test_closing_asks_and_says_what_it_does(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody who came is in the batch; the preview is coarse, and can be declined."""
    filled(at, plan, CROWD + 17)
    monkeypatch.setattr("krand.cli.closing._can_ask", lambda: True)
    declined = run(RELEASE, "--close", typed="n\n")
    assert declined.exit_code == 130
    said = " ".join(declined.stderr.split())
    assert "About 32 people are in the open batch (told in steps of 32)." in said
    assert "They are released as one batch, and the round is closed." in said
    assert "Nothing was closed." in said
    assert told(STATUS)["batches"][0]["state"] == "open"
    closed = run(RELEASE, "--close", typed="y\n")
    assert closed.exit_code == 0, closed.output
    assert f"The round is closed with {CROWD + 17} people." in closed.stdout
    assert told(STATUS)["closed"] is True


def test_a_round_that_is_too_small_is_erased_only_on_demand(at: Path, plan: Plan) -> None:
    """Nothing is released, no message is left in the spool, and the round stays closed."""
    filled(at, plan, CROWD - 1)
    found = told(RELEASE, "--close --yes --erase")
    assert found["released"] == []
    assert (found["closed"]["state"], found["closed"]["lost"]) == ("erased", CROWD - 1)
    assert message(3, 0)[:12] not in b"".join(files_in(at / "spool").values())
    assert told(RELEASE, "--close --yes --erase")["closed"] is None
    with open_spool(plan, at / "spool") as spool, pytest.raises(RoundClosed):
        spool.add([submitted(5_000, config_of(plan).format)])
