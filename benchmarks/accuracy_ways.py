"""The ways that benchmarks/accuracy.py compares, each a function that collects a survey anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from local_privacy import (
    Estimates,
    Floats,
    Piece,
    Unary,
    asked_one,
    divided_best,
    divided_by_bits,
    pieces_of,
    sampled_sigma,
    unary,
)
from numpy.typing import NDArray

from krand.accounting.curator import CentralNoise, DividedCurator, curator, divided_curator
from krand.accounting.division import Share
from krand.analysis.counting import count_bits
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally
from krand.planning.record import record_blocks
from krand.promise import Linkage, ResponseFormat
from krand.randomness.generator import SecureRandom
from krand.simulation.population import simulated_answers
from krand.survey.choices import Choices
from krand.survey.encoding import describe
from krand.survey.layout import Layout, layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey
from krand.tables.columns import Column, Encoded, encode_columns
from krand.tables.randomizing import add_reported_counts, reported_rows

__all__ = [
    "CURATOR",
    "KRAND",
    "Floats",
    "Size",
    "Way",
    "World",
    "all_ways",
    "linked",
    "survey_curator",
    "world",
]

SEED = 1
KRAND, CURATOR = "krand, bit linkage", "trusted curator, noise divided"


@dataclass(frozen=True, slots=True)
class Size:
    """How often each way is run."""

    quick: bool
    repeats: int
    records: int


# --- the people ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The same people for every way: what they answer, as columns, pairs and bits."""

    survey: Survey
    layout: Layout
    columns: dict[str, Column]
    encoded: Encoded
    bits: NDArray[np.bool_]

    @property
    def people(self) -> int:
        return len(self.bits)

    @property
    def truth(self) -> NDArray[np.int64]:
        """How many people set each position."""
        return np.asarray(self.bits.sum(axis=0), dtype=np.int64)

    def of_blocks(self, values: Sequence[float]) -> Floats:
        """A value of each block, at each of its positions."""
        return np.repeat(np.array(values), [block.positions for block in self.layout.blocks])


def world(survey: Survey) -> World:
    """As many people as the survey is planned for."""
    layout, people = layout_of(survey), survey.policy.minimum_crowd
    columns = simulated_answers(survey, people, SEED)
    encoded = encode_columns(layout, columns)
    bits = np.zeros((people, layout.positions), dtype=bool)
    bits[encoded.rows, encoded.positions] = True
    return World(survey, layout, columns, encoded, bits)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A way to estimate the survey, and the deviation it should have at every position."""

    name: str
    trusted: str
    sigma: Floats
    run: Estimates
    repeats: int


def stream(name: str) -> np.random.Generator:
    """Randomness of its own for each way that simulates."""
    return np.random.default_rng([SEED, *name.encode()])


# --- krand ---------------------------------------------------------------------------------------


def tally_of(plan: Plan, people: int, rows: NDArray[np.uint8]) -> Tally:
    """Whole records, counted."""
    found = empty_tally(plan.hash, Linkage.RECORD, plan.layout.positions)
    count_bits(rows, found.positions, found.counts)
    return replace(found, people=people, crowd=people, responses=len(rows))


def estimated(plan: Plan, tally: Tally) -> Floats:
    """The noise taken out, position by position, without making counts consistent."""
    return np.concatenate([part.law.estimate(part.ones) for part in block_counts(plan, tally)])


def by_bits(seen: World, plan: Plan, repeats: int) -> Way:
    random, positions = SecureRandom(), plan.layout.positions

    def run() -> Floats:
        tally = empty_tally(plan.hash, Linkage.BIT, positions)
        add_reported_counts(plan, seen.encoded, seen.people, random, tally.counts)
        people = seen.people
        return estimated(plan, replace(tally, people=people, crowd=people, responses=people))

    sigma = seen.of_blocks([b.precision.sigma for b in plan.blocks])
    return Way(KRAND, "shuffler", sigma, run, repeats)


def by_records(seen: World, plan: Plan, repeats: int) -> Way:
    random, copies = SecureRandom(), plan.survey.copies

    def run() -> Floats:
        rows = reported_rows(plan, seen.encoded, seen.people, random)
        return estimated(plan, tally_of(plan, seen.people, rows))

    sigma = seen.of_blocks([b.precision.sigma for b in plan.blocks])
    return Way(f"krand, record linkage, k = {copies}", "shuffler", sigma, run, repeats)


# --- a trusted curator ---------------------------------------------------------------------------


def by_curator(seen: World, name: str, noise: CentralNoise, sigma: Floats, repeats: int) -> Way:
    rng = stream(name)

    def run() -> Floats:
        return np.asarray(seen.truth + curator_noise(noise, sigma, rng))

    return Way(name, "curator", sigma, run, repeats)


# --- local differential privacy ------------------------------------------------------------------


def by_unary(seen: World, name: str, channel: Unary, repeats: int) -> Way:
    rng = stream(name)

    def run() -> Floats:
        return channel.estimate(channel.reported(seen.truth, seen.people, rng), seen.people)

    return Way(name, "nobody", channel.sigma(seen.truth, seen.people), run, repeats)


def by_asking_one(seen: World, name: str, pieces: list[Piece], repeats: int) -> Way:
    channel = unary(pieces, [seen.survey.policy.epsilon] * len(pieces), True)
    rng, sigma = stream(name), sampled_sigma(pieces, channel, seen.truth, seen.people)
    return Way(name, "nobody", sigma, lambda: asked_one(pieces, channel, seen.bits, rng), repeats)


def local_ways(seen: World, size: Size) -> list[Way]:
    """Unary encoding, from its law."""
    pieces, epsilon = pieces_of(seen.layout), seen.survey.policy.epsilon
    alike, best = divided_by_bits(pieces, epsilon), divided_best(pieces, epsilon)
    rappor, sue = (unary(pieces, shares, False) for shares in (alike, best))
    oue = unary(pieces, best, True)
    return [
        by_unary(seen, "RAPPOR/SUE, ε/t for each bit", rappor, size.repeats),
        by_unary(seen, "SUE, ε divided best", sue, size.repeats),
        by_unary(seen, "OUE, ε divided best", oue, size.repeats),
        by_asking_one(seen, "OUE, one question a person", pieces, size.repeats),
    ]


def all_ways(seen: World, plan: Plan, records: list[Plan], size: Size) -> list[Way]:
    """krand first, then the curator who divides noise in the same way."""
    layout, policy = seen.layout, seen.survey.policy
    equal = curator(policy, ResponseFormat(layout.positions, structure=record_blocks(layout)))
    alike = np.full(layout.positions, equal.sigma)
    best = survey_curator(seen.survey)
    divided = curator_sigmas(seen.survey, best)
    return [
        by_bits(seen, plan, size.repeats),
        by_curator(seen, CURATOR, best.noise, divided, size.repeats),
        by_curator(seen, "trusted curator, equal noise", equal.noise, alike, size.repeats),
        *(by_records(seen, one, size.records) for one in records),
        *local_ways(seen, size),
    ]


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
