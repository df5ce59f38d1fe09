"""What remains for a person when others work together, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from krand.planning.coalitions import Coalition, Remainder, Remains
from krand.survey.plan import Plan
from krand.wording.collusion import protection
from krand.wording.texts import ENGLISH, Texts

__all__ = ["coalition_text", "coalitions_table", "remains_text"]


def coalition_text(
    row: Remainder, plan: Plan, texts: Texts = ENGLISH, crowd: int | None = None
) -> str:
    """Who works together: the analyst and half of the people, of the crowd planned or given."""
    own, numbers = texts.coalitions, texts.numbers
    collector = plan.survey.trust.mixers == 1
    if row.coalition is Coalition.PEOPLE:
        return own.people.of(row.people).format(
            number=numbers.whole(row.people), crowd=numbers.whole(crowd or plan.promise.crowd)
        )
    said = own.with_one_mixer if collector else own.with_several_mixers
    return said[row.coalition.value].format(
        number=numbers.whole(row.mixers), mixers=numbers.whole(plan.survey.trust.mixers)
    )


def remains_text(row: Remainder, plan: Plan, texts: Texts = ENGLISH) -> str:
    """What is left: ε = 1, δ = 10⁻⁶."""
    own, numbers = texts.coalitions, texts.numbers
    if row.remains is Remains.NOTHING or row.epsilon is None:
        return own.nothing
    epsilon = numbers.at_most(row.epsilon)
    if row.remains is Remains.LOCAL:
        return own.local.format(protection=protection(row.epsilon, texts), epsilon=epsilon)
    if plan.survey.policy.delta is not None:
        said = own.delta.format(epsilon=epsilon, delta=numbers.at_most(row.delta or 0.0))
    else:
        said = own.eta.format(epsilon=epsilon, eta=numbers.at_most(row.eta or 0.0))
    return own.together.format(remains=said) if row.together else said


def coalitions_table(
    rows: Sequence[Remainder], plan: Plan, texts: Texts = ENGLISH, crowd: int | None = None
) -> Table:
    """One row for each coalition."""
    own = texts.coalitions
    table = Table(title=own.title, title_justify="left")
    for column in own.columns:
        table.add_column(column)
    for row in rows:
        table.add_row(coalition_text(row, plan, texts, crowd), remains_text(row, plan, texts))
    return table
