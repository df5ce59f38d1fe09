"""Pictures of what noise costs and of sparse vectors (001 §4 and §5)."""

from __future__ import annotations

import math

from krand_lab import formulas as drafts
from krand_lab.exact.backgrounds import Pattern
from krand_lab.exact.bounds import TwoWay
from krand_lab.exact.ratio import two_way_eta
from krand_lab.reproduction.entries import Picture, Section, Series, digits, picture


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
    return picture(
        Section.PRECISION,
        "001-4-multiplier",
        (
            Series("$\\sqrt{pq}\\,/\\,(p-q)$", "limit", grid, tuple(map(_multiplier, grid))),
            *(
                Series(f"{name}: q = {q:.4f}", role, (q,), (_multiplier(q),))
                for name, role, q in points
            ),
        ),
        local_short=digits(local_short, 4),
        of_local_short=digits(_multiplier(local_short)),
        right=digits(right, 4),
        of_right=digits(_multiplier(right)),
        of_printed=digits(_multiplier(0.1778)),
        corrected=digits(corrected),
        claimed=digits(printed),
        of_local_long=digits(_multiplier(local_long)),
        of_printed_long=digits(_multiplier(0.351)),
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
    forward, worst = pair[where].forward.value, third[where].value
    return picture(
        Section.SPARSE,
        "001-5-one-hot",
        (
            Series("the draft's pair, $R > 2$", "draft", x, tuple(e.forward.value for e in pair)),
            Series("the draft's pair, $1/R > 2$", "limit", x, tuple(e.reverse.value for e in pair)),
            Series("all others hold a third option", "right", x, tuple(e.value for e in third)),
        ),
        q=digits(noises[where]),
        forward=digits(forward),
        reverse=digits(pair[where].reverse.value),
        third=digits(worst),
        times=digits(worst / forward, 2),
    )


def _one_hot_noise(crowd: int) -> float:
    """The noise of (3.12) at the length 2m that 001 §5 gives to m = 1 set bit."""
    return drafts.planner_001_3_12(crowd, drafts.sparse_bits_001_5(1), LAM)


def _eta(pattern: Pattern, q: float, crowd: int) -> TwoWay:
    """η of a homogeneous background, both directions."""
    return two_way_eta(pattern.law(q), crowd, math.log(LAM))
