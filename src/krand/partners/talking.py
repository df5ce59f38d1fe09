"""One partner's program asks another one: signed, over a connection that was checked first.

Whatever the other side does, an answer takes bounded time and memory. It is one of three things: an
answer; `Unavailable`, which may pass, so that trying again makes sense; or `Refused`, with the rule
that the other side names.
"""

from __future__ import annotations

import secrets
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from krand.errors import InvalidInput, Unavailable
from krand.files import json_object
from krand.partners.documents import (
    ASK_PARTNER,
    BatchReceipt,
    Erasure,
    Heartbeat,
    Line,
    NotReceived,
    Public,
    Station,
    keys_hash,
    signed_by,
)
from krand.partners.identity import Address, Identity
from krand.partners.requests import GivenNonce, signed_headers
from krand.partners.tls import context_for
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Malformed, part, typed
from krand.wire.signed import Signed

if TYPE_CHECKING:
    from krand.survey.plan import Plan

TIMEOUT_SECONDS = 20.0
SLOWEST = 2**14
"""Bytes that a connection must carry in a second, on average, so that a chunk arrives in time."""
MOST_ANSWER = 2**24
LONGEST_SHOWN = 200
PASSING = (408, 425, 429)
"""Besides every 5xx: reasons to try again."""
WAITS = 202
"""The status of an answer that is not there yet."""
OPERATOR = "operator"
"""What a service waits for if its operator has to decide."""
ABOUT_FORMAT = "krand-about-1"


class Refused(InvalidInput):
    """The partner does not do what was asked, or what it answers cannot be used."""

    def __init__(self, url: str, field: str, rule: str, value: object, hint: str = "") -> None:
        super().__init__(field, rule, value, hint)
        self.url = url
        self.args = (f"{url}: {self}",)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answers: plain data, and whether the request is dealt with (200) or waits."""

    values: dict[str, Any]
    status: int = 200


@dataclass(frozen=True, slots=True)
class About:
    """Who a service says it is."""

    name: Line
    identity: Public

    @property
    def values(self) -> dict[str, str]:
        """As a service answers."""
        return {"format": ABOUT_FORMAT, "name": self.name, "identity": self.identity}


class Talks(Protocol):
    """What others need of a conversation; tests have one without a network."""

    def get(self, path: str) -> Answer:
        """Ask for something."""

    def post(self, path: str, body: bytes | Mapping[str, Any] = b"") -> Answer:
        """Send something."""

    def patch(self, path: str, offset: int, chunk: bytes) -> Answer:
        """Send a part of something."""

    def close(self) -> None:
        """Hang up."""


class Conversation:
    """Requests to one partner, one after another, over one connection where that is possible."""

    def __init__(
        self, identity: Identity, address: Address, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.address = address
        self._identity, self._recipient = identity, address.identity
        self._parts, self._timeout = urlsplit(address.url), timeout
        self._connection: HTTPConnection | None = None
        self._contexts = self._possible_contexts()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the next request connects anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def about(self) -> About:
        """Who is there; another identity than the address names is refused."""
        values = dict(self._unsigned("GET", "/v1/about").values)
        if values.pop("format", None) != ABOUT_FORMAT:
            raise self._nonsense("it does not say who it is")
        try:
            found: About = typed(About, values)
        except Malformed as error:
            raise self._nonsense(str(error)) from None
        if self._recipient not in (None, found.identity):
            rule = f"must be {self._recipient}, as the address says"
            hint = "the partner has a new key, or somebody else answers: ask the partner"
            raise Refused(self.address.url, "identity", rule, found.identity, hint)
        self._recipient = found.identity
        return found

    def get(self, path: str) -> Answer:
        """Ask for something."""
        return self._signed("GET", path, b"")

    def post(self, path: str, body: bytes | Mapping[str, Any] = b"") -> Answer:
        """Send something; a mapping is sent as JSON."""
        content = body if isinstance(body, bytes) else canonical_json(body)
        return self._signed("POST", path, content)

    def patch(self, path: str, offset: int, chunk: bytes) -> Answer:
        """Send what follows the first `offset` bytes."""
        return self._signed("PATCH", f"{path}?offset={offset}", chunk)

    def _signed(self, method: str, path: str, body: bytes) -> Answer:
        recipient = self._recipient or self.about().identity
        given = self._unsigned("POST", "/v1/nonce").values
        try:
            nonce = part(GivenNonce, given, "nonce")
        except Malformed as error:
            raise self._nonsense(str(error)) from None
        headers = signed_headers(self._identity, recipient, method, path, body, nonce)
        return self._asked(method, path, body, headers)

    def _unsigned(self, method: str, path: str) -> Answer:
        """Sent again if the other side has closed a connection that was open for a while."""
        if self._connection is not None:
            with suppress(Unavailable):
                return self._asked(method, path)
        return self._asked(method, path)

    def _asked(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        try:
            connection = self._connection = self._connection or self._connected()
            with _within(connection, self._timeout + len(body) / SLOWEST):
                # If the other side hangs up before the end, it may have said why.
                with suppress(BrokenPipeError, ConnectionResetError):
                    target = self._parts.path + path
                    connection.request(method, target, body, dict(headers or {}))
                response = connection.getresponse()
                content = response.read(MOST_ANSWER + 1)
                if response.length and len(content) <= MOST_ANSWER:
                    raise ConnectionAbortedError("it hung up in the middle of its answer")
        except (OSError, HTTPException) as error:
            self.close()
            raise self._unreachable(_reason(error)) from None
        except BaseException:
            self.close()  # an answer that was not read would be taken for the next one
            raise
        if response.will_close or not response.isclosed():
            self.close()
        return self._understood(response, content)

    def _connected(self) -> HTTPConnection:
        """A connection whose other side is the one that the address names."""
        host, port, problems = self._parts.hostname or "", self._parts.port, []
        for context in self._contexts:
            if context is None:
                connection = HTTPConnection(host, port, timeout=self._timeout)
            else:
                connection = HTTPSConnection(host, port, timeout=self._timeout, context=context)
            try:
                connection.connect()
            except ssl.SSLCertVerificationError as error:
                connection.close()
                problems.append(error.verify_message)
                continue
            self._contexts = (context,)
            return connection
        why = f"its certificate is not accepted ({'; '.join(problems)})"
        raise self._unreachable(f"{why}; compare the address with the one that its operator shows")

    def _possible_contexts(self) -> tuple[ssl.SSLContext | None, ...]:
        """A certificate of the identity is accepted, and one of the usual authorities."""
        if self._parts.scheme == "http":
            return (None,)
        usual = ssl.create_default_context()
        known = self.address.identity
        return (usual,) if known is None else (context_for(known), usual)

    def _understood(self, response: HTTPResponse, content: bytes) -> Answer:
        url, status = self.address.url, response.status
        if status in PASSING or status >= 500:
            raise Unavailable(f"{url} cannot do this now: {status} {_error_in(content)['rule']}")
        if status not in (200, WAITS):
            said = _error_in(content)
            rule = said["rule"] or f"must be a request that it takes (it answers {status})"
            raise Refused(url, said["field"] or "request", rule, said["value"], said["hint"])
        if len(content) > MOST_ANSWER:
            raise self._nonsense(f"its answer has more than {MOST_ANSWER:,} bytes")
        try:
            return Answer(json_object("answer", content, url), status)
        except InvalidInput as error:
            raise self._nonsense(_shown(error.hint)) from None

    def _nonsense(self, reason: str) -> Refused:
        rule = "must be that of a krand service"
        return Refused(self.address.url, "answer", rule, reason, "is the address right?")

    def _unreachable(self, reason: str) -> Unavailable:
        return Unavailable(f"{self.address.url} cannot be reached now: {reason}")


@contextmanager
def _within(connection: HTTPConnection, seconds: float) -> Iterator[None]:
    """Ends the connection if this takes longer, however little the other side sends at a time."""
    sock, late = connection.sock, threading.Event()
    sock.settimeout(seconds)

    def end() -> None:
        late.set()
        with suppress(OSError):  # not the method of an SSLSocket, which another thread is using
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if late.is_set():  # what was cut off looks like a short answer
        raise TimeoutError


def _error_in(content: bytes) -> dict[str, str]:
    """What the other side says is wrong, cleaned for display."""
    try:
        error = json_object("answer", content[:MOST_ANSWER], "").get("error")
    except InvalidInput:
        error = None
    found = error if isinstance(error, dict) else {}
    return {name: _shown(found.get(name, "")) for name in ("field", "rule", "value", "hint")}


def _shown(text: object) -> str:
    return "".join(c for c in str(text) if c.isprintable())[:LONGEST_SHOWN]


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return _shown(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def ask_receipt(
    talk: Talks, station: Station, plan: str, batch_id: str
) -> Signed[BatchReceipt] | None:
    """The station's receipt of a batch, or None if it signs that it has none.

    Any other answer is an error: nobody can tell then whether the batch has left.
    """
    nonce = secrets.token_hex(16)
    path = f"/v1/plans/{plan}/batches/{batch_id}/receipt"
    values = talk.post(path, {"nonce": nonce}).values
    about = {"plan": plan, "batch_id": batch_id, "receiver": station.identity}
    if values.get("format") == NotReceived.form:
        signed_by(station, "receipt", NotReceived, values, **about, nonce=nonce)
        return None
    return signed_by(station, "receipt", BatchReceipt, values, **about, hop=station.hop)


def has_batch(talk: Talks, station: Station, plan: str, batch_id: str) -> bool:
    """Whether the station has a batch, or has taken its chain and perhaps a part of it."""
    if ask_receipt(talk, station, plan, batch_id) is not None:
        return True
    try:
        talk.get(f"/v1/plans/{plan}/batches/{batch_id}")
    except InvalidInput:
        return False
    return True


def held_keys(talk: Talks, station: Station, plan: Plan) -> int:
    """How many rounds' keys a mixer still has: all but the first ones, or but those it says.

    It answers with a nonce, so it could not have prepared that.
    """
    nonce = secrets.token_hex(16)
    values = talk.post(f"/v1/plans/{plan.hash}/heartbeat", {"nonce": nonce}).values
    about = {"plan": plan.hash, "mixer": station.identity, "nonce": nonce}
    beat = signed_by(station, "heartbeat", Heartbeat, values, **about).record
    keys = plan.mixers[station.hop - 1].keys
    for erased in range(len(keys) + 1):
        if beat.keys == keys_hash(keys[erased:]):
            return len(keys) - erased
    gone = {one.round for one in erased_keys(talk, station, plan)}  # a round may be left out
    left = tuple(key for number, key in enumerate(keys, 1) if number not in gone)
    if beat.keys == keys_hash(left):
        return len(left)
    rule, hint = (
        "must be of keys that the plan names",
        "its store is another one than when it signed",
    )
    raise InvalidInput(f"heartbeat of {station.name}", rule, beat.keys, hint)


def erased_keys(talk: Talks, station: Station, plan: Plan) -> list[Erasure]:
    """What a mixer signs that it has erased."""
    values = talk.get(f"/v1/plans/{plan.hash}/erasures").values
    try:
        listed = part(tuple[Any, ...], values, "erasures")
    except Malformed as error:
        rule = "must be a list"
        field = f"erasures of {station.name}"
        raise InvalidInput(field, rule, str(error), ASK_PARTNER) from None
    about = {"plan": plan.hash, "mixer": station.identity}
    return [signed_by(station, "erasures", Erasure, each, **about).record for each in listed]
