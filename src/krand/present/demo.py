"""The planner's demonstration: ten million people, forty yes/no facts, one promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from krand.files import ensure_directory, write_atomically
from krand.present import plots
from krand.present.output import to_json
from krand.present.report import planner_report
from krand.present.values import frontier_values
from krand.privacy.frontier import Frontier, frontier
from krand.privacy.guarantee import Linkage, NoisePlan, Policy, Reports
from krand.privacy.peers import central_gaussian_sigma
from krand.privacy.planner import plan_noise

__all__ = ["BITS", "POLICY", "Demonstration", "Headline", "demonstrate", "write"]

POLICY = Policy(epsilon=2.0, delta=1e-6, population=10_000_000)
BITS = 40


@dataclass(frozen=True, slots=True)
class Headline:
    """One way to keep the promise, and what it costs."""

    title: str
    plan: NoisePlan
    central_gaussian_sigma: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All that the demonstration shows."""

    headlines: tuple[Headline, ...]
    frontier: Frontier


WAYS = (
    ("every bit alone, krand's default", Reports(BITS)),
    ("whole record, as in the drafts", Reports(BITS, Linkage.RECORD)),
    ("whole record, 16 copies", Reports(BITS, Linkage.RECORD, copies=16)),
)


def demonstrate(progress: Callable[[str], None] | None = None) -> Demonstration:
    """Plan the three ways to keep the promise, then compare everything."""
    headlines = []
    for title, reports in WAYS:
        if progress is not None:
            progress(title)
        plan = plan_noise(POLICY, reports)
        headlines.append(Headline(title, plan, central_gaussian_sigma(POLICY, reports)))
    return Demonstration(tuple(headlines), frontier(POLICY, Reports(BITS), progress=progress))


def write(demonstration: Demonstration, directory: Path) -> dict[str, Path]:
    """Write report, numbers and (where matplotlib is installed) the figure; what was written."""
    ensure_directory("output", directory)
    svg = plots.frontier_svg(demonstration.frontier) if plots.is_available() else None
    numbers = to_json(frontier_values(demonstration.frontier)) + "\n"
    texts = {"numbers": ("frontier.json", numbers)}
    if svg is not None:
        texts["figure"] = ("frontier.svg", svg)
    texts["report"] = ("report.html", planner_report(demonstration, svg))
    for name, text in texts.values():
        write_atomically("output", directory / name, text)
    return {kind: directory / name for kind, (name, _) in texts.items()}
