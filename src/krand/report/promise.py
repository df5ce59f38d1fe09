"""What is promised, to whom, and where it ends: in plain words, with the numbers of the results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.promise import Assurance
from krand.report.figures import bound, count
from krand.wording.collusion import SLIGHT, protection
from krand.wording.guarantees import assumption_texts, method_text
from krand.wording.phrases import number, refused_messages

__all__ = ["Named", "PromiseView", "broken_promise", "promise_view"]

ASSURANCES = {
    Assurance.CERTIFIED: (
        "Certified: this is a theorem. It holds whatever everybody else answered and whatever the"
        " analyst knew before."
    ),
    Assurance.OUTLIER: (
        "Outlier: computed exactly for one attack, on a person whose answers differ from those of a"
        " crowd in which everybody else answers alike. That no other crowd is worse for anybody is"
        " a conjecture, not a theorem."
    ),
}
LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class Named:
    """A few words and what they stand for."""

    term: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseView:
    """The section about the promise."""

    lead: str
    terms: tuple[Named, ...]
    assumptions: tuple[str, ...]
    shifts: tuple[tuple[str, str, str], ...]
    """For each block its name, and by how many people a count could be too high or too low."""
    liars: str


def promise_view(results: Results) -> PromiseView:
    """Everything that must be said beside the numbers."""
    clients = results.shifts and results.provenance is not Provenance.TABLE
    return PromiseView(
        lead=_lead(results),
        terms=tuple(_terms(results)),
        assumptions=tuple(_sentence(text) for text in assumption_texts(results.promise)),
        shifts=_shifts(results) if clients else (),
        liars=_liars(results.shifts[0].corrupted) if clients else "",
    )


def broken_promise(results: Results) -> str:
    """What to say on top of a page if the results are not as good as promised; else nothing."""
    if results.kept:
        return ""
    policy, promise = results.plan.survey.policy, results.promise
    if policy.delta is not None:
        asked, had = f"δ = {bound(policy.delta)}", f"δ = {bound(promise.delta)}"
    else:
        asked, had = f"η = {bound(policy.eta or 0.0)}", f"η = {bound(promise.eta)}"
    refused = sum(results.rejected.values())
    messages = "1 refused message" if refused == 1 else f"{refused:,} refused messages"
    why = f" and {messages}" if refused else ""
    return (
        f"The survey promised its participants {asked} at ε = {number(policy.epsilon)}. For the"
        f" crowd that took part{why}, only {had} can be shown. These results give participants less"
        " than they were promised."
    )


def _lead(results: Results) -> str:
    promise, policy = results.promise, results.plan.survey.policy
    rounds = results.plan.survey.rounds
    every = f" in all {rounds:,} rounds together" if rounds > 1 else ""
    if policy.delta is not None:
        slack = f"plus at most δ = {bound(promise.delta)}"
    else:
        slack = f"except with probability η = {bound(promise.eta)}"
    return (
        f"{_whom(results)} If you had given any other answers, the probability of anything that"
        f" {SEEN[results.provenance]}{every} would change by a factor of at most"
        f" {_factor(promise.epsilon)}, {slack}."
    )


SEEN = {
    Provenance.DEVICES: "the analyst can see",
    Provenance.TABLE: "can be seen in the responses and the results",
    Provenance.SIMULATION: "the analyst can see",
}


def _whom(results: Results) -> str:
    """To whom something is promised, and against whom it protects."""
    people, crowd = f"{results.people:,} people", f"{results.crowd:,}"
    several = results.people > results.crowd
    if results.provenance is Provenance.TABLE:
        apart = f", who were randomized in tables of at least {crowd}" if several else ""
        return (
            f"This is promised to each of the {people} in the data{apart}. It protects against"
            " everybody who sees the responses or these results, but not against the data holder,"
            " who saw all answers."
        )
    mixed = f", who were mixed in batches of at least {crowd}" if several else ""
    if results.provenance is Provenance.SIMULATION:
        return f"Nobody was asked. In a survey, this would be promised to each of {people}{mixed}."
    return f"This is promised to each of the {people} who took part{mixed}."


def _terms(results: Results) -> Iterator[Named]:
    promise = results.promise
    factor = math.exp(min(promise.epsilon, 700.0))
    yield Named(
        "In odds",
        "Suppose that somebody considers two possible answers of yours equally likely. Afterwards"
        f" they may consider one of them at most {bound(factor)} times as likely as the other,"
        f" which means being {bound(100 * factor / (1 + factor))} % sure. The probability of more"
        f" than that is at most η = {bound(promise.eta)}.",
    )
    known = ASSURANCES[promise.assurance]
    yield Named("How we know", f"{known} Method: {method_text(promise.method)}.")
    yield Named("Colluding participants", _colluding(results))
    if results.provenance is Provenance.TABLE:
        yield Named(
            "The data holder",
            "The data holder saw every answer before noise was added. Nothing here protects against"
            " the data holder, or against anybody to whom it shows the answers.",
        )
        yield Named(
            "False answers",
            "Somebody who answered falsely changed a count by at most 1 person.",
        )
        return
    yield Named("If collector and analyst collude", _collusion(promise.local_epsilon))
    yield Named("Refused messages", _refused(results))


def _colluding(results: Results) -> str:
    told = results.promise.colluding
    if not told:
        return "The promise assumes that no participant helps the analyst."
    refused = sum(results.rejected.values())
    planned = results.plan.survey.policy.colluding
    if refused and not planned:
        messages = (
            "the refused message" if refused == 1 else f"each of {refused:,} refused messages"
        )
        return (
            f"The promise is computed as if {messages} came from another participant who added no"
            " noise. It assumes that nobody else helps the analyst."
        )
    many = told - refused
    who = "1 participant tells" if many == 1 else f"{many:,} of the participants tell"
    beside = f", and {refused:,} more sent the messages that were refused" if refused else ""
    return (
        f"The promise holds even if {who} the analyst everything they know, their own answers and"
        f" their noise{beside}."
    )


def _collusion(local_epsilon: float) -> str:
    if local_epsilon > SLIGHT:
        worth = (
            "there is no protection: together, the two may see a person's answers plainly in that"
            " person's messages"
        )
    else:
        worth = f"{protection(local_epsilon)} remains"
    return (
        f"Then {worth}. They can look at each person's messages separately, where only the noise of"
        " that person's device remains: the odds of one set of answers against another can change"
        f" by a factor of up to {_factor(local_epsilon)} (ε₀ = {bound(local_epsilon)}). The promise"
        " above relies on the collector keeping its word."
    )


def _refused(results: Results) -> str:
    if not results.rejected:
        return "None: every message could be read."
    return refused_messages(results.plan, results.promise, results.rejected, bound)


def _shifts(results: Results) -> tuple[tuple[str, str, str], ...]:
    """A row for each block; one for all of them where all are alike."""
    ends = ((s.name, math.ceil(s.too_high), math.ceil(s.too_low)) for s in results.shifts)
    rows = tuple((name, count(high), count(low)) for name, high, low in ends)
    if len(rows) > 1 and len({row[1:] for row in rows}) == 1:
        return (("every question", *rows[0][1:]),)
    return rows


def _liars(corrupted: int) -> str:
    clients = "One client that lies" if corrupted == 1 else f"{corrupted:,} clients that lie"
    return (
        f"Nobody can look into a device. {clients} as well as possible could have changed the count"
        " of an answer by at most this many people:"
    )


def _factor(epsilon: float) -> str:
    """e^1 ≈ 2.718; a power of ten where it would be a long number."""
    if epsilon <= math.log(LARGEST):
        return f"e^{bound(epsilon)} ≈ {number(math.exp(epsilon))}"
    return f"e^{bound(epsilon)}, a number with {math.floor(epsilon / math.log(10)) + 1:,} digits"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
