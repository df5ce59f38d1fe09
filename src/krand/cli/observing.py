"""What was seen, in words: ratios with their laws, and what they do and do not say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.analysis.observe.outcome import UNLIKELY, BitsSeen, RecordSeen
from krand.wording.phrases import at_most, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krand.analysis.tally import Tally
    from krand.promise import Bounds
    from krand.survey.plan import Plan

__all__ = ["chance", "positions_table", "ratio", "record_table", "statements"]

LEAST = 1e-12
"""Smaller probabilities are printed as being below this."""
LARGEST = 1e9


def ratio(log_ratio: float) -> str:
    """A ratio, as a power of e where it would be a long number."""
    if abs(log_ratio) > math.log(LARGEST):
        return f"e^{number(log_ratio)}"
    return number(math.exp(log_ratio))


def chance(value: float) -> str:
    """A probability, 0 never: what is smaller than any that matters is said to be that."""
    return f"< {LEAST:g}" if value < LEAST else number(value, 3)


def record_table(plan: Plan, seen: RecordSeen) -> Table:
    """R of a batch of records, where it lies, and what was promised."""
    title = "R of what was seen, for the drafts' pair"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    rows = [
        ("R", ratio(seen.log_ratio)),
        ("log R", number(seen.log_ratio)),
        ("P[R ≥ this] if everybody's record is all zeros", _between(seen.alike, seen.draws)),
        ("P[R ≥ this] if one person's is all ones", _between(seen.outlier, seen.draws)),
        ("promised limit of R, λ = e^ε", ratio(plan.promise.epsilon)),
        *_budget(plan),
    ]
    for label, value in rows:
        table.add_row(label, value)
    return table


def _between(bounds: Bounds, draws: int) -> str:
    if not draws:
        return chance(bounds.value)
    return f"{number(bounds.value, 3)} [{number(bounds.lower, 3)}, {number(bounds.upper, 3)}]"


def _budget(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "promised η: P[R > λ] is at most", at_most(plan.promise.eta)
    yield "promised δ", at_most(plan.promise.delta)


def positions_table(seen: BitsSeen) -> Table:
    """The positions with the most extreme ratios of the drafts' pair."""
    title = "the most extreme ratios of single positions"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("answer", overflow="fold")
    for heading in (
        "ones",
        "R, drafts'\npair",
        "P[R ≥ this]\nall say 0",
        "P[R ≥ this]\none says 1",
        "true ones,\nestimated",
        "R here",
        "P[as far\nfrom 1]",
    ):
        # As text, because rich takes [as … 1] for a colour.
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


def statements(plan: Plan, tally: Tally, seen: RecordSeen | BitsSeen) -> tuple[str, ...]:
    """What the numbers say, and what they do not."""
    own = _of_records(plan, seen) if isinstance(seen, RecordSeen) else _of_bits(plan, seen)
    return (*own, *_of_any(plan, tally))


def _of_records(plan: Plan, seen: RecordSeen) -> Iterator[str]:
    yield (
        "R says how much likelier these reports are if one person's record is all ones and all"
        " others are all zeros than if everybody's is all zeros: the drafts' pair."
    )
    if seen.outlier.upper < UNLIKELY:
        yield (
            "An R as large as this lies outside its law in both crowds. By itself it says nothing"
            " about any one person: real people have ones in their records, and these push R up."
            " It says only that this crowd is not the one of the drafts' pair, so it cannot be"
            " compared with the promise."
        )
    else:
        place = "within" if abs(seen.log_ratio) <= plan.promise.epsilon else "beyond"
        yield (
            f"R is {place} the promised limit, if the crowd is the one of the drafts' pair; a real"
            " crowd has more ones, which push R up."
        )
    if plan.layout.most_ones < plan.layout.positions:
        yield "No answer to this survey is all ones: no two people differ as much as this pair."
    if seen.draws:
        yield f"The law of R was simulated: {seen.draws:,} outcomes, intervals at 95 %."
    refused = seen.people * seen.copies - seen.reports
    if refused > 0:
        yield (
            f"{refused:,} reports were not counted; R is that of a person whose reports all were."
        )


def _of_bits(plan: Plan, seen: BitsSeen) -> Iterator[str]:
    yield (
        "The drafts' pair: everybody answers 0 at a position, or one person answers 1. R says how"
        " much likelier the count is in the second case."
    )
    if seen.outside:
        yield (
            f"At {seen.outside:,} of {seen.positions:,} positions R lies outside its law in the"
            " crowd of zeros. By itself that says nothing about any one person: real people's ones"
            " push R up. It says only that this crowd is not the one of the drafts' pair."
        )
    if seen.beyond:
        yield (
            f"At {seen.beyond:,} of {seen.positions:,} positions there are more ones than people,"
            " so some were forged; they were taken to be as many as there are people."
        )
    yield from _of_worst_change(plan, seen)


def _of_worst_change(plan: Plan, seen: BitsSeen) -> Iterator[str]:
    worst, promised = seen.worst, plan.promise.epsilon
    place = "within" if worst.seen <= promised else "beyond"
    yield (
        "The most that this outcome reveals about anyone who differs by one allowed change of"
        " answers, if the counts of true ones are as estimated:"
        f" ε_seen = {number(worst.seen, 3)}, {place} the promised ε = {promised:g}. That estimate"
        " is made from the same counts: where it is above 0 it fits them, and R is near 1 by"
        " construction. So this is what is seen by somebody who knows no more than the tally."
    )
    yield (
        "Somebody who knows everybody else's answers sees the noise itself, and no tally tells"
        " what that was. Of the outcomes of a crowd like this one, half reveal at most"
        f" ε = {number(worst.typical, 3)} to them about the person they happen to reveal most"
        f" about, and 95 % at most ε = {number(worst.limit, 3)} ({worst.draws:,} simulated). The"
        f" promise of ε = {promised:g} is made to anyone chosen before the outcome is known;"
        " whoever is singled out afterwards may be beyond it, and it is kept all the same."
    )


def _of_any(plan: Plan, tally: Tally) -> Iterator[str]:
    if tally.crowd < tally.people:
        yield (
            "The tally adds up batches that were shuffled apart. Whoever saw them apart may have"
            " seen more: look at the tally of each alone, too."
        )
    if plan.promise.colluding:
        yield (
            f"The promise allows for {plan.promise.colluding:,} people who help the analyst. They"
            " can take their own reports out, which is not in these numbers."
        )
    if plan.survey.rounds > 1:
        yield (
            f"The promise is for all {plan.survey.rounds:,} rounds together; this is round"
            f" {tally.round:,}."
        )
    yield "One outcome neither keeps nor breaks a promise about all outcomes."
