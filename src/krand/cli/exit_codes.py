"""What the `krand` command ends with, in one place: help, README and tests read it from here."""

from __future__ import annotations

__all__ = ["CHECK_FAILED", "EXIT_CODES", "INTERRUPTED"]

CHECK_FAILED = 1
"""`krand verify` did its work, and something is not as it should be."""
INTERRUPTED = 130
"""As shells count it: 128 and the number of SIGINT."""

EXIT_CODES: dict[int, str] = {
    0: "done",
    CHECK_FAILED: "krand verify: a check fails",
    2: "a value breaks a rule; the message names field, rule, value and a hint",
    3: "the request cannot be met; the message names the nearest ones that can",
    4: "an optional part of krand is not installed",
    70: "a bug in krand",
    71: "the machine gives no randomness; nothing was randomized",
    75: "a disk or a collector fails now; nothing is lost, try again",
    INTERRUPTED: "interrupted",
}
"""Those from 2 on, but for the last, are the codes of the errors in `krand.errors`."""
