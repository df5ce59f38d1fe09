"""What is promised, to whom, and where it ends: in plain words, with the numbers of the results.

The top of a page has it as the chance of a guess, the annex in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.planning.coalitions import Remainder, Remains
from krand.report.languages import Language
from krand.report.notes import sentence
from krand.survey.plan import Plan
from krand.wording.mechanisms import words_of
from krand.wording.parties import coalition_text, one_hand_text, remains_text
from krand.wording.promises import (
    assumption_texts,
    factor,
    in_rounds,
    limit_of,
    method_text,
    promise_symbols,
    protection,
    right_in,
)

TELLING = 0.1
"""Above this η, nothing is said about the odds of every single outcome: it would be void."""


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
    own = language.texts.badges
    real = results.provenance is Provenance.DEVICES
    known = Badge("good" if real else "calm", own.proven)
    if not results.kept:
        known = Badge("bad", own.not_kept)
    return Badge("calm" if real else "warn", _noise_from(results, language)), known


def _noise_from(results: Results, language: Language) -> str:
    own, plan = language.texts.badges, results.plan
    if results.provenance is Provenance.TABLE:
        return own.data_holder
    if results.provenance is Provenance.SIMULATION:
        return own.simulation
    return words_of(plan.survey.trust.noise).badge(plan.survey.trust.mixers, language.shared)


def promise_box(results: Results, language: Language) -> PromiseBox:
    """The promise for the people who took part; what would be promised in a simulation."""
    own, promise = language.texts.odds, results.promise
    after = [] if results.kept else [own.less]
    after += [own.proven, _relies_on(results, language)]
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
    words = words_of(results.plan.survey.trust.noise)
    told = words.relies_on_organiser if one_hand(results, language) else words.relies_on
    return told(results, language.shared)


@dataclass(frozen=True, slots=True)
class Named:
    """A few words and what they stand for."""

    term: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoalitionView:
    """Who may work together, and what remains then: in words, in symbols."""

    who: str
    remains: str
    symbols: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseView:
    """The section about the promise."""

    lead: str
    """To whom."""
    terms: tuple[Named, ...]
    symbols: str
    """The same as the definition of differential privacy says it."""
    coalitions: tuple[CoalitionView, ...]
    coalitions_lead: str
    assumptions: tuple[str, ...]
    shifts: tuple[tuple[str, str, str], ...]
    """For each block its name, and by how many people a count could be too high or too low."""


def promise_view(results: Results, language: Language) -> PromiseView:
    """Everything that must be said beside the numbers."""
    clients = results.provenance is not Provenance.TABLE
    hand = one_hand(results, language)
    assumed = assumption_texts(results.promise, language.shared, in_one_hand=bool(hand))
    return PromiseView(
        lead=_whom(results, language),
        terms=tuple(_terms(results, language)),
        symbols=_symbols(results, language),
        coalitions=_coalitions(results, language),
        coalitions_lead=_coalitions_lead(results, language),
        assumptions=tuple(sentence(text) for text in assumed),
        shifts=_shifts(results, language) if clients else (),
    )


def broken_promise(results: Results, language: Language) -> str:
    """What to say on top of a page if the results are not as good as promised; else nothing."""
    if results.kept:
        return ""
    own, numbers = language.texts.promise, language.numbers
    policy, promise = results.plan.survey.policy, results.promise
    (name, had), (_, asked) = limit_of(policy, promise), limit_of(policy, policy)
    refused = sum(results.rejected.values())
    said = own.broken_refused.of(refused) if refused else own.broken_why
    return said.format(
        asked=f"{name} = {numbers.bound(asked, 2)}",
        had=f"{name} = {numbers.bound(had, 2)}",
        epsilon=numbers.number(policy.epsilon),
        number=numbers.whole(refused),
    )


def _symbols(results: Results, language: Language) -> str:
    own, numbers = language.texts.promise, language.numbers
    promise, survey = results.promise, results.plan.survey
    policy = survey.policy
    slack = own.slack_eta if policy.delta is None else own.slack_delta
    lead = own.lead_readers if one_hand(results, language) else own.lead
    if results.provenance is Provenance.TABLE:
        lead = own.lead_table
    return lead.format(
        rounds=in_rounds(survey, promise, own.rounds, own.period, numbers),
        factor=numbers.spaced(factor(promise.epsilon, texts=language.shared)),
        slack=slack.format(limit=numbers.bound(limit_of(policy, promise)[1], 1)),
    )


def _whom(results: Results, language: Language) -> str:
    """To whom something is promised, and against whom it protects."""
    own, whole = language.texts.promise, language.numbers.whole
    said = {
        Provenance.DEVICES: own.to_people,
        Provenance.TABLE: own.to_tables if results.people > results.crowd else own.to_table,
        Provenance.SIMULATION: own.to_nobody,
    }[results.provenance]
    return said.format(people=whole(results.people), crowd=whole(results.crowd))


def _terms(results: Results, language: Language) -> Iterator[Named]:
    own, promise, numbers = language.texts.promise, results.promise, language.numbers
    words = words_of(results.plan.survey.trust.noise)
    if promise.eta <= TELLING:
        ratio = numbers.spaced(factor(promise.epsilon, texts=language.shared))
        yield Named(own.odds, own.odds_text.format(factor=ratio, eta=numbers.bound(promise.eta, 1)))
    method = method_text(promise.method, language.shared)
    yield Named(own.known, own.known_text.format(method=method))
    if hand := one_hand(results, language):
        yield Named(own.organiser, hand)
    else:
        yield Named(own.colluding, words.colluding(results, language.shared))
    if results.provenance is Provenance.TABLE:
        yield Named(own.data_holder, own.data_holder_text)
        yield Named(own.false_answers, own.false_answers_text)
        return
    for term, text in () if hand else words.collusion_terms(results, language.shared):
        yield Named(term, text)
    refused = own.none_refused
    if results.rejected:
        rejected, bound = results.rejected, numbers.bound
        refused = words.refused(results.plan, promise, rejected, bound, language.shared)
    yield Named(own.refused, refused)


def _coalitions_lead(results: Results, language: Language) -> str:
    if hand := one_hand(results, language):
        return language.shared.parties.hand_lead.format(one_hand=hand)
    return words_of(results.plan.survey.trust.noise).coalitions_lead(language.shared)


def _coalitions(results: Results, language: Language) -> tuple[CoalitionView, ...]:
    return tuple(
        coalition_view(row, results.plan, language, results.crowd) for row in results.coalitions
    )


def coalition_view(
    row: Remainder,
    plan: Plan,
    language: Language,
    crowd: int | None = None,
) -> CoalitionView:
    """One row of the table; of a plan alone, as planned."""
    who = coalition_text(row, plan, language.shared, crowd)
    return CoalitionView(
        who=who[:1].upper() + who[1:],
        remains=_remains(row, plan, language),
        symbols=_symbols_of(row, plan, language),
    )


def _symbols_of(row: Remainder, plan: Plan, language: Language) -> str:
    """In symbols; nothing has none."""
    if row.remains is Remains.NOTHING or row.epsilon is None:
        return "–"
    if row.remains is Remains.LOCAL:
        return f"ε₀ = {language.numbers.bound(row.epsilon)}"
    return language.numbers.spaced(remains_text(row, plan, language.shared))


def _remains(row: Remainder, plan: Plan, language: Language) -> str:
    """In words: all that the survey promised, less, or the noise of one device."""
    if row.remains is Remains.NOTHING or row.epsilon is None:
        return language.shared.coalitions.nothing
    if row.remains is Remains.LOCAL:
        return protection(row.epsilon, language.shared)
    own = language.texts.promise
    return own.whole_promise if keeps_all(row, plan) else own.weaker_promise


def keeps_all(row: Remainder, plan: Plan) -> bool:
    """Whether what remains is all that the survey promised."""
    policy = plan.survey.policy
    had = row.eta if policy.delta is None else row.delta
    if row.epsilon is None or had is None:
        return False
    return row.epsilon <= policy.epsilon and had <= limit_of(policy, policy)[1]


def _shifts(results: Results, language: Language) -> tuple[tuple[str, str, str], ...]:
    """A row for each block; one for all of them where all are alike."""
    count, shifts = language.numbers.count, [block.shift for block in results.plan.blocks]
    ends = ((s.name, math.ceil(s.too_high), math.ceil(s.too_low)) for s in shifts)
    rows = tuple((name, count(high), count(low)) for name, high, low in ends)
    if len(rows) > 1 and len({row[1:] for row in rows}) == 1:
        return ((language.texts.promise.every_question, *rows[0][1:]),)
    return rows
