"""One promise for many questions: how the noise is divided among them.

Every bit is a mechanism of its own, and a survey is their composition. A bit with noise q costs
about 1/(N·v) of privacy and has variance N·v, v = pq/(p-q)². With t bits that one person can
change and weight w for its precision, Σ w·v is least for a given cost Σ t/v where v ∝ √(t/w): what
is asked in more bits, or deserves less precision, gets more noise. For small q this is q ∝ √(t/w).
The common scale is the least one at which the exact composition keeps the promise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from krand.accounting.baselines import gaussian_shift
from krand.accounting.bit_bounds import BitBound
from krand.accounting.bounds import Effort, log_excess
from krand.accounting.calibration import SEARCHED, SMALLEST_CHECKED, assumptions
from krand.accounting.channel import local_epsilon
from krand.accounting.search import small_passing, smallest_passing
from krand.accounting.suggestions import largest_useful_noise
from krand.errors import CannotMeet, InvalidInput
from krand.promise import NOISE_GRID, Policy, Promise, ResponseFormat

LAST = NOISE_GRID // 2 - 1


Distance = Callable[[tuple[int, ...]], float]


def _none(_: tuple[int, ...]) -> float:
    """What is run is the composition."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """Bits that are asked in the same way: how many one person can change, and what they weigh."""

    sensitivity: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.sensitivity < 1:
            raise InvalidInput("sensitivity", "must be at least 1", self.sensitivity)
        if not 0 < self.weight < math.inf:
            raise InvalidInput("weight", "must be a finite number above 0", self.weight)

    @property
    def ratio(self) -> float:
        """√(t/w): the noise it gets, relative to the others."""
        return math.sqrt(self.sensitivity / self.weight)


@dataclass(frozen=True, slots=True)
class DividedNoise:
    """The least noise of every share that keeps the promise together with all others."""

    numerators: tuple[int, ...]
    promise: Promise


def divide_noise(
    policy: Policy, shares: Sequence[Share], rounds: int = 1, distance: Distance = _none
) -> DividedNoise:
    """The least noise a/2^32 of every share, divided by √(t/w), that keeps the policy.

    `distance` says how far, in total variation, what is run with some noises differs from their
    composition (see `krand.accounting.bounds`). It is part of what is promised.
    """
    if not shares:
        raise InvalidInput("shares", "must not be empty", list(shares))
    scale = _Scale(policy, tuple(shares), ResponseFormat(1, rounds=rounds).rounds, distance)
    base = smallest_passing(
        scale.excess,
        scale.guess(),
        scale.floor(),
        LAST,
        must_fall=policy.delta is not None and policy.delta >= SMALLEST_CHECKED,
        grid=SEARCHED,
    )
    if base is None:
        raise CannotMeet(
            f"no noise on the grid keeps ε = {policy.epsilon:g} at a sensitivity of"
            f" {scale.sensitivity:,} positions"
        )
    numerators = scale.numerators(base)
    promise = assess_shares(policy, shares, numerators, rounds, distance(numerators))
    return DividedNoise(numerators, promise)


def quick_division(
    policy: Policy, shares: Sequence[Share], rounds: int, distance: Distance
) -> tuple[tuple[int, ...], float] | None:
    """Noise of every share, a few percent above the least, and the δ or η proven for it.

    The noise is divided as by `divide_noise`. None if none is found at once.
    """
    scale = _Scale(policy, tuple(shares), rounds, distance)
    found: dict[int, float] = {}

    def proven(base: int) -> float:
        found[base] = scale.excess_by(base, Effort.QUICK)
        return found[base]

    base = small_passing(
        lambda base: scale.excess_by(base, Effort.NEAR),
        proven,
        scale.guess(),
        scale.floor(),
        LAST,
    )
    if base is None:
        return None
    return scale.numerators(base), min(policy.limit, policy.limit * math.exp(found[base]))


def can_be_met(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> bool:
    """Whether noise that leaves every count more precise than half the crowd keeps the policy."""
    scale = _Scale(policy, tuple(shares), rounds, _none)
    largest = largest_useful_noise(ResponseFormat(1), policy.minimum_crowd) * (1 - 1e-9)
    base = int(largest * NOISE_GRID)
    try:
        return base >= scale.floor() and scale.excess_by(base, Effort.QUICK) <= 0
    except CannotMeet:  # no noise keeps the cap on ε₀
        return False


@dataclass(frozen=True, slots=True)
class _Scale:
    """All noises by one number: that of the share that gets the most."""

    policy: Policy
    shares: tuple[Share, ...]
    rounds: int
    distance: Distance

    @property
    def sensitivity(self) -> int:
        return sum(share.sensitivity for share in self.shares)

    def numerators(self, base: int) -> tuple[int, ...]:
        """v ∝ √(t/w), rounded up to the grid, the largest share at `base`."""
        largest = max(share.ratio for share in self.shares)
        top = _spread(base / NOISE_GRID)
        return tuple(
            base if share.ratio == largest else _numerator(top * share.ratio / largest)
            for share in self.shares
        )

    def excess(self, base: int, full: bool) -> float:
        """As `excess_by`, for a search."""
        return self.excess_by(base, Effort.FULL if full else Effort.NEAR)

    def excess_by(self, base: int, effort: Effort) -> float:
        """log(bound/limit): the policy is met where this is not positive."""
        policy = self.policy
        numerators = self.numerators(base)
        distance = self.distance(numerators)
        bound = _bound(policy, self.shares, numerators, self.rounds, distance)
        found = (bound.delta if policy.eta is None else bound.eta)(effort)
        return log_excess(found, policy)

    def guess(self) -> int:
        """Where to begin: the noise whose cost is that of the Gaussian mechanism."""
        largest = max(share.ratio for share in self.shares)
        cost = sum(share.sensitivity * largest / share.ratio for share in self.shares)
        shift = gaussian_shift(self.policy)
        return _numerator(cost * self.rounds / (self.policy.honest * shift**2))

    def floor(self) -> int:
        """The least base worth trying: 1, or what a cap on ε₀ demands."""
        cap = self.policy.local_limit
        if self._local(1) <= cap:
            return 1
        low, high = 1, LAST
        if self._local(high) > cap:
            raise CannotMeet(f"no noise on the grid keeps ε₀ at or below {cap:g}")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._local(middle) <= cap else (middle, high)
        return high

    def _local(self, base: int) -> float:
        return composed_local_epsilon(self.shares, self.numerators(base), self.rounds)


def _spread(q: float) -> float:
    """v = pq/(p-q)²: the variance of an estimated count is N·v."""
    return q * (1 - q) / (1 - 2 * q) ** 2


def _numerator(spread: float) -> int:
    """The noise with this spread, rounded up to the grid: q = ½(1 - 1/√(1+4v))."""
    root = math.sqrt(1 + 4 * spread)
    q = 2 * spread / (root * (root + 1))  # without cancellation
    return min(LAST, max(1, math.ceil(q * NOISE_GRID)))


def composed_local_epsilon(
    shares: Sequence[Share], numerators: Sequence[int], rounds: int
) -> float:
    """ε₀ = Σ t·ln(p/q): what is left if collector and analyst collude."""
    return rounds * math.fsum(
        local_epsilon(numerator / NOISE_GRID, share.sensitivity)
        for share, numerator in zip(shares, numerators, strict=True)
    )


def assess_shares(
    policy: Policy,
    shares: Sequence[Share],
    numerators: Sequence[int],
    rounds: int = 1,
    distance: float = 0.0,
) -> Promise:
    """What exactly these noises promise to a member of the policy's crowd.

    `distance` bounds, in total variation, how far what is run differs from the composition.
    """
    bound = _bound(policy, shares, numerators, rounds, distance)
    return Promise(
        epsilon=policy.epsilon,
        delta=bound.delta(Effort.FULL),
        eta=bound.eta(Effort.FULL),
        local_epsilon=composed_local_epsilon(shares, numerators, rounds),
        method=bound.method if policy.eta is None else bound.method.converted,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=assumptions(ResponseFormat(1)),
    )


def _bound(
    policy: Policy,
    shares: Sequence[Share],
    numerators: Sequence[int],
    rounds: int,
    distance: float,
) -> BitBound:
    """The bits that one person can change, each with its own noise; even one bit is composed."""
    counts: Counter[float] = Counter()
    for share, numerator in zip(shares, numerators, strict=True):
        counts[numerator / NOISE_GRID] += share.sensitivity * rounds
    return BitBound(
        noises=tuple(counts.items()),
        crowd=policy.honest,
        epsilon=policy.epsilon,
        distance=distance,
    )
