"""Computed values as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from krand.promise import NOISE_GRID
from krand.showing import some
from krand.wording.phrases import against_curator, at_most, half_width, number
from krand.wording.plan_texts import PLANS
from krand.wording.promises import (
    assumption_texts,
    if_they_collude,
    method_text,
    promise,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krand.accounting.baselines import Curator
    from krand.promise import NoisePlan, Precision, Promise, ResponseFormat

GRID_BITS = NOISE_GRID.bit_length() - 1


def settings_line(crowd: int, responses: ResponseFormat) -> str:
    """10,000,000 people, 40 bits, bit linkage, 1 copy."""
    copies = "1 copy" if responses.copies == 1 else f"{responses.copies:,} copies"
    parts = [
        f"{crowd:,} people",
        some(responses.bits, "bit"),
        f"{responses.linkage} linkage",
        copies,
    ]
    if responses.max_set_bits is not None:
        parts.append(f"at most {responses.max_set_bits:,} set")
    if responses.rounds > 1:
        parts.append(f"{responses.rounds:,} rounds")
    return ", ".join(parts)


def _facts(title: str, facts: list[tuple[str, str | Text]]) -> Panel:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for label, fact in facts:
        grid.add_row(label, fact)
    return Panel(grid, title=Text(title), title_align="left", border_style="cyan")


def _noise(q: float, numerator: int | None = None) -> Text:
    text = Text(f"q = {number(q, 6)}", style="bold green")
    if numerator is not None:
        text.append(f"  ({numerator:,} / 2^{GRID_BITS})", style="not bold default")
    return text


def plan_panel(plan: NoisePlan, curator: Curator) -> Panel:
    """A noise plan: noise, precision, promise."""
    known = plan.promise
    return _facts(
        "smallest noise",
        [
            ("request", settings_line(plan.policy.minimum_crowd, plan.responses)),
            ("noise", _noise(plan.noise, plan.noise_numerator)),
            ("precision", f"{half_width(plan.precision)}, σ = {number(plan.precision.sigma)}"),
            ("promise", promise(plan.policy)),
            ("how we know", PLANS.how_known),
            ("method", method_text(known.method)),
            ("collusion", if_they_collude(known.local_epsilon)),
            ("baseline", against_curator(plan, curator)),
        ],
    )


def privacy_panel(
    known: Promise, responses: ResponseFormat, noise: float, precision: Precision
) -> Panel:
    """The promise of a given noise, and its assumptions."""
    facts: list[tuple[str, str | Text]] = [
        ("request", settings_line(known.crowd, responses)),
        ("noise", _noise(noise)),
        ("precision", f"{half_width(precision)}, σ = {number(precision.sigma)}"),
        ("ε", at_most(known.epsilon)),
        ("δ, η at most", f"{at_most(known.delta)}, {at_most(known.eta)}"),
        ("how we know", PLANS.how_known),
        ("method", method_text(known.method)),
        ("collusion", if_they_collude(known.local_epsilon)),
    ]
    texts = assumption_texts(known)
    facts += [("assumptions" if n == 0 else "", text) for n, text in enumerate(texts)]
    return _facts("promise of this noise", facts)


def copies_table(plans: Mapping[int, NoisePlan | None]) -> Table:
    """More data sent for more precision: a row for each number of copies."""
    from krand.accounting.volume import message_size

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("k", "noise q", "σ", "± 95 %", "messages", "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    for copies, plan in plans.items():
        if plan is None:
            table.add_row(f"{copies:,}", "–", "–", "–", "–", "–")
            continue
        known, (messages, size) = plan.precision, message_size(plan)
        table.add_row(
            f"{copies:,}",
            number(plan.noise),
            number(known.sigma),
            number(known.half_width_95),
            f"{messages:,}",
            f"{size:,}",
        )
    return table
