"""Sends the same bytes to the collector until they are acknowledged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.client.ledger import Submission
from krand.client.transport import Http, Transport, safe_parts
from krand.errors import InvalidInput, Unavailable
from krand.wire.submissions import submission_bytes

if TYPE_CHECKING:
    from krand.randomness.generator import SecureRandom

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
ACCEPTED, TIMED_OUT, TOO_MANY, SERVER_FAILED = 202, 408, 429, 500


class NotDelivered(Unavailable):
    """The collector could not be reached or could not store it; the ledger keeps the submission."""

    def __init__(self, problem: str, hint: str = "nothing is lost: send it again") -> None:
        self.problem = problem
        super().__init__(f"{problem}; {hint}")


class UsedInvitation(InvalidInput):
    """Somebody else submitted with this code; the ledger keeps the submission for another code."""

    def __init__(self, round_number: int) -> None:
        super().__init__(
            "invitation",
            "must not have been used before",
            f"a submission of round {round_number} with this code",
            "these answers were not counted; they are kept, and can be sent with another code",
        )


@dataclass(frozen=True, slots=True)
class Delivered:
    """The collector has the submission."""

    known: bool
    """Whether it had a submission with this id already."""
    at_once: bool
    """Whether the first attempt was answered."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed attempt, and the wait before the next one."""

    attempt: int
    attempts: int
    problem: str
    wait: float
    """In seconds."""


def address_of(url: str, plan_hash: str, what: str) -> str:
    """The collector's address of something about a plan."""
    parts = safe_parts("url", url)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/v1/plans/{plan_hash}/{what}"


def send(
    url: str,
    plan_hash: str,
    round_number: int,
    submission: Submission,
    *,
    attempts: int = 8,
    transport: Transport | None = None,
    random: SecureRandom | None = None,
    failed: Callable[[Failed], None] | None = None,
) -> Delivered:
    """Send a submission; returns only when the collector has it.

    The waits between attempts become longer. They are random, so that clients that failed together
    do not retry together, and never shorter than the collector asks for. `failed` is called before
    each wait.
    """
    address, transport = address_of(url, plan_hash, "submissions"), transport or Http()
    body = submission_bytes(round_number, submission.id, submission.messages)
    from krand.randomness.generator import secure_random

    random, wait, asked, problem = random or secure_random(), FIRST_WAIT, 0.0, ""
    for attempt in range(attempts):
        if attempt:
            pause = asked + wait * (0.5 + random.below(1 << 20) / (1 << 20))
            if failed is not None:
                failed(Failed(attempt, attempts, problem, pause))
            transport.wait(pause)
            wait = min(2 * wait, LONGEST_WAIT)
        try:
            reply = transport.post(address, body)
        except OSError as error:
            problem, asked = str(error) or type(error).__name__, 0.0
            continue
        if reply.status == ACCEPTED:
            return Delivered(reply.known, attempt == 0)
        problem, asked = f"{reply.status} {reply.rule}".strip(), reply.wait
        # Every 5xx is the server's failure.
        if reply.status not in (TIMED_OUT, TOO_MANY) and reply.status < SERVER_FAILED:
            hint = "is this the collector of this plan and round?"
            raise InvalidInput("submission", "must be accepted by the collector", problem, hint)
    raise NotDelivered(f"not delivered to {url} in {attempts} attempts ({problem})")
