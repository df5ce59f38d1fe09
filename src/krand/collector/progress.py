"""A batch's progress for everybody: in steps, and seldom, so that it tells nobody's arrival.

Steps alone are not enough. Somebody who sends submissions of their own could bring the count to one
below a step, and would then see the next person arrive. So what is shown is brought up to date only
after a random number of arrivals: none of the first 31 does it, and every later one with
probability 1/32, whatever came before. To somebody who watches all the time and knows all others,
each step tells a person's arrival with at most this probability. A batch has at most ten steps, and
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from krand.collector.metrics import coarse
from krand.collector.store import MINIMUM_GROUP, Batch
from krand.randomness.generator import secure_random

__all__ = ["Progress", "progress_of", "status_step"]

STEPS_PER_CROWD = 10


def status_step(crowd: int) -> int:
    """The step of people in which progress is told: coarser than that of metrics."""
    return max(MINIMUM_GROUP, -(-crowd // STEPS_PER_CROWD))


def progress_of(people: int, crowd: int) -> float:
    """The part of the crowd that has come, in whole steps."""
    return coarse(people, status_step(crowd)) / crowd


class Progress:
    """What is shown of the open batch."""

    def __init__(self, crowd: int, below: Callable[[int], int] | None = None) -> None:
        """`below` draws a number from 0 to under another one, uniformly."""
        self._crowd, self._below = crowd, below or secure_random().below
        self._shown: float | None = None
        self._next = 0
        """How many people in all batches bring it up to date."""

    def shown(self, batches: Sequence[Batch]) -> float:
        """The progress to show now."""
        arrived = sum(batch.people for batch in batches)
        if self._shown is None or arrived >= self._next:
            self._shown = progress_of(batches[-1].people, self._crowd)
            self._next = arrived + self._group()
        return self._shown

    def _group(self) -> int:
        """How many arrivals until the next time; without memory, so that nobody can wait for it."""
        size = MINIMUM_GROUP
        while self._below(MINIMUM_GROUP):
            size += 1
        return size
