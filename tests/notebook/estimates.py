"""Estimates with chosen shares of 1,000 people, to be drawn and shown."""

from __future__ import annotations

from krand.analysis.estimates.values import Interval, Method, QuestionEstimate, Row
from krand.survey.questions import Kind


def answer(label: str, share: float, half: float = 0.01) -> Row:
    counts = Interval(1000 * (share - half), 1000 * (share + half))
    shares = Interval(share - half, share + 2 * half)
    people = 1000 * share
    return Row(
        label=label,
        count=people,
        consistent=people,
        standard_error=5.0,
        interval=counts,
        simultaneous=counts,
        share=share,
        consistent_share=share,
        share_interval=shares,
        readable=True,
        method=Method.NORMAL,
    )


def question(
    *rows: Row, name: str = "fruit", confidence: float = 0.95, unanswered: Row | None = None
) -> QuestionEstimate:
    return QuestionEstimate(
        name=name,
        kind=Kind.CHOICE,
        people=1000,
        confidence=confidence,
        sampling=None,
        rows=rows,
        unanswered=unanswered,
    )
