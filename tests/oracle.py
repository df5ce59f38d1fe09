"""What is true, worked out slowly and plainly: the judge of everything that computes faster.

Nothing here imports krand. Probabilities are sums over all outcomes, in fractions where crowds are
tiny and in floats with a stated error where they are small; seals open as the reference opens
them, which has devices and messages word by word; an attacker does what anybody could do.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray
from scipy import stats

from reference.hpke import open_sealed
from reference.message import layer_info

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Answer = tuple[int, ...]
Law = Sequence[Fraction]
Pair = tuple[Law, Law]
"""The law of what is seen if a person answers one thing, and if the same person answers another."""


class Exact(NamedTuple):
    """The two numbers of a promise at one ε, without error."""

    delta: Fraction
    eta: Fraction


# --- laws of counts, in fractions ---------------------------------------------------------------


def factor_of(epsilon: float) -> Fraction:
    """e^ε to 50 digits."""
    with localcontext(prec=60):
        return Fraction(Decimal(epsilon).exp())


def binomial_law(n: int, chance: Fraction) -> list[Fraction]:
    """The chances of 0, 1, … n successes."""
    return [math.comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)]


def convolved(*laws: Law) -> list[Fraction]:
    """The law of the sum of independent counts, each given by its chances of 0, 1, …"""
    total = [Fraction(1)]
    for law in laws:
        longer = [Fraction(0)] * (len(total) + len(law) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(law)):
            longer[i + j] += a * b
        total = longer
    return total


def weighted_law(weights: Sequence[int]) -> list[Fraction]:
    """Chances in proportion to whole numbers, such as a mixer's weights of dummies."""
    return [Fraction(weight, sum(weights)) for weight in weights]


def count_pair(people: int, ones: int, q: Fraction, copies: int = 1) -> Pair:
    """Reported ones if so many of the others answer 1, and the last person 0, or 1."""
    others = convolved(
        binomial_law(copies * ones, 1 - q), binomial_law(copies * (people - 1 - ones), q)
    )
    return tuple(convolved(others, binomial_law(copies, own)) for own in (q, 1 - q))  # type: ignore[return-value]


def shifted_pair(law: Law) -> Pair:
    """Dummies alone, and dummies with one message more."""
    return [*law, Fraction(0)], [Fraction(0), *law]


def compared(top: Law, bottom: Law, factor: Fraction) -> Exact:
    """Σ (top - λ·bottom)⁺, and the chance under `top` of a ratio above λ: both by definition."""
    over = [(a, a - factor * b) for a, b in zip(top, bottom, strict=True) if a > factor * b]
    return Exact(
        sum((gain for _, gain in over), Fraction(0)), sum((a for a, _ in over), Fraction(0))
    )


def worst_of_pairs(ways: Iterable[Sequence[Pair]], factor: Fraction) -> Exact:
    """Independent counts, each with any of the pairs of laws that it may have."""

    def together(laws: Iterable[Law]) -> list[Fraction]:
        product = [Fraction(1)]
        for law in laws:
            product = [a * b for a in product for b in law]
        return product

    found = [
        compared(*(together(pair[side] for pair in pairs) for side in (0, 1)), factor)
        for pairs in itertools.product(*ways)
    ]
    return Exact(max(one.delta for one in found), max(one.eta for one in found))


def worst_of_bits(
    people: int, noises: Sequence[Fraction], factor: Fraction, copies: int = 1
) -> Exact:
    """Bits that are counted apart: over all answers of the others and all changes of mind."""
    pairs = [[count_pair(people, ones, q, copies) for ones in range(people)] for q in noises]
    return worst_of_pairs([[*each, *(pair[::-1] for pair in each)] for each in pairs], factor)


def worst_of_dummies(laws: Sequence[Law], factor: Fraction) -> Exact:
    """One position of each law has a message more or less."""
    pairs = map(shifted_pair, laws)
    return worst_of_pairs([[pair, pair[::-1]] for pair in pairs], factor)


# --- whole records, in whole numbers ------------------------------------------------------------


def worst_of_records(
    people: int, domain: Iterable[Answer], q: Fraction, factor: Fraction, copies: int = 1
) -> Exact:
    """Records that are shuffled: over all answers of the others and all changes of mind."""
    answers = sorted(set(domain))
    kinds = list(itertools.product((0, 1), repeat=len(answers[0])))
    flip, keep = q.numerator, q.denominator - q.numerator

    def grown(weights: Mapping[Answer, int], answer: Answer) -> dict[Answer, int]:
        for _ in range(copies):
            after: dict[Answer, int] = defaultdict(int)
            for place, kind in enumerate(kinds):
                flips = sum(a != b for a, b in zip(answer, kind, strict=True))
                chance = flip**flips * keep ** (len(kind) - flips)
                for seen, weight in weights.items():
                    after[*seen[:place], seen[place] + 1, *seen[place + 1 :]] += weight * chance
            weights = after
        return dict(weights)

    scale = q.denominator ** (people * copies * len(kinds[0]))
    delta = eta = Fraction(0)
    for others in itertools.combinations_with_replacement(answers, people - 1):
        weights: dict[Answer, int] = {(0,) * len(kinds): 1}
        for other in others:
            weights = grown(weights, other)
        laws = {answer: grown(weights, answer) for answer in answers}
        for one, two in itertools.permutations(answers, 2):
            found = compared(
                *([law[s] for s in laws[one]] for law in (laws[one], laws[two])), factor
            )
            delta, eta = max(delta, found.delta / scale), max(eta, found.eta / scale)
    return Exact(delta, eta)


# --- random small crowds, in floats -------------------------------------------------------------

ERROR = 1e-12
"""Far above the relative error of some dozen products and sums of floats, and of e^ε."""
SMALLEST = 1e-250
"""e^100 times less is still a number with all its digits."""


class Part(NamedTuple):
    """Positions that are asked together: at least and at most so many of them are set."""

    positions: int
    least: int
    most: int

    @property
    def answers(self) -> list[Answer]:
        every = itertools.product((0, 1), repeat=self.positions)
        return [answer for answer in every if self.least <= sum(answer) <= self.most]


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd, what it is asked, and how it reports."""

    parts: tuple[Part, ...]
    records: bool
    copies: int
    rounds: int
    people: int
    colluding: int
    noise: float
    epsilon: float

    @property
    def honest(self) -> int:
        return self.people - self.colluding

    @property
    def positions(self) -> int:
        return sum(part.positions for part in self.parts)

    @property
    def changes(self) -> int:
        """How many positions one person can change."""
        pairs = (itertools.product(part.answers, repeat=2) for part in self.parts)
        return sum(
            max(sum(a != b for a, b in zip(*pair, strict=True)) for pair in p) for p in pairs
        )

    @property
    def answers(self) -> list[Answer]:
        parts = itertools.product(*(part.answers for part in self.parts))
        return [tuple(itertools.chain(*each)) for each in parts]

    @property
    def cells(self) -> int:
        """How many outcomes one pair of laws has."""
        each = self.honest * self.copies + 1
        free = 2**self.positions - 1 if self.records else self.changes
        return int(each ** (free * self.rounds))


class Truth(NamedTuple):
    """Numbers around the largest δ, and one below the largest η."""

    delta_low: float
    delta_high: float
    eta_low: float


def truth_of(case: Case, chance: random.Random, mixed: int = 3) -> Truth:
    """By visiting every outcome: all crowds of one answer, and some mixed ones."""
    domain, others = case.answers, case.honest - 1
    crowds = [(answer,) * others for answer in domain]
    crowds += [tuple(chance.choice(domain) for _ in range(others)) for _ in range(mixed)]
    factor, found = math.exp(case.epsilon), Truth(0.0, 0.0, 0.0)
    for crowd in crowds:
        pairs = _record_pairs if case.records else _bit_pairs
        for bottom, top in pairs(case, crowd, domain):
            sure = np.where(top > SMALLEST, top, 0.0)  # `bottom` may have lost its digits below
            least = sure * (1 - ERROR) - factor * (1 + ERROR) * bottom
            most = top * (1 + ERROR) - factor * (1 - ERROR) * bottom
            low, high = (float(np.maximum(0.0, each).sum()) for each in (least, most))
            tail = float(sure[least > 0].sum())
            new = Truth(low * (1 - ERROR), high * (1 + ERROR), tail * (1 - ERROR))
            found = Truth(*map(max, found, new))
    return found


def random_case(chance: random.Random, cells: int = 60_000) -> Case:
    """A case small enough to be visited outcome by outcome."""
    while True:
        parts = tuple(_random_part(chance) for _ in range(chance.choice((1, 1, 2, 2, 3))))
        people = chance.randint(2, 12)
        noise = min(0.4999, math.exp(chance.uniform(math.log(1e-6), math.log(0.5))))
        asked = Case(
            parts=parts,
            records=chance.random() < 0.5,
            copies=chance.choice((1, 1, 1, 2, 3)),
            rounds=chance.choice((1, 1, 1, 2)),
            people=people,
            colluding=chance.randint(0, people - 2) if chance.random() < 0.25 else 0,
            noise=noise,
            epsilon=1.0,
        )
        if len(asked.answers) <= 12 and asked.cells <= cells:
            fields = {name: getattr(asked, name) for name in asked.__slots__}
            return Case(**fields | {"epsilon": _random_epsilon(chance, asked)})


def _random_part(chance: random.Random) -> Part:
    positions = chance.randint(1, 3)
    free, few = Part(positions, 0, positions), Part(positions, 0, chance.randint(1, positions))
    return chance.choice([free, few, *[Part(positions, 1, 1)] * (positions > 1)])


def _random_epsilon(chance: random.Random, case: Case) -> float:
    """Any ε from .001 to 100, one near the largest loss, or one that equals a loss."""
    loss = math.log1p(-case.noise) - math.log(case.noise)
    most = case.changes * case.copies * case.rounds
    epsilon = chance.choice(
        (
            math.exp(chance.uniform(math.log(1e-3), math.log(100.0))),
            chance.uniform(0.3, 1.05) * most * loss,
            chance.randint(1, most) * loss,
        )
    )
    return min(100.0, max(1e-3, epsilon))


def _record_pairs(
    case: Case, crowd: Sequence[Answer], domain: Sequence[Answer]
) -> Iterator[tuple[Floats, Floats]]:
    """An array with an axis for each kind of report: how often it was seen."""
    kinds = list(itertools.product((0, 1), repeat=case.positions))
    law = np.zeros((case.copies * case.honest + 1,) * (len(kinds) - 1))  # the last kind is the rest
    law[(0,) * law.ndim] = 1.0

    def with_answer(law: Floats, answer: Answer) -> Floats:
        flips = [sum(a != b for a, b in zip(answer, kind, strict=True)) for kind in kinds]
        log_q, log_p = math.log(case.noise), math.log1p(-case.noise)
        report = [math.exp(f * log_q + (len(answer) - f) * log_p) for f in flips]
        for _ in range(case.copies):
            grown = report[-1] * law
            for axis, weight in enumerate(report[:-1]):
                after: list[slice] = [slice(None)] * law.ndim
                before = after.copy()
                after[axis], before[axis] = slice(1, None), slice(None, -1)
                grown[tuple(after)] += weight * law[tuple(before)]
            law = grown
        return law

    for answer in crowd:
        law = with_answer(law, answer)
    laws = {answer: with_answer(law, answer).ravel() for answer in domain}
    repeated = {answer: _product([each] * case.rounds) for answer, each in laws.items()}
    for one, two in itertools.permutations(domain, 2):
        yield repeated[one], repeated[two]


def _bit_pairs(
    case: Case, crowd: Sequence[Answer], domain: Sequence[Answer]
) -> Iterator[tuple[Floats, Floats]]:
    """Every position is a count of its own; only where the two answers differ does it matter."""

    def with_bit(law: Floats, bit: int) -> Floats:
        zero, one = (case.noise, 1 - case.noise) if bit else (1 - case.noise, case.noise)
        for _ in range(case.copies):
            law = np.append(zero * law, 0.0) + np.append(0.0, one * law)
        return law

    counts = []
    for bits in zip(*crowd, strict=True):
        law = np.ones(1)
        for bit in bits:
            law = with_bit(law, bit)
        counts.append((with_bit(law, 0), with_bit(law, 1)))
    changes = {
        tuple((a, b) if a != b else None for a, b in zip(one, two, strict=True))
        for one, two in itertools.permutations(domain, 2)
    }
    for change in changes:
        moved = [(law, bits) for law, bits in zip(counts, change, strict=True) if bits]
        yield tuple(  # type: ignore[misc]
            _product([law[bits[side]] for law, bits in moved for _ in range(case.rounds)])
            for side in (0, 1)
        )


def _product(laws: Iterable[Floats]) -> Floats:
    """The law of independent observations."""
    found = np.ones(1)
    for law in laws:
        found = np.outer(found, law).ravel()
    return found


# --- seals, opened by the reference's HPKE ------------------------------------------------------

ANALYST = 0
"""The hop of the innermost layer."""


def peeled(
    keys: Mapping[int, X25519PrivateKey],
    plan_hash: str,
    lane: int,
    sealed: bytes,
    round_number: int = 1,
    hop: int = 1,
) -> bytes:
    """All layers removed from this hop on; `keys` by hop, the analyst's at ANALYST."""
    for number in [*sorted(key for key in keys if key >= max(hop, 2)), ANALYST]:
        info = layer_info(number, bytes.fromhex(plan_hash), round_number, lane)
        opened = open_sealed(sealed, keys[number], info)
        assert opened is not None, f"the layer of hop {number} does not open"
        sealed = opened
    return sealed


# --- attackers ----------------------------------------------------------------------------------

ALPHA = 1e-6
"""How often a check by chance may fail although nothing is wrong."""


def log_some(log_none: float) -> float:
    """log(1 - e^x) for x ≤ 0, with all its digits for chances near 0 and near 1."""
    if log_none < -1:
        return math.log1p(-math.exp(log_none))
    return math.log(-math.expm1(log_none)) if log_none < 0 else -math.inf


def surely_learned(
    *,
    records: bool,
    people: int,
    positions: int,
    copies: int,
    rounds: int,
    noise: float,
    epsilon: float,
) -> float:
    """P[event | one answer] - e^ε·P[event | another]: δ is at least this, by a pocket calculator.

    All others answer no to everything. Records: does some report of every round say yes to all,
    if the person does? Bits: was every position reported at least once, if the person says no?
    """
    log_q, log_p = math.log(noise), math.log1p(-noise)
    if records:
        foreign, own = log_some(positions * log_q), log_some(positions * log_p)
        without = log_some(copies * people * foreign)
        with_person = log_some(copies * ((people - 1) * foreign + own))
        times: tuple[int, ...] = (1, rounds)
    else:
        without = log_some(copies * people * log_p)
        with_person = log_some(copies * ((people - 1) * log_p + log_q))
        times = (1, positions, positions * rounds)
    return max(
        math.exp(n * with_person) - math.exp(min(700.0, n * without + epsilon)) for n in times
    )


def chance_between(hits: int, trials: int, alpha: float = ALPHA) -> tuple[float, float]:
    """Clopper and Pearson's interval of a chance."""
    low = float(stats.beta.ppf(alpha / 2, hits, trials - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(alpha / 2, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantage:
    """P[test | one answer] - e^ε·P[test | another] of the best test; δ is at least this."""

    least: float
    """Proven by counting how often the test is right, but for a chance of ALPHA."""
    most: float
    mean: float
    """The same more sharply, from the ratios themselves: the mean of (1 - e^ε ÷ ratio)⁺."""
    error: float
    """Of the mean, but for a chance of ALPHA (Bernstein)."""


def best_test(of_one: Floats, of_other: Floats, epsilon: float) -> Advantage:
    """From log P[seen | one answer] / P[seen | other], seen when one or the other was sent."""
    trials = len(of_one)
    right, wrong = (
        chance_between(int((ratios > epsilon).sum()), trials) for ratios in (of_one, of_other)
    )
    parts = -np.expm1(-np.maximum(of_one - epsilon, 0))
    chance = math.log(2 / ALPHA) / trials
    return Advantage(
        least=right[0] - math.exp(epsilon) * wrong[1],
        most=right[1] - math.exp(epsilon) * wrong[0],
        mean=float(parts.mean()),
        error=math.sqrt(2 * float(parts.var()) * chance) + 7 / 3 * chance,
    )


def right_guesses(weights: Sequence[int], rounds: int, tries: int, seed: int) -> float:
    """How often yes or no is guessed right from noisy counts of so many rounds.

    The attacker knows what everybody else answered, and takes the likelier of the two.
    """
    law = np.array(weights, float) / sum(weights)
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, tries)
    seen = draw.choice(len(law), (tries, rounds), p=law) + truth[:, None]
    with np.errstate(divide="ignore"):
        said_no = np.log([*law, 0.0])[seen].sum(axis=1)
        said_yes = np.log([0.0, *law])[seen].sum(axis=1)
    guess = np.where(said_yes == said_no, draw.random(tries) < 0.5, said_yes > said_no)
    return float((guess == truth).mean())


# --- statistics of what was drawn ---------------------------------------------------------------


def is_likely(found: int, draws: int, chance: Fraction | float, alpha: float = ALPHA) -> bool:
    """Whether so many hits may come of this chance, by its exact binomial tails."""
    chance = float(chance)
    tails = stats.binom.cdf(found, draws, chance), stats.binom.sf(found - 1, draws, chance)
    return bool(2 * min(tails) >= alpha)


def follows(observed: Wholes, law: Floats) -> bool:
    """Whether a chi-square test accepts the law; what is due less than ten times is pooled."""
    due = law / law.sum() * observed.sum()
    often = due >= 10
    seen = np.append(observed[often], observed[~often].sum())
    due = np.append(due[often], due[~often].sum())
    if seen[-1] > 0 and due[-1] == 0:
        return False
    if due[-1] < 10 and due.size > 1:  # joined with the least frequent of the others
        least = int(np.argmin(due[:-1]))
        seen[least], due[least] = seen[least] + seen[-1], due[least] + due[-1]
        seen, due = seen[:-1], due[:-1]
    return due.size < 2 or bool(stats.chisquare(seen, due).pvalue >= ALPHA)


def looks_random(content: bytes) -> bool:
    """Whether bytes are about equally frequent."""
    seen = Counter(content)
    return follows(np.array([seen[byte] for byte in range(256)]), np.full(256, 1 / 256))
