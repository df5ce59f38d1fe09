"""The clock of a service that erases keys by date: one that jumps stops it.

The system's clock says which day it is, and anybody who can set it could have keys erased early, or
kept. So it is compared with a clock that nobody sets, and after a start with the last time that the
service has recorded. A difference of more than a day is not decided here: the operator is asked.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Protocol

from krand.errors import Unavailable

DAY_SECONDS = 86_400.0


class Clock(Protocol):
    """What time it is; tests have one that they set."""

    def wall(self) -> float:
        """Seconds since 1970, as the system's clock has them."""

    def steady(self) -> float:
        """Seconds since some time, which nobody can set."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The clocks of this machine."""

    def boot(self) -> str:
        """Which start of the machine this is: the steady clock goes on until the next one."""
        with suppress(OSError):
            return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return ""

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def steady(self) -> float:
        """Seconds since the machine started, those in which it slept included where it can."""
        boot = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic() if boot is None else time.clock_gettime(boot)


SYSTEM_CLOCK = SystemClock()


class ClockJumped(Unavailable):
    """The clock is more than a day off; nothing is erased before the operator has looked."""


class CheckedClock:
    """A clock that is compared, from the start of the service on."""

    def __init__(self, clock: Clock, last_seen: float | None, *, is_right: bool = False) -> None:
        """`last_seen` is the time that was recorded last; `is_right` is the operator's word."""
        self._clock = clock
        self._wall, self._steady = clock.wall(), clock.steady()
        if last_seen is not None and not is_right:
            _check(last_seen, self._wall, "since this service last ran")

    def go_on_from(self, wall: float, steady: float) -> None:
        """Compare with what both clocks were at an earlier time."""
        self._wall, self._steady = wall, steady

    def now(self) -> float:
        """Seconds since 1970; ClockJumped if the system's clock was set by more than a day."""
        now = self._clock.wall()
        expected = self._wall + self._clock.steady() - self._steady
        _check(expected, now, "while this service ran")
        return now

    def today(self) -> date:
        """The day, in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).date()


def _check(expected: float, found: float, when: str) -> None:
    if abs(found - expected) <= DAY_SECONDS:
        return
    then, now = (
        f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d %H:%M}" for each in (expected, found)
    )
    raise ClockJumped(
        f"the clock has moved by more than a day {when}: expected about {then} UTC, found {now}"
        " UTC. Keys are erased by date, so the service stops. Check the clock, then start the"
        " service again with --clock-is-right"
    )
