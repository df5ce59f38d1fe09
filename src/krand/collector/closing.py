"""What becomes of a round when the organiser closes it, and what is told beforehand.

A preview can be cancelled and asked for again, so it is given in coarse steps, as the status is:
otherwise it would count people one by one. The exact number is told after the closing.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.collector.progress import coarse, status_step
from krand.collector.store import Round, RoundClosed, SpoolConfig, State
from krand.survey.plan_check import CrowdTooSmall


def closed_as(config: SpoolConfig, found: Round, *, erase: bool) -> State:
    """What an open round becomes now; the same rule for every store."""
    if not found.is_open:
        raise RoundClosed
    if found.people >= config.crowd:
        return State.CLOSED
    if not erase:
        raise _too_few(config, found)
    return State.ERASED


def _too_few(config: SpoolConfig, found: Round) -> CrowdTooSmall:
    if config.crowd == 1:
        return CrowdTooSmall("people", "must be at least 1", 0, "nobody has come yet")
    hint = (
        "nothing is released below it: wait for more people, or end the round without them and"
        " erase what they sent, with --erase"
    )
    rule = f"must be at least the planned crowd of {config.crowd:,}"
    some = coarse(found.people, status_step(config.crowd))
    return CrowdTooSmall("people", rule, f"about {some:,}", hint)


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


def preview_of(config: SpoolConfig, found: Round) -> Preview | None:
    """What closing would do; None where the round is closed already."""
    if not found.is_open:
        return None
    step = status_step(config.crowd)
    return Preview(fewest=coarse(found.people, step), step=step, crowd=config.crowd)
