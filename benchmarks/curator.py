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

from textbook import discrete_gaussian_sigma, gaussian_sigma, laplace_sigma

from krand import Policy, Survey, Trust, YesNo, make_plan
from running import progress

COUNTS = (1, 2, 5, 10, 20, 40, 100)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DELTAS = (1e-3, 1e-4, 1e-6, 1e-9)
QUICK = ((1, 1.0, 1e-6), (8, 1.0, 1e-6), (20, 0.1, 1e-6))
WORST = 1.005
CROWD = 10**9
"""So many people that no noise is too much for them; a mixer's noise does not depend on it."""


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


def textbook(epsilon: float, delta: float, counts: int) -> tuple[float, str]:
    """The least σ and its noise."""
    ways = {
        "Gaussian": gaussian_sigma(epsilon, delta, counts),
        "discrete Laplace": laplace_sigma(epsilon, delta, counts),
        "discrete Gaussian": discrete_gaussian_sigma(epsilon, delta, counts),
    }
    best = min(ways, key=lambda name: ways[name])
    return ways[best], best


def cell(counts: int, epsilon: float, delta: float) -> Cell:
    """Plan so many yes/no questions, and look the request up in the textbook."""
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=CROWD)
    asked = tuple(YesNo(name=f"q{number}") for number in range(counts))
    trust = Trust(noise="mixers")
    plan = make_plan(Survey(id="cell", policy=policy, questions=asked, trust=trust))
    (law,) = {plan.law_of(lane) for lane in plan.lanes}
    sigma, noise = textbook(epsilon, delta, counts)
    return Cell(counts, epsilon, delta, math.sqrt(law.variance), sigma, noise, law.reach)


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
