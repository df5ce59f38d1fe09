"""What is promised: the positions that one person can change, their profiles, composed.

A Part is so many positions, or batches of whole records, that are noisy in the same way. `tells` is
an upper bound of its privacy profile for every background and in both directions; `bound` is δ, or
η converted from it, of all parts together. Everything else is composition.

Two differences between what is run and what is analysed are paid for. A submission has room for a
fixed number of tokens; the analysis knows no such limit. Run with the same coins, the two differ
only if somebody's tokens overflow. If that has a probability of at most τ, whatever the answers,

    P(S|D) ≤ P°(S|D) + τ ≤ λ·P°(S|D_m) + δ° + τ ≤ λ·P(S|D_m) + δ° + (1+λ)·τ,   λ = e^ε.

So δ ≤ δ° + (1+λ)·τ. And dummies beyond their padding tell at most everything: their probability is
added to δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from krand.accounting.composition import (
    FURTHEST,
    Composed,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand.accounting.counts import BUCKETS, dummy_pair, flip_pairs, is_wide, profile
from krand.accounting.laws import UNIT, Floats, end_of, local_epsilon, masses_of
from krand.accounting.records import record_profile
from krand.errors import InvalidInput
from krand.promise import Block, DummyLaw, FreeBits, Linkage, ResponseFormat

MOST_NOISES, MOST_POSITIONS = 64, 10**7
NEAR_BUCKETS, FEWEST_BUCKETS, BUCKETS_IN_ALL = 12, 24, 1024
RECORD_STEPS, FLIP_STEPS, DUMMY_STEPS = (3.0, 12.0), (8.0, 30.0), (20.0, 120.0)
"""Nodes for each standard deviation of a loss, at first and in full: 30 add 1/(6·30²) to its
variance. Profiles of records take longest, those of dummies next to no time."""
SHARES_OF_ETA = (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.97)
"""The ε' < ε, as parts of ε, from whose δ a proven η is converted."""
NEGLIGIBLE, UNSEEN, LISTED = 1e-4, 1e-19, 4e-30
"""Losses count as infinite where what is beyond them has this part of the limit, or this
probability: of all positions together, and beside what is left out of a law."""
RAREST = 1e-11
"""Weights are rounded to integers: what is rarer says nothing about a law's shape."""
ALIKE = 1e-9
"""Losses of geometric noise that differ relatively by less are one and the same."""
PROBES = 100
"""Losses at which a profile is asked how far it reaches."""


@dataclass(frozen=True)
class Part:
    """Positions that one person can change, over all rounds, all with the same noise.

    Flips (`noise`, and `copies` of every bit that are mixed into one count), dummies (`law`), or
    whole records (`noise` and `blocks`), of which every copy in every round is a position.
    """

    positions: int
    noise: float = 0.0
    law: DummyLaw | None = None
    copies: int = 1
    blocks: tuple[Block, ...] = ()

    @cached_property
    def largest_loss(self) -> float:
        """The largest loss of one position but for `end`, rounded up."""
        if self.law is not None:
            masses = masses_of(self.law)
            return float(np.log(masses[1:] / masses[:-1]).max(initial=0.0)) * (1 + 16 * UNIT)
        return self.local_epsilon * (1 + 16 * UNIT)

    @property
    def local_epsilon(self) -> float:
        """What one position reveals by its own noise, seen alone; infinite without any."""
        if self.law is not None:
            return math.inf
        changed = sum(block.sensitivity for block in self.blocks) or self.copies
        return local_epsilon(self.noise, changed)

    @property
    def end(self) -> float:
        """The probability that one position tells everything."""
        return 0.0 if self.law is None else end_of(self.law)

    @cached_property
    def geometric_loss(self) -> float:
        """The one loss ±a of geometric dummies; 0 if there are several."""
        if self.law is None:
            return 0.0
        masses = masses_of(self.law)[self.law.reach :]
        losses = np.log(masses[:-1] / masses[1:])[masses[1:] > RAREST]
        most = float(losses.max(initial=0.0))
        return most if most > 0 and float(np.ptp(losses)) < ALIKE * most else 0.0


def tells(part: Part, crowd: int, epsilons: Floats, buckets: int = BUCKETS) -> Floats:
    """An upper bound of the profile of one position, or batch, at every ε ≥ 0."""
    if part.law is not None:
        return profile(dummy_pair(part.law), epsilons)
    if part.blocks:
        return record_profile(part.noise, part.blocks, crowd, epsilons)
    found = np.zeros(epsilons.size)
    for pair in flip_pairs(part.noise, crowd, part.copies, buckets):
        for each in (pair, pair.swapped()):
            np.maximum(found, profile(each, epsilons), out=found)
    if part.copies == 1 and is_wide(part.noise, crowd, 1):  # the blanket needs no law of a count
        np.minimum(found, record_profile(part.noise, (FreeBits(1),), crowd, epsilons), out=found)
    return found


def bound(
    parts: Iterable[Part],
    crowd: int,
    epsilon: float,
    limit: float,
    eta: bool = False,
    distance: float = 0.0,
    surplus: float = 0.0,
    near: bool = False,
) -> float:
    """δ of all parts together among so many honest people, or η converted from it: proven.

    `limit` is what it should be: dummies that are far rarer may count as if they told everything,
    unless the limit is 0. `distance` and `surplus` are what is run beside what is analysed. With
    `near` it is coarser and quicker, and an upper bound all the same.

    η(ε) ≤ min over ε' < ε of δ(ε')/(1-e^(ε'-ε)), always: see proofs.md.
    """
    whole = _parts(parts, crowd)
    most = math.fsum(part.positions * part.largest_loss for part in whole)
    if most <= epsilon * (1 - 16 * UNIT) and not (eta and distance + surplus):
        # No sum of losses is above ε: only what tells everything counts.
        none = math.fsum(part.positions * math.log1p(-part.end) for part in whole)
        ends = -math.expm1(none) * (1 + ALIKE)
        return min(1.0, ends + surplus + delta_of_distance(distance, epsilon))
    asked = [share * epsilon for share in SHARES_OF_ETA] if eta else [epsilon]
    if len(whole) == 1 and whole[0].positions == 1:  # nothing to compose
        buckets = NEAR_BUCKETS if near else BUCKETS
        deltas = tells(whole[0], crowd, np.array(asked), buckets).tolist()
    else:
        rare = limit if any(part.law for part in whole) else 0.0
        composed = _composed(whole, crowd, epsilon, rare, near)
        deltas = [composed.delta(at) for at in asked]
    best = 1.0
    for at, delta in zip(asked, deltas, strict=True):
        found = delta + surplus + delta_of_distance(distance, at)
        best = min(best, found / -math.expm1(at - epsilon) * (1 + 8 * UNIT) if eta else found)
    return best


def delta_of_distance(distance: float, epsilon: float) -> float:
    """(1+e^ε)·τ, rounded up."""
    return (1 + math.exp(epsilon)) * distance * (1 + 1e-12)


def delta_limit(limit: float, epsilon: float, eta: bool) -> float:
    """What δ may be; where η is promised, what δ may be near ε for η to be converted from it."""
    return limit * -math.expm1((SHARES_OF_ETA[-1] - 1) * epsilon) if eta else limit


def _parts(parts: Iterable[Part], crowd: int) -> tuple[Part, ...]:
    """Equal noises together, in the order in which they come; within the sizes that are computed.

    Where a count of k copies is too wide to be computed, they are k batches: also safe.
    """
    found: dict[Part, int] = {}
    for part in parts:
        positions, alike = part.positions, replace(part, positions=1)
        if part.copies > 1 and is_wide(part.noise, crowd, part.copies):
            positions, alike = positions * part.copies, replace(alike, copies=1)
        found[alike] = found.get(alike, 0) + positions
    if len(found) > MOST_NOISES:
        raise InvalidInput(
            "weights",
            f"must give at most {MOST_NOISES} different noises",
            len(found),
            "give equal weights to questions of one kind",
        )
    if sum(found.values()) > MOST_POSITIONS:
        raise InvalidInput(
            "positions",
            f"that one person can change, times rounds, must be at most {MOST_POSITIONS:,}",
            sum(found.values()),
        )
    return tuple(replace(part, positions=positions) for part, positions in found.items())


@lru_cache(maxsize=4)
def _composed(
    parts: tuple[Part, ...], crowd: int, epsilon: float, limit: float, near: bool
) -> Composed:
    """All parts, dominated; η asks the same composition about many ε."""
    total = sum(part.positions for part in parts)
    buckets = max(FEWEST_BUCKETS, min(BUCKETS, BUCKETS_IN_ALL // len(parts)))
    if near:
        buckets = min(buckets, NEAR_BUCKETS)
    kinds = [RECORD_STEPS if p.blocks else DUMMY_STEPS if p.law else FLIP_STEPS for p in parts]
    steps = min(kinds)[0 if near else 1]
    step = _step(parts, crowd, steps, total)
    losses = []
    for part in parts:
        rare = UNSEEN / total + LISTED + NEGLIGIBLE * limit / total + part.end
        furthest = min(1.1 * _reach(part, crowd, step, rare), part.largest_loss * (1 + 4 * ALIKE))
        nodes = loss_nodes(step, max(min(furthest, FURTHEST), step), total, steps)
        values = tells(part, crowd, step * nodes.astype(np.float64), buckets)
        losses.append((connect_dots(step, nodes, values, values.copy()), part.positions))
    return compose(losses, epsilon)


def _step(parts: Sequence[Part], crowd: int, steps: float, total: int) -> float:
    """The grid of losses: on it lie all losses of geometric dummies, which would be rounded up by a
    step elsewhere; or it is fine for all parts, by the root mean square of what they tell."""
    exact = [part.geometric_loss for part in parts]
    ratios = [loss / min(exact) for loss in exact] if min(exact) > 0 else []
    if ratios and all(abs(ratio - round(ratio)) < ALIKE * ratio for ratio in ratios):
        return min(exact) * (1 + ALIKE)  # above every loss, so that nothing of it is beyond
    told = [float(tells(part, crowd, np.zeros(1), 1)[0]) for part in parts]
    squares = (part.positions * each**2 for part, each in zip(parts, told, strict=True))
    step = loss_step(math.sqrt(math.fsum(squares) / total), steps, total)
    largest = {part.largest_loss for part in parts}
    if len(largest) == 1:  # on the grid too: in a tiny crowd it may be the likeliest
        (most,) = largest
        step = most / math.ceil(most / step) * (1 + 64 * UNIT)
    return step


def _reach(part: Part, crowd: int, step: float, rare: float) -> float:
    """A loss beyond which the profile is no longer above this: any choice is safe."""
    if part.blocks:  # that is looked for on the way
        return FURTHEST
    losses = np.geomspace(step, FURTHEST, PROBES)
    small = np.flatnonzero(tells(part, crowd, losses, 1) < rare * (1 + ALIKE))
    return float(losses[small[0]]) if small.size else FURTHEST


def part_of(responses: ResponseFormat, noise: float) -> Part:
    """What one person's responses tell. A record of one bit is a bit: its copies are mixed."""
    if responses.linkage is Linkage.BIT or responses.bits == 1:
        changed = responses.sensitivity * responses.rounds
        return Part(changed, noise, copies=responses.copies)
    return Part(responses.copies * responses.rounds, noise, blocks=responses.blocks)
