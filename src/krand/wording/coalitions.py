"""What remains for a person when others work together, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from krand.planning.coalitions import Coalition, Remainder, Remains
from krand.survey.plan import Plan
from krand.wording.parties import counts_parties, roles_text
from krand.wording.plan_texts import PLANS
from krand.wording.promises import limit_of, promise_symbols, protection
from krand.wording.texts import SPOKEN, Texts


def coalition_text(
    row: Remainder,
    plan: Plan,
    texts: Texts = SPOKEN,
    crowd: int | None = None,
) -> str:
    """Who works together: the analyst and half of the people, of the crowd planned or given."""
    own, numbers = texts.coalitions, texts.numbers
    if row.coalition is Coalition.ANALYST and plan.survey.trust.analyst_runs:
        return texts.parties.runs.format(roles=roles_text(plan, texts))
    if row.coalition is Coalition.READERS:
        return texts.parties.readers
    if row.coalition is Coalition.PEOPLE:
        in_one_hand = plan.survey.trust.in_one_hand
        people = texts.parties.readers_and_people if in_one_hand else own.people
        return people.of(row.people).format(
            number=numbers.whole(row.people), crowd=numbers.whole(crowd or plan.promise.crowd)
        )
    parties = len(plan.other_parties)
    by_parties = (
        texts.parties.with_one_party if parties == 1 else texts.parties.with_several_parties
    )
    if counts_parties(plan) and row.coalition.value in by_parties:
        said, others = by_parties[row.coalition.value], numbers.whole(parties - 1)
        return said.format(number=others, parties=numbers.whole(parties))
    collector = plan.survey.trust.mixers == 1
    told = own.with_one_mixer if collector else own.with_several_mixers
    return told[row.coalition.value].format(
        number=numbers.whole(row.mixers), mixers=numbers.whole(plan.survey.trust.mixers)
    )


def remains_text(row: Remainder, plan: Plan, texts: Texts = SPOKEN) -> str:
    """What is left: ε = 1, δ = 10⁻⁶."""
    own, numbers = texts.coalitions, texts.numbers
    if row.remains is Remains.NOTHING or row.epsilon is None:
        return own.nothing
    if row.remains is Remains.LOCAL:
        said, epsilon = protection(row.epsilon, texts), numbers.at_most(row.epsilon)
        return own.local.format(protection=said, epsilon=epsilon)
    return promise_symbols(row.epsilon, limit_of(plan.survey.policy, row), numbers)


def coalitions_table(rows: Sequence[Remainder], plan: Plan, crowd: int | None = None) -> Table:
    """One row for each coalition."""
    table = Table(title=PLANS.coalitions_title, title_justify="left")
    for column in PLANS.coalitions_columns:
        table.add_column(column)
    for row in rows:
        who = Text(coalition_text(row, plan, crowd=crowd))
        table.add_row(who, remains_text(row, plan))
    return table
