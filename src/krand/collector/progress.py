"""How far a round is: in steps, and seldom, so that it tells nobody's arrival.

Steps alone are not enough. Somebody who sends submissions of their own could bring the count to one
below a step, and would then see the next person arrive. So what is shown is brought up to date only
after a random number of arrivals: none of the first 31 does it, and every later one with
probability 1/32, whatever came before. To somebody who watches all the time and knows all others,
each step tells a person's arrival with at most this probability. A batch has at most ten steps;
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from krand.collector.store import MINIMUM_GROUP
from krand.randomness.generator import secure_random

T = TypeVar("T")

STEPS_PER_CROWD, FINE_STEPS_PER_CROWD = 10, 100


def step_for(crowd: int) -> int:
    """The step of people for the operator, who has the spool and could count them."""
    return max(10, crowd // FINE_STEPS_PER_CROWD)


def coarse(count: int, step: int) -> int:
    """Rounded down to whole steps."""
    return count - count % step


def status_step(crowd: int) -> int:
    """The step of people for everybody else."""
    return max(MINIMUM_GROUP, -(-crowd // STEPS_PER_CROWD))


def progress_of(people: int, crowd: int) -> float:
    """The part of the crowd that has come, in whole steps; 1 from the crowd on.

    So a batch has at most ten steps, however many people it has.
    """
    return 1.0 if people >= crowd else coarse(people, status_step(crowd)) / crowd


class Seldom(Generic[T]):
    """A value that is brought up to date after a random number of arrivals."""

    def __init__(self, below: Callable[[int], int] | None = None) -> None:
        """`below` draws a number from 0 to under another one, uniformly."""
        self._below = below or secure_random().below
        self._shown: T | None = None
        self._next = 0
        """How many arrivals in all bring it up to date."""

    def shown(self, arrived: int, now: T) -> T:
        """The value to show when so many have arrived; `now` is the present one."""
        if self._shown is None or arrived >= self._next:
            self._shown = now
            self._next = arrived + self._group()
        return self._shown

    def _group(self) -> int:
        """How many arrivals until the next time; without memory, so that nobody can wait for it."""
        size = MINIMUM_GROUP
        while self._below(MINIMUM_GROUP):
            size += 1
        return size


class Newest:
    """The ids of the people who came since the last step: nobody is told yet that they came.

    A step forgets them all: the 32 people or more since the one before.
    """

    def __init__(self, below: Callable[[int], int] | None = None) -> None:
        """`below` draws a number from 0 to under another one, uniformly."""
        self._ids: set[bytes] = set()
        self._arrived = 0
        self._step: Seldom[int] = Seldom(below)
        self._step.shown(0, 0)

    def add(self, name: bytes) -> None:
        """Somebody came."""
        self._ids.add(name)
        self._arrived += 1
        if self._step.shown(self._arrived, self._arrived) == self._arrived:
            self._ids.clear()

    def __contains__(self, name: bytes) -> bool:
        return name in self._ids


class Progress:
    """How far a round is, as everybody is told."""

    def __init__(self, crowd: int, below: Callable[[int], int] | None = None) -> None:
        """`below` draws a number from 0 to under another one, uniformly."""
        self._crowd = crowd
        self._people: Seldom[int] = Seldom(below)

    def shown(self, people: int) -> float:
        """The part of the crowd to show when so many have come."""
        return progress_of(self._people.shown(people, people), self._crowd)
