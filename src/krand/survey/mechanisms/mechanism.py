"""What every mechanism has in this room: its code, its rules, its lanes, when a batch may leave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from krand.errors import InvalidInput

if TYPE_CHECKING:
    from krand.promise import Linkage
    from krand.survey.lanes import LanePart
    from krand.survey.layout import Block
    from krand.survey.plan import Plan
    from krand.survey.rules import Broken

NO_MIXERS = "must be a plan in which mixers add the noise"
NEW_PLAN = "make the plan again, with the descriptor of every mixer"
SMALLEST_CROWD = 2
"""Where a mechanism needs no crowd and a survey names none."""


class Mechanism(ABC):
    """Who adds noise, and what follows for a survey, its plan, its messages and its batches."""

    code: ClassVar[str]
    """Its name in survey files and plans."""
    has_dummies: ClassVar[bool]
    """Whether mixers add dummies, so that batches pass a chain that they sign; else devices flip
    bits."""

    def __str__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return mechanism_of, (self.code,)

    # The survey file.

    @abstractmethod
    def trust_rules(self, linkage: Linkage | None, mixers: int) -> Iterator[Broken]:
        """What goes with it in [trust]; a linkage that could not be read is None."""

    @abstractmethod
    def policy_rules(self, max_local_epsilon: float | None) -> Iterator[Broken]:
        """What a policy cannot ask for."""

    @abstractmethod
    def crowd_rules(self, raw: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Broken]:
        """What a policy must say about the crowd; `table` has what is valid of it."""

    @abstractmethod
    def fill_in(self, table: dict[str, Any]) -> None:
        """What a policy leaves out."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The same rules as JSON Schema, for a file that names this mechanism."""

    # The plan and its file.

    @abstractmethod
    def lane_parts(self, block: Block, room: int) -> Iterator[LanePart]:
        """Every lane of a block whose answers are sent as tokens."""

    def check(self, plan: Plan) -> None:
        """Refuse a plan that holds more or less than belongs to it."""
        if bool(plan.mixing.laws) != self.has_dummies:
            raise InvalidInput("plan", NO_MIXERS, self.code, NEW_PLAN)

    @abstractmethod
    def check_mixers(self, plan: Plan) -> None:
        """Refuse a plan in which no mixer adds noise, where one is needed."""

    @abstractmethod
    def check_table(self) -> None:
        """Refuse a data holder's table, where responses of it would have no noise."""

    # Batches.

    @abstractmethod
    def crowd_needed(self, plan: Plan) -> int:
        """How many people the promise needs."""

    @abstractmethod
    def planned_crowd(self, minimum: int) -> int | None:
        """How many people the noise is planned for; None where it is the same for any number."""

    @abstractmethod
    def smallest_batch(self, plan: Plan) -> int:
        """How many people a batch of a collector must have: with fewer it is never released."""

    @property
    @abstractmethod
    def signed_suffix(self) -> str:
        """The ending of the file beside a batch with what was signed about it."""

    @abstractmethod
    def chain(self, mixers: int) -> int:
        """How many of a survey's mixers add dummies, and sign its plan; 0 where none does."""


Kind = TypeVar("Kind", bound=Mechanism)
Part = TypeVar("Part")
_KNOWN: dict[str, Mechanism] = {}


def register(mechanism: Kind) -> Kind:
    """Make a mechanism known by its code; one of the same code is replaced."""
    _KNOWN[mechanism.code] = mechanism
    return mechanism


def mechanism_of(code: str | Mechanism) -> Mechanism:
    """The mechanism with this code.

    >>> from krand.survey.mechanisms import mechanism_of
    >>> mechanism_of("mixers").signed_suffix
    '.chain.json'
    """
    if str(code) not in _KNOWN:
        rule = "must be one of " + ", ".join(f'"{name}"' for name in _KNOWN)
        raise InvalidInput("noise", rule, code, 'for example noise = "mixers"')
    return _KNOWN[str(code)]


def mechanisms() -> Sequence[Mechanism]:
    """All that are known, those of krand first."""
    return tuple(_KNOWN.values())


@dataclass(frozen=True, slots=True)
class Parts(Generic[Part]):
    """What another room knows of every mechanism, by its code."""

    room: str
    known: dict[str, Part] = field(default_factory=dict)

    def register(self, mechanism: Mechanism, part: Part) -> None:
        """Make a mechanism known in this room; a part of the same code is replaced."""
        self.known[mechanism.code] = part

    def of(self, mechanism: Mechanism | str) -> Part:
        """The part of a mechanism, or of the one with this code."""
        code, package = str(mechanism), f"krand.{self.room}.mechanisms"
        if code not in self.known:
            rule, hint = f"must be registered in {package}", f"call register of {package} with it"
            raise InvalidInput("noise", rule, code, hint)
        return self.known[code]

    def all(self) -> tuple[Part, ...]:
        """All that are known, those of krand first."""
        return tuple(self.known.values())
