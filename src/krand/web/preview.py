"""What results will look like: invented answers with exactly the noise of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.planning.expected import as_expected, people_shown
from krand.promise import Z95
from krand.showing import decimals_for
from krand.survey.plan import Plan, PlannedBlock
from krand.wording.texts import SPOKEN

SEED = 1
"""The same plan shows the same preview."""
UNANSWERED = 0.08
"""The invented share of people who skip a question."""
WIDTH = 100
"""Of a bar, in the units of its drawing: one for a percent."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One answer: an estimate from simulated noise, with its interval, in percent."""

    label: str
    shown: str
    length: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One question with simulated results."""

    question: str
    bars: tuple[Bar, ...]


def preview_of(plan: Plan, labels: dict[str, tuple[str, ...]], seed: int = SEED) -> list[Preview]:
    """A preview of every named question; `labels` names the answers of its positions."""
    random = np.random.default_rng(seed)
    texts = {question.name: question.text or question.name for question in plan.survey.questions}
    return [_preview(plan, name, texts[name], given, random) for name, given in labels.items()]


def previewed_people(plan: Plan) -> int:
    """How many people are simulated: as many as are expected."""
    return people_shown(plan.survey) or plan.survey.policy.minimum_crowd


def _preview(
    plan: Plan, name: str, text: str, labels: tuple[str, ...], random: np.random.Generator
) -> Preview:
    block, crowd = plan.block_of(name), previewed_people(plan)
    true = np.rint(crowd * _shares(len(labels), random)).astype(np.int64)
    estimates = 100 * _estimates(plan, block, true, random) / crowd
    half = Z95 * as_expected(plan).precision_of(name).sigma * 100 / crowd
    bars = (
        _bar(label, float(estimate), half)
        for label, estimate in zip(labels, estimates, strict=True)
    )
    return Preview(question=text, bars=tuple(bars))


def _shares(answers: int, random: np.random.Generator) -> Floats:
    """Invented shares: uneven, and not all people answer."""
    if answers == 1:
        return random.uniform(0.2, 0.6, 1)
    parts = random.dirichlet(np.linspace(4.0, 1.5, answers))
    return np.asarray((1 - UNANSWERED) * parts, dtype=np.float64)


def _estimates(
    plan: Plan, block: PlannedBlock, true: NDArray[np.int64], random: np.random.Generator
) -> Floats:
    """Counts with the noise of devices and of mixers, corrected as an analyst does."""
    crowd, q = previewed_people(plan), block.noise
    counts = random.binomial(true, 1 - q) + random.binomial(crowd - true, q) - crowd * q
    for _ in range(plan.survey.trust.chain * plan.survey.trust.batches):
        law = plan.law_of(next(lane for lane in plan.lanes if lane.block == block.name))
        weights = np.array(law.weights, dtype=np.float64)
        drawn = random.choice(len(weights), len(true), p=weights / weights.sum())
        counts = counts + drawn - law.mean
    return np.asarray(counts / (1 - 2 * q), dtype=np.float64)


def _bar(label: str, estimate: float, half: float) -> Bar:
    low, high = max(0.0, estimate - half), min(100.0, estimate + half)
    numbers, decimals = SPOKEN.numbers, decimals_for(half)
    middle, around = (numbers.signed(f"{one:.{decimals}f}") for one in (max(0.0, estimate), half))
    return Bar(
        label=label,
        shown=f"{numbers.with_percent(middle)} ± {around}",
        length=round(min(100.0, max(0.0, estimate)), 3),
        low=round(min(low, 100.0), 3),
        high=round(max(high, 0.0), 3),
    )
