"""How many came, as the operator is told while the round is open: in steps.

Whoever watches the operator's page sees that a few people came, and not whether one of them did.
Nobody else is told a number at all.
"""

from __future__ import annotations

LEAST_STEP, STEPS = 5, 10


def status_step(people: int) -> int:
    """The step where so many people are expected."""
    return max(LEAST_STEP, people // STEPS)


def coarse(count: int, step: int) -> int:
    """Rounded down to whole steps."""
    return count - count % step
