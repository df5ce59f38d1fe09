"""Asks a collector until it answers: the same bytes until they are acknowledged."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from krand.client.transport import OK, Http, Reply, Transport, safe_parts
from krand.errors import InvalidInput, Unavailable

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
ATTEMPTS = 8
ACCEPTED = 202


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


def address_of(url: str, plan_hash: str, what: str = "") -> str:
    """The collector's address of a plan, or of something about it."""
    parts = safe_parts("url", url)
    home = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return "/".join(filter(None, (home, "v1/plans", plan_hash, what)))


def send(
    address: str,
    body: bytes,
    *,
    transport: Transport | None = None,
    failed: Callable[[Failed], None] | None = None,
) -> Delivered:
    """Send a submission; returns only when the collector has it."""
    transport = transport or Http()
    reply, attempt = _answered(lambda: transport.post(address, body), transport, failed)
    if reply.status == ACCEPTED:
        return Delivered(reply.known, attempt == 1)
    if reply.is_passing:
        raise NotDelivered(f"not delivered to {address} in {attempt} attempts ({reply.problem})")
    hint = "is this the collector of this plan and round?"
    raise InvalidInput("submission", "must be accepted by the collector", reply.problem, hint)


def fetched(
    url: str,
    plan_hash: str,
    what: str = "",
    *,
    transport: Transport | None = None,
    failed: Callable[[Failed], None] | None = None,
) -> bytes:
    """What the collector publishes about a plan; asked for as often as a submission is sent."""
    address, transport = address_of(url, plan_hash, what), transport or Http()
    reply, attempt = _answered(lambda: transport.get(address), transport, failed)
    if reply.status == OK:
        return reply.content
    if reply.is_passing:
        problem = f"{address} gave no answer in {attempt} attempts ({reply.problem})"
        raise NotDelivered(problem, "nothing was sent: try again")
    hint = "compare the address and the hash with those that were published"
    raise InvalidInput("plan", "must be one that this collector serves", reply.problem, hint)


def _answered(
    ask: Callable[[], Reply], transport: Transport, failed: Callable[[Failed], None] | None
) -> tuple[Reply, int]:
    """The first answer that is worth no retry, or the last one; and how many attempts it took.

    The waits between attempts become longer. They are random, so that clients that failed together
    do not retry together, and never shorter than the collector asks for. `failed` is called before
    each wait.
    """
    wait, reply = FIRST_WAIT, Reply(0)
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            pause = reply.wait + wait * (0.5 + secrets.randbelow(1 << 20) / (1 << 20))
            if failed is not None:
                failed(Failed(attempt - 1, ATTEMPTS, reply.problem, pause))
            transport.wait(pause)
            wait = min(2 * wait, LONGEST_WAIT)
        try:
            reply = ask()
        except OSError as error:
            reply = Reply(0, rule=str(error) or type(error).__name__)
        if not reply.is_passing:
            return reply, attempt
    return reply, ATTEMPTS
