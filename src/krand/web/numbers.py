"""The planner's numbers: noise, precision and promise of one request, and the baselines."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krand.errors import KrandError
from krand.languages.speaking import gettext, marked, text_of
from krand.promise import NOISE_GRID, Z95, Linkage
from krand.web.pages import legend_of, page_figure, render
from krand.web.texts import FACTS as OWN
from krand.wording.phrases import at_most, gap, number, people, percent, some_people, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import (
    assumption_texts,
    guess_sentence,
    how_known,
    known_word,
    limit_of,
    method_text,
    promise,
    protection,
)

if TYPE_CHECKING:
    from markupsafe import Markup

    from krand.accounting.frontier import FrontierRow
    from krand.promise import NoisePlan, Policy, ResponseFormat
    from krand.web.pages import Legend
    from krand.web.settings import Settings

NEAREST = re.compile(r"\b(crowd|epsilon|delta|bits|copies) ([\d.,e+-]*\d)")
FRONTIER_COPIES = (1, 4, 64, 1024)
"""Fewer than on the command line: each takes seconds."""


def numbers_part(settings: Settings) -> str:
    """The part of the page that is replaced when the form changes."""
    plan = _plan(settings.policy(), settings.responses())
    promised = plan.promise
    return render(
        "numbers_result.html",
        settings=settings,
        facts=_facts(plan),
        guess=guess_sentence(promised.epsilon, promised.delta),
        promise=promise(plan.policy),
        known=how_known(promised.assurance),
        method=method_text(promised.method),
        assumptions=assumption_texts(promised),
        baselines=_baselines(plan),
    )


def numbers_said(settings: Settings) -> str:
    """The main number, for those who listen."""
    plan = _plan(settings.policy(), settings.responses())
    return OWN.said.format(width=people(plan.precision))


@lru_cache(maxsize=4)
def _plan(policy: Policy, responses: ResponseFormat) -> NoisePlan:
    """The numbers and their figure ask for the same plan."""
    from krand.accounting.calibration import plan_noise

    return plan_noise(policy, responses)


def numbers_quick(settings: Settings) -> tuple[str, str] | None:
    """A bound of the main numbers that is proven at once, and the same said; None without one."""
    from krand.accounting.calibration import precision, quick_noise

    policy, responses = settings.policy(), settings.responses()
    found = quick_noise(policy, responses)
    if found is None:
        return None
    noise = found[0] / NOISE_GRID
    known = precision(responses, noise, policy.minimum_crowd)
    share = OWN.of_crowd.format(percent=percent_at_most(known.half_width_percent))
    wide = people_at_most(known.half_width_95)
    facts = [
        _fact(
            "half-width",
            _title(PLANS.margin),
            OWN.at_most.format(width=wide),
            known.half_width_95,
            share,
        ),
        _fact(
            "noise",
            OWN.noise,
            OWN.at_most.format(width=at_most(noise, 6)),
            noise,
            "",
        ),
    ]
    proven = proven_sentence(policy, found[1])
    html = render("numbers_quick.html", facts=facts, proven=proven)
    return html, OWN.said_quick.format(width=wide)


def density_part(settings: Settings) -> str:
    """The figure of the privacy ratio, apart from the numbers: it takes longer, and may fail."""
    plan = _plan(settings.policy(), settings.responses())
    return render("density_result.html", density=_density(plan), can_draw=_can_draw())


def frontier_part(settings: Settings) -> str:
    """Precision versus data sent: a table, and a figure if matplotlib is installed."""
    from krand.accounting.frontier import frontier
    from krand.figures.draw_frontier import frontier_figure
    from krand.figures.plot import svg_document

    policy = settings.policy()
    found = frontier(policy, settings.responses(), FRONTIER_COPIES)
    found_any = any(row.linkage is not None for row in found.rows)
    figure = None
    if found_any and _can_draw():
        label = OWN.frontier
        figure = page_figure(svg_document(lambda: frontier_figure(found)), label, "frontier")
    return render(
        "frontier_result.html",
        rows=found.rows,
        found_any=found_any,
        known_word=known_word,
        method_name=_method_name,
        number=number,
        figure=figure,
    )


KNOWN = (marked("proven"), marked("not proven"), marked("local"), marked("trusted curator"))
"""What a row of a frontier says about how we know."""


def _method_name(row: FrontierRow) -> str:
    if row.linkage is None:
        return text_of(row.name)
    known = {Linkage.BIT: gettext("krand, each bit"), Linkage.RECORD: gettext("krand, records")}
    return known[row.linkage]


def nearest_query(settings: Settings | None, text: str) -> str | None:
    """The form for one of the suggested requests, as a query string."""
    changes = {name: value.replace(",", "") for name, value in NEAREST.findall(text)}
    return settings.query(**changes) if settings is not None and changes else None


def _facts(plan: NoisePlan) -> list[dict[str, Any]]:
    """The main numbers, rounded for people and exact."""
    from krand.accounting.frontier import message_size

    known, promised = plan.precision, plan.promise
    messages, size = message_size(plan)
    grid = f"{whole(plan.noise_numerator)} / 2^{NOISE_GRID.bit_length() - 1}"
    share = OWN.of_crowd.format(percent=percent(known.half_width_percent))
    sealed = OWN.sealed.of(messages).format(number=whole(messages))
    local = OWN.local.format(epsilon=at_most(promised.local_epsilon))
    proven, eta = promised.delta, OWN.eta.format(eta=at_most(promised.eta))
    note = protection(promised.local_epsilon)
    return [
        _fact("half-width", _title(PLANS.margin), people(known), known.half_width_95, share),
        _fact("noise", OWN.noise, number(plan.noise, 6), plan.noise, grid),
        _fact("sigma", OWN.sigma, number(known.sigma), known.sigma, OWN.people),
        _fact(
            "bytes",
            OWN.bytes,
            OWN.bytes_value.format(number=whole(size)),
            size,
            sealed,
        ),
        _fact("local-epsilon", OWN.collusion, local, promised.local_epsilon, note),
        _fact("delta", OWN.proven_delta, at_most(proven), proven, eta),
    ]


def _title(text: str) -> str:
    return text[0].upper() + text[1:]


def _fact(name: str, title: str, shown: str, value: float, note: str) -> dict[str, Any]:
    return {"id": name, "title": title, "shown": shown, "value": repr(value), "note": note}


def _baselines(plan: NoisePlan) -> list[dict[str, Any]]:
    """The margin of error of krand and of the baselines at the same ε."""
    from krand.wording.plans import other_methods

    rappor, curator = other_methods(plan.policy, plan.responses)
    own, note = (
        plan.precision.half_width_95,
        OWN.krand_note.format(noise=number(plan.noise)),
    )
    central = f"{curator.note}: {gap(plan.precision.sigma, curator.best / Z95)}"
    return [
        _baseline("krand", OWN.krand, people(plan.precision), own, note),
        _baseline("rappor", OWN.rappor, width(rappor.best), rappor.best, rappor.note),
        _baseline("curator", curator.name, width(curator.best), curator.best, central),
    ]


def _baseline(code: str, name: str, shown: str, value: float, note: str) -> dict[str, Any]:
    return {"id": code, "name": name, "width": shown, "value": repr(value), "note": note}


def width(half: float) -> str:
    """± 28 people, for a half-width that does not belong to a `Precision`."""
    return OWN.width.format(number=some_people(half))


def people_at_most(half: float) -> str:
    """± 29 people, rounded up."""
    rounded = whole(math.ceil(half)) if half >= 10 else at_most(half, 2)
    return OWN.width.format(number=rounded)


def percent_at_most(value: float) -> str:
    """Two significant digits, rounded up."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return percent(math.ceil(value / step) * step)


def proven_sentence(policy: Policy, bound: float) -> str:
    """What is proven for a quick plan."""
    name, limit = limit_of(policy, policy)
    return OWN.quick.format(
        epsilon=at_most(policy.epsilon), name=name, limit=at_most(limit), bound=at_most(bound)
    )


def _can_draw() -> bool:
    from krand.figures.style import is_available

    return is_available()


def _density(plan: NoisePlan) -> tuple[Markup, Legend] | None:
    """The distribution of R with its limit, and its legend; None if it cannot be drawn."""
    if not _can_draw():
        return None
    from krand.figures.draw_density import density_figure
    from krand.figures.plot import svg_document

    try:
        figure = density_figure(plan)
    except KrandError:  # there is no such distribution for this request
        return None
    legend = legend_of(figure)
    return page_figure(svg_document(lambda: figure), OWN.density, "density"), legend
