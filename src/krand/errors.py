"""Everything krand raises on purpose.

    KrandError
    ├── InvalidInput       a value breaks a rule; names field, rule, value and hint   (exit code 2)
    ├── CannotMeet         a well-formed request that no useful noise can satisfy     (exit code 3)
    ├── MissingComponent   an optional part of krand is not installed                 (exit code 4)
    ├── NoEntropy          the machine gives no randomness; nothing was randomized    (exit code 71)
    ├── Unavailable        a disk or a collector fails now; later it may work         (exit code 75)
    └── InternalError      krand contradicts itself: a bug to report                  (exit code 70)

The first three are for the user to mend, the next two for whoever runs the machine; the last is
ours.
"""

from __future__ import annotations

__all__ = [
    "CannotMeet",
    "InternalError",
    "InvalidInput",
    "KrandError",
    "MissingComponent",
    "NoEntropy",
    "Unavailable",
]

LONGEST_VALUE = 1_000
"""Characters of a wrong value that an error repeats."""


class KrandError(Exception):
    """Base of all deliberate errors; `exit_code` is what the command line returns.

    >>> from krand import KrandError, Policy
    >>> try:
    ...     Policy(epsilon=1, delta=2, population=10_000)
    ... except KrandError as error:
    ...     print(error.exit_code, error)
    2 delta: must be a finite number between 0 and 1, both excluded, found 2
    """

    exit_code = 70


class InvalidInput(KrandError):
    """A value that breaks a rule."""

    exit_code = 2

    def __init__(self, field: str, rule: str, value: object, hint: str = "") -> None:
        self.field, self.rule, self.value, self.hint = field, rule, _short(value), hint
        super().__init__(f"{field}: {rule}, found {self.value!r}" + (f"; {hint}" if hint else ""))


def _short(value: object) -> object:
    """The value, or the beginning of one that nobody would read: a file may hold any text."""
    if isinstance(value, (int, float)) or value is None:
        return value
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


class CannotMeet(KrandError):
    """No useful noise satisfies the request; `nearest` holds requests that can be met."""

    exit_code = 3

    def __init__(self, reason: str, nearest: tuple[str, ...] = ()) -> None:
        self.reason, self.nearest = reason, nearest
        super().__init__(reason)


class MissingComponent(KrandError):
    """An optional dependency is needed for what was asked."""

    exit_code = 4

    def __init__(self, component: str, extra: str) -> None:
        self.component, self.extra = component, extra
        super().__init__(f"{component} is not installed; run: pip install 'krand[{extra}]'")


class NoEntropy(KrandError):
    """The operating system's source of randomness failed, was short or repeated itself."""

    exit_code = 71

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the operating system's source of randomness {what}; nothing was randomized. Restart"
            " the machine, and let nobody answer on it until its source of randomness works"
        )


class Unavailable(KrandError):
    """What is needed fails now and may work later; nothing is lost, and trying again is safe."""

    exit_code = 75


class InternalError(KrandError):
    """krand found a contradiction in its own work; please report it."""

    exit_code = 70
