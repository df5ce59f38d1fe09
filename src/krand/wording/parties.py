"""One party in several roles: which mixers the analyst runs, and what that leaves of the promise.

Where the analyst runs every mixer, it can look at each person's messages. The promise is then about
readers of the results, and everything that people read says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from krand.planning.coalitions import Coalition, Remainder, Remains
from krand.survey.plan import Plan
from krand.wording.phrases import listed
from krand.wording.plan_texts import PLANS
from krand.wording.promises import SLIGHT, limit_of, promise_symbols, protection, what_remains
from krand.wording.texts import SPOKEN, Texts


def counts_parties(plan: Plan) -> bool:
    """Whether some party has several roles, so that parties are counted, not mixers."""
    return len(plan.other_parties) != plan.survey.trust.mixers


def roles_text(plan: Plan, texts: Texts = SPOKEN) -> str:
    """The mixers that the analyst runs: the collector and mixer 3."""
    own = texts.parties
    places = plan.survey.trust.analyst_runs
    names = [own.collector if place == 1 else own.mixer.format(number=place) for place in places]
    return listed(names, texts.coalitions.all_of)


def also_runs(plan: Plan, texts: Texts = SPOKEN) -> str:
    """The analyst also runs the collector; empty if it runs no mixer."""
    if not plan.survey.trust.analyst_runs:
        return ""
    return texts.parties.also_runs.format(roles=roles_text(plan, texts))


def one_hand_text(plan: Plan, texts: Texts = SPOKEN, local_epsilon: float | None = None) -> str:
    """What the organiser can learn, and whom the promise is about; empty if others mix too.

    `local_epsilon` is that of the results; without it, it is the plan's.
    """
    trust, own, numbers = plan.survey.trust, texts.parties, texts.numbers
    if not trust.in_one_hand:
        return ""
    local = plan.local_epsilon if local_epsilon is None else local_epsilon
    hand = own.hand.of(trust.mixers).format(number=numbers.whole(trust.mixers))
    said = own.reads.format(hand=hand)
    if local <= SLIGHT:
        said = own.sees.format(
            hand=hand, said=what_remains(local, texts), epsilon=numbers.at_most(local)
        )
    return own.one_hand.format(organiser=said)


def if_parties_collude(plan: Plan, texts: Texts = SPOKEN) -> str:
    """The promise holds as long as one of so many other parties follows the rules."""
    said, parties = what_remains(math.inf, texts), len(plan.other_parties)
    told = texts.parties.collusion.of(parties).format(number=parties, said=said)
    return f"{also_runs(plan, texts)} {told}".strip()


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
            number=numbers.whole(row.people),
            crowd=numbers.whole(crowd or plan.survey.policy.minimum_crowd),
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
