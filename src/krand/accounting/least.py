"""From a policy to the least noise that keeps it, for flips, for dummies and for whole records.

Every position is a mechanism of its own, and a survey is their composition. A position with noise q
costs about 1/(N·v) of privacy and has variance N·v, v = pq/(p-q)². With t positions that one person
can change and weight w for its precision, Σ w·v is least for a given cost Σ t/v where v ∝ √(t/w):
what is asked in more positions, or deserves less precision, gets more noise. The same holds for σ²
of Gaussian-like dummies; for geometric ones it is σ² ∝ (t/w)^⅔. What remains is one number, the
common scale, and there is one search for it.

More noise is post-processing of less (flip again), so that bounds fall as noise grows. The search
goes over a coarse grid, near the answer first and then in full: what it returns was computed in
full and keeps the policy.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence

from krand.accounting.baselines import Share, gaussian_shift
from krand.accounting.engine import Part, bound, delta_limit, part_of
from krand.accounting.laws import LARGEST_REACH, dummy_law, least_reach, noise_of_spread
from krand.errors import CannotMeet
from krand.policy import Policy
from krand.promise import DUMMY_GRID, NOISE_GRID, Z95, DummyLaw, ResponseFormat

__all__ = [
    "Share",
    "cannot_meet",
    "dummies_can_meet",
    "flips_can_meet",
    "largest_useful_noise",
    "least_dummies",
    "least_flips",
    "least_record",
    "nearest_policies",
    "record_can_meet",
]

DIGITS = 13
"""Binary digits of numbers that are searched: between neighbours is at most .025 %."""
LAST = NOISE_GRID // 2 - 1
NEAR, CLOSE = 3e-3, 3e-4
"""How close the search comes to the least number, relatively: at first, and in the end."""
SMOOTH = 0.1
"""An excess further below 0 may have jumped: rare losses beyond ε end all at once."""
NOTHING = -700.0
"""The logarithm of a bound that is 0."""
SAFE = 1e-9
"""The promise is kept with this to spare, relatively, so that another machine agrees."""

# --- one search ---------------------------------------------------------------------------------


def _unit(n: int) -> int:
    return 1 << max(0, min(n, NOISE_GRID // 2 - n).bit_length() - DIGITS)


def _up(n: int) -> int:
    """The least number of the grid that is not below n: few digits, or few up to 2^31."""
    return -(-n // _unit(n)) * _unit(n)


def _down(n: int) -> int:
    return n // _unit(n) * _unit(n)


def _crossing(
    excess: Callable[[int], float], guess: int, last: int, width: float, slope: float
) -> tuple[int | None, float]:
    """An n of 1 … last with excess(n) ≤ 0, about `width` above the least one; and the slope there.

    The excess, the logarithm of bound/limit, falls with n: by about `slope` per unit of log n. The
    secant rule looks for where it is 0, and every fourth time the range is halved.
    """
    seen: dict[int, float] = {}
    good, bad, at = last + 1, 0, min(max(_up(guess), 1), last)
    while True:
        value = seen[at] = excess(at)
        good, bad = (at, bad) if value <= 0 else (good, at)
        if bad == last or _up(bad + 1) >= good:
            break
        known = bad > 0 and good <= last
        if known:
            run, fall = math.log(good / bad), seen[bad] - seen[good]
            # Where the line between both is 0, unless the excess jumps.
            if run <= width or (-seen[good] < SMOOTH and run * -seen[good] <= width * fall):
                break
        others = sorted((abs(other - at), other) for other in seen if other != at)
        if others and value > NOTHING < seen[others[0][1]]:
            run = math.log(others[0][1] / at)
            slope = max(1.0, (value - seen[others[0][1]]) / run)
        close = bad == 0 and value > -slope * width  # then one that fails is looked for
        step = value / slope + (-width / 2 if close else width / 2)
        wanted = at * math.exp(min(1.0, max(-1.0, step)))
        if known and len(seen) % 4 == 0:
            wanted = (bad + good) // 2 if good < 4 * bad else math.isqrt(bad * good)
        at = min(max(_up(int(wanted)), _up(bad + 1)), _down(good - 1))
    return (good if good <= last else None), slope


def _excess(
    policy: Policy, parts: Sequence[Part], distance: float = 0.0, near: bool = False
) -> float:
    """log(bound/limit): the policy is kept where this is not positive."""
    local = math.fsum(part.positions * part.local_epsilon for part in parts)
    if local > policy.local_limit:
        return math.log(local / policy.local_limit)
    eta = policy.eta is not None
    found = bound(
        parts, policy.honest, policy.epsilon, policy.limit, eta, distance=distance, near=near
    )
    return math.log(found / policy.limit) + SAFE if found > 0 else NOTHING


def _slope(policy: Policy) -> float:
    """How much log δ falls per unit of log σ², about."""
    return 1 - math.log(delta_limit(policy.limit, policy.epsilon, policy.eta is not None))


# --- flips and whole records --------------------------------------------------------------------


def least_flips(
    policy: Policy,
    shares: Sequence[Share],
    rounds: int = 1,
    distance: Callable[[tuple[int, ...]], float] = lambda _: 0.0,
    copies: int = 1,
) -> tuple[int, ...]:
    """The least noise a/2^32 of every share, divided by √(t/w), that keeps the policy.

    `distance` says how far, in total variation, what is run with some noises differs from their
    composition (see `engine`). It is part of what is promised.
    """
    largest = max(share.ratio for share in shares)
    cost = sum(share.sensitivity * largest / share.ratio for share in shares) * rounds * copies

    def numerators(base: int) -> tuple[int, ...]:
        return _numerators(shares, base)

    def excess(base: int, near: bool) -> float:
        found = numerators(base)
        parts = flip_parts(shares, found, rounds, copies)
        return _excess(policy, parts, distance(found), near)

    guess = noise_of_spread(cost / (policy.honest * copies * gaussian_shift(policy) ** 2))
    return numerators(_least_noise(policy, excess, guess))


def least_record(policy: Policy, responses: ResponseFormat) -> int:
    """The least noise a/2^32 of whole records that keeps the policy."""
    part = part_of(responses, 0.25)
    spread = policy.honest * gaussian_shift(policy) ** 2 / part.positions
    phi = (1 + spread) ** (1 / responses.sensitivity) + 1
    guess = 1 / (1 + (phi + math.sqrt(max(0.0, phi * phi - 4))) / 2)  # 001 (3.16)

    def excess(n: int, near: bool) -> float:
        return _excess(policy, [part_of(responses, n / NOISE_GRID)], near=near)

    return _least_noise(policy, excess, guess, responses.sensitivity)


def _least_noise(
    policy: Policy, excess: Callable[[int, bool], float], guess: float, bits: int = 1
) -> int:
    near, slope = _crossing(
        lambda n: excess(n, True), int(guess * NOISE_GRID), LAST, NEAR, bits * _slope(policy)
    )
    found, _ = _crossing(lambda n: excess(n, False), near or LAST, LAST, CLOSE, slope)
    if found is None:
        cap = policy.max_local_epsilon
        kept = f"ε = {policy.epsilon:g}" if cap is None else f"ε₀ at or below {cap:g}"
        raise CannotMeet(f"no noise on the grid keeps {kept}")
    return found


def flip_parts(
    shares: Sequence[Share], numerators: Sequence[int], rounds: int, copies: int = 1
) -> tuple[Part, ...]:
    """What one person tells with these noises."""
    return tuple(
        Part(share.sensitivity * rounds, numerator / NOISE_GRID, copies=copies)
        for share, numerator in zip(shares, numerators, strict=True)
    )


def _numerators(shares: Sequence[Share], base: int) -> tuple[int, ...]:
    """v ∝ √(t/w), rounded up to the grid, the largest share at `base`."""
    largest, q = max(share.ratio for share in shares), base / NOISE_GRID
    most = q * (1 - q) / (1 - 2 * q) ** 2
    return tuple(
        base
        if share.ratio == largest
        else min(LAST, math.ceil(noise_of_spread(most * share.ratio / largest) * NOISE_GRID))
        for share in shares
    )


def largest_useful_noise(crowd: int, copies: int = 1) -> float:
    """The largest q at which an estimate is still more precise than half the crowd."""
    # 1.96·√(Npq/k)/(1-2q) = N/2, solved for pq/(1-2q)².
    return noise_of_spread(copies * crowd / (4 * Z95**2))


# --- dummies ------------------------------------------------------------------------------------

KINDS = (
    (1.0, 0.95, 2 / 3),
    (1.0, 0.4, 2 / 3),
    (1.1, 0.1, 7 / 12),
    (1.25, 0.1, 1 / 2),
    (1.45, 0.1, 1 / 2),
    (1.7, 0.1, 1 / 2),
    (1.9, 0.1, 1 / 2),
)
"""Laws that are tried: their shape; the part of δ that the ends of a geometric law may take, or
that would lie beyond those of another one; and the power of t/w that σ² is in proportion to."""
SHORTER = (30.0, 3.0)
"""What may lie beyond the ends instead, as a part of δ."""
TAPERED_ENDS = 0.003
"""The part of δ that the ends of other laws may take."""
LEAST_TAIL, MOST_TAIL = 2.0**-58, 0.02
CANDIDATE = 1.02
"""How much more Σ w·σ² a law may have at first to be looked at in full."""
NO_MORE = 1.001
"""How much more σ fewer dummies may cost."""
GEOMETRIC_STEPS, RATIO_GRID = 64, 4096
"""Losses of divided geometric noise are whole multiples of this part of the largest, and scales
multiples of this part of the least."""


def least_dummies(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> tuple[DummyLaw, ...]:
    """The laws of dummies of every share with the least Σ w·σ² that keep the policy.

    >>> from krand.promise import Policy
    >>> (law,) = least_dummies(Policy(epsilon=1, delta=1e-6, minimum_crowd=2), [Share(2)])
    >>> round(law.variance**0.5, 2)
    2.8
    """
    obstacle = _obstacle(policy, shares, rounds)
    kinds = [] if obstacle else [_Kind(policy, shares, rounds, *kind) for kind in KINDS]
    near = [kind for kind in kinds if kind.improve(near=True)]
    least = min((kind.cost for kind in near), default=0.0)
    found = [kind for kind in near if kind.cost <= CANDIDATE * least and kind.improve(near=False)]
    if not found:
        raise CannotMeet(obstacle or TOO_LONG)
    best = min(found, key=lambda kind: kind.cost)
    if best.shape > 1:  # as few dummies as cost next to no precision
        shorter = [_Kind(policy, shares, rounds, best.shape, part, best.power) for part in SHORTER]
        found += [kind for kind in shorter if kind.improve(near=False)]
        near = [kind for kind in found if kind.cost <= NO_MORE**2 * best.cost]
        best = min(near, key=lambda kind: kind.reach)
    return best.laws(best.scale)


def dummies_can_meet(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> bool:
    """Whether laws that are as long as possible keep the policy."""
    if _obstacle(policy, shares, rounds):
        return False
    kinds = (_Kind(policy, shares, rounds, *kind) for kind in KINDS)
    return any(kind.last > 0 and kind.excess(kind.last, near=True) <= 0 for kind in kinds)


TOO_LONG = (
    f"each mixer would have to add more than {LARGEST_REACH:,} dummies to a position on average,"
    " which is the largest R that a plan may have"
)


def _obstacle(policy: Policy, shares: Sequence[Share], rounds: int) -> str:
    """Why no law at all keeps the policy, where that is seen at once.

    The ends have a probability of at least 2^-63 each. And δ(ε) of one position bounds how fast
    weights can rise: w_k ≤ e^ε·w_(k-1) + d_k with Σ d_k ≤ δ, so that the R+1 weights up to the mean
    are at most δ·(e^(ε(R+1))-1)/(e^ε-1), and must be half of all.
    """
    total = sum(share.sensitivity for share in shares) * rounds
    ends, limit = total / DUMMY_GRID, policy.limit
    if ends > limit:
        name = "δ" if policy.eta is None else "η"
        return (
            f"{name} = {limit:g} is below {ends:.2g}, the least that mixers' noise can give if one"
            f" person can change {total:,} position(s): every number of dummies has a probability"
            " of at least 2^-63"
        )
    growth = min(700.0, policy.epsilon * (LARGEST_REACH + 1))
    mass = limit * math.expm1(growth) / math.expm1(min(700.0, policy.epsilon))
    return TOO_LONG if 2 * mass < 1 else ""


class _Kind:
    """Laws of one shape, divided in one way: what is left is their scale, as a whole number."""

    def __init__(
        self,
        policy: Policy,
        shares: Sequence[Share],
        rounds: int,
        shape: float,
        part: float,
        power: float,
    ) -> None:
        self._policy, self._shares, self._rounds = policy, shares, rounds
        self.shape, self.power, self._part = shape, power, part
        wanted = [(share.sensitivity / share.weight) ** (power / 2) for share in shares]
        ratios = [one / min(wanted) for one in wanted]
        if shape == 1:  # losses are 1/scale
            self._ratios = [GEOMETRIC_STEPS / max(1, round(GEOMETRIC_STEPS / r)) for r in ratios]
        else:
            self._ratios = [round(RATIO_GRID * ratio) / RATIO_GRID for ratio in ratios]
        limit = delta_limit(policy.limit, policy.epsilon, policy.eta is not None)
        self._each = limit / (rounds * sum(share.sensitivity for share in shares))
        start = self._start()
        self._unit = 2.0 ** (math.frexp(start)[1] - DIGITS)
        self.scale, self._slope = round(start / self._unit), 2 * _slope(policy)
        self.cost, self.reach = math.inf, 0
        top = max(self._ratios) * self._unit
        scales = range(1, max(2, int(64 * LARGEST_REACH / top)))
        self.last = bisect_left(scales, True, key=lambda n: self._reach(n * top) > LARGEST_REACH)

    def improve(self, near: bool) -> bool:
        """Look for the least scale that keeps the policy; whether there is one."""
        if self.last < 1:
            return False
        width = NEAR if near else CLOSE
        found, self._slope = _crossing(
            lambda n: self.excess(n, near), self.scale, self.last, width, self._slope
        )
        if found is None:
            return False
        self.scale, laws = found, self.laws(found)
        pairs = zip(self._shares, laws, strict=True)
        self.cost = math.fsum(share.weight * law.variance for share, law in pairs)  # Σ w·σ²
        self.reach = sum(law.reach for law in laws)
        return True

    def laws(self, n: int) -> tuple[DummyLaw, ...]:
        scales = [n * self._unit * ratio for ratio in self._ratios]
        made = {one: dummy_law(self.shape, one, self._reach(one)) for one in set(scales)}
        return tuple(made[one] for one in scales)

    def excess(self, n: int, near: bool) -> float:
        return _excess(
            self._policy, dummy_parts(self._shares, self.laws(n), self._rounds), near=near
        )

    def _reach(self, scale: float) -> int:
        ends = self._part if self.shape == 1 else TAPERED_ENDS
        tail = min(max(self._part * self._each, LEAST_TAIL), MOST_TAIL)
        return least_reach(self.shape, scale, ends * self._each, tail)

    def _start(self) -> float:
        """The scale at which Gaussian noise of this σ would do."""
        parts = zip(self._shares, self._ratios, strict=True)
        cost = math.fsum(share.sensitivity / ratio**2 for share, ratio in parts) * self._rounds
        sigma = math.sqrt(cost) / gaussian_shift(self._policy)
        if sigma < 1:  # 2e^(-1/s^p) = σ²
            return float((math.log(2) - 2 * math.log(sigma)) ** (-1 / self.shape))
        return sigma * math.sqrt(math.gamma(1 / self.shape) / math.gamma(3 / self.shape))


def dummy_parts(shares: Sequence[Share], laws: Sequence[DummyLaw], rounds: int) -> tuple[Part, ...]:
    """What one person tells, if one mixer is honest and adds dummies of these laws."""
    return tuple(
        Part(share.sensitivity * rounds, law=law) for share, law in zip(shares, laws, strict=True)
    )


# --- what can be had instead --------------------------------------------------------------------

MOST_EPSILON, MOST_PEOPLE = 10.0, 10**10
"""The largest ε, cap on ε₀, and crowd that are ever suggested."""
DELTA_SHARE = 0.1
"""The largest δ that is ever suggested, as a share of 1/N: at 1/N somebody's answers may be
published outright."""
SPARE = 1.02
"""How near to the least value a suggestion is."""
HOPELESS = (
    "no larger crowd, no epsilon up to 10, no larger delta and nothing smaller to ask would do:"
    " this cannot be asked of such a crowd with such a promise"
)


def flips_can_meet(
    policy: Policy, shares: Sequence[Share], rounds: int = 1, copies: int = 1
) -> bool:
    """Whether noise that leaves every count more precise than half the crowd keeps the policy."""
    noise = largest_useful_noise(policy.minimum_crowd, copies) * (1 - 1e-9)
    numerators = _numerators(shares, max(1, int(noise * NOISE_GRID)))
    return _excess(policy, flip_parts(shares, numerators, rounds, copies), near=True) <= 0


def record_can_meet(policy: Policy, responses: ResponseFormat) -> bool:
    """The same for whole records."""
    noise = largest_useful_noise(policy.minimum_crowd, responses.copies) * (1 - 1e-9)
    return _excess(policy, [part_of(responses, noise)], near=True) <= 0


def nearest_policies(
    policy: Policy, can_be_met: Callable[[Policy], bool], crowds: bool = True
) -> tuple[str, ...]:
    """A larger crowd and a larger ε that would do, everything else unchanged.

    Where one of them does not exist, a larger δ or cap on ε₀. Each was computed and can be met.
    """
    people, found = policy.minimum_crowd, []

    def larger(field: str, most: float, rounded: Callable[[float], float]) -> float | None:
        """A rounded value that would do, little above the least one; None beyond `most`."""

        def is_met(value: float) -> bool:
            return can_be_met(_changed(policy, field, value))

        low, high = getattr(policy, field), rounded(most)
        if low is None or low >= high or not is_met(high):
            return None
        while high > SPARE * low and low < (middle := rounded(math.sqrt(low * high))) < high:
            low, high = (low, middle) if is_met(middle) else (middle, high)
        return float(high)

    crowd = larger("minimum_crowd", MOST_PEOPLE, _round_people) if crowds else None
    if crowd is not None:
        kept = f" at epsilon {policy.epsilon:g}"
        kept = kept if policy.epsilon <= MOST_EPSILON else ", everything else as asked"
        found.append(f"crowd {int(crowd):,}{kept}")
    asked = (
        ("epsilon", MOST_EPSILON),
        ("delta", 0.995 * DELTA_SHARE / people),
        ("max_local_epsilon", MOST_EPSILON),
    )
    for field, most in asked:
        value = larger(field, most, _round_value) if len(found) < 2 else None
        if value is not None:
            kept = f" at crowd {people:,}"
            kept = kept if crowds and field == "epsilon" else ", everything else as asked"
            found.append(f"{field} {value:g}{kept}")
    return tuple(found)


def cannot_meet(reason: str, nearest: tuple[str, ...]) -> CannotMeet:
    """The refusal with what would do instead; where nothing would, it says so."""
    return CannotMeet(reason, nearest) if nearest else CannotMeet(f"{reason}; {HOPELESS}")


def _changed(policy: Policy, field: str, value: float) -> Policy:
    """The same with another ε, δ or cap, or for a larger crowd of which the same share colludes."""
    names = ("epsilon", "minimum_crowd", "delta", "eta", "colluding", "max_local_epsilon")
    values = {name: getattr(policy, name) for name in names} | {field: value}
    if field == "minimum_crowd":
        values[field] = int(value)
        values["colluding"] = -(-policy.colluding * int(value) // policy.minimum_crowd)
    return Policy(**values)


def _round_people(number: float) -> float:
    """Three leading digits: a number that a person would say."""
    return float(f"{number:.3g}") if number >= 1000 else float(math.ceil(number))


def _round_value(number: float) -> float:
    return float(f"{number:.3g}")
