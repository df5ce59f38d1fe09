"""Who answers: a link names an identity, and nobody else hears anything."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from command_line import run
from partners.in_threads import EVERYBODY, Organiser, Service, serving


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
    policy = EVERYBODY.replace("latest_closing = 60", "latest_closing = 10_000")
    university = Service(tmp_path / "university", policy=policy, proxied=False)
    with serving(university):
        assert Organiser(tmp_path / "one").pair(university.link, options="--no-wait").exit_code == 0
    context, heard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(certificate(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                connection, _ = listener.accept()
                with suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
                    heard.append(tls.recv(1000))

        threading.Thread(target=listen, daemon=True).start()
        link = f"https://127.0.0.1:{listener.getsockname()[1]}/#{university.identity}"
        result = Organiser(tmp_path / "two").pair(link, options="--no-wait", run=run)
    assert result.exit_code == 75, result.output
    assert "certificate is not accepted" in result.output
    assert [each for each in heard if each] == [], "something was said to a stranger"
