"""The format of a submission: a short header, then the sealed messages.

    version (1) || round (2) || id (16) || message || message || …

The plan determines the length and number of messages, so all submissions have the same length.
Messages stand in the order of the plan's lanes, and have a layer for every mixer but the first.
Anything else is refused with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.wire.messages import VERSION, length_at

if TYPE_CHECKING:
    from krand.survey.plan import Plan

ID_LENGTH = 16
HEAD_LENGTH = 1 + 2 + ID_LENGTH


class Refusal(StrEnum):
    """Reasons to refuse a submission; the first that applies is used."""

    TOO_SHORT = "too_short"
    UNKNOWN_VERSION = "unknown_version"
    OTHER_ROUND = "other_round"
    WRONG_LENGTH = "wrong_length"

    @property
    def rule(self) -> str:
        """The rule that such a submission violates."""
        return _RULES[self]


_RULES = {
    Refusal.TOO_SHORT: f"must have a header of {HEAD_LENGTH} bytes",
    Refusal.UNKNOWN_VERSION: f"must begin with the version {VERSION}",
    Refusal.OTHER_ROUND: "must belong to the round that is being collected",
    Refusal.WRONG_LENGTH: "must contain exactly the plan's number of messages, of its length",
}


class Refused(InvalidInput):
    """A submission is refused; the error names the reason, but nothing that was sent."""

    def __init__(self, reason: Refusal) -> None:
        self.reason = reason
        super().__init__("submission", reason.rule, str(reason))


@dataclass(frozen=True, slots=True)
class Submitted:
    """One person's submission as the collector sees it."""

    id: bytes
    messages: bytes
    """Concatenated; all of the same length."""


@dataclass(frozen=True, slots=True)
class SubmissionFormat:
    """The format of the submissions of a plan and round."""

    round: int
    message_length: int
    messages: int

    @property
    def length(self) -> int:
        """The length of every submission, in bytes."""
        return HEAD_LENGTH + self.messages * self.message_length

    def read(self, body: bytes) -> Submitted:
        """The submission in these bytes, or Refused."""
        if len(body) < HEAD_LENGTH:
            raise Refused(Refusal.TOO_SHORT)
        if body[0] != VERSION:
            raise Refused(Refusal.UNKNOWN_VERSION)
        if round_in(body) != self.round:
            raise Refused(Refusal.OTHER_ROUND)
        if len(body) != self.length:
            raise Refused(Refusal.WRONG_LENGTH)
        return Submitted(body[3:HEAD_LENGTH], body[HEAD_LENGTH:])


def round_in(body: bytes) -> int:
    """The round that the header of a submission names."""
    return int.from_bytes(body[1:3])


def format_of(plan: Plan, round_number: int = 1) -> SubmissionFormat:
    """The format of a plan's submissions in one round."""
    return SubmissionFormat(round_number, length_at(plan, 1), plan.messages)


def submission_bytes(round_number: int, name: bytes, messages: tuple[bytes, ...]) -> bytes:
    """The bytes that are sent; a retry sends the same."""
    if len(name) != ID_LENGTH:
        raise InvalidInput("id", f"must have {ID_LENGTH} bytes", f"{len(name)} bytes")
    return bytes((VERSION,)) + round_number.to_bytes(2) + name + b"".join(messages)
