"""The smallest whole number that passes a falling test, in as few tries as possible."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from krand.errors import InternalError

__all__ = ["smallest_passing"]

TOLERANCE = 0.05
"""How far (in log) a computed bound may rise where it must fall, before it counts as a bug.

Bounds change their method of computation here and there; a real fault is far larger."""

FIRST_STEP = 0.01
"""First guess at how far, in proportion, one unit of excess reaches."""


def smallest_passing(
    excess: Callable[[int, bool], float], guess: int, floor: int, ceiling: int
) -> int:
    """The least n in [floor, ceiling] with excess(n, True) ≤ 0, given that n-1 fails.

    `excess` falls with n. excess(n, False) is a quick version, used to get near. `ceiling` is known
    to pass.
    """
    quick = _Trace(lambda n: excess(n, False))
    near = _descend(quick, min(max(guess, floor), ceiling), floor, ceiling, share=1e-4)
    full = _Trace(lambda n: excess(n, True))
    found = _descend(full, near, floor, ceiling, share=0.0)
    full.check_falling()
    return found


class _Trace:
    """The function with memory of what it has said."""

    def __init__(self, f: Callable[[int], float]) -> None:
        self._f = f
        self.seen: dict[int, float] = {}

    def __call__(self, n: int) -> float:
        if n not in self.seen:
            self.seen[n] = self._f(n)
        return self.seen[n]

    def check_falling(self) -> None:
        """Monotonicity is used, so it is checked: a rise is a bug, not a result."""
        points = sorted(self.seen.items())
        for (n, here), (m, after) in itertools.pairwise(points):
            if after > here + TOLERANCE:
                raise InternalError(f"the bound rises from {here!r} at {n} to {after!r} at {m}")


def _descend(f: _Trace, start: int, floor: int, ceiling: int, share: float) -> int:
    """Bracket the crossing around `start`, then close in until low fails and low+1 passes.

    With share > 0 a bracket of that relative width is close enough.
    """
    low, high = _bracket(f, start, floor, ceiling)
    if high == floor:
        return floor
    stuck = 0
    while high - low > max(1, int(share * high)):
        middle = _between(f, low, high, stuck)
        before = high - low
        if f(middle) <= 0:
            high = middle
        else:
            low = middle
        stuck = stuck + 1 if high - low > before / 4 else 0
    return high


def _bracket(f: _Trace, start: int, floor: int, ceiling: int) -> tuple[int, int]:
    """(failing, passing) around start; floor-1 counts as failing, ceiling as passing."""
    reach = max(1, int(start * FIRST_STEP * min(20.0, abs(f(start)))))
    if f(start) <= 0:
        high = start
        while high > floor:
            low = max(floor, high - reach)
            if f(low) > 0:
                return low, high
            high, reach = low, reach * 3
        return floor - 1, floor
    low = start
    while low < ceiling:
        high = min(ceiling, low + reach)
        if high == ceiling or f(high) <= 0:
            f.seen.setdefault(ceiling, -700.0)
            return low, high
        low, reach = high, reach * 3
    return ceiling - 1, ceiling


def _between(f: _Trace, low: int, high: int, stuck: int) -> int:
    """The crossing by interpolation in (log n, excess); halving when that makes no headway."""
    if stuck >= 2 or low < 1 or low not in f.seen or high not in f.seen or f.seen[high] <= -700:
        return (low + high) // 2 if high < 4 * low + 8 else max(low + 1, int(math.sqrt(low * high)))
    above, below = f.seen[low], -f.seen[high]
    where = math.log(low) + math.log(high / low) * above / (above + below)
    point = math.exp(where)
    # Aim a little past the estimate, so that the bracket closes from the far side as well.
    nudge = max(1.0, 0.02 * (high - low)) if stuck else 0.0
    point += nudge if above < below else -nudge
    return min(high - 1, max(low + 1, round(point)))
