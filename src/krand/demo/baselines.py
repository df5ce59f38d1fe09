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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import CentralNoise, DividedCurator, divided_curator
from krand.accounting.division import Share
from krand.analysis.counting.counts import count_bits
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally
from krand.demo.devices import noisy_rows, reported_counts
from krand.demo.people import Crowd, Told, pieces
from krand.demo.randomness import Chance
from krand.errors import KrandError
from krand.mixing.dummies import draw_numbers
from krand.planning.making import make_plan
from krand.planning.noise_sources import TYPICAL_CHAIN
from krand.planning.record import record_reports
from krand.promise import Z95, Assurance, Linkage, NoiseSource
from krand.survey.choices import Choices
from krand.survey.decoding import describe
from krand.survey.layout import Layout, layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey, Trust
from krand.terminal.output import Output

__all__ = [
    "COPIES",
    "Baseline",
    "all_baselines",
    "by_mixers",
    "curator_noise",
    "curator_sigmas",
    "linked",
    "survey_curator",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

COPIES = (1, 16)
CHAINS = (1, TYPICAL_CHAIN)
"""The numbers of mixers that are compared."""
MOST_BITS = 2**31
"""A comparison that flips more bits than this is not run: it would take minutes."""
NUMBERS_AT_A_TIME = 2**22
"""The most random numbers in memory, for any survey and crowd."""


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


def all_baselines(
    plan: Plan, tally: Tally, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> tuple[Baseline, ...]:
    """krand, then the baselines; `out` shows their progress."""
    curator = _by_curator(plan.survey, truth, chance)
    flipping = replace(plan.survey, trust=Trust())
    found = [_done(plan, tally, truth)]
    if plan.survey.trust.noise.has_dummies:
        found.append(_by_devices(flipping, crowd, truth, chance, out))
    if plan.survey.linkage is not Linkage.RECORD:
        done = {method.mixers for method in found}
        chains = [mixers for mixers in CHAINS if mixers not in done]
        found += _by_mixers(plan, chains, chance, out)
    for copies in COPIES:
        if plan.survey.linkage is not Linkage.RECORD or plan.survey.copies != copies:
            found.append(_by_records(flipping, copies, crowd, truth, chance, out))
    found += [_by_rappor(plan, crowd, truth, chance, out), curator]
    return tuple(_beside(method, curator) for method in found)


def _beside(method: Baseline, curator: Baseline) -> Baseline:
    if method.sigma is None or curator.sigma is None:
        return method
    return replace(method, times_curator=method.sigma / curator.sigma)


def _rms(values: NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _expected(method: Baseline, layout: Layout, sigmas: Sequence[float]) -> Baseline:
    """The method with what is known before anybody answers, from the σ of each block."""
    blocks = layout.blocks
    widths = {
        name: Z95 * sigma * math.sqrt(block.cells_of(name))
        for block, sigma in zip(blocks, sigmas, strict=True)
        for name in block.question_names
    }
    sigma = _rms(np.repeat(sigmas, [block.positions for block in blocks]))
    return replace(method, sigma=sigma, half_widths_95=widths)


def _planned(method: Baseline, layout: Layout, plan: Plan) -> Baseline:
    return _expected(method, layout, [precision.sigma for precision in plan.precisions])


def _error(plan: Plan, tally: Tally, truth: Counts) -> float:
    """The error of the unbiased counts, position by position, before they are made consistent."""
    parts = block_counts(plan, tally)
    return _rms(np.concatenate([part.law.estimate(part.ones) for part in parts]) - truth)


# --- krand ---------------------------------------------------------------------------------------


def _done(plan: Plan, tally: Tally, truth: Counts) -> Baseline:
    method = replace(_named(plan.survey), error=_error(plan, tally, truth))
    return _planned(method, plan.layout, plan)


def _named(survey: Survey) -> Baseline:
    """krand with the survey's own noise."""
    if survey.linkage is Linkage.RECORD:
        return Baseline(name=f"krand, {_records(survey.copies)}", trusted="collector")
    noise, mixers = survey.trust.noise, survey.trust.mixers
    if noise is NoiseSource.DEVICES:
        return Baseline(name="krand, devices", trusted="collector")
    method = _chain(mixers)
    if noise is NoiseSource.BOTH:
        both = method.name.replace(",", ", devices and")
        return replace(method, name=both, mixers=0)
    return method


def _chain(mixers: int) -> Baseline:
    name = "1 mixer" if mixers == 1 else f"{mixers:,} mixers"
    trusted = "collector" if mixers == 1 else f"1 of {name}"
    return Baseline(name=f"krand, {name}", trusted=trusted, mixers=mixers)


def _by_devices(
    survey: Survey, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> Baseline:
    method = _named(survey)
    try:
        with out.progress("planning devices' noise"):
            plan = make_plan(survey)
    except KrandError as refused:
        return replace(method, note=_reason(refused))
    with out.counting("devices' noise", crowd.people, "people") as told:
        counts = reported_counts(plan, crowd, chance.noise("devices"), told)
    tally = _tally(plan, crowd.people, counts)
    return replace(_planned(method, plan.layout, plan), error=_error(plan, tally, truth))


def _by_mixers(
    plan: Plan, chains: Sequence[int], chance: Chance, out: Output
) -> Iterator[Baseline]:
    """The dummies of every mixer keep the promise alone, so all chains have the same laws."""
    try:
        with out.progress("planning mixers' noise"):
            mixed = _mixed(plan)
    except KrandError as refused:
        yield from (replace(_chain(mixers), note=_reason(refused)) for mixers in chains)
        return
    of_plan = mixed.survey.trust.mixers
    for mixers in chains:
        times = math.sqrt(mixers / of_plan)
        sigmas = [times * precision.sigma for precision in mixed.precisions]
        error = _rms(_dummies_beyond_mean(mixed, mixers, chance))
        yield replace(_expected(_chain(mixers), mixed.layout, sigmas), error=error)


def _mixed(plan: Plan) -> Plan:
    """The plan of the same survey with mixers' noise alone."""
    if plan.survey.trust.noise is NoiseSource.MIXERS:
        return plan
    return make_plan(by_mixers(plan.survey, 1))


def by_mixers(survey: Survey, mixers: int) -> Survey:
    """The same survey with the noise of so many mixers, which is proven in any case."""
    policy = replace(survey.policy, assurance=Assurance.CERTIFIED)
    return replace(survey, policy=policy, trust=Trust(noise=NoiseSource.MIXERS, mixers=mixers))


def _dummies_beyond_mean(plan: Plan, mixers: int, chance: Chance) -> Floats:
    """The error of each count: devices flip nothing, so it is that of the dummies alone."""
    random = chance.noise(f"mixers {mixers}")
    found = [np.zeros(0)]
    for lane in plan.lanes:
        law = plan.law_of(lane)
        drawn = [draw_numbers(law, lane.positions, random) for _ in range(mixers)]
        found.append(np.sum(drawn, axis=0) - float(mixers * law.mean))
    return np.concatenate(found)


def _tally(plan: Plan, people: int, counts: Counts) -> Tally:
    empty = empty_tally(plan.hash, plan.survey.linkage, len(counts))
    responses = people * plan.survey.copies
    return replace(empty, people=people, crowd=people, responses=responses, counts=counts)


def _reason(refused: KrandError) -> str:
    return str(refused).partition("\n")[0]


def _records(copies: int) -> str:
    return f"records, k = {copies:,}"


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
    method = Baseline(name=f"drafts: {_records(copies)}", trusted="collector")
    if refusal := _too_much(crowd, copies):
        return replace(method, note=refusal)
    try:
        with out.progress(f"planning {_records(copies)}"):
            plan = make_plan(linked(survey, copies))
    except KrandError as refused:  # too noisy to use, or not possible at all
        return replace(method, note=_reason(refused))
    counts = np.zeros(len(truth), np.int64)
    with out.counting(_records(copies), crowd.people, "people") as told:
        for rows in noisy_rows(plan, crowd, chance.noise(f"records {copies}"), told):
            count_bits(rows, len(truth), counts)
    error = _error(plan, _tally(plan, crowd.people, counts), truth)
    return replace(_planned(method, crowd.layout, plan), error=error)


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
    method = _expected(Baseline(name="RAPPOR", trusted="nobody"), plan.layout, sigmas)
    if refusal := _too_much(crowd):
        return replace(method, note=refusal)
    q = rappor_noise(policy, responses)
    # p - q from its own formula: near q = ½ the difference would lose all digits.
    gap = math.tanh(policy.epsilon / (2 * responses.sensitivity * responses.rounds))
    with out.counting("RAPPOR", crowd.people, "people") as told:
        ones = _flipped(crowd, q, chance.numbers("RAPPOR"), told)
    return replace(method, error=_rms((ones - crowd.people * q) / gap - truth))


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
    return divided_curator(survey.policy, shares, survey.rounds)


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
    method = Baseline(name="trusted curator", trusted="curator", error=_rms(error))
    return _expected(method, layout_of(survey), curator.sigmas)
