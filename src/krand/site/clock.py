"""Time, as far as something is done by it that cannot be undone: rounds closed, keys destroyed.

Whoever sets the clock of a machine must not end rounds by that. So what cannot be undone is done
when the clock has said so for ten minutes in which it went on steadily, and never while it is more
than a day before the last time that was recorded. What can be undone, such as refusing a submission
that comes late, is done at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day

from krand.site.state import State

PATIENCE = 600.0
"""So many seconds the clock must have said it."""
JUMP = 60.0
"""A clock that was moved by more has not gone on steadily; a computer that slept neither."""
DAY, HOUR = 86_400.0, 3_600.0
LONGEST_SLEEP = 60.0
RECORDED = "time"


def midnight_after(day: date) -> float:
    """The end of a day in UTC, in seconds since 1970."""
    return datetime.combine(day + timedelta(days=1), time_of_day(), UTC).timestamp()


class Clock:
    """The system's clock, and whether it may be believed."""

    def __init__(
        self,
        state: State,
        wall: Callable[[], float] = lambda: time.time(),
        steady: Callable[[], float] = lambda: time.monotonic(),
        longest_sleep: float = LONGEST_SLEEP,
    ) -> None:
        self._state, self._wall, self._steady = state, wall, steady
        self._longest_sleep = longest_sleep
        self._recorded = state.fact(RECORDED) or 0.0
        self._since, self._ahead = steady(), wall() - steady()

    def now(self) -> float:
        """Seconds since 1970, as the system says; nothing that is done by it is for good."""
        return self._wall()

    def has_passed(self, moment: float) -> bool:
        """Whether what is due at this moment may be done, although it cannot be undone."""
        believed = self._believed()
        return believed is not None and believed - PATIENCE >= moment

    async def passed(self, moment: float) -> None:
        """Wait until it may be done."""
        while not self.has_passed(moment):
            await asyncio.sleep(min(self._longest_sleep, max(1.0, moment - self.now())))

    async def reached(self, moment: float) -> None:
        """Wait for it by the system's clock, for what can be undone."""
        while self.now() < moment:
            await asyncio.sleep(min(self._longest_sleep, max(1.0, moment - self.now())))

    async def keep(self) -> None:
        """Record the time every hour, for ever."""
        while True:
            believed = self._believed()
            if believed is not None and believed >= self._recorded + HOUR:
                self._state.remember(RECORDED, believed)
                self._recorded = believed
            await asyncio.sleep(self._longest_sleep)

    def _believed(self) -> float | None:
        """The time, if it has gone on steadily for long enough, and has not gone back."""
        wall, steady = self._wall(), self._steady()
        if abs(wall - steady - self._ahead) > JUMP:
            self._since, self._ahead = steady, wall - steady
        believed = steady - self._since >= PATIENCE and wall >= self._recorded - DAY
        return wall if believed else None
