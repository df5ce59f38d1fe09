"""The law of log R as a picture needs it: cells of one width, the limits ±ε among their edges.

R = P(what is seen | my answer)/P(what is seen | another). Two kinds of law can be drawn, and each
says which one it is:

- bits reported apart, and copies of a record: the pair that the promise composes, with the
  promise's own masses;
- one bit, or one copy of a record: the exact law where everybody else answers alike. What proves δ
  for every crowd is then a bound and no law of R, so what is drawn is an attack, not the proof.

For the drafts' background all bits that one person changes rise; the promise also looks at
mixtures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.accounting import bits
from krand.accounting.backgrounds import Pattern, record_patterns
from krand.accounting.blanket import blanket_law
from krand.accounting.channel import ReportLaw
from krand.accounting.composition import Composed, LossLaw, compose
from krand.accounting.mechanism import Mechanism
from krand.accounting.ratio import one_way_delta, one_way_eta
from krand.accounting.record_bounds import record_profile
from krand.promise import Assurance, NoisePlan, Policy, ResponseFormat

Floats = NDArray[np.float64]
Parts = Sequence[tuple[LossLaw, int]]

ALIKE = "exact law, everybody else alike"
MOST_CELLS = 400
"""On either side of R = 1."""
COMPOSED_CELLS, EXACT_CELLS = (24, 200), (10, 100)
"""Cells to a standard deviation, and the most between R = 1 and a limit: exact tails take time."""
BEYOND_LIMIT, SPREADS = 1.25, 4.0
"""How far the cells reach: this many times ε, or so many standard deviations if that is more."""
UNTILTED = -1e6
"""Asked about so small an ε, a composition is not tilted: all of the law is accurate to 1e-12."""
STEPS_PER_SPREAD = 10.0
"""Of copies of a record: as fine as the promise's own."""
RESOLUTION = 50.0
"""Enough for a curve. The tail beyond the limit is computed as for the promise."""
INVISIBLE = 1e-13
"""Tails below this need no curve."""
PATTERNS = 3
"""Backgrounds of sparse records that are compared; the rest are far behind."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RatioDensity:
    """Mass of log R between neighbouring edges, and what lies beyond the privacy limits."""

    epsilon: float
    edges: Floats
    mine: Floats
    """Mass of each cell if my answer is in the crowd (D_m)."""
    another: Floats
    """Mass of each cell if another answer is in its place (D)."""
    above: float
    """P[R > e^ε | D_m]."""
    below: float
    """P[R < e^-ε | D]."""
    law: str
    """Which law this is, in words."""

    @property
    def heights(self) -> tuple[Floats, Floats]:
        """The density in each cell: mine, another."""
        widths = np.diff(self.edges)
        return self.mine / widths, self.another / widths

    @property
    def beyond(self) -> Floats:
        """The density where it breaks the promise: mine above the limit, another's below it."""
        mine, another = self.heights
        above, below = self.edges[:-1] >= self.epsilon, self.edges[1:] <= -self.epsilon
        return np.asarray(np.where(above, mine, 0.0) + np.where(below, another, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """Outcomes with their losses, rising, and the mass at infinity."""

    loss: Floats
    mass: Floats
    infinite: float

    def tail(self, epsilon: float) -> float:
        """P[loss > ε]."""
        return float(self.mass[self.loss > epsilon].sum()) + self.infinite

    def tails(self, points: Floats, epsilon: float) -> Floats:
        """P[loss > point], every outcome spread evenly as far as half-way to its neighbours.

        All are moved by less than that, so that none reaches across ε: there the tail is exact.
        """
        gaps = np.diff(self.loss, prepend=self.loss[0] - 1e-9, append=self.loss[-1] + 1e-9)
        borders = np.append(self.loss, self.loss[-1]) + np.append(-gaps[:-1], gaps[-1]) / 2
        first = int(np.searchsorted(self.loss, epsilon, side="right"))
        if 0 < first < self.loss.size:
            borders += epsilon - borders[first]
        above = np.append(np.cumsum(self.mass[::-1])[::-1], 0.0) + self.infinite
        return np.asarray(np.interp(points, borders, above))

    @property
    def spread(self) -> float:
        """Standard deviation of the loss."""
        mean = float(self.mass @ self.loss)
        return math.sqrt(float(self.mass @ (self.loss - mean) ** 2))


def plan_density(plan: NoisePlan) -> RatioDensity:
    """The law of R under a noise plan."""
    return reports_density(plan.noise, plan.policy, plan.responses)


def reports_density(q: float, policy: Policy, responses: ResponseFormat) -> RatioDensity:
    """The law of R if everybody sends these responses with noise q."""
    mechanism = Mechanism(responses, policy.honest, policy.epsilon, policy.assurance)
    if not mechanism.by_bit:
        return _record_density(mechanism, q)
    count, copies = mechanism.bit_shape(q)
    return bits_density({q: count}, policy, copies)


def bits_density(
    noises: Mapping[float, int], policy: Policy, copies: int = 1, buckets: int = bits.BUCKETS
) -> RatioDensity:
    """Bits reported apart: each noise with the number of bits that one person can change."""
    total, crowd, epsilon = sum(noises.values()), policy.honest, policy.epsilon
    certified = policy.assurance is Assurance.CERTIFIED
    if total == 1:
        (q,) = noises
        pair = bits.outlier_pair(q, crowd, copies)
        ways = _pair_atoms(pair.one, pair.zero), _pair_atoms(pair.zero, pair.one)
        return _of_atoms(epsilon, ways, ways, f"{ALIKE}, 1 bit")
    law = f"{'supremum over all crowds' if certified else ALIKE}, sensitivity {total:,}"
    parts = _bit_parts(noises, crowd, certified, copies, buckets)
    return _composed(parts, epsilon, certified, law)


def _record_density(mechanism: Mechanism, q: float) -> RatioDensity:
    """Whole records: one copy exactly, several as a composition."""
    responses, crowd, epsilon = mechanism.responses, mechanism.crowd, mechanism.epsilon
    count, certified = mechanism.compositions, mechanism.certified
    patterns: Sequence[Pattern] = [Pattern(responses.bits)]
    if responses.is_sparse:
        patterns = record_patterns(responses.blocks, q)[:PATTERNS]

    def worst_delta(law: ReportLaw) -> float:
        ways = (one_way_delta(one, crowd, epsilon, refine=False) for one in (law, law.swapped()))
        return max(way.value for way in ways)

    alike = max((pattern.law(q) for pattern in patterns), key=worst_delta)
    if count == 1:
        return _exact(alike, crowd, epsilon, f"{ALIKE}, 1 record")
    one = blanket_law(q, responses.blocks) if certified else alike
    profile = record_profile(one, crowd, count, STEPS_PER_SPREAD)
    law = f"{'privacy blanket' if certified else ALIKE}, {count:,} records"
    return _composed([(profile.loss(), count)], epsilon, certified, law)


def _bit_parts(
    noises: Mapping[float, int], crowd: int, certified: bool, copies: int, buckets: int
) -> Parts:
    if copies == 1:
        return bits.survey_losses(noises, crowd, certified, buckets)
    ((q, count),) = noises.items()
    step = bits.bit_step({q: 1}, crowd, copies)
    one = bits.bit_loss(q, crowd, step, count, certified, buckets=buckets, copies=copies)
    return [(one, count)]


def _pair_atoms(top: Floats, bottom: Floats) -> _Atoms:
    """The exact law of log(top/bottom) under `top`."""
    seen = (top > 0) & (bottom > 0)
    loss = np.log(top[seen]) - np.log(bottom[seen])
    order = np.argsort(loss, kind="stable")
    return _Atoms(loss[order], top[seen][order], float(top[bottom <= 0].sum()))


def _composed(parts: Parts, epsilon: float, symmetric: bool, law: str) -> RatioDensity:
    """Of a composed pair: the body without a tilt, what is beyond the limit with the best one."""
    back = parts if symmetric else [(one.reversed(), count) for one, count in parts]
    bodies, beyond = (
        tuple(_atoms(compose(one, about)) for one in (parts, back)) for about in (UNTILTED, epsilon)
    )
    return _of_atoms(epsilon, bodies, beyond, law)


def _atoms(composed: Composed) -> _Atoms:
    exponent = np.minimum(composed.log_scale - composed.theta * composed.loss, 700.0)
    return _Atoms(composed.loss, composed.tilted * np.exp(exponent), composed.infinite)


def _of_atoms(
    epsilon: float, bodies: tuple[_Atoms, ...], beyond: tuple[_Atoms, ...], law: str
) -> RatioDensity:
    """Forward and backward, each with its body and with what is beyond the limit."""
    spread = max(body.spread for body in bodies)
    edges, limit = _cells(epsilon, spread, COMPOSED_CELLS)
    tails = []
    for body, far in zip(bodies, beyond, strict=True):
        near = body.tails(edges, epsilon)
        one = np.where(edges < epsilon, near, far.tails(edges, epsilon))
        one[limit] = far.tail(epsilon)
        tails.append(np.minimum.accumulate(one))
    up, down = tails
    mine, another = _falls(up), _falls(down)[::-1]
    return RatioDensity(
        epsilon=epsilon,
        edges=edges,
        mine=mine,
        another=another,
        above=float(up[limit]),
        below=float(down[limit]),
        law=law,
    )


def _exact(law: ReportLaw, crowd: int, epsilon: float, name: str) -> RatioDensity:
    """Of one copy: tails above R = 1 in both directions; below, one law is R times the other."""
    total_variation = one_way_delta(law, crowd, 0.0, refine=False).value
    edges, limit = _cells(epsilon, 2.5 * total_variation, EXACT_CELLS)
    half = edges.size // 2
    up, down = (_upper_tails(one, crowd, edges, limit) for one in (law, law.swapped()))
    right_mine, left_another = _falls(up), _falls(down)[::-1]
    ratio = np.exp((edges[1:] + edges[:-1]) / 2)
    mine = np.append(left_another * ratio[:half], right_mine)
    another = np.append(left_another, right_mine / ratio[half:])
    place = limit - half
    return RatioDensity(
        epsilon=epsilon,
        edges=edges,
        mine=mine,
        another=another,
        above=float(up[place]),
        below=float(down[place]),
        law=name,
    )


def _falls(tails: Floats) -> Floats:
    """Mass between neighbouring edges."""
    return np.asarray(tails[:-1] - tails[1:])


def _upper_tails(law: ReportLaw, crowd: int, edges: Floats, limit: int) -> Floats:
    """P[log R > edge] at the edges from 0 on; at the limit as exactly as for a promise."""
    first = edges.size // 2
    found = np.zeros(edges.size - first)
    for place in range(first, edges.size):
        tail = one_way_eta(law, crowd, float(edges[place]), RESOLUTION).value
        found[place - first] = tail
        if tail < INVISIBLE:
            break
    found[limit - first] = one_way_eta(law, crowd, float(edges[limit])).value
    return np.asarray(np.maximum.accumulate(found[::-1])[::-1])


def _cells(epsilon: float, spread: float, how_many: tuple[int, int]) -> tuple[Floats, int]:
    """Edges around 0 and the place of ε among them."""
    spread = max(spread, 1e-12)
    per_spread, most = how_many
    per_limit = min(most, max(1, math.ceil(per_spread * epsilon / spread)))
    reach = max(BEYOND_LIMIT * epsilon, spread * spread / 2 + SPREADS * spread)
    each = min(MOST_CELLS, math.ceil(per_limit * reach / epsilon))
    each = max(each, per_limit + 1)
    edges = np.asarray(epsilon * np.arange(-each, each + 1) / per_limit)
    edges[each - per_limit], edges[each + per_limit] = -epsilon, epsilon  # to the last digit
    return edges, each + per_limit
