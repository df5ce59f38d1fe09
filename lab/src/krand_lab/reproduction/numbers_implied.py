"""What 001 §1.2, §5 and §6 imply in numbers: the worst collection, sparse vectors, k copies.

The drafts print no digits here. They say that one thing is as safe as another; the number is the
other thing's, computed, and is held against what the first thing really gives.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from krand.accounting.backgrounds import Pattern
from krand.accounting.bits import background_pair
from krand.accounting.calibration import plan_noise
from krand.accounting.ratio import RatioLaw, two_way_eta
from krand.promise import Assurance, Linkage, Policy, ResponseFormat, TwoWay
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Number, Section
from krand_lab.simulation import simulate

__all__ = ["SEED", "collections", "copies", "failure_rates", "sparse"]

E2 = exp(2)
LONG, MANY = 40, 10_000_000
"""001 §6.1: the large example, at λ = e²."""
SEED, SAMPLES = 20170209, 20_000
"""For the ratio of several copies, which is simulated."""


def _implied(value: float) -> str:
    """Two digits: a sentence does not imply more."""
    return f"{value:.2g}"


def _worse(value: TwoWay) -> float:
    return max(value.forward.value, value.reverse.value)


def collections() -> tuple[Number, ...]:
    """001 §1.2: no background is worse than the outlier pair's, for one bit and for five."""
    return (_one_bit_background(), _agreeing_pair())


def _one_bit_background() -> Number:
    crowd, noise, epsilon = 100, 0.05, 1.5
    deltas = [
        float(max(side.max() for side in pair.profile(np.array([epsilon]))))
        for ones in range(crowd // 2)
        for pair in [background_pair(noise, ones, crowd - 1 - ones)]
    ]
    worst = max(range(len(deltas)), key=deltas.__getitem__)
    return Number(
        key="001-1.2-one-bit",
        section=Section.COLLECTIONS,
        source="001 §1.2",
        what="largest $\\delta$ over all backgrounds of one bit, $N=100$, $q=0.05$, "
        "$\\epsilon=1.5$",
        printed=f"{deltas[0]:.3g}",
        computed=deltas[worst],
        why=f"It is reached with {worst} set bit in the background: at small $N$ the counts form a"
        " coarse lattice. The conjecture holds to leading order only; krand certifies the"
        " supremum over all backgrounds.",
        exposes=deltas[worst] > deltas[0],
        as_written="at most the outlier pair's",
        implied=True,
    )


def _agreeing_pair() -> Number:
    crowd, noise, lam = 300, 0.2, 8.0
    eta = {f: _worse(two_way_eta(f.law(noise), crowd, log(lam))) for f in _five_bits()}
    worst = max(eta, key=eta.__getitem__)
    outlier = eta[Pattern(5)]
    return Number(
        key="001-1.2-five-bits",
        section=Section.COLLECTIONS,
        source="001 §1.2",
        what="largest tail over all homogeneous backgrounds, $L=5$, $N=300$, $q=0.2$, $\\lambda=8$",
        printed=_implied(outlier),
        computed=eta[worst],
        why=f"In {worst.common} of the 5 bits both answers of the worst pair are what nobody "
        "else's is: few reports look like either, so that each of them tells more.",
        exposes=eta[worst] > outlier,
        as_written="at most the outlier pair's",
        implied=True,
    )


def _five_bits() -> list[Pattern]:
    return [Pattern(a, b, 5 - a - b) for a in range(1, 6) for b in range(min(a, 5 - a) + 1)]


def sparse() -> tuple[Number, ...]:
    """001 §5: m set bits with the noise of 2m free bits, N = 1000, λ = 2."""
    return tuple(_sparse(set_bits) for set_bits in (1, 2, 3))


def _sparse(set_bits: int) -> Number:
    crowd, lam, m = 1000, 2.0, set_bits
    bits = drafts.sparse_bits_001_5(m)
    noise = drafts.planner_001_3_12(crowd, bits, lam)
    free = RatioLaw(noise, bits, crowd).eta(log(lam))
    third = two_way_eta(Pattern(m, m, m).law(noise), crowd, log(lam))
    bits_set = "one set bit" if m == 1 else f"{m} set bits"
    return Number(
        key=f"001-5-set-bits-{m}",
        section=Section.SPARSE,
        source="001 §5",
        what=f"tail of vectors with {bits_set} at the noise of (3.12) for $L={bits}$,"
        f" $N=1000$, $\\lambda=2$, $q={noise:.4f}$",
        printed=_implied(free.forward.value),
        computed=_worse(third),
        why="The draft's outlier differs from a crowd that answers like one of the two. Where "
        "everybody else gives a third answer, disjoint from both, "
        "$\\chi^2=2\\varphi^{2m}-2\\varphi^m$ instead of $\\varphi^{2m}-1$. "
        "Plan with the worse of the two, in both directions.",
        note=f"The other direction of the draft's pair has {digits(free.reverse.value)}.",
        exposes=_worse(third) > free.forward.value,
        as_written=f"as for {bits} free bits",
        implied=True,
    )


def copies() -> tuple[Number, ...]:
    """001 §6.1: the large example with several copies."""
    one = drafts.planner_001_3_15(MANY, LONG, E2)
    delta = RatioLaw(one, LONG, MANY).delta(2.0)
    policy = Policy(
        epsilon=2.0,
        delta=max(delta.forward.upper, delta.reverse.upper),
        minimum_crowd=MANY,
        assurance=Assurance.OUTLIER,
    )
    four = plan_noise(policy, ResponseFormat(LONG, linkage=Linkage.RECORD, copies=4))
    printed_four = drafts.planner_copies_001_6_3(MANY, LONG, E2, 4)
    setting = "$L=40$, $N=10^7$, $\\lambda=e^2$"
    return (
        Number(
            "001-6.1-noise-1",
            Section.COPIES,
            "001 §6.1",
            f"noise of (6.3) with one copy, {setting}",
            "0.351",
            drafts.planner_copies_001_6_3(MANY, LONG, E2, 1),
        ),
        Number(
            key="001-6.1-one-copy",
            section=Section.COPIES,
            source="001 §6.1",
            what="error of a group of 1 % of the population with one copy, per cent",
            printed="10",
            computed=100 * 3 * drafts.sigma_001_4(MANY, one) / (0.01 * MANY),
            why="As in §4: 15 % at three deviations.",
        ),
        Number(
            "001-6.1-four-copies",
            Section.COPIES,
            "001 §6.1",
            "the group that four copies measure as well as one copy measures 1 %, per cent",
            "0.5",
            four.precision.sigma / drafts.sigma_001_4(MANY, one),
            note=f"Computed at {digits(four.noise)}, the noise that keeps $\\delta$ where one copy"
            f" has it. The printed (6.3) gives {digits(printed_four)}, which does not.",
        ),
    )


def failure_rates() -> tuple[Number, ...]:
    """001 (6.3): how often the ratio exceeds λ at the noise that it gives."""
    one_copy = RatioLaw(drafts.planner_001_3_15(MANY, LONG, E2), LONG, MANY).eta(2.0).forward.value
    return tuple(_failure_rate(k, one_copy) for k in (4, 16, 50, 200))


def _failure_rate(copies: int, one_copy: float) -> Number:
    noise = drafts.planner_copies_001_6_3(MANY, LONG, E2, copies)
    eta = simulate(
        bits=LONG, noise=noise, crowd=MANY, epsilon=2.0, copies=copies, samples=SAMPLES, seed=SEED
    ).eta_forward
    return Number(
        key=f"001-6.3-failure-{copies}",
        section=Section.COPIES,
        source="001 (6.3)",
        what=f"tail $P[R(S^k)>\\lambda]$ at the noise of (6.3), $k={copies}$, $q={noise:.4f}$,"
        " $L=40$, $N=10^7$, $\\lambda=e^2$",
        printed=_implied(one_copy),
        computed=eta.value,
        why="(6.3) lets the noise fall as copies are added: it loses a factor $k!$ in (8.21) and, "
        "after (8.37), the covariances of overlapping subsets. The right noise rises slowly with "
        "$k$; krand composes the exact law of one copy.",
        note=f"95 % interval of the simulation: {digits(eta.low)} to {digits(eta.high)}.",
        exposes=eta.low > one_copy,
        as_written="as with one copy",
        implied=True,
        seed=SEED,
    )
