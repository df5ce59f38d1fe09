"""Reasons to refuse a message, as codes, so that refusals can be counted and compared."""

from __future__ import annotations

from enum import StrEnum

from krand.errors import InvalidInput

REPEATED = "repeated"
"""The reason for a copy of another message in the batch; only a reader of the batch can see it."""


class Rejection(StrEnum):
    """The reasons, in the order in which a reader checks them; the first that applies counts."""

    WRONG_LENGTH = "wrong_length"
    NOT_SEALED_FOR_THIS_KEY_OR_PLAN = "not_sealed_for_this_key_or_plan"
    UNKNOWN_VERSION = "unknown_version"
    UNKNOWN_KIND = "unknown_kind"
    OUTSIDE_ITS_LANE = "outside_its_lane"
    PADDING_NOT_ZERO = "padding_not_zero"

    @property
    def rule(self) -> str:
        """The rule that such a message violates."""
        return _RULES[self]


_RULES = {
    Rejection.WRONG_LENGTH: "must have the same length as all messages of the plan",
    Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN: "must be sealed, unchanged, for this key, plan and"
    " version of the format",
    Rejection.UNKNOWN_VERSION: "must have a known version of the format",
    Rejection.UNKNOWN_KIND: "must be of a kind that belongs to the plan's linkage",
    Rejection.OUTSIDE_ITS_LANE: "must name a position of the lane that it was sent in",
    Rejection.PADDING_NOT_ZERO: "must have zeros in all unused bits",
}


class RejectedMessage(InvalidInput):
    """A message is refused; the error names the reason, but no content of the message."""

    def __init__(self, reason: Rejection) -> None:
        self.reason = reason
        super().__init__("message", reason.rule, str(reason))

    def __reduce__(self) -> tuple[type[RejectedMessage], tuple[Rejection]]:
        """Lets a worker process return the error: it is rebuilt from its reason."""
        return type(self), (self.reason,)
