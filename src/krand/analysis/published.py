"""A release as its file tells it: the shape of what is read back, for whoever has only the file.

Nothing is computed and nothing is believed here. Plans are known without their lists of choices,
which readers do not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.corruption import WorstShift
from krand.analysis.estimates.values import QuestionEstimate
from krand.analysis.joint.conditional import ConditionalTable
from krand.analysis.joint.independence import IndependenceTest
from krand.batches.provenance import DistinctPeople, Provenance
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.survey.plan import Promise
from krand.survey.questions import Kind

__all__ = [
    "PublishedBand",
    "PublishedBlock",
    "PublishedJoint",
    "PublishedPlan",
    "PublishedQuestion",
    "PublishedRelease",
    "PublishedSurvey",
    "PublishedTable",
    "PublishedWord",
    "PublishedWords",
]


@dataclass(frozen=True, slots=True)
class PublishedQuestion:
    """What was asked; other properties depend on the type."""

    name: str
    type: Kind
    text: str


@dataclass(frozen=True, slots=True)
class PublishedSurvey:
    """The survey inside a plan, as far as readers need it without its lists of choices."""

    id: str
    linkage: Linkage
    copies: int
    rounds: int
    policy: Policy
    question: tuple[PublishedQuestion, ...]


@dataclass(frozen=True, slots=True)
class PublishedBlock:
    """A question, or questions asked together, with their noise."""

    name: str
    kind: Kind
    questions: tuple[str, ...]
    positions: int
    noise_numerator: int

    @property
    def noise(self) -> float:
        """q, exact in binary floating point."""
        return self.noise_numerator / NOISE_GRID


@dataclass(frozen=True, slots=True)
class PublishedPlan:
    """The plan inside a release."""

    survey: PublishedSurvey
    blocks: tuple[PublishedBlock, ...]
    positions: int
    messages: int
    promise: Promise
    analyst_key: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedBand:
    """Both ends for all cells of a table."""

    low: list[Any]
    high: list[Any]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A joint table; cells are lists in lists, one level for each question."""

    questions: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    answers: tuple[int, ...]
    people: int
    confidence: float
    counts: list[Any]
    consistent: list[Any]
    standard_errors: list[Any]
    interval: PublishedBand
    simultaneous: PublishedBand
    readable: list[Any]

    def cells(self, name: str) -> NDArray[np.float64]:
        """Counts, consistent or standard_errors as an array."""
        return np.array(getattr(self, name), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class PublishedJoint:
    """Questions seen together."""

    table: PublishedTable
    given: tuple[ConditionalTable, ...]
    independence: IndependenceTest | None


@dataclass(frozen=True, slots=True)
class PublishedWord:
    """One candidate; a standard error that is not finite is None."""

    word: str
    count: float
    unclipped: float
    standard_error: float | None
    low: float
    high: float
    p_value: float
    adjusted: float
    found: bool
    readable: bool
    same_positions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishedWords:
    """All candidates of a words question."""

    question: str
    rows: tuple[PublishedWord, ...]
    false_discovery_rate: float
    confidence: float
    detection_limit: float | None
    named: float
    named_error: float
    unexplained: float

    @property
    def found(self) -> tuple[PublishedWord, ...]:
        """The words that were named, the most frequent first."""
        return tuple(sorted((r for r in self.rows if r.found), key=lambda r: -r.unclipped))


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """Everything that a release file says."""

    plan_hash: str
    plan: PublishedPlan
    round: int
    people: int
    crowd: int
    promise: Promise
    kept: bool
    questions: tuple[QuestionEstimate, ...]
    words: tuple[PublishedWords, ...]
    joint: tuple[PublishedJoint, ...]
    shifts: tuple[WorstShift, ...]
    nulls: int
    rejected: dict[str, int]
    batches: tuple[str, ...]
    versions: dict[str, str]
    ids: tuple[str, ...]
    provenance: Provenance
    distinct_people: DistinctPeople | None

    def text_of(self, name: str) -> str:
        """The wording of a question, or nothing."""
        return next((q.text for q in self.plan.survey.question if q.name == name), "")
