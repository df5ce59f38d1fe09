"""Pictures of one bit, beyond one report: k copies of it, and ones in the background."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq

from krand.accounting.bits import background_pair
from krand.wording.phrases import percent
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Mark, Picture, Section, Series

__all__ = ["noise_of_bit_copies", "ones_in_the_background", "precision_of_bit_copies"]

POPULATION, LAM = 1000, 2.0
COPIES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SHOWN = 16
"""The number of copies in the draft's example (000 §1.3)."""


@cache
def _noises() -> dict[str, tuple[float, ...]]:
    """q for every k: both printed formulas, and the exact one."""
    limit = _delta(drafts.single_bit_noise_000_0_19(POPULATION, LAM), 1)
    return {
        "000": tuple(drafts.single_bit_copies_noise_000_1_23(POPULATION, LAM, k) for k in COPIES),
        "003": tuple(drafts.single_bit_copies_noise_003_5_24(POPULATION, LAM, k) for k in COPIES),
        "exact": tuple(_least_noise(k, limit) for k in COPIES),
    }


def _delta(q: float, copies: int) -> float:
    """δ of the drafts' single-bit collections, the worse direction: exact sums of binomials."""
    pair = background_pair(q, 0, POPULATION - 1, copies)
    forward, reverse = pair.profile(np.array([math.log(LAM)]))
    return float(max(forward[0], reverse[0]))


def _least_noise(copies: int, limit: float) -> float:
    """The least q with δ ≤ limit: δ falls as q grows, unlike tails, which jump up and down."""
    found = brentq(lambda q: math.log(_delta(q, copies) / limit), 0.005, 0.45, xtol=1e-10)
    return float(found)


def _at(values: tuple[float, ...], copies: int) -> float:
    """The value that belongs to so many copies."""
    return values[COPIES.index(copies)]


def noise_of_bit_copies() -> Picture:
    """q against k for one bit: 000 (1.23), 003 (5.24) and the exact law."""
    noises = _noises()
    first, limit = noises["exact"][0], _delta(noises["exact"][0], 1)
    ratio = _delta(_at(noises["000"], SHOWN), SHOWN) / limit
    other = _delta(_at(noises["003"], SHOWN), SHOWN) / limit
    return Picture(
        key="000-1.23-noise",
        section=Section.SINGLE_BIT,
        source="000 §1.3, (1.23); 003 §5.3, (5.24)",
        title="Noise of one bit in k copies",
        draft_shows="The noise grows with $k$: from "
        f"{digits(noises['000'][0], 4)} to {digits(_at(noises['000'], SHOWN), 4)} at "
        f"$k$ = {SHOWN}, $N$ = {POPULATION:,}, $\\lambda$ = {LAM:g}. 003 prints no example.",
        caption=f"The exact curve keeps δ, the worse direction, at {digits(limit)}, which is "
        f"what 000 leaves at k = 1 (q = {digits(first, 4)}). At k = {SHOWN} it needs "
        f"{digits(_at(noises['exact'], SHOWN), 4)}. 000's noise is a little less, and its δ "
        f"{digits(ratio, 2)} times the limit; 003's, {digits(_at(noises['003'], SHOWN), 4)}, "
        f"leaves {digits(other, 2)} times the limit, for it bounds the less harmful direction.",
        x_label="copies, $k$",
        y_label="noise, $q$",
        series=_curves(noises),
        log_x=True,
    )


def precision_of_bit_copies() -> Picture:
    """σ against k for one bit: 000 (1.24) with the printed noises and with the exact one."""
    noises = _noises()
    sigmas = {name: tuple(map(_sigma, values, COPIES)) for name, values in noises.items()}
    exact, printed = sigmas["exact"], sigmas["000"]
    gain, claimed = (1 - _at(values, SHOWN) / values[0] for values in (exact, printed))
    return Picture(
        key="000-1.24-precision",
        section=Section.SINGLE_BIT,
        source="000 §1.3, (1.24)",
        title="Precision of one bit in k copies",
        draft_shows=f"σ falls to {digits(_at(printed, SHOWN), 3)} at $k$ = {SHOWN}: a gain of 25 % "
        "in precision.",
        caption=f"By the printed formula σ falls from {digits(printed[0], 3)} to "
        f"{digits(_at(printed, SHOWN), 3)}, which is {percent(100 * claimed)}. At equal δ it falls "
        f"from {digits(exact[0], 3)} to {digits(_at(exact, SHOWN), 3)}, by {percent(100 * gain)}, "
        f"and to {digits(exact[-1], 3)} at k = {COPIES[-1]}: nearly all of it is gained by the "
        "first few copies.",
        x_label="copies, $k$",
        y_label="σ of the estimated count",
        series=_curves(sigmas),
        log_x=True,
    )


def _sigma(q: float, copies: int) -> float:
    """σ of the estimated count (000 (1.24))."""
    return drafts.sigma_001_4(POPULATION, q, copies)


def _curves(values: dict[str, tuple[float, ...]]) -> tuple[Series, ...]:
    """The two printed formulas and the exact one, against k."""
    x = tuple(float(k) for k in COPIES)
    return (
        Series("printed, 000 (1.23)", "draft", x, values["000"]),
        Series("printed, 003 (5.24)", "draft", x, values["003"]),
        Series("exact, at equal δ", "right", x, values["exact"]),
    )


# --- the background ----------------------------------------------------------------------------

FEW, NOISE, EPSILON = 100, 0.05, 1.5
MOST_ONES = 24


def ones_in_the_background() -> Picture:
    """δ of one bit against the ones among the others: the homogeneous background is not worst."""
    ones = range(FEW)
    deltas = [_background_delta(m) for m in ones]
    worst = max(ones, key=lambda m: deltas[m])
    shown = tuple(float(m) for m in ones[: MOST_ONES + 1])
    return Picture(
        key="003-4.1-background",
        section=Section.COLLECTIONS,
        source="003 Theorem 4.1; 001 §1.2",
        title="δ of one bit against the ones among the others",
        draft_shows="The homogeneous collection carries the largest risk: the more alike the "
        "others, the larger the ratio.",
        caption=f"N = {FEW}, q = {NOISE:g}, ε = {EPSILON:g}. δ is {digits(deltas[worst], 3)} with "
        f"{worst} one among the others and {digits(deltas[0], 3)} with none. Counts are whole "
        "numbers, and which of them lie beyond $\\lambda$ changes in jumps. The theorem compares "
        "$R_i$ at the same $i$; it does not follow that the probability of a large $R_i$, or δ, is "
        "ordered in the same way. More than half of ones mirror this picture.",
        x_label=f"ones among the other {FEW - 1} bits, $m$",
        y_label=f"δ at ε = {EPSILON:g}, worse direction",
        series=(Series("exact", "right", shown, tuple(deltas[: MOST_ONES + 1])),),
        marks=(Mark("the drafts' maximum, no ones", deltas[0], vertical=False),),
    )


def _background_delta(ones: int) -> float:
    """δ with so many ones among the other users, the worse direction."""
    pair = background_pair(NOISE, ones, FEW - 1 - ones)
    forward, reverse = pair.profile(np.array([EPSILON]))
    return float(max(forward[0], reverse[0]))
