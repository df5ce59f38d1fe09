"""Other plans for the same survey, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krand.wording.phrases import listed
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.partners.siblings import Siblings
    from krand.survey.plan import Plan


def siblings_texts(plan: Plan, siblings: Siblings | None, texts: Texts = SPOKEN) -> Iterator[str]:
    """How many other plans were signed, what that means, and each of them; nothing if unknown."""
    if siblings is None:
        return
    own, numbers, many = texts.siblings, texts.numbers, len(siblings.plans)
    lists = listed(siblings.lists or (own.nobody,), texts.coalitions.all_of)
    said = own.others.of(many) if many else own.none
    yield said.format(number=numbers.whole(many), lists=lists)
    ours = plan.mixing.mixers[0].identity if plan.mixing.mixers else None
    for each in siblings.plans:
        yield own.plan.format(
            plan=each.plan,
            epsilon=numbers.at_most(each.epsilon),
            delta=numbers.at_most(each.delta),
            closes=each.closes,
            organiser=own.same if each.organiser == ours else own.other,
            mixers=listed(each.mixers, texts.coalitions.all_of),
        )
    unseen = [mixer.name for mixer in plan.mixing.mixers if mixer.name not in siblings.lists]
    if unseen:
        yield own.unseen.format(mixers=listed(unseen, texts.coalitions.all_of))
