"""A quick plan: proven as every plan is, with a little more noise, found in a fraction of the time.

It shows what a survey will have at most while the least noise is still searched. Nothing is
collected with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from krand.accounting.calibration import precision
from krand.errors import CannotMeet
from krand.planning.expected import people_shown, precisions_for
from krand.planning.making import margins_of, quick_flips, rooms_of
from krand.planning.mixers import precision_of, quick_mixing, sigma_margins
from krand.promise import NOISE_GRID, DummyLaw, Precision, ResponseFormat
from krand.survey.lanes import lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import Margin
from krand.survey.survey import Survey

__all__ = ["QuickPlan", "quick_plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPlan:
    """Noise that is proven to keep a survey's policy, and precisions that its plan will keep, with
    as many people as are expected."""

    survey: Survey
    bounds: tuple[float, ...]
    """The proven δ or η of devices' noise, of mixers' noise, or of both."""
    numerators: tuple[int, ...]
    """Noise of devices for every block; 0 without it."""
    laws: tuple[DummyLaw, ...]
    """Dummies of a mixer for every block; empty without them."""
    precisions: tuple[Precision, ...]
    """Of every block: the plan will be at least as precise."""
    margins: tuple[tuple[Margin, ...], ...]
    """For every block that is a group: the same for each of its questions alone."""


def quick_plan(survey: Survey) -> QuickPlan | None:
    """The quick plan, or None: then only the search for the least noise can tell.

    >>> from krand import make_plan
    >>> from krand.testing import small_survey
    >>> quick, exact = quick_plan(small_survey()), make_plan(small_survey())
    >>> all(a.sigma >= b.sigma for a, b in zip(quick.precisions, exact.precisions))
    True
    """
    try:
        found = _quick_plan(survey)
    except CannotMeet:  # with reasons that take longer to find
        return None
    people = people_shown(survey)
    if found is None or people is None:
        return found
    found = _for_people(found, people)
    return None if any(_is_noise(one, people) for one in found.precisions) else found


def _for_people(quick: QuickPlan, people: int) -> QuickPlan:
    noises = [numerator / NOISE_GRID for numerator in quick.numerators]
    precisions, margins = precisions_for(
        quick.survey, noises, quick.precisions, quick.margins, people
    )
    return replace(quick, precisions=precisions, margins=margins)


def _is_noise(known: Precision, people: int) -> bool:
    return 2 * known.half_width_95 >= people


def _quick_plan(survey: Survey) -> QuickPlan | None:
    layout, noise = layout_of(survey), survey.trust.noise
    numerators, bounds, overflow = (0,) * len(layout.blocks), [], 0.0
    rooms: tuple[int, ...] = ()
    if noise.has_flips:
        flips = quick_flips(survey)
        if flips is None:
            return None
        numerators = flips[0]
        bounds.append(flips[1])
        rooms, overflow = rooms_of(survey, layout, numerators)
    if not noise.has_dummies:
        return _of_flips(survey, numerators, bounds[0])
    mixed = quick_mixing(survey, layout, lanes_of(survey, layout, rooms), overflow)
    if mixed is None:
        return None
    laws, dummy_sigmas, bound = mixed
    sigmas = [
        math.hypot(_flips_sigma(survey, a), sigma / (1 - 2 * a / NOISE_GRID))
        for a, sigma in zip(numerators, dummy_sigmas, strict=True)
    ]
    return QuickPlan(
        survey=survey,
        bounds=(*bounds, bound),
        numerators=numerators,
        laws=laws,
        precisions=tuple(precision_of(sigma, survey.policy) for sigma in sigmas),
        margins=tuple(
            sigma_margins(block, sigma, survey.policy)
            for block, sigma in zip(layout.blocks, sigmas, strict=True)
        ),
    )


def _flips_sigma(survey: Survey, numerator: int) -> float:
    if numerator == 0:
        return 0.0
    responses = ResponseFormat(1, copies=survey.copies)
    return precision(responses, numerator / NOISE_GRID, survey.policy.minimum_crowd).sigma


def _of_flips(survey: Survey, numerators: tuple[int, ...], bound: float) -> QuickPlan:
    layout, crowd = layout_of(survey), survey.policy.minimum_crowd
    responses = ResponseFormat(1, copies=survey.copies)
    noises = [numerator / NOISE_GRID for numerator in numerators]
    return QuickPlan(
        survey=survey,
        bounds=(bound,),
        numerators=numerators,
        laws=(),
        precisions=tuple(precision(responses, noise, crowd) for noise in noises),
        margins=tuple(
            margins_of(survey, block, noise)
            for block, noise in zip(layout.blocks, noises, strict=True)
        ),
    )
