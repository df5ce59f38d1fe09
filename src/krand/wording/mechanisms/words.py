"""What can be said about every mechanism. Plans and commands are in English alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.wording.phrases import at_most
from krand.wording.plan_texts import PLANS
from krand.wording.promises import limit_of
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.analysis.results import Results
    from krand.planning.noise_sources import SourceOption
    from krand.promise import Promise
    from krand.survey.plan import Plan, PlannedBlock


@dataclass(frozen=True, slots=True)
class Card:
    """A number on a page: itself, as it is shown, and what it means."""

    value: int
    shown: str
    note: str


class MechanismWords(ABC):
    """The sentences in which mechanisms differ."""

    # A plan.

    columns: tuple[str, str, str, str]
    """Of the table of a survey: question, type, positions, noise."""
    division: str
    """How the noise is divided among questions."""

    @property
    @abstractmethod
    def option(self) -> str:
        """What a form calls it."""

    @abstractmethod
    def promise(self, plan: Plan) -> str:
        """What the survey promises to each participant."""

    @abstractmethod
    def to_readers(self, plan: Plan) -> tuple[str, str]:
        """Where the organiser runs every mixer: when the promise to readers holds, and with whom
        others may collude, as the end of the sentence."""

    @abstractmethod
    def amount(self, plan: Plan, block: PlannedBlock) -> str:
        """The noise of a block in the table of a survey."""

    @abstractmethod
    def margins(self, expected: str) -> str:
        """How margins depend on the number of people who are expected."""

    @abstractmethod
    def source(self, mixers: int) -> str:
        """Who adds the noise: 3 mixers."""

    @abstractmethod
    def trusted(self, mixers: int) -> str:
        """Who must be trusted, in few words."""

    @abstractmethod
    def rests_on(self, mixers: int, honest: int) -> str:
        """Whom the promise rests on."""

    @abstractmethod
    def instead(self, option: SourceOption) -> str:
        """The margins that it would give without a crowd; empty if it needs one."""

    @abstractmethod
    def crowd(self, plan: Plan) -> Card:
        """How many people must come."""

    @abstractmethod
    def needed(self, plan: Plan, expected: int) -> Card:
        """How many people must answer, of those who are expected."""

    # Results, in any language.

    @abstractmethod
    def badge(self, mixers: int, texts: Texts) -> str:
        """Who added the noise."""

    @abstractmethod
    def how_noisy(self, texts: Texts) -> str:
        """The same as a sentence."""

    @abstractmethod
    def relies_on(self, results: Results, texts: Texts) -> str:
        """Whom the promise relies on."""

    @abstractmethod
    def relies_on_organiser(self, results: Results, texts: Texts) -> str:
        """The same where the organiser runs every mixer."""

    @abstractmethod
    def colluding(self, results: Results, texts: Texts) -> str:
        """How many participants may help the analyst."""

    @abstractmethod
    def collusion(self, results: Results) -> str:
        """What remains if those who handle messages work with the analyst."""

    @abstractmethod
    def collusion_terms(self, results: Results, texts: Texts) -> Iterator[tuple[str, str]]:
        """The same at length: what each sentence is about, and the sentence."""

    @abstractmethod
    def coalitions_lead(self, texts: Texts) -> str:
        """What the table of coalitions shows."""

    @abstractmethod
    def noise(self, results: Results, texts: Texts) -> str:
        """How often bits were flipped, or how many dummies were added."""

    @abstractmethod
    def blocks(self, results: Results, texts: Texts) -> tuple[str, str, list[float]]:
        """The noise of all blocks: a caption, the name of the number, and the numbers."""

    @abstractmethod
    def signed(self, texts: Texts) -> tuple[str, str]:
        """What was signed when messages were collected, and the command that checks it."""

    @abstractmethod
    def refused(
        self,
        plan: Plan,
        promise: Promise,
        rejected: Mapping[str, int],
        shown: Callable[[float], str] = at_most,
        texts: Texts = SPOKEN,
    ) -> str:
        """What refused messages mean for the promise."""


def slack_of(plan: Plan, promise: Promise) -> str:
    """δ or η, as the survey asks for it."""
    policy = plan.survey.policy
    said = PLANS.slack_eta if policy.delta is None else PLANS.slack_delta
    return said.format(limit=at_most(limit_of(policy, promise)[1]))
