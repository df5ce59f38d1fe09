"""Pictures of k copies of whole vectors: noise, precision, and what the noise gives (001 §6.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from krand.wording.phrases import percent
from krand_lab import formulas as drafts
from krand_lab.exact.attack import Attack
from krand_lab.exact.ratio import RatioLaw
from krand_lab.intervals import Estimate
from krand_lab.reproduction.entries import Mark, Picture, Section, Series, digits, picture
from krand_lab.simulation import simulate

POPULATION, BITS, EPSILON = 10_000_000, 40, 2.0
COPIES = (1, 2, 4, 8, 16, 32, 50, 100, 200)
ALL_COPIES = tuple(range(1, COPIES[-1] + 1))
SHOWN = 4
"""The number of copies that the draft proposes (001 §6.1)."""
TOLD = (4, 16, 50, 200)
"""Failure rates that the caption mentions."""
SEED, OUTCOMES = 6_001, 5_000
"""The simulation of every k starts from this seed, so that each can be repeated alone."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """Noise for every k of COPIES that keeps δ where the draft's own k = 1 has it."""

    delta: float
    tail: float
    noises: tuple[float, ...]


def _printed(copies: int) -> float:
    """The noise that (6.3) allows."""
    return drafts.planner_copies_001_6_3(POPULATION, BITS, math.exp(EPSILON), copies)


@cache
def _planned() -> _Planned:
    """k-fold composition of one copy's exact law bounds k mixed copies."""
    alone = RatioLaw(_printed(1), BITS, POPULATION)
    delta, tail = alone.delta(EPSILON).value, alone.eta(EPSILON).value
    noises = [alone.noise]
    for copies in COPIES[1:]:
        attack = Attack(bits=BITS, copies=copies, crowd=POPULATION, epsilon=EPSILON)
        noises.append(attack.least_noise(delta, start=noises[-1]))
    return _Planned(delta, tail, tuple(noises))


def _sigma(q: float, copies: int) -> float:
    """σ of an estimated count (001 §6)."""
    return drafts.sigma_001_4(POPULATION, q, copies)


def _floats(copies: tuple[int, ...]) -> tuple[float, ...]:
    """Numbers of copies as abscissae."""
    return tuple(float(k) for k in copies)


def noise_of_copies() -> Picture:
    """q against k: (6.3) lets it fall, the exact law makes it rise."""
    planned = _planned()
    printed = tuple(map(_printed, ALL_COPIES))
    return picture(
        Section.COPIES,
        "001-6.1-noise",
        (
            Series("printed, (6.3)", "draft", _floats(ALL_COPIES), printed),
            Series("right, at equal δ", "right", _floats(COPIES), planned.noises),
        ),
        first=digits(printed[0], 4),
        last=digits(printed[-1], 4),
        delta=digits(planned.delta),
        right=digits(planned.noises[-1], 4),
    )


def precision_of_copies() -> Picture:
    """σ against k with the printed and with the right noise."""
    printed = tuple(_sigma(_printed(k), k) for k in ALL_COPIES)
    right = tuple(map(_sigma, _planned().noises, COPIES))
    return picture(
        Section.COPIES,
        "001-6.1-precision",
        (
            Series("with the noise of (6.3)", "draft", _floats(ALL_COPIES), printed),
            Series("with the right noise", "right", _floats(COPIES), right),
        ),
        first=digits(right[0]),
        shown=digits(right[COPIES.index(SHOWN)]),
        printed=digits(printed[SHOWN - 1]),
        last=digits(right[-1]),
        printed_last=digits(printed[-1]),
        more=percent(100 * (right[-1] / printed[-1] - 1)),
    )


def failure_rate_of_copies() -> Picture:
    """P[R > e² | D_m] against k, simulated, with the printed and with the right noise."""
    planned = _planned()
    printed = [_failures(_printed(k), k) for k in COPIES]
    right = [_failures(q, k) for q, k in zip(planned.noises, COPIES, strict=True)]
    told = ", ".join(
        f"{percent(100 * estimate.value)} at k = {k}"
        for k, estimate in zip(COPIES, printed, strict=True)
        if k in TOLD
    )
    return picture(
        Section.COPIES,
        "001-6.1-failures",
        (
            _estimates("with the noise of (6.3)", "draft", printed),
            _estimates("with the right noise", "right", right),
        ),
        marks=(Mark("k = 1, exact", planned.tail, vertical=False),),
        seed=SEED,
        tail=percent(100 * planned.tail),
        told=told,
        top=percent(100 * max(estimate.value for estimate in right)),
        outcomes=f"{OUTCOMES:,}",
    )


def _failures(q: float, copies: int) -> Estimate:
    """P[R > e² | D_m] by importance sampling of e_k, which shares nothing with the exact law."""
    return simulate(
        bits=BITS,
        noise=q,
        crowd=POPULATION,
        epsilon=EPSILON,
        copies=copies,
        samples=OUTCOMES,
        seed=SEED,
    ).eta_forward


def _estimates(label: str, role: str, estimates: list[Estimate]) -> Series:
    """Simulated values with their intervals, for every k of COPIES."""
    return Series(
        label,
        role,
        _floats(COPIES),
        tuple(each.value for each in estimates),
        tuple(each.low for each in estimates),
        tuple(each.high for each in estimates),
    )
