"""Methods of the comparison, with their errors in people: expected, and actual for these people.

Here are those of krand, with each source of noise: devices, one mixer, a chain of mixers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally
from krand.demo.devices import reported_counts
from krand.demo.randomness import Chance
from krand.errors import KrandError
from krand.mixing.dummies import draw_numbers
from krand.planning.making import make_plan
from krand.planning.mechanisms.mixers import TYPICAL_CHAIN
from krand.promise import Z95, Assurance
from krand.simulation.crowd import Crowd
from krand.survey import mechanisms
from krand.survey.layout import Layout
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.terminal.output import Output
from krand.wording.mechanisms import words_of
from krand.wording.shapes import shape_words

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

CHAINS = (1, TYPICAL_CHAIN)
"""The numbers of mixers that are compared."""


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


def done(plan: Plan, tally: Tally, truth: Counts) -> Baseline:
    """The survey as it was run."""
    method = replace(_named(plan.survey), error=error_of(plan, tally, truth))
    return planned(method, plan.layout, plan)


def _named(survey: Survey) -> Baseline:
    """krand with the survey's own noise."""
    trusted = words_of(survey.trust.noise).trusted(survey.trust.mixers)
    method = Baseline(name=f"krand, {shape_words(survey).method(survey)}", trusted=trusted)
    chain = _chain(survey.trust.mixers)
    return chain if chain.name == method.name else method


def _chain(mixers: int) -> Baseline:
    words = words_of(mechanisms.MIXERS)
    name, trusted = f"krand, {words.source(mixers)}", words.trusted(mixers)
    return Baseline(name=name, trusted=trusted, mixers=mixers)


def is_mixable(survey: Survey) -> bool:
    """Whether mixers can add the noise of such responses."""
    return not any(mechanisms.MIXERS.trust_rules(survey.linkage, 1, 1))


def with_devices(
    survey: Survey, crowd: Crowd, truth: Counts, chance: Chance, out: Output
) -> Baseline:
    """The same survey with the noise of devices."""
    method = _named(survey)
    try:
        with out.progress("planning devices' noise"):
            plan = make_plan(survey)
    except KrandError as refused:
        return replace(method, note=reason(refused))
    with out.counting("devices' noise", crowd.people, "people") as told:
        counts = reported_counts(plan, crowd, chance.noise("devices"), told)
    tally = tally_of(plan, crowd.people, counts)
    return replace(planned(method, plan.layout, plan), error=error_of(plan, tally, truth))


def with_mixers(
    plan: Plan, chains: Sequence[int], chance: Chance, out: Output
) -> Iterator[Baseline]:
    """The dummies of every mixer keep the promise alone, so all chains have the same laws."""
    try:
        with out.progress("planning mixers' noise"):
            mixed = _mixed(plan)
    except KrandError as refused:
        yield from (replace(_chain(mixers), note=reason(refused)) for mixers in chains)
        return
    of_plan = mixed.survey.trust.mixers
    for mixers in chains:
        times = math.sqrt(mixers / of_plan)
        sigmas = [times * block.precision.sigma for block in mixed.blocks]
        error = root_mean_square(_dummies_beyond_mean(mixed, mixers, chance))
        yield replace(expected(_chain(mixers), mixed.layout, sigmas), error=error)


def _mixed(plan: Plan) -> Plan:
    """The plan of the same survey with mixers' noise alone."""
    survey = by_mixers(plan.survey, plan.survey.trust.mixers)
    return plan if survey == plan.survey else make_plan(survey)


def by_mixers(survey: Survey, mixers: int) -> Survey:
    """The same survey with the noise of so many mixers, which is proven in any case."""
    policy = replace(survey.policy, assurance=Assurance.CERTIFIED)
    trust = replace(survey.trust, noise=mechanisms.MIXERS, mixers=mixers)
    return replace(survey, policy=policy, trust=trust)


def _dummies_beyond_mean(plan: Plan, mixers: int, chance: Chance) -> Floats:
    """The error of each count: devices flip nothing, so it is that of the dummies alone."""
    random = chance.noise(f"mixers {mixers}")
    found = [np.zeros(0)]
    for lane in plan.lanes:
        law = plan.law_of(lane)
        drawn = [draw_numbers(law, lane.positions, random) for _ in range(mixers)]
        found.append(np.sum(drawn, axis=0) - float(mixers * law.mean))
    return np.concatenate(found)
