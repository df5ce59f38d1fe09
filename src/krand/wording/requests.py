"""What the operator of a mixer reads about a request, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krand.policy import Policy
from krand.wording.promises import guess_sentence, promise_symbols

STATES = {
    "WAITING": "waits for you",
    "READY": "accepted; no signed plan yet",
    "SIGNED": "signed",
    "ENDED": "ended",
    "REFUSED": "refused",
}


def request_lines(request: Mapping[str, Any], command: str) -> tuple[str, ...]:
    """One that waits: who asks, for what, with which promise, and what to type; `command` is what
    the operator runs, such as `krand mix`."""
    number, policy = request["number"], Policy.read(request["policy"], "policy")
    limit = ("δ" if policy.eta is None else "η", policy.asked)
    lines = [
        f"Request {number}: {request['organiser']} asks you to be mixer {request['place']} of"
        f" {request['mixers']} for {request['title']} ({request['survey']}), which ends on"
        f" {request['closes']}.",
        "Its link, to be compared with the one that you were given:",
        f"  {request['link']}",
        f"Its promise to every person ({promise_symbols(policy.epsilon, limit)}):",
        f"  {guess_sentence(policy.epsilon, policy.asked)}",
    ]
    if request["second"]:
        lines.append("You were asked to mix a survey of this organiser with this id before.")
    return (*lines, f"To accept: {command} accept {number}; or {command} refuse {number}")


def state_line(request: Mapping[str, Any]) -> str:
    """One request of a list."""
    what, reason = STATES[request["state"]], request["reason"]
    said = f"{what}: {reason}" if reason else what
    return f"{request['number']}  {request['day']}  {request['survey']}  {said}"
