"""The noise that the drafts choose, and what it actually gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand.accounting.calibration import precision
from krand.promise import NOISE_GRID, Linkage, Policy, Precision, ResponseFormat, check_crowd
from krand_lab.exact.attack import Attack
from krand_lab.exact.bounds import TwoWay
from krand_lab.formulas.planners import draft_noise


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
    colluding: int
    delta: TwoWay
    """Both directions of the attack that the drafts analyse."""
    eta: TwoWay
    precision: Precision

    @property
    def noise(self) -> float:
        """q = a/2^32, exact in binary floating point."""
        return self.noise_numerator / NOISE_GRID


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
    reports = ResponseFormat(bits, linkage=Linkage(linkage))
    policy = Policy(epsilon=epsilon, minimum_crowd=crowd, delta=0.5, colluding=colluding)
    linked = reports.linkage is Linkage.RECORD
    least, source = draft_noise(policy.honest, bits, epsilon, linked)
    numerator = math.ceil(least * NOISE_GRID)
    q = numerator / NOISE_GRID
    attack = Attack(bits=bits, crowd=policy.honest, epsilon=epsilon)
    return DraftNoise(
        noise_numerator=numerator,
        source=source,
        colluding=colluding,
        delta=attack.delta(q),
        eta=attack.eta(q),
        precision=precision(reports, q, crowd),
    )
