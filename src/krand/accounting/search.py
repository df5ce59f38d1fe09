"""The smallest whole number that passes a falling test, in as few tries as possible.

It is looked for among few numbers. What passes is a computed bound, whose last digits differ from
machine to machine: between neighbours it changes by far more than that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from krand.accounting.bounds import LOG_NOTHING
from krand.errors import InternalError

TOLERANCE = 0.05
"""How far (in log) a computed bound may rise where it must fall, before it counts as a bug.

Bounds change their method of computation here and there; a real fault is far larger."""

FIRST_SLOPE = 60.0
"""First guess at how much the excess falls per unit of log n."""

FAR_ABOVE = 2.3
"""Of the logarithm of bound/limit: a bound of ten times the limit is no candidate. There it may
rise: ε = 3 in a crowd of 100, where noise nearly suffices without a crowd, is an example."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Whole numbers that have few binary digits, or whose distance to `end` has few.

    >>> grid = Grid(digits=2, end=32)
    >>> [n for n in range(1, 32) if grid.up(n) == n]
    [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 26, 28, 29, 30, 31]
    """

    digits: int
    end: int
    """A power of 2."""

    def up(self, n: int) -> int:
        """The least one that is not below n."""
        return -(-n // self._unit(n)) * self._unit(n)

    def down(self, n: int) -> int:
        """The largest one that is not above n."""
        return n // self._unit(n) * self._unit(n)

    def _unit(self, n: int) -> int:
        return 1 << max(0, min(n, self.end - n).bit_length() - self.digits)


EVERY_NUMBER = Grid(digits=64, end=2**64)


def smallest_passing(
    excess: Callable[[int, bool], float],
    guess: int,
    floor: int,
    ceiling: int,
    must_fall: bool = True,
    share: float = 0.0,
    near: float = 1e-4,
    grid: Grid = EVERY_NUMBER,
    slope: float = FIRST_SLOPE,
) -> int | None:
    """The least n of the grid in [floor, ceiling] with excess(n, True) ≤ 0: the one before fails.

    None if not even the ceiling passes.

    With share > 0, where each answer takes long, an n that passes within that relative distance.

    `excess` falls with n; with `must_fall` that is checked. excess(n, False) is a quick version,
    used to get within the relative distance `near` and to learn how steep it is; `slope` is a first
    guess at that. `ceiling` is of the grid.
    """
    quick = _Trace(lambda n: excess(n, False), grid)
    floor = grid.up(floor)
    start = min(max(grid.up(guess), floor), ceiling)
    first = _descend(quick, start, floor, ceiling, share=near, slope=slope)
    full = _Trace(lambda n: excess(n, True), grid)
    start = ceiling if first is None else first
    found = _descend(full, start, floor, ceiling, share, slope=quick.slope(start))
    if must_fall:
        quick.check_falling()
        full.check_falling()
    return found


QUICK_WIDTH = 0.01
"""How near a quick search comes to where the unproven version passes."""
SURPLUSES = (1.02, 1.05, 1.12, 1.3)
"""How much more than that is tried until a proof passes."""


def small_passing(
    near: Callable[[int], float],
    proven: Callable[[int], float],
    guess: int,
    floor: int,
    ceiling: int,
) -> int | None:
    """Some n in [floor, ceiling] with proven(n) ≤ 0, a few percent above the least one.

    `near` shows where to look and proves nothing; `proven` is asked once or a few times. None where
    it fails for all that are tried, which says nothing about others.
    """
    start = min(max(guess, floor), ceiling)
    first = _descend(_Trace(near), start, floor, ceiling, QUICK_WIDTH, FIRST_SLOPE)
    tried = 0
    if first is None:
        return None
    for surplus in SURPLUSES:
        n = min(ceiling, math.ceil(first * surplus))
        if n != tried and proven(n) <= 0:
            return n
        tried = n
    return None


class _Trace:
    """The function on a grid, with its values remembered."""

    def __init__(self, f: Callable[[int], float], grid: Grid = EVERY_NUMBER) -> None:
        self._f = f
        self.grid = grid
        self.seen: dict[int, float] = {}

    def __call__(self, n: int) -> float:
        if n not in self.seen:
            self.seen[n] = self._f(n)
        return self.seen[n]

    def check_falling(self) -> None:
        """Monotonicity is used, so it is checked: a rise from what passes to what fails is a bug.

        Among those that pass a bound may rise: far below the limit it is made of allowances for
        rounding.
        """
        values = sorted(self.seen.items())
        points = [(n, min(max(value, 0.0), FAR_ABOVE)) for n, value in values]
        for (n, here), (m, after) in itertools.pairwise(points):
            if after > here + TOLERANCE:
                raise InternalError(f"the bound rises from {here!r} at {n} to {after!r} at {m}")

    def slope(self, n: int) -> float:
        """How much the excess falls per unit of log n, from the two values nearest to n."""
        points = sorted(self.seen, key=lambda m: abs(m - n))[:2]
        if len(points) < 2:
            return FIRST_SLOPE
        fall = abs(self.seen[points[0]] - self.seen[points[1]])
        apart = abs(math.log(points[0] / points[1]))
        return max(1.0, min(1e4, fall / apart)) if apart > 0 else FIRST_SLOPE


def _descend(
    f: _Trace, start: int, floor: int, ceiling: int, share: float, slope: float
) -> int | None:
    """Bracket the crossing around `start`, then close in until low fails and the next one passes.

    With share > 0 a bracket of that relative width is close enough. None if the ceiling fails.
    """
    low, high = _bracket(f, start, floor, ceiling, slope)
    if f(high) > 0:
        return None
    if high == floor:
        return floor
    same = 0
    while f.grid.up(low + 1) < high and high - low > int(share * high):
        middle = min(f.grid.up(_between(f, low, high, same)), f.grid.down(high - 1))
        if f(middle) <= 0:
            same = max(1, same + 1) if same >= 0 else 1
            high = middle
        else:
            same = min(-1, same - 1) if same <= 0 else -1
            low = middle
    return high


def _bracket(f: _Trace, start: int, floor: int, ceiling: int, slope: float) -> tuple[int, int]:
    """(failing, passing) around start; floor-1 counts as failing, and the ceiling may fail."""
    reach = max(1, int(start * min(0.5, 1.2 * abs(f(start)) / slope)))
    if f(start) <= 0:
        high = start
        while high > floor:
            low = max(floor, f.grid.down(high - reach))
            if f(low) > 0:
                return low, high
            high, reach = low, reach * 3
        return floor - 1, floor
    low = start
    while low < ceiling:
        high = min(ceiling, f.grid.up(low + reach))
        if high == ceiling or f(high) <= 0:
            return low, high
        low, reach = high, reach * 3
    return ceiling - 1, ceiling


def _between(f: _Trace, low: int, high: int, same: int) -> int:
    """The crossing by interpolation in (log n, excess).

    `same` counts how often one end has moved in a row (positive: the passing end). The value at the
    end that stays is then halved again and again (Illinois), so that it moves too; every fourth
    time the bracket is halved instead.
    """
    known = low >= 1 and low in f.seen and high in f.seen and f.seen[high] > LOG_NOTHING
    if not known or abs(same) % 4 == 3:
        return (low + high) // 2 if high < 4 * low + 8 else max(low + 1, math.isqrt(low * high))
    above, below = f.seen[low], -f.seen[high]
    above *= 0.5 ** max(0, same - 1)
    below *= 0.5 ** max(0, -same - 1)
    share = above / (above + below) if above + below > 0 else 0.5
    point = math.exp(math.log(low) + math.log(high / low) * share)
    return min(high - 1, max(low + 1, round(point)))
