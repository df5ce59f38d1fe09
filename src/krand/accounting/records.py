"""Whole records: the privacy blanket's profile of one shuffled batch, rounded up.

ω(v) = min_x K(x)(v) is the part of a response that does not depend on the answer (Balle, Bell,
Gascón, Nissim 2019); any smaller ω is valid too, and linked blocks multiply. With
X = K(y')/ω - λ·K(y)/ω with probability ω, and 0 otherwise, δ(ε) ≤ E[(X_1+…+X_N)⁺]/N for whatever
the others answered.

Which pair (y, y') is the worst is proven here, not searched. Let A, A' be the ratios K(y)/ω and
K(y')/ω of all other positions and λ the limit; a score is A' - λA. Larger in convex order means a
larger E[(ΣX)⁺], whatever the other responses are.

* Free bits. Under ω a bit is uniform. Where y and y' agree it turns the score into c(A'-λA),
  c ∈ {ρ, 1}; where they differ into ρA'-λA or A'-λρA (ρ = p/q). Same mean, and the two values lie
  (ρ-1)|A'-λA| ≤ (ρ-1)(A'+λA) apart. So opposite answers (d = L) are the worst.
* Sparse blocks with ω = (q/p)^m·K(0). Under ω a bit is Bernoulli(q), and a set bit of y multiplies
  A by f with E f = 1. A further set bit spreads the score, and two separate set bits
  (f_j·A' - λf_i·A) spread it more than a shared one (f·(A'-λA)): condition on the factor of the
  larger term. So disjoint answers with m set bits each are the worst.
* One choice out of C ("exactly one"), full ω. The factors f_1, f_2 are exchangeable with two
  values, so E[f_1|f_2] is linear with slope of modulus ≤ 1, and the same comparison holds:
  different choices are the worst.

E[S⁺] for S = ΣX is an integral of e^{N·Λ(z)}/z² along Re z = θ, Λ the log moment generating
function of X. Every step errs upwards:

* X is clipped: E[S⁺] ≤ E[(Σ min(max(X, -T), T))⁺] + N·E[(X-T)⁺], for any T.
* S is smoothed by a small Gaussian: E[(S+κξ)⁺] ≥ E[S⁺] (Jensen).
* The trapezoid rule adds Σ e^{θmP}·E[(S-mP)⁺] over its periods m ≠ 0 (Poisson): no term is
  negative.
* What is cut off and what is rounded is bounded and added.

So T, θ, κ and the period are chosen for speed and sharpness alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from krand.accounting.composition import golden_minimum
from krand.accounting.laws import SMALLEST, UNIT, Floats, local_epsilon, log_binomial
from krand.promise import Block, ExactlyOne, FreeBits

LARGEST_LOG = 300.0
"""Scores are capped at e^300, so that their squares are numbers: the rest counts as loud."""
MOST_KINDS, AT_ONCE, MOST_NODES = 400, 2**21, 2**17
RARE = 1e-280
CUT, FINE, REST = 7.0, 60.0, 1e-9
"""Frequencies up to CUT/κ are kept, with κ = 1/(FINE·θ); REST covers sums of a few terms."""
MOST_PEOPLE = 10**9
"""Rounding grows with the crowd; fewer people are safe."""
DEVIATIONS = 9.0
NEXT_TO_NOTHING = 1e-30
FARTHEST_OUT = -110.0
"""Natural log of a bound: below it Chernoff's is stated as it is."""


class Blanket(NamedTuple):
    """Kinds of responses: log ω, and the powers of p/q that K(y)/ω and K(y')/ω are."""

    log_weight: Floats
    first: Floats
    second: Floats


@lru_cache(maxsize=16)
def blanket(q: float, blocks: tuple[Block, ...]) -> Blanket:
    """The blanket of blocks that travel together, with the worst pair of answers."""
    found = Blanket(np.zeros(1), np.zeros(1), np.zeros(1))
    for block in blocks:
        log_weight, first, second = (
            np.add.outer(a, b).ravel() for a, b in zip(found, _blanket_of(q, block), strict=True)
        )
        keys, where = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        where = where.ravel()
        top = np.full(keys.shape[1], -np.inf)
        np.maximum.at(top, where, log_weight)
        total = np.zeros(keys.shape[1])
        np.add.at(total, where, np.exp(log_weight - top[where]))
        found = Blanket(top + np.log(total), keys[0], keys[1])
    return found


def _blanket_of(q: float, block: Block) -> Blanket:
    odds, log_q, log_p = local_epsilon(q), math.log(q), math.log1p(-q)
    if isinstance(block, ExactlyOne):
        # ω = (q/p)·K(0), and (p/q)·K(0) where every position is reported as 1.
        full = block.options * log_q
        one = log_p + log_q - odds
        kinds = [(2 * log_p - odds, 0, 0), (one, 2, 0), (one, 0, 2), (full + odds, 0, 0)]
        if block.options > 2:
            both = 2 * log_q + math.log1p(-math.exp(full - 2 * log_q)) - odds
            kinds.append((both, 2, 2))
        return Blanket(*np.array(kinds, dtype=np.float64).T)
    if not isinstance(block, FreeBits) and 2 * block.set_bits <= block.options:
        # ω = (q/p)^m·K(0): i and j reported ones among the set bits of y and y'.
        side = log_binomial(block.set_bits, log_q, log_p)
        powers = 2.0 * np.arange(block.set_bits + 1)
        first, second = np.meshgrid(powers, powers, indexing="ij")
        log_weight = np.add.outer(side, side).ravel() - block.set_bits * odds
        return Blanket(log_weight, first.ravel(), second.ravel())
    # γ = (2q)^L, ω = q^L everywhere; so many bits on the side of y'.
    side = np.arange(block.options + 1.0)
    return Blanket(log_binomial(block.options, log_q, log_q), block.options - side, side)


def record_profile(q: float, blocks: Sequence[Block], crowd: int, epsilons: Floats) -> Floats:
    """An upper bound of δ at every ε ≥ 0; ε rises."""
    law, odds = blanket(q, tuple(blocks)), local_epsilon(q)
    off = UNIT * (256 + 64 * float((law.first + law.second).max()) * odds)
    crowd = min(crowd, MOST_PEOPLE)
    found, last = np.empty(epsilons.size), 1.0
    for place, epsilon in enumerate(epsilons.tolist()):
        if last > NEXT_TO_NOTHING:
            last = min(last, _delta(law, odds, epsilon, crowd, off))
        found[place] = last
    return found + SMALLEST


def _delta(law: Blanket, odds: float, epsilon: float, n: int, off: float) -> float:
    """E[(ΣX)⁺]/n; `off` is how far a logarithm in the law may be off."""
    second = law.second * odds + off
    first = law.first * odds + epsilon - off - UNIT * 8 * epsilon
    p = np.exp(law.log_weight)
    means = np.exp(law.log_weight + second) - np.exp(law.log_weight + first)  # p·x, in range
    alone = float(np.maximum(means, 0.0).sum())  # nobody else hides it
    if alone <= 0:
        return 0.0
    beyond = np.maximum(np.maximum(first, second) - LARGEST_LOG, 0.0)
    x = np.exp(second - beyond) - np.exp(first - beyond)  # nearer to 0 where it is negative
    x = np.where((beyond > 0) & (x > 0), math.exp(LARGEST_LOG), x)
    rare = p < RARE
    x = np.where(rare, 0.0, x)
    clip = _clip(x, p, n)
    loud = float(np.maximum(means - clip * p, 0.0)[~rare].sum())
    loud += float(np.maximum(means[rare], 0.0).sum())
    clipped = np.append(np.clip(x, -clip, clip), 0.0)
    inner = _mean_positive(clipped, np.append(p, max(0.0, 1.0 - float(p.sum()))), n)
    best = min(alone, loud * (1 + 1e-12) + inner)
    return min(1.0, best * (1 + REST + n * 4 * off))


def _clip(x: Floats, p: Floats, n: int) -> float:
    """A value after which the rest cannot pull the sum below 0, but for next to nothing."""
    top = float(np.abs(x).max())
    clip = top
    for _ in range(60):
        clipped = np.clip(x, -clip, clip)
        mean = float(p @ clipped)
        variance = n * max(0.0, float(p @ (clipped * clipped)) - mean * mean)
        need = DEVIATIONS * math.sqrt(variance) + n * max(0.0, -mean)
        if need >= 0.99 * clip:
            break
        clip = max(need, 1e-9 * clip)
    return min(top, max(clip, SMALLEST))


def _mean_positive(x: Floats, p: Floats, n: int) -> float:
    """E[(X_1+…+X_n)⁺]/n for a law with these values and probabilities."""
    if float(x.max()) <= 0:
        return 0.0
    if x.size > MOST_KINDS:
        x, p = _coarse(x, p)

    def log_mean(theta: float) -> float:  # Λ(θ)
        exponent = theta * x
        top = float(exponent.max())
        return top + math.log(float(p @ np.exp(exponent - top)))

    low = math.log(1e-9 / float(np.abs(x).max()) / n)
    high = math.log(2000.0 / float(x.max()))
    theta = math.exp(golden_minimum(lambda t: n * log_mean(math.exp(t)) - 2 * t, low, high, 1e-2))
    size = n * log_mean(theta)
    chernoff = math.exp(min(700.0, size - 1)) / theta / n  # s⁺ ≤ e^{θs-1}/θ
    if size - math.log(theta) < FARTHEST_OUT:
        return chernoff
    tilted = p * np.exp(theta * x - log_mean(theta))
    integral = _integral(x, tilted, n, theta)
    inverted = math.exp(min(700.0, size + math.log(integral))) / n if integral > 0 else 0.0
    return min(chernoff, inverted)


def _integral(x: Floats, tilted: Floats, n: int, theta: float) -> float:
    """(1/π)·∫ Re E[e^{iuS}]·e^{κ²(θ+iu)²/2}/(θ+iu)² du over u > 0 under the tilted law of S."""
    centre = float(tilted @ x)
    spread = math.sqrt(n * float(tilted @ (x - centre) ** 2)) + 1 / theta
    smooth = 1 / (FINE * theta)
    period = max(30 / theta, 14 * spread, 2 * abs(n * centre))
    step = 2 * math.pi / period
    nodes = int(CUT / smooth / step) + 2
    if nodes > MOST_NODES:  # coarser is safe
        nodes, smooth = MOST_NODES, CUT / (MOST_NODES * step)
    width = float(tilted @ np.abs(x - centre))
    total = 0.0
    block = max(1, AT_ONCE // x.size)
    for start in range(0, nodes, block):
        u = step * np.arange(start, min(nodes, start + block))
        turned = (np.exp(1j * np.outer(u, x - centre)) * tilted).sum(axis=1)
        off = UNIT * (8 + x.size + 4 * u * width)
        modulus = np.abs(turned)
        bell = 0.5 * smooth**2 * (theta**2 - u**2)
        phase = n * (np.angle(turned) + u * centre) + smooth**2 * theta * u
        with np.errstate(divide="ignore"):
            values = np.exp(n * np.log(modulus) + bell + 1j * phase)
            most = np.exp(n * np.log(modulus + off) + bell)
        least = np.exp(n * np.log(np.maximum(modulus - off, SMALLEST)) + bell)
        turning = n * off / np.maximum(modulus, off)
        turning += UNIT * n * 8 * (math.pi + np.abs(u * centre)) + 2.0**-40
        wrong = np.minimum(most - least + most * turning, 2 * most)
        square = (theta + 1j * u) ** 2
        share = np.where(u == 0, 0.5, 1.0)
        total += float((share * ((values / square).real + wrong / np.abs(square))).sum())
    last = nodes * step
    cut = math.exp(0.5 * smooth**2 * (theta**2 - last**2)) / last**2
    return (total * step + cut * (1 / (smooth**2 * last) + step)) / math.pi


def _coarse(x: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Every value split between its neighbours on a coarser grid, the mean kept: larger in convex
    order."""
    spaced = np.concatenate([x, np.linspace(x.min(), x.max(), x.size)])
    edges = np.unique(np.quantile(spaced, np.linspace(0, 1, MOST_KINDS)))
    where = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
    up = np.clip((x - edges[where]) / (edges[where + 1] - edges[where]), 0, 1)
    mass = np.zeros(edges.size)
    np.add.at(mass, where, p * (1 - up))
    np.add.at(mass, where + 1, p * up)
    return edges, mass
