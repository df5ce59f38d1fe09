"""One party in several roles: which mixers the analyst runs, and what that leaves of the promise.

Where the analyst runs every mixer, it can look at each person's messages. The promise is then about
readers of the results, and everything that people read says so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from krand.wording.phrases import listed
from krand.wording.promises import SLIGHT, what_remains
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.survey.plan import Plan


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
    local = plan.promise.local_epsilon if local_epsilon is None else local_epsilon
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
