"""Counts with flips of devices and dummies of mixers: from counts back to people.

A row that adds up c positions counts T = M + S: M the ones that devices report (see `devices`),
S the dummies of all mixers and batches (see `mixers`). The two are independent, so T has the mean
D(p-q) + cNq + nR and the variance cNpq + nσ², and (T - nR - cNq)/(p-q) is unbiased for D.

How far T is from its mean follows from the exact law of S and that of M: the exact one for few
flips; for many the normal one, to which the skewness of M adds to first order. S is
as far above its mean as below, so it adds none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from krand.accounting.dummy_sums import sum_tails
from krand.analysis.mechanisms.devices import (
    OUTSIDE,
    DevicesPart,
    FlippedModel,
    NoiseModel,
    flip_errors,
    net_flips,
)
from krand.analysis.mechanisms.mixers import DummyModel, MixedModel, MixersPart, dummies_of
from krand.analysis.mechanisms.models import CountModel, Counts, Floats
from krand.planning.mechanisms.devices import planned_from
from krand.planning.mechanisms.mixers import with_mixing
from krand.promise import DummyLaw, Promise
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.plan_file import mixing_of
from krand.survey.survey import Survey

NEAR = 1e-9
"""How near, relatively, a distance is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BothModel(FlippedModel, MixedModel):
    """How the tokens of one row come about: flips of devices, then dummies of mixers."""

    flips: NoiseModel
    dummies: DummyModel

    @property
    def people(self) -> int:
        return self.flips.people

    @property
    def most(self) -> int:
        """The most of the row's positions that one person can set."""
        return self.flips.most

    @property
    def expected_dummies(self) -> int:
        """nR: how many dummies the row counts on average."""
        return self.dummies.draws * self.dummies.law.mean

    @property
    def spread(self) -> float:
        """Tpq + nσ²: the variance of the count."""
        return self.flips.spread + self.dummies.spread

    @property
    def sigma(self) -> float:
        """The standard error of the estimate, in people."""
        return math.sqrt(self.spread) / (1 - 2 * self.flips.noise) / self.flips.copies

    def estimate(self, ones: Counts) -> Floats:
        """The unbiased number of people, (T - nR - cNq)/(p-q)."""
        return self.flips.estimate(np.asarray(ones) - self.expected_dummies)

    def summed(self, cells: int, most: int = 1) -> BothModel:
        """The law of a sum over so many rows."""
        return replace(
            self,
            flips=self.flips.summed(cells, most),
            dummies=self.dummies.summed(cells, most),
        )

    def pooled(self, others: Sequence[CountModel]) -> BothModel | None:
        alike = [other for other in others if isinstance(other, BothModel)]
        flips = self.flips.pooled([other.flips for other in alike])
        dummies = self.dummies.pooled([other.dummies for other in alike])
        if len(alike) < len(others) or flips is None or dummies is None:
            return None
        return BothModel(flips=flips, dummies=dummies)

    def distance(self, confidence: float) -> float:
        """w: the count is further than this from its mean with 1 - confidence, flips as normal."""
        dummies, tail = self.dummies, (1 - confidence) / 2
        return _distance(dummies.law, dummies.draws, math.sqrt(self.flips.spread), tail)

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities."""
        errors, masses = self.dummies.jumps()
        return errors / (1 - 2 * self.flips.noise) / self.flips.copies, masses

    def tail(self, true_ones: Counts, ones: Counts, at_least: bool) -> Floats:
        """Σ_f P[B-A=f]·P[S ≥ ones-D-f], or the other tail, row by row."""
        net, first = net_flips(self.flips, true_ones)
        needed = ones - self.expected_dummies - true_ones - first
        distances = needed[:, None] - np.arange(net.shape[1])  # of the dummies from their mean
        tails = self._dummy_tails(distances if at_least else -distances)
        return np.asarray(np.einsum("ij,ij->i", net, tails))

    def _dummy_tails(self, distances: Counts) -> Floats:
        """P[S - nR ≥ w] of every distance w, rounded up; the law of S is symmetric."""
        known = sum_tails(self.dummies.law, self.dummies.draws)
        last = len(known) - 1
        above = known[np.clip(distances, 0, last)]
        rounded = 2 * known[last]  # all that was rounded up
        below = 1 - known[np.clip(1 - distances, 0, last)] + rounded
        return np.where(distances > 0, above, np.minimum(below, 1.0))

    def around(self, ones: Counts, confidence: float) -> Floats:
        """d̂ ± w/(p-q), moved by the skewness of the flips: only their part of V has any."""
        distance, flips = self.distance(confidence), self.flips
        z, share = distance / math.sqrt(self.spread), flips.spread / self.spread
        middle, half = self.estimate(ones), distance / (1 - 2 * flips.noise) / flips.copies
        part = np.clip(middle / (self.people * flips.cells), 0.0, 1.0)
        middle = middle - share * (1 - 2 * part) * (z * z - 1) / 6 / flips.copies
        return np.stack([middle - half, middle + half])

    def errors(self, share: float) -> tuple[float, Floats, float]:
        """Those of flips and dummies added up."""
        first, masses = flip_errors(self.flips, share)
        lowest, dummies, left_out = self.dummies.errors(share)
        width = len(masses) + len(dummies) - 1
        product = np.fft.rfft(masses, width) * np.fft.rfft(dummies, width)
        sums = np.maximum(np.fft.irfft(product, width), 0.0)
        return first + lowest, sums, OUTSIDE + left_out

    def both_tails(self, z: Floats) -> Floats:
        dummies, deviation = self.dummies, math.sqrt(self.flips.spread)
        beyond = _beyond(dummies.law, dummies.draws, deviation)
        return np.array([2 * beyond(w) for w in z * math.sqrt(self.spread) - 0.5])


@lru_cache(maxsize=256)
def _distance(law: DummyLaw, draws: int, deviation: float, tail: float) -> float:
    """The w with P[S' + F ≥ w] = tail, S' the dummies around their mean, F normal."""
    beyond = _beyond(law, draws, deviation)
    low, high = 0.0, 1.0 + deviation
    while beyond(high) > tail:
        low, high = high, 2 * high
    while high - low > NEAR * high:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > tail else (low, middle)
    return high


def _beyond(law: DummyLaw, draws: int, deviation: float) -> Callable[[float], float]:
    """P[S' + F ≥ w]."""
    tails = sum_tails(law, draws)
    masses = np.append(-np.diff(tails), 0.0)
    masses[0] = 1 - 2 * masses[1:].sum()
    places = np.arange(len(masses), dtype=np.float64)

    def beyond(w: float) -> float:
        above, below = ndtr((places - w) / deviation), ndtr((-places - w) / deviation)
        return float(masses @ above + masses[1:] @ below[1:])

    return beyond


class BothPart(MixersPart):
    """Batches as with dummies alone; a message may be empty by a flip."""

    devices = DevicesPart()

    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        flips = NoiseModel(people=people, responses=people, noise=block.noise)
        return BothModel(flips=flips, dummies=dummies_of(plan, block, people, batches))

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        return False

    def odd_noise(self, survey: Survey, numerators: tuple[int, ...]) -> Iterator[str]:
        return self.devices.odd_noise(survey, numerators)

    def rebuilt(
        self,
        survey: Survey,
        numerators: tuple[int, ...],
        promises: tuple[Promise, Promise | None],
        mixing: Any,
    ) -> Plan:
        promise, flips = promises
        assert flips is not None  # it was checked that the file has it
        devices = planned_from(survey, numerators, flips)
        return with_mixing(devices, mixing_of(mixing), promise)

    def noise_said(self, plan: Plan) -> str:
        return f"{self.devices.noise_said(plan)}; {super().noise_said(plan)}"
