"""From a device to the collector: the same bytes again and again, until they are acknowledged."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from krand.client.ledger import Submission
from krand.client.randomness import SecureRandom, secure_random
from krand.errors import InvalidInput, KrandError
from krand.wire.submissions import submission_bytes

__all__ = ["NotDelivered", "send"]

TIMEOUT_SECONDS = 20.0
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
AGAIN = (408, 429, 500, 502, 503, 504)
"""What may be better later; everything else is told at once."""


class NotDelivered(KrandError):
    """The collector could not be reached, or could not store; the ledger keeps the submission."""

    exit_code = 75


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
    failed together do not come back together.
    """
    body = submission_bytes(round_number, submission.id, submission.messages)
    random, wait, problem = random or secure_random(), FIRST_WAIT, ""
    for attempt in range(attempts):
        if attempt:
            sleep(wait * (0.5 + random.below(1 << 20) / (1 << 20)))
            wait = min(2 * wait, LONGEST_WAIT)
        try:
            status, answer = _post(url, f"/v1/{plan_hash}/submissions", body)
        except (OSError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
            continue
        if status == 202:
            return
        problem = f"{status} {answer}"
        if status not in AGAIN:
            mend = "is this the collector of this plan and round?"
            raise InvalidInput("submission", "must be taken by the collector", problem, mend)
    raise NotDelivered(
        f"not delivered to {url} in {attempts} attempts ({problem}); nothing is lost: send it again"
    )


def _post(url: str, path: str, body: bytes) -> tuple[int, str]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("url", "must begin with https:// or http://", url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
    try:
        # No cookie, no agent: only what HTTP cannot do without.
        connection.putrequest("POST", parts.path.rstrip("/") + path, skip_accept_encoding=True)
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, _rule(response.read(4096))
    finally:
        connection.close()


def _rule(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"]["rule"])
    except (ValueError, KeyError, TypeError):
        return ""
