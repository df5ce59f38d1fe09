"""Conversations: the other side is checked before anything is sent, and cannot stall or mislead."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from krand.errors import InvalidInput, Unavailable
from krand.partners import tls
from krand.partners.identity import Address
from krand.partners.talking import Conversation, Refused
from krand.partners.tls import VALID_DAYS, ensure_certificate
from partners.services import (
    Service,
    certificate,
    listening,
    new_identity,
    tls_answers,
    usual_certificate,
)

ASKER = new_identity()
NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def service() -> Service:
    return Service()


@pytest.fixture(scope="module")
def address(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A service with a certificate of its identity."""
    path = tmp_path_factory.mktemp("tls") / "tls.pem"
    with service.serving(certificate(path, service.identity)) as url:
        yield Address(url, service.identity.public)


def test_requests_arrive_signed_over_tls_by_identity(service: Service, address: Address) -> None:
    """Each kind of them, with who asks, and over one connection."""
    with Conversation(ASKER, address) as talk:
        assert talk.about().identity == service.identity.public
        assert talk.get("/v1/plans?all=1").values["path"] == "/v1/plans?all=1"
        assert talk.post("/v1/plans", {"a": 1}).values["bytes"] == len('{"a":1}')
        first = talk._connection
        found = talk.patch("/v1/x", 7, bytes(2**23))
        assert found.values == {"method": "PATCH", "path": "/v1/x?offset=7", "bytes": 2**23}
        assert talk._connection is first
    assert service.asked[-1] == (ASKER.public, "PATCH", "/v1/x?offset=7")


def _forged(path: Path, public: str) -> Path:
    """A certificate that names the identity as its issuer and was signed by somebody else."""
    genuine, tls._named = tls._named, lambda _: genuine(public)
    try:
        return certificate(path, new_identity())
    finally:
        tls._named = genuine


@pytest.mark.parametrize("case", ["other", "expired", "future", "forged"])
def test_a_certificate_that_is_not_the_identitys_is_refused_before_anything_is_sent(
    tmp_path: Path, service: Service, case: str
) -> None:
    """Of somebody else, of yesterday, of next week, or with a stolen name."""
    path, identity = tmp_path / "tls.pem", service.identity
    made = {
        "other": lambda: certificate(path, new_identity()),
        "expired": lambda: certificate(path, identity, NOW - 9 * DAY),
        "future": lambda: certificate(path, identity, NOW + 9 * DAY),
        "forged": lambda: _forged(path, identity.public),
    }[case]()
    heard: list[bytes] = []
    with listening(tls_answers(made, heard)) as place:
        with pytest.raises(Unavailable, match="its certificate is not accepted"):
            Conversation(ASKER, Address(f"https://{place}", identity.public)).post("/v1/x", b"x")
        good = certificate(path, identity)
    with listening(tls_answers(good, heard)) as place, pytest.raises(Unavailable):
        Conversation(ASKER, Address(f"https://{place}", identity.public)).about()
    (request,) = filter(None, heard)  # only the good certificate's server was told anything
    assert request.startswith(b"GET /v1/about HTTP/1.1")


def test_without_a_certificate_nothing_is_sent(service: Service) -> None:
    """A service that speaks no TLS sees the greeting of TLS and no request."""
    heard: list[bytes] = []
    with (
        listening(lambda connection: heard.append(connection.recv(1000))) as place,
        pytest.raises(Unavailable, match="cannot be reached now"),
    ):
        Conversation(ASKER, Address(f"https://{place}", service.identity.public)).about()
    assert heard
    assert all(said[:1] == b"\x16" and b"about" not in said for said in heard)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
@pytest.mark.parametrize("known", [True, False])
def test_a_certificate_of_a_usual_authority_is_accepted_for_its_own_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, known: bool
) -> None:
    """As a proxy in front of the service has it; whether or not the address names the identity."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    usual, service = usual_certificate(tmp_path, host), Service()
    with service.serving(usual) as url:
        address = Address(url, service.identity.public if known else None)
        with Conversation(ASKER, address) as talk:
            if host == "127.0.0.1":
                assert talk.get("/v1/x").status == 200
                assert service.asked == [(ASKER.public, "GET", "/v1/x")]
                return
            with pytest.raises(Unavailable, match="not accepted"):
                talk.get("/v1/x")
    assert service.asked == []


def test_a_certificate_is_kept_while_it_is_good_and_renewed_in_time(tmp_path: Path) -> None:
    """Another identity's, a damaged one and one that ends soon are replaced."""
    path, identity = tmp_path / "tls.pem", new_identity()
    ensure_certificate(identity, path, NOW)
    assert path.stat().st_mode & 0o777 == 0o600
    for who, now, changes in (
        (identity, NOW + DAY, False),
        (identity, NOW + DAY * (VALID_DAYS // 2 + 1), True),
        (new_identity(), NOW, True),
    ):
        before = path.read_bytes()
        ensure_certificate(who, path, now)
        assert (path.read_bytes() != before) == changes
    path.write_bytes(b"half of a file")
    ensure_certificate(identity, path, NOW)
    assert tls._is_good(identity.public, path, NOW)


def test_a_service_with_another_identity_is_refused(service: Service) -> None:
    """With plain HTTP on this machine, where no certificate tells."""
    with service.serving() as url:
        with pytest.raises(Refused, match=r"identity: must be .* as the address says"):
            Conversation(ASKER, Address(url, new_identity().public)).about()
        with pytest.raises(Refused, match="must be that of this request"):
            Conversation(ASKER, Address(url, new_identity().public)).get("/v1/x")
        with Conversation(ASKER, Address(url)) as talk:
            assert talk.get("/v1/x").status == 200


def test_what_the_partner_refuses_is_told_in_its_own_words(service: Service) -> None:
    """Cleaned, and with the address before it."""

    def refuse(method: str, path: str, body: bytes) -> dict:
        raise InvalidInput("batch", "must be\x1b[2J signed\n", "x" * 900, "ask them")

    with Service(service.identity, refuse).serving() as url:
        with pytest.raises(Refused) as caught:
            Conversation(ASKER, Address(url)).get("/v1/x")
        assert str(caught.value).startswith(f"{url}: batch: must be[2J signed, found 'xxx")
        assert (caught.value.field, caught.value.hint) == ("batch", "ask them")
        assert len(str(caught.value)) < 500


def reply(status: str, body: bytes, headers: str = "", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{headers}\r\n".encode() + body


def once(content: bytes, *, reads: bool = True) -> Callable[[socket.socket], None]:
    """Answers one request of a connection like this, and hangs up."""

    def answer(connection: socket.socket) -> None:
        if reads:
            connection.recv(10_000)
        connection.sendall(content)

    return answer


@contextmanager
def talk_with(
    answer: Callable[[socket.socket], None], timeout: float = 20
) -> Iterator[Conversation]:
    with (
        listening(answer) as place,
        Conversation(ASKER, Address(f"http://{place}"), timeout) as talk,
    ):
        yield talk


ABOUT = b'{"format":"krand-about-1","identity":"%s","name":"a"}' % (b"5a" * 32)


@pytest.mark.parametrize(
    ("content", "error", "problem"),
    [
        (reply("200 OK", b"<html>"), Refused, "must be that of a krand service"),
        (reply("200 OK", b"[]"), Refused, "not a JSON object"),
        (reply("200 OK", b"{}"), Refused, "does not say who it is"),
        (reply("200 OK", ABOUT.replace(b"5a", b"5A")), Refused, "identity: should be 64"),
        (reply("200 OK", ABOUT.replace(b'"a"', b'"a\\n"')), Refused, "name: should be 1 to"),
        (reply("200 OK", ABOUT + b" " * 2**24), Refused, "more than 16,777,216 bytes"),
        (reply("302 Found", b"", "Location: https://example.org\r\n"), Refused, "answers 302"),
        (reply("404 Not Found", b"nothing"), Refused, "it answers 404"),
        (reply("403 Forbidden", b'{"error":[]}'), Refused, "it answers 403"),
        (reply("503 Busy", b'{"error":{"rule":"is busy"}}'), Unavailable, "503 is busy"),
        (reply("429 Too Many", b""), Unavailable, "cannot do this now: 429"),
        (reply("200 OK", ABOUT, length=500), Unavailable, "in the middle of its answer"),
        (b"", Unavailable, "cannot be reached now"),
        (b"SSH-2.0-OpenSSH_9\r\n", Unavailable, "cannot be reached now"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200, Unavailable, "cannot be reached now"),
    ],
)
def test_an_answer_that_makes_no_sense_is_named(
    content: bytes, error: type[Exception], problem: str
) -> None:
    """What may pass is told apart from what does not."""
    with talk_with(once(content)) as talk, pytest.raises(error, match=problem):
        talk.about()


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX: ", reply("200 OK", b"{", length=9999)]
)
def test_a_partner_that_stalls_is_left(start: bytes) -> None:
    """Also if a byte comes now and then, in the head or in the middle of the answer."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        connection.settimeout(0.02)
        while True:  # until the other side hangs up
            try:
                if not connection.recv(1000):
                    return
            except TimeoutError:
                connection.sendall(b" " if start else b"")

    with talk_with(drip, timeout=0.2) as talk, pytest.raises(Unavailable):
        talk.about()


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    """A service closes those that are idle; nothing is lost by asking again."""
    with talk_with(once(reply("200 OK", ABOUT))) as talk:
        for _ in range(3):
            assert talk.about().name == "a"


@pytest.mark.parametrize("waits", [True, False])
def test_a_refusal_before_the_whole_request_was_read_is_heard(waits: bool) -> None:
    """Signatures are checked first; then nobody reads the rest, and some hang up."""
    early = reply("403 Forbidden", b'{"error":{"field":"identity","rule":"must be known"}}')
    nonce = reply("200 OK", b'{"nonce":"%s"}' % (b"00" * 56), "Connection: close\r\n")

    def answer(connection: socket.socket) -> None:
        head = connection.recv(10_000)
        connection.sendall(nonce if b"/v1/nonce" in head else early)
        if waits and b"/v1/nonce" not in head:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(2**16):
                pass

    with listening(answer) as place:
        address = Address(f"http://{place}", ASKER.public)
        with pytest.raises(Refused, match="identity: must be known"):
            Conversation(ASKER, address).patch("/v1/x", 0, bytes(2**23))


def test_a_nonce_of_another_form_is_not_signed() -> None:
    """Nobody chooses what an identity signs."""
    with listening(once(reply("200 OK", b'{"nonce":"krand plan"}'))) as place:
        address = Address(f"http://{place}", ASKER.public)
        with pytest.raises(Refused, match="nonce: should be 112"):
            Conversation(ASKER, address).get("/v1/x")
