"""Precision versus the number of copies of a whole record, compared with baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from krand.errors import CannotMeet, InvalidInput
from krand.figures.style import (
    BIT,
    CURATOR,
    PAPER,
    RECORD,
    SMALL,
    WIDTH,
    draw_frame,
    name_above,
    new_figure,
    plain_ticks,
    styled,
)
from krand.promise import Z95, Linkage, Policy, ResponseFormat
from krand.wording.phrases import number
from krand.wording.promises import limit_of, promise_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.promise import NoisePlan

COPIES = (1, 2, 4, 8, 16, 32, 64)
HEIGHT = 3.6
FEW_POWERS = 100.0
MANY_POINTS = 9
"""With more points than this, the points have no labels."""


@styled
def copies_figure(policy: Policy, bits: int, copies: Sequence[int] = COPIES) -> Figure:
    """Margin of error versus copies of a whole record, compared with single bits and a curator.

    Numbers of copies that cannot keep the policy are left out.
    """
    figure, axes = new_figure(WIDTH, HEIGHT)
    plans = _records(policy, bits, copies)
    widths = _draw_records(axes, plans) + _draw_lines(axes, policy, bits)
    _scale(axes, [plan.responses.copies for plan in plans], widths)
    name_above(figure, f"Precision of a count versus copies k\n{_asked(policy, bits)}")
    return figure


def _asked(policy: Policy, bits: int) -> str:
    promise = promise_symbols(policy.epsilon, limit_of(policy, policy))
    return f"{bits:,} bits, {promise}, {policy.minimum_crowd:,} people"


def _records(policy: Policy, bits: int, copies: Sequence[int]) -> list[NoisePlan]:
    """The plan for each number of copies that can keep the policy; an error if none can."""
    if not copies:
        raise InvalidInput("copies", "must contain at least one number", list(copies))
    plans, refused = [], CannotMeet("no number of copies")
    for k in sorted(set(copies)):
        try:
            plans.append(_planned(policy, ResponseFormat(bits, linkage=Linkage.RECORD, copies=k)))
        except CannotMeet as error:
            refused = error
    if not plans:
        raise refused
    return plans


def _planned(policy: Policy, responses: ResponseFormat) -> NoisePlan:
    from krand.accounting.calibration import plan_noise

    return plan_noise(policy, responses)


def _draw_records(axes: Axes, plans: list[NoisePlan]) -> list[float]:
    """Draw the curve, with a number at each point."""
    places = [plan.responses.copies for plan in plans]
    widths = [plan.precision.half_width_95 for plan in plans]
    axes.plot(
        places,
        widths,
        color=RECORD,
        marker="o",
        markersize=6,
        markeredgecolor=PAPER,
        linewidth=1.8,
        label="whole record, k copies",
        zorder=3,
    )
    if len(plans) <= MANY_POINTS:
        for k, width in zip(places, widths, strict=True):
            axes.annotate(
                number(width, 3),
                (k, width),
                xytext=(3, 5),
                textcoords="offset points",
                color=RECORD,
                fontsize=SMALL,
            )
    return widths


def _draw_lines(axes: Axes, policy: Policy, bits: int) -> list[float]:
    """Draw the lines that do not depend on k: single bits, and a trusted curator."""
    from krand.accounting.curator import curator

    widths = []
    try:
        alone = _planned(policy, ResponseFormat(bits)).precision.half_width_95
    except CannotMeet:
        pass
    else:
        label = f"each bit separately: ± {number(alone, 3)}"
        axes.axhline(alone, color=BIT, linestyle=(0, (5, 1.5)), linewidth=1.8, label=label)
        widths.append(alone)
    trusted = Z95 * curator(policy, ResponseFormat(bits)).sigma
    label = f"trusted curator: ± {number(trusted, 3)}"
    axes.axhline(trusted, color=CURATOR, linestyle=(0, (1, 1.5)), linewidth=1.8, label=label)
    return [*widths, trusted]


def _scale(axes: Axes, places: list[int], widths: list[float]) -> None:
    from matplotlib.ticker import NullLocator

    draw_frame(axes)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.14, y=0.14)
    axes.set_xlabel("copies k per person")
    axes.set_ylabel("margin of error (95 %), people")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(places if len(places) <= MANY_POINTS else places[:: len(places) // 5])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    few = max(widths) / min(widths) < FEW_POWERS
    plain_ticks(axes.yaxis, few)
    both_ways: Any = (lambda width: width / Z95, lambda sigma: sigma * Z95)
    deviation = axes.secondary_yaxis("right", functions=both_ways)
    deviation.set_ylabel("σ, people")
    deviation.tick_params(labelsize=SMALL)
    plain_ticks(deviation.yaxis, few)
    deviation.spines["right"].set_visible(False)
