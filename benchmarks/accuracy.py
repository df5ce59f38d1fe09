"""The error of a 40-position survey of 100,000 people: krand beside other ways at the same ε.

    python benchmarks/accuracy.py            # writes benchmarks/accuracy.md
    python benchmarks/accuracy.py --quick    # a smoke run: to the terminal only

Run it where krand and the peers are installed: multi-freq-ldpy, and pure-ldp with statsmodels and
xxhash below 4. A package that cannot be imported is listed with the reason, and its row left out.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from local_privacy import (
    Floats,
    Unary,
    asked_one,
    divided_best,
    divided_by_bits,
    pieces_of,
    sampled_sigma,
    unary,
    with_multi_freq_ldpy,
    with_pure_ldp,
)
from numpy.typing import NDArray

from krand.analyze.axes import bits_needed
from krand.analyze.counted import block_counts
from krand.analyze.counting import count_bits, count_joint
from krand.analyze.joint import joint_table
from krand.analyze.tally import Tally, empty_tally
from krand.client.randomizer import add_reported_counts, reported_rows
from krand.client.randomness import SecureRandom
from krand.privacy.guarantee import Linkage, Reports
from krand.privacy.peers import central_gaussian_sigma, gaussian_shift
from krand.survey.choices import Choices
from krand.survey.column import Column, Encoded
from krand.survey.columns import encode_columns
from krand.survey.decoding import describe
from krand.survey.layout import Layout, layout_of
from krand.survey.plan import Plan, make_plan
from krand.survey.population import simulated_answers
from krand.survey.questions import Choice
from krand.survey.reading import read_survey
from krand.survey.record import record_blocks
from krand.survey.survey import Survey, Together
from running import processor, progress, run_benchmark, table

Estimates = Callable[[int], Floats]
"""Estimates of all positions; the argument counts the repeats."""

RESULTS = Path(__file__).with_suffix(".md")
SURVEY = read_survey(RESULTS.parents[1] / "examples" / "browser.toml")
SEED = 1
GOAL = 1.10
"""Times the error of a trusted curator who divides noise in the same way."""
COPIES = (1, 16)
PAIR = ("operating_system", "crashed")
"""Two questions that the survey does not declare together."""
PACKAGES = ("krand", "numpy", "scipy", "multi-freq-ldpy", "pure-ldp")
KRAND, CURATOR = "krand, bit linkage", "central Gaussian, krand's division"


@dataclass(frozen=True, slots=True)
class Size:
    """How often each way is run."""

    quick: bool
    repeats: int
    records: int
    packages: int
    slow_package: int


FULL, QUICK = Size(False, 400, 40, 40, 3), Size(True, 20, 2, 2, 1)


# --- the people ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The same people for every way: what they answer, as columns, pairs and bits."""

    survey: Survey
    layout: Layout
    columns: dict[str, Column]
    encoded: Encoded
    bits: NDArray[np.bool_]

    @property
    def people(self) -> int:
        return len(self.bits)

    @property
    def truth(self) -> NDArray[np.int64]:
        """How many people set each position."""
        return np.asarray(self.bits.sum(axis=0), dtype=np.int64)

    def of_blocks(self, values: Sequence[float]) -> Floats:
        """A value of each block, at each of its positions."""
        return np.repeat(np.array(values), [block.positions for block in self.layout.blocks])


def world() -> World:
    layout, people = layout_of(SURVEY), SURVEY.policy.population
    columns = simulated_answers(SURVEY, people, SEED)
    encoded = encode_columns(layout, columns)
    bits = np.zeros((people, layout.positions), dtype=bool)
    bits[encoded.rows, encoded.positions] = True
    return World(SURVEY, layout, columns, encoded, bits)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A way to estimate the survey, and the deviation it should have at every position."""

    name: str
    trusted: str
    sigma: Floats
    run: Estimates
    repeats: int


# --- krand ---------------------------------------------------------------------------------------


def tally_of(
    plan: Plan, people: int, rows: NDArray[np.uint8], joint: tuple[int, ...] = ()
) -> Tally:
    """Whole records, counted."""
    asked = (joint,) if joint else ()
    found = empty_tally(plan.hash, Linkage.RECORD, plan.layout.positions, 1, asked)
    count_bits(rows, found.positions, found.counts)
    if joint:
        count_joint(rows, joint, found.joint[joint])
    return replace(found, people=people, crowd=people, reports=len(rows))


def estimated(plan: Plan, tally: Tally) -> Floats:
    """The noise taken out, position by position, without making counts consistent."""
    return np.concatenate([part.law.estimate(part.ones) for part in block_counts(plan, tally)])


def by_bits(seen: World, plan: Plan, repeats: int) -> Way:
    random, positions = SecureRandom(), plan.layout.positions

    def run(repeat: int) -> Floats:
        tally = empty_tally(plan.hash, Linkage.BIT, positions)
        add_reported_counts(plan, seen.encoded, seen.people, random, tally.counts)
        people = seen.people
        return estimated(plan, replace(tally, people=people, crowd=people, reports=people))

    sigma = seen.of_blocks([known.sigma for known in plan.precisions])
    return Way(KRAND, "shuffler", sigma, run, repeats)


def linked(survey: Survey, copies: int) -> Survey:
    """The same positions as one record: what is declared together becomes one choice of cells."""
    layout = layout_of(survey)
    asked = []
    for block in layout.blocks:
        question = block.questions[0]
        if len(block.questions) > 1:
            cells = Choices(describe(layout, p).label for p in layout.positions_of(block))
            question = Choice(name="_and_".join(block.question_names), choices=cells)
        asked.append(replace(question, weight=1.0))  # all bits of a record have the same noise
    return Survey(survey.id, survey.policy, tuple(asked), (), Linkage.RECORD, copies)


def by_records(seen: World, plan: Plan, repeats: int) -> Way:
    random, copies = SecureRandom(), plan.survey.copies

    def run(repeat: int) -> Floats:
        rows = reported_rows(plan, seen.encoded, seen.people, random)
        return estimated(plan, tally_of(plan, seen.people, rows))

    sigma = seen.of_blocks([known.sigma for known in plan.precisions])
    return Way(f"krand, record linkage, k = {copies}", "shuffler", sigma, run, repeats)


# --- a trusted curator ---------------------------------------------------------------------------


def curator_sigmas(survey: Survey) -> list[float]:
    """The best division of Gaussian noise for the survey's weights, block by block.

    With deviation s_j at each position of block j, a changed answer moves counts by t_j ones there,
    so Σ t_j/s_j² ≤ μ² is what (ε, δ) allows (Balle and Wang 2018, after scaling every count by its
    deviation). Σ w_j·s_j² is then least at s_j² = √(t_j/w_j)·Σ √(t_i·w_i)/μ²: krand's division.
    """
    blocks, shift = layout_of(survey).blocks, gaussian_shift(survey.policy)
    total = math.fsum(math.sqrt(block.changes * block.weight) for block in blocks)
    return [math.sqrt(math.sqrt(b.changes / b.weight) * total) / shift for b in blocks]


def by_curator(seen: World, name: str, sigma: Floats, repeats: int) -> Way:
    def run(repeat: int) -> Floats:
        rng = np.random.default_rng((SEED, 2, repeat))
        return np.asarray(seen.truth + sigma * rng.standard_normal(len(sigma)))

    return Way(name, "curator", sigma, run, repeats)


# --- local differential privacy ------------------------------------------------------------------


def by_unary(seen: World, name: str, channel: Unary, repeats: int) -> Way:
    def run(repeat: int) -> Floats:
        rng = np.random.default_rng((SEED, 3, repeat))
        return channel.estimate(channel.reported(seen.truth, seen.people, rng), seen.people)

    return Way(name, "nobody", channel.sigma(seen.truth, seen.people), run, repeats)


def local_ways(seen: World, size: Size, missing: list[str]) -> list[Way]:
    """Unary encoding from its law, and by two packages that randomize every person."""
    pieces, epsilon = pieces_of(seen.layout), seen.survey.policy.epsilon
    alike, best = divided_by_bits(pieces, epsilon), divided_best(pieces, epsilon)
    rappor = unary(pieces, alike, False)
    oue, whole = (unary(pieces, shares, True) for shares in (best, [epsilon] * len(pieces)))

    def one_question(repeat: int) -> Floats:
        return asked_one(pieces, whole, seen.bits, np.random.default_rng((SEED, 4, repeat)))

    sampled = sampled_sigma(pieces, whole, seen.truth, seen.people)
    ways = [
        by_unary(seen, "RAPPOR/SUE, ε/t for each bit", rappor, size.repeats),
        by_unary(seen, "SUE, ε divided best", unary(pieces, best, False), size.repeats),
        by_unary(seen, "OUE, ε divided best", oue, size.repeats),
        Way("OUE, one question a person", "nobody", sampled, one_question, size.repeats),
    ]
    try:
        counted, name = (
            with_multi_freq_ldpy(pieces, alike, seen.bits),
            "multi-freq-ldpy, RAPPOR/SUE",
        )
        run: Estimates = lambda repeat: rappor.estimate(counted(), seen.people)  # noqa: E731
        ways.append(Way(name, "nobody", ways[0].sigma, run, size.packages))
    except ImportError as error:
        missing.append(f"multi-freq-ldpy ({error})")
    try:
        estimates = with_pure_ldp(pieces, best, seen.bits)
        run = lambda repeat: estimates()  # noqa: E731
        ways.append(Way("pure-ldp, OUE", "nobody", ways[2].sigma, run, size.slow_package))
    except ImportError as error:
        missing.append(f"pure-ldp ({error})")
    return ways


# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Root mean square errors of a way, in people: for each block, expected and seen."""

    way: Way
    expected: Floats
    seen: Floats


def of_each_block(layout: Layout, squares: Floats) -> Floats:
    parts = [squares[..., b.offset : b.offset + b.positions] for b in layout.blocks]
    return np.sqrt([part.mean() for part in parts])


def overall(layout: Layout, errors: Floats) -> float:
    """√(Σ w·MSE / Σ w): what the plan makes least."""
    weights = [block.weight for block in layout.blocks]
    return math.sqrt(float(np.average(errors**2, weights=weights)))


def measured(seen: World, way: Way) -> Result:
    progress(f"{way.name}: {way.repeats} repeats")
    errors = np.array([way.run(repeat) - seen.truth for repeat in range(way.repeats)])
    blocks = (of_each_block(seen.layout, squares) for squares in (way.sigma**2, errors**2))
    return Result(way, *blocks)


# --- a pair that nobody declared -----------------------------------------------------------------


def true_table(seen: World) -> Floats:
    """Operating system, or silence, against "crashed" and everything else."""
    system, crashed = (seen.columns[name].codes for name in PAIR)
    found = np.zeros((7, 2))
    np.add.at(found, (np.where(system < 0, 6, system), (crashed != 0).astype(int)), 1)
    return found


def pair_row(seen: World, plan: Plan, repeats: int) -> list[str]:
    (joint,) = bits_needed(plan, PAIR)
    random, truth = SecureRandom(), true_table(seen)
    progress(f"the pair from records, k = {plan.survey.copies}: {repeats} repeats")
    errors, told = [], []
    for _ in range(repeats):
        rows = reported_rows(plan, seen.encoded, seen.people, random)
        found = joint_table(plan, tally_of(plan, seen.people, rows, joint), PAIR)
        errors.append((found.counts - truth)[:-1] ** 2)
        told.append(found.standard_errors[:-1] ** 2)
    name = f"krand, record linkage, k = {plan.survey.copies}"
    return [name, *(people(math.sqrt(float(np.mean(part)))) for part in (told, errors))]


def pair_section(seen: World, plans: Sequence[Plan], size: Size) -> str:
    declared = replace(seen.survey, together=(*seen.survey.together, Together(PAIR)))
    plan = make_plan(declared)
    block = plan.layout.block_of(PAIR[0])
    cell = plan.precisions[plan.layout.blocks.index(block)].sigma
    rows = [pair_row(seen, one, size.records) for one in plans]
    # "No" and silence are two cells here; a record of this survey has one bit for "yes".
    sizes = f"{people(cell)} or {people(cell * math.sqrt(2))}"
    rows.append(["krand, bit linkage, pair declared in the plan", sizes, "–"])
    return (
        f"## A pair that was not declared: {PAIR[0]} × {PAIR[1]}\n\n"
        + table(["root mean square error of a cell", "expected", "seen"], rows)
        + "\n\nThis is what whole records are for: questions that come up later. From reports of "
        "single bits this table cannot be made, and krand refuses to. If the pair is declared "
        f"before anybody answers, it costs {plan.layout.positions - seen.layout.positions} more "
        "positions and hardly any noise; the larger figure is for the sum of two cells, no and "
        "unanswered, which a record does not tell apart."
    )


# --- writing -------------------------------------------------------------------------------------


def people(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def ratio(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"{value:.2g}"


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def goal_section(layout: Layout, ours: Result, curator: Result) -> str:
    seen = overall(layout, ours.seen) / overall(layout, curator.seen)
    expected = overall(layout, ours.expected) / overall(layout, curator.expected)
    worst = float(np.max(ours.expected / curator.expected))
    found = {
        "error of all questions, expected": expected,
        "error of all questions, seen": seen,
        "the worst question, expected": worst,
    }
    columns = [f"{KRAND} ÷ {CURATOR}", "wanted", "found", ""]
    rows = [[n, f"≤ {GOAL:.2f}", ratio(v), verdict(v <= GOAL)] for n, v in found.items()]
    return f"## Goal: within 10 % of a trusted curator\n\n{table(columns, rows)}"


def overall_section(layout: Layout, results: Sequence[Result]) -> str:
    ours = overall(layout, results[0].expected)
    rows = []
    for one in results:
        expected, seen = overall(layout, one.expected), overall(layout, one.seen)
        numbers = [people(expected), people(seen), f"{seen / expected:.3f}"]
        rows.append(
            [one.way.name, one.way.trusted, str(one.way.repeats), *numbers, ratio(ours / expected)]
        )
    policy = SURVEY.policy
    columns = ["way", "must be trusted", "repeats", "expected", "seen", "seen ÷ expected"]
    return (
        f"## All questions, at ε = {policy.epsilon:g}\n\n"
        + table([*columns, "krand ÷ way"], rows)
        + "\n\nThe error is √(Σ w·MSE / Σ w) in people: MSE is the mean square error of a "
        "question's positions, w the question's weight in the survey. *Expected* is by formula, "
        "before any data where the way allows it; *krand ÷ way* compares the expected errors."
    )


def blocks_section(layout: Layout, results: Sequence[Result]) -> str:
    names = [f"{block.name} ({block.positions})" for block in layout.blocks]
    seen = [
        [
            one.way.name,
            *(f"{people(s)} ({people(e)})" for s, e in zip(one.seen, one.expected, strict=True)),
        ]
        for one in results
    ]
    ours = results[0].expected
    ratios = [[one.way.name, *map(ratio, ours / one.expected)] for one in results[1:]]
    return (
        "## Question by question\n\n"
        + table(["seen (expected), in people", *names], seen)
        + "\n\nThe root mean square error of one position; how many there are stands in brackets "
        "behind the question.\n\n" + table(["krand ÷ way, expected", *names], ratios)
    )


def reading(plan: Plan, records: Sequence[Plan]) -> str:
    policy, t = SURVEY.policy, plan.layout.changes
    left = ", ".join(
        f"{one.promise.local_epsilon:.0f} (records, k = {one.survey.copies})" for one in records
    )
    return (
        "## How to read this\n\n"
        "- **The same promise everywhere**: whoever sees what is released cannot tell two sets of "
        f"answers of one person apart, all questions together, up to ε = {policy.epsilon:g}. "
        f"One person's change of mind touches at most t = {t} of the {plan.layout.positions} "
        "positions.\n"
        f"- **Different trust.** krand's promise, (ε, δ = {policy.delta:g}), is proven for every "
        "crowd, and holds if shuffler and analyst do not work together; if they do, what is left "
        f"is ε₀ = {plan.promise.local_epsilon:.0f} (bits), {left}. The central Gaussian mechanism "
        "has the same ε and δ, but its curator sees everybody's answers. The local ways have "
        "δ = 0 and need neither shuffler nor curator: that is what their noise buys.\n"
        "- **Central Gaussian** is the analytic mechanism of Balle and Wang (2018). With krand's "
        "division the noise of a question has s² ∝ √(t/w), which is the best division for these "
        "weights; with equal noise every position has s = √t/μ.\n"
        "- **Record linkage** sends the same positions as one vector, k noisy copies of it. All "
        "bits have the same noise, so weights do not apply, and the noise grows with everything "
        "that travels together.\n"
        "- **Local ways** get the whole ε for all questions of a person. *ε/t for each bit* is "
        "RAPPOR's one noise for the whole report, permanent response only. *Divided best* gives a "
        "question a share ∝ (w·c²)^⅓, c = 2 for one answer of several and 1 for a single bit, "
        "which makes the error in the table least. With so small a share per question SUE and OUE "
        "are all but alike. *One question a person* spends all of ε on a question drawn at random "
        "with the best chances, and is the strongest local way here.\n"
        "- **Nothing is made consistent** (no negative counts, sums that fit): the error is that "
        "of the unbiased estimates, of all ways alike."
    )


def versions() -> list[str]:
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {package}" if package != "krand" else "krand from its sources")
    return found


def how(seen: World, size: Size, missing: list[str]) -> str:
    kind = "A smoke run, not for quoting," if size.quick else "A full run"
    command = "python benchmarks/accuracy.py" + (" --quick" if size.quick else "")
    policy = seen.survey.policy
    return (
        f"{kind} by `{command}` on {datetime.now(UTC):%Y-%m-%d}.\n\n"
        f"- Machine: {processor()} ({platform.machine()}), {os.cpu_count()} cores, "
        f"{platform.system()}.\n"
        f"- Versions: {', '.join(versions())}.\n"
        f"- Left out: {'; '.join(missing) or 'nothing'}.\n"
        f"- Survey: examples/browser.toml, {seen.layout.positions} positions, ε = "
        f"{policy.epsilon:g}, δ = {policy.delta:g}, answered by {seen.people:,} simulated people, "
        "the same for all ways and repeats.\n"
        "- krand flips everybody's bits with its real randomizer, and its estimates are the "
        "analyzer's. multi-freq-ldpy and pure-ldp randomize everybody with their clients. The "
        "other local ways draw counts from the exact law of randomizing everybody; the curator's "
        "noise is drawn from numpy.\n"
        "- An error seen in n repeats of the 40 positions is itself known to about 1/√(80·n): "
        f"{100 / math.sqrt(80 * size.repeats):.1f} % of it at {size.repeats} repeats."
    )


def report(quick: bool) -> str:
    size, seen, missing = QUICK if quick else FULL, world(), []
    plan = make_plan(seen.survey)
    records = [make_plan(linked(seen.survey, copies)) for copies in COPIES]
    structure = record_blocks(seen.layout)
    equal = central_gaussian_sigma(
        seen.survey.policy, Reports(seen.layout.positions, structure=structure)
    )
    alike = np.full(seen.layout.positions, equal)
    divided = seen.of_blocks(curator_sigmas(seen.survey))
    ways = [
        by_bits(seen, plan, size.repeats),
        by_curator(seen, CURATOR, divided, size.repeats),
        by_curator(seen, "central Gaussian, equal noise", alike, size.repeats),
        *(by_records(seen, one, size.records) for one in records),
        *local_ways(seen, size, missing),
    ]
    results = [measured(seen, way) for way in ways]
    sections = [
        "# Accuracy at the same ε",
        "<!-- Written by benchmarks/accuracy.py; do not edit. -->",
        how(seen, size, missing),
        goal_section(seen.layout, results[0], results[1]),
        overall_section(seen.layout, results),
        blocks_section(seen.layout, results),
        pair_section(seen, records, size),
        reading(plan, records),
    ]
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
