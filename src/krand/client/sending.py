"""From a device to the collector: the same bytes again and again, until they are acknowledged."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from krand.client.ledger import Submission
from krand.client.randomness import SecureRandom, secure_random
from krand.errors import InvalidInput, Unavailable
from krand.wire.submissions import submission_bytes

__all__ = ["NotDelivered", "send"]

TIMEOUT_SECONDS = 20.0
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
LONGEST_ASKED = 600.0
"""A collector may ask for patience (Retry-After), but not for ever."""
AGAIN = (408, 429, 500, 502, 503, 504)
"""What may be better later; everything else is told at once."""
LONGEST_ANSWER = 200


class NotDelivered(Unavailable):
    """The collector could not be reached, or could not store; the ledger keeps the submission."""


@dataclass(frozen=True, slots=True)
class _Target:
    secure: bool
    host: str
    port: int | None
    path: str


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    rule: str
    asked: float
    """How long the collector wants us to wait, in seconds."""


def send(
    url: str,
    plan_hash: str,
    round_number: int,
    submission: Submission,
    *,
    attempts: int = 8,
    sleep: Callable[[float], None] = time.sleep,
    random: SecureRandom | None = None,
) -> None:
    """Deliver a submission; returns only when the collector has it.

    Between attempts it waits longer and longer, for a time drawn at random, so that clients which
    failed together do not come back together; and never less than the collector asks for.
    """
    target = _target(url, plan_hash)
    body = submission_bytes(round_number, submission.id, submission.messages)
    random, wait, asked, problem = random or secure_random(), FIRST_WAIT, 0.0, ""
    for attempt in range(attempts):
        if attempt:
            sleep(asked + wait * (0.5 + random.below(1 << 20) / (1 << 20)))
            wait = min(2 * wait, LONGEST_WAIT)
        try:
            answer = _post(target, body)
        except (OSError, http.client.HTTPException) as error:
            problem, asked = str(error) or type(error).__name__, 0.0
            continue
        if answer.status == 202:
            return
        problem, asked = f"{answer.status} {answer.rule}".strip(), answer.asked
        if answer.status not in AGAIN:
            mend = "is this the collector of this plan and round?"
            raise InvalidInput("submission", "must be taken by the collector", problem, mend)
    raise NotDelivered(
        f"not delivered to {url} in {attempts} attempts ({problem}); nothing is lost: send it again"
    )


def _target(url: str, plan_hash: str) -> _Target:
    """Where to send it; an address that cannot be right is refused before anything is tried."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        host = ""
    usual = url.isascii() and url.isprintable() and " " not in url
    if not (host and usual and parts.scheme in ("http", "https")):
        rule = "must be an address that begins with https:// or http://"
        raise InvalidInput("url", rule, url)
    if parts.query or parts.fragment or parts.username is not None:
        raise InvalidInput("url", "must have neither query nor fragment nor name of a user", url)
    path = f"{parts.path.rstrip('/')}/v1/{plan_hash}/submissions"
    return _Target(parts.scheme == "https", host, port, path)


def _post(target: _Target, body: bytes) -> _Answer:
    kind = http.client.HTTPSConnection if target.secure else http.client.HTTPConnection
    connection = kind(target.host, target.port, timeout=TIMEOUT_SECONDS)
    try:
        # No cookie, no agent: only what HTTP cannot do without.
        connection.putrequest("POST", target.path, skip_accept_encoding=True)
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        asked = _seconds(response.getheader("Retry-After", ""))
        return _Answer(response.status, _rule(response.read(4096)), asked)
    finally:
        connection.close()


def _seconds(text: str) -> float:
    """A Retry-After in seconds; a date would need a clock that is right, and counts for nothing."""
    digits = text.strip()
    return min(float(digits), LONGEST_ASKED) if digits.isascii() and digits.isdigit() else 0.0


def _rule(answer: bytes) -> str:
    """What the collector says, if it is one: fit to be shown."""
    try:
        said = str(json.loads(answer)["error"]["rule"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "".join(c for c in said if c.isprintable())[:LONGEST_ANSWER]
