"""One party asks another: signed, at an address that was checked, for no longer than it is fast.

An organiser chooses the addresses that a mixer's program connects to. So they must be https, with
the name of a host, on port 443, and every address of that name must be public; the connection goes
to the address that was checked, follows nothing elsewhere, and ends when it is too slow. What the
operator wrote may be anywhere.

Whatever cannot be used is no answer, and is asked for again: a partner, or whoever stands before
it, can delay a round and change nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from krand.batches.chain import Link, SignedLink, parse_chain
from krand.client.transport import is_loopback
from krand.errors import InvalidInput, Unavailable
from krand.files import json_object
from krand.partners.documents import Held, Identified, Keys, KeysRequest, Status
from krand.partners.identity import Identity, checked_url
from krand.partners.requests import LATE_SECONDS, authorization
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Malformed, plain
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.wire.plan_signatures import PlanSignature, is_valid, parse_signature, signatures_in
from krand.wire.signed import Record, Signed, parse_signed, signed_in

LONGEST, LONGEST_PLAN, PIECE = 2**20, 2**23, 2**20
SLOWEST = 10_000
"""Bytes a second, over a minute."""
LONGEST_RULE = 300
OK, WAITS, PARTIAL, REFUSED, OTHER, BROKEN = 200, 202, 206, 403, 409, 422
ABSENT = 404
TRANSLATED = IPv6Network("64:ff9b::/96")
"""By which a network without IPv4 writes addresses of IPv4."""
Vouched = TypeVar("Vouched", bound=Record)


class NoAnswer(Unavailable):
    """Nothing came that can be used; it is asked for again."""


class Refused(InvalidInput):
    """A partner does not do what was asked, and says which rule is broken."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Where partners may be reached."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    """What the operator wrote, by identity: it replaces what a link or a plan says."""
    local: bool = False
    """Whether partners may be on this machine."""
    seconds: float = 60.0
    """In each of these spans at least `SLOWEST` bytes a second must come."""


@dataclass(frozen=True, slots=True)
class Partner:
    """Another party, as this one asks it. Everything here waits for it: call it in a thread."""

    own: Identity
    identity: str
    url: str
    rules: Rules = Rules()

    # --- before there is a plan -----------------------------------------------------------------

    def identified(self) -> Identified:
        """Who answers there; anybody but this identity is no answer."""
        nonce = secrets.token_hex(32)
        _, content = self._answer("GET", f"/v1/identity?nonce={nonce}")
        return self._signed(Identified, content, nonce=nonce, identity=self.identity)

    def ask_keys(self, asked: KeysRequest) -> Signed[Keys] | None:
        """How it will be described in a plan; None as long as its operator has not accepted."""
        status, content = self._answer("POST", "/v1/keys", canonical_json(plain(asked)))
        if status == WAITS:
            return None
        with self._understood():
            keys = parse_signed(Keys, content, "keys")
        mixer, pairing = keys.record.mixer, keys.record.pairing
        if not keys.is_by(self.identity) or (mixer.identity, pairing) != (
            self.identity,
            asked.pairing,
        ):
            raise self._nothing("keys that it did not sign for this request")
        if (mixer.url, len(mixer.keys)) != (self.url, asked.survey["rounds"]):
            rule = f"must be one for each round, of the mixer at {self.url}"
            raise Refused("keys", rule, mixer.url, "ask its operator for its link")
        return keys

    def send_plan(self, plan: Plan) -> PlanSignature | None:
        """Its signature; None as long as it computes the promise."""
        status, content = self._answer("POST", "/v1/plans", plan.bytes)
        if status == WAITS:
            return None
        with self._understood():
            signature = parse_signature(content, self.url)
        own = next(mixer for mixer in plan.mixers if mixer.identity == self.identity)
        if not is_valid(plan, own, signature):
            raise self._nothing("a signature of something else")
        return signature

    # --- of a plan ------------------------------------------------------------------------------

    def plan(self, plan_hash: str) -> Plan:
        """The plan of this hash."""
        _, content = self._answer("GET", f"/v1/plans/{plan_hash}", most=LONGEST_PLAN)
        with self._understood():
            plan = parse_plan(content)
        if plan.hash != plan_hash:
            raise self._nothing("another plan")
        return plan

    def signatures(self, plan_hash: str) -> tuple[PlanSignature, ...]:
        """Those of a plan that it knows; none is verified yet."""
        _, content = self._answer("GET", f"/v1/plans/{plan_hash}/signatures")
        with self._understood():
            return signatures_in(content)

    def status(self, plan_hash: str) -> Status:
        """How far it is."""
        nonce = secrets.token_hex(32)
        _, content = self._answer("GET", f"/v1/plans/{plan_hash}/status?nonce={nonce}")
        return self._signed(Status, content, nonce=nonce, plan=plan_hash)

    def chain(self, plan_hash: str, number: int) -> tuple[SignedLink, ...] | None:
        """The chain of a round that ends with its link; not verified yet, None if there is none."""
        status, content = self._answer("GET", f"/v1/plans/{plan_hash}/rounds/{number}")
        if status == ABSENT:
            return None
        with self._understood():
            return parse_chain(content, self.url)

    def held(self, plan_hash: str, number: int, place: int) -> SignedLink | None:
        """The link of a place that it holds; None only if it signs that it holds none."""
        nonce = secrets.token_hex(32)
        path = f"/v1/plans/{plan_hash}/rounds/{number}/link/{place}?nonce={nonce}"
        _, content = self._answer("GET", path)
        about = {"plan": plan_hash, "round": number, "place": place, "nonce": nonce}
        link = self._signed(Held, content, **about).link
        with self._understood():
            return None if link is None else signed_in(Link, dict(link))

    def batch(self, plan_hash: str, number: int, part: Path, size: int) -> None:
        """Fetch what is missing of a batch of this size, and never more."""
        path = f"/v1/plans/{plan_hash}/rounds/{number}/batch"
        with part.open("ab") as stream:
            if (have := stream.tell()) > size:
                stream.truncate(have := 0)
            if have < size:
                span = {"Range": f"bytes={have}-{size - 1}"}
                with self._asked("GET", path, headers=span) as (response, came):
                    if response.status != PARTIAL or response.length != size - have:
                        raise self._nothing(f"status {response.status}")
                    while have < size and (piece := response.read1(min(PIECE, size - have))):
                        stream.write(piece)
                        have += len(piece)
                        came(len(piece))
            stream.flush()
            os.fsync(stream.fileno())
        if have != size:
            raise self._nothing("a part of the batch")

    # --- one request ----------------------------------------------------------------------------

    def _answer(
        self, method: str, path: str, body: bytes = b"", most: int = LONGEST
    ) -> tuple[int, bytes]:
        """Status and content, if this is an answer; a refusal is an error that names the rule."""
        content = bytearray()
        with self._asked(method, path, body) as (response, came):
            while len(content) <= most and (piece := response.read1(PIECE)):
                content += piece
                came(len(piece))
            if response.length or len(content) > most:
                raise self._nothing("a part of its answer")
        if response.status in (OK, WAITS) or (response.status == ABSENT and method == "GET"):
            return response.status, bytes(content)
        said = _said(bytes(content))
        if response.status in (REFUSED, OTHER, BROKEN) and method == "POST":
            name, rule = (_shown(said.get(key, "")) for key in ("field", "rule"))
            hint = f"{self.url} answers that"
            raise Refused(name or "request", rule or "must be one that it takes", None, hint)
        theirs = said.get("time")
        if isinstance(theirs, int) and abs(theirs - time.time()) > LATE_SECONDS:
            raise self._nothing("a clock that differs by more than an hour: compare them")
        raise self._nothing(f"status {response.status}")

    @contextmanager
    def _asked(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[HTTPResponse, Callable[[int], None]]]:
        """The response, and what is told how many bytes of it came."""
        now, trusted = int(time.time()), self.identity in self.rules.addresses
        url = self.rules.addresses.get(self.identity, self.url)
        signed = authorization(self.own, self.identity, method, path, body, now)
        given = {"Authorization": signed, **(headers or {})}
        try:
            parts = urlsplit(url if trusted else checked_url("url", url, local=self.rules.local))
            with self._reached(parts, trusted) as raw, _hurried(raw, self.rules.seconds) as came:
                connection = _connection(parts, raw)
                with closing(connection):
                    with suppress(BrokenPipeError, ConnectionResetError):  # it may have said why
                        target = parts.path.rstrip("/") + path
                        connection.request(method, target, body or None, given)
                    yield connection.getresponse(), came
        except InvalidInput as error:
            raise self._nothing(f"an address that {error.rule}") from None
        except TimeoutError:
            raise NoAnswer(f"{url} does not answer in time") from None
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise NoAnswer(f"{url} cannot be reached: {why}") from None

    def _reached(self, parts: SplitResult, trusted: bool) -> socket.socket:
        """A connection to an address of the host, all of which were checked: the name is looked up
        once."""
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = [
            str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ]
        here = self.rules.local and is_loopback(host)
        if not (trusted or here or all(is_public(address) for address in found)):
            raise self._nothing("an address that is not public")
        failed: OSError = OSError("no address")
        for address in found:
            try:
                return socket.create_connection((address, port), min(20.0, self.rules.seconds))
            except OSError as error:
                failed = error
        raise failed

    def _signed(self, kind: type[Vouched], content: bytes, **expected: object) -> Vouched:
        """What the partner signed in answer to exactly this question."""
        with self._understood():
            signed = parse_signed(kind, content, "answer", self.url)
        record = signed.record
        if not signed.is_by(self.identity) or any(
            getattr(record, name) != value for name, value in expected.items()
        ):
            raise self._nothing("what it did not sign for this question")
        return record

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except (InvalidInput, Malformed):
            raise self._nothing("what no krand program answers") from None

    def _nothing(self, what: str) -> NoAnswer:
        return NoAnswer(f"{self.url} answers with {what}")


def partner_in(own: Identity, plan: Plan, place: int, rules: Rules) -> Partner:
    """The mixer at a place of a plan."""
    mixer = plan.mixers[place - 1]
    return Partner(own, mixer.identity, mixer.url, rules)


def is_public(text: str) -> bool:
    """Whether an address is one of the internet: not of this machine, nor of a network inside."""
    address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address in TRANSLATED:
            address = IPv4Address(address.packed[-4:])
        elif address.ipv4_mapped or address.sixtofour or address.teredo or address.is_reserved:
            return False
    return address.is_global and not address.is_multicast


def _connection(parts: SplitResult, raw: socket.socket) -> HTTPConnection:
    """HTTP over a socket; with TLS where the address says so."""
    host = parts.hostname or ""
    if parts.scheme == "http":
        connection = HTTPConnection(host, parts.port)
        connection.sock = raw
    else:
        connection = HTTPSConnection(host, parts.port)
        connection.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
    return connection


@contextmanager
def _hurried(raw: socket.socket, seconds: float) -> Iterator[Callable[[int], None]]:
    """Ends a connection as soon as too little came in such a span; the block says what comes."""
    came, ended, late = [0], threading.Event(), threading.Event()
    other = socket.socket(fileno=os.dup(raw.fileno()))  # TLS takes the first one over

    def watch() -> None:
        while not ended.wait(seconds):
            if came[0] < SLOWEST * seconds:
                late.set()
                with suppress(OSError):
                    other.shutdown(socket.SHUT_RDWR)
                return
            came[0] = 0

    def count(more: int) -> None:
        came[0] += more

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield count
    except (OSError, HTTPException):
        if late.is_set():
            raise TimeoutError from None
        raise
    finally:
        ended.set()
        watching.join()
        other.close()
    if late.is_set():  # what was cut off looks like a short answer
        raise TimeoutError


def _said(content: bytes) -> dict[str, Any]:
    try:
        return json_object("answer", content, "")
    except InvalidInput:
        return {}


def _shown(text: object) -> str:
    return "".join(each for each in str(text) if each.isprintable())[:LONGEST_RULE]
