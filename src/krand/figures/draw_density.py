"""The distribution of the privacy ratio: two curves, and the limits of the promise."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from krand.figures.style import (
    BIT,
    CURATOR,
    INK,
    RECORD,
    WIDTH,
    draw_frame,
    name_above,
    new_figure,
    styled,
)
from krand.languages.cldr import ENGLISH
from krand.languages.speaking import gettext, language, marked, text_of
from krand.promise import Assurance, NoisePlan, Policy
from krand.wording.phrases import at_most, number, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krand.accounting.density import RatioDensity
    from krand.survey.plan import Plan

HEIGHT = 3.9
MANY_NOISES, FEW_BUCKETS = 8, 64
"""With more different noises than this, the composition is coarser, for speed."""
RAISED = 0.3
"""The largest share of the height for the enlarged parts beyond the limits."""
MOST_TICKS = 8


@styled
def density_figure(plan: NoisePlan | Plan) -> Figure:
    """The density of log R with my answers, and with different ones in their place."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    density = density_of(plan)
    _draw_curves(axes, density)
    _draw_limits(axes, density, _proven(plan))
    _label(axes, density)
    crowd = _policy(plan).honest
    name = gettext("Privacy ratio R of one person's answers")
    of = gettext("%(law)s, %(crowd)s people", law=_law(density.law), crowd=whole(crowd))
    name_above(figure, f"{name}\n{of}")
    return figure


LAWS = (
    marked("exact law, everybody else alike"),
    marked("supremum over all crowds"),
    marked("privacy blanket"),
    marked("sensitivity %(number)s"),
    marked("%(number)s bit"),
    marked("%(number)s record"),
    marked("%(number)s records"),
)
"""What densities call their laws, and what they are laws of."""


def _law(name: str) -> str:
    kind, _, what = name.rpartition(", ")
    number = what.strip("abcdefghijklmnopqrstuvwxyz ")
    shown = whole(int(number.replace(",", "")))
    return f"{text_of(kind)}, {gettext(what.replace(number, '%(number)s'), number=shown)}"


def density_of(plan: NoisePlan | Plan) -> RatioDensity:
    """The distribution that the figure shows."""
    from krand.accounting.density import bits_density, plan_density, reports_density
    from krand.planning.record import record_reports

    if isinstance(plan, NoisePlan):
        return plan_density(plan)
    survey = plan.survey
    if not survey.shape.token_lanes(plan):
        records = record_reports(survey, plan.layout)
        return reports_density(plan.blocks[0].noise, survey.policy, records)
    noises: Counter[float] = Counter()
    for each in plan.blocks:
        noises[each.noise] += each.block.sensitivity * survey.promised_rounds
    if len(noises) > MANY_NOISES:
        return bits_density(noises, survey.policy, buckets=FEW_BUCKETS)
    return bits_density(noises, survey.policy)


def _policy(plan: NoisePlan | Plan) -> Policy:
    return plan.policy if isinstance(plan, NoisePlan) else plan.survey.policy


def _proven(plan: NoisePlan | Plan) -> str:
    """The promise and how we know it, for the legend."""
    promise = plan.promise
    certified = _policy(plan).assurance is Assurance.CERTIFIED
    known = (
        gettext("limits; proven for every crowd")
        if certified
        else gettext("limits; for such crowds")
    )
    return f"{known}: δ ≤ {at_most(promise.delta, 3)}, η ≤ {at_most(promise.eta, 3)}"


def _draw_curves(axes: Axes, density: RatioDensity) -> None:
    """Draw two outlines whose areas are probabilities, and enlarge the parts beyond the limits."""
    mine, another = density.heights
    power = at_most(density.epsilon)
    names = (
        gettext(
            "my answer: %(ratio)s with probability %(share)s",
            ratio=f"$R > e^{{{power}}}$",
            share=number(density.above, 3),
        ),
        gettext(
            "another answer: %(ratio)s with probability %(share)s",
            ratio=f"$R < e^{{-{power}}}$",
            share=number(density.below, 3),
        ),
    )
    axes.stairs(mine, density.edges, color=RECORD, linewidth=1.8, label=names[0], zorder=3)
    axes.stairs(
        another,
        density.edges,
        color=CURATOR,
        linewidth=1.8,
        linestyle=(0, (5, 1.5)),
        label=names[1],
        zorder=3,
    )
    top = float(max(mine.max(), another.max()))
    _draw_beyond(axes, density, top)
    axes.set_ylim(0.0, 1.06 * top)
    axes.set_xlim(float(density.edges[0]), float(density.edges[-1]))


def _draw_beyond(axes: Axes, density: RatioDensity, top: float) -> None:
    """Draw the parts of the curves beyond the limits, enlarged because they are very small."""
    beyond = density.beyond
    if beyond.max() <= 0:
        return
    room = RAISED * top / float(beyond.max())
    factor = 10 ** max(0, math.floor(math.log10(room)))
    label = gettext("beyond the limits")
    if factor > 1:
        label = gettext("beyond the limits, enlarged %(factor)s times", factor=whole(factor))
    axes.stairs(factor * beyond, density.edges, fill=True, color=BIT, label=label, zorder=2)


def _draw_limits(axes: Axes, density: RatioDensity, label: str) -> None:
    style: Any = {"color": INK, "linestyle": (0, (2, 2)), "linewidth": 1.2, "zorder": 2.5}
    axes.axvline(density.epsilon, label=label, **style)
    axes.axvline(-density.epsilon, **style)


def _label(axes: Axes, density: RatioDensity) -> None:
    from matplotlib.ticker import MaxNLocator

    draw_frame(axes, grid="x")
    axes.set_xlabel(gettext("R = P(outcome | my answer) / P(outcome | another)"))
    axes.set_ylabel(gettext("density of log R"))
    axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(lambda value, _: _power(value))
    if language() != ENGLISH:
        axes.yaxis.set_major_formatter(lambda value, _: number(value))


def _power(exponent: float) -> str:
    """A tick of the logarithmic axis as a power of e."""
    if abs(exponent) < 1e-9:
        return "1"
    return "$e$" if abs(exponent - 1) < 1e-9 else f"$e^{{{exponent:.4g}}}$"
