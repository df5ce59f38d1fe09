"""The least noise of mixers for many questions: shape, division, scale and length of the laws.

Weights ∝ exp(-|x/s|^p) are two-sided geometric at p = 1 and Gaussian at p = 2; which shape needs
least depends on how many positions one person can change. Σ w·σ² is least where σ² ∝ √(t/w) for
Gaussian-like noise and σ² ∝ (t/w)^⅔ for geometric noise (see `division` and `curator`), so the
exponent is searched between the two, the shape between 1 and 2, how much of δ the ends of a law may
take, which decides its length R, and the scale, which is the least one at which the exact
composition keeps the promise.

All of them are taken from grids that are far coarser than errors of rounding, and the weights have
the same bits everywhere (`portable`): the same survey gets the same laws on every processor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from scipy.special import gammainccinv, gammaln

from krand.accounting.bounds import LOG_NOTHING, Effort, delta_limit, log_excess
from krand.accounting.curator import divided_curator
from krand.accounting.division import Share
from krand.accounting.dummy_bounds import (
    TAPER,
    DummyBound,
    Parts,
    dummy_law,
    negligible_part,
    parts_of,
)
from krand.accounting.search import smallest_passing
from krand.accounting.suggestions import cannot_meet, nearest_promises
from krand.errors import CannotMeet, InvalidInput
from krand.promise import DUMMY_GRID, Assumption, DummyLaw, Method, Policy, Promise

EXPONENTS = (1 / 2, 7 / 12, 2 / 3)
"""Of t/w in σ²."""
SHAPES = tuple(round(1.05 + 0.05 * step, 2) for step in range(20))
"""Those that are tried beside the geometric one, 1.05 to 2."""
FEW_POSITIONS, USUAL_SHAPE = 8, 1.75
"""Where one person can change no more positions, geometric noise is usually best, otherwise noise
of this shape."""
LOOSE = 1.05
"""How much more Σ w·σ² counts where σ² of one share is bounded: scales are rounded."""
ENDS_OF_SHAPES = (1.0, 2.0)
WIDE, FURTHEST, BISECTIONS = 8, 40, 30
"""Scales from which noise is nearly continuous; how many scales of it count; steps of a search."""
GEOMETRIC_ENDS = (0.9, 0.4, 0.05)
"""The part of δ that the ends of geometric laws may take: the more, the fewer dummies."""
TAILS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.1, 0.01, 1e-3, 1e-5, 1e-8)
"""The same for laws that taper: what lies beyond the ends without it, as a part of δ. The last one
leaves the shape as it is; a law that ends earlier has fewer dummies, and is better at times."""
USUAL_TAIL = 3.0
TAPERED_ENDS = 0.003
"""The part of δ that the ends themselves may take then."""
NO_MORE = 1.001
"""How much more σ fewer dummies may cost."""
CLEARLY = 1e-6
"""A later candidate wins if it is better by more than this, relatively: no rounding decides."""
GEOMETRIC_STEPS = 64
"""Losses of divided geometric noise are whole multiples of this part of the largest."""
MOST_RATIOS = 12
"""Of more different scales some are made alike: next to no precision, and much less time."""
SCALE_BITS = 17
"""Scales are whole multiples of a power of two, of at most about so many bits."""
LARGEST_REACH = 2**17
"""The largest R: a law of this length has 2.6 MB in a plan, and as many dummies a position."""
LARGEST_SCALE = 2.0**40
TOO_LONG = (
    f"each mixer would have to add more than {LARGEST_REACH:,} dummies to a position on average,"
    " which is the largest R that a plan may have"
)
NEAR_SHARE = 0.01
"""How near the least scale is found where candidates are compared; the rest is interpolated."""
SAFE = 1e-9
"""The promise is kept with this to spare, relatively, so that it is kept on every machine."""
LENGTHS, RATIO_GRID = 1 / 64, 4096
"""R/s is a multiple of this, and a share's scale divided by the least one a multiple of 1/this."""
LEAST_TAIL, MOST_TAIL = 2.0**-58, 0.02
"""Tails of the power law that a law may cut off: weights are at least 2^-63."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedDummies:
    """The least noise of one mixer that keeps the promise, whoever else works together."""

    policy: Policy
    shares: tuple[Share, ...]
    rounds: int
    laws: tuple[DummyLaw, ...]
    shape: float
    promise: Promise

    @property
    def sigmas(self) -> tuple[float, ...]:
        """σ of a count of every share, for one mixer and one batch."""
        return tuple(math.sqrt(law.variance) for law in self.laws)


def divide_dummies(
    policy: Policy, shares: Sequence[Share], rounds: int = 1, suggestions: bool = True
) -> DividedDummies:
    """The laws of dummies of every share with the least Σ w·σ² that keep the policy.

    Where there are none, the error says which limit is in the way and, unless `suggestions` is
    false, which requests near this one can be met.

    >>> from krand.promise import Policy
    >>> policy = Policy(epsilon=1, delta=1e-6, minimum_crowd=2)
    >>> divided = divide_dummies(policy, [Share(2)])  # one choice of several
    >>> round(divided.sigmas[0], 2), divided.laws[0].reach
    (2.8, 27)
    """
    if not shares:
        raise InvalidInput("shares", "must not be empty", list(shares))
    search = _Search(policy=policy, shares=tuple(shares), rounds=rounds)
    found = search.best() if search.obstacle() is None else None
    if found is None:
        raise _refusal(search, suggestions)
    laws, shape = found
    return DividedDummies(
        policy=policy,
        shares=tuple(shares),
        rounds=rounds,
        laws=laws,
        shape=shape,
        promise=assess_dummies(policy, shares, laws, rounds),
    )


def assess_dummies(
    policy: Policy,
    shares: Sequence[Share],
    laws: Sequence[DummyLaw],
    rounds: int = 1,
    surplus: float = 0.0,
) -> Promise:
    """What exactly these laws promise, if one mixer is honest.

    `surplus` is the probability that dummies outnumber their padding in any round.
    """
    parts = _parts(shares, laws, rounds)
    bounds = [
        DummyBound(parts=parts, epsilon=policy.epsilon, surplus=surplus, negligible=rare)
        for rare in (negligible_part(policy, parts), 0.0)  # with nothing given away it may be less
    ]
    return Promise(
        epsilon=policy.epsilon,
        delta=min(bound.delta(Effort.FULL) for bound in bounds),
        eta=min(bound.eta(Effort.FULL) for bound in bounds),
        local_epsilon=math.inf,
        method=Method.DUMMIES if policy.eta is None else Method.DUMMIES.converted,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=(
            Assumption.ONE_HONEST_MIXER,
            Assumption.SEALS_HOLD,
            Assumption.PARTICIPATION_VISIBLE,
        ),
    )


def quick_dummies(
    policy: Policy, shares: Sequence[Share], rounds: int
) -> tuple[DummyLaw, ...] | None:
    """Laws of one usual shape that keep the policy, which is proven; rarely the best ones.

    None if the proof fails, which says nothing about other laws.
    """
    search = _Search(policy=policy, shares=tuple(shares), rounds=rounds)
    found = search.near(search.usual_kind())
    return found.laws if found is not None and search.is_kept(found.laws) else None


def most_sigmas(shares: Sequence[Share], laws: Sequence[DummyLaw]) -> tuple[float, ...]:
    """σ of every share that the best laws do not exceed, if these laws keep the same policy.

    The best ones have no larger Σ w·σ², and divide it by one of EXPONENTS.
    """
    cost = LOOSE * _cost(shares, [law.variance for law in laws])
    divisions = [_variances(shares, cost, e, shape) for e in EXPONENTS for shape in ENDS_OF_SHAPES]
    tops = zip((law.variance for law in laws), *divisions, strict=True)
    return tuple(math.sqrt(max(variances)) for variances in tops)


def _variances(
    shares: Sequence[Share], cost: float, exponent: float, shape: float
) -> tuple[float, ...]:
    """σ² of every share, if Σ w·σ² is the cost and scales are ∝ (t/w)^(exponent/2)."""
    ratios = [(share.sensitivity / share.weight) ** (exponent / 2) for share in shares]

    def variances(scale: float) -> list[float]:
        known = {ratio: _variance(shape, scale * ratio) for ratio in set(ratios)}
        return [known[ratio] for ratio in ratios]

    low, high = 0.0, 1.0
    while _cost(shares, variances(high)) < cost:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        enough = _cost(shares, variances(middle)) >= cost
        low, high = (low, middle) if enough else (middle, high)
    return tuple(variances(high))


def _cost(shares: Sequence[Share], variances: Sequence[float]) -> float:
    """Σ w·σ²."""
    return math.fsum(share.weight * v for share, v in zip(shares, variances, strict=True))


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


def _refusal(search: _Search, suggestions: bool) -> CannotMeet:
    """What is in the way, and the nearest requests that can be met."""
    reason = search.obstacle() or TOO_LONG
    if not suggestions:
        return CannotMeet(reason)
    return cannot_meet(reason, nearest_promises(search.policy, lambda p: search.of(p).can_be_met()))


@dataclass(frozen=True, slots=True)
class _Kind:
    """Everything about laws but their scale."""

    shape: float
    ends: float
    """One of GEOMETRIC_ENDS if p = 1, else one of TAILS."""
    exponent: float = EXPONENTS[0]

    @property
    def spread(self) -> float:
        """σ/s of the power law."""
        return math.exp((gammaln(3 / self.shape) - gammaln(1 / self.shape)) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Laws that keep the policy, and what they cost."""

    scale: float
    laws: tuple[DummyLaw, ...]
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """All laws by their kind and one scale: that of the share with the least noise."""

    policy: Policy
    shares: tuple[Share, ...]
    rounds: int
    seen: dict[_Kind, _Found | None] = field(default_factory=dict)
    """Near the least scales that keep the policy."""

    def best(self) -> tuple[tuple[DummyLaw, ...], float] | None:
        """The laws with the least Σ w·σ², and their shape; None if no law keeps the policy."""
        kinds = self._geometric_kinds()
        least = min(self._near_cost(kind) for kind in kinds)
        if least == math.inf and not self.can_be_met():
            return None
        tapered = None if self._is_geometric_best(least) else self._best_tapered()
        best = None if tapered is None else self._exact(tapered)
        limit = math.inf if best is None else best.cost
        geometric = self._fewest(kinds) if least <= NO_MORE**4 * limit else None
        if geometric is not None and geometric.cost <= limit * (1 + CLEARLY):
            return geometric.laws, 1.0
        return None if best is None or tapered is None else (best.laws, tapered.shape)

    def of(self, policy: Policy) -> _Search:
        """The same shares with another policy."""
        return _Search(policy=policy, shares=self.shares, rounds=self.rounds)

    def obstacle(self) -> str | None:
        """Why no law at all keeps the policy, where that is seen at once.

        The ends have a probability of at least 2^-63 each. And δ(ε) of one position bounds how fast
        weights can rise: w_k ≤ e^ε·w_(k-1) + d_k with Σ d_k ≤ δ, so that the R+1 weights up to the
        mean are at most δ·(e^(ε(R+1))-1)/(e^ε-1), and must be half of all.
        """
        policy, limit, ends = self.policy, self.policy.limit, self._total / DUMMY_GRID
        if ends > limit:
            name = "δ" if policy.eta is None else "η"
            return (
                f"{name} = {limit:g} is below {ends:.2g}, the least that mixers' noise can give if"
                f" one person can change {self._total:,} position(s): every number of"
                " dummies has a probability of at least 2^-63"
            )
        growth = min(700.0, policy.epsilon * (LARGEST_REACH + 1))
        mass = limit * math.expm1(growth) / math.expm1(min(700.0, policy.epsilon))
        return TOO_LONG if 2 * mass < 1 else None

    def can_be_met(self) -> bool:
        """Whether laws of a usual shape that are as long as possible keep the policy."""
        if self.obstacle() is not None:
            return False
        tapered = [_Kind(shape, USUAL_TAIL) for shape in (USUAL_SHAPE, SHAPES[-1])]
        kinds = (*tapered, _Kind(1.0, GEOMETRIC_ENDS[0]))
        return any(self._is_kept_at_most(kind) for kind in kinds)

    def _is_kept_at_most(self, kind: _Kind) -> bool:
        ratios = self._ratios(kind)
        unit = 2.0**-SCALE_BITS
        longest = self._longest(kind, unit * max(ratios)) * unit
        if longest == 0:
            return False
        laws = tuple(self._law(kind, longest * ratio) for ratio in ratios)
        return self._excess(laws, Effort.NEAR) <= 0

    def usual_kind(self) -> _Kind:
        """What is best more often than not."""
        few = self._total <= FEW_POSITIONS
        return _Kind(1.0, GEOMETRIC_ENDS[-1]) if few else _Kind(USUAL_SHAPE, USUAL_TAIL)

    def is_kept(self, laws: tuple[DummyLaw, ...]) -> bool:
        """Whether these laws are proven to keep the policy."""
        return self._excess(laws, Effort.FULL) <= 0

    @property
    def _total(self) -> int:
        return sum(share.sensitivity for share in self.shares) * self.rounds

    def _is_geometric_best(self, least: float) -> bool:
        """Whether costs rise from the flattest shape on, and both ends cost more than this.

        They fall with the shape and then rise.
        """
        kinds = [_Kind(shape, TAILS[-1]) for shape in (SHAPES[0], SHAPES[2], SHAPES[-1])]
        first, next_one, last = map(self._near_cost, kinds)
        return least < first < next_one and least < last

    def _best_tapered(self) -> _Kind | None:
        shape = self._best_shape()
        return self._best_tail(shape, self._best_exponent(_Kind(shape, TAILS[-1])))

    def _best_shape(self) -> float:
        """The shape with the least cost, by halving."""
        low, high = 0, len(SHAPES) - 1
        while low < high:
            middle = (low + high) // 2
            here, after = (
                self._near_cost(_Kind(shape, TAILS[-1])) for shape in SHAPES[middle : middle + 2]
            )
            low, high = (middle + 1, high) if after < here * (1 - CLEARLY) else (low, middle)
        return SHAPES[low]

    def _best_exponent(self, kind: _Kind) -> float:
        exponents = self._exponents()
        if len(exponents) == 1:
            return exponents[0]
        costs = {e: self._near_cost(replace(kind, exponent=e)) for e in exponents}
        return _clearly_least(exponents, costs)

    def _exponents(self) -> tuple[float, ...]:
        alike = len({share.sensitivity / share.weight for share in self.shares}) == 1
        return EXPONENTS[:1] if alike else EXPONENTS

    def _best_tail(self, shape: float, exponent: float) -> _Kind | None:
        """As few dummies as cost next to no precision; a longer law if it is clearly better."""
        whole = self._near_cost(_Kind(shape, TAILS[-1], exponent))
        best, least = None, math.inf
        for tail in TAILS:
            kind = _Kind(shape, tail, exponent)
            cost = self._near_cost(kind)
            if best is not None and cost > least / NO_MORE**2:
                break
            if cost <= NO_MORE**2 * whole and cost < math.inf:
                best, least = kind, cost
        return best

    def _geometric_kinds(self) -> list[_Kind]:
        exponent = self._best_exponent(_Kind(1.0, GEOMETRIC_ENDS[-1]))
        return [_Kind(1.0, ends, exponent) for ends in GEOMETRIC_ENDS]

    def _fewest(self, kinds: Sequence[_Kind]) -> _Found | None:
        """As few dummies as cost next to no precision: the first are the shortest."""
        found = [one for kind in kinds if (one := self._exact(kind)) is not None]
        if not found:
            return None
        most = NO_MORE**2 * min(one.cost for one in found)
        return next(one for one in found if one.cost <= most)

    def _near_cost(self, kind: _Kind) -> float:
        found = self.near(kind)
        return math.inf if found is None else found.cost

    def near(self, kind: _Kind) -> _Found | None:
        """Laws of this kind near the least scale that keeps the policy; None if there is none."""
        if kind not in self.seen:
            self.seen[kind] = self._least(kind, Effort.NEAR)
        return self.seen[kind]

    def _exact(self, kind: _Kind) -> _Found | None:
        """The same with the least scale."""
        return None if self.near(kind) is None else self._least(kind, Effort.FULL)

    def _least(self, kind: _Kind, effort: Effort) -> _Found | None:
        """The least scale that keeps the policy, with its laws; with less effort one near it."""
        start = self._start(kind)
        unit = 2.0 ** (math.frexp(start)[1] - SCALE_BITS)
        ratios = self._ratios(kind)
        seen: dict[tuple[int, Effort], float] = {}

        def laws(scale: int) -> tuple[DummyLaw, ...]:
            scales = [scale * unit * ratio for ratio in ratios]
            made = {one: self._law(kind, one) for one in set(scales)}
            return tuple(made[one] for one in scales)

        def excess(scale: int, full: bool) -> float:
            asked = scale, effort if full else Effort.NEAR
            if asked not in seen:
                seen[asked] = self._excess(laws(scale), asked[1])
            return seen[asked]

        ceiling = self._longest(kind, unit * max(ratios))
        if ceiling < 1:
            return None
        share = 0.0 if effort is Effort.FULL else NEAR_SHARE
        least = smallest_passing(
            excess,
            round(start / unit),
            1,
            ceiling,
            must_fall=False,
            share=share,
            near=NEAR_SHARE if effort is Effort.NEAR else NEAR_SHARE / 10,
            slope=2 - 2 * math.log(delta_limit(self.policy)),
        )
        if least is None:
            return None
        found, crossing = laws(least), 1.0
        if effort is Effort.NEAR:
            crossing = _crossing({n: value for (n, _), value in seen.items()}, least)
        return _Found(
            least * unit, found, _cost(self.shares, [law.variance for law in found]) * crossing**2
        )

    def _start(self, kind: _Kind) -> float:
        """Where to begin: what was found for a kind like it, or σ of a trusted curator."""
        known = [other for other, found in self.seen.items() if found is not None]
        if known:
            like = min(known, key=lambda other: (abs(other.shape - kind.shape), other != kind))
            found = self.seen[like]
            assert found is not None
            return found.scale * like.spread / kind.spread
        sigmas = _curator_sigmas(self.policy, self.shares, self.rounds)
        scales = [_scale_of(kind, sigma) for sigma in sigmas]
        return min(scale / ratio for scale, ratio in zip(scales, self._ratios(kind), strict=True))

    def _longest(self, kind: _Kind, unit: float) -> int:
        """The largest scale, in units, with an R that is not too large."""
        low, high = 0, int(LARGEST_SCALE / unit)
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._reach(kind, middle * unit) <= LARGEST_REACH
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _ratios(self, kind: _Kind) -> list[float]:
        """Each share's scale, relative to the least: ∝ (t/w)^(exponent/2), on a grid.

        Geometric losses are 1/s; they become whole parts of the largest, to lie on one grid.
        """
        power = kind.exponent / 2
        wanted = [(share.sensitivity / share.weight) ** power for share in self.shares]
        ratios = _alike([one / min(wanted) for one in wanted])
        if kind.shape == 1 and max(ratios) > 1:
            return [GEOMETRIC_STEPS / max(1, round(GEOMETRIC_STEPS / r)) for r in ratios]
        return [round(RATIO_GRID * ratio) / RATIO_GRID for ratio in ratios]

    def _law(self, kind: _Kind, scale: float) -> DummyLaw:
        return dummy_law(kind.shape, scale, self._reach(kind, scale))

    def _reach(self, kind: _Kind, scale: float) -> int:
        each = delta_limit(self.policy) / self._total
        if kind.shape == 1:
            return _geometric_reach(scale, kind.ends * each)
        return _tapered_reach(kind.shape, scale, kind.ends * each, TAPERED_ENDS * each)

    def _excess(self, laws: tuple[DummyLaw, ...], effort: Effort) -> float:
        """log(bound/limit): the policy is kept where this is not positive."""
        parts = _parts(self.shares, laws, self.rounds)
        rare = negligible_part(self.policy, parts)
        bound = DummyBound(parts=parts, epsilon=self.policy.epsilon, negligible=rare)
        found = (bound.delta if self.policy.eta is None else bound.eta)(effort)
        excess = log_excess(found, self.policy)
        return excess + SAFE if excess > LOG_NOTHING else excess


@lru_cache(maxsize=4)
def _curator_sigmas(policy: Policy, shares: tuple[Share, ...], rounds: int) -> tuple[float, ...]:
    return tuple(divided_curator(policy, shares, rounds).sigmas)


def _alike(ratios: Sequence[float]) -> list[float]:
    """The ratios themselves, or the nearest of MOST_RATIOS if there are more of them."""
    if len(set(ratios)) <= MOST_RATIOS:
        return list(ratios)
    step = math.log(max(ratios)) / (MOST_RATIOS - 1)
    return [math.exp(step * round(math.log(ratio) / step)) for ratio in ratios]


def _crossing(excesses: Mapping[int, float], least: int) -> float:
    """Where the excess is 0, as a part of the least scale that was seen to pass."""
    below = [n for n, excess in excesses.items() if n < least and excess > 0]
    if not below or excesses[least] <= LOG_NOTHING:
        return 1.0
    above = excesses[max(below)]
    return float((max(below) / least) ** (-excesses[least] / (above - excesses[least])))


def _scale_of(kind: _Kind, sigma: float) -> float:
    """The scale at which σ is about this."""
    if sigma >= 1:
        return sigma / kind.spread
    return float((math.log(2) - 2 * math.log(sigma)) ** (-1 / kind.shape))  # 2e^(-1/s^p) = σ²


def _geometric_reach(scale: float, end: float) -> int:
    """The least R at which the end of a geometric law has at most this probability.

    With q = e^(-1/s) it is (1-q)q^R/(1+q-2q^(R+1)), solved for q^R.
    """
    q, rest = math.exp(-1 / scale), -math.expm1(-1 / scale)
    power = end * (1 + q) / (rest + 2 * q * end)
    return max(1, math.ceil(-scale * math.log(power)))


def _tapered_reach(shape: float, scale: float, tail: float, end: float) -> int:
    """R beyond which the power law has about this probability, and the end at most its own."""
    length = _length(shape, min(max(tail, LEAST_TAIL), MOST_TAIL))
    reach = max(1, math.ceil(length * scale))
    total = max(1.0, 2 * scale * math.gamma(1 + 1 / shape))

    def is_rare(reach: int) -> bool:
        taper = -(math.expm1(TAPER * math.log1p(-1 / (reach + 1))) ** 2)
        return math.exp(-((reach / scale) ** shape)) * -taper <= end * total

    while not is_rare(reach):
        reach += 1 + reach // 64
    return reach


@lru_cache(maxsize=64)
def _length(shape: float, tail: float) -> float:
    """R/s, rounded up to a grid."""
    exact = float(gammainccinv(1 / shape, 2 * tail)) ** (1 / shape)
    return float(math.ceil(exact / LENGTHS) * LENGTHS)


def _clearly_least(candidates: Sequence[float], costs: Mapping[float, float]) -> float:
    """The first one, unless a later one is clearly better."""
    best = candidates[0]
    for other in candidates[1:]:
        if costs[other] < costs[best] * (1 - CLEARLY):
            best = other
    return best
