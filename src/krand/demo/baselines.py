"""Baselines: the same answers collected by other methods with the same promise, each actually run.

- krand with other noise: that of devices, of one mixer, of a chain of mixers.
- The drafts' k-randomization: each person sends k noisy copies of the whole record. The noise is
  the certified one, not that of the drafts' formulas.
- RAPPOR (basic, one-time): the noise of each response suffices alone, so nobody must be trusted.
- A trusted curator, who sees all raw answers and adds Gaussian or geometric noise to the counts,
  whichever is smaller. The noise is divided among the questions by their weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import CentralNoise, DividedCurator, divided_curator
from krand.accounting.division import Share
from krand.analysis.counting.counts import count_bits
from krand.analysis.tally import Tally
from krand.demo.devices import noisy_rows
from krand.demo.methods import (
    CHAINS,
    Baseline,
    done,
    error_of,
    expected,
    is_mixable,
    planned,
    reason,
    root_mean_square,
    tally_of,
    with_devices,
    with_mixers,
)
from krand.demo.randomness import Chance
from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.record import record_reports
from krand.promise import Linkage
from krand.simulation.crowd import Crowd, Told, pieces
from krand.survey.choices import Choices
from krand.survey.decoding import describe
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey, Trust
from krand.terminal.output import Output
from krand.wording.shapes import records_name

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

COPIES = (1, 16)
MOST_BITS = 2**31
"""A comparison that flips more bits than this is not run: it would take minutes."""
NUMBERS_AT_A_TIME = 2**22
"""The most random numbers in memory, for any survey and crowd."""


def all_baselines(
    plan: Plan, tally: Tally, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> tuple[Baseline, ...]:
    """krand, then the baselines; `out` shows their progress."""
    curator = _by_curator(plan.survey, truth, chance)
    flipping = replace(plan.survey, trust=Trust())
    found = [done(plan, tally, truth)]
    if plan.survey.trust.chain:
        found.append(with_devices(flipping, crowd, truth, chance, out))
    if is_mixable(plan.survey):
        chains = [mixers for mixers in CHAINS if mixers != found[0].mixers]
        found += with_mixers(plan, chains, chance, out)
    for copies in COPIES:
        if linked(flipping, copies) != flipping:
            found.append(_by_records(flipping, copies, crowd, truth, chance, out))
    found += [_by_rappor(plan, crowd, truth, chance, out), curator]
    return tuple(_beside(method, curator) for method in found)


def _beside(method: Baseline, curator: Baseline) -> Baseline:
    if method.sigma is None or curator.sigma is None:
        return method
    return replace(method, times_curator=method.sigma / curator.sigma)


def linked(survey: Survey, copies: int) -> Survey:
    """The same positions as one record; questions declared together become one choice of cells."""
    layout = layout_of(survey)
    asked = []
    for block in layout.blocks:
        question = block.questions[0]
        if len(block.questions) > 1:
            cells = Choices(describe(layout, p).label for p in layout.positions_of(block))
            question = Choice(name="_and_".join(block.question_names), choices=cells)
        asked.append(replace(question, weight=1.0))  # all bits of a record get the same noise
    return replace(
        survey, questions=tuple(asked), together=(), linkage=Linkage.RECORD, copies=copies
    )


def _by_records(
    survey: Survey, copies: int, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> Baseline:
    method = Baseline(name=f"drafts: {records_name(copies)}", trusted="collector")
    if refusal := _too_much(crowd, copies):
        return replace(method, note=refusal)
    try:
        with out.progress(f"planning {records_name(copies)}"):
            plan = make_plan(linked(survey, copies))
    except KrandError as refused:  # too noisy to use, or not possible at all
        return replace(method, note=reason(refused))
    counts = np.zeros(len(truth), np.int64)
    with out.counting(records_name(copies), crowd.people, "people") as told:
        for rows in noisy_rows(plan, crowd, chance.noise(f"records {copies}"), told):
            count_bits(rows, len(truth), counts)
    error = error_of(plan, tally_of(plan, crowd.people, counts), truth)
    return replace(planned(method, crowd.layout, plan), error=error)


def _too_much(crowd: Crowd, copies: int = 1) -> str:
    """Why a comparison is not run; empty if it is."""
    bits = crowd.people * crowd.layout.positions * copies
    return f"not run: {bits:,} bits would have to be flipped" if bits > MOST_BITS else ""


# --- local differential privacy ------------------------------------------------------------------


def _by_rappor(plan: Plan, crowd: Crowd, truth: Counts, chance: Chance, out: Output) -> Baseline:
    """Each bit is flipped with the same q; changing all of a person's answers costs ε in total."""
    policy = plan.survey.policy
    responses = replace(record_reports(plan.survey, plan.layout), copies=1)
    sigmas = [rappor_sigma(policy, responses)] * len(plan.layout.blocks)
    method = expected(Baseline(name="RAPPOR", trusted="nobody"), plan.layout, sigmas)
    if refusal := _too_much(crowd):
        return replace(method, note=refusal)
    q = rappor_noise(policy, responses)
    # p - q from its own formula: near q = ½ the difference would lose all digits.
    gap = math.tanh(policy.epsilon / (2 * responses.sensitivity * responses.rounds))
    with out.counting("RAPPOR", crowd.people, "people") as told:
        ones = _flipped(crowd, q, chance.numbers("RAPPOR"), told)
    return replace(method, error=root_mean_square((ones - crowd.people * q) / gap - truth))


def _flipped(crowd: Crowd, q: float, random: np.random.Generator, told: Told) -> Counts:
    """How many responses have a 1 at each position; each bit is drawn independently."""
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
    """Gaussian or geometric noise for the survey's weights, whichever is smaller."""
    blocks = layout_of(survey).blocks
    shares = [Share(block.sensitivity, block.weight) for block in blocks]
    return divided_curator(survey.policy, shares, survey.promised_rounds)


def curator_sigmas(survey: Survey, curator: DividedCurator) -> Floats:
    """The curator's σ, position by position."""
    return np.repeat(curator.sigmas, [block.positions for block in layout_of(survey).blocks])


def curator_noise(noise: CentralNoise, sigmas: Floats, random: np.random.Generator) -> Floats:
    """The noise that the curator adds to each count (geometric: the difference of two draws)."""
    if noise is CentralNoise.GAUSSIAN:
        return sigmas * random.standard_normal(len(sigmas))
    end = -np.expm1(-2 * np.arcsinh(1 / (math.sqrt(2) * sigmas)))  # σ = 1/(√2·sinh(loss/2))
    return np.asarray(random.geometric(end) - random.geometric(end), np.float64)


def _by_curator(survey: Survey, truth: Counts, chance: Chance) -> Baseline:
    curator = survey_curator(survey)
    sigmas = curator_sigmas(survey, curator)
    error = curator_noise(curator.noise, sigmas, chance.numbers("curator"))
    method = Baseline(name="trusted curator", trusted="curator", error=root_mean_square(error))
    return expected(method, layout_of(survey), curator.sigmas)
