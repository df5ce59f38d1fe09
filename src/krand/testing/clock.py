"""A clock in a file, which a test sets for all processes of a site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from krand.files import write_atomically


@dataclass(frozen=True, slots=True)
class FileClock:
    """What time it is, as the file says: that of the system, and one that nobody can set.

    >>> from krand.testing import FileClock
    >>> clock = FileClock("clock")
    >>> clock.set(1000.0)
    >>> clock.jump(-60.0)
    >>> clock.wall(), clock.steady()
    (940.0, 1000.0)
    """

    path: str

    def boot(self) -> str:
        """One start of the machine for ever."""
        return "test"

    def wall(self) -> float:
        """Seconds since 1970, as somebody has set them."""
        return self._both()[0]

    def steady(self) -> float:
        """Seconds that have passed."""
        return self._both()[1]

    def set(self, now: float) -> None:
        """It is so late now, by both clocks."""
        self._write(now, now)

    def jump(self, seconds: float) -> None:
        """Somebody sets the system's clock forward, or back."""
        wall, steady = self._both()
        self._write(wall + seconds, steady)

    def _both(self) -> tuple[float, float]:
        wall, steady = Path(self.path).read_text(encoding="ascii").split()
        return float(wall), float(steady)

    def _write(self, wall: float, steady: float) -> None:
        write_atomically("clock", Path(self.path), f"{wall!r} {steady!r}")
