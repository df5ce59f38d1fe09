"""Tallies of people with known answers: every count is drawn from the plan's own law, from a seed.

The only file of the tests that fills in a `krand.Tally` by hand. Flips and dummies are independent
given the answers, so two binomials for each position (flips), a multinomial for each kind of record
or the numbers of dummies of every mixer are as good as a crowd, and take no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import binom

import krand
from krand.testing import unsafe_exact_plan, unsafe_simulated_tally

Answers = Mapping[str, Any]
Wholes = NDArray[np.int64]


def survey_of(*questions: Any, people: int = 2, **more: Any) -> krand.Survey:
    """A survey of these questions, with the noise of devices; its promise does not matter."""
    policy = krand.Policy(epsilon=1.0, delta=1e-3, minimum_crowd=people)
    named = {"id": "s", "policy": policy, "trust": krand.Trust(noise="devices")}
    return krand.Survey(**{**named, "questions": questions, **more})


def noises(plan: krand.Plan) -> NDArray[np.float64]:
    """How often devices flip each position."""
    return np.repeat([b.noise for b in plan.blocks], [b.positions for b in plan.blocks])


def law_of_ones(true: int, trials: int, noise: float) -> NDArray[np.float64]:
    """The chance of 0, 1, … reported ones, if so many of all bits truly are: Bin + Bin."""
    kept, gained = (
        binom.pmf(np.arange(n + 1), n, chance)
        for n, chance in ((true, 1 - noise), (trials - true, noise))
    )
    return np.convolve(kept, gained)


def tally_of(plan: krand.Plan, people: int, counts: Any, **more: Any) -> krand.Tally:
    """A tally of a simulation with these counts."""
    linked = plan.survey.linkage is krand.Linkage.RECORD
    named = {"batches": ("0" * 64,), "ids": ("0" * 32,)}
    values: dict[str, Any] = {"round": 1, "crowd": people, **named, **more}
    return krand.Tally(
        plan_hash=plan.hash,
        linkage=plan.survey.linkage,
        positions=plan.layout.positions,
        people=people,
        responses=people * plan.survey.copies if linked else people,
        counts=np.asarray(counts, np.int64),
        **values,
    )


@dataclass(frozen=True)
class Draws:
    """The tallies of a survey in which people of some kinds answer."""

    plan: krand.Plan
    answers: tuple[Answers, ...]
    """Of every kind of person."""

    @cached_property
    def ones(self) -> Wholes:
        """Which positions each kind of person sets: a row of zeros and ones for each."""
        survey = self.plan.survey
        alone = survey.changed(
            policy=survey.policy.changed(minimum_crowd=2, colluding=0),
            linkage=krand.Linkage.BIT,
            copies=1,
            trust=krand.Trust(noise="devices"),
        )
        exact, names = unsafe_exact_plan(alone), [question.name for question in survey.questions]
        rows, first = [], survey.schedule.first if survey.schedule else 1
        for answers in self.answers:
            person = {name: [answers.get(name)] * 2 for name in names}
            tally = unsafe_simulated_tally(exact, pa.table(person), seed=1, round_number=first)
            rows.append(tally.counts // 2)
        return np.array(rows, np.int64)

    def tally(
        self, people: Sequence[int], random: np.random.Generator, round_number: int = 1
    ) -> krand.Tally:
        """One tally, where so many people are of each kind."""
        kinds, crowd = np.asarray(people, np.int64), int(np.sum(people))
        name = f"{random.integers(2**62):064x}"
        more: dict[str, Any] = {"round": round_number, "batches": (name,), "ids": (name[32:],)}
        if self.plan.survey.linkage is krand.Linkage.RECORD:
            table = self._vectors(kinds, random)
            if len(table) <= 2**16:
                more["table"] = table
            bits = self.ones.shape[1]
            vectors = np.arange(len(table))[:, None] >> np.arange(bits)[::-1] & 1
            more["histogram"] = np.bincount(vectors.sum(axis=1), table, bits + 1).astype(np.int64)
            return tally_of(self.plan, crowd, table @ vectors, **more)
        true = kinds @ self.ones
        if self.plan.survey.trust.mixers and self.plan.laws:
            counts, nulls = self._with_dummies(true, crowd, random)
            more |= {"nulls": int(nulls.sum()), "lane_nulls": nulls}
            return tally_of(self.plan, crowd, counts, **more)
        noise = noises(self.plan)
        counts = random.binomial(true, 1 - noise) + random.binomial(crowd - true, noise)
        return tally_of(self.plan, crowd, counts, **more)

    def _vectors(self, kinds: Wholes, random: np.random.Generator) -> Wholes:
        """How often each vector is reported, first position highest."""
        noise, copies = self.plan.blocks[0].noise, self.plan.survey.copies
        table = np.zeros(2 ** self.ones.shape[1], np.int64)
        for person, number in zip(self.ones, kinds.tolist(), strict=True):
            chances = np.ones(1)
            for one in person:
                chances = np.kron(chances, [noise, 1 - noise] if one else [1 - noise, noise])
            table += random.multinomial(copies * number, chances / chances.sum())
        return table

    def _with_dummies(
        self, true: Wholes, people: int, random: np.random.Generator
    ) -> tuple[Wholes, Wholes]:
        """Tokens of all positions and empty messages of all lanes, with every mixer's dummies."""
        mixers, counts, nulls = self.plan.survey.trust.mixers, true.copy(), []
        for lane in self.plan.lanes:
            law, inside = self.plan.law_of(lane), slice(lane.offset, lane.offset + lane.positions)
            dummies = drawn(law, (mixers, lane.positions), random)
            if lane.has_noisy_nulls:
                added = drawn(law, (mixers,), random)
            else:
                padding = 2 * law.reach if lane.is_single else lane.padding
                added = np.maximum(padding - dummies.sum(axis=1), 0)
            nulls.append(people * lane.messages - int(true[inside].sum()) + int(added.sum()))
            counts[inside] += dummies.sum(axis=0)
        return counts, np.array(nulls, np.int64)


def drawn(law: Any, size: tuple[int, ...], random: np.random.Generator) -> Wholes:
    """Numbers of dummies, exactly as likely as the plan's weights say."""
    reached = np.cumsum(np.array(law.weights, np.uint64))
    bits = random.integers(0, 2**63, size, dtype=np.uint64)
    return np.searchsorted(reached, bits, side="right").astype(np.int64)
