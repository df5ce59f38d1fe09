"""Services of partners, whoever asks them, and sockets that do what no service does."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from collecting import Answer as Heard
from collecting import asked, in_thread
from components import require
from krand.partners.identity import Identity
from krand.partners.requests import signed_headers
from krand.partners.talking import Answer
from krand.partners.tls import certificate_pem
from krand.partners.uploads import Uploads
from krand.survey.canonical import canonical_json
from krand.wire.keys import generate_signing_key

if TYPE_CHECKING:
    from krand.partners.http import Asking

Done = Callable[[str, str, bytes], dict]
"""What a service does: method, path with query, and body become values."""


def new_identity() -> Identity:
    return Identity(generate_signing_key())


@dataclass(frozen=True)
class Asked:
    """A service that runs, and an identity that asks it."""

    port: int
    recipient: str
    identity: Identity

    def nonce(self) -> str:
        """A new one of the service."""
        found: str = json.loads(asked(self.port, "POST", "/v1/nonce").content)["nonce"]
        return found

    def headers(self, method: str, path: str, body: bytes, nonce: str = "") -> dict[str, str]:
        """As they should be."""
        nonce = nonce or self.nonce()
        return signed_headers(self.identity, self.recipient, method, path, body, nonce)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Heard:
        """A signed request."""
        own = self.headers(method, path, body) if headers is None else dict(headers)
        return asked(self.port, method, path, body, own)


def problem(answer: Heard) -> tuple[int, str]:
    """The status, and the field that is wrong."""
    return answer.status, json.loads(answer.content)["error"]["field"]


@contextmanager
def partner_service(
    identity: Identity, endpoints: Any, tls: Any = None, port: int = 0
) -> Iterator[int]:
    """The service of these endpoints, in a thread of this process; its port."""
    require("uvicorn")
    require("starlette")
    from krand.collector.serving import listen
    from krand.partners.http import PartnerService
    from krand.partners.serving import make_partner_server

    app = PartnerService(identity, "a partner", endpoints)
    with in_thread(make_partner_server(app, tls), listen("127.0.0.1", port)) as found:
        yield found


@dataclass
class Service:
    """A service that answers everything that is signed in one way."""

    identity: Identity = field(default_factory=new_identity)
    done: Done = lambda method, path, body: {"method": method, "path": path, "bytes": len(body)}
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Identity, method and path of every request that was accepted."""

    @contextmanager
    def serving(self, tls: Path | None = None) -> Iterator[str]:
        """Its address on this machine, with TLS if there is a certificate."""
        from krand.partners.http import CHUNK_BODY, Endpoint, Endpoints
        from krand.partners.serving import files_context

        endpoints = (
            Endpoint(
                method=method,
                path="/{path:path}",
                admit=lambda *_: True,
                answer=partial(self._answer, method),
                most=CHUNK_BODY,
            )
            for method in ("GET", "POST", "PATCH")
        )
        context = None if tls is None else files_context(tls, None)
        with partner_service(self.identity, Endpoints(signed=tuple(endpoints)), context) as port:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"

    def _answer(self, method: str, asking: Asking) -> Answer:
        query = urlencode(asking.query)
        path = f"/{asking.parts['path']}" + (f"?{query}" if query else "")
        self.asked.append((asking.identity, method, path))
        return Answer(self.done(method, path, asking.body))


def receiving(uploads: Uploads) -> Done:
    """A service that takes batches."""

    def done(method: str, path: str, body: bytes) -> dict:
        url = urlsplit(path)
        name = [*url.path.split("/")[5:], "", ""]
        if method == "PATCH":
            return uploads.append(name[0], int(url.query.removeprefix("offset=")), body).values
        if method == "GET":
            return uploads.progress(name[0]).values
        if name[1] == "receipt":
            return uploads.answer(name[0], json.loads(body)["nonce"]).values
        return uploads.begin(body)[1].values

    return done


@dataclass
class Direct:
    """A conversation without a network."""

    done: Done
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, path, and bytes of the body."""

    def get(self, path: str) -> Answer:
        return self._answer("GET", path, b"")

    def post(self, path: str, body: bytes | Mapping[str, Any] = b"") -> Answer:
        return self._answer("POST", path, body if isinstance(body, bytes) else canonical_json(body))

    def patch(self, path: str, offset: int, chunk: bytes) -> Answer:
        return self._answer("PATCH", f"{path}?offset={offset}", chunk)

    def close(self) -> None:
        self.asked.append(("close", "", 0))

    def _answer(self, method: str, path: str, body: bytes) -> Answer:
        self.asked.append((method, path, len(body)))
        return Answer(self.done(method, path, body))


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A socket that does with each connection whatever a test wants; host and port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def certificate(path: Path, identity: Identity, now: datetime | None = None, days: int = 1) -> Path:
    """A file with a certificate of this identity."""
    path.write_bytes(certificate_pem(identity, now or datetime.now(UTC), days))
    return path


def tls_answers(tls: Path, heard: list[bytes]) -> Callable[[socket.socket], None]:
    """Speaks TLS with this certificate, and keeps whatever is said to it afterwards."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls)

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            heard.append(wrapped.recv(1000))

    return answer


def usual_certificate(folder: Path, host: str) -> Path:
    """A certificate for a host, by an authority whose own certificate is authority.pem."""
    now, day = datetime.now(UTC), timedelta(days=1)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, n)]) for n in ("ca", "x")]
    for place, name in enumerate(("authority.pem", "usual.pem")):
        built = (
            x509.CertificateBuilder(names[0], names[place], keys[place].public_key(), 1 + place)
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.BasicConstraints(ca=place == 0, path_length=None), True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), False)
            .add_extension(x509.KeyUsage(True, *[False] * 4, place == 0, *[False] * 3), True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(keys[place].public_key()), False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), False
            )
            .sign(keys[0], hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        private = keys[place].private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / name).write_bytes(built.public_bytes(pem) + private)
    return folder / "usual.pem"
