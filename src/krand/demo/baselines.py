"""The same people's answers collected in other ways at the same promise, each really run.

- The drafts' k-randomization: everybody sends k noisy copies of the whole record. The noise is the
  certified one, not the one of the drafts' formulas.
- RAPPOR (basic, one-time): every report protects itself, so that nobody need be trusted.
- A trusted curator, who sees all raw answers and adds Gaussian or geometric noise to the counts,
  whichever is less. The noise is divided over the questions by their weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import CentralNoise, DividedCurator, divided_curator
from krand.accounting.division import Share
from krand.analysis.counting.counts import count_bits
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally
from krand.demo.devices import noisy_rows
from krand.demo.people import Crowd, Told, pieces
from krand.demo.randomness import Chance
from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.record import record_reports
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.decoding import describe
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey
from krand.terminal.output import Output

__all__ = [
    "COPIES",
    "Way",
    "all_ways",
    "curator_noise",
    "curator_sigmas",
    "linked",
    "survey_curator",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

COPIES = (1, 16)
MOST_BITS = 2**31
"""More bits than these are not flipped for a comparison: it would take minutes."""
NUMBERS_AT_A_TIME = 2**22
"""Random numbers in memory, whatever the survey and the crowd."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to collect the survey, and its error: root mean square over all positions, people."""

    name: str
    trusted: str
    sigma: float | None = None
    """What was to be expected before anybody answered."""
    error: float | None = None
    """What it was for these people."""
    times_curator: float | None = None
    """`sigma` as a multiple of the curator's."""
    note: str = ""
    """Why it could not be run."""


def all_ways(
    plan: Plan, tally: Tally, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> tuple[Way, ...]:
    """What was done, then the others; `out` shows how far they are."""
    curator = _by_curator(plan.survey, truth, chance)
    found = [_done(plan, tally, truth)]
    for copies in COPIES:
        if plan.survey.linkage is not Linkage.RECORD or plan.survey.copies != copies:
            found.append(_by_records(plan.survey, copies, crowd, truth, chance, out))
    found += [_by_rappor(plan, crowd, truth, chance, out), curator]
    return tuple(_beside(way, curator) for way in found)


def _beside(way: Way, curator: Way) -> Way:
    if way.sigma is None or curator.sigma is None:
        return way
    return replace(way, times_curator=way.sigma / curator.sigma)


def _rms(values: NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _sigma(plan: Plan) -> float:
    """The root mean square of the planned σ of all positions."""
    sizes = [block.positions for block in plan.layout.blocks]
    return _rms(np.repeat([precision.sigma for precision in plan.precisions], sizes))


def _error(plan: Plan, tally: Tally, truth: Counts) -> float:
    """Of unbiased counts, position by position; nothing is made consistent."""
    parts = block_counts(plan, tally)
    return _rms(np.concatenate([part.law.estimate(part.ones) for part in parts]) - truth)


# --- krand ---------------------------------------------------------------------------------------


def _done(plan: Plan, tally: Tally, truth: Counts) -> Way:
    survey = plan.survey
    linked = survey.linkage is Linkage.RECORD
    name = f"krand, {_records(survey.copies)}" if linked else "krand"
    return Way(name, "shuffler", _sigma(plan), _error(plan, tally, truth))


def _records(copies: int) -> str:
    return f"records, k = {copies:,}"


def linked(survey: Survey, copies: int) -> Survey:
    """The same positions as one record: what is declared together becomes one choice of cells."""
    layout = layout_of(survey)
    asked = []
    for block in layout.blocks:
        question = block.questions[0]
        if len(block.questions) > 1:
            cells = Choices(describe(layout, p).label for p in layout.positions_of(block))
            question = Choice(name="_and_".join(block.question_names), choices=cells)
        asked.append(replace(question, weight=1.0))  # all bits of a record have the same noise
    return replace(
        survey, questions=tuple(asked), together=(), linkage=Linkage.RECORD, copies=copies
    )


def _by_records(
    survey: Survey, copies: int, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> Way:
    way = Way(f"drafts: {_records(copies)}", "shuffler")
    if refusal := _too_much(crowd, copies):
        return replace(way, note=refusal)
    try:
        with out.progress(f"planning {_records(copies)}"):
            plan = make_plan(linked(survey, copies))
    except KrandError as refused:  # nothing but noise, or not to be had at all
        return replace(way, note=str(refused).partition("\n")[0])
    counts = np.zeros(len(truth), np.int64)
    with out.counting(_records(copies), crowd.people, "people") as told:
        for rows in noisy_rows(plan, crowd, chance.noise(f"records {copies}"), told):
            count_bits(rows, len(truth), counts)
    empty = empty_tally(plan.hash, Linkage.RECORD, len(truth))
    people = crowd.people
    tally = replace(empty, people=people, crowd=people, reports=people * copies, counts=counts)
    return replace(way, sigma=_sigma(plan), error=_error(plan, tally, truth))


def _too_much(crowd: Crowd, copies: int = 1) -> str:
    """Why a comparison is left out, if it is."""
    bits = crowd.people * crowd.layout.positions * copies
    return f"not run: {bits:,} bits would have to be flipped" if bits > MOST_BITS else ""


# --- local differential privacy ------------------------------------------------------------------


def _by_rappor(plan: Plan, crowd: Crowd, truth: Counts, chance: Chance, out: Output) -> Way:
    """Every bit of everybody is flipped with one q; a changed answer costs ε in all."""
    policy = plan.survey.policy
    reports = replace(record_reports(plan.survey, plan.layout), copies=1)
    way = Way("RAPPOR", "nobody", rappor_sigma(policy, reports))
    if refusal := _too_much(crowd):
        return replace(way, note=refusal)
    q = rappor_noise(policy, reports)
    # p - q by its own formula: near q = ½ the difference of the two has no digits left.
    gap = math.tanh(policy.epsilon / (2 * reports.sensitivity * reports.rounds))
    with out.counting("RAPPOR", crowd.people, "people") as told:
        ones = _flipped(crowd, q, chance.numbers("RAPPOR"), told)
    return replace(way, error=_rms((ones - crowd.people * q) / gap - truth))


def _flipped(crowd: Crowd, q: float, random: np.random.Generator, told: Told) -> Counts:
    """How many reports have a 1 at each position, every bit of everybody drawn for itself."""
    positions = crowd.layout.positions
    counts = np.zeros(positions, np.int64)
    for bits in _bits(crowd, positions, told):
        counts += np.count_nonzero(bits ^ (random.random(bits.shape) < q), axis=0)
    return counts


def _bits(crowd: Crowd, positions: int, told: Told) -> Iterator[NDArray[np.bool_]]:
    for encoded, height in crowd.encoded(told):
        for part, people in pieces(encoded, height, max(1, NUMBERS_AT_A_TIME // positions)):
            bits = np.zeros((people, positions), dtype=bool)
            bits[part.rows, part.positions] = True
            yield bits


# --- a trusted curator ---------------------------------------------------------------------------


def survey_curator(survey: Survey) -> DividedCurator:
    """Gaussian or geometric noise for the survey's weights, whichever is less."""
    blocks = layout_of(survey).blocks
    shares = [Share(block.changes, block.weight) for block in blocks]
    return divided_curator(survey.policy, shares, survey.rounds)


def curator_sigmas(survey: Survey, curator: DividedCurator) -> Floats:
    """The curator's σ, position by position."""
    return np.repeat(curator.sigmas, [block.positions for block in layout_of(survey).blocks])


def curator_noise(noise: CentralNoise, sigmas: Floats, random: np.random.Generator) -> Floats:
    """What the curator adds to each count. Geometric: the difference of two geometric numbers."""
    if noise is CentralNoise.GAUSSIAN:
        return sigmas * random.standard_normal(len(sigmas))
    end = -np.expm1(-2 * np.arcsinh(1 / (math.sqrt(2) * sigmas)))  # σ = 1/(√2·sinh(loss/2))
    return np.asarray(random.geometric(end) - random.geometric(end), np.float64)


def _by_curator(survey: Survey, truth: Counts, chance: Chance) -> Way:
    curator = survey_curator(survey)
    sigmas = curator_sigmas(survey, curator)
    error = curator_noise(curator.noise, sigmas, chance.numbers("curator"))
    return Way("trusted curator", "curator", _rms(sigmas), _rms(error))
