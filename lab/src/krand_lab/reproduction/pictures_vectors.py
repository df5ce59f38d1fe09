"""Pictures of what noise costs and of sparse vectors (001 §4 and §5)."""

from __future__ import annotations

import math

from krand.accounting.backgrounds import Pattern
from krand.accounting.ratio import two_way_eta
from krand.promise import TwoWay
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Picture, Section, Series

__all__ = ["failure_rate_of_one_hot", "sigma_multiplier"]


def _multiplier(q: float) -> float:
    """√(pq)/(p-q): what multiplies √N in σ (001 §4)."""
    return drafts.sigma_001_4(1, q)


def sigma_multiplier() -> Picture:
    """√(pq)/(p-q) against q, with the noises that 001 §4 compares."""
    local_short = drafts.local_noise_001_4_2(2.0, 5)
    local_long = drafts.local_noise_001_4_2(math.exp(2.0), 40)
    right = drafts.planner_001_3_12(5000, 5, 2.0)
    points = (
        ("local, L = 5", "draft", local_short),
        ("printed, L = 5, N = 5,000", "draft", 0.1778),
        ("local, L = 40", "draft", local_long),
        ("printed, L = 40, N = 10,000,000", "draft", 0.351),
        ("right, L = 5, N = 5,000", "right", right),
    )
    grid = tuple(0.05 + 0.0025 * step for step in range(177))
    printed, corrected = (_multiplier(local_short) / _multiplier(q) for q in (0.1778, right))
    return Picture(
        key="001-4-multiplier",
        section=Section.PRECISION,
        source="001 §4",
        title="What multiplies √N in σ",
        draft_shows="$\\sqrt{pq}/(p-q)$ against $q$: 7.5 for $q$ = .465 and 0.6 for $q$ = .1778, "
        "20 for $q$ = .4875 and 1.6 for $q$ = .351.",
        caption=f"At q = {digits(local_short, 4)} it is {digits(_multiplier(local_short))}, not "
        f"7.5. With the noise that (3.12) asks for, {digits(right, 4)}, it is "
        f"{digits(_multiplier(right))} and not {digits(_multiplier(0.1778))}: precision grows "
        f"{digits(corrected)} times, not {digits(printed)} times. For 40 bits it is "
        f"{digits(_multiplier(local_long))} and {digits(_multiplier(0.351))}, as printed.",
        x_label="noise, $q$",
        y_label="$\\sqrt{pq}\\,/\\,(p-q)$",
        series=(
            Series("$\\sqrt{pq}\\,/\\,(p-q)$", "limit", grid, tuple(map(_multiplier, grid))),
            *(
                Series(f"{name}: q = {q:.4f}", role, (q,), (_multiplier(q),))
                for name, role, q in points
            ),
        ),
        log_y=True,
    )


# --- sparse vectors ----------------------------------------------------------------------------

LAM = 2.0
POPULATIONS = (300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000, 20_000, 50_000, 100_000)
TOLD = 1000


def failure_rate_of_one_hot() -> Picture:
    """η of one-hot answers with the noise of 001 §5: the drafts' background and a third one."""
    noises = [_one_hot_noise(crowd) for crowd in POPULATIONS]
    pair = [_eta(Pattern(2), *each) for each in zip(noises, POPULATIONS, strict=True)]
    third = [_eta(Pattern(1, 1, 1), *each) for each in zip(noises, POPULATIONS, strict=True)]
    where = POPULATIONS.index(TOLD)
    x = tuple(float(crowd) for crowd in POPULATIONS)
    return Picture(
        key="001-5-one-hot",
        section=Section.SPARSE,
        source="001 §5",
        title="One-hot answers: how often the promise breaks, λ = 2",
        draft_shows="Vectors with one set bit need only the noise of free vectors of two bits.",
        caption=f"At N = {TOLD:,} that noise is q = {digits(noises[where])}. The draft's pair "
        f"breaks the promise with probability {digits(pair[where].forward.value)}, in the other "
        f"direction {digits(pair[where].reverse.value)}. Where everybody else holds a third "
        f"option it is {digits(third[where].value)}, "
        f"{digits(third[where].value / pair[where].forward.value, 2)} times what the draft takes "
        "for the worst. Curves are not smooth because few outcomes matter and they come in steps.",
        x_label="users, $N$",
        y_label="$\\eta$",
        series=(
            Series("the draft's pair, $R > 2$", "draft", x, tuple(e.forward.value for e in pair)),
            Series("the draft's pair, $1/R > 2$", "limit", x, tuple(e.reverse.value for e in pair)),
            Series("all others hold a third option", "right", x, tuple(e.value for e in third)),
        ),
        log_x=True,
        log_y=True,
    )


def _one_hot_noise(crowd: int) -> float:
    """The noise of (3.12) at the length 2m that 001 §5 gives to m = 1 set bit."""
    return drafts.planner_001_3_12(crowd, drafts.sparse_bits_001_5(1), LAM)


def _eta(pattern: Pattern, q: float, crowd: int) -> TwoWay:
    """η of a homogeneous background, both directions."""
    return two_way_eta(pattern.law(q), crowd, math.log(LAM))
