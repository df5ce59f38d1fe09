"""The privacy blanket: a proof for every background of linked records.

ω(v) = min_x K(x)(v) is the part of a response that does not depend on the answer (Balle, Bell,
Gascón, Nissim 2019). `ratio.one_way_delta` with ν = ω bounds δ for whatever the others
answered; any smaller ω is valid too. Linked blocks multiply.

Which pair (y, y') is the worst is proven here, not searched. Let A, A' be the ratios K(y)/ω and
K(y')/ω of all other positions and λ the limit; a score is A' - λA. Larger in convex order means a
larger E[(ΣY)⁺], whatever the other responses are.

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
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from krand.accounting.channel import ReportLaw, local_epsilon, log_binomial
from krand.promise import AtMost, Block, ExactlyOne, FreeBits


def blanket_law(q: float, blocks: Sequence[Block]) -> ReportLaw:
    """ω with the ratios of the worst pair, for blocks reported together."""
    law = _block_law(q, blocks[0])
    for block in blocks[1:]:
        law = law.times(_block_law(q, block))
    return law


def _block_law(q: float, block: Block) -> ReportLaw:
    match block:
        case FreeBits(bits):
            return _free(q, bits)
        case ExactlyOne(options) if options >= 2:
            return _one_hot(q, options)
        case AtMost(set_bits, options) if 2 * set_bits <= options:
            return _sparse(q, set_bits)
        case _:
            return _free(q, block.options)


def _free(q: float, bits: int) -> ReportLaw:
    """γ = (2q)^L, ω = q^L everywhere; l bits on the side of y'."""
    side = np.arange(bits + 1, dtype=np.int64)
    return ReportLaw(
        local_epsilon(q), log_binomial(bits, math.log(q), math.log(q)), bits - side, side
    )


def _sparse(q: float, set_bits: int) -> ReportLaw:
    """ω = (q/p)^m·K(0): i and j reported ones among the set bits of y and y'."""
    ones = np.arange(set_bits + 1, dtype=np.int64)
    one_side = log_binomial(set_bits, math.log(q), math.log1p(-q))
    both = np.add.outer(one_side, one_side).ravel() - set_bits * local_epsilon(q)
    i, j = np.meshgrid(2 * ones, 2 * ones, indexing="ij")
    return ReportLaw(local_epsilon(q), both, i.ravel(), j.ravel())


def _one_hot(q: float, options: int) -> ReportLaw:
    """ω = (q/p)·K(0), and (p/q)·K(0) where every position is reported as 1."""
    p, odds = 1 - q, local_epsilon(q)
    full = options * math.log(q)
    weights = [
        (2 * math.log(p) - odds, 0, 0),
        (math.log(p) + math.log(q) - odds, 2, 0),
        (math.log(p) + math.log(q) - odds, 0, 2),
        (full + odds, 0, 0),
    ]
    if options > 2:
        both = 2 * math.log(q) + math.log1p(-math.exp(full - 2 * math.log(q))) - odds
        weights.append((both, 2, 2))
    return ReportLaw(
        odds,
        np.array([w for w, _, _ in weights]),
        np.array([i for _, i, _ in weights], dtype=np.int64),
        np.array([j for _, _, j in weights], dtype=np.int64),
    )
