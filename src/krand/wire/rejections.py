"""Why a message is refused: a few names, so that refusals can be counted and compared."""

from __future__ import annotations

from enum import StrEnum

from krand.errors import InvalidInput

__all__ = ["REPEATED", "RejectedMessage", "Rejection"]

REPEATED = "repeated"
"""The reason for a copy of another message in the batch. Only whoever has all messages sees it."""


class Rejection(StrEnum):
    """The reasons, in the order in which a reader checks them; the first that applies counts."""

    WRONG_LENGTH = "wrong_length"
    NOT_SEALED_FOR_THIS_KEY_OR_PLAN = "not_sealed_for_this_key_or_plan"
    UNKNOWN_VERSION = "unknown_version"
    UNKNOWN_KIND = "unknown_kind"
    POSITION_OUT_OF_RANGE = "position_out_of_range"
    PADDING_NOT_ZERO = "padding_not_zero"

    @property
    def rule(self) -> str:
        """The rule that such a message breaks."""
        return _RULES[self]


_RULES = {
    Rejection.WRONG_LENGTH: "must have the length that the plan gives all its messages",
    Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN: "must be sealed, unchanged, for this key, plan and"
    " version of the format",
    Rejection.UNKNOWN_VERSION: "must have a version of the format that is known here",
    Rejection.UNKNOWN_KIND: "must be of a kind that the plan's linkage has",
    Rejection.POSITION_OUT_OF_RANGE: "must name a position that the plan has",
    Rejection.PADDING_NOT_ZERO: "must have zeros wherever it carries nothing",
}


class RejectedMessage(InvalidInput):
    """A message that is refused; it names the reason and nothing that the message contains."""

    def __init__(self, reason: Rejection) -> None:
        self.reason = reason
        super().__init__("message", reason.rule, str(reason))

    def __reduce__(self) -> tuple[type[RejectedMessage], tuple[Rejection]]:
        """A worker process can hand the error back: it is built again from its reason."""
        return type(self), (self.reason,)
