"""What becomes of a round when the organiser closes it, as far as that may be told beforehand.

A preview can be cancelled and asked for again, so it is given in coarse steps, as the status is:
otherwise it would count people one by one. The exact number is told after the closing.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.collector.progress import coarse, status_step
from krand.collector.rounds import Round
from krand.survey.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What closing would do, as far as the coarse number of people tells."""

    fewest: int
    """At least so many people have come; at most a step more."""
    step: int
    crowd: int

    @property
    def surely_enough(self) -> bool:
        """Whether enough people came to release something, whatever the exact number."""
        return self.fewest >= self.crowd

    @property
    def surely_too_few(self) -> bool:
        """Whether there are too few, whatever the exact number."""
        return self.fewest + self.step <= self.crowd


def preview_of(plan: Plan, found: Round) -> Preview | None:
    """What closing would do; None where the round is closed already."""
    if not found.is_open:
        return None
    crowd = plan.smallest_batch
    step = status_step(crowd)
    return Preview(fewest=coarse(found.people, step), step=step, crowd=crowd)
