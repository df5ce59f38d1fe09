"""The planner's numbers: noise, precision and promise of one request, and the baselines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krand.errors import KrandError
from krand.promise import NOISE_GRID, Z95
from krand.web.pages import page_figure, render
from krand.wording.collusion import protection
from krand.wording.guarantees import assumption_texts, how_known, method_text
from krand.wording.phrases import (
    MARGIN,
    at_most,
    gap,
    number,
    people,
    percent,
    promise,
)

if TYPE_CHECKING:
    from markupsafe import Markup

    from krand.promise import NoisePlan
    from krand.web.settings import Settings

__all__ = ["frontier_part", "nearest_query", "numbers_part", "width"]

NEAREST = re.compile(r"\b(crowd|epsilon|delta|bits|copies) ([\d.,e+-]*\d)")
FRONTIER_COPIES = (1, 4, 64, 1024)
"""Fewer than on the command line: each takes seconds."""


def numbers_part(settings: Settings) -> str:
    """The part of the page that is replaced when the form changes."""
    from krand.accounting.calibration import plan_noise

    plan = plan_noise(settings.policy(), settings.responses())
    return render(
        "numbers_result.html",
        settings=settings,
        facts=_facts(plan),
        promise=promise(plan.policy, plan.guarantee),
        known=f"{plan.guarantee.assurance}: {how_known(plan.guarantee.assurance)}",
        method=method_text(plan.guarantee.method),
        assumptions=assumption_texts(plan.guarantee),
        baselines=_baselines(plan),
        density=_density(plan),
        can_draw=_can_draw(),
    )


def frontier_part(settings: Settings) -> str:
    """Precision versus data sent: a table, and a figure if matplotlib is installed."""
    from krand.accounting.frontier import frontier
    from krand.figures.svg import frontier_svg

    policy = settings.policy()
    found = frontier(policy, settings.responses(), FRONTIER_COPIES)
    found_any = any(row.linkage is not None for row in found.rows)
    figure = None
    if found_any and _can_draw():
        label = "σ of an estimated count against the bytes that each person sends"
        figure = page_figure(frontier_svg(found), label, "frontier")
    return render(
        "frontier_result.html", rows=found.rows, found_any=found_any, number=number, figure=figure
    )


def nearest_query(settings: Settings | None, text: str) -> str | None:
    """The form for one of the suggested requests, as a query string."""
    changes = {name: value.replace(",", "") for name, value in NEAREST.findall(text)}
    return settings.query(**changes) if settings is not None and changes else None


def _facts(plan: NoisePlan) -> list[dict[str, Any]]:
    """The main numbers, rounded for people and exact."""
    from krand.accounting.frontier import message_size

    known, guarantee = plan.precision, plan.guarantee
    messages, size = message_size(plan)
    grid = f"{plan.noise_numerator:,} / 2^{NOISE_GRID.bit_length() - 1}"
    share = f"{percent(known.half_width_percent)} of the crowd"
    sealed = f"in {messages:,} sealed {'message' if messages == 1 else 'messages'}"
    return [
        _fact("half-width", _title(MARGIN), people(known), known.half_width_95, share),
        _fact("noise", "Noise q", number(plan.noise, 6), plan.noise, grid),
        _fact("sigma", "σ of a count", number(known.sigma), known.sigma, "people"),
        _fact("bytes", "Each person sends", f"{size:,} bytes", size, sealed),
        _fact(
            *("local-epsilon", "If collector and analyst collude"),
            *(f"ε₀ = {at_most(guarantee.local_epsilon)}", guarantee.local_epsilon),
            protection(guarantee.local_epsilon),
        ),
        _fact(
            *("delta", "Proven δ", at_most(guarantee.delta.upper), guarantee.delta.upper),
            f"η = {at_most(guarantee.eta.upper)}",
        ),
    ]


def _title(text: str) -> str:
    return text[0].upper() + text[1:]


def _fact(name: str, title: str, shown: str, value: float, note: str) -> dict[str, Any]:
    return {"id": name, "title": title, "shown": shown, "value": repr(value), "note": note}


def _baselines(plan: NoisePlan) -> list[dict[str, Any]]:
    """The margin of error of krand and of the baselines at the same ε."""
    from krand.accounting.baselines import rappor_noise, rappor_sigma
    from krand.accounting.curator import curator

    policy, responses = plan.policy, plan.responses
    rappor, trusted = Z95 * rappor_sigma(policy, responses), curator(policy, responses)
    return [
        {
            "id": "krand",
            "name": "krand",
            "width": people(plan.precision),
            "value": repr(plan.precision.half_width_95),
            "note": f"q = {number(plan.noise)}",
        },
        {
            "id": "rappor",
            "name": "RAPPOR at the same ε",
            "width": width(rappor),
            "value": repr(rappor),
            "note": f"no collector to trust, q = {number(rappor_noise(policy, responses))}",
        },
        {
            "id": "curator",
            "name": "trusted curator",
            "width": width(Z95 * trusted.sigma),
            "value": repr(Z95 * trusted.sigma),
            "note": f"sees all raw answers, adds {trusted.noise} noise: {gap(plan, trusted)}",
        },
    ]


def width(half: float) -> str:
    """± 28 people, for a half-width that does not belong to a `Precision`."""
    return f"± {f'{half:,.0f}' if half >= 10 else number(half, 2)} people"


def _can_draw() -> bool:
    from krand.figures.svg import is_available

    return is_available()


def _density(plan: NoisePlan) -> Markup | None:
    """The distribution of R with its limit; None if it cannot be drawn."""
    if not _can_draw():
        return None
    from krand.figures.svg import density_figure, svg_document

    label = "Density of the privacy ratio R, with the promised limit"
    try:
        return page_figure(svg_document(lambda: density_figure(plan)), label, "density")
    except KrandError:  # there is no such distribution for this request
        return None
