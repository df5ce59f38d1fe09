"""The top of the page: where the noise came from, and the promise in odds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.report.languages import Language
from krand.wording.phrases import factor

__all__ = ["Badge", "PromiseInOdds", "badges", "certainty", "promise_in_odds"]

LARGEST = 700.0
"""Beyond this ε, e^ε is no float."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A short label; `tone` is its class in the style sheet."""

    tone: str
    text: str


@dataclass(frozen=True, slots=True)
class PromiseInOdds:
    """What is promised, what is said before it, and what it relies on."""

    before: str
    promise: str
    after: str


def badges(results: Results, language: Language) -> tuple[Badge, Badge]:
    """Where the answers became noisy, and how the promise is known or that it was not kept."""
    own, assurance = language.texts.badges, results.promise.assurance
    real = results.provenance is Provenance.DEVICES
    known = Badge("good" if real else "calm", own.assurance[assurance])
    if not results.kept:
        known = Badge("bad", own.not_kept)
    return Badge("calm" if real else "warn", _noise_from(results, language)), known


def _noise_from(results: Results, language: Language) -> str:
    own, trust = language.texts.badges, results.plan.survey.trust
    if results.provenance is Provenance.TABLE:
        return own.data_holder
    if results.provenance is Provenance.SIMULATION:
        return own.simulation
    if not trust.noise.has_dummies:
        return own.devices
    said = own.both if trust.noise.has_flips else own.mixers
    return said.of(trust.mixers).format(number=language.numbers.whole(trust.mixers))


def promise_in_odds(results: Results, language: Language) -> PromiseInOdds:
    """The promise for the people who took part; what would be promised in a simulation."""
    own, numbers, promise = language.texts.odds, language.numbers, results.promise
    rounds = results.plan.survey.rounds
    seen = own.all_results.format(rounds=numbers.whole(rounds)) if rounds > 1 else own.these_results
    after = [own.more.format(eta=numbers.bound(promise.eta))]
    after += [] if results.kept else [own.less]
    after += [own.known[promise.assurance], _relies_on(results, language)]
    return PromiseInOdds(
        before=own.nobody if results.provenance is Provenance.SIMULATION else "",
        promise=own.sees.format(
            results=seen,
            factor=numbers.spaced(factor(promise.epsilon, texts=language.shared)),
            percent=certainty(promise.epsilon, language),
        ),
        after=" ".join(after),
    )


def _relies_on(results: Results, language: Language) -> str:
    own, whole, trust = language.texts.odds, language.numbers.whole, results.plan.survey.trust
    if results.provenance is Provenance.TABLE:
        return own.data_holder
    if trust.noise.has_dummies:
        return own.mixers.of(trust.mixers).format(number=whole(trust.mixers))
    return own.devices.format(crowd=whole(results.crowd))


def certainty(epsilon: float, language: Language) -> str:
    """How sure somebody can become who considered two answers equally likely, rounded up."""
    ratio, numbers = math.exp(min(epsilon, LARGEST)), language.numbers
    return numbers.with_percent(numbers.bound(100 * ratio / (1 + ratio)))
