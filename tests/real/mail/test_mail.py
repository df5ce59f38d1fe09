"""Mail with a real server, real processes and kills: each address once or reported."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import ssl
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chaos import Program, files_in, free_port
from command_line import run
from components import require
from effort import EFFORT
from mailing import PLAN, Known, Mailbox, folder_with, people, sending, serving

ELSEWHERE = "127.1"
"""This machine by a name that krand takes for another one."""


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS, and what a client must trust."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ELSEWHERE)])
    cert = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(ELSEWHERE)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, format_ = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private = key.private_bytes(pem, format_, serialization.NoEncryption())
    (folder / "tls.pem").write_bytes(cert.public_bytes(pem) + private)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.pem")
    return context, folder / "tls.pem"


@pytest.mark.parametrize("scheme", ["smtps", "smtp"])
def test_other_machines_are_reached_by_tls_alone(
    tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """smtps, or STARTTLS, with a certificate that is valid, and the password after that."""
    require("aiosmtpd")
    from aiosmtpd.controller import Controller
    from aiosmtpd.handlers import Message
    from aiosmtpd.smtp import AuthResult

    taken: list[Any] = []

    class Kept(Message):
        def handle_message(self, message: Any) -> None:
            taken.append(message)

    def login(*given: Any) -> AuthResult:
        known = given[4].password == b"right"
        return AuthResult(success=known, handled=known)

    context, trusted = certificate(tmp_path)
    options: dict[str, Any] = {"authenticator": login, "auth_require_tls": True}
    if scheme == "smtps":
        options["ssl_context"] = context
        options["auth_require_tls"] = False  # all of the connection is encrypted
    else:
        options |= {"tls_context": context, "require_starttls": True}
    controller = Controller(Kept(), hostname="127.0.0.1", port=free_port(), **options)
    folder = tmp_path / "survey"
    folder.mkdir()
    folder_with(folder, people(2))
    url = f"{scheme}://anna@{ELSEWHERE}:{controller.port}"

    def told(password: str, code: int) -> dict[str, Any]:
        monkeypatch.setenv("KRAND_MAIL_PASSWORD", password)
        line = re.sub(r"smtp://\S+", url, sending(Mailbox()))
        result = run(line, "--json", at=folder)
        assert result.exit_code == code, result.output
        return dict(json.loads(result.stdout))

    controller.start()
    try:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert "certificate" in told("right", 2)["error"]["rule"]
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        assert told("wrong", 2)["error"]["rule"] == "must let this user in"
        assert not (folder / "invitations.json").exists()
        assert told("right", 0)["sent"] == 2
    finally:
        controller.stop()
    assert sorted(message["To"] for message in taken) == people(2)
    assert all("https://form.example/#" in message.get_payload() for message in taken)


def test_kills_leave_each_address_once_or_reported_and_no_pairs(tmp_path: Path) -> None:
    """No file has a code, during and after any kill; the order of no file tells who got which."""
    count, left, chance = 60, 4 * EFFORT, random.Random(os.urandom(8))
    listed = people(count)
    chance.shuffle(listed)
    folder_with(tmp_path, listed)
    seen: list[dict[str, bytes]] = []
    running: list[Program] = []
    kills = 0

    def say(step: str, _: int, __: str) -> str | None:
        nonlocal left, kills
        seen.append(files_in(tmp_path))
        if left and chance.random() < 4 * left / (4 * count):
            left, kills = left - 1, kills + 1
            running[-1].end(chance.choice((signal.SIGKILL, signal.SIGQUIT)))
        return None

    errors = tmp_path.with_name("errors")
    with serving(Mailbox(say)) as box:
        while True:
            with Program(sending(box, "--json"), errors=errors, at=tmp_path) as program:
                running.append(program)
                program.process.wait()
            if program.process.returncode >= 0:
                break
    told = json.loads("".join(program.lines))
    assert "doubtful" in told, told
    doubtful = {one["address"] for one in told["doubtful"]}
    assert told["left"] == 0
    assert len(box.addresses) == len(set(box.addresses)), "somebody was mailed twice"
    assert {*box.addresses} | doubtful == set(listed)
    assert len(doubtful) <= kills
    known, codes = Known(tmp_path / "invitations.json", PLAN), box.codes
    assert known.admits(*codes.values())
    assert known.invited == len({*box.addresses} | doubtful)
    _check_files(seen, codes)
    true = {(to, known.digest(code)) for to, code in codes.items()}
    for guess in _guesses(seen):  # at random it is right once on average
        assert len(true & set(guess)) < 10


def _check_files(seen: list[dict[str, bytes]], codes: dict[str, str]) -> None:
    names = {name for files in seen for name in files if not name.startswith(".invitations.json.")}
    assert names == {"plan.json", "people.csv", "invitations.json", "invitations.sent"}
    contents = {content for files in seen for content in files.values()}
    lines = b"\n".join({line for content in contents for line in content.split(b"\n")})
    assert not [code for code in codes.values() if code.encode() in lines]
    for old, new in pairwise(_digests(files) for files in seen):
        assert set(old) <= set(new)
        assert not 0 < len(set(new) - set(old)) < 32, "a few new digests would be pairs"


def _guesses(seen: list[dict[str, bytes]]) -> list[list[tuple[str, str]]]:
    """An attacker's pairs (address, digest): by the order of files, and by what changes when."""
    journals = [_addresses(files) for files in seen]
    lists = [_digests(files) for files in seen]
    runs: list[tuple[list[str], list[str]]] = [(lists[-1], journals[-1])]
    runs.append((lists[-1], sorted(journals[-1])))
    for (before, after), (old, new) in zip(pairwise(journals), pairwise(lists), strict=True):
        if fresh := sorted(set(new) - set(old)):  # whoever is mailed from now on has one of these
            runs.append((fresh, []))
        runs[-1][1].extend(after[len(before) :])
    return [list(zip(to, way, strict=False)) for found, to in runs for way in (found, found[::-1])]


def _addresses(files: dict[str, bytes]) -> list[str]:
    lines = files.get("invitations.sent", b"").decode().split("\n")[1:-1]
    return list(dict.fromkeys(line[2:] for line in lines))


def _digests(files: dict[str, bytes]) -> list[str]:
    return (
        list(json.loads(files["invitations.json"])["rounds"][0])
        if "invitations.json" in files
        else []
    )
