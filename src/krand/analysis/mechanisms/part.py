"""What every mechanism has in this room: the law of a count, and what a tally of it must hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from krand.analysis.checks import Check
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.tally import Tally
from krand.promise import Promise
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.survey import Survey


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
    def most_batches(self, plan: Plan) -> int | None:
        """How many batches the noise of a round was chosen for; None for any number."""

    @abstractmethod
    def odd_noise(self, survey: Survey, numerators: tuple[int, ...]) -> Iterator[str]:
        """Why devices cannot have this noise."""

    @abstractmethod
    def rebuilt(
        self,
        survey: Survey,
        numerators: tuple[int, ...],
        promise: Promise,
        mixing: Any,
    ) -> Plan:
        """The plan with the noise that a file claims: everything else is computed anew."""

    @abstractmethod
    def noise_said(self, plan: Plan) -> str:
        """The noise of a plan, for whoever verifies it."""

    def plan_checks(self, plan: Plan, values: Mapping[str, Any]) -> Iterator[Check]:
        """What else of a plan file follows from its noise."""
        yield from ()
