"""A quick plan: proven as every plan is, with a little more noise, found in a fraction of the time.

It shows what a survey will have at most while the least noise is still searched. Nothing is
collected with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from krand.errors import CannotMeet
from krand.planning.expected import blocks_for, people_shown
from krand.planning.making import flipped_blocks, quick_flips, rooms_of
from krand.planning.mixers import dummy_blocks, quick_mixing, with_sigmas
from krand.survey.lanes import lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import PlannedBlock
from krand.survey.survey import Survey

__all__ = ["QuickPlan", "quick_plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPlan:
    """Noise that is proven to keep a survey's policy, and precisions that its plan will keep, with
    as many people as are expected."""

    survey: Survey
    bounds: tuple[float, ...]
    """The proven δ or η of devices' noise, of mixers' noise, or of both."""
    blocks: tuple[PlannedBlock, ...]
    """The plan will be at least as precise in every block."""


def quick_plan(survey: Survey) -> QuickPlan | None:
    """The quick plan, or None: then only the search for the least noise can tell.

    >>> from krand import make_plan
    >>> from krand.testing import small_survey
    >>> quick, exact = quick_plan(small_survey()), make_plan(small_survey())
    >>> pairs = zip(quick.blocks, exact.blocks)
    >>> all(a.precision.sigma >= b.precision.sigma for a, b in pairs)
    True
    """
    try:
        found = _quick_plan(survey)
    except CannotMeet:  # with reasons that take longer to find
        return None
    people = people_shown(survey)
    if found is None or people is None:
        return found
    found = replace(found, blocks=blocks_for(survey, found.blocks, people))
    widest = max(each.precision.half_width_95 for each in found.blocks)
    return None if 2 * widest >= people else found


def _quick_plan(survey: Survey) -> QuickPlan | None:
    layout, noise = layout_of(survey), survey.trust.noise
    if not noise.has_flips:
        lanes = lanes_of(survey, layout)
        mixed = quick_mixing(survey, layout, lanes)
        if mixed is None:
            return None
        sigmas, bound = mixed
        blocks = dummy_blocks(survey, layout, lanes, sigmas)
        return QuickPlan(survey=survey, bounds=(bound,), blocks=blocks)
    flips = quick_flips(survey)
    if flips is None:
        return None
    numerators, bound = flips
    rooms, overflow = rooms_of(survey, layout, numerators)
    devices = flipped_blocks(survey, layout, numerators, rooms)
    if not noise.has_dummies:
        return QuickPlan(survey=survey, bounds=(bound,), blocks=devices)
    mixed = quick_mixing(survey, layout, lanes_of(survey, layout, rooms), overflow)
    if mixed is None:
        return None
    sigmas, of_mixers = mixed
    blocks = with_sigmas(survey, devices, sigmas)
    return QuickPlan(survey=survey, bounds=(bound, of_mixers), blocks=blocks)
