"""The margin of error of results against ε: plans of the same survey, drawn as a line."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from krand.errors import KrandError
from krand.planning.expected import people_shown
from krand.planning.making import make_plan
from krand.survey.survey import Survey
from krand.web.pages import render
from krand.web.plan_parts import guess_bar, worst_precision
from krand.wording.phrases import people, percent

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
ENOUGH_SECONDS = 30.0
"""No further point is computed after this time: those that are there are right."""
WIDTH, HEIGHT, LEFT, BOTTOM = 560, 240, 56, 34
ROOM = 1.15
"""How much higher than its highest point the picture is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One plan: its ε, and the margin of its least precise question."""

    epsilon: float
    half: float
    shown: str
    guess: int
    is_current: bool
    x: float = 0.0
    y: float = 0.0


def curve_part(survey: Survey) -> str:
    """A table, and the same as a picture; the current plan is marked in both."""
    points = _placed(_points(survey))
    ticks = [point for point in points if point.epsilon in EPSILONS or point.is_current]
    return render(
        "promise_curve.html",
        points=points,
        ticks=ticks,
        line=" ".join(f"{point.x:g},{point.y:g}" for point in points),
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        bottom=HEIGHT - BOTTOM,
    )


def _points(survey: Survey) -> list[Point]:
    """The current one first, then its neighbours: each is a plan as krand plan makes it."""
    current, began = survey.policy.epsilon, time.monotonic()
    others = sorted(EPSILONS, key=lambda other: abs(math.log(other / current)))
    points: list[Point] = []
    for epsilon in dict.fromkeys((current, *others)):
        if points and time.monotonic() - began > ENOUGH_SECONDS:
            break
        try:
            policy = replace(survey.policy, epsilon=epsilon)
            plan = make_plan(replace(survey, policy=policy), suggestions=False)
        except KrandError:  # this one cannot be kept; its neighbours may be
            continue
        worst = worst_precision(plan)
        share = f" ({percent(worst.half_width_percent)})" if people_shown(survey) else ""
        points.append(
            Point(
                epsilon=epsilon,
                half=worst.half_width_95,
                shown=f"{people(worst)}{share}",
                guess=guess_bar(epsilon, plan.promise.delta),
                is_current=epsilon == current,
            )
        )
    return sorted(points, key=lambda point: point.epsilon)


def _placed(points: list[Point]) -> list[Point]:
    """Where each point is drawn: ε on a logarithmic axis, the margin on one from 0."""
    if not points:
        return []
    low, high = math.log(points[0].epsilon), math.log(points[-1].epsilon)
    top = ROOM * max(point.half for point in points)
    across, up = WIDTH - LEFT - 24, HEIGHT - BOTTOM - 10
    return [
        replace(
            point,
            x=round(LEFT + 12 + across * (math.log(point.epsilon) - low) / ((high - low) or 1), 1),
            y=round(10 + up * (1 - point.half / top), 1),
        )
        for point in points
    ]
