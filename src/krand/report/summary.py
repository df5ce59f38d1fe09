"""The top of the page: where the noise came from, and the promise in odds."""

from __future__ import annotations

from dataclasses import dataclass

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.report.languages import Language
from krand.wording.mechanisms import words_of
from krand.wording.parties import one_hand_text
from krand.wording.promises import in_rounds, limit_of, promise_symbols, right_guess, right_in


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
    own, plan = language.texts.badges, results.plan
    if results.provenance is Provenance.TABLE:
        return own.data_holder
    if results.provenance is Provenance.SIMULATION:
        return own.simulation
    return words_of(plan.mechanism).badge(plan.survey.trust.mixers, language.shared)


def promise_in_odds(results: Results, language: Language) -> PromiseInOdds:
    """The promise for the people who took part; what would be promised in a simulation."""
    own = language.texts.odds
    after = [] if results.kept else [own.less]
    after += [own.known[results.promise.assurance], _relies_on(results, language)]
    return PromiseInOdds(
        before=_before(results, language),
        promise=guess_text(results, language),
        after=" ".join(after),
    )


def _before(results: Results, language: Language) -> str:
    """That nobody was asked, or that the organiser can read all answers."""
    if results.provenance is Provenance.SIMULATION:
        return language.texts.odds.nobody
    return one_hand(results, language)


def one_hand(results: Results, language: Language) -> str:
    """What an organiser that runs every mixer can learn; empty if others mix, or nobody does."""
    if results.provenance is Provenance.TABLE:
        return ""
    return one_hand_text(results.plan, language.shared, results.promise.local_epsilon)


def guess_text(results: Results, language: Language) -> str:
    """How often somebody can be right who guesses which of two ways a person answered in."""
    own, numbers, promise = language.texts.odds, language.numbers, results.promise
    survey, right = results.plan.survey, right_guess(promise.epsilon, promise.delta)
    seen = own.these_results
    if survey.rounds > 1:
        seen = in_rounds(survey, promise, own.all_results, own.period_results, numbers)
    if one_hand(results, language):
        seen = own.only.format(results=seen)
    said = promise_symbols(promise.epsilon, limit_of(survey.policy, promise), numbers)
    symbols = numbers.spaced(said)
    if right_in(promise.epsilon, promise.delta) is None:
        return own.always.format(results=seen, symbols=symbols)
    return own.guess.format(
        results=seen,
        percent=numbers.with_percent(numbers.bound(100 * right)),
        odds=numbers.bound(right / (1 - right), 3),
        symbols=symbols,
    )


def _relies_on(results: Results, language: Language) -> str:
    if results.provenance is Provenance.TABLE:
        return language.texts.odds.data_holder
    words = words_of(results.plan.mechanism)
    told = words.relies_on_organiser if one_hand(results, language) else words.relies_on
    return told(results, language.shared)
