"""Invitations by mail: each address once or reported, and no file that tells who got which code."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import Result
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from collector.crowds import plan_of
from command_line import run
from effort import LONG
from inviting.smtp import Inbox, serving
from krand.collector.invitations import digest_of, read_invitations
from krand.inviting.journal import Journal
from krand.inviting.mail_server import mail_server
from krand.survey.about import About
from krand.survey.plan import Plan
from krand.wire.invitations import invited_id, read_code


def invited_plan() -> Plan:
    plan = plan_of(30)
    about = About(title="Lärm in der Stadt", organiser="The council", contact="us@example.org")
    return replace(plan, survey=replace(plan.survey, invitations=True, about=about))


PLAN = invited_plan()
URL = "--url https://form.example/"
OPTIONS = f"{URL} --from 'The council <noreply@example.org>'"


def people(count: int) -> list[str]:
    return [f"person{number:03}@example.org" for number in range(count)]


def words(inbox: Inbox, *more: str, mode: str = "--send", output: str = "invitations.json") -> str:
    server = f"--smtp smtp://127.0.0.1:{inbox.port}"
    return " ".join((f"invite plan.json {mode} people.csv {OPTIONS} {server} -o {output}", *more))


def made(folder: Path, addresses: list[str]) -> Path:
    (folder / "plan.json").write_bytes(PLAN.bytes)
    (folder / "people.csv").write_text("\n".join(addresses) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with serving(Inbox()) as found:
        yield found


def said(result: Result, code: int = 0) -> dict[str, Any]:
    assert result.exit_code == code, result.output
    values: dict[str, Any] = json.loads(result.stdout)
    return values


def test_everybody_gets_a_code_of_their_own_that_the_collector_knows(
    tmp_path: Path, inbox: Inbox
) -> None:
    """In a message of plain text, whose headers have no code; sending again sends nothing."""
    made(tmp_path, people(40))
    told = said(run(words(inbox, "--json"), at=tmp_path))
    assert (told["sent"], told["refused"], told["doubtful"], told["left"]) == (40, [], [], 0)
    known = read_invitations(tmp_path / "invitations.json", PLAN, 1)
    codes = inbox.pairs()
    assert sorted(codes) == people(40)
    assert len(set(codes.values())) == len(known.digests) == known.invited == 40
    assert all(known.admit(invited_id(PLAN.hash, 1, read_code(c))) for c in codes.values())
    for address, message in inbox.texts().items():
        assert (message["To"], message["Subject"]) == (address, "Lärm in der Stadt")
        assert message["From"] == "The council <noreply@example.org>"
        assert message["Auto-Submitted"] == "auto-generated"
        assert not any(codes[address] in str(value) for value in message.values())
        assert not message.is_multipart()
    again = said(run(words(inbox, "--json"), at=tmp_path))
    assert (again["sent"], again["earlier"], len(inbox.messages)) == (0, 40, 40)


def test_nothing_is_sent_or_written_for_show(tmp_path: Path, inbox: Inbox) -> None:
    """--dry-run shows the message, with a link that is good for nothing."""
    made(tmp_path, people(3))
    shown = run(words(inbox, "--dry-run"), at=tmp_path)
    assert shown.exit_code == 0, shown.output
    for text in ("to be mailed:  3", "Subject: Lärm", f"https://form.example/#{'x' * 22}", "krand"):
        assert text in shown.stdout
    assert not inbox.messages
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.json"]


def test_each_has_the_text_of_their_language(tmp_path: Path, inbox: Inbox) -> None:
    """Of krand, or of files of one's own; other alphabets arrive as they are."""
    made(tmp_path, ["email;language", "anna@example.org;de", "bob@example.org;", "яна@почта.рф;de"])
    (tmp_path / "de.txt").write_text("Subject: Grüße, ✓\n\nHallo {link}\n", encoding="utf-8")
    (tmp_path / "rest.txt").write_text("Subject: Hi\n\nHello {link}\n", encoding="utf-8")
    result = run(words(inbox, "--template de=de.txt --template rest.txt --json"), at=tmp_path)
    assert said(result)["sent"] == 3
    texts = inbox.texts()
    assert {to: (text["Subject"], text.get_content()[:5]) for to, text in texts.items()} == {
        "anna@example.org": ("Grüße, ✓", "Hallo"),
        "bob@example.org": ("Hi", "Hello"),
        "яна@xn--80a1acny.xn--p1ai": ("Grüße, ✓", "Hallo"),
    }


def test_what_the_server_refuses_is_reported_by_its_number_alone(tmp_path: Path) -> None:
    """Some quote the message, with the link in it; those who were refused may be mailed later."""

    def say(step: str, stored: int, address: str) -> str | None:
        answers = {
            ("rcpt", "person001@example.org"): "550 5.1.1 no such user",
            ("rcpt", "person002@example.org"): "450 4.7.1 greylisted",
            ("data", "person003@example.org"): "554 5.7.1 spam: https://form.example/#QUOTED",
            ("rcpt", "person004@example.org"): "421 4.3.2 good bye",
        }
        return answers.get((step, address))

    made(tmp_path, people(40))
    with serving(Inbox(say)) as inbox:
        result = run(words(inbox, "--json"), at=tmp_path)
        told = said(result, 75)
        assert "QUOTED" not in result.output + (tmp_path / "invitations.sent").read_text()
        assert [(one["line"], one["code"], one["final"]) for one in told["refused"]] == [
            (2, "550 5.1.1", True),
            (3, "450 4.7.1", False),
            (4, "554 5.7.1", True),
            (5, "421 4.3.2", False),
        ]
        assert told["sent"] == 36
        assert read_invitations(tmp_path / "invitations.json", PLAN, 1).invited == 36
        inbox.say = lambda step, stored, address: None
        text = run(words(inbox), at=tmp_path)
        assert text.exit_code == 0, text.output
        assert "mailed:        4 (36 before)" in text.stdout
        assert "4 people were mailed apart" in " ".join(text.stderr.split())
        known = read_invitations(tmp_path / "invitations.json", PLAN, 1)
        codes = inbox.pairs().values()
        assert all(known.admit(invited_id(PLAN.hash, 1, read_code(code))) for code in codes)
        assert (known.invited, len(known.digests)) == (40, 40 + 32)


def test_a_server_without_other_alphabets_refuses_only_those(tmp_path: Path) -> None:
    """Everybody else is mailed."""
    made(tmp_path, ["anna@example.org", "яна@example.org", "bob@example.org"])
    with serving(Inbox(), utf8=False) as inbox:
        told = said(run(words(inbox, "--json"), at=tmp_path), 1)
        assert [one["code"] for one in told["refused"]] == ["no SMTPUTF8"]
        assert sorted(inbox.pairs()) == ["anna@example.org", "bob@example.org"]


@pytest.mark.parametrize("step", ["mail", "rcpt", "data", "stored"])
def test_a_connection_that_ends_leaves_nobody_out_and_nobody_twice(
    tmp_path: Path, step: str
) -> None:
    """Before the message is handed over it is sent again; afterwards the address is in doubt."""
    dropped = []

    def say(now: str, stored: int, address: str) -> str | None:
        if now == step and stored in (10, 21) and stored not in dropped:
            dropped.append(stored)
            return "drop"
        return None

    made(tmp_path, people(40))
    with serving(Inbox(say)) as inbox:
        is_sure = step in ("mail", "rcpt")
        told = said(run(words(inbox, "--json"), at=tmp_path), 0 if is_sure else 1)
        mailed = [address for address, _ in inbox.messages]
        assert len(dropped) == 2
        assert len(mailed) == len(set(mailed))
        doubtful = {one["address"] for one in told["doubtful"]}
        assert len(doubtful) == (0 if is_sure else 2)
        assert set(mailed) | doubtful == set(people(40))
        again = said(run(words(inbox, "--json"), at=tmp_path), 0 if is_sure else 1)
        assert {one["address"] for one in again["doubtful"]} == doubtful
        assert len(inbox.messages) == len(mailed)


def test_a_server_that_always_fails_is_left_alone(tmp_path: Path) -> None:
    """Three people are in doubt at most, not everybody; the rest can be mailed later."""
    made(tmp_path, people(40))
    with serving(Inbox(lambda step, *_: "drop" if step == "data" else None)) as inbox:
        told = said(run(words(inbox, "--json"), at=tmp_path), 75)
        assert (told["sent"], len(told["doubtful"]), told["left"]) == (0, 3, 37)
        inbox.say = lambda *_: "drop"
        told = said(run(words(inbox, "--json"), at=tmp_path), 75)
        assert (told["sent"], len(told["doubtful"]), told["left"]) == (0, 3, 37)
    told = said(run(words(inbox, "--json"), at=tmp_path), 75)
    assert "does not answer" in told["error"]["reason"]


def test_a_sender_that_the_server_refuses_ends_it_at_once(tmp_path: Path) -> None:
    """That is not the people's fault: everybody can be mailed later."""
    made(tmp_path, people(40))
    refusal = "553 5.7.1 not yours"
    with serving(Inbox(lambda step, *_: refusal if step == "mail" else None)) as inbox:
        told = said(run(words(inbox, "--json"), at=tmp_path), 2)
        assert told["error"]["field"] == "from"
        assert "553 5.7.1" in told["error"]["hint"]
        inbox.say = lambda *_: None
        assert said(run(words(inbox, "--json"), at=tmp_path))["sent"] == 40


def test_reminders_go_to_everybody_once_and_have_no_link(tmp_path: Path, inbox: Inbox) -> None:
    """Nobody knows who has answered; another name is another reminder."""
    made(tmp_path, people(5))
    for name, sent in (("first.sent", 5), ("first.sent", 0), ("second.sent", 5)):
        line = words(inbox, "--json", mode="--remind", output=name)
        assert said(run(line, at=tmp_path))["sent"] == sent
    assert len(inbox.messages) == 10
    assert all(b"form.example" not in message for _, message in inbox.messages)
    assert not list(tmp_path.glob("*.json.*"))
    assert not (tmp_path / "first.json").exists()
    wrong = run(words(inbox, mode="--remind", output="invitations.sent"), at=tmp_path)
    assert wrong.exit_code == 0
    mixed = run(words(inbox), at=tmp_path)
    assert mixed.exit_code == 2
    assert "another survey or message" in mixed.stderr


def test_a_lost_file_mails_nobody_twice_and_loses_no_link(tmp_path: Path, inbox: Inbox) -> None:
    """Without the list of who was mailed, or without the digests, nothing is sent."""
    made(tmp_path, people(40))
    told = run(f"invite plan.json --count 3 {URL} -o invitations.csv", at=tmp_path)
    assert told.exit_code == 0, told.output
    assert said(run(words(inbox, "--json"), at=tmp_path), 2)["error"]["field"] == "output"
    assert said(run(words(inbox, "--json --add"), at=tmp_path))["sent"] == 40
    assert read_invitations(tmp_path / "invitations.json", PLAN, 1).invited == 43
    (tmp_path / "invitations.sent").rename(tmp_path / "list")
    assert "put it back" in said(run(words(inbox, "--json"), at=tmp_path), 2)["error"]["hint"]
    (tmp_path / "list").rename(tmp_path / "invitations.sent")
    (tmp_path / "invitations.json").unlink()
    made(tmp_path, people(41))
    assert "put it back" in said(run(words(inbox, "--json"), at=tmp_path), 2)["error"]["hint"]
    assert len(inbox.messages) == 40


def test_two_processes_never_mail_at_once(tmp_path: Path, inbox: Inbox) -> None:
    """The second one is told to wait."""
    made(tmp_path, people(5))
    with Journal(tmp_path / "invitations.sent", "invitation", PLAN.hash):
        told = said(run(words(inbox, "--json"), at=tmp_path), 75)
    assert "another process" in told["error"]["reason"]
    assert not inbox.messages


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("invite plan.json -o x.json", "invite"),
        ("invite plan.json --count 2 --send people.csv -o x.json", "invite"),
        ("invite plan.json --send people.csv -o x.json", "url"),
        (f"invite plan.json --send people.csv {OPTIONS} -o x.json", "smtp"),
        (
            f"invite plan.json --send people.csv {OPTIONS} --smtp smtp://localhost -o x.csv",
            "output",
        ),
        (f"invite plan.json --count 2 {OPTIONS} -o x.csv", "from"),
        ("invite plan.json --remind people.csv --add -o x.sent", "add"),
        ("invite plan.json --send people.csv --force -o x.json", "force"),
        (f"{OPTIONS} --smtp smtp://a@localhost --password-env NO_SUCH", "password-env"),
        (f"{OPTIONS} --smtp smtp://localhost --template none.txt", "template"),
    ],
)
def test_options_that_do_not_go_together_are_named(tmp_path: Path, line: str, field: str) -> None:
    """And nothing is written."""
    made(tmp_path, people(2))
    if not line.startswith("invite"):
        line = f"invite plan.json --send people.csv -o x.json {line}"
    assert said(run(line, "--json", at=tmp_path), 2)["error"]["field"] == field
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.json"]


def certificates(folder: Path, host: str) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS, and the certificate that a client must trust."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    cert = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "tls.key").write_bytes(private)
    (folder / "tls.pem").write_bytes(cert.public_bytes(pem))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.pem", folder / "tls.key")
    return context, folder / "tls.pem"


ELSEWHERE = "127.1"
"""This machine by a name that krand takes for another one."""


@pytest.mark.parametrize("scheme", ["smtps", "smtp"])
def test_other_machines_are_reached_by_tls_alone(
    tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """smtps, or STARTTLS, with a certificate that is valid, and the password after that."""
    assert not mail_server(f"smtp://{ELSEWHERE}").is_here
    context, trusted = certificates(tmp_path, ELSEWHERE)
    made(tmp_path, people(2))
    monkeypatch.setenv("MAIL_PASSWORD", "right")
    options = {"tls": context} if scheme == "smtps" else {"starttls": context}
    with serving(Inbox(), password="right", **options) as inbox:
        url = f"{scheme}://anna@{ELSEWHERE}:{inbox.port}"
        line = f"invite plan.json --send people.csv {OPTIONS} -o x.json --json --smtp {url}"
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        told = said(run(line, "--password-env MAIL_PASSWORD", at=tmp_path), 2)
        assert "certificate" in told["error"]["rule"]
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        monkeypatch.setenv("WRONG", "no")
        told = said(run(line, "--password-env WRONG", at=tmp_path), 2)
        assert told["error"]["rule"] == "must let this user in"
        assert not (tmp_path / "x.json").exists()
        assert said(run(line, "--password-env MAIL_PASSWORD", at=tmp_path))["sent"] == 2
        assert inbox.sessions == [(True, "anna")] * 2
    with serving(Inbox()) as plain:
        url = f"{scheme}://{ELSEWHERE}:{plain.port}"
        line = f"invite plan.json --send people.csv {OPTIONS} -o y.json --json --smtp {url}"
        told = said(run(line, at=tmp_path), 2)
        assert "TLS" in told["error"]["rule"] or "encrypted" in told["error"]["rule"]
        assert not plain.messages


# ---- Kills, and what an attacker finds in the folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, hidden ones too."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def killed_again_and_again(
    folder: Path, inbox: Inbox, kills: int, random: Random
) -> list[dict[str, bytes]]:
    """Send until it is done, with kills at every step; every file after each of them."""
    seen: list[dict[str, bytes]] = []
    process: subprocess.Popen[str] | None = None
    left = kills

    def say(step: str, stored: int, address: str) -> str | None:
        nonlocal left
        if address.startswith("refused"):
            return "550 5.1.1 no" if step == "rcpt" else None
        assert process is not None
        seen.append(contents(folder))  # while it runs
        if left and process.poll() is None and random.random() < kills_each:
            left -= 1
            process.send_signal(random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGQUIT)))
            process.wait()
        return None

    lines = (folder / "people.csv").read_text(encoding="utf-8").count("\n")
    kills_each = 2 * kills / (4 * lines)
    inbox.say = say
    command = [sys.executable, "-m", "krand"]
    arguments = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", words(inbox, "--json"))]
    for _ in range(2 * kills + 10):  # a server that answers late on a busy machine ends it, too
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=allow_core_dumps,
        )
        out, err = process.communicate()
        seen.append({**contents(folder), "stdout": out.encode(), "stderr": err.encode()})
        if process.returncode >= 0 and json.loads(out).get("left") == 0:
            break
    (folder / "told.json").write_text(out, encoding="utf-8")
    return seen


def allow_core_dumps() -> None:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def guesses(seen: list[dict[str, bytes]]) -> Iterator[list[tuple[str, str]]]:
    """An attacker's pairs (address, digest): by the order of files, and by what changes when."""
    journals = [addresses_in(files.get("invitations.sent", b"")) for files in seen]
    lists = [digests_in(files.get("invitations.json", b"")) for files in seen]
    last, known = journals[-1], lists[-1]
    runs: list[tuple[list[str], list[str]]] = []
    for (before, after), (old, new) in zip(pairwise(journals), pairwise(lists), strict=True):
        if fresh := sorted(set(new) - set(old)):  # whoever is mailed from now on has one of these
            runs.append((fresh, []))
        if runs:
            runs[-1][1].extend(after[len(before) :])
    for digests in (known, known[::-1]):
        for addresses in (last, sorted(last), people_of(seen[-1])):
            yield list(zip(addresses, digests, strict=False))
    for fresh, addresses in runs:
        for way in (1, -1):
            yield list(zip(addresses, fresh[::way], strict=False))


def addresses_in(journal: bytes) -> list[str]:
    """In the order of their first line."""
    lines = journal.decode().split("\n")[1:-1]
    return list(dict.fromkeys(line[2:] for line in lines))


def digests_in(content: bytes) -> list[str]:
    return list(json.loads(content)["rounds"][0]) if content else []


def people_of(files: dict[str, bytes]) -> list[str]:
    return files["people.csv"].decode().split()


@pytest.mark.check
@pytest.mark.loop
def test_kills_leave_each_address_once_or_reported_and_no_pairs(tmp_path: Path) -> None:
    """No file has a code, during and after any kill; the order of no file tells who got which."""
    count, refused, kills = (500, 20, 25) if LONG else (70, 3, 4)
    random = Random(os.urandom(8))
    listed = people(count - refused) + [f"refused{n}@example.org" for n in range(refused)]
    random.shuffle(listed)
    made(tmp_path, listed)
    with serving(Inbox()) as inbox:
        seen = killed_again_and_again(tmp_path, inbox, kills, random)
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    mailed = [address for address, _ in inbox.messages]
    doubtful = {one["address"] for one in told["doubtful"]}
    assert len(mailed) == len(set(mailed))
    assert not any(address.startswith("refused") for address in mailed)
    assert {*mailed} | doubtful | {one["address"] for one in told["refused"]} == set(listed)
    assert told["left"] == 0
    assert all(one["address"].startswith("refused") for one in told["refused"])
    assert len(doubtful) <= kills
    pairs = inbox.pairs()
    known = read_invitations(tmp_path / "invitations.json", PLAN, 1)
    ids = {to: invited_id(PLAN.hash, 1, read_code(code)) for to, code in pairs.items()}
    assert all(known.admit(name) for name in ids.values())
    assert set(mailed) <= set(listed)
    assert known.invited == len(set(mailed) | doubtful)
    true = {(to, digest_of(name, known.key).hex()) for to, name in ids.items()}
    names = {name for files in seen for name in files if not name.startswith(".invitations.json.")}
    written = {"invitations.json", "invitations.sent"}
    assert names == {"plan.json", "people.csv", "stdout", "stderr"} | written
    ended = [files for files in seen if "stdout" in files]
    whole = b"".join(content for files in ended for content in files.values())
    contents_ever = {content for files in seen for content in files.values()}
    lines = b"\n".join({line for content in contents_ever for line in content.split(b"\n")})
    for code in pairs.values():
        raw = read_code(code)
        assert raw not in whole
        assert code.encode() not in lines
        assert raw.hex().encode() not in lines
    assert not any(b'"mailed"' in content and b"@" in content for content in contents_ever)
    for guess in guesses(seen):
        # A guess at random is right once on average, and ten times with probability 10⁻⁷.
        assert len(true & set(guess)) < 10
    for old, new in pairwise(digests_in(files.get("invitations.json", b"")) for files in seen):
        assert set(old) <= set(new)
        assert not 0 < len(set(new) - set(old)) < 32


def test_sigterm_ends_it_after_the_message_that_is_under_way(tmp_path: Path) -> None:
    """Nobody is in doubt, and the same command goes on."""
    made(tmp_path, people(40))

    def say(step: str, stored: int, address: str) -> str | None:
        if step == "data" and stored == 7:
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    with serving(Inbox(say)) as inbox:
        told = said(run(words(inbox, "--json"), at=tmp_path), 130)
        assert told["doubtful"] == []
        assert told["sent"] + told["left"] == 40
        assert 8 <= told["sent"] < 40
        inbox.say = lambda *_: None
        assert said(run(words(inbox, "--json"), at=tmp_path))["earlier"] == told["sent"]
    assert sorted(address for address, _ in inbox.messages) == people(40)
