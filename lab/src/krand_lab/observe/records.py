"""R of the records that came in, for the drafts' outlier pair, and where it lies in its law.

The pair: everybody's record is y, all zeros; or one person's is all ones instead. With T_l
responses that have l set bits, R = (1/N) Σ T_l (p/q)^(2l-L) (001 (3.4)); with k copies of every
record it is e_k(w)/C(kN, k). The law is exact for one copy and simulated for more.

It is the law of a crowd of zeros. True ones of a real crowd push R far beyond it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand import InvalidInput, Plan, Tally
from krand_lab.exact.backgrounds import outlier_law
from krand_lab.exact.bounds import Bounds
from krand_lab.exact.inversion import Scores
from krand_lab.exact.ratio import chance_above_zero
from krand_lab.exact.reports import ReportLaw
from krand_lab.intervals import proportion
from krand_lab.simulation import draw_histograms, log_ratio

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DRAWS = 10_000
CELLS_AT_ONCE = 2**20
MOST_CELLS = 2**24
"""Long records get fewer draws, but never fewer than FEWEST_DRAWS."""
FEWEST_DRAWS = 1000
TIE = 1e-9
"""Ratios this close, relatively, are one: they were only rounded differently."""
LOUDEST = 600.0
"""Ratios are capped at e^600, which decides the sum whatever the others are."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSeen:
    """The ratio of a batch of records; `alike` and `outlier` are P[R ≥ the one seen]."""

    people: int
    responses: int
    bits: int
    copies: int
    noise: float
    log_ratio: float
    alike: Bounds
    """If everybody's record is y."""
    outlier: Bounds
    """If one person's is the opposite."""
    draws: int
    """Outcomes that the law was simulated by; none if it is exact."""


def observe_records(plan: Plan, tally: Tally, seed: int = 0) -> RecordSeen:
    """R of the set-bit histogram, and how likely one so large is under both of the pair."""
    copies, noise = plan.survey.copies, plan.blocks[0].noise
    assert tally.histogram is not None
    histogram, bits = tally.histogram, tally.positions
    responses = int(histogram.sum())
    if responses < 2 * copies:
        rule = f"must hold the responses of two people, {2 * copies:,}"
        raise InvalidInput("tally", rule, responses)
    found = float(log_ratio(histogram[None, :], noise, copies)[0])
    if copies == 1:
        law = outlier_law(noise, bits)
        alike, outlier = (
            _tail(law, responses, found, own) for own in (law.log_reference, law.log_second)
        )
        draws = 0
    else:
        alike, outlier, draws = _simulated(histogram, noise, copies, found, seed)
    return RecordSeen(
        people=tally.people,
        responses=responses,
        bits=bits,
        copies=copies,
        noise=noise,
        log_ratio=found,
        alike=alike,
        outlier=outlier,
        draws=draws,
    )


def _tail(law: ReportLaw, responses: int, log_r: float, own: Floats) -> Bounds:
    """P[R ≥ r]: the sum of w - r over all responses, one of which follows the law `own`.

    Of the rare side the proven bounds are taken. Their upper end counts outcomes that tie with
    the one seen, which belong to "at least"; so it is the value as well.
    """
    log_r -= TIE
    log_w = law.second * law.log_odds
    if log_r > 0:  # in units of r, so that no ratio is too large
        score = np.expm1(np.minimum(log_w - log_r, LOUDEST))
        mean = np.exp(law.log_second - log_r) - np.exp(law.log_reference)
        rare = chance_above_zero(Scores(score, law.log_reference, own, mean), responses)
        return Bounds(rare.upper, rare.lower, rare.upper)
    score = math.exp(log_r) - np.exp(np.minimum(log_w, LOUDEST))
    mean = np.exp(law.log_reference + log_r) - np.exp(law.log_second)
    below = chance_above_zero(Scores(score, law.log_reference, own, mean), responses)
    return Bounds(1 - below.lower, 1 - below.upper, 1 - below.lower)


def _simulated(
    histogram: Counts, noise: float, copies: int, log_r: float, seed: int
) -> tuple[Bounds, Bounds, int]:
    """The two tails by drawing histograms, with exact intervals for what was drawn."""
    rng = np.random.default_rng(seed)
    responses, cells = int(histogram.sum()), histogram.size
    draws = max(FEWEST_DRAWS, min(DRAWS, MOST_CELLS // cells))
    hits = np.zeros(2, np.int64)
    step = max(1, CELLS_AT_ONCE // cells)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        own = draw_histograms(rng, cells - 1, noise, copies, size)
        others = draw_histograms(rng, cells - 1, noise, responses - copies, size)
        # The opposite record's responses have as many ones as those of y have zeros.
        for place, drawn in enumerate((others + own, others + own[:, ::-1])):
            hits[place] += np.count_nonzero(log_ratio(drawn, noise, copies) >= log_r - TIE)
    alike, outlier = (proportion(int(count), draws, CONFIDENCE) for count in hits)
    return (
        Bounds(alike.value, alike.low, alike.high),
        Bounds(outlier.value, outlier.low, outlier.high),
        draws,
    )
