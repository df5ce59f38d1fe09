"""What every mechanism has in this room: its least noise, its promises, what coalitions leave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from krand.accounting.division import Share
from krand.promise import Policy, Precision, Promise
from krand.survey.layout import Block, Layout
from krand.survey.plan import Margin, Plan, PlannedBlock
from krand.survey.questions import Kind
from krand.survey.survey import Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPlan:
    """Noise that is proven to keep a survey's policy, and precisions that its plan will keep, with
    as many people as are expected."""

    survey: Survey
    bound: float
    """The proven δ or η."""
    blocks: tuple[PlannedBlock, ...]
    """The plan will be at least as precise in every block."""


class PlanningPart(ABC):
    """What planning knows of a mechanism."""

    @abstractmethod
    def search(self, survey: Survey, suggestions: bool) -> Plan:
        """The plan with the least noise that keeps the policy; CannotMeet where there is none."""

    @abstractmethod
    def quick(self, survey: Survey) -> QuickPlan | None:
        """Noise that is found and proven at once, for the crowd; None if the proof fails."""

    @abstractmethod
    def promise(self, plan: Plan, policy: Policy) -> Promise:
        """What exactly the plan's noise promises to a member of a policy's crowd."""

    @abstractmethod
    def people_shown(self, survey: Survey) -> int | None:
        """For how many people margins are told where none are expected; None for no number."""

    @abstractmethod
    def added_variance(self, survey: Survey, noise: float, people: int) -> float:
        """By how much the variance of a count grows with so many people instead of the crowd."""

    @abstractmethod
    def without(self, plan: Plan, crowd: int, absent: int) -> Promise | None:
        """The promise in a crowd of which some hide nobody; None where nothing is promised."""

    @abstractmethod
    def variant(self, survey: Survey) -> Survey | None:
        """The same survey with this mechanism; None where it cannot keep the policy."""

    def chains(self, survey: Survey) -> tuple[int, ...]:
        """Numbers of mixers that are shown beside each other."""
        return (1,)


def shares_of(layout: Layout) -> tuple[Share, ...]:
    """The blocks as the accounting divides noise among them."""
    return tuple(Share(block.sensitivity, block.weight) for block in layout.blocks)


def margins_of(block: Block, precision: Callable[[int], Precision]) -> tuple[Margin, ...]:
    """The precision of each question in a group, whose counts are sums over so many cells."""
    if block.kind is not Kind.TOGETHER:
        return ()
    cells = {name: block.cells_of(name) for name in block.question_names}
    return tuple(Margin(name, count, precision(count)) for name, count in cells.items())
