"""A partner's service on HTTP: who asks is known before anything else is looked at."""

from __future__ import annotations

import asyncio
import gc
import json
import select
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from collecting import asked, until
from krand.collector.settings import Page
from krand.errors import InvalidInput, Unavailable
from krand.partners import serving
from krand.partners.http import Asking, Endpoint, Endpoints, PublicEndpoint
from krand.partners.identity import Address
from krand.partners.requests import NotAdmitted
from krand.partners.serving import TlsListener, identity_context
from krand.partners.talking import Answer, Conversation
from partners.services import Asked, new_identity, partner_service, problem

MOST = 1000
PARTNER = new_identity()
SERVICE = new_identity()


class Recording:
    """Answers with what it was told; partners may ask for everything, others for keys alone."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def admit(self, identity: str, parts: Mapping[str, str]) -> bool:
        if identity != PARTNER.public:
            raise NotAdmitted("identity", "must be one of this plan's parties", identity)
        return True

    def keep(self, asking: Asking) -> Answer:
        self.bodies.append(asking.body)
        return Answer({"by": asking.identity, **asking.parts, **asking.query})

    def fail(self, asking: Asking) -> Answer:
        errors = {
            b"wrong": InvalidInput("plan", "must be right", "wrong", "make it right"),
            b"full": Unavailable("the disk is full"),
        }
        raise errors[asking.body]

    def endpoints(self) -> Endpoints:
        def endpoint(path: str, answer: Callable[[Asking], Answer], **more: object) -> Endpoint:
            return Endpoint(path=path, admit=self.admit, answer=answer, most=MOST, **more)

        return Endpoints(
            signed=(endpoint("/v1/things/{name}", self.keep), endpoint("/v1/fails", self.fail)),
            open=(PublicEndpoint(path="/v1/plans", answer=lambda _: [1, 2]),),
            page=lambda language: Page(f"page {language}".encode(), "text/plain"),
        )


@pytest.fixture(scope="module")
def recording() -> Recording:
    return Recording()


@pytest.fixture(scope="module")
def partner(recording: Recording) -> Iterator[Asked]:
    with partner_service(SERVICE, recording.endpoints()) as port:
        yield Asked(port, SERVICE.public, PARTNER)


def test_a_signed_request_is_answered(partner: Asked, recording: Recording) -> None:
    """With its sender, the parts of its path, its query and its body."""
    answer = partner.ask("POST", "/v1/things/one?offset=7", b"content")
    assert json.loads(answer.content) == {"by": PARTNER.public, "name": "one", "offset": "7"}
    assert recording.bodies[-1] == b"content"


def test_everybody_may_read_what_is_open(partner: Asked) -> None:
    """Who the service is, its list, its page in the language of the browser."""
    about = json.loads(asked(partner.port, "GET", "/v1/about").content)
    assert (about["name"], about["identity"]) == ("a partner", SERVICE.public)
    assert json.loads(asked(partner.port, "GET", "/v1/plans").content) == [1, 2]
    page = asked(partner.port, "GET", "/", headers={"Accept-Language": "de-AT,de"})
    assert (page.content, page.headers["x-content-type-options"]) == (b"page de", "nosniff")


def _changed(name: str, value: str) -> Callable[[Asked, str, bytes], dict[str, str]]:
    return lambda one, path, body: {**one.headers("POST", path, body), name: value}


FORGED: dict[str, tuple[Callable[[Asked, str, bytes], dict[str, str]], tuple[int, str]]] = {
    "no headers": (lambda *_: {}, (401, "krand-identity")),
    "another identity": (
        _changed("krand-identity", new_identity().public),
        (401, "krand-signature"),
    ),
    "another body's hash": (_changed("krand-body", "0" * 64), (401, "krand-signature")),
    "an invented nonce": (_changed("krand-nonce", "0" * 112), (401, "krand-nonce")),
    "another path": (
        lambda one, path, body: one.headers("POST", path + "x", body),
        (401, "krand-signature"),
    ),
    "another method": (
        lambda one, path, body: one.headers("GET", path, body),
        (401, "krand-signature"),
    ),
    "another body": (lambda one, path, body: one.headers("POST", path, body + b"x"), (401, "body")),
    "a stranger": (
        lambda one, path, body: Asked(one.port, one.recipient, new_identity()).headers(
            "POST", path, body
        ),
        (403, "identity"),
    ),
    "another recipient": (
        lambda one, path, body: Asked(one.port, PARTNER.public, PARTNER).headers(
            "POST", path, body, one.nonce()
        ),
        (401, "krand-signature"),
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_nothing_forged_gets_through(partner: Asked, recording: Recording, name: str) -> None:
    """Each is refused with its own reason, and nothing of it is kept."""
    forge, expected = FORGED[name]
    before = list(recording.bodies)
    answer = partner.ask(
        "POST", "/v1/things/one", b"content", forge(partner, "/v1/things/one", b"content")
    )
    assert problem(answer) == expected
    assert recording.bodies == before


def test_a_request_counts_once(partner: Asked) -> None:
    """Whoever recorded it cannot send it again."""
    headers = partner.headers("POST", "/v1/things/one", b"content")
    first, again = (partner.ask("POST", "/v1/things/one", b"content", headers) for _ in range(2))
    assert (first.status, problem(again)) == (200, (401, "krand-nonce"))


@pytest.mark.parametrize(
    ("who", "expected"), [(PARTNER, (413, "body")), (new_identity(), (403, "identity"))]
)
def test_a_refusal_comes_before_the_body(partner: Asked, who: object, expected: object) -> None:
    """The sender is told while nothing but the head has been sent."""
    body = b"x" * (MOST + 1)
    asking = Asked(partner.port, partner.recipient, who)  # type: ignore[arg-type]
    lines = [
        "POST /v1/things/one HTTP/1.1",
        "Host: here",
        f"Content-Length: {len(body)}",
        *(f"{k}: {v}" for k, v in asking.headers("POST", "/v1/things/one", body).items()),
    ]
    with socket.create_connection(("127.0.0.1", partner.port), 60) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    assert (int(head.split()[1]), json.loads(content)["error"]["field"]) == expected


def test_a_body_that_grows_beyond_its_limit_is_refused(partner: Asked) -> None:
    """Also if its length was not told before."""
    body = b"x" * (MOST + 1)
    headers = partner.headers("POST", "/v1/things/one", body)
    answer = asked(partner.port, "POST", "/v1/things/one", iter([body]), headers)
    assert problem(answer) == (413, "body")


@contextmanager
def stalling(recording: Recording, seconds: float) -> Iterator[tuple[Asked, list[socket.socket]]]:
    """A partner, and strangers who have asked for keys and send no more than a byte."""
    endpoint = Endpoint(
        path="/v1/keys",
        admit=lambda identity, _: identity == PARTNER.public,
        answer=recording.keep,
    )
    with (
        partner_service(SERVICE, Endpoints(signed=(endpoint,), stranger_seconds=seconds)) as port,
        ExitStack() as stack,
    ):
        stranger, waiting = Asked(port, SERVICE.public, new_identity()), []
        for _ in range(20):
            lines = stranger.headers("POST", "/v1/keys", b"keys").items()
            head = "".join(f"{name}: {value}\r\n" for name, value in lines)
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            client.sendall(
                f"POST /v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n{head}\r\nk".encode()
            )
            waiting.append(client)
        yield Asked(port, SERVICE.public, PARTNER), waiting


def test_strangers_who_stall_do_not_keep_partners_waiting(recording: Recording) -> None:
    """They have places of their own: a partner is answered while all of them wait."""
    with stalling(recording, 20.0) as (partner, waiting):
        assert partner.ask("POST", "/v1/keys", b"keys").status == 200
        assert select.select(waiting, [], [], 0)[0] == []


def test_whoever_stalls_is_told_when_the_time_is_over(recording: Recording) -> None:
    """So that its place is free again."""
    with stalling(recording, 0.2) as (_, waiting):
        assert all(client.recv(65536).startswith(b"HTTP/1.1 408") for client in waiting)


def tls_connections() -> int:
    """Those that take memory in this process."""
    return sum(isinstance(each, SSLProtocol) for each in gc.get_objects())


def test_connections_that_never_begin_tls_make_room(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest of them are closed, before their time is over; whoever speaks TLS is served."""
    monkeypatch.setattr(serving, "MOST_HANDSHAKES", 3)
    monkeypatch.setattr(serving, "HANDSHAKE_SECONDS", 3600.0)
    tls = identity_context(SERVICE, tmp_path / "tls.pem")
    with ExitStack() as stack:
        gc.collect()
        gc.disable()  # what is closed must be gone by itself: services rarely collect
        stack.callback(gc.enable)
        port = stack.enter_context(partner_service(SERVICE, recording.endpoints(), tls))

        def connected() -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))

        begun = connected()
        begun.sendall(b"\x16\x03\x01")  # the beginning of a handshake
        silent = [begun, *(connected() for _ in range(9))]
        with Conversation(PARTNER, Address(f"https://127.0.0.1:{port}", SERVICE.public)) as talk:
            for client in silent[:7]:
                with suppress(ConnectionResetError):
                    assert client.recv(1) == b""
            until(lambda: tls_connections() <= 3)
            assert talk.post("/v1/things/one", b"content").values["by"] == PARTNER.public


class Watched(TlsListener):
    """Counts the connections that were accepted when each of them is looked at."""

    def __init__(self, listener: socket.socket, wanted: int) -> None:
        self.counts, self._wanted, self.seen_all = list[int](), wanted, asyncio.Event()
        super().__init__(asyncio.Protocol, listener, ssl.create_default_context())

    async def _begin(self, connection: socket.socket) -> None:
        self.counts.append(len(self._handshakes))
        if len(self.counts) == self._wanted:
            self.seen_all.set()
        await asyncio.Event().wait()


def test_a_connection_is_looked_at_before_the_next_one_is_accepted() -> None:
    """Thousands may wait; none but those that are looked at cost memory."""

    async def accepted() -> list[int]:
        with ExitStack() as stack:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            for _ in range(5):
                stack.enter_context(socket.create_connection(listener.getsockname()))
            watched = Watched(listener, 5)
            await watched.seen_all.wait()
            watched.close()
            await watched.wait_closed()
            return watched.counts

    assert asyncio.run(accepted()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("body", "status", "rule"),
    [(b"wrong", 422, "must be right"), (b"full", 503, "cannot do this now: the disk is full")],
)
def test_errors_say_who_can_mend_them(partner: Asked, body: bytes, status: int, rule: str) -> None:
    """A wrong request has a rule; a full disk is the service's own, and passes."""
    answer = partner.ask("POST", "/v1/fails", body)
    assert (answer.status, json.loads(answer.content)["error"]["rule"]) == (status, rule)
    assert ("retry-after" in answer.headers) == (status == 503)


def test_a_bug_is_answered_without_its_content(
    partner: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    """The type of the error is logged; of the request nothing, not even in a traceback."""
    from krand.collector.serving import JsonLines

    assert problem(partner.ask("POST", "/v1/fails", b"secret")) == (500, "service")
    until(lambda: "Exception in ASGI" in caplog.text)
    assert "b'secret'" in caplog.text  # what a handler that writes tracebacks would write
    written = "".join(JsonLines().format(record) for record in caplog.records)
    assert "KeyError" in written
    assert "secret" not in written
