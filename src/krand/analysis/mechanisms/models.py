"""What every mechanism has here: the law of a count, and what a tally of it must hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from krand.analysis.tally import Tally
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class CountModel(ABC):
    """The law of a count: how it follows from true answers, and how far it can be off."""

    if TYPE_CHECKING:  # fields of most models

        @property
        def people(self) -> int: ...

        @property
        def most(self) -> int:
            """The most of the row's positions that one person can set."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """The variance of the count."""

    @property
    @abstractmethod
    def sigma(self) -> float:
        """The standard error of the estimate, in people."""

    @abstractmethod
    def estimate(self, ones: Counts) -> Floats:
        """The unbiased number of people."""

    @abstractmethod
    def counted(self, estimates: Floats) -> Floats:
        """The ones that such estimates come from."""

    @abstractmethod
    def summed(self, cells: int, most: int = 1) -> Self:
        """The law of a sum over so many rows."""

    def pooled(self, others: Sequence[CountModel]) -> CountModel | None:
        """The law of this row and the same row of other rounds added up.

        None where rounds have different noise, or where a model does not know.
        """
        return None

    @abstractmethod
    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities."""

    @abstractmethod
    def quantile(self, confidence: float) -> float:
        """How many standard deviations suffice for weighted sums of rows."""

    @abstractmethod
    def chance(self, z: Floats) -> Floats:
        """Bounds P[a weighted sum of rows is ``z`` standard deviations or more off its mean]."""

    @property
    @abstractmethod
    def is_exact(self) -> bool:
        """Whether intervals come from the exact law."""

    @abstractmethod
    def limits(self, ones: Counts, confidence: float) -> Floats:
        """Both ends of an interval in people, as two rows, inside what the crowd allows.

        A count that noise brought below what nobody would give on average says no more than that
        one: the upper end is never below that of an estimate of 0, nor the lower end above that of
        an estimate of everybody. So no interval shrinks to a point, and none covers less often than
        it says: the ends move outwards only.
        """

    @property
    @abstractmethod
    def depends_on_share(self) -> bool:
        """Whether the errors depend on how many people truly gave the answer."""

    @abstractmethod
    def errors(self, share: float) -> tuple[float, Floats, float]:
        """The law of the count's distance from its mean, where this share gave the answer.

        The least distance, the probabilities of it and of those one by one above, and that of all
        others, rounded up.
        """


class AnalysisPart(ABC):
    """What analysis knows of a mechanism."""

    @abstractmethod
    def law(self, plan: Plan, block: PlannedBlock, people: int, responses: int) -> CountModel:
        """The law of the count of one position of a block."""

    @abstractmethod
    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """Whether an empty message is an answer like any other, "unanswered", shown as such."""

    @abstractmethod
    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """Refuse a tally from which noise cannot be subtracted."""

    @abstractmethod
    def noise_said(self, plan: Plan) -> str:
        """The noise of a plan, for whoever verifies it."""
