"""Policy, reports, promise, precision: the frozen values that planning speaks in."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.showing import Shown, at_most, number, one_line, rounded_up

if TYPE_CHECKING:
    from krand.policy import Policy

DUMMY_GRID = 2**63
"""Probabilities of numbers of dummies are w/2^63: mixers compare integers, too."""
NOISE_GRID = 2**32
"""Noise is a/2^32: the randomizer compares integers, so it flips with exactly that probability."""

BOUND_DIGITS = 4
"""Of δ, η and ε₀ where they are stated, rounded up."""
Z95 = 1.959963984540054
"""Standard deviations on each side of a 95 % interval."""
MAX_CROWD = 10**12
MAX_BITS = 10**6
"""Of one person in all: the positions of a survey, whatever its linkage, obey it too."""
MAX_COPIES = 10**4
MAX_ROUNDS = 10**4


class Method(StrEnum):
    """Which argument gives a promise's bounds: a code, which results carry.

    `krand.wording.promises` has the words, docs/explanation/proofs.md the arguments. They prove δ;
    η always follows from it.

    >>> from krand.promise import Method
    >>> str(Method.EXACT_BITS)
    'exact-bits'
    """

    EXACT_BITS = "exact-bits"
    """Bits reported apart: the count's own law, for every background."""
    PRIVACY_BLANKET = "privacy-blanket"
    """Whole records, for every background."""
    DUMMIES = "dummies"
    """Dummies of one honest mixer: the exact law of the counts, whoever else works together."""
    LOCAL_NOISE = "local-noise"
    """Each report protects itself."""
    NONE = "none"
    """Nothing is promised: a plan for tests."""


class Assumption(StrEnum):
    """What a promise rests on: a code; its numbers are the promise's own.

    >>> from krand import ResponseFormat, assess
    >>> for code in assess(ResponseFormat(bits=4), 0.01, 10_000, epsilon=1).assumptions:
    ...     print(code)
    honest-crowd
    collector-keeps-secrets
    participation-visible
    """

    HONEST_CROWD = "honest-crowd"
    """`minimum_crowd - colluding` honest people respond in the same batch."""
    COLLECTOR_KEEPS_SECRETS = "collector-keeps-secrets"
    """The collector forgets who, when and in which order, and does not work with the analyst."""
    DATA_HOLDER_KEEPS_SECRETS = "data-holder-keeps-secrets"
    """In its place where a data holder, who knows all answers, randomizes a table."""
    ONE_HONEST_MIXER = "one-honest-mixer"
    """At least one mixer of the plan adds its dummies, forgets them, and tells nobody the order."""
    SEALS_HOLD = "seals-hold"
    """Nobody opens a sealed message (HPKE) without its key."""
    PARTICIPATION_VISIBLE = "participation-visible"
    """Answers are hidden, not that somebody took part."""
    LIMITED_ANSWERS = "limited-answers"
    """No true answer sets more bits than the format allows."""


class Linkage(StrEnum):
    """What travels together: every bit alone, or the whole record.

    >>> from krand import Linkage, ResponseFormat
    >>> ResponseFormat(bits=4, linkage="record").linkage is Linkage.RECORD
    True
    """

    BIT = "bit"
    RECORD = "record"


def check_whole(field: str, value: object, low: int, high: int) -> None:
    """A whole number in a range, or an error that says so."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(field, f"must be a whole number from {low:,} to {high:,}", value)


def _inside(field: str, value: object, low: float, high: float) -> None:
    ok = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not ok or not low < float(value) < high:  # type: ignore[arg-type]
        span = (
            f"above {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}, both excluded"
        )
        raise InvalidInput(field, f"must be a finite number {span}", value)


def check_noise(q: float) -> None:
    """0 < q < 1/2, or an error that says so."""
    _inside("noise", q, 0.0, 0.5)


def check_crowd(crowd: int) -> None:
    """2 … 10^12 users, or an error that says so."""
    check_whole("crowd", crowd, 2, MAX_CROWD)


@dataclass(frozen=True, slots=True)
class FreeBits:
    """Bits that can take any value."""

    bits: int

    @property
    def options(self) -> int:
        return self.bits

    @property
    def sensitivity(self) -> int:
        return self.bits

    @property
    def is_sparse(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most `set_bits` ones among `options` positions."""

    set_bits: int
    options: int

    @property
    def sensitivity(self) -> int:
        return min(self.options, 2 * self.set_bits)

    @property
    def is_sparse(self) -> bool:
        return 2 * self.set_bits < self.options


@dataclass(frozen=True, slots=True)
class ExactlyOne:
    """One-hot: exactly one of `options` positions is set."""

    options: int

    def __post_init__(self) -> None:
        if self.options < 2:
            raise InvalidInput("options", "must be at least 2", self.options)

    @property
    def sensitivity(self) -> int:
        return 2

    @property
    def is_sparse(self) -> bool:
        return True


Block = FreeBits | AtMost | ExactlyOne
"""A part of a record, and what a true answer may look like there."""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """What one user sends: L bits, linked or not, k noisy copies, in each of some rounds.

    `max_set_bits` promises that a true answer never has more than that many ones; `structure`
    does so part by part, for records made of several questions.

    >>> from krand import ResponseFormat
    >>> ResponseFormat(bits=40, max_set_bits=3).sensitivity
    6
    """

    bits: int
    _: KW_ONLY
    linkage: Linkage = Linkage.BIT
    copies: int = 1
    max_set_bits: int | None = None
    rounds: int = 1
    structure: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        check_whole("bits", self.bits, 1, MAX_BITS)
        check_whole("copies", self.copies, 1, MAX_COPIES)
        check_whole("rounds", self.rounds, 1, MAX_ROUNDS)
        if self.max_set_bits is not None:
            check_whole("max_set_bits", self.max_set_bits, 1, self.bits)
        object.__setattr__(self, "linkage", Linkage(self.linkage))
        self._check_structure()

    def _check_structure(self) -> None:
        if not self.structure:
            return
        if self.max_set_bits is not None:
            raise InvalidInput(
                "max_set_bits", "must be left out where a structure says it", self.max_set_bits
            )
        positions = sum(block.options for block in self.structure)
        if positions != self.bits:
            raise InvalidInput("structure", f"must have {self.bits:,} positions", positions)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The parts of a record: those given, or one for all bits."""
        if self.structure:
            return self.structure
        if self.max_set_bits is None or 2 * self.max_set_bits >= self.bits:
            return (FreeBits(self.bits),)
        return (AtMost(self.max_set_bits, self.bits),)

    @property
    def sensitivity(self) -> int:
        """t: how many bits one user's change of mind can touch."""
        return sum(block.sensitivity for block in self.blocks)

    @property
    def is_sparse(self) -> bool:
        """Whether some part cannot take every value."""
        return any(block.is_sparse for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise(Shown):
    """What a noise promises: proven for every background, in upper bounds.

    >>> from krand import ResponseFormat, assess
    >>> assess(ResponseFormat(bits=4), noise=0.01, crowd=10_000, epsilon=1)
    <Promise: ε = 1, δ ≤ 1.129×10⁻⁷, η ≤ 6.656×10⁻⁶, 10,000 people>
    """

    epsilon: float
    delta: float
    eta: float
    local_epsilon: float
    """ε₀: what one response, seen alone, may reveal if collector and analyst collude; infinite
    where devices add no noise."""
    method: Method
    crowd: int
    colluding: int
    assumptions: tuple[Assumption, ...]

    def __repr__(self) -> str:
        delta, eta = at_most(self.delta), at_most(self.eta)
        promised = f"ε = {at_most(self.epsilon)}, δ ≤ {delta}, η ≤ {eta}"
        return one_line("Promise", promised, f"{self.crowd:,} people")

    def rounded(self, policy: Policy) -> Promise:
        """The same in few digits, never better, and kept if it is kept.

        What was just kept is stated as it was asked for: δ = 10⁻⁶, not 9.991·10⁻⁷.
        """
        return replace(
            self,
            delta=_stated(self.delta, policy.delta),
            eta=_stated(self.eta, policy.eta),
            local_epsilon=_stated(self.local_epsilon, policy.max_local_epsilon),
        )


def _stated(bound: float, asked: float | None) -> float:
    if asked is not None and JUST_KEPT * asked < bound <= asked:
        return asked
    return rounded_up(bound, BOUND_DIGITS)


JUST_KEPT = 0.95
"""A bound above this part of what the policy asks for counts as just kept."""
READABLE = 0.15
"""The widest margin of error, as a part of the people, with which a count says anything."""


def cells_drown(half_width: float, people: int, cells: int) -> bool:
    """Whether the margin of a cell is more than half of the people whom a cell has on average.

    A share of all people says little about a table of many cells, each of a few people.
    """
    return 2 * cells * half_width > people


@dataclass(frozen=True, slots=True)
class Precision:
    """σ of an estimated count, known before any data: Var M = Npq whatever the answers (001 §4)."""

    sigma: float
    half_width_95: float
    half_width_percent: float

    @property
    def readable(self) -> bool:
        """Whether a count that is known so well says anything."""
        return self.half_width_percent <= 100 * READABLE


@dataclass(frozen=True)
class DummyLaw:
    """How many dummies a mixer adds to one position: 0 … 2R, symmetric around R.

    >>> law = DummyLaw((3 * 2**60, 2**60, 2**60 + 2**59))  # of R, R + 1 and R + 2
    >>> law.reach, law.mean, law.variance
    (2, 2, 1.75)
    """

    half: tuple[int, ...]
    """Weights of R, R + 1, …, 2R, in units of 2^-63; those below R mirror them."""

    def __post_init__(self) -> None:
        if min(self.half) < 1:
            raise InvalidInput("weights", "must be at least 1", min(self.half))
        if self.half[0] + 2 * sum(self.half[1:]) != DUMMY_GRID:
            raise InvalidInput("weights", "must add up to 2^63", sum(self.weights))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of thousands of numbers, and a plan of 1,500 questions asks for it 300,000 times."""
        return hash(self.half)

    @property
    def weights(self) -> tuple[int, ...]:
        """Of 0, 1, …, 2R."""
        return (*self.half[:0:-1], *self.half)

    @property
    def reach(self) -> int:
        """R: the largest distance from the mean."""
        return len(self.half) - 1

    @property
    def mean(self) -> int:
        """R dummies on average, which the analyst subtracts."""
        return self.reach

    @cached_property
    def variance(self) -> float:
        """σ² of the number of dummies, and so of a count."""
        return 2 * sum(x * x * w for x, w in enumerate(self.half)) / DUMMY_GRID


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisePlan(Shown):
    """The smallest honest noise for a policy.

    >>> from krand import Policy, ResponseFormat, plan_noise
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> round(plan.precision.half_width_95)  # ± so many people, at 95 %
    14
    """

    policy: Policy
    responses: ResponseFormat
    noise_numerator: int
    promise: Promise
    precision: Precision

    def __repr__(self) -> str:
        known = f"± {number(self.precision.half_width_95, 3)} people at 95 %"
        kept = f"ε = {at_most(self.promise.epsilon)}, δ ≤ {at_most(self.promise.delta)}"
        return one_line("NoisePlan", f"q = {number(self.noise)}", known, kept)

    @property
    def noise(self) -> float:
        """q = a/2^32, exact in binary floating point."""
        return self.noise_numerator / NOISE_GRID
