"""Confidence intervals for the number of people behind a count.

Which way is decided by the variance of the count, V = Tpq, not by the size of the crowd: ten
million people with q = 2·10⁻⁵ flip only 200 bits.

* Dummies of mixers: the exact law of their sum, whatever V is (see `dummies`).
* Flips and dummies: V is that of the flips alone, and the law that of both (see `both`).
* V < 200: the exact law (see `exact`). It never covers less often than it says.
* V ≥ 200: the normal law, with the skewness of M, (p-q)(1-2D/T)/√V, to first order: both ends
  move by (1-2d/cN)(z²-1)/(6k) people, half a person at 95 %, two and a half where a thousand rows
  are to hold together. Ones are whole, so the coverage swings around its nominal value as D moves.

Enumerated over noise and answers: from V = 200 on, 95 % intervals cover 94.6 to 95.4 %, and a
thousand rows together 93.8 to 95.7 %. At V = 50 it would be 94.3 to 95.7 %, and 92 to 96.4 %.
Without the shift, at V = 200, one end of a row among a thousand would be missed five times as often
as the other.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from krand.analysis.estimates.both import BothModel
from krand.analysis.estimates.dummies import DummyModel
from krand.analysis.estimates.exact import exact_limits
from krand.analysis.estimates.inversion import Floats, NoiseModel
from krand.analysis.estimates.models import CountModel
from krand.analysis.estimates.values import Method
from krand.errors import InvalidInput
from krand.promise import READABLE

__all__ = [
    "EXACT_BELOW",
    "chance_beyond",
    "check_confidence",
    "limits",
    "method_of",
    "normal_limits",
    "normal_quantile",
    "quantile_of",
    "readable",
    "simultaneous_confidence",
]

EXACT_BELOW = 200.0
"""The variance of a count below which its exact law is used."""


def check_confidence(confidence: float) -> float:
    """A probability strictly between 0 and 1, or an error that says so."""
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        rule = "must be between 0 and 1, both excluded"
        raise InvalidInput("confidence", rule, confidence, "0.95 is usual")
    return float(confidence)


def simultaneous_confidence(confidence: float, rows: int) -> float:
    """Šidák: the confidence of each of so many rows that together hold with `confidence`.

    Exact for independent rows; for correlated normal ones the truth is above (Šidák 1967).
    """
    return math.exp(math.log(confidence) / max(1, rows))


def normal_quantile(confidence: float) -> float:
    """z: the normal law is within ±z with this probability."""
    return -float(ndtri((1 - confidence) / 2))


def readable(errors: Floats, people: int, confidence: float) -> NDArray[np.bool_]:
    """Whether the margins of error of counts with these standard errors are narrow enough.

    A count with a wider one says nothing.
    """
    return np.asarray(normal_quantile(confidence) * errors <= READABLE * people)


def quantile_of(law: CountModel, confidence: float) -> float:
    """How many standard deviations weighted sums of such rows need on each side."""
    normal = normal_quantile(confidence)
    return normal if isinstance(law, NoiseModel) else max(normal, law.quantile(confidence))


def chance_beyond(law: CountModel, z: Floats) -> Floats:
    """How often such sums lie further out than z standard deviations: the inverse of a quantile."""
    normal = np.asarray(2 * ndtr(-np.abs(z)))
    return normal if isinstance(law, NoiseModel) else np.maximum(normal, law.chance(np.abs(z)))


def method_of(law: CountModel) -> Method:
    """Which interval a row gets."""
    if isinstance(law, DummyModel):
        return Method.EXACT
    flips = law.flips if isinstance(law, BothModel) else law
    return Method.EXACT if flips.spread < EXACT_BELOW else Method.NORMAL


def limits(law: CountModel, ones: NDArray[np.int64], confidence: float) -> Floats:
    """Both ends in people, as two rows, inside what the crowd allows.

    A count that noise brought below what nobody would give on average says no more than that one:
    the upper end is never below that of an estimate of 0, nor the lower end above that of an
    estimate of everybody. So no interval shrinks to a point, and none covers less often than it
    says: the ends move outwards only.
    """
    if isinstance(law, DummyModel):
        return _dummy_limits(law, ones, confidence)
    flips, added = (law.flips, law.expected_dummies) if isinstance(law, BothModel) else (law, 0)
    nobody = flips.trials * flips.noise + added
    everybody = nobody + law.people * law.most * flips.copies * (1 - 2 * flips.noise)
    possible = np.array([math.ceil(nobody), math.floor(everybody)])
    ends = _limits(law, np.append(ones, possible), confidence)
    low, high = ends[:, :-2]
    ends = np.stack([np.minimum(low, ends[0, -1]), np.maximum(high, ends[1, -2])])
    return np.clip(ends, 0.0, law.people * law.most)


def _dummy_limits(law: DummyModel, ones: NDArray[np.int64], confidence: float) -> Floats:
    """T - nR ± w, likewise."""
    middle, half, most = law.estimate(ones), law.distance(confidence), law.people * law.most
    ends = np.stack([np.minimum(middle, most) - half, np.maximum(middle, 0) + half])
    return np.asarray(np.clip(ends, 0.0, most))


def _limits(law: NoiseModel | BothModel, ones: NDArray[np.int64], confidence: float) -> Floats:
    if isinstance(law, BothModel):
        ends = _both_limits(law, ones, confidence)
    else:
        ends = normal_limits(law, ones, confidence)
    if method_of(law) is Method.EXACT:
        return exact_limits(law, ones, (1 - confidence) / 2, (ends[0], ends[1]))
    return ends


def normal_limits(law: NoiseModel, ones: NDArray[np.int64], confidence: float) -> Floats:
    """d̂ ± zσ, moved by the skewness of the count."""
    z = normal_quantile(confidence)
    middle = law.estimate(ones)
    part = np.clip(middle / (law.people * law.cells), 0.0, 1.0)
    middle = middle - (1 - 2 * part) * (z * z - 1) / 6 / law.copies
    return np.stack([middle - z * law.sigma, middle + z * law.sigma])


def _both_limits(law: BothModel, ones: NDArray[np.int64], confidence: float) -> Floats:
    """d̂ ± w/(p-q), moved by the skewness of the flips: only their part of the variance has any."""
    distance, flips = law.distance(confidence), law.flips
    z, share = distance / math.sqrt(law.spread), flips.spread / law.spread
    middle, half = law.estimate(ones), distance / (1 - 2 * flips.noise) / flips.copies
    part = np.clip(middle / (law.people * flips.cells), 0.0, 1.0)
    middle = middle - share * (1 - 2 * part) * (z * z - 1) / 6 / flips.copies
    return np.stack([middle - half, middle + half])
