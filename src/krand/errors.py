"""Everything krand raises on purpose.

    KrandError
    ├── InvalidInput          invalid value; names field, rule, value and hint        (exit code 2)
    │   ├── SurveyErrors      all mistakes in a survey file, each with its line
    │   ├── BadRows           rows of a table that are no answers to the survey
    │   ├── AlreadyRandomized the table of this round was randomized before
    │   ├── AlreadySubmitted  this round was answered before on this device
    │   ├── UsedInvitation    somebody has answered with this invitation
    │   ├── CrowdTooSmall     fewer people than the noise was planned for
    │   ├── Exists            a file is in the way and is not replaced
    │   └── Unwritable        a file or folder cannot be written
    ├── CannotMeet            a valid request that no useful noise can satisfy        (exit code 3)
    ├── MissingComponent      an optional part of krand is not installed              (exit code 4)
    ├── NoEntropy             no secure randomness available                          (exit code 71)
    ├── Unavailable           a disk or a collector is unavailable; retrying is safe  (exit code 75)
    │   ├── NotDelivered      the collector did not take a submission, which is kept
    │   └── StoreUnavailable  the collector's folder cannot be used now
    └── InternalError         a bug in krand                                          (exit code 70)

`krand` has all of them. The user can fix the first three kinds; the next two are problems of the
machine or of a collector.
"""

from __future__ import annotations

LONGEST_VALUE = 1_000
"""The most characters of an invalid value that an error repeats."""


class KrandError(Exception):
    """Base of all deliberate errors; `exit_code` is what the command line returns.

    >>> from krand import KrandError, Policy
    >>> try:
    ...     Policy(epsilon=1, delta=2, minimum_crowd=10_000)
    ... except KrandError as error:
    ...     print(error.exit_code, error)
    2 delta: must be below 1, found 2; for example delta = 1e-06
    """

    exit_code = 70


class InvalidInput(KrandError):
    """An invalid value: `field` names it, `rule` says what it must be, `hint` how to fix it."""

    exit_code = 2

    def __init__(self, field: str, rule: str, value: object, hint: str = "") -> None:
        self.field, self.rule, self.value, self.hint = field, rule, _short(value), hint
        super().__init__(f"{field}: {rule}, found {self.value!r}" + (f"; {hint}" if hint else ""))


def _short(value: object) -> object:
    """The value, cut off if it is long: a file may contain any text."""
    if isinstance(value, (int, float)) or value is None:
        return value
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


class CannotMeet(KrandError):
    """No useful noise satisfies the request; `nearest` holds similar requests that can be met."""

    exit_code = 3

    def __init__(self, reason: str, nearest: tuple[str, ...] = ()) -> None:
        self.reason, self.nearest = reason, nearest
        super().__init__(reason)


class MissingComponent(KrandError):
    """The request needs an optional part that is not installed: an extra, or another package."""

    exit_code = 4

    def __init__(
        self,
        component: str,
        extra: str = "",
        *,
        install: str = "",
        problem: str = "is not installed",
    ) -> None:
        self.component, self.extra = component, extra
        wanted = f"'krand[{extra}]'" if extra else install
        super().__init__(f"{component} {problem}; run: pip install {wanted}")


class NoEntropy(KrandError):
    """The system's source of randomness failed, returned too little or is not random."""

    exit_code = 71

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the operating system's source of randomness {what}; nothing was randomized. Restart"
            " the machine, and do not use it for surveys until its source of randomness works"
        )


class Unavailable(KrandError):
    """Something is temporarily unavailable; nothing is lost, and retrying is safe."""

    exit_code = 75


class InternalError(KrandError):
    """A bug in krand, found by its own checks; please report it."""

    exit_code = 70
