"""What becomes of the open batch when the organiser closes it, and what is told beforehand.

A preview can be cancelled and asked for again, so it is given in coarse steps, as the status is:
otherwise it would count people one by one. The exact number is told after the closing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from krand.collector.progress import coarse, status_step
from krand.collector.store import Batch, Closed, RoundClosed, SpoolConfig, State, Store
from krand.survey.plan_check import CrowdTooSmall


class Outcome(StrEnum):
    """What happens to the people of the open batch."""

    SEALED = "sealed"
    """They are a batch of their own."""
    JOINED = "joined"
    """Too few, they join the last sealed batch."""
    ERASED = "erased"
    """Too few, and no batch is left to join: what they sent is erased."""


def is_closed(batches: Sequence[Batch]) -> bool:
    """Whether the round is closed: no batch is open."""
    return batches[-1].state is not State.OPEN


def outcome_of(
    config: SpoolConfig, batches: Sequence[Batch], *, erase: bool
) -> tuple[Outcome, Batch | None]:
    """What closing does now, and the batch that people join; the same rule for every store."""
    last = batches[-1]
    if is_closed(batches):
        raise RoundClosed
    if last.people >= config.crowd:
        return Outcome.SEALED, None
    open_to_join = _last_sealed(batches)
    if last.people and open_to_join is not None:
        return Outcome.JOINED, open_to_join
    nobody_is_left = not last.people and len(batches) > 1 and config.release_every > 0
    if not erase and not nobody_is_left:
        raise _too_few(config, last)
    return Outcome.ERASED, None


def _last_sealed(batches: Sequence[Batch]) -> Batch | None:
    """The last batch of which nothing was written."""
    return next((one for one in reversed(batches) if one.state is State.SEALED), None)


def _too_few(config: SpoolConfig, batch: Batch) -> CrowdTooSmall:
    if config.crowd == 1:
        return CrowdTooSmall("people", "must be at least 1", 0, "nobody has come yet")
    hint = (
        "nothing is released below it: wait for more people, or end the round without them and"
        " erase what they sent, with --erase"
    )
    rule = f"must be at least the planned crowd of {config.crowd:,}"
    some = coarse(batch.people, status_step(config.crowd))
    return CrowdTooSmall("people", rule, f"about {some:,}", hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What closing would do, as far as the coarse number of people tells."""

    fewest: int
    """At least so many people wait in the open batch; at most a step more."""
    step: int
    crowd: int

    @property
    def surely_enough(self) -> bool:
        """Whether there are enough people for a batch of their own, whatever the exact number."""
        return self.fewest >= self.crowd

    @property
    def surely_too_few(self) -> bool:
        """Whether there are too few, whatever the exact number."""
        return self.fewest + self.step <= self.crowd


def preview_of(config: SpoolConfig, batches: Sequence[Batch]) -> Preview | None:
    """What closing would do; None where there is nothing to close, as `close_batch` says."""
    if _is_closed_or_waits(config, batches):
        return None
    step = status_step(config.crowd)
    return Preview(fewest=coarse(batches[-1].people, step), step=step, crowd=config.crowd)


def close_batch(store: Store, *, erase: bool = False) -> Closed | None:
    """Close the open batch.

    None if the round is closed already, or if a batch that was closed before has not left yet and
    the next one is open: an interrupted command that is run again must not close that as well.
    """
    if _is_closed_or_waits(store.config, store.batches()):
        return None
    return store.close_batch(erase=erase)


def _is_closed_or_waits(config: SpoolConfig, batches: Sequence[Batch]) -> bool:
    waits = not config.release_every and any(batch.state.is_waiting for batch in batches)
    return waits or is_closed(batches)
