"""Plans with a noise that a test chooses, without the search for the least noise."""

from __future__ import annotations

from krand.survey.layout import layout_of
from krand.survey.plan import Plan, Promise, planned_from
from krand.survey.survey import Survey

__all__ = ["plan_with_noise"]

PROMISE = Promise(
    epsilon=1.0,
    delta=1e-6,
    eta=1e-6,
    local_epsilon=10.0,
    assurance="certified",
    method="none: the noise was chosen by a test",
    population=1000,
    colluding=0,
    assumptions=(),
)


def plan_with_noise(survey: Survey, numerator: int) -> Plan:
    """The survey with q = numerator/2^32 everywhere; its promise is not meant to be kept."""
    return planned_from(survey, (numerator,) * len(layout_of(survey).blocks), PROMISE)
