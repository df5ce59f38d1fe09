"""What the privacy engine costs, and what other ways to the same answers cost, in one run.

    make bench                                 # writes benchmarks/planning.md
    python benchmarks/planning.py --quick       # a smoke run: to the terminal only

Needs dp-accounting; `make bench` installs it into an environment of its own.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from krand import Linkage, Policy, ResponseFormat, plan_noise
from krand.accounting.composition import compose, connect_dots, loss_nodes, loss_step
from running import conditions, progress, run_benchmark, table, times, verdict

T = TypeVar("T")
Floats = NDArray[np.float64]

RESULTS = Path(__file__).with_suffix(".md")
AGREE = 1e-3
"""Relative error that every way to δ must reach before its time counts."""
SETTINGS = [m * 10.0**-e for e in range(2, 7) for m in (1.0, 0.5, 0.2)]
"""dp-accounting's grid steps, coarsest first; its default is 1e-4."""
SPREADS = 13.0
"""Standard deviations kept of a count."""
RESOLUTIONS = (20.0, 40.0, 80.0, 160.0, 320.0)
"""krand's nodes per standard deviation of one bit's loss, coarsest first; its default is 20."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    repeats: int
    cases: slice
    crowds: tuple[int, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One question to the planner, and the time it should not exceed."""

    name: str
    policy: Policy
    responses: ResponseFormat
    goal: float


@dataclass(frozen=True, slots=True)
class Pair:
    """The one-bit outlier pair, `count` times, asked about one ε."""

    crowd: int
    noise: float
    count: int
    epsilon: float

    def laws(self) -> Laws:
        """The count of ones if everybody has a 0, and if one person has a 1."""
        q, most = self.noise, self.crowd - 1
        spread = SPREADS * (1 + math.sqrt(most * q))
        first, last = max(0, int(most * q - spread)), min(most, int(most * q + spread))
        others = binom.pmf(np.arange(first, last + 1), most, q)
        return Laws(np.convolve(others, [1 - q, q]), np.convolve(others, [q, 1 - q]))


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """A pair of laws of one count."""

    zero: Floats
    one: Floats

    def profile(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """δ for 0 → 1 and for 1 → 0 at every ε ≥ 0; the ratio grows with the count."""
        with np.errstate(divide="ignore"):
            ratio = np.log(self.one) - np.log(self.zero)
        up, down = np.searchsorted(ratio, epsilons), np.searchsorted(ratio, -epsilons)
        ones, zeros = (
            np.append(np.cumsum(law[::-1])[::-1], 0.0)[up] for law in (self.one, self.zero)
        )
        forward = ones - np.exp(epsilons) * zeros
        zeros, ones = (np.append(0.0, np.cumsum(law))[down] for law in (self.zero, self.one))
        reverse = zeros - np.exp(epsilons) * ones
        return np.maximum(forward, 0.0), np.maximum(reverse, 0.0)


@dataclass(frozen=True, slots=True)
class Measured:
    """A way to δ, the setting at which it was accurate enough, and its price."""

    way: str
    setting: str
    error: float
    seconds: float


FULL = Size(
    repeats=3,
    cases=slice(None),
    crowds=tuple(10**n for n in range(3, 10)),
    pairs=(
        Pair(10**7, 2.09e-5, 1, 0.25),
        Pair(10**7, 2.09e-5, 40, 2.0),
        Pair(1000, 0.03, 1, 0.6),
        Pair(1000, 0.03, 40, 4.0),
    ),
)
QUICK = Size(1, slice(0, None, 5), (10**3, 10**7), FULL.pairs[2:])


# --- measuring ---------------------------------------------------------------------------------


def forget() -> None:
    """Empty every cache of the privacy engine, so that each repeat starts from nothing."""
    for name, module in list(sys.modules.items()):
        if name.startswith("krand.accounting"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def timed(work: Callable[[], T], repeats: int) -> tuple[float, T]:
    """Median seconds of at least so many repeats (short work is repeated more), and the result."""
    seconds: list[float] = []
    while len(seconds) < repeats or (sum(seconds) < 0.2 and len(seconds) < 51):
        forget()
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def command(case: Case) -> list[str]:
    """The same question to the command line."""
    policy, responses = case.policy, case.responses
    limit = ("--eta", policy.eta) if policy.delta is None else ("--delta", policy.delta)
    options: list[tuple[str, object]] = [
        ("--crowd", policy.minimum_crowd),
        ("--bits", responses.bits),
        ("--epsilon", policy.epsilon),
        limit,
        ("--copies", responses.copies),
        ("--linkage", responses.linkage),
    ]
    return ["noise", *(str(part) for option in options for part in option), "--json"]


def command_seconds(arguments: Sequence[str], repeats: int) -> float:
    """The whole command, start-up included."""
    whole = [str(Path(sysconfig.get_path("scripts")) / "krand"), *arguments]
    run = partial(subprocess.run, whole, check=True, stdout=subprocess.DEVNULL)
    return timed(run, repeats)[0]


# --- writing -----------------------------------------------------------------------------------


def span(seconds: float) -> str:
    """A duration in the unit a reader would choose."""
    units = (
        (1e-3, 1e-6, "µs"),
        (1.0, 1e-3, "ms"),
        (120.0, 1.0, "s"),
        (7200.0, 60.0, "min"),
        (172_800.0, 3600.0, "h"),
        (63e6, 86_400.0, "days"),
    )
    for limit, unit, name in units:
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    years = seconds / 31_557_600
    return f"{years:,.0f} years" if years < 1e6 else f"{years:.0e} years"


def share(error: float) -> str:
    if error < 1e-4:
        return f"{error:.1e}"
    return f"{100 * error:.2g} %" if error < 0.1 else f"{100 * error:.0f} %"


def crowd_text(crowd: int) -> str:
    exponent = round(math.log10(crowd))
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))


def how(size: Size, quick: bool) -> str:
    """How these figures were obtained."""
    return conditions(
        "make bench",
        quick,
        ("krand", "numpy", "scipy", "dp-accounting"),
        f"Times are by the clock on the wall, medians of {size.repeats} repeats (up to 51 for "
        "short work), every repeat with empty caches. Compare ratios, not times.",
    )


# --- the planner -------------------------------------------------------------------------------


def cases() -> tuple[Case, ...]:
    policy, record = Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-6), Linkage.RECORD
    one, many = ResponseFormat(40, linkage=record), ResponseFormat(40, linkage=record, copies=1024)
    return (
        Case("record, k = 1, δ = 1e-6", policy, one, 1.0),
        Case("record, k = 1024, δ = 1e-6", policy, many, 3.0),
        Case("bit, k = 1, δ = 1e-6", policy, ResponseFormat(40), 2.0),
    )


def case_row(case: Case, size: Size) -> list[str]:
    progress(f"planner: {case.name}")
    seconds, plan = timed(lambda: plan_noise(case.policy, case.responses), size.repeats)
    sigma = math.sqrt(
        case.policy.minimum_crowd * plan.noise * (1 - plan.noise) / case.responses.copies
    ) / (1 - 2 * plan.noise)
    whole = command_seconds(command(case), size.repeats)
    return [
        case.name,
        f"{plan.noise:.6g}",
        f"{sigma:,.4g}" if sigma < 1000 else f"{sigma:,.0f}",
        span(seconds),
        f"< {case.goal:g} s",
        verdict(seconds < case.goal),
        span(whole),
    ]


def planner_section(size: Size) -> str:
    columns = ["policy", "noise", "σ", "time", "goal", "", "whole command"]
    rows = [case_row(case, size) for case in cases()[size.cases]]
    started = span(command_seconds(["--version"], size.repeats))
    return (
        "## The smallest noise: N = 10⁷, L = 40, ε = 2\n\n"
        + table(columns, rows)
        + "\n\n*Time* is inside the process. *Whole command* is `krand noise … --json` from start "
        "to end; "
        f"`krand --version` alone takes {started}."
    )


def crowd_section(size: Size) -> str:
    """The same policy for crowds of very different size."""
    seconds: dict[tuple[int, Linkage], tuple[float, float]] = {}
    for crowd, linkage in product(size.crowds, (Linkage.RECORD, Linkage.BIT)):
        progress(f"crowd: {linkage}, N = {crowd:,}")
        work = partial(
            plan_noise,
            Policy(epsilon=1.0, minimum_crowd=crowd, delta=1e-6),
            ResponseFormat(20, linkage=linkage),
        )
        taken, plan = timed(work, size.repeats)
        seconds[crowd, linkage] = taken, plan.noise
    rows = [[crowd_text(crowd), *crowd_cells(seconds, crowd)] for crowd in size.crowds]
    columns = ["N"]
    for linkage in (Linkage.RECORD, Linkage.BIT):
        columns += [f"noise, {linkage}", "time", "÷ N = 10⁷"]
    return (
        "## Cost and crowd: L = 20, ε = 1, δ = 1e-6, k = 1\n\n"
        + table(columns, rows)
        + "\n\nThe goal is a cost that does not grow with the crowd."
    )


def crowd_cells(
    seconds: dict[tuple[int, Linkage], tuple[float, float]], crowd: int
) -> Iterator[str]:
    for linkage in (Linkage.RECORD, Linkage.BIT):
        taken, noise = seconds[crowd, linkage]
        yield from (f"{noise:.5g}", span(taken), f"{taken / seconds[10**7, linkage][0]:.2f}")


# --- beside dp-accounting ----------------------------------------------------------------------


def reference(pair: Pair) -> float:
    """δ forward of the given laws, by a computation that shares nothing with either library.

    Alone: the sum over all counts. Composed: every loss is split between two neighbours of a grid
    so that its mean is kept, and the FFT takes the power; the error is of second order in the step.
    """
    laws, lam = pair.laws(), math.exp(pair.epsilon)
    if pair.count == 1:
        return math.fsum(np.maximum(laws.one - lam * laws.zero, 0.0).tolist())
    step, size = 1e-5, 2**22
    seen = (laws.one > 1e-25) & (laws.zero > 0)
    place = np.log(laws.one[seen] / laws.zero[seen]) / step
    left = np.floor(place).astype(np.int64)
    right_share = place - left
    mass = np.bincount(left % size, laws.one[seen] * (1 - right_share), size)
    mass += np.bincount((left + 1) % size, laws.one[seen] * right_share, size)
    power = np.fft.irfft(np.fft.rfft(mass) ** pair.count, size)[: size // 2]
    loss = step * np.arange(size // 2)
    above = loss > pair.epsilon
    return float((power[above] * -np.expm1(pair.epsilon - loss[above])).sum())


def furthest(laws: Laws, noise: float, count: int) -> float:
    """The loss beyond which the profile no longer matters."""
    probe = np.asarray(np.geomspace(1e-6, math.log((1 - noise) / noise), 400), dtype=np.float64)
    small = np.flatnonzero(np.maximum(*laws.profile(probe)) < 1e-18 / count)
    return float(probe[small[0]] if small.size else probe[-1])


def by_krand(pair: Pair, laws: Laws, resolution: float) -> float:
    if pair.count == 1:
        return float(laws.profile(np.array([pair.epsilon]))[0][0])
    step = loss_step(float(laws.profile(np.zeros(1))[0][0]), resolution)
    reach = furthest(laws, pair.noise, pair.count)
    nodes = loss_nodes(step, reach, pair.count, resolution)
    law = connect_dots(step, nodes, *laws.profile(step * nodes.astype(np.float64)))
    return compose([(law, pair.count)], pair.epsilon).delta(pair.epsilon)


def as_logs(laws: Laws) -> tuple[dict[int, float], dict[int, float]]:
    """The two laws in the form that dp-accounting reads."""
    lower, upper = (
        {int(i): math.log(law[i]) for i in np.flatnonzero(law > 1e-30)}
        for law in (laws.zero, laws.one)
    )
    return lower, upper


def first_good(
    way: str,
    settings: Sequence[float],
    answer: Callable[[float], float],
    exact: float,
    repeats: int,
) -> Measured:
    """The coarsest setting that is accurate enough, and what it costs."""
    for setting in settings:
        error = abs(answer(setting) / exact - 1)
        if error <= AGREE:
            seconds, _ = timed(partial(answer, setting), repeats)
            return Measured(way, f"{setting:g}", error, seconds)
    raise SystemExit(f"{way} does not come within {AGREE:g} of δ = {exact:g}")


def ways(pair: Pair, exact: float, repeats: int) -> list[Measured]:
    """krand and dp-accounting, each at the coarsest setting that will do."""
    laws = pair.laws()
    lower, upper = as_logs(laws)
    pld: Any = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")

    def two_laws(step: float) -> float:
        """Every loss rounded up to the grid."""
        law = pld.from_two_probability_mass_functions(
            lower, upper, value_discretization_interval=step, symmetric=True
        )
        return float(law.self_compose(pair.count).get_delta_for_epsilon(pair.epsilon))

    good = partial(first_good, exact=exact, repeats=repeats)
    return [
        good("krand", RESOLUTIONS, lambda resolution: by_krand(pair, laws, resolution)),
        good("dp-accounting, two laws", SETTINGS, two_laws),
    ]


def pair_rows(pair: Pair, repeats: int) -> list[list[str]]:
    progress(f"dp-accounting: N = {pair.crowd:,}, t = {pair.count}")
    exact = reference(pair)
    found = ways(pair, exact, repeats)
    question = f"N = {crowd_text(pair.crowd)}, q = {pair.noise:g}, t = {pair.count}"
    question += f", ε = {pair.epsilon:g}"
    return [
        [
            question,
            f"{exact:.4e}",
            each.way,
            "exact sum" if pair.count == 1 and each.way == "krand" else each.setting,
            share(each.error),
            span(each.seconds),
            times(each.seconds / found[0].seconds),
        ]
        for each in found
    ]


def peer_section(size: Size) -> str:
    rows = [row for pair in size.pairs for row in pair_rows(pair, size.repeats)]
    columns = ["one-bit outlier pair", "δ", "way", "setting", "error", "time", "÷ krand"]
    return (
        "## Beside dp-accounting: one pair of laws, t times\n\n"
        + table(columns, rows)
        + f"\n\nEach way at its coarsest setting with a relative error of at most {share(AGREE)}: "
        "grid steps 1, .5, .2 times powers of ten for dp-accounting, nodes per standard deviation "
        "of one loss for krand. *Two laws* is `from_two_probability_mass_functions`, which rounds "
        "losses up. δ is 0 → 1, by a third computation in the benchmark itself. The laws are "
        "given to all; only the way from them to δ is timed."
    )


# --- all of it ---------------------------------------------------------------------------------


def report(size: Size, quick: bool) -> str:
    if importlib.util.find_spec("dp_accounting") is None:
        raise SystemExit("dp-accounting is not installed here; run: make bench")
    head = how(size, quick)
    sections = [planner_section(size), crowd_section(size)]
    sections.append(peer_section(size))
    title = "# What the privacy engine costs"
    note = "<!-- Written by benchmarks/planning.py; do not edit. -->"
    return "\n\n".join([title, note, head, *sections]) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, (RESULTS, lambda quick: report(QUICK if quick else FULL, quick)))
