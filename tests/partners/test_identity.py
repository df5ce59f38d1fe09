"""Who answers: a link names an identity, and nobody else hears anything."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from chaos import free_port
from command_line import run
from partners.in_threads import SURVEY, Organiser, Service, program, serving, until


def soon(mixers: int) -> str:
    """The survey in some days: certificates know no test's clock."""
    starts = datetime.now(UTC).date() + timedelta(days=7)
    return SURVEY.replace("2027-02-01", f"{starts}").replace("MIXERS", f"{mixers}")


def certificate(folder: Path) -> Path:
    """Of nobody whom anybody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "krand")])
    day, now = timedelta(days=1), datetime.now(UTC)
    built = x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
    pem = built.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "other.pem").write_bytes(pem + private)
    return folder / "other.pem"


def test_a_certificate_of_another_identity_ends_it_before_anything_is_said(tmp_path: Path) -> None:
    """The link names who must answer; the true one needs no other certificate."""
    university = Service(tmp_path / "university", proxied=False)
    with serving(university):
        assert (
            Organiser(tmp_path / "one", text=soon(2))
            .pair(university.link, options="--no-wait")
            .exit_code
            == 0
        )
    context, heard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(certificate(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            with suppress(OSError):  # the listener is closed
                while True:
                    connection, _ = listener.accept()
                    with (
                        suppress(OSError),
                        context.wrap_socket(connection, server_side=True) as tls,
                    ):
                        heard.append(tls.recv(1000))

        threading.Thread(target=listen, daemon=True).start()
        link = f"https://127.0.0.1:{listener.getsockname()[1]}/#{university.identity}"
        result = Organiser(tmp_path / "two", text=soon(2)).pair(link, options="--no-wait", run=run)
    assert result.exit_code == 75, result.output
    assert "certificate is not accepted" in result.output
    assert [each for each in heard if each] == [], "something was said to a stranger"


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def test_whoever_joins_signs_for_its_organiser_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The organiser's link sets up a mixer; a link is good once, and a forged one for nothing."""
    port = free_port()
    address = f"https://127.0.0.1:{port}"
    words = f"pair {tmp_path}/team.toml --no-anchor --form-at 127.0.0.1:0 --invite union"
    (tmp_path / "team.toml").write_text(soon(2), encoding="utf-8")
    pairing = [*words.split(), "--address", address]
    waits = threading.Thread(
        target=program.main, args=(pairing,), kwargs={"standalone_mode": False}, daemon=True
    )
    waits.start()
    said: list[str] = []

    def link() -> str:
        said.extend(capfd.readouterr())
        found = re.search(rf"{address}\S+", "".join(said))
        return found.group() if found else ""

    until(link, what="the link")
    until(lambda: listens(port), what="whoever waits")
    union = Service(tmp_path / "union", policy="", proxied=False)
    own = f"--join {{}} --address {union.url}"
    forged = link()[:-4] + "0000"
    for wrong in (forged, link().replace("#", "#0")):
        union.begin(own.format(wrong))
        assert union.ended, "a forged link sets up a mixer"
        union.stop()
    union.start(own.format(link()))
    waits.join(60)
    assert not waits.is_alive()
    assert (tmp_path / "team.krand" / "signatures" / "2.sig.json").exists()
    other = Organiser(tmp_path / "other", text=soon(2))
    answer = other.pair(union.link, options="--no-wait", run=run)
    assert "that this mixer's policy lists" in answer.output
    union.stop()
