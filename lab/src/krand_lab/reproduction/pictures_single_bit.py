"""Pictures of one bit: its ratio, where counts fall, k copies, ones in the background."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from krand.wording.phrases import number, percent
from krand_lab import formulas as drafts
from krand_lab.exact.counts import one_bit_delta
from krand_lab.reproduction.entries import Mark, Picture, Section, Series, digits, picture

Floats = NDArray[np.float64]

POPULATION, LAM = 1000, 2.0
CLAIMED = 0.9998
"""`99.98% of possible synthetic outcomes` (000 §0.1, 003 §4.3)."""


# --- the ratio R_i -----------------------------------------------------------------------------


def ratio_of_one_bit_000() -> Picture:
    """R_i of 000 (0.4) with the noise of (0.19): few ones give a bit away, many do not."""
    q = drafts.single_bit_noise_000_0_19(POPULATION, LAM)
    low, high = drafts.observed_interval_000_0_28(POPULATION, 0, q)
    counts = range(4, 72)
    ratios = [1 / drafts.inverse_ratio_000_0_4(POPULATION, i, q) for i in counts]
    above, below = _failures(q)
    return picture(
        Section.SINGLE_BIT,
        "000-0.4-ratio",
        _both_ways(counts, ratios),
        marks=_window(low, high),
        claimed=_share(CLAIMED),
        q=number(q, 5),
        kept=_share(1 - below),
        inside=_share(_inside(q, low, high)),
        other=number(drafts.inverse_ratio_000_0_4(POPULATION, high, q), 3),
        above=percent(100 * above),
    )


def ratio_of_one_bit_003() -> Picture:
    """R_i of 003 (4.32) with the noise of (4.45): in its own window 1/R_i leaves all bounds."""
    q = drafts.single_bit_noise_003_4_45(POPULATION, LAM)
    counts = range(978, POPULATION + 1)
    ratios = [drafts.ratio_003_4_32(POPULATION, i, q) for i in counts]
    above, below = _failures(q)
    return picture(
        Section.SINGLE_BIT,
        "003-4.32-ratio",
        _both_ways(counts, ratios),
        marks=_window(*drafts.observed_interval_000_0_28(POPULATION, POPULATION, q)),
        claimed=_share(CLAIMED),
        q=number(q, 4),
        above=percent(100 * above),
        largest=number(1 / ratios[-1], 3),
        below=percent(100 * below),
    )


def _both_ways(counts: range, ratios: list[float]) -> tuple[Series, ...]:
    """R_i, which the drafts bound, and 1/R_i, which they do not."""
    x = tuple(float(i) for i in counts)
    return (
        Series("$R_i = P(i|D_m)/P(i|D)$", "draft", x, tuple(ratios)),
        Series("$1/R_i$, the other direction", "right", x, tuple(1 / ratio for ratio in ratios)),
    )


def _window(low: float, high: float) -> tuple[Mark, ...]:
    """λ and the two ends of the window of three deviations."""
    return (
        Mark(f"$\\lambda$ = {LAM:g}", LAM, vertical=False),
        Mark(f"3σ window, from {low:.1f}", low),
        Mark(f"3σ window, to {high:.1f}", high),
    )


def _failures(q: float) -> tuple[float, float]:
    """(P[w > λ | one bit differs], P[1/w > λ | all alike]), w the ratio of j odd reports.

    000 calls the collection of equal bits D_m and 003 calls it D, so R is 1/w there and w here.
    """
    odd = np.arange(POPULATION + 1)
    alike = binom.pmf(odd, POPULATION, q)
    w = np.array([drafts.inverse_ratio_000_0_4(POPULATION, int(j), q) for j in odd])
    return float((alike * w)[w > LAM].sum()), float(alike[w * LAM < 1].sum())


def _share(probability: float) -> str:
    """A share close to one, where two decimals tell."""
    return f"{100 * probability:.2f} %"


def _inside(q: float, low: float, high: float) -> float:
    """P[low ≤ count ≤ high] when all bits are 0."""
    counts = np.arange(POPULATION + 1)
    held: Floats = binom.pmf(counts, POPULATION, q)[(counts >= low) & (counts <= high)]
    return float(held.sum())


# --- where counts fall -------------------------------------------------------------------------

Ends = tuple[float, float]
ABSOLUTE = 1 / 3  # 000 (0.21), 003 (4.47)


def intervals_absolute_000() -> Picture:
    """The intervals of 000 (0.26) and (0.27), printed and right."""
    return _intervals("000-0.26", ABSOLUTE, (0, 1), ((198.9, 467.1), (198.6, 467.8)))


def intervals_000() -> Picture:
    """The intervals of 000 (0.28) and (0.29), printed and right."""
    return _intervals("000-0.28", 0.033, (0, 1), ((16.05, 49.94), (17.02, 50.91)))


def intervals_absolute_003() -> Picture:
    """The intervals of 003 (4.52) and (4.53), printed and right."""
    ones = POPULATION, POPULATION - 1
    return _intervals("003-4.52", ABSOLUTE, ones, ((621.98, 711.42), (621.65, 711.09)))


def intervals_003() -> Picture:
    """The intervals of 003 (4.54) and (4.55), printed and right."""
    ones = POPULATION, POPULATION - 1
    return _intervals("003-4.54", 0.009, ones, ((982.04, 999.96), (981.06, 998.98)))


def _intervals(source: str, q: float, ones: tuple[int, int], printed: tuple[Ends, Ends]) -> Picture:
    """Printed and right intervals E ± 3σ of the counts S and S_m, one below the other."""
    first, second = (drafts.observed_interval_000_0_28(POPULATION, m, q) for m in ones)
    right = first, second
    rows = (
        _row(f"{name}, {what}: {_ends(ends)}", role, ends)
        for name, wrong, true in zip(("$S$", "$S_m$"), printed, right, strict=True)
        for what, role, ends in (("printed", "draft", wrong), ("right", "right", true))
    )
    shift = max(abs(printed[row][end] - right[row][end]) for row in (0, 1) for end in (0, 1))
    return picture(
        Section.SINGLE_BIT,
        f"{source}-intervals",
        rows,
        people=f"{POPULATION:,}",
        first=_ends(first),
        second=_ends(second),
        wider=number((printed[0][1] - printed[0][0]) / (first[1] - first[0]), 2),
        shift=f"{shift:.2f}",
        fine_shift=f"{shift:.3f}",
        outside=percent(100 * (1 - _inside(q, POPULATION - first[1], POPULATION - first[0]))),
        claimed_outside=percent(100 * (1 - CLAIMED)),
    )


def _row(label: str, role: str, ends: Ends) -> Series:
    """One interval as a series of its own, so that it has a name."""
    low, high = ends
    return Series(label, role, (0.0,), ((low + high) / 2,), (low,), (high,))


def _ends(ends: Ends) -> str:
    """[16.05, 49.94]."""
    return f"[{ends[0]:.2f}, {ends[1]:.2f}]"


# --- k copies ----------------------------------------------------------------------------------

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
    return one_bit_delta(q, 0, POPULATION - 1, math.log(LAM), copies)


def _least_noise(copies: int, limit: float) -> float:
    """The least q with δ ≤ limit: δ falls as q grows, unlike tails, which jump up and down."""
    found = brentq(
        lambda q: math.log(max(_delta(q, copies) / limit, 1e-30)), 0.005, 0.45, xtol=1e-10
    )
    return float(found)


def _at(values: tuple[float, ...], copies: int) -> float:
    """The value that belongs to so many copies."""
    return values[COPIES.index(copies)]


def noise_of_bit_copies() -> Picture:
    """q against k for one bit: 000 (1.23), 003 (5.24) and the exact law."""
    noises = _noises()
    limit = _delta(noises["exact"][0], 1)
    ratio, other = (_delta(_at(noises[name], SHOWN), SHOWN) / limit for name in ("000", "003"))
    return picture(
        Section.SINGLE_BIT,
        "000-1.23-noise",
        _curves(noises),
        first_000=digits(noises["000"][0], 4),
        shown_000=digits(_at(noises["000"], SHOWN), 4),
        limit=digits(limit),
        first=digits(noises["exact"][0], 4),
        shown=digits(_at(noises["exact"], SHOWN), 4),
        ratio=digits(ratio, 2),
        shown_003=digits(_at(noises["003"], SHOWN), 4),
        other=digits(other, 2),
    )


def precision_of_bit_copies() -> Picture:
    """σ against k for one bit: 000 (1.24) with the printed noises and with the exact one."""
    noises = _noises()
    sigmas = {name: tuple(map(_sigma, values, COPIES)) for name, values in noises.items()}
    exact, printed = sigmas["exact"], sigmas["000"]
    gain, claimed = (1 - _at(values, SHOWN) / values[0] for values in (exact, printed))
    return picture(
        Section.SINGLE_BIT,
        "000-1.24-precision",
        _curves(sigmas),
        first_000=digits(printed[0], 3),
        shown_000=digits(_at(printed, SHOWN), 3),
        claimed=percent(100 * claimed),
        first=digits(exact[0], 3),
        shown=digits(_at(exact, SHOWN), 3),
        gain=percent(100 * gain),
        last=digits(exact[-1], 3),
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
    deltas = [one_bit_delta(NOISE, m, FEW - 1 - m, EPSILON) for m in ones]
    worst = max(ones, key=lambda m: deltas[m])
    shown = tuple(float(m) for m in ones[: MOST_ONES + 1])
    return picture(
        Section.COLLECTIONS,
        "003-4.1-background",
        (Series("exact", "right", shown, tuple(deltas[: MOST_ONES + 1])),),
        marks=(Mark("the drafts' maximum, no ones", deltas[0], vertical=False),),
        largest=digits(deltas[worst], 3),
        worst=worst,
        none=digits(deltas[0], 3),
    )
