"""A whole survey under local differential privacy: every report protects itself, at one ε in all.

Unary encoding (Wang, Blocki, Li, Jha 2017): a question with one answer of several is a row of bits,
one of them set, and every bit is reported wrongly now and then. A 1 is reported as 1 with chance
p, a 0 with chance q < p.

- SUE, which is basic one-time RAPPOR: p = 1 - q. Each changed bit costs ln(p/q), so a changed
  answer, which changes two bits, costs twice that.
- OUE: p = ½ and q = 1/(e^ε + 1); a changed answer costs ε. For a bit that stands alone OUE has no
  advantage, and it is reported as in SUE.

ε is divided over what is asked, or each person is asked one thing drawn at random and spends all
of it there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.survey.layout import Block, Layout

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Bits = NDArray[np.bool_]
Estimates = Callable[[], Floats]
"""Collects the survey anew, and estimates all positions."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is asked as one: a question with one answer of several, or a single bit."""

    positions: slice
    weight: float
    """What its mean square error counts for."""
    single: bool

    @property
    def sensitivity(self) -> int:
        """Bits that differ between two answers."""
        return 1 if self.single else 2


def pieces_of(layout: Layout) -> list[Piece]:
    """Bits that may be set in any combination are pieces of their own."""
    return [piece for block in layout.blocks for piece in _pieces(block)]


def _pieces(block: Block) -> list[Piece]:
    start, end = block.offset, block.offset + block.positions
    if block.most_ones == block.positions:
        weight = block.weight / block.positions
        return [Piece(slice(place, place + 1), weight, True) for place in range(start, end)]
    assert block.most_ones == 1, "at most m of C is not simulated here"
    return [Piece(slice(start, end), block.weight, False)]


# --- dividing ε ----------------------------------------------------------------------------------


def divided_by_bits(pieces: Sequence[Piece], epsilon: float) -> list[float]:
    """The same for every bit that can change: one noise for the whole report, as in RAPPOR."""
    sensitivity = sum(piece.sensitivity for piece in pieces)
    return [epsilon * piece.sensitivity / sensitivity for piece in pieces]


def divided_best(pieces: Sequence[Piece], epsilon: float) -> list[float]:
    """What makes the weighted sum of variances least.

    A small share e costs a variance of about N·c²/e², c the changed bits; Σ w·c²/e² for a given Σ e
    is least where e ∝ (w·c²)^⅓.
    """
    shares = [math.cbrt(piece.weight * piece.sensitivity**2) for piece in pieces]
    return [epsilon * share / math.fsum(shares) for share in shares]


# --- the channel ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """How likely each position is reported as 1, where it is truly 1 and where it is 0."""

    ones: Floats
    zeros: Floats

    def estimate(self, counts: NDArray[Any], responses: int) -> Floats:
        """The unbiased number of ones."""
        return np.asarray((counts - responses * self.zeros) / (self.ones - self.zeros), np.float64)

    def sigma(self, truth: Counts, people: int) -> Floats:
        """The deviation of every estimate."""
        spread = truth * self.ones * (1 - self.ones) + (people - truth) * self.zeros * (
            1 - self.zeros
        )
        return np.asarray(np.sqrt(spread) / (self.ones - self.zeros), dtype=np.float64)

    def reported(self, truth: Counts, people: int, rng: np.random.Generator) -> Counts:
        """Counts of reported ones: the law of randomizing every person's bits one by one."""
        kept = rng.binomial(truth, self.ones)
        return np.asarray(kept + rng.binomial(people - truth, self.zeros), dtype=np.int64)


def unary(pieces: Sequence[Piece], shares: Sequence[float], optimized: bool) -> Unary:
    """SUE or OUE with this share of ε for every piece."""
    positions = max(piece.positions.stop for piece in pieces)
    ones, zeros = np.empty(positions), np.empty(positions)
    for piece, share in zip(pieces, shares, strict=True):
        if optimized and not piece.single:
            ones[piece.positions], zeros[piece.positions] = 0.5, 1 / (math.exp(share) + 1)
        else:
            q = 1 / (1 + math.exp(share / piece.sensitivity))
            ones[piece.positions], zeros[piece.positions] = 1 - q, q
    return Unary(ones, zeros)


# --- one question a person -----------------------------------------------------------------------


def _chances(pieces: Sequence[Piece], channel: Unary) -> Floats:
    """How often each piece is asked: N·v/π is its variance, so Σ w·v/π is least at π ∝ √(w·v)."""
    q, gap = channel.zeros, channel.ones - channel.zeros
    variance = (q * (1 - q) / gap**2)[[piece.positions.start for piece in pieces]]
    wanted = np.sqrt(np.array([piece.weight for piece in pieces]) * variance)
    return np.asarray(wanted / wanted.sum(), dtype=np.float64)


def asked_one(
    pieces: Sequence[Piece], channel: Unary, bits: Bits, rng: np.random.Generator
) -> Floats:
    """Each person is asked one piece; those who are asked stand for all."""
    people = len(bits)
    asked = rng.choice(len(pieces), size=people, p=_chances(pieces, channel))
    estimates = np.empty(bits.shape[1])
    for number, piece in enumerate(pieces):
        where = piece.positions
        group = bits[asked == number, where]
        one = Unary(channel.ones[where], channel.zeros[where])
        counts = one.reported(group.sum(axis=0), len(group), rng)
        estimates[where] = one.estimate(counts, len(group)) * people / len(group)
    return estimates


def sampled_sigma(pieces: Sequence[Piece], channel: Unary, truth: Counts, people: int) -> Floats:
    """The deviation of `asked_one`: the noise of fewer reports, and who happened to be asked."""
    share = np.empty(len(truth))
    for piece, chance in zip(pieces, _chances(pieces, channel), strict=True):
        share[piece.positions] = chance
    chosen = truth * (1 - truth / people) * (1 - share) / share
    return np.asarray(np.sqrt(channel.sigma(truth, people) ** 2 / share + chosen), np.float64)
