"""The numbers of 001 §3–4: whole vectors, their tails, and the precision they allow."""

from __future__ import annotations

from math import exp, log, sqrt

from krand.accounting.ratio import RatioLaw
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Number, Section

__all__ = ["precision", "ratio_table", "tail_bounds"]

E2 = exp(2)
BITS = 5
TABLE = (
    # 001 §3.3: λ, N, printed noise, printed tail
    ("2", 2.0, 1000, "0.2446", "0.006"),
    ("2", 2.0, 3000, "0.2109", "0.0048"),
    ("2", 2.0, 5000, "0.1778", "0.0045"),
    ("e^2", E2, 1000, "0.1692", "0.0037"),
    ("e^2", E2, 3000, "0.1424", "0.0062"),
    ("e^2", E2, 5000, "0.1310", "0.0074"),
)
BOUNDS = {1000: "0.052", 3000: "0.057", 5000: "0.062"}
"""001 §3.4: the printed values of (3.17)."""
LONG, MANY = 40, 10_000_000
"""001 §4: the large example, at λ = e²."""


def ratio_table() -> tuple[Number, ...]:
    """001 §3.3: the noise of (3.12) and the tail that it leaves, by the exact law."""
    rows = [
        Number(
            "001-3.3-lambda",
            Section.RATIO,
            "001 §3.3",
            "$e^{0.693}$",
            "2",
            exp(0.693),
        )
    ]
    for letter, lam, crowd, noise, tail in TABLE:
        rows += _table_row(letter, lam, crowd, noise, tail)
    return tuple(rows)


def _table_row(letter: str, lam: float, crowd: int, noise: str, tail: str) -> tuple[Number, Number]:
    key = f"001-3.3-{letter.replace('^', '')}-{crowd}"
    setting = f"$L=5$, $\\lambda={letter}$, $N={crowd}$"
    right = drafts.planner_001_3_12(crowd, BITS, lam)
    law = RatioLaw(float(noise), BITS, crowd)
    eta, delta = law.eta(log(lam)), law.delta(log(lam))
    exact = (
        f"At the printed noise the other direction has {digits(eta.reverse.value)};"
        f" $\\delta$ is {digits(delta.forward.value)} and {digits(delta.reverse.value)}."
    )
    at_right = RatioLaw(right, BITS, crowd).eta(log(lam)).forward.value
    return (
        Number(
            key=f"{key}-noise",
            section=Section.RATIO,
            source="001 §3.3",
            what=f"noise $q$ of (3.12), {setting}",
            printed=noise,
            computed=right,
            why="The printed noise does not satisfy (3.12). With the right one the tail is"
            f" {digits(at_right)}; with the printed one it is"
            f" {digits(eta.forward.value)}, {eta.forward.value / float(tail):.1f} times what the"
            " draft reports.",
            exposes=True,
        ),
        Number(
            key=f"{key}-tail",
            section=Section.RATIO,
            source="001 §3.3",
            what=f"tail $P[R\\ge\\lambda]$ at the printed noise, {setting}",
            printed=tail,
            computed=eta.forward.value,
            why="The draft simulated, without saying how often; this is the exact law.",
            note=exact,
            exposes=eta.forward.value > float(tail),
        ),
    )


def tail_bounds() -> tuple[Number, ...]:
    """001 §3.4: the table that is labelled λ = 2, (3.17), and the choice of β."""
    rows: list[Number] = []
    for _, lam, crowd, noise, tail in TABLE[3:]:
        rows += _bound_row(lam, crowd, noise, tail)
    return (*rows, *_choice_of_beta())


def _bound_row(lam: float, crowd: int, noise: str, tail: str) -> tuple[Number, Number]:
    q = float(noise)
    law = RatioLaw(q, BITS, crowd)
    before = drafts.tail_bound_001_3_17_unreduced(crowd, BITS, q, 3)
    return (
        Number(
            key=f"001-3.4-tail-{crowd}",
            section=Section.TAIL,
            source="001 §3.4",
            what=f"tail $P[R\\ge 2]$, labelled $\\lambda=2$, $N={crowd}$, $q={noise}$",
            printed=tail,
            computed=law.eta(log(2)).forward.value,
            why="The label is wrong: noise and tail are those of $\\lambda=e^2$ in §3.3, where the"
            f" exact tail is {digits(law.eta(log(lam)).forward.value)}. Read with the printed"
            " label, about half of all outcomes break the promise.",
            exposes=True,
        ),
        Number(
            key=f"001-3.4-bound-{crowd}",
            section=Section.TAIL,
            source="001 (3.17)",
            what=f"the bound (3.17) at $\\beta=3$, $L=5$, $N={crowd}$, $q={noise}$",
            printed=BOUNDS[crowd],
            computed=drafts.tail_bound_001_3_17(crowd, BITS, q, 3),
            why="Does not follow from the printed line, nor from the line before it, which gives"
            f" {digits(before)}. And the inequality behind both bounds the lower tail, not the"
            " one that matters.",
        ),
    )


def _choice_of_beta() -> tuple[Number, ...]:
    """L = 40, N = 10M: what β = 3.05 and 3.5 give and cost."""
    noises = {beta: drafts.planner_001_3_15(MANY, LONG, E2, beta) for beta in (3.0, 3.05, 3.5)}
    bounds = {b: drafts.tail_bound_001_3_17(MANY, LONG, q, b) for b, q in noises.items()}
    exact = {b: RatioLaw(q, LONG, MANY).eta(2.0).forward.value for b, q in noises.items()}
    setting = "$L=40$, $N=10^7$, $\\lambda=e^2$"
    return (
        Number(
            "001-3.4-beta-3.05",
            Section.TAIL,
            "001 §3.4",
            f"the bound (3.17) at $\\beta=3.05$, {setting}",
            "0.0096",
            bounds[3.05],
            note=f"It bounds the wrong tail; the exact one is {digits(exact[3.05])}.",
        ),
        Number(
            "001-3.4-beta-3.5",
            Section.TAIL,
            "001 §3.4",
            f"the bound (3.17) at $\\beta=3.5$, {setting}",
            "0.002",
            bounds[3.5],
            note=f"It bounds the wrong tail; the exact one is {digits(exact[3.5])}.",
        ),
        Number(
            key="001-3.4-beta-cost",
            section=Section.TAIL,
            source="001 §3.4",
            what=f"by how much $\\beta=3.5$ raises the noise over $\\beta=3$, {setting}",
            printed="0.0025",
            computed=noises[3.5] - noises[3.0],
            why="Harmless: the rise is a third of what the draft says.",
        ),
    )


def precision() -> tuple[Number, ...]:
    """001 §4: what the noise costs, against local privacy."""
    return (*_short_vectors(), *_long_vectors())


def _short_vectors() -> tuple[Number, ...]:
    """L = 5, N = 5000, λ = 2."""
    local, noise = drafts.local_noise_001_4_2(2, BITS), drafts.planner_001_3_12(5000, BITS, 2)
    setting = "$L=5$, $\\lambda=2$"
    return (
        _precise("001-4.3", "001 (4.3)", f"noise of local privacy, {setting}", "0.465", local),
        _precise(
            "001-4-local-sigma",
            "001 §4",
            f"its deviation in $\\sqrt N$, {setting}",
            "7.5",
            _multiplier(local),
            f"Harmless: $\\sqrt{{pq}}/(p-q)$ is {digits(_multiplier(0.465))} at the rounded .465.",
        ),
        _precise(
            "001-4-noise",
            "001 §4",
            f"noise of (3.12) at $N=5000$, {setting}",
            "0.1778",
            noise,
            "Repeats the error of §3.3.",
            exposes=True,
        ),
        _precise("001-4-sigma", "001 §4", "its deviation in $\\sqrt N$", "0.6", _multiplier(noise)),
        _precise(
            "001-4-gain",
            "001 §4",
            "how many times more precise than local privacy",
            "12",
            _multiplier(local) / _multiplier(noise),
        ),
    )


def _long_vectors() -> tuple[Number, ...]:
    """L = 40, N = 10M, λ = e²."""
    local, noise = drafts.local_noise_001_4_2(E2, LONG), drafts.planner_001_3_15(MANY, LONG, E2)
    setting = "$L=40$, $\\lambda=e^2$"
    three_sigma = 3 * drafts.sigma_001_4(MANY, noise)
    eta = RatioLaw(noise, LONG, MANY).eta(2.0).forward.value
    return (
        _precise(
            "001-4-long-local", "001 §4", f"noise of local privacy, {setting}", "0.4875", local
        ),
        _precise(
            "001-4-long-local-sigma",
            "001 §4",
            "its deviation in $\\sqrt N$",
            "20",
            _multiplier(local),
        ),
        _precise(
            "001-4-long-local-error",
            "001 §4",
            "its three deviations at $N=10^7$, in people",
            "2e5",
            3 * drafts.sigma_001_4(MANY, local),
            as_written="200K",
        ),
        _precise(
            "001-4-long-noise",
            "001 §4",
            f"noise of (3.15) at $N=10^7$, {setting}",
            "0.351",
            noise,
            note=f"The exact tail it leaves is {digits(eta)}.",
        ),
        _precise(
            "001-4-long-sigma", "001 §4", "its deviation in $\\sqrt N$", "1.6", _multiplier(noise)
        ),
        _precise(
            "001-4-long-gain",
            "001 §4",
            "how many times more precise than local privacy",
            "12.5",
            _multiplier(local) / _multiplier(noise),
        ),
        _precise(
            "001-4-long-error",
            "001 §4",
            "three deviations, in people",
            "1.5e4",
            three_sigma,
            as_written="15K",
        ),
        _precise(
            "001-4-long-relative",
            "001 §4",
            "that error, per cent of a group of 1 % of the population",
            "10",
            100 * three_sigma / (0.01 * MANY),
            "The draft's own 15K is 15 % of 100,000; 10 % is what two deviations give.",
        ),
    )


def _multiplier(noise: float) -> float:
    """σ of an estimated count in √N: √(pq)/(p - q) (001 §4)."""
    return sqrt(noise * (1 - noise)) / (1 - 2 * noise)


def _precise(
    key: str,
    source: str,
    what: str,
    printed: str,
    computed: float,
    why: str = "",
    note: str = "",
    exposes: bool = False,
    as_written: str = "",
) -> Number:
    return Number(
        key=key,
        section=Section.PRECISION,
        source=source,
        what=what,
        printed=printed,
        computed=computed,
        why=why,
        note=note,
        exposes=exposes,
        as_written=as_written,
    )
