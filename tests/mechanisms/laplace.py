"""A mechanism that krand does not have: mixers draw from a truncated discrete Laplace law.

It is written as another package would write it, without a change to any module of krand. Every
mixer adds Z dummies to a position, with P[Z = z] ∝ exp(-|z - R|/s) on 0 … 2R.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import krand.analysis.mechanisms as analysis
import krand.planning.mechanisms as planning
import krand.survey.mechanisms as survey
import krand.wording.mechanisms as words
from krand.accounting.division import Share
from krand.accounting.dummy_division import DividedDummies, assess_dummies
from krand.analysis.mechanisms.mixers import MixersPart as MixersAnalysis
from krand.planning.mechanisms.mixers import MixersPart as MixersPlanning
from krand.promise import DUMMY_GRID, DummyLaw, Policy
from krand.survey.mechanisms.mixers import Mixers
from krand.wording.mechanisms import MixersWords
from krand.wording.texts import Texts

STEP = 1.05
"""Scales that are tried grow by this factor."""


@dataclass(frozen=True)
class Laplace(Mixers):
    """Lanes, files and rules are those of mixers."""

    code: ClassVar[str] = "laplace"


LAPLACE = Laplace()


def laplace_law(scale: float, reach: int) -> DummyLaw:
    """Whole weights that add up to 2^63; what rounding leaves over goes to the centre."""
    total = 1 + 2 * sum(math.exp(-x / scale) for x in range(1, reach + 1))
    beside = [
        max(1, math.floor(DUMMY_GRID * math.exp(-x / scale) / total)) for x in range(1, reach + 1)
    ]
    return DummyLaw((DUMMY_GRID - 2 * sum(beside), *beside))


class LaplacePlanning(MixersPlanning):
    """One scale for all questions, the first of a row of them that keeps the policy."""

    mechanism = LAPLACE

    def divide(
        self, policy: Policy, shares: tuple[Share, ...], rounds: int, suggestions: bool
    ) -> DividedDummies:
        changed = rounds * sum(share.sensitivity for share in shares)
        scale = changed / policy.epsilon
        while True:
            reach = math.ceil(scale * math.log(2 * changed / policy.limit))
            laws = (laplace_law(scale, reach),) * len(shares)
            promise = assess_dummies(policy, shares, laws, rounds).promise
            if promise.delta <= policy.limit:
                return DividedDummies(
                    policy=policy,
                    shares=shares,
                    rounds=rounds,
                    laws=laws,
                    shape=1.0,
                    promise=promise,
                )
            scale *= STEP

    def quick(self, survey: object) -> None:
        """Nothing is known before the search."""


class LaplaceWords(MixersWords):
    """The sentences of mixers, but for the badge of a report."""

    def badge(self, mixers: int, texts: Texts) -> str:
        return f"{super().badge(mixers, texts)} (Laplace)"


@contextmanager
def laplace_known() -> Iterator[None]:
    """Register all parts, and forget them again."""
    from krand.survey.mechanisms import mechanism

    survey.register(LAPLACE)
    planning.register(LAPLACE, LaplacePlanning())
    analysis.register(LAPLACE, MixersAnalysis())
    words.register(LAPLACE, LaplaceWords())
    try:
        yield
    finally:
        for known in (
            *(mechanism._KNOWN, planning._PARTS.known),
            *(analysis._PARTS.known, words._WORDS.known),
        ):
            del known[LAPLACE.code]
