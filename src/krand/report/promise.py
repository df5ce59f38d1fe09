"""What is promised, to whom, and where it ends: in plain words, with the numbers of the release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.published import PublishedRelease
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
        "Outlier: computed exactly for one attack, that on a person whose answers are unlike those"
        " of a crowd that is all alike. That no other crowd is worse for anybody is a conjecture,"
        " not a theorem."
    ),
}
LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class Named:
    """A few words and what they stand for."""

    term: str
    text: str


@dataclass(frozen=True, slots=True)
class PromiseView:
    """The section about the promise."""

    lead: str
    terms: tuple[Named, ...]
    assumptions: tuple[str, ...]
    shifts: tuple[tuple[str, str, str], ...]
    """For each block its name, and by how many people a count could be too high or too low."""
    liars: str


def promise_view(release: PublishedRelease) -> PromiseView:
    """Everything that must be said beside the numbers."""
    clients = release.shifts and release.provenance is not Provenance.TABLE
    return PromiseView(
        _lead(release),
        tuple(_terms(release)),
        tuple(_sentence(text) for text in assumption_texts(release.promise)),
        _shifts(release) if clients else (),
        _liars(release.shifts[0].corrupted) if clients else "",
    )


def broken_promise(release: PublishedRelease) -> str:
    """What to say on top of a page whose release is not as good as promised; nothing if it is."""
    if release.kept:
        return ""
    policy, promise = release.plan.survey.policy, release.promise
    if policy.delta is not None:
        asked, had = f"δ = {bound(policy.delta)}", f"δ = {bound(promise.delta)}"
    else:
        asked, had = f"η = {bound(policy.eta or 0.0)}", f"η = {bound(promise.eta)}"
    refused = sum(release.rejected.values())
    why = f", {refused:,} messages of which had to be refused" if refused else ""
    return (
        f"The survey promised its participants {asked} at ε = {number(policy.epsilon)}. For the"
        f" crowd that came{why}, only {had} can be shown. Whoever took part was promised more than"
        " this release gives."
    )


def _lead(release: PublishedRelease) -> str:
    promise, policy = release.promise, release.plan.survey.policy
    whom = _whom(release)
    rounds = release.plan.survey.rounds
    every = f" in all {rounds:,} rounds together" if rounds > 1 else ""
    if policy.delta is not None:
        slack = f"give or take δ = {bound(promise.delta)}"
    else:
        slack = f"except with probability η = {bound(promise.eta)}"
    return (
        f"{whom}: had you given any other answers, the probability of anything that"
        f" {SEEN[release.provenance]}{every} would differ by a factor of at most"
        f" {_factor(promise.epsilon)}, {slack}."
    )


SEEN = {
    Provenance.DEVICES: "the analyst can see",
    Provenance.TABLE: "can be seen in the responses and the results",
    Provenance.SIMULATION: "the analyst can see",
}


def _whom(release: PublishedRelease) -> str:
    """To whom something is promised, and towards whom."""
    people, crowd = f"{release.people:,} people", f"{release.crowd:,}"
    several = release.people > release.crowd
    if release.provenance is Provenance.TABLE:
        apart = f", who were randomized in tables of at least {crowd}" if several else ""
        return (
            f"To each of the {people} in the data{apart}, towards whoever sees the responses or"
            " these results, but not towards the data holder, who saw all answers"
        )
    mixed = f", who were mixed in batches of at least {crowd}" if several else ""
    if release.provenance is Provenance.SIMULATION:
        return f"Nobody was asked. To each of {people}{mixed}, it would be promised"
    return f"To each of the {people} who took part{mixed}"


def _terms(release: PublishedRelease) -> Iterator[Named]:
    promise = release.promise
    factor = math.exp(min(promise.epsilon, 700.0))
    yield Named(
        "In odds",
        "Somebody to whom two answers of yours seemed equally likely may afterwards hold one of"
        f" them for at most {bound(factor)} times as likely as the other, which is"
        f" {bound(100 * factor / (1 + factor))} % sure. More than that happens with a probability"
        f" of at most η = {bound(promise.eta)}.",
    )
    known = ASSURANCES[promise.assurance]
    yield Named("How this is known", f"{known} Method: {method_text(promise.method)}.")
    yield Named("Participants who tell", _colluding(release))
    if release.provenance is Provenance.TABLE:
        yield Named(
            "The data holder",
            "The data holder saw every answer before it became noisy. Against the data holder, and"
            " whoever it shows the answers to, nothing here protects.",
        )
        yield Named(
            "False answers", "Whoever answered falsely changed a count by at most 1 person."
        )
        return
    yield Named("If shuffler and analyst work together", _collusion(promise.local_epsilon))
    yield Named("Refused messages", _refused(release))


def _colluding(release: PublishedRelease) -> str:
    told = release.promise.colluding
    if not told:
        return "The promise is computed for a crowd in which nobody tells the analyst anything."
    refused = sum(release.rejected.values())
    planned = release.plan.survey.policy.colluding
    if refused and not planned:
        return (
            f"The promise is computed as if the {refused:,} refused messages came from as many"
            " participants who hide nobody, and as if nobody else told the analyst anything."
        )
    beside = f", and {refused:,} more sent the messages that were refused" if refused else ""
    return (
        f"The promise holds even if {told - refused:,} of the participants tell the analyst all"
        f" they know, their own answers and their noise{beside}."
    )


def _collusion(local_epsilon: float) -> str:
    if local_epsilon > SLIGHT:
        worth = (
            "there is no protection: to the two of them together a person's messages may show the"
            " answers plainly"
        )
    else:
        worth = f"{protection(local_epsilon)} remains"
    return (
        f"Then {worth}. Each person's messages are seen by themselves, with the noise of the own"
        " device alone: the odds of one set of answers against another can change by a factor of"
        f" up to {_factor(local_epsilon)} (ε₀ = {bound(local_epsilon)}). The promise above rests"
        " on the shuffler's keeping its word."
    )


def _refused(release: PublishedRelease) -> str:
    if not release.rejected:
        return "None: every message could be read."
    return refused_messages(release.plan, release.promise, release.rejected, bound)


def _shifts(release: PublishedRelease) -> tuple[tuple[str, str, str], ...]:
    """A row for each block; one for all of them where all are alike."""
    ends = ((s.name, math.ceil(s.too_high), math.ceil(s.too_low)) for s in release.shifts)
    rows = tuple((name, count(high), count(low)) for name, high, low in ends)
    if len(rows) > 1 and len({row[1:] for row in rows}) == 1:
        return (("every question", *rows[0][1:]),)
    return rows


def _liars(corrupted: int) -> str:
    clients = "One client that lies" if corrupted == 1 else f"{corrupted:,} clients that lie"
    return (
        f"Nobody can look into a device. {clients} as well as possible could have moved the count"
        " of an answer by at most so many people:"
    )


def _factor(epsilon: float) -> str:
    """e^1 ≈ 2.718; a power of ten where it would be a long number."""
    if epsilon <= math.log(LARGEST):
        return f"e^{bound(epsilon)} ≈ {number(math.exp(epsilon))}"
    return f"e^{bound(epsilon)}, a number of {math.floor(epsilon / math.log(10)) + 1:,} digits"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
