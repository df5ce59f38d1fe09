"""The noise that the drafts choose, and what it actually gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand import InvalidInput, Linkage
from krand_lab.checks import check_bits, check_crowd
from krand_lab.exact.attack import Attack
from krand_lab.exact.bounds import TwoWay
from krand_lab.formulas.counts import sigma_001_4
from krand_lab.formulas.planners import draft_noise

NOISE_GRID = 2**32
"""krand's noise is a/2^32."""
Z95 = 1.959963984540054
"""Standard deviations on each side of a 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftNoise:
    """The noise of a formula, where the formula stands, and what the noise gives.

    >>> from krand_lab.choice import noise
    >>> noise(crowd=1000, bits=5, epsilon=1, linkage="record").source
    '001 (3.12)'
    """

    noise_numerator: int
    source: str
    """Document and equation."""
    delta: TwoWay
    """Both directions of the attack that the drafts analyse."""
    eta: TwoWay
    sigma: float
    """σ of every estimated count."""

    @property
    def noise(self) -> float:
        """q = a/2^32, exact in binary floating point."""
        return self.noise_numerator / NOISE_GRID

    @property
    def half_width_95(self) -> float:
        """Of a 95 % interval, in people."""
        return Z95 * self.sigma


def noise(
    crowd: int,
    bits: int,
    epsilon: float,
    linkage: Linkage | str = Linkage.BIT,
    colluding: int = 0,
) -> DraftNoise:
    """The noise of the drafts for one copy of one bit or of one record, rounded up to the grid.

    Their formula aims at no δ and no η; `DRAFT_WARNING` says what it leaves. Their formulas for
    several copies and for sparse answers, 001 (6.3) and §5, are wrong and not offered here.

    >>> from krand_lab.choice import noise
    >>> found = noise(crowd=1000, bits=5, epsilon=1, linkage="record")
    >>> round(found.noise, 3), found.eta.upper > 0.003
    (0.197, True)
    """
    check_crowd(crowd)
    check_bits(bits)
    if not 0 < epsilon <= 100:
        raise InvalidInput("epsilon", "must be above 0 and at most 100", epsilon)
    if not 0 <= colluding <= (most := crowd - 2):
        raise InvalidInput("colluding", f"must be a whole number from 0 to {most:,}", colluding)
    honest, linked = crowd - colluding, Linkage(linkage) is Linkage.RECORD
    least, source = draft_noise(honest, bits, epsilon, linked)
    numerator = math.ceil(least * NOISE_GRID)
    q = numerator / NOISE_GRID
    attack = Attack(bits=bits, crowd=honest, epsilon=epsilon)
    return DraftNoise(
        noise_numerator=numerator,
        source=source,
        delta=attack.delta(q),
        eta=attack.eta(q),
        sigma=sigma_001_4(crowd, q),
    )
