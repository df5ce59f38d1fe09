"""Whether the messages of every lane are as many as people and mixers send.

Everybody sends the same messages in each lane, and how many dummies there can be is known from the
plan. Devices' batches have none. With n = h·b draws of h mixers in b batches:

* One position, one message: exactly 2R dummies for each draw.
* One message over several positions: 0 to 2R for each position and draw, and for empty messages.
* Several messages: what the padding says. Rarely there are more dummies than that, and they are
  sent all the same.

Messages that were refused may be missing anywhere. They are those that the analyst could not read,
and those that mixers refused or found repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krand.analysis.mechanisms import part_of
from krand.analysis.tally import Tally
from krand.batches.chain import dummies_allowed
from krand.survey.lanes import Lane
from krand.survey.plan import Plan

__all__ = ["lane_messages", "odd_lanes"]


def lane_messages(plan: Plan, lane: Lane, people: int, mixes: int) -> tuple[int, int]:
    """The least and the most messages of a lane, of so many people and draws of dummies."""
    sent = people * lane.messages
    least, most = dummies_allowed(plan, lane) if mixes else (0, 0)
    return sent + mixes * least, sent + mixes * most


def odd_lanes(plan: Plan, tally: Tally) -> Iterator[str]:
    """What cannot be in a tally of sealed batches."""
    nulls, batches, part = tally.lane_nulls, len(tally.batches), part_of(plan.mechanism)
    if nulls is None or len(nulls) != len(plan.lanes):
        yield f"empty messages are not counted in {len(plan.lanes):,} lanes"
        return
    if int(nulls.sum()) != tally.nulls:
        yield f"{int(nulls.sum()):,} empty messages in lanes are not {tally.nulls:,} in all"
    planned = part.most_batches(plan)
    if planned is not None and not 1 <= batches <= planned:
        yield f"{batches:,} batches are not 1 to {planned:,}, as planned"
        return
    lanes = plan.survey.shape.token_lanes(plan)
    if lanes:
        yield from _odd_numbers(plan, tally, part.mixes(plan, batches))


def _odd_numbers(plan: Plan, tally: Tally, mixes: int) -> Iterator[str]:
    assert tally.lane_nulls is not None
    refused = sum(tally.rejected.values())
    missing = spare = 0
    for lane, nulls in zip(plan.lanes, tally.lane_nulls.tolist(), strict=True):
        tokens = tally.counts[lane.offset : lane.offset + lane.positions]
        found = int(tokens.sum()) + nulls
        least, most = lane_messages(plan, lane, tally.people, mixes)
        if not least - refused <= found <= most:
            yield f"{_named(lane)}: {found:,} messages are not {_range(least, most)}"
        missing, spare = missing + max(0, least - found), spare + most - found
        dummies = 2 * plan.law_of(lane).reach * mixes if mixes else 0
        each = tally.people * lane.messages + dummies
        if int(np.max(tokens)) > each:
            yield f"{_named(lane)}: an answer has more than {each:,} messages, which is impossible"
    if not missing <= refused <= spare:
        yield f"{refused:,} messages were refused, but at least {missing:,} are missing"


def _named(lane: Lane) -> str:
    return lane.block or f"lane {lane.number}"


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
