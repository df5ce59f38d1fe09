"""Pictures of one bit, reported once: the ratio R_i and where counts fall (000 §0, 003 §4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from krand.wording.phrases import number, percent
from krand_lab import formulas as drafts
from krand_lab.reproduction.entries import Mark, Picture, Section, Series

__all__ = [
    "intervals_000",
    "intervals_003",
    "intervals_absolute_000",
    "intervals_absolute_003",
    "ratio_of_one_bit_000",
    "ratio_of_one_bit_003",
]

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
    other = drafts.inverse_ratio_000_0_4(POPULATION, high, q)
    return Picture(
        key="000-0.4-ratio",
        section=Section.SINGLE_BIT,
        source="000 §0.1, (0.4) and (0.19)",
        title="R against the number of ones, with 000's noise",
        draft_shows="$R_i$ falls as $i$ grows, reaches $\\lambda$ at $i = qN - 3\\sigma$, and the "
        f"bound is kept in {_share(CLAIMED)} of all outcomes.",
        caption=f"With q = {number(q, 5)} the bound is kept in {_share(1 - below)} of the outcomes "
        f"of $D_m$; the window itself holds {_share(_inside(q, low, high))} of them. The direction "
        f"that 000 leaves out is harmless here: $1/R_i$ is {number(other, 3)} at the upper end of "
        f"the window, and exceeds $\\lambda$ in {percent(100 * above)} of the outcomes of $D$.",
        x_label="ones among the reports, $i$",
        y_label="ratio",
        series=_both_ways(counts, ratios),
        marks=_window(low, high),
        log_y=True,
    )


def ratio_of_one_bit_003() -> Picture:
    """R_i of 003 (4.32) with the noise of (4.45): in its own window 1/R_i leaves all bounds."""
    q = drafts.single_bit_noise_003_4_45(POPULATION, LAM)
    low, high = drafts.observed_interval_000_0_28(POPULATION, POPULATION, q)
    counts = range(978, POPULATION + 1)
    ratios = [drafts.ratio_003_4_32(POPULATION, i, q) for i in counts]
    above, below = _failures(q)
    return Picture(
        key="003-4.32-ratio",
        section=Section.SINGLE_BIT,
        source="003 §4.3, (4.32) and (4.45)",
        title="R against the number of ones, with 003's noise",
        draft_shows="$R_i$ falls as $i$ grows, reaches $\\lambda$ at $i = pN - 3\\sigma$, and the "
        f"bound is kept in {_share(CLAIMED)} of all outcomes.",
        caption=f"003 bounds only $R_i$: with q = {number(q, 4)} it exceeds $\\lambda$ in "
        f"{percent(100 * above)} of the outcomes of $D_m$. The other direction is open: inside the "
        f"window $1/R_i$ grows up to {number(1 / ratios[-1], 3)}, and it exceeds $\\lambda$ in "
        f"{percent(100 * below)} of the outcomes of $D$.",
        x_label="ones among the reports, $i$",
        y_label="ratio",
        series=_both_ways(counts, ratios),
        marks=_window(low, high),
        log_y=True,
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
SHOWN = "Intervals of three deviations around the mean, nearly the same for $S$ and $S_m$."


def intervals_absolute_000() -> Picture:
    """The intervals of 000 (0.26) and (0.27), printed and right."""
    printed = ((198.9, 467.1), (198.6, 467.8))
    right = _right_intervals(ABSOLUTE, (0, 1))
    wider = (printed[0][1] - printed[0][0]) / (right[0][1] - right[0][0])
    return _intervals(
        "000-0.26-intervals",
        "000 §0.1, (0.26)–(0.27)",
        "Where the number of ones falls, q = 1/3, 000",
        f"The printed intervals are {number(wider, 2)} times too wide: they take the deviation of "
        f"the estimate where that of the count is meant. Right are {_ends(right[0])} and "
        f"{_ends(right[1])}. That they nearly coincide stays true.",
        printed,
        right,
    )


def intervals_000() -> Picture:
    """The intervals of 000 (0.28) and (0.29), printed and right."""
    q = 0.033
    right = _right_intervals(q, (0, 1))
    return _intervals(
        "000-0.28-intervals",
        "000 §0.1, (0.28)–(0.29)",
        f"Where the number of ones falls, q = {q:g}, 000",
        f"$S$ is right. $S_m$ is shifted by q, because (0.24) has $qN + p$ for $qN + p - q$: "
        f"{_ends(right[1])} is right.",
        ((16.05, 49.94), (17.02, 50.91)),
        right,
    )


def intervals_absolute_003() -> Picture:
    """The intervals of 003 (4.52) and (4.53), printed and right."""
    printed = ((621.98, 711.42), (621.65, 711.09))
    right = _right_intervals(ABSOLUTE, (POPULATION, POPULATION - 1))
    return _intervals(
        "003-4.52-intervals",
        "003 §4.3, (4.52)–(4.53)",
        "Where the number of ones falls, q = 1/3, 003",
        f"Both are shifted by {_furthest(printed, right):.2f}, because the mean was rounded to "
        "666.7; otherwise they are right.",
        printed,
        right,
    )


def intervals_003() -> Picture:
    """The intervals of 003 (4.54) and (4.55), printed and right."""
    q = 0.009
    printed = ((982.04, 999.96), (981.06, 998.98))
    right = _right_intervals(q, (POPULATION, POPULATION - 1))
    outside = 1 - _inside(q, POPULATION - right[0][1], POPULATION - right[0][0])
    return _intervals(
        "003-4.54-intervals",
        "003 §4.3, (4.54)–(4.55)",
        f"Where the number of ones falls, q = {q:g}, 003",
        f"Both are right to {_furthest(printed, right):.3f}. But with so little noise the count is "
        f"far from normal: {percent(100 * outside)} of the outcomes of $D$ lie outside, against "
        f"{percent(100 * (1 - CLAIMED))} by the draft.",
        printed,
        right,
    )


def _right_intervals(q: float, ones: tuple[int, int]) -> tuple[Ends, Ends]:
    """E ± 3σ of the count, for S and S_m."""
    first, second = (
        drafts.observed_interval_000_0_28(POPULATION, true_ones, q) for true_ones in ones
    )
    return first, second


def _furthest(printed: tuple[Ends, Ends], right: tuple[Ends, Ends]) -> float:
    """How far a printed end lies from the right one, at most."""
    return max(abs(printed[row][end] - right[row][end]) for row in (0, 1) for end in (0, 1))


def _intervals(
    key: str,
    source: str,
    title: str,
    caption: str,
    printed: tuple[Ends, Ends],
    right: tuple[Ends, Ends],
) -> Picture:
    """Printed and right intervals of S and S_m, one below the other."""
    rows = [
        _row(f"{name}, {what}: {_ends(ends)}", role, ends)
        for name, wrong, true in zip(("$S$", "$S_m$"), printed, right, strict=True)
        for what, role, ends in (("printed", "draft", wrong), ("right", "right", true))
    ]
    return Picture(
        key=key,
        section=Section.SINGLE_BIT,
        source=source,
        title=title,
        draft_shows=SHOWN,
        caption=caption,
        x_label="",
        y_label=f"ones among {POPULATION:,} reports",
        series=tuple(rows),
        intervals=True,
    )


def _row(label: str, role: str, ends: Ends) -> Series:
    """One interval as a series of its own, so that it has a name."""
    low, high = ends
    return Series(label, role, (0.0,), ((low + high) / 2,), (low,), (high,))


def _ends(ends: Ends) -> str:
    """[16.05, 49.94]."""
    return f"[{ends[0]:.2f}, {ends[1]:.2f}]"
