"""The planner's report: one HTML file that needs nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from krand.present.pages import inline_figure, render
from krand.present.wording import (
    against_curator,
    at_most,
    how_known,
    local_promise,
    number,
    people,
    percent,
    promise,
)

if TYPE_CHECKING:
    from krand.present.demo import Demonstration, Headline
    from krand.privacy.frontier import FrontierRow

__all__ = ["FIGURE_LABEL", "planner_report"]

FIGURE_LABEL = "σ of an estimated count against the bytes that each person sends"

HEADINGS = (
    {"text": "", "right": False},
    {"text": "method", "right": False},
    {"text": "noise q", "right": True},
    {"text": "σ", "right": True},
    {"text": "± at 95 %", "right": True},
    {"text": "messages", "right": True},
    {"text": "bytes", "right": True},
    {"text": "guarantee", "right": False},
)


def planner_report(demonstration: Demonstration, svg: str | None) -> str:
    """The whole page; without a figure where none could be drawn."""
    plan = demonstration.headlines[0].plan
    policy, reports = plan.policy, plan.reports
    return render(
        "planner.html",
        title=f"Asking {policy.population:,} people {reports.bits} yes/no questions, in private",
        lead="Everybody flips each answer with probability q before it leaves the device; a"
        " shuffler forgets who sent what; the analyst subtracts the noise from the totals. Here is"
        f" the smallest q for ε = {policy.epsilon:g} and δ = {policy.delta:g}, and how precise"
        " every total is before a single answer has been collected.",
        cards=[_card(way) for way in demonstration.headlines],
        promises=_promises(demonstration.headlines[0]),
        assumptions=plan.guarantee.assumptions,
        headings=HEADINGS,
        rows=[{"best": r.best, "cells": _cells(r)} for r in demonstration.frontier.rows],
        figure=None if svg is None else inline_figure(svg, FIGURE_LABEL),
    )


def _card(way: Headline) -> dict[str, Any]:
    plan = way.plan
    return {
        "title": way.title,
        "people": people(plan.precision),
        "lines": [
            f"{percent(plan.precision.half_width_percent)} of the crowd, at 95 % confidence",
            f"flip probability q = {number(plan.noise, 6)} ({plan.noise_numerator:,} / 2^32)",
            f"σ = {number(plan.precision.sigma)};"
            f" {against_curator(plan, way.central_gaussian_sigma)}",
            local_promise(plan.guarantee.local_epsilon),
            f"{plan.guarantee.assurance}: {plan.guarantee.method}",
        ],
    }


def _promises(way: Headline) -> list[str]:
    plan = way.plan
    return [
        f"{promise(plan.policy, plan.guarantee)} This is {how_known(plan.guarantee.assurance)}.",
        "In plain words, leaving δ aside: seeing the totals multiplies or divides anybody's odds"
        f" about one person's answers by at most {at_most(math.exp(plan.policy.epsilon))}.",
        f"The promise needs the shuffler: {local_promise(plan.guarantee.local_epsilon)}.",
    ]


def _cells(row: FrontierRow) -> tuple[str, ...]:
    return (
        "★" if row.best else "",
        row.name,
        "" if row.noise is None else number(row.noise),
        number(row.sigma),
        number(row.half_width_95),
        f"{row.messages:,}",
        f"{row.bytes_per_user:,}",
        row.guarantee,
    )
