"""One table of alternatives: who adds the noise, and how many rounds one promise covers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from krand.accounting.baselines import divided_curator
from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.margins import as_expected
from krand.planning.promises import shares_of
from krand.promise import Z95, Linkage
from krand.survey.plan import Plan
from krand.survey.schedule import Period
from krand.survey.survey import Survey, Trust
from krand.wire.messages import LAYER_BYTES

CHAIN = 3
"""The number of mixers that is shown beside one, for a survey which names no number."""
LENGTHS = (1, 4, 12, 52)
"""Rounds under one promise that are always shown, up to those of the survey."""
MESSAGE_BYTES = 6
"""Before it is sealed: for the analyst, and for every mixer but the collector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One way to ask the survey: what it gives and costs."""

    noise: str
    """Who adds it: devices, mixers, or a curator whom everybody trusts with their answers."""
    mixers: int
    rounds: int
    """How many rounds one promise covers."""
    chosen: bool
    """Whether the survey asks for it."""
    best: float
    """± people (95 %) of a count, of the most precise question."""
    worst: float
    promises: int
    """How many of these all rounds need."""
    epsilon: float
    """What whoever answers in all rounds spends in all."""
    delta: float
    messages: int = 0
    bytes: int = 0
    """Of all sealed messages of a person."""
    dummies: float = 0.0
    """How many one mixer adds to one batch, on average."""


def alternatives(plan: Plan) -> tuple[Alternative, ...]:
    """What the survey would give with other noise, and with a promise for fewer or more rounds.

    Only what can be planned has a row.
    """
    return tuple(_rows(plan))


def _rows(plan: Plan) -> Iterator[Alternative]:
    survey = plan.survey
    for trust in _trusts(survey):
        yield from _planned(plan, survey.changed(trust=trust), survey.promised_rounds)
    policy, shares = survey.policy, shares_of(survey)
    sigmas = divided_curator(policy, shares, survey.promised_rounds).sigmas
    yield replace(
        _row(plan, plan, survey.promised_rounds),
        noise="curator",
        mixers=0,
        chosen=False,
        best=Z95 * min(sigmas),
        worst=Z95 * max(sigmas),
        messages=0,
        bytes=0,
        dummies=0.0,
    )
    for length in _lengths(survey):
        yield from _planned(plan, _promised_together(survey, length), length)


def _trusts(survey: Survey) -> Iterator[Trust]:
    """The survey's own and the others; dummies cover no whole records, and ε₀ has no limit then."""
    own = survey.trust
    yield own if not own.has_dummies else Trust(noise="devices")
    if survey.linkage is Linkage.RECORD or survey.policy.max_local_epsilon is not None:
        return
    for mixers in sorted({1, own.mixers if own.has_dummies else CHAIN}):
        same = own.has_dummies and own.mixers == mixers
        yield own if same else Trust(mixers=mixers)


def _lengths(survey: Survey) -> list[int]:
    rounds = survey.rounds - survey.first_round + 1
    found = {*(n for n in LENGTHS if n < rounds), rounds} - {survey.promised_rounds}
    return sorted(found) if rounds > 1 else []


def _promised_together(survey: Survey, length: int) -> Survey:
    """The survey with so many rounds, and one promise for all of them."""
    assert survey.schedule is not None  # it has several rounds
    days = survey.schedule.changed(promise=Period.CAMPAIGN, first=1, time_zone="UTC", opens=())
    return survey.changed(rounds=length, schedule=days, closes=None)


def _planned(plan: Plan, asked: Survey, rounds: int) -> Iterator[Alternative]:
    """A row for this survey, unless its counts would be only noise."""
    try:
        other = plan if asked == plan.survey else make_plan(asked, suggestions=False)
    except KrandError:
        return
    yield _row(plan, other, rounds)


def _row(plan: Plan, other: Plan, rounds: int) -> Alternative:
    trust, survey = other.survey.trust, plan.survey
    widths = [block.precision.half_width_95 for block in as_expected(other).blocks]
    promises = math.ceil((survey.rounds - survey.first_round + 1) / rounds)
    return Alternative(
        noise=trust.noise,
        mixers=trust.mixers,
        rounds=rounds,
        chosen=other is plan,
        best=min(widths),
        worst=max(widths),
        promises=promises,
        epsilon=promises * other.survey.policy.epsilon,
        delta=promises * other.survey.policy.asked,
        messages=other.messages,
        bytes=other.messages * (MESSAGE_BYTES + LAYER_BYTES * trust.mixers),
        dummies=float(other.expected_dummies),
    )
