"""The top of the page: where the noise came from, and the promise as the chance of a guess."""

from __future__ import annotations

from dataclasses import dataclass

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.report.languages import Language
from krand.wording.mechanisms import words_of
from krand.wording.parties import one_hand_text
from krand.wording.promises import in_rounds, limit_of, promise_symbols, right_in


@dataclass(frozen=True, slots=True)
class Badge:
    """A short label; `tone` is its class in the style sheet."""

    tone: str
    text: str


@dataclass(frozen=True, slots=True)
class GuessBar:
    """From tossing a coin to certainty, and how far a guess can get: labels, and percent."""

    half: str
    right: str
    all: str
    length: float


@dataclass(frozen=True, slots=True)
class PromiseBox:
    """What is promised, what is said before it, what it relies on, and the guess as a bar."""

    before: str
    promise: str
    after: str
    symbols: str
    guess: GuessBar | None
    """None where nothing is hidden."""


def badges(results: Results, language: Language) -> tuple[Badge, Badge]:
    """Where noise was added to answers, and how the promise is known or that it was not kept."""
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


def promise_box(results: Results, language: Language) -> PromiseBox:
    """The promise for the people who took part; what would be promised in a simulation."""
    own, promise = language.texts.odds, results.promise
    after = [] if results.kept else [own.less]
    after += [own.known[promise.assurance], _relies_on(results, language)]
    limit = limit_of(results.plan.survey.policy, promise)
    return PromiseBox(
        before=_before(results, language),
        promise=_guess_text(results, language),
        after=" ".join(after),
        symbols=language.numbers.spaced(promise_symbols(promise.epsilon, limit, language.numbers)),
        guess=_guess_bar(results, language),
    )


def _guess_bar(results: Results, language: Language) -> GuessBar | None:
    times, own = right_in(results.promise.epsilon, results.promise.delta), language.texts.odds
    if times is None:
        return None
    right, tries = times
    whole = language.numbers.whole
    return GuessBar(
        half=own.coin.format(number=whole(tries // 2)),
        right=own.at_most.format(number=whole(right)),
        all=own.certain.format(number=whole(tries)),
        length=round(100 * (2 * right / tries - 1), 2),
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


def _guess_text(results: Results, language: Language) -> str:
    """How often somebody can be right who guesses which of two ways a person answered in."""
    own, whole, promise = language.texts.odds, language.numbers.whole, results.promise
    survey, times = results.plan.survey, right_in(promise.epsilon, promise.delta)
    seen = own.these_results
    if survey.rounds > 1:
        seen = in_rounds(survey, promise, own.all_results, own.period_results, language.numbers)
    if one_hand(results, language):
        seen = own.only.format(results=seen)
    if times is None:
        return own.always.format(results=seen)
    right, of = times
    return own.guess.format(results=seen, right=whole(right), of=whole(of), half=whole(of // 2))


def _relies_on(results: Results, language: Language) -> str:
    if results.provenance is Provenance.TABLE:
        return language.texts.odds.data_holder
    words = words_of(results.plan.mechanism)
    told = words.relies_on_organiser if one_hand(results, language) else words.relies_on
    return told(results, language.shared)
