"""Errors at the same ε: a survey beside other ways, one mixer beside a trusted curator.

python benchmarks/accuracy.py            # writes accuracy.md and curator.md
python benchmarks/accuracy.py --quick    # a smoke run: to the terminal only
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from accuracy_ways import (
    KRAND,
    Floats,
    Size,
    Way,
    World,
    all_ways,
    linked,
    sigma_of,
    world,
)
from curator import curator_report
from textbook import gaussian_sigma, laplace_sigma

from krand import Plan, ResponseFormat, make_plan, plan_noise, read_survey
from krand.survey.layout import Layout
from running import conditions, progress, run_benchmark, table

RESULTS = Path(__file__).with_suffix(".md")
SURVEY = read_survey(RESULTS.parents[1] / "examples" / "browser.toml")
COPIES = (1, 16)
SENSITIVITIES = (1, 2, 4, 8, 16, 40)
PACKAGES = ("krand", "numpy", "scipy")
FULL, QUICK = Size(False, 1000, 200), Size(True, 20, 2)


# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Root mean square errors of a way, in people: for each block, expected and seen."""

    way: Way
    expected: Floats
    seen: Floats
    uncertainty: float


def of_each_block(layout: Layout, squares: Floats) -> Floats:
    parts = [squares[..., b.offset : b.offset + b.positions] for b in layout.blocks]
    return np.sqrt([part.mean() for part in parts])


def overall(layout: Layout, errors: Floats) -> float:
    """√(Σ w·MSE / Σ w): what the plan makes least."""
    weights = [block.weight for block in layout.blocks]
    return math.sqrt(float(np.average(errors**2, weights=weights)))


def uncertainty(seen: World, way: Way) -> float:
    """How far, relatively, the error of all questions is off after so many repeats.

    The square of a normal error has a deviation of √2 times its mean, and the root halves it.
    """
    weights = seen.of_blocks([block.weight / block.positions for block in seen.layout.blocks])
    parts = weights * way.sigma**2
    return math.sqrt(2 * float((parts**2).sum()) / way.repeats) / float(parts.sum()) / 2


def measured(seen: World, way: Way) -> Result:
    progress(f"{way.name}: {way.repeats} repeats")
    errors = np.array([way.run() - seen.truth for _ in range(way.repeats)])
    expected, found = (of_each_block(seen.layout, s) for s in (way.sigma**2, errors**2))
    return Result(way, expected, found, uncertainty(seen, way))


# --- writing -------------------------------------------------------------------------------------


def people(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def ratio(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"{value:#.2g}"


def sensitivity_section() -> str:
    """How far krand is from a curator, by how many counts one person can change."""
    policy, rows = SURVEY.policy, []
    assert policy.delta is not None
    for counts in SENSITIVITIES:
        ours = sigma_of(plan_noise(policy, ResponseFormat(counts)).noise, policy.minimum_crowd)
        gaussian = gaussian_sigma(policy.epsilon, policy.delta, counts)
        geometric = laplace_sigma(policy.epsilon, policy.delta, counts)
        theirs = "Gaussian" if gaussian <= geometric else "geometric"
        sigmas = [f"{sigma:.2f}" for sigma in (ours, gaussian, geometric)]
        rows.append([str(counts), *sigmas, theirs, f"{ours / min(gaussian, geometric):.2f}"])
    columns = ["counts that one person can change", f"{KRAND}, σ", "Gaussian noise, σ"]
    return (
        f"## How far from a trusted curator, at ε = {policy.epsilon:g}\n\n"
        + table([*columns, "geometric noise, σ", "curator's choice", "krand ÷ curator"], rows)
        + f"\n\nBy the planner and by formula, for {policy.minimum_crowd:,} people and δ = "
        f"{policy.delta:g}; nothing is run. One yes/no question is 1 count, one choice 2. With few "
        "counts krand's devices are far above a curator."
    )


def overall_section(layout: Layout, results: Sequence[Result]) -> str:
    ours = overall(layout, results[0].expected)
    rows = []
    for one in results:
        expected, seen = overall(layout, one.expected), overall(layout, one.seen)
        times = f"{seen / expected:.3f} ± {one.uncertainty:.3f}"
        numbers = [people(expected), people(seen), times, ratio(ours / expected)]
        rows.append([one.way.name, one.way.trusted, f"{one.way.repeats:,}", *numbers])
    policy = SURVEY.policy
    columns = ["way", "must be trusted", "repeats", "expected", "seen", "seen ÷ expected"]
    return (
        f"## All questions, at ε = {policy.epsilon:g}\n\n"
        + table([*columns, "krand ÷ way"], rows)
        + "\n\nThe error is √(Σ w·MSE / Σ w) in people: MSE is the mean square error of a "
        "question's positions, w the question's weight in the survey. *Expected* is by formula, "
        "before any data where the way allows it; *±* is one standard error of what is seen in so "
        "many repeats. *krand ÷ way* compares the expected errors."
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
    policy, t = SURVEY.policy, plan.layout.sensitivity
    left = ", ".join(
        f"{one.local_epsilon:.0f} (records, k = {one.survey.copies})" for one in records
    )
    return (
        "## How to read this\n\n"
        "- **The same promise everywhere**: whoever sees what is released cannot tell two sets of "
        f"answers of one person apart, all questions together, up to ε = {policy.epsilon:g}. "
        f"One person's change of mind touches at most t = {t} of the {plan.layout.positions} "
        "positions.\n"
        f"- **Different trust.** krand's promise, (ε, δ = {policy.delta:g}), is proven whatever "
        "the others answer, and holds if shuffler and analyst do not work together; if they do, "
        f"nothing protects: ε₀ = {plan.local_epsilon:.0f} (bits), {left}. The trusted "
        "curator's noise has the same ε and δ, but the curator sees everybody's answers. The "
        "local ways have δ = 0 and need neither shuffler nor curator: that is what their noise "
        "buys.\n"
        "- **Trusted curator** is the better of two mechanisms: Gaussian noise (the analytic "
        "mechanism of Balle and Wang 2018) and geometric noise (discrete Laplace), for exactly the "
        f"t = {t} counts that one person can change. For this survey it is "
        "Gaussian noise. *Divided*, Gaussian noise of a question has "
        "s² ∝ √(t/w), the best division for these weights; *equal* is one noise for all.\n"
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


def how(seen: World, size: Size) -> str:
    policy = seen.survey.policy
    return conditions(
        "python benchmarks/accuracy.py",
        size.quick,
        PACKAGES,
        f"Survey: examples/browser.toml, {seen.layout.positions} positions, ε = "
        f"{policy.epsilon:g}, δ = {policy.delta:g}, answered by {seen.people:,} simulated people, "
        "the same for all ways and repeats.",
        "krand flips everybody's bits with its real randomizer, and its estimates are the "
        "analyzer's. The local ways draw counts from the exact law of randomizing everybody; the "
        "curator's noise is drawn from numpy.",
    )


def report(quick: bool) -> str:
    size, seen = QUICK if quick else FULL, world(SURVEY)
    plan = make_plan(seen.survey)
    records = [make_plan(linked(seen.survey, copies)) for copies in COPIES]
    ways = all_ways(seen, plan, records, size)
    results = [measured(seen, way) for way in ways]
    sections = [
        "# Accuracy at the same ε",
        "<!-- Written by benchmarks/accuracy.py; do not edit. -->",
        how(seen, size),
        sensitivity_section(),
        overall_section(seen.layout, results),
        blocks_section(seen.layout, results),
        reading(plan, records),
    ]
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    curators = RESULTS.with_name("curator.md"), curator_report
    run_benchmark(__doc__, (RESULTS, report), curators)
