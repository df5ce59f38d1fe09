"""Pictures of the law of R for whole vectors: densities and tails (001 §3.3 and §3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from krand.accounting.ratio import RatioLaw, one_way_eta
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Mark, Picture, Section, Series

__all__ = [
    "density_lambda_2_of_1000",
    "density_lambda_2_of_3000",
    "density_lambda_2_of_5000",
    "density_lambda_e2_of_1000",
    "density_lambda_e2_of_3000",
    "density_lambda_e2_of_5000",
    "tail_and_bound_of_5_bits",
    "tail_and_bound_of_40_bits",
]

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


def density_lambda_2_of_1000() -> Picture:
    """The density of R, λ = 2, N = 1000."""
    return _density(Setting(*TWO, 1000, 0.2446, "0.006"))


def density_lambda_2_of_3000() -> Picture:
    """The density of R, λ = 2, N = 3000."""
    return _density(Setting(*TWO, 3000, 0.2109, "0.0048"))


def density_lambda_2_of_5000() -> Picture:
    """The density of R, λ = 2, N = 5000: the printed noise is not that of (3.12)."""
    return _density(Setting(*TWO, 5000, 0.1778, "0.0045"))


def density_lambda_e2_of_1000() -> Picture:
    """The density of R, λ = e², N = 1000."""
    return _density(Setting(*SQUARE, 1000, 0.1692, "0.0037"))


def density_lambda_e2_of_3000() -> Picture:
    """The density of R, λ = e², N = 3000."""
    return _density(Setting(*SQUARE, 3000, 0.1424, "0.0062"))


def density_lambda_e2_of_5000() -> Picture:
    """The density of R, λ = e², N = 5000."""
    return _density(Setting(*SQUARE, 5000, 0.1310, "0.0074"))


def _density(setting: Setting) -> Picture:
    """The density at the printed noise, and at the right one where that is another."""
    series = [_curve(setting, setting.noise, "draft", "printed")]
    if not setting.is_right:
        series.append(_curve(setting, setting.right_noise, "right", "right"))
    plain = setting.symbol.replace("^2", "²")
    name = setting.symbol.replace("^", "")
    return Picture(
        key=f"001-3.3-density-lambda-{name}-n-{setting.crowd}",
        section=Section.RATIO,
        source="001 §3.3",
        title=f"Density of R, λ = {plain}, N = {setting.crowd:,}",
        draft_shows=f"A density at q = {setting.noise:g}, {_shape(setting)}, and a reading of "
        f"$P[R \\ge \\lambda]$ = {setting.tail}.",
        caption=f"{_tails(setting)} {_comparison(setting)} {_bumps(setting)}",
        x_label="$R$",
        y_label="density of $R$ under $D_m$",
        series=tuple(series),
        marks=_marks(setting),
    )


def _shape(setting: Setting) -> str:
    """The draft's own words about the two sets of figures."""
    return "bell shaped enough" if setting.epsilon < 1 else "no longer bell-shaped"


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


def _reach(setting: Setting, q: float) -> float:
    """μ + 3σ."""
    return _threshold(setting.crowd, BITS, q, 3.0)


def _threshold(crowd: int, bits: int, q: float, beta: float) -> float:
    """μ + βσ."""
    sigma = math.sqrt(drafts.variance_ratio_001(crowd, bits, q))
    return drafts.mean_ratio_001(crowd, bits, q) + beta * sigma


def _marks(setting: Setting) -> tuple[Mark, ...]:
    """λ and μ + 3σ: one line where the noise is that of (3.12), for then they are the same."""
    reach = _reach(setting, setting.noise)
    name = f"$\\lambda = {setting.symbol}$"
    if setting.is_right:
        return (Mark(f"{name}, and $\\mu + 3\\sigma$ = {digits(reach)}", setting.lam),)
    return (
        Mark(name, setting.lam),
        Mark(f"$\\mu + 3\\sigma$ = {digits(reach)}, printed q", reach),
    )


def _tails(setting: Setting) -> str:
    """What the printed noise really leaves, in both directions."""
    eta = RatioLaw(setting.noise, BITS, setting.crowd).eta(setting.epsilon)
    return (
        f"At the printed noise $P[R > \\lambda | D_m]$ is exactly {digits(eta.forward.value)}, "
        f"{setting.tail} by the draft; in the direction that the draft leaves out, "
        f"$P[1/R > \\lambda | D]$, it is {digits(eta.reverse.value)}."
    )


def _comparison(setting: Setting) -> str:
    """Whether the printed noise is the right one, and what the right one leaves."""
    if setting.is_right:
        return "The noise is that of (3.12)."
    q = setting.right_noise
    eta = RatioLaw(q, BITS, setting.crowd).eta(setting.epsilon)
    reach = _reach(setting, setting.noise)
    return (
        f"The noise is not that of (3.12): there $\\mu + 3\\sigma$ is {digits(reach)}. Right is "
        f"q = {q:.4f}, and leaves {digits(eta.forward.value)} and {digits(eta.reverse.value)}."
    )


def _bumps(setting: Setting) -> str:
    """Why the density has several tops."""
    jump = (1 / setting.noise - 1) ** BITS / setting.crowd
    return (
        "The bumps count reports that equal the outlier's: each of them adds "
        f"{digits(jump)} to $R$."
    )


# --- the tail and its bound --------------------------------------------------------------------

BETAS = tuple(round(1 + 0.2 * step, 1) for step in range(26))
PRINTED_BOUNDS = ("0.052", "0.057", "0.062")


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
    printed, unreduced, exact = tails.at(3.0)
    return Picture(
        key="001-3.17-tail-l-5",
        section=Section.TAIL,
        source="001 §3.4, (3.17)",
        title="The tail of R and its bound, L = 5, N = 1,000",
        draft_shows="A bound of "
        f"{', '.join(PRINTED_BOUNDS)} at $\\beta = 3$ for $N$ = 1000, 3000, 5000, above the "
        "readings .0037, .0062, .0074, and labelled $\\lambda = 2$.",
        caption=f"q = 0.1692, the noise for $\\lambda = e^2$. At $\\beta = 3$ (3.17) gives "
        f"{digits(printed)}, the line above it {digits(unreduced)}; neither is the printed "
        f"{PRINTED_BOUNDS[0]}. The tail is {digits(exact)}. From about $\\beta$ = "
        f"{tails.crossing:g} on it lies above (3.17): Maurer's inequality bounds the lower tail of "
        "a sum of positive terms, and the upper one is heavier.",
        x_label="$\\beta$",
        y_label="$P[R > \\mu + \\beta\\sigma\\,|\\,D_m]$",
        series=_tail_series(tails),
        log_y=True,
    )


def tail_and_bound_of_40_bits() -> Picture:
    """(3.17) against the tail it is meant to bound, L = 40."""
    crowd, bits = 10_000_000, 40
    q = drafts.planner_001_3_12(crowd, bits, math.exp(2.0))
    tails = _tails_of(crowd, bits, q)
    wide = 5.0
    printed, _, exact = tails.at(wide)
    return Picture(
        key="001-3.17-tail-l-40",
        section=Section.TAIL,
        source="001 §3.4, (3.17)",
        title="The tail of R and its bound, L = 40, N = 10,000,000",
        draft_shows="The bound is tight for long vectors: .0096 at $\\beta = 3.05$, .002 at "
        "$\\beta = 3.5$, and so $\\beta$ can be chosen by it for $L > 20$.",
        caption=f"q = {digits(q, 4)}; both lines of the bound coincide. The tail falls in stairs: "
        f"a single report with {_loud(crowd, bits, q, math.exp(2.0))} or more of the "
        f"outlier's {bits} bits carries $R$ over $e^2$ alone, and a somewhat larger $\\beta$ does "
        f"not change how often that happens. From about $\\beta$ = {tails.crossing:g} on the tail "
        f"lies above the bound; at $\\beta = {wide:g}$ it is {digits(exact)} against "
        f"{digits(printed)}.",
        x_label="$\\beta$",
        y_label="$P[R > \\mu + \\beta\\sigma\\,|\\,D_m]$",
        series=_tail_series(tails),
        log_y=True,
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
