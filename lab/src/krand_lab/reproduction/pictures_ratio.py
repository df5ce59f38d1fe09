"""Pictures of the law of R for whole vectors: densities and tails (001 §3.3 and §3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from krand_lab import formulas as drafts
from krand_lab.exact.ratio import RatioLaw, one_way_eta
from krand_lab.reproduction.entries import Mark, Picture, Section, Series, digits, picture

BITS = 5
MOST_CELLS, COARSE = 135, 500.0
ROUNDING = 0.0001
"""Printed noises have four digits: a right one further away than this is another one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of the tables of 001 §3.3, as printed."""

    epsilon: float
    symbol: str
    crowd: int
    noise: float
    tail: str

    def __str__(self) -> str:
        """What the progress bar says."""
        return f"density λ = {self.symbol} of {self.crowd}"

    @property
    def lam(self) -> float:
        """λ = e^ε."""
        return math.exp(self.epsilon)

    @property
    def right_noise(self) -> float:
        """What (3.12) really asks for."""
        return drafts.planner_001_3_12(self.crowd, BITS, self.lam)

    @property
    def is_right(self) -> bool:
        """Whether the printed noise is that of (3.12), up to rounding."""
        return abs(self.right_noise - self.noise) <= ROUNDING


TWO, SQUARE = (math.log(2.0), "2"), (2.0, "e^2")


SETTINGS = (
    Setting(*TWO, 1000, 0.2446, "0.006"),
    Setting(*TWO, 3000, 0.2109, "0.0048"),
    Setting(*TWO, 5000, 0.1778, "0.0045"),
    Setting(*SQUARE, 1000, 0.1692, "0.0037"),
    Setting(*SQUARE, 3000, 0.1424, "0.0062"),
    Setting(*SQUARE, 5000, 0.1310, "0.0074"),
)


def density(setting: Setting) -> Picture:
    """The density at the printed noise, and at the right one where that is another."""
    series = [_curve(setting, setting.noise, "draft", "printed")]
    if not setting.is_right:
        series.append(_curve(setting, setting.right_noise, "right", "right"))
    name, right = setting.symbol.replace("^", ""), setting.right_noise
    eta, right_eta = (
        RatioLaw(q, BITS, setting.crowd).eta(setting.epsilon) for q in (setting.noise, right)
    )
    return picture(
        Section.RATIO,
        f"001-3.3-density-lambda-{name}-n-{setting.crowd}",
        series,
        "density",
        _marks(setting),
        plain=setting.symbol.replace("^2", "²"),
        people=f"{setting.crowd:,}",
        q=f"{setting.noise:g}",
        # The draft's own words about the two sets of figures.
        shape="bell shaped enough" if setting.epsilon < 1 else "no longer bell-shaped",
        tail=setting.tail,
        forward=digits(eta.forward.value),
        reverse=digits(eta.reverse.value),
        comparison="<is_right>" if setting.is_right else "<is_wrong>",
        reach=digits(_reach(setting)),
        right=f"{right:.4f}",
        right_forward=digits(right_eta.forward.value),
        right_reverse=digits(right_eta.reverse.value),
        jump=digits((1 / setting.noise - 1) ** BITS / setting.crowd),
    )


def _curve(setting: Setting, q: float, role: str, which: str) -> Series:
    """The density over cells that hold whole periods of the lattice R lives on.

    A report with one bit off the outlier's adds (p/q)^(L-2)/N to R. For small q the law is a comb
    of that spacing; cells of that width, or a multiple, show its envelope without moiré.
    """
    top = 1.3 * setting.lam
    period = (1 / q - 1) ** (BITS - 2) / setting.crowd
    cell = period * math.ceil(top / period / MOST_CELLS)
    edges = cell * np.arange(max(1, int(0.1 / cell)), int(top / cell) + 1)
    law = RatioLaw(q, BITS, setting.crowd)
    tails = np.array([_tail(law, float(edge)) for edge in edges])
    density = np.maximum(0.0, -np.diff(tails)) / cell
    centres = (edges[1:] + edges[:-1]) / 2
    label = f"exact, {which} q = {q:.4f}"
    return Series(label, role, tuple(centres.tolist()), tuple(density.tolist()))


def _tail(law: RatioLaw, ratio: float) -> float:
    """P[R > ratio | D_m], coarser than `RatioLaw.tail`: off by less than the width of a line."""
    if ratio < 1:
        return law.tail(math.log(ratio))
    return one_way_eta(law.law, law.crowd, math.log(ratio), COARSE).value


def _reach(setting: Setting) -> float:
    """μ + 3σ at the printed noise."""
    return _threshold(setting.crowd, BITS, setting.noise, 3.0)


def _threshold(crowd: int, bits: int, q: float, beta: float) -> float:
    """μ + βσ."""
    sigma = math.sqrt(drafts.variance_ratio_001(crowd, bits, q))
    return drafts.mean_ratio_001(crowd, bits, q) + beta * sigma


def _marks(setting: Setting) -> tuple[Mark, ...]:
    """λ and μ + 3σ: one line where the noise is that of (3.12), for then they are the same."""
    reach = _reach(setting)
    name = f"$\\lambda = {setting.symbol}$"
    if setting.is_right:
        return (Mark(f"{name}, and $\\mu + 3\\sigma$ = {digits(reach)}", setting.lam),)
    return (
        Mark(name, setting.lam),
        Mark(f"$\\mu + 3\\sigma$ = {digits(reach)}, printed q", reach),
    )


# --- the tail and its bound --------------------------------------------------------------------

BETAS = tuple(round(1 + 0.2 * step, 1) for step in range(26))


@dataclass(frozen=True, slots=True)
class _Tails:
    """P[R > μ + βσ | D_m] for every β, and the two bounds."""

    printed: tuple[float, ...]
    unreduced: tuple[float, ...]
    exact: tuple[float, ...]

    @property
    def crossing(self) -> float:
        """The first β at which the tail is above the printed bound."""
        pairs = zip(BETAS, self.exact, self.printed, strict=True)
        return next(beta for beta, exact, bound in pairs if exact > bound)

    def at(self, beta: float) -> tuple[float, float, float]:
        """Printed bound, the line above it, and the tail."""
        where = BETAS.index(beta)
        return self.printed[where], self.unreduced[where], self.exact[where]


def _tails_of(crowd: int, bits: int, q: float) -> _Tails:
    """Both bounds and the exact tail at every β."""
    law = RatioLaw(q, bits, crowd)
    arguments = [(crowd, bits, q, beta) for beta in BETAS]
    return _Tails(
        tuple(drafts.tail_bound_001_3_17(*each) for each in arguments),
        tuple(drafts.tail_bound_001_3_17_unreduced(*each) for each in arguments),
        tuple(law.tail(math.log(_threshold(*each))) for each in arguments),
    )


def tail_and_bound_of_5_bits() -> Picture:
    """(3.17) against the tail it is meant to bound, L = 5."""
    tails = _tails_of(1000, BITS, 0.1692)
    printed, unreduced, exact = map(digits, tails.at(3.0))
    return picture(
        Section.TAIL,
        "001-3.17-tail-l-5",
        _tail_series(tails),
        printed=printed,
        unreduced=unreduced,
        exact=exact,
        crossing=f"{tails.crossing:g}",
    )


def tail_and_bound_of_40_bits() -> Picture:
    """(3.17) against the tail it is meant to bound, L = 40."""
    crowd, bits = 10_000_000, 40
    q = drafts.planner_001_3_12(crowd, bits, math.exp(2.0))
    tails = _tails_of(crowd, bits, q)
    printed, _, exact = map(digits, tails.at(5.0))
    return picture(
        Section.TAIL,
        "001-3.17-tail-l-40",
        _tail_series(tails),
        q=digits(q, 4),
        loud=_loud(crowd, bits, q, math.exp(2.0)),
        crossing=f"{tails.crossing:g}",
        exact=exact,
        printed=printed,
    )


def _loud(crowd: int, bits: int, q: float, lam: float) -> int:
    """The least number of the outlier's bits at which one report makes R > λ, (p/q)^(2l-L) > λN."""
    return math.floor((math.log(lam * crowd) / math.log(1 / q - 1) + bits) / 2) + 1


def _tail_series(tails: _Tails) -> tuple[Series, ...]:
    """The three curves of either picture."""
    return (
        Series("bound (3.17), as printed", "draft", BETAS, tails.printed),
        Series("the line above (3.17)", "draft", BETAS, tails.unreduced),
        Series("exact upper tail", "right", BETAS, tails.exact),
    )
