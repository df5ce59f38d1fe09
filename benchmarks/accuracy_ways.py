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
from textbook import gaussian_sigma, laplace_sigma

from krand import Choice, Choices, Linkage, Plan, Survey, Tally
from krand.analysis.counting import count_bits
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import empty_tally
from krand.randomness.generator import SecureRandom
from krand.simulation.population import simulated_answers
from krand.survey.encoding import describe
from krand.survey.layout import Layout, layout_of
from krand.tables.columns import Column, Encoded, encode_columns
from krand.tables.randomizing import noisy_rows, reported_counts

__all__ = [
    "CURATOR",
    "KRAND",
    "Floats",
    "Size",
    "Way",
    "World",
    "all_ways",
    "linked",
    "local_epsilon",
    "sigma_of",
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


def sigma_of(noise: float, people: int, copies: int = 1) -> float:
    """σ of every estimated count: √(Npq/k)/(p-q)."""
    return math.sqrt(people * noise * (1 - noise) / copies) / (1 - 2 * noise)


def local_epsilon(plan: Plan) -> float:
    """ε₀: what a person's messages reveal to shuffler and analyst together."""
    pairs = zip(plan.layout.blocks, plan.blocks, strict=True)
    return math.fsum(
        block.sensitivity * plan.survey.copies * math.log((1 - part.noise) / part.noise)
        for block, part in pairs
    )


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
        people = seen.people
        counts = reported_counts(plan, [(seen.encoded, people)], random)
        tally = replace(empty_tally(plan.hash, Linkage.BIT, positions), counts=counts)
        return estimated(plan, replace(tally, people=people, crowd=people, responses=people))

    sigma = seen.of_blocks([sigma_of(b.noise, seen.people) for b in plan.blocks])
    return Way(KRAND, "shuffler", sigma, run, repeats)


def by_records(seen: World, plan: Plan, repeats: int) -> Way:
    random, copies = SecureRandom(), plan.survey.copies

    def run() -> Floats:
        rows = np.concatenate([*noisy_rows(plan, [(seen.encoded, seen.people)], random)])
        return estimated(plan, tally_of(plan, seen.people, rows))

    sigma = seen.of_blocks([sigma_of(b.noise, seen.people, copies) for b in plan.blocks])
    return Way(f"krand, record linkage, k = {copies}", "shuffler", sigma, run, repeats)


# --- a trusted curator ---------------------------------------------------------------------------


def by_curator(seen: World, name: str, sigma: Floats, repeats: int) -> Way:
    rng = stream(name)

    def run() -> Floats:
        return np.asarray(seen.truth + sigma * rng.standard_normal(len(sigma)))

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
    alike, divided = curator_sigmas(seen)
    return [
        by_bits(seen, plan, size.repeats),
        by_curator(seen, CURATOR, divided, size.repeats),
        by_curator(seen, "trusted curator, equal noise", alike, size.repeats),
        *(by_records(seen, one, size.records) for one in records),
        *local_ways(seen, size),
    ]


def curator_sigmas(seen: World) -> tuple[Floats, Floats]:
    """Gaussian noise, position by position: the same everywhere, and divided by weights.

    With s_j for question j, Σ t_j/s_j² ≤ 1/s² is what the policy allows, s being the noise of one
    count; Σ w_j·s_j² is then least at s_j² = s²·√(t_j/w_j)·Σ √(t_i·w_i).
    """
    policy, blocks = seen.survey.policy, seen.layout.blocks
    assert policy.delta is not None
    epsilon, delta, counts = policy.epsilon, policy.delta, seen.layout.sensitivity
    equal = gaussian_sigma(epsilon, delta, counts)
    assert equal < laplace_sigma(epsilon, delta, counts), "geometric noise is not divided here"
    one = equal / math.sqrt(counts)
    total = math.fsum(math.sqrt(block.sensitivity * block.weight) for block in blocks)
    divided = [one * math.sqrt(math.sqrt(b.sensitivity / b.weight) * total) for b in blocks]
    return np.full(seen.layout.positions, equal), seen.of_blocks(divided)


def linked(survey: Survey, copies: int) -> Survey:
    """The same positions as one record; questions declared together become one choice of cells."""
    layout = layout_of(survey)
    asked = []
    for block in layout.blocks:
        question = block.questions[0]
        if len(block.questions) > 1:
            cells = Choices(describe(layout, p).label for p in layout.positions_of(block))
            question = Choice(name="_and_".join(block.question_names), choices=cells)
        asked.append(question.changed(weight=1.0))  # all bits of a record get the same noise
    return survey.changed(
        questions=tuple(asked), together=(), linkage=Linkage.RECORD, copies=copies
    )
