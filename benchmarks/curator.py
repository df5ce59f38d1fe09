"""One mixer's noise beside the best textbook noise of a trusted curator, cell by cell.

A part of benchmarks/accuracy.py. A person can change t counts by 1 each. The curator has the least
of three noises, each with the smallest σ that keeps (ε, δ) for all t counts together: Gaussian
noise (Balle and Wang 2018), discrete Laplace noise with δ used, and discrete Gaussian noise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from krand.accounting.curator import (
    central_gaussian_sigma,
    geometric_loss,
    geometric_sigma,
)
from krand.accounting.division import Share
from krand.accounting.dummy_division import divide_dummies
from krand.promise import Policy, ResponseFormat
from running import progress

COUNTS = (1, 2, 5, 10, 20, 40, 100)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DELTAS = (1e-3, 1e-4, 1e-6, 1e-9)
QUICK = ((1, 1.0, 1e-6), (8, 1.0, 1e-6), (20, 0.1, 1e-6))
WORST = 1.005
WIDE = 50.0
"""From this σ of the sum of all counts on, discrete Gaussian noise is Gaussian noise."""
SPREADS = 12.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One request, and what a mixer and a curator need for it."""

    counts: int
    epsilon: float
    delta: float
    mixer: float
    curator: float
    noise: str
    reach: int

    @property
    def ratio(self) -> float:
        """The mixer's σ as a part of the curator's."""
        return self.mixer / self.curator

    @property
    def name(self) -> str:
        """The request in words."""
        return f"t = {self.counts}, ε = {self.epsilon:g}, δ = {self.delta:g}"


def discrete_gaussian_sigma(policy: Policy, counts: int, gaussian: float) -> float:
    """The least σ near that of Gaussian noise; the same where that is wide."""
    if gaussian * math.sqrt(counts) > WIDE:
        return gaussian

    def given_away(parameter: float) -> float:
        """x with P(x) ∝ e^(-x²/2s²) moved by 1 has the loss (2x+1)/2s²; t of them add up."""
        furthest = math.ceil(SPREADS * parameter * math.sqrt(counts)) + counts
        x = np.arange(-furthest, furthest + 1)
        mass = np.exp(-(x**2) / (2 * parameter**2))
        mass /= mass.sum()
        total = mass
        if counts > 1:
            size = 2 * furthest + 1
            spectrum = np.fft.rfft(np.roll(mass, -furthest))
            total = np.roll(np.fft.irfft(spectrum**counts, size), furthest)
        loss = (2 * x + counts) / (2 * parameter**2)
        above = loss > policy.epsilon
        return float((total[above] * -np.expm1(policy.epsilon - loss[above])).sum())

    assert policy.delta is not None
    low, high = 0.05 * gaussian, 4 * gaussian + 1
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        kept = given_away(middle) <= policy.delta
        low, high = (low, middle) if kept else (middle, high)
    x = np.arange(-math.ceil(SPREADS * high) - 1, math.ceil(SPREADS * high) + 2)
    mass = np.exp(-(x**2) / (2 * high**2))
    return math.sqrt(float((x**2 * mass).sum() / mass.sum()))


def textbook(policy: Policy, counts: int) -> tuple[float, str]:
    """The least σ and its noise."""
    gaussian = central_gaussian_sigma(policy, ResponseFormat(counts))
    ways = {
        "Gaussian": gaussian,
        "discrete Laplace": geometric_sigma(geometric_loss(policy, counts)),
        "discrete Gaussian": discrete_gaussian_sigma(policy, counts, gaussian),
    }
    best = min(ways, key=lambda name: ways[name])
    return ways[best], best


def cell(counts: int, epsilon: float, delta: float) -> Cell:
    """Plan it, and look it up in the textbook."""
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    divided = divide_dummies(policy, [Share(counts)])
    assert divided.promise.delta <= delta
    sigma, noise = textbook(policy, counts)
    reach = divided.laws[0].reach
    return Cell(counts, epsilon, delta, divided.sigmas[0], sigma, noise, reach)


def table(cells: Iterable[Cell], delta: float) -> list[str]:
    """The ratios at one δ."""
    found = {(one.counts, one.epsilon): one for one in cells if one.delta == delta}
    head = ["t", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    lines = [f"| {' | '.join(head)} |", f"|{' --: |' * len(head)}"]
    for counts in COUNTS:
        ratios = [f"{found[counts, epsilon].ratio:.4f}" for epsilon in EPSILONS]
        lines.append(f"| {' | '.join([str(counts), *ratios])} |")
    return lines


def page(cells: list[Cell]) -> str:
    """The whole page."""
    above = sorted((one for one in cells if one.ratio > 1), key=lambda one: -one.ratio)
    worst, longest = above[0] if above else cells[0], max(cells, key=lambda one: one.reach)
    lines = [
        "# One mixer beside a trusted curator",
        "",
        "<!-- Written by benchmarks/accuracy.py; do not edit. -->",
        "",
        "σ of one mixer's noise ÷ σ of the best textbook noise of a trusted curator, if one person"
        " can change t counts by 1 each. The textbook has Gaussian noise, calibrated analytically,"
        " discrete Laplace noise with δ used, and discrete Gaussian noise; the least of the three"
        " counts.",
        "",
        f"- {len(cells)} cells, all planned, none refused; every law keeps its (ε, δ), which is"
        " proven for exactly its weights.",
        f"- The worst is {worst.ratio:.4f} ({worst.name}); the goal is at most {WORST}:"
        f" {'met' if worst.ratio <= WORST else 'missed'}.",
        f"- {len(above)} cells are above 1, all others at or below it.",
        f"- The longest law has R = {longest.reach:,} ({longest.name}).",
        "",
    ]
    for delta in DELTAS:
        lines += [f"## δ = {delta:g}", "", *table(cells, delta), ""]
    lines += ["## Cells above 1", ""]
    lines += ["| t | ε | δ | one mixer, σ | curator, σ | curator's noise | ratio |"]
    lines += ["| --: | --: | --: | --: | --: | --- | --: |"]
    lines += [
        f"| {one.counts} | {one.epsilon:g} | {one.delta:g} | {one.mixer:.5g} | {one.curator:.5g}"
        f" | {one.noise} | {one.ratio:.4f} |"
        for one in above
    ]
    return "\n".join(lines) + "\n"


def curator_report(quick: bool) -> str:
    """All cells, or a few."""
    if quick:
        found = itertools.starmap(cell, QUICK)
        return "\n".join(f"{one.name}: {one.mixer:.5g} / {one.curator:.5g}" for one in found)
    cells = []
    for wanted in itertools.product(COUNTS, EPSILONS, DELTAS):
        cells.append(cell(*wanted))
        progress(f"{cells[-1].name}: {cells[-1].ratio:.4f}, R = {cells[-1].reach:,}")
    return page(cells)
