"""What results by group will be worth, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from krand.planning.groups import ByGroup, Offer
from krand.promise import READABLE
from krand.wording.phrases import number, percent, some_people, whole
from krand.wording.plan_texts import PLANS
from krand.wording.texts import SPOKEN


def group_sentences(found: Iterable[ByGroup]) -> list[str]:
    """What is said of every question that makes groups."""
    return [" ".join(_said(known)) for known in found]


def _said(known: ByGroup) -> list[str]:
    parts = [
        PLANS.by_group.format(
            question=known.question, groups=known.groups, width=some_people(known.half_width)
        )
    ]
    if known.share is not None and known.smallest is not None:
        share = percent(100 * known.share)
        parts.append(PLANS.smallest_group.format(people=whole(known.smallest), share=share))
    if known.mean_half_width is not None:
        parts.append(PLANS.group_mean.format(width=number(known.mean_half_width, 2)))
    if not known.readable or known.share is None:
        limit = SPOKEN.numbers.percent_of(READABLE, "g")
        parts.append(PLANS.groups_needed.format(people=whole(known.needed), limit=limit))
    if known.offers:
        offers = PLANS.either.join(_offered(known, offer) for offer in known.offers)
        parts.append(PLANS.group_offers.format(offers=offers))
    return parts


def _offered(known: ByGroup, offer: Offer) -> str:
    width = some_people(offer.half_width)
    if offer.left_out is not None:
        before = len(known.asked)
        asked = before - offer.left_out
        return PLANS.fewer_by_group.format(asked=asked, before=before, width=width)
    return PLANS.larger_epsilon.format(epsilon=number(offer.epsilon or 0.0), width=width)
