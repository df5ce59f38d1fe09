"""Baselines: the precision of other methods with the same promise.

- krand with other noise: that of devices, of one mixer, of a chain of mixers.
- RAPPOR (basic, one-time): the noise of each response suffices alone, so nobody must be trusted.
- A trusted curator, who sees all raw answers and adds Gaussian or geometric noise to the counts,
  whichever is smaller. The noise is divided among the questions by their weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from krand.accounting.baselines import Share, divided_curator, rappor_sigma
from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.promises import record_reports
from krand.promise import Linkage
from krand.survey.layout import Layout
from krand.survey.plan import Plan
from krand.survey.survey import Trust
from krand.wording.mechanisms import words_of

CHAINS = (1, 3)
"""The numbers of mixers that are compared."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A method and its standard error in people: root mean square over all positions."""

    name: str
    trusted: str
    sigma: float
    times_curator: float = 1.0
    """`sigma` divided by the curator's."""


def all_baselines(plan: Plan) -> tuple[Baseline, ...]:
    """The survey as it was run, then the baselines, known before anybody answers."""
    survey, layout = plan.survey, plan.layout
    own = _planned(plan, _own_name(plan), survey.trust)
    found = [
        own,
        *_with_devices(plan),
        *(way for way in _with_mixers(plan) if way.name != own.name),
    ]
    responses = replace(record_reports(survey), copies=1)
    rappor = [rappor_sigma(survey.policy, responses)] * len(layout.blocks)
    found.append(_method("RAPPOR", "nobody", layout, rappor))
    shares = [Share(block.sensitivity, block.weight) for block in layout.blocks]
    sigmas = divided_curator(survey.policy, shares, survey.promised_rounds).sigmas
    found.append(_method("trusted curator", "curator", layout, sigmas))
    curator = found[-1].sigma
    return tuple(replace(method, times_curator=method.sigma / curator) for method in found)


def _method(name: str, trusted: str, layout: Layout, sigmas: Sequence[float]) -> Baseline:
    """A method by the σ of each block."""
    all_sigmas = np.repeat(sigmas, [block.positions for block in layout.blocks])
    return Baseline(name, trusted, float(np.sqrt(np.mean(np.square(all_sigmas)))))


def _planned(plan: Plan, name: str, trust: Trust, times: float = 1.0) -> Baseline:
    trusted = words_of(trust.noise).trusted(trust.mixers)
    sigmas = [times * block.precision.sigma for block in plan.blocks]
    return _method(name, trusted, plan.layout, sigmas)


def _own_name(plan: Plan) -> str:
    trust = plan.survey.trust
    if plan.survey.linkage is Linkage.RECORD:
        return f"krand, records, k = {plan.survey.copies:,}"
    return f"krand, {words_of(trust.noise).source(trust.mixers)}"


def _with_devices(plan: Plan) -> Iterator[Baseline]:
    """The same survey with the noise of devices, where it can keep the promise."""
    if plan.survey.trust.chain:
        with suppress(KrandError):
            other = make_plan(plan.survey.changed(trust=Trust(noise="devices")))
            yield _planned(other, _own_name(other), other.survey.trust)


def _with_mixers(plan: Plan) -> Iterator[Baseline]:
    """The dummies of every mixer keep the promise alone, so all chains have the same laws."""
    survey, mixed = plan.survey, plan
    if not survey.trust.chain:
        if survey.linkage is Linkage.RECORD:  # no such responses
            return
        with suppress(KrandError):
            mixed = make_plan(survey.changed(trust=Trust()))
        if mixed is plan:
            return
    for mixers in CHAINS:
        trust = mixed.survey.trust.changed(mixers=mixers, analyst_runs=())
        times = math.sqrt(mixers / mixed.survey.trust.mixers)
        yield _planned(mixed, f"krand, {words_of(trust.noise).source(mixers)}", trust, times)
