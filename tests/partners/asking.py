"""A partner's service on a port of its own, and whoever asks it, with any headers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from collecting import Answer, asked, in_thread
from components import require
from krand.partners.identity import Identity
from krand.partners.requests import signed_headers
from krand.wire.keys import generate_signing_key


def some_identity() -> Identity:
    """A new one."""
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
    ) -> Answer:
        """A signed request."""
        own = self.headers(method, path, body) if headers is None else dict(headers)
        return asked(self.port, method, path, body, own)


def problem(answer: Answer) -> tuple[int, str]:
    """The status, and the field that is wrong."""
    return answer.status, json.loads(answer.content)["error"]["field"]


@contextmanager
def partner_service(identity: Identity, ways: Any, tls: Any = None, port: int = 0) -> Iterator[int]:
    """The service of these ways, in a thread of this process; its port."""
    require("uvicorn")
    require("starlette")
    from krand.collector.serving import listen
    from krand.partners.http import PartnerService
    from krand.partners.serving import make_partner_server

    app = PartnerService(identity, "a partner", ways)
    with in_thread(make_partner_server(app, tls), listen("127.0.0.1", port)) as found:
        yield found
