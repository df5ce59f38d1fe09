"""What every mechanism has in this room: the law of a count, and what a tally of it must hold."""

from __future__ import annotations

from abc import ABC, abstractmethod

from krand.analysis.mechanisms.models import CountModel
from krand.analysis.tally import Tally
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock, WorstShift

__all__ = ["AnalysisPart"]


class AnalysisPart(ABC):
    """What analysis knows of a mechanism."""

    @abstractmethod
    def law(
        self, plan: Plan, block: PlannedBlock, people: int, responses: int, batches: int
    ) -> CountModel:
        """The law of the count of one position of a block."""

    @abstractmethod
    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """Whether an empty message is an answer like any other, "unanswered", shown as such."""

    @abstractmethod
    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """Refuse a tally from which noise cannot be subtracted."""

    @abstractmethod
    def lanes_needed(self, plan: Plan) -> int:
        """Of how many lanes a tally must count the empty messages."""

    @abstractmethod
    def mixes(self, plan: Plan, batches: int) -> int:
        """How many times dummies are added to so many batches."""

    @abstractmethod
    def most_batches(self, plan: Plan) -> int | None:
        """How many batches the noise of a round was chosen for; None for any number."""

    @abstractmethod
    def worst_shift(self, block: PlannedBlock, corrupted: int) -> WorstShift:
        """What so many dishonest people together could have done to a count."""

    @property
    @abstractmethod
    def needs_collector_key(self) -> bool:
        """Whether a batch is verified with the collector's key, not with those in the plan."""
