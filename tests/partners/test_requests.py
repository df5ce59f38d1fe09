"""Signed requests: each is good once, for one recipient, and only as it was signed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from krand.partners.identity import Identity
from krand.partners.requests import (
    BODY,
    IDENTITY,
    NONCE,
    SIGNATURE,
    VALID_SECONDS,
    Asked,
    Nonces,
    NotAuthenticated,
    check_request,
    signed_headers,
)
from krand.wire.keys import generate_signing_key

METHOD, PATH, CONTENT = "PATCH", "/v1/plans/x/batches/y?offset=0", b"a chunk"
ASKER, SERVICE, OTHER = (Identity(generate_signing_key()) for _ in range(3))


@dataclass
class Receiver:
    """A service with a clock that the test moves."""

    seconds: float = 1000.0
    nonces: Nonces = field(init=False)

    def __post_init__(self) -> None:
        self.nonces = Nonces(lambda: self.seconds)

    def signed(self, method: str = METHOD, path: str = PATH, to: Identity = SERVICE) -> dict:
        return signed_headers(ASKER, to.public, method, path, CONTENT, self.nonces.give())

    def check(self, headers: dict[str, str]) -> Asked:
        return check_request(self.nonces, SERVICE.public, METHOD, PATH, headers)


@pytest.fixture
def service() -> Receiver:
    return Receiver()


def test_a_signed_request_tells_who_asks(service: Receiver) -> None:
    """And its body is the one that was signed."""
    asked = service.check(service.signed())
    assert asked.identity == ASKER.public
    asked.check_body(CONTENT)
    with pytest.raises(NotAuthenticated, match="SHA-256 that was signed"):
        asked.check_body(CONTENT + b"!")


@pytest.mark.parametrize("change", [{"method": "POST"}, {"path": f"{PATH}0"}, {"to": OTHER}])
def test_a_request_for_anything_else_is_refused(
    service: Receiver, change: dict[str, object]
) -> None:
    """Another method, another path, another recipient."""
    with pytest.raises(NotAuthenticated, match="must be that of this request"):
        service.check(service.signed(**change))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [IDENTITY, NONCE, BODY, SIGNATURE])
def test_a_header_that_is_missing_strange_or_of_another_request_is_refused(
    service: Receiver, name: str
) -> None:
    """All four belong together."""
    good = service.signed()
    other = signed_headers(OTHER, SERVICE.public, METHOD, PATH, b"other", service.nonces.give())
    for value in (None, "", "zz" * 32, good[name].upper() + "A", other[name]):
        with pytest.raises(NotAuthenticated):
            service.check({**good, name: value} if value is not None else {IDENTITY: good[name]})
    service.check(good)


def test_a_request_is_good_once(service: Receiver) -> None:
    """A copy of it is refused for as long as its nonce would be valid, and then for its age."""
    headers = service.signed()
    service.check(headers)
    for passed in (0, VALID_SECONDS, 1, VALID_SECONDS, 10 * VALID_SECONDS):
        service.seconds += passed
        service.check(service.signed())  # others are forgotten meanwhile
        with pytest.raises(NotAuthenticated, match="nonce: must"):
            service.check(headers)


def test_a_forged_request_does_not_use_up_a_nonce(service: Receiver) -> None:
    """Otherwise anybody who saw a nonce could keep its owner out."""
    headers = service.signed()
    with pytest.raises(NotAuthenticated):
        service.check({**headers, SIGNATURE: "00" * 64})
    service.check(headers)


def test_a_nonce_is_good_for_a_minute_of_the_givers_clock(service: Receiver) -> None:
    """And only in the process that gave it."""
    young, old = service.signed(), service.signed()
    service.seconds += VALID_SECONDS
    service.check(young)
    service.seconds += 1
    with pytest.raises(NotAuthenticated, match="at most 60 seconds old"):
        service.check(old)
    with pytest.raises(NotAuthenticated, match="that this service gave"):
        Receiver().check(service.signed())


def test_used_nonces_are_forgotten_when_they_are_too_old(service: Receiver) -> None:
    """What is remembered is bounded by a minute's requests."""
    for _ in range(50):
        service.check(service.signed())
        service.seconds += VALID_SECONDS / 10
    assert len(service.nonces._used) <= 12
