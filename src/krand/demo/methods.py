"""A method of the comparison, with its error in people: expected, and actual for these people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally
from krand.errors import KrandError
from krand.promise import Z95
from krand.survey.layout import Layout
from krand.survey.plan import Plan

__all__ = [
    "Baseline",
    "error_of",
    "expected",
    "planned",
    "reason",
    "root_mean_square",
    "tally_of",
]

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A method and its error in people: root mean square over all positions."""

    name: str
    trusted: str
    sigma: float | None = None
    """The expected error, known before anybody answers."""
    error: float | None = None
    """The actual error for these people."""
    times_curator: float | None = None
    """`sigma` divided by the curator's."""
    half_widths_95: Mapping[str, float] = field(default_factory=dict)
    """± people (95 %) of an answer to each question, known before anybody answers."""
    mixers: int = 0
    """How many mixers add noise, and nobody else does; 0 for other methods."""
    note: str = ""
    """Why the method was not run."""


def root_mean_square(values: NDArray[np.floating[Any]]) -> float:
    """Over all positions."""
    return float(np.sqrt(np.mean(np.square(values))))


def expected(method: Baseline, layout: Layout, sigmas: Sequence[float]) -> Baseline:
    """The method with what is known before anybody answers, from the σ of each block."""
    blocks = layout.blocks
    widths = {
        name: Z95 * sigma * math.sqrt(block.cells_of(name))
        for block, sigma in zip(blocks, sigmas, strict=True)
        for name in block.question_names
    }
    sigma = root_mean_square(np.repeat(sigmas, [block.positions for block in blocks]))
    return replace(method, sigma=sigma, half_widths_95=widths)


def planned(method: Baseline, layout: Layout, plan: Plan) -> Baseline:
    """The method with the precision of its plan; blocks are those of the layout."""
    return expected(method, layout, [block.precision.sigma for block in plan.blocks])


def error_of(plan: Plan, tally: Tally, truth: Counts) -> float:
    """The error of the unbiased counts, position by position, before they are made consistent."""
    parts = block_counts(plan, tally)
    return root_mean_square(
        np.concatenate([part.law.estimate(part.ones) for part in parts]) - truth
    )


def tally_of(plan: Plan, people: int, counts: Counts) -> Tally:
    """What the analyst would count."""
    empty = empty_tally(plan.hash, plan.survey.linkage, len(counts))
    responses = people * plan.survey.copies
    return replace(empty, people=people, crowd=people, responses=responses, counts=counts)


def reason(refused: KrandError) -> str:
    """Why a method was not run."""
    return str(refused).partition("\n")[0]
