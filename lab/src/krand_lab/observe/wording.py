"""An observed outcome in words: ratios, their distributions, and what they do and do not say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.wording.phrases import at_most, number
from krand_lab.observe.change import WorstChange
from krand_lab.observe.outcome import UNLIKELY, BitsSeen, MixedSeen
from krand_lab.observe.records import RecordSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krand import Plan, Policy, Tally
    from krand_lab.exact.bounds import Bounds

LEAST = 1e-12
"""Smaller probabilities are shown as being below this."""
LARGEST = 1e9


def ratio(log_ratio: float) -> str:
    """A ratio; as a power of e if it would be a long number."""
    if math.isinf(log_ratio):
        return "∞" if log_ratio > 0 else "0"
    if abs(log_ratio) > math.log(LARGEST):
        return f"e^{number(log_ratio)}"
    return number(math.exp(log_ratio))


def chance(value: float) -> str:
    """A probability, never shown as 0."""
    return f"< {number(LEAST)}" if value < LEAST else number(value, 3)


def record_table(plan: Plan, seen: RecordSeen) -> Table:
    """R of a batch of records, where it lies in its distribution, and what was promised."""
    title = "R of the observed outcome, for the two crowds of the drafts"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    rows = [
        ("R", ratio(seen.log_ratio)),
        ("log R", number(seen.log_ratio)),
        ("P[R ≥ this] if everybody's record is all zeros", _between(seen.alike, seen.draws)),
        ("P[R ≥ this] if one person's record is all ones", _between(seen.outlier, seen.draws)),
        ("promised limit for R, λ = e^ε", ratio(plan.survey.policy.epsilon)),
        _promised(plan.survey.policy),
    ]
    for label, value in rows:
        table.add_row(label, value)
    return table


def _between(bounds: Bounds, draws: int) -> str:
    if not draws:
        return chance(bounds.value)
    return f"{number(bounds.value, 3)} [{number(bounds.lower, 3)}, {number(bounds.upper, 3)}]"


def _promised(policy: Policy) -> tuple[str, str]:
    if policy.eta is not None:
        return "promised η: P[R > λ] is at most", at_most(policy.eta)
    assert policy.delta is not None
    return "promised δ", at_most(policy.delta)


def positions_table(seen: BitsSeen) -> Table:
    """The positions with the most extreme ratios, for the two crowds of the drafts."""
    title = "the most extreme ratios of single positions"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("answer", overflow="fold")
    for heading in (
        "ones",
        "R, drafts'\ncrowds",
        "P[R ≥ this]\nall say 0",
        "P[R ≥ this]\none says 1",
        "true ones,\nestimated",
        "R, this\ncrowd",
        "P[as far\nfrom 1]",
    ):
        # As text, because rich would read [as … 1] as a colour.
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for row in seen.extremes:
        table.add_row(
            Text(f"{row.question}: {row.answer}"),
            f"{row.count:,}",
            ratio(row.log_outlier),
            chance(row.zeros),
            chance(row.outlier),
            f"{row.true_ones:,}",
            ratio(row.log_here),
            chance(row.here),
        )
    return table


def mixed_table(seen: MixedSeen) -> Table:
    """The positions with the most extreme ratios, where mixers add noise."""
    title = "the most extreme ratios of single positions"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("answer", overflow="fold")
    for heading in ("messages", "others,\nestimated", "R", "P[as far\nfrom 1]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for row in seen.extremes:
        table.add_row(
            Text(f"{row.question}: {row.answer}"),
            f"{row.count:,}",
            f"{row.others:,}",
            ratio(row.log_ratio),
            chance(row.as_far),
        )
    return table


def statements(
    plan: Plan, tally: Tally, seen: RecordSeen | BitsSeen | MixedSeen
) -> tuple[str, ...]:
    """What the numbers say, and what they do not."""
    if isinstance(seen, RecordSeen):
        own = _of_records(plan, seen)
    elif isinstance(seen, MixedSeen):
        own = _of_mixed(plan, seen)
    else:
        own = _of_bits(plan, seen)
    return (*own, *_of_any(plan, tally, seen))


def _of_records(plan: Plan, seen: RecordSeen) -> Iterator[str]:
    yield (
        "The drafts compare two crowds: in one, everybody's record is all zeros; in the other, one"
        " person's record is all ones. R says how much more likely these responses are in the"
        " second crowd."
    )
    if seen.outlier.upper < UNLIKELY:
        yield (
            "Such a large R is practically impossible in both crowds. By itself it says nothing"
            " about any one person: real people have ones in their records, and these increase R."
            " It only says that this crowd is neither of the two, so R cannot be compared with the"
            " promise."
        )
    else:
        place = "within" if abs(seen.log_ratio) <= plan.survey.policy.epsilon else "beyond"
        yield (
            f"R is {place} the promised limit, if the crowd is one of these two; a real crowd has"
            " more ones, which increase R."
        )
    if plan.layout.most_ones < plan.layout.positions:
        yield "No record in this survey can be all ones, so no two people differ this much."
    if seen.draws:
        yield (
            f"The distribution of R was simulated: {seen.draws:,} outcomes, 95 % confidence"
            " intervals."
        )
    refused = seen.people * seen.copies - seen.responses
    if refused > 0:
        yield (
            f"{refused:,} responses were not counted; R applies to a person whose responses were"
            " all counted."
        )


def _of_bits(plan: Plan, seen: BitsSeen) -> Iterator[str]:
    yield (
        "The drafts compare two crowds: everybody answers 0 at a position, or one person answers 1."
        " R says how much more likely the count is in the second crowd."
    )
    if seen.outside:
        yield (
            f"At {seen.outside:,} of {seen.positions:,} positions R is practically impossible in a"
            " crowd of zeros. By itself that says nothing about any one person: the ones of real"
            " people increase R. It only says that this crowd is neither of the two."
        )
    if seen.beyond:
        yield (
            f"At {seen.beyond:,} of {seen.positions:,} positions there are more ones than people,"
            " so some are forged; these counts were reduced to the number of people."
        )
    yield from _of_worst_change(
        plan,
        seen.worst,
        "true ones",
        "The estimate comes from the same counts: where it is above 0 it fits them, so R is close"
        " to 1 by construction. This is therefore what",
        "In a crowd like this one, half",
    )


def _of_worst_change(
    plan: Plan, worst: WorstChange, people: str, estimate: str, half: str
) -> Iterator[str]:
    promised = plan.survey.policy.epsilon
    place = "within" if worst.seen <= promised else "beyond"
    yield (
        "The most that this outcome reveals about anyone who makes one allowed change of answers,"
        f" if the numbers of {people} are as estimated: ε_seen = {_epsilon(worst.seen)}, {place}"
        f" the promised ε = {promised:g}. {estimate} somebody sees who knows nothing but the tally."
    )
    yield (
        "Somebody who knows the answers of all others sees the noise itself, which a tally does not"
        f" show. {half} of the outcomes reveal to them at most ε = {_epsilon(worst.typical)} about"
        " the person about whom they reveal most, and 95 % reveal at most"
        f" ε = {_epsilon(worst.limit)} ({worst.draws:,} simulated). The promise ε = {promised:g}"
        " applies to a person chosen before the outcome is known. A person singled out afterwards"
        " may exceed it, although the promise is kept."
    )


def _of_mixed(plan: Plan, seen: MixedSeen) -> Iterator[str]:
    yield (
        "R says how much more likely a count is if one person more gave the answer, with as many"
        " others as estimated. It is computed from the distribution of the dummies."
    )
    if seen.beyond:
        yield (
            f"At {seen.beyond:,} of {seen.positions:,} positions there are more messages than"
            " people and mixers can send, so some are forged; these counts were reduced."
        )
    yield from _of_worst_change(
        plan,
        seen.worst,
        "others",
        "The estimate comes from the same counts, so this is what",
        "Half",
    )
    yield from _of_one_mixer(seen)


def _of_one_mixer(seen: MixedSeen) -> Iterator[str]:
    """What the dummies of one mixer leave, whoever else colludes."""
    left = seen.one_mixer
    whom = "the only mixer" if seen.mixers == 1 else f"one of the {seen.mixers:,} mixers"
    yield (
        f"If everybody else works with the analyst, only the dummies of {whom} are left, which"
        " protect as promised. Half of the outcomes then reveal at most"
        f" ε = {_epsilon(left.typical)} about the person about whom they reveal most, and 95 %"
        f" reveal at most ε = {_epsilon(left.limit)} ({left.draws:,} simulated). The tally does"
        " not show which dummies are whose, so this is about outcomes like it."
    )


def _epsilon(value: float) -> str:
    return "∞" if math.isinf(value) else number(value, 3)


def _of_any(plan: Plan, tally: Tally, seen: RecordSeen | BitsSeen | MixedSeen) -> Iterator[str]:
    if tally.crowd < tally.people:
        yield (
            "The tally adds up files that were shuffled separately. Somebody who saw the separate"
            " files may have learned more: also observe the tally of each file."
        )
    if plan.survey.policy.colluding and not isinstance(seen, MixedSeen):
        yield (
            f"The promise allows for {plan.survey.policy.colluding:,} colluding participants. They"
            " can subtract their own responses, which these numbers do not include."
        )
    if plan.survey.rounds > 1:
        yield (
            f"The promise covers all {plan.survey.rounds:,} rounds together; this is round"
            f" {tally.round:,}."
        )
    yield "A single outcome neither keeps nor breaks a promise about all outcomes."
