"""How commands end: the exit codes, which help, README and tests read here, and signals."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHECK_FAILED = 1
"""`krand verify` ran to the end, and a check failed; or `krand invite` did, and
could not mail everybody."""
NOT_CHECKED = 5
"""`krand verify --strict` ran to the end; no check failed, but some could not be made."""
INTERRUPTED = 130
"""The convention of shells: 128 plus the number of SIGINT."""

EXIT_CODES: dict[int, str] = {
    0: "success",
    CHECK_FAILED: "krand verify: a check failed; invite: not all mailed",
    2: "invalid value; the message names field, rule, value and hint",
    3: "the request cannot be met; the message suggests similar ones that can",
    4: "an optional part of krand is not installed",
    NOT_CHECKED: "krand verify --strict: no check failed, but some could not be made",
    70: "a bug in krand",
    71: "no secure randomness available; no noise was added",
    75: "disk, collector or mail server unavailable; nothing is lost, try again",
    INTERRUPTED: "interrupted",
}
"""All codes from 2 on, except 5 and the last, belong to the errors in `krand.errors`."""


@contextmanager
def until_stopped(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM, and Ctrl-C, end the service."""
    wanted = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(one, lambda *_: stop()) for one in wanted]
    try:
        yield
    finally:
        for one, handler in zip(wanted, before, strict=True):
            signal.signal(one, handler)
