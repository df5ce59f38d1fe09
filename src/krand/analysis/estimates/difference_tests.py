"""How often noise alone makes two shares differ as much: p-values from the exact laws of counts.

If the true shares of two surveys are equal, their estimates differ by the errors of two counts,
which are independent. Dummies have a law that depends on nothing. Flips have one that depends on
the true share s, by its skewness: their cumulants of even order are the same for every s, those of
odd order are proportional to 1-2s. Nobody knows s, so the largest probability of a few shares from
0 to 1 is taken; where two surveys have as many people and as much noise, all are the same.

A p-value is twice the probability of a difference at least as large in the same direction. It is
rounded up by everything that is left out of the laws, so none is below about 10⁻¹¹. No true share
makes a p-value of at most α more likely than α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krand.analysis.estimates.intervals import chance_beyond
from krand.analysis.mechanisms.models import CountModel, Floats

Laws = tuple[CountModel, CountModel]

SHARES = tuple(np.linspace(0, 1, 33).tolist())
"""True shares that are tried."""
BETWEEN = 1.01
"""Between two of these shares a probability may be larger; enumerated, by at most 0.6 %."""
TIE = 1e-6
"""Differences that are nearer to each other than this part of a single count are equal."""
LARGEST = 1e7
"""Counts with more variance than this are normal: a p-value of 10⁻⁶ is off by less than 1 %."""
AT_ONCE = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """The law of a count's distance from its mean: probabilities of `first`, `first` + 1, …"""

    first: float
    masses: Floats
    left_out: float
    """The probability of all others, rounded up."""
    unit: float
    """The share that a distance of 1 stands for."""


def chance_of_difference(laws: Laws, differences: Floats) -> Floats:
    """The two-sided p-value of every difference of estimated shares, second less first."""
    if max(law.spread for law in laws) > LARGEST:
        error = math.hypot(*(law.sigma / law.people for law in laws))
        chances = [chance_beyond(law, differences / error) for law in laws]
        return np.asarray(np.max(chances, axis=0))
    pairs = _null_laws(laws)
    above = np.max([_tail(first, second, differences) for first, second in pairs], axis=0)
    below = np.max([_tail(second, first, -differences) for first, second in pairs], axis=0)
    twice = 2.0 if len(pairs) == 1 else 2 * BETWEEN
    return np.asarray(np.minimum(twice * np.where(differences >= 0, above, below), 1.0))


def _tail(subtracted: _Errors, errors: _Errors, differences: Floats) -> Floats:
    """P[E - E' ≥ x] of every difference x, rounded up; both errors as shares."""
    tails = np.append(np.cumsum(errors.masses[::-1])[::-1], 0.0)
    own = (subtracted.first + np.arange(len(subtracted.masses))) * subtracted.unit
    step = max(1, AT_ONCE // len(own))
    parts = []
    for start in range(0, len(differences), step):
        needed = (differences[start : start + step, None] + own) / errors.unit - errors.first
        places = np.clip(np.ceil(needed - TIE), 0, len(errors.masses)).astype(np.int64)
        parts.append(tails[places] @ subtracted.masses)
    found = np.concatenate(parts) if parts else np.empty(0)
    return np.asarray(found + subtracted.left_out + errors.left_out)


@lru_cache(maxsize=16)
def _null_laws(laws: Laws) -> tuple[tuple[_Errors, _Errors], ...]:
    """The errors of both counts, for every true share that is tried."""
    same = laws[0] == laws[1] or not any(law.depends_on_share for law in laws)
    shares = SHARES[:1] if same else SHARES
    return tuple((_errors(laws[0], share), _errors(laws[1], share)) for share in shares)


def _errors(law: CountModel, share: float) -> _Errors:
    estimates = law.estimate(np.array([0, 1]))
    unit = float(estimates[1] - estimates[0]) / law.people
    first, masses, left_out = law.errors(share)
    return _Errors(first, masses, left_out, unit)
