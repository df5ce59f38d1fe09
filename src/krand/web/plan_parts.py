"""The parts of pages about a plan: the promise, coalitions, alternatives, a preview, a curve.

The preview has invented answers with exactly the noise of the plan. The curve is the margin of
error against ε: plans of the same survey.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from krand.errors import KrandError
from krand.languages.speaking import gettext, language
from krand.planning.alternatives import alternatives
from krand.planning.coalitions import coalitions_of
from krand.planning.making import make_plan
from krand.planning.margins import as_expected, people_shown, results_by_group
from krand.promise import Z95, Precision
from krand.report.languages import language_of
from krand.report.promise import coalition_view
from krand.showing import decimals_for
from krand.survey.kinds.lists import Choice
from krand.survey.kinds.yes_no import YesNo
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.survey import Survey
from krand.web.pages import render
from krand.wording.mechanisms import words_of
from krand.wording.phrases import dishonest_can, people, percent
from krand.wording.plan_texts import PLANS
from krand.wording.plans import (
    alternatives_rows,
    group_sentences,
    promise_sentence,
    promised_guess,
)
from krand.wording.promises import right_guess
from krand.wording.texts import SPOKEN

PREVIEWED = 2
"""How many questions the preview shows."""
MOST_BARS = 12
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
ENOUGH_SECONDS = 30.0
"""No further point is computed after this time: those that are there are right."""
WIDTH, HEIGHT, LEFT, BOTTOM = 560, 240, 56, 34
ROOM = 1.15
"""How much higher than its highest point the picture is."""
SEED = 1
"""The same plan shows the same preview."""
UNANSWERED = 0.08
"""The invented share of people who skip a question."""
BAR = 100
"""Of a bar, in the units of its drawing: one for a percent."""

Floats = NDArray[np.float64]


def promise_part(plan: Plan) -> str:
    """The promise of a plan, and how precise its results will be."""
    shown, words = as_expected(plan), words_of(plan.survey.trust.noise)
    rows = [
        (question.text or question.name, question.name, shown.precision_of(question.name))
        for question in plan.survey.questions
    ]
    return render(
        "promise_result.html",
        plan=plan,
        rows=rows,
        worst=worst_precision(plan),
        expected=people_shown(plan.survey),
        crowd=words.crowd(plan),
        by_group=group_sentences(results_by_group(plan)),
        guess=promised_guess(plan),
        bar=guess_bar(plan.survey.policy.epsilon, plan.survey.policy.asked),
        promise=promise_sentence(plan),
        dishonest=dishonest_can([block.shift for block in plan.blocks]),
        people=people,
        percent=percent,
    )


def guess_bar(epsilon: float, delta: float) -> int:
    """How often a guess is right at most, in 100: the mark on the bar from 50 to 100."""
    return min(100, math.ceil(100 * right_guess(epsilon, delta)))


def _half_width(known: Precision) -> float:
    return known.half_width_95


def said_of(plan: Plan) -> str:
    """The main number, for those who listen."""
    return gettext("Typical margin of error: %(width)s.", width=people(worst_precision(plan)))


def worst_precision(plan: Plan) -> Precision:
    """That of the least precise question, as the table shows it."""
    shown = as_expected(plan)
    known = (shown.precision_of(question.name) for question in plan.survey.questions)
    return max(known, key=_half_width)


def more_part(plan: Plan) -> str:
    """Who works together and what is left; what results will look like; the alternatives."""
    texts = language_of(language())
    columns, rows = alternatives_rows(alternatives(plan))
    return render(
        "promise_more.html",
        promise={"coalitions": [coalition_view(row, plan, texts) for row in coalitions_of(plan)]},
        texts=texts.texts,
        previews=preview_of(plan, _labels(plan.survey)) if people_shown(plan.survey) else (),
        crowd=previewed_people(plan),
        width=BAR,
        title=PLANS.alternatives_title,
        columns=columns,
        alternatives=rows,
    )


def _labels(survey: Survey) -> dict[str, tuple[str, ...]]:
    """The answers of the first questions that can be shown as bars."""
    found: dict[str, tuple[str, ...]] = {}
    for question in survey.questions:
        if isinstance(question, YesNo):
            found[question.name] = (gettext("yes"), gettext("no"))[: question.positions]
        elif isinstance(question, Choice) and len(question.choices) <= MOST_BARS:
            found[question.name] = tuple(question.choices)
        if len(found) == PREVIEWED:
            break
    return found


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
            policy = survey.policy.changed(epsilon=epsilon)
            plan = make_plan(survey.changed(policy=policy), suggestions=False)
        except KrandError:  # this one cannot be kept; its neighbours may be
            continue
        worst = worst_precision(plan)
        share = f" ({percent(worst.half_width_percent)})" if people_shown(survey) else ""
        points.append(
            Point(
                epsilon=epsilon,
                half=worst.half_width_95,
                shown=f"{people(worst)}{share}",
                guess=guess_bar(epsilon, policy.asked),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One answer: an estimate from simulated noise, with its interval, in percent."""

    label: str
    shown: str
    length: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One question with simulated results."""

    question: str
    bars: tuple[Bar, ...]


def preview_of(plan: Plan, labels: dict[str, tuple[str, ...]]) -> list[Preview]:
    """A preview of every named question; `labels` names the answers of its positions."""
    random = np.random.default_rng(SEED)
    texts = {question.name: question.text or question.name for question in plan.survey.questions}
    return [_preview(plan, name, texts[name], given, random) for name, given in labels.items()]


def previewed_people(plan: Plan) -> int:
    """How many people are simulated: as many as are expected."""
    return people_shown(plan.survey) or plan.survey.policy.minimum_crowd


def _preview(
    plan: Plan, name: str, text: str, labels: tuple[str, ...], random: np.random.Generator
) -> Preview:
    block, crowd = plan.block_of(name), previewed_people(plan)
    true = np.rint(crowd * _shares(len(labels), random)).astype(np.int64)
    estimates = 100 * _estimates(plan, block, true, random) / crowd
    half = Z95 * as_expected(plan).precision_of(name).sigma * 100 / crowd
    bars = (
        _bar(label, float(estimate), half)
        for label, estimate in zip(labels, estimates, strict=True)
    )
    return Preview(question=text, bars=tuple(bars))


def _shares(answers: int, random: np.random.Generator) -> Floats:
    """Invented shares: uneven, and not all people answer."""
    if answers == 1:
        return random.uniform(0.2, 0.6, 1)
    parts = random.dirichlet(np.linspace(4.0, 1.5, answers))
    return np.asarray((1 - UNANSWERED) * parts, dtype=np.float64)


def _estimates(
    plan: Plan, block: PlannedBlock, true: NDArray[np.int64], random: np.random.Generator
) -> Floats:
    """Counts with the noise of devices and of mixers, corrected as an analyst does."""
    crowd, q = previewed_people(plan), block.noise
    counts = random.binomial(true, 1 - q) + random.binomial(crowd - true, q) - crowd * q
    for _ in range(plan.survey.trust.chain):
        law = plan.law_of(next(lane for lane in plan.lanes if lane.block == block.name))
        weights = np.array(law.weights, dtype=np.float64)
        drawn = random.choice(len(weights), len(true), p=weights / weights.sum())
        counts = counts + drawn - law.mean
    return np.asarray(counts / (1 - 2 * q), dtype=np.float64)


def _bar(label: str, estimate: float, half: float) -> Bar:
    low, high = max(0.0, estimate - half), min(100.0, estimate + half)
    numbers, decimals = SPOKEN.numbers, decimals_for(half)
    middle, around = (numbers.signed(f"{one:.{decimals}f}") for one in (max(0.0, estimate), half))
    return Bar(
        label=label,
        shown=f"{numbers.with_percent(middle)} ± {around}",
        length=round(min(100.0, max(0.0, estimate)), 3),
        low=round(min(low, 100.0), 3),
        high=round(max(high, 0.0), 3),
    )
