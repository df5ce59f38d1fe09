"""Where a partner is reached, and who must answer there.

The text of an address is a link, `https://mix.example.org:8443/#IDENTITY`. What follows the `#` is
never sent to anybody. A link that asks somebody to join has a code behind the identity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from krand.client.transport import collector_parts, is_loopback
from krand.errors import InvalidInput

IDENTITY = re.compile("[0-9a-f]{64}")
CODE = re.compile("[0-9a-f]{32}")
LONGEST_URL = 500


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a partner's service, and the identity that it must have, if that is known."""

    url: str
    identity: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url("address", self.url))
        if self.identity is not None and not IDENTITY.fullmatch(self.identity):
            rule = "must have 64 hexadecimal digits after its #"
            hint = "copy the whole link; the partner's service shows it when it starts"
            raise InvalidInput("address", rule, self.identity, hint)

    def __str__(self) -> str:
        return self.url + (f"/#{self.identity}" if self.identity else "")


@dataclass(frozen=True, slots=True)
class JoinLink:
    """An address with a code, which whoever joins shows there once."""

    address: Address
    code: str

    def __post_init__(self) -> None:
        if self.address.identity is None or not CODE.fullmatch(self.code):
            rule = "must end with #, an identity, - and a code"
            raise InvalidInput("link", rule, str(self), "copy the whole link")

    def __str__(self) -> str:
        return f"{self.address}-{self.code}"


def parse_address(text: str) -> Address:
    """The address that a text stands for; the identity may be missing."""
    url, _, identity = text.strip().partition("#")
    return Address(url, identity or None)


def parse_join_link(text: str) -> JoinLink:
    """The link that a text stands for."""
    address, _, code = text.strip().rpartition("-")
    if "#" not in address:
        rule = "must end with #, an identity, - and a code"
        raise InvalidInput("link", rule, text, "copy the whole link")
    return JoinLink(parse_address(address), code)


def checked_url(field: str, url: str) -> str:
    """The URL of a service without a slash at its end: https, or plain http on this machine."""
    parts = collector_parts(field, url)
    if len(url) > LONGEST_URL:
        rule, hint = f"must have at most {LONGEST_URL} characters", "use a shorter path"
        raise InvalidInput(field, rule, url, hint)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        rule = "must begin with https://, or name this machine (localhost, 127.0.0.1, [::1])"
        hint = (
            "over http:// everybody on the way can hold back or replace what partners send;"
            " krand mix serve needs no bought certificate: its link names the identity"
        )
        raise InvalidInput(field, rule, url, hint)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
