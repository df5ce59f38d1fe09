"""The least noise of mixers for many questions: shape, division and scale of the dummies' laws.

Weights ∝ exp(-|x/s|^p) are two-sided geometric at p = 1 and Gaussian at p = 2; which shape needs
least depends on how many positions one person can change. Σ w·σ² is least where σ² ∝ √(t/w) for
Gaussian-like noise and σ² ∝ (t/w)^⅔ for geometric noise (see `division` and `curator`), so the
exponent is searched between the two, the shape between 1 and 2, and the scale is the least one at
which the exact composition keeps the promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from krand.accounting.bounds import Effort
from krand.accounting.composition import golden_minimum
from krand.accounting.coupling import NEAREST
from krand.accounting.curator import divided_curator
from krand.accounting.division import Share
from krand.accounting.dummies import DummyBound, Parts, dummy_law, parts_of, tapered
from krand.accounting.search import smallest_passing
from krand.errors import InternalError, InvalidInput
from krand.promise import Assumption, Assurance, DummyLaw, Guarantee, Policy

__all__ = ["DividedDummies", "divide_dummies", "dummy_guarantee", "most_sigmas", "quick_dummies"]

EXPONENTS = (1 / 2, 7 / 12, 2 / 3)
"""Of t/w in σ²."""
FLATTEST, ROUNDEST = 1.05, 2.0
"""Shapes that are tried beside the geometric one."""
SHAPE_WIDTH = 0.05
FEW_POSITIONS, USUAL_SHAPE = 8, 1.75
"""Where one person can change no more positions, geometric noise is usually best, otherwise noise
of this shape."""
LOOSE = 1.05
"""How much more Σ w·σ² counts where σ² of one share is bounded: scales are rounded."""
ENDS_OF_SHAPES = (1.0, 2.0)
WIDE, FURTHEST, BISECTIONS = 8, 40, 30
"""Scales from which noise is nearly continuous; how many scales of it count; steps of a search."""
ENDS = 0.003
"""The part of δ that the ends of a tapered law may take."""
GEOMETRIC_ENDS = (0.9, 0.4, 0.05)
"""The same for geometric noise: the more they take, the fewer dummies; σ grows little."""
NO_MORE = 1.0005
"""How much more σ fewer dummies may cost."""
GEOMETRIC_STEPS = 64
"""Losses of divided geometric noise are whole multiples of this part of the largest."""
MOST_RATIOS = 12
"""Of more different scales some are made alike: next to no precision, and much less time."""
SHARES = {Effort.QUICK: 1e-3, Effort.FULL: 1e-5}
"""How near the least scale is found."""
SCALE_GRID = 2**20
"""Scales are whole numbers of this part of 1, so that the least one can be searched."""
LARGEST_SCALE = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedDummies:
    """The least noise of one mixer that keeps the promise, whoever else works together."""

    policy: Policy
    shares: tuple[Share, ...]
    rounds: int
    laws: tuple[DummyLaw, ...]
    shape: float
    guarantee: Guarantee

    @property
    def sigmas(self) -> tuple[float, ...]:
        """σ of a count of every share, for one mixer and one batch."""
        return tuple(math.sqrt(law.variance) for law in self.laws)


def divide_dummies(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> DividedDummies:
    """The laws of dummies of every share with the least Σ w·σ² that keep the policy.

    >>> from krand.promise import Policy
    >>> policy = Policy(epsilon=1, delta=1e-6, minimum_crowd=2)
    >>> divided = divide_dummies(policy, [Share(2)])  # one choice of several
    >>> round(divided.sigmas[0], 2), divided.laws[0].reach
    (2.8, 27)
    """
    if not shares:
        raise InvalidInput("shares", "must not be empty", list(shares))
    search = _Search(policy=policy, shares=tuple(shares), rounds=rounds)
    laws, shape = search.best()
    return DividedDummies(
        policy=policy,
        shares=tuple(shares),
        rounds=rounds,
        laws=laws,
        shape=shape,
        guarantee=dummy_guarantee(policy, shares, laws, rounds),
    )


def dummy_guarantee(
    policy: Policy,
    shares: Sequence[Share],
    laws: Sequence[DummyLaw],
    rounds: int = 1,
    surplus: float = 0.0,
) -> Guarantee:
    """What exactly these laws promise, if one mixer is honest.

    `surplus` is the probability that dummies outnumber their padding in any round.
    """
    parts = _parts(shares, laws, rounds)
    bound = DummyBound(parts=parts, epsilon=policy.epsilon, surplus=surplus)
    delta, eta = bound.delta(Effort.REPORT), bound.eta(Effort.REPORT)
    return Guarantee(
        epsilon=policy.epsilon,
        delta=delta,
        eta=eta,
        local_epsilon=math.inf,
        assurance=Assurance.CERTIFIED,
        method=bound.method if policy.eta is None else bound.eta_method,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=(
            Assumption.ONE_HONEST_MIXER,
            Assumption.SEALS_HOLD,
            Assumption.PARTICIPATION_VISIBLE,
        ),
    )


def quick_dummies(
    policy: Policy, shares: Sequence[Share], rounds: int = 1
) -> tuple[DummyLaw, ...] | None:
    """Laws of one usual shape that keep the policy, which is proven; rarely the best ones.

    None if the proof fails, which says nothing about other laws.
    """
    search = _Search(policy=policy, shares=tuple(shares), rounds=rounds)
    total = sum(share.sensitivity for share in shares) * rounds
    few = total <= FEW_POSITIONS
    shape, ends = (1.0, GEOMETRIC_ENDS[-1]) if few else (USUAL_SHAPE, ENDS)
    laws = search.quick_laws(shape, ends)
    return laws if search.is_kept(laws) else None


def most_sigmas(shares: Sequence[Share], laws: Sequence[DummyLaw]) -> tuple[float, ...]:
    """σ of every share that the best laws do not exceed, if these laws keep the same policy.

    The best ones have no larger Σ w·σ², and divide it by one of EXPONENTS.
    """
    pairs = list(zip(shares, laws, strict=True))
    cost = LOOSE * math.fsum(share.weight * law.variance for share, law in pairs)
    divisions = [_variances(shares, cost, e, shape) for e in EXPONENTS for shape in ENDS_OF_SHAPES]
    tops = zip((law.variance for law in laws), *divisions, strict=True)
    return tuple(math.sqrt(max(variances)) for variances in tops)


def _variances(
    shares: Sequence[Share], cost: float, exponent: float, shape: float
) -> tuple[float, ...]:
    """σ² of every share, if Σ w·σ² is the cost and scales are ∝ (t/w)^(exponent/2)."""
    ratios = [(share.sensitivity / share.weight) ** (exponent / 2) for share in shares]
    weights = [share.weight for share in shares]

    def variances(scale: float) -> list[float]:
        known = {ratio: _variance(shape, scale * ratio) for ratio in set(ratios)}
        return [known[ratio] for ratio in ratios]

    low, high = 0.0, 1.0
    while _total(weights, variances(high)) < cost:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        enough = _total(weights, variances(middle)) >= cost
        low, high = (low, middle) if enough else (middle, high)
    return tuple(variances(high))


def _total(weights: Sequence[float], variances: Sequence[float]) -> float:
    return math.fsum(w * v for w, v in zip(weights, variances, strict=True))


def _variance(shape: float, scale: float) -> float:
    """σ² of weights ∝ exp(-|x/s|^p) on whole numbers."""
    if scale > WIDE:
        return float(scale**2 * math.exp(gammaln(3 / shape) - gammaln(1 / shape)))
    if scale <= 0:
        return 0.0
    x = np.arange(1, FURTHEST * WIDE, dtype=np.float64)
    mass = np.exp(-((x / scale) ** shape))
    return float(2 * (x * x * mass).sum() / (1 + 2 * mass.sum()))


def _parts(shares: Sequence[Share], laws: Sequence[DummyLaw], rounds: int) -> Parts:
    return parts_of(laws, [share.sensitivity * rounds for share in shares])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """All laws by shape, exponent and one scale: that of the share with the least noise."""

    policy: Policy
    shares: tuple[Share, ...]
    rounds: int

    def best(self) -> tuple[tuple[DummyLaw, ...], float]:
        """The laws with the least Σ w·σ², and their shape."""
        geometric = self._geometric(self._best_exponent(1.0, GEOMETRIC_ENDS[-1]))
        shape = golden_minimum(self._cost_of_shape, FLATTEST, ROUNDEST, SHAPE_WIDTH)
        best = self._laws(shape, self._best_exponent(shape, ENDS), ENDS)
        if self._cost(geometric) <= self._cost(best):
            return geometric, 1.0
        return best, shape

    def quick_laws(self, shape: float, ends: float) -> tuple[DummyLaw, ...]:
        """Of one shape, near the least scale."""
        return self._laws(shape, EXPONENTS[0], ends, Effort.QUICK)

    def is_kept(self, laws: tuple[DummyLaw, ...]) -> bool:
        """Whether these laws are proven to keep the policy."""
        return self._excess(laws, Effort.FULL) <= 0

    def _best_exponent(self, shape: float, ends: float) -> float:
        exponents = self._exponents()
        if len(exponents) == 1:
            return exponents[0]
        costs = {e: self._cost(self._laws(shape, e, ends, Effort.QUICK)) for e in exponents}
        return min(exponents, key=lambda exponent: costs[exponent])

    def _exponents(self) -> tuple[float, ...]:
        alike = len({share.sensitivity / share.weight for share in self.shares}) == 1
        return EXPONENTS[:1] if alike else EXPONENTS

    def _cost_of_shape(self, shape: float) -> float:
        return self._cost(self._laws(shape, EXPONENTS[0], ENDS, Effort.QUICK))

    def _cost(self, laws: Sequence[DummyLaw]) -> float:
        pairs = zip(self.shares, laws, strict=True)
        return math.fsum(share.weight * law.variance for share, law in pairs)

    def _geometric(self, exponent: float) -> tuple[DummyLaw, ...]:
        """As few dummies as cost next to no precision."""
        found = [self._laws(1.0, exponent, ends) for ends in GEOMETRIC_ENDS]
        limit = NO_MORE**2 * min(self._cost(laws) for laws in found)
        return next(laws for laws in found if self._cost(laws) <= limit)

    def _laws(
        self, shape: float, exponent: float, ends: float, effort: Effort = Effort.FULL
    ) -> tuple[DummyLaw, ...]:
        """The least scale that keeps the policy; with less effort one that is near it."""
        ratios = self._ratios(shape, exponent)

        def laws(scale: int) -> tuple[DummyLaw, ...]:
            scales = [scale / SCALE_GRID * ratio for ratio in ratios]
            made = {one: self._law(shape, one, ends) for one in set(scales)}
            return tuple(made[one] for one in scales)

        seen: dict[tuple[int, Effort], float] = {}

        def excess(scale: int, full: bool) -> float:
            asked = scale, effort if full and effort is not Effort.QUICK else Effort.NEAR
            if asked not in seen:
                seen[asked] = self._excess(laws(scale), asked[1])
            return seen[asked]

        guess = self._guess(shape, ratios)
        ceiling = max(LARGEST_SCALE * SCALE_GRID, guess)
        share = SHARES[effort]
        least = smallest_passing(
            excess, guess, 1, ceiling, must_fall=False, share=share, near=max(share, 1e-4)
        )
        return laws(least)

    def _ratios(self, shape: float, exponent: float) -> list[float]:
        """Each share's scale, relative to the least: ∝ (t/w)^(exponent/2).

        Geometric losses are 1/s; they become whole parts of the largest, to lie on one grid.
        """
        wanted = [(share.sensitivity / share.weight) ** (exponent / 2) for share in self.shares]
        ratios = _alike([one / min(wanted) for one in wanted])
        if shape == 1 and max(ratios) > 1:
            return [GEOMETRIC_STEPS / max(1, round(GEOMETRIC_STEPS / r)) for r in ratios]
        return ratios

    def _law(self, shape: float, scale: float, ends: float) -> DummyLaw:
        total = sum(share.sensitivity for share in self.shares) * self.rounds
        return dummy_law(shape, scale, _reach(shape, scale, ends * self._limit() / total))

    def _limit(self) -> float:
        """What δ may be; where η is promised, what it may be near ε."""
        policy = self.policy
        if policy.delta is not None:
            return policy.delta
        assert policy.eta is not None
        return policy.eta * -math.expm1((NEAREST - 1) * policy.epsilon)

    def _excess(self, laws: tuple[DummyLaw, ...], effort: Effort) -> float:
        """log(bound/limit): the policy is kept where this is not positive."""
        bound = DummyBound(
            parts=_parts(self.shares, laws, self.rounds), epsilon=self.policy.epsilon
        )
        ways = (bound.delta if self.policy.eta is None else bound.eta)(effort)
        limit = self.policy.delta if self.policy.eta is None else self.policy.eta
        assert limit is not None
        return math.log(ways.upper / limit) if ways.upper > 1e-300 else -700.0

    def _guess(self, shape: float, ratios: Sequence[float]) -> int:
        """The scale at which σ is that of a trusted curator."""
        sigmas = _curator_sigmas(self.policy, self.shares, self.rounds)
        spread = math.exp((gammaln(3 / shape) - gammaln(1 / shape)) / 2)  # σ/s of the power law
        scales = [sigma / spread / ratio for sigma, ratio in zip(sigmas, ratios, strict=True)]
        return max(1, round(min(scales) * SCALE_GRID))


@lru_cache(maxsize=4)
def _curator_sigmas(policy: Policy, shares: tuple[Share, ...], rounds: int) -> tuple[float, ...]:
    return tuple(divided_curator(policy, shares, rounds).sigmas)


def _alike(ratios: Sequence[float]) -> list[float]:
    """The ratios themselves, or the nearest of MOST_RATIOS if there are more of them."""
    if len(set(ratios)) <= MOST_RATIOS:
        return list(ratios)
    step = math.log(max(ratios)) / (MOST_RATIOS - 1)
    return [math.exp(step * round(math.log(ratio) / step)) for ratio in ratios]


def _reach(shape: float, scale: float, end: float) -> int:
    """The least R at which the end of the law has at most this probability."""
    fits = _end_of(shape, scale)
    low, high = 0, 1
    while fits(high) > end:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) > end else (low, middle)
    return high


def _end_of(shape: float, scale: float) -> Callable[[int], float]:
    """The probability of the end as a function of R."""

    def end(reach: int) -> float:
        if reach > LARGEST_SCALE:
            raise InternalError("a law of dummies without end")
        x = np.arange(reach + 1, dtype=np.float64)
        mass = tapered(shape, scale, x, reach)
        return float(mass[-1] / (2 * mass.sum() - mass[0]))

    return end
