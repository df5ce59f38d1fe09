"""The map of trust to click: the parties of a plan, and what remains for every set of them.

The script shows what is computed here. Each verdict is a row of the plan's table of coalitions: the
one of those who are chosen, or of some more, for whom the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krand.planning.coalitions import Coalition, Remainder, coalitions_of
from krand.report.trust_map import left_of
from krand.showing import typeset
from krand.survey.plan import Plan
from krand.web.texts import TEXTS, TrustTexts
from krand.wording.coalitions import coalition_text, remains_text
from krand.wording.promises import right_in
from krand.wording.texts import ENGLISH, Texts

NONE, SOME, ALL = range(3)
"""Of the parties that can be chosen."""


def trust_map(plan: Plan, own: TrustTexts = TEXTS.trust, texts: Texts = ENGLISH) -> dict[str, Any]:
    """As plain data: whom one can choose, the rows, and which of them is shown for whom.

    >>> from krand.testing import small_plan
    >>> found = trust_map(small_plan())
    >>> found["people"], [node["label"] for node in found["nodes"]]
    (['nobody', '1 of 100', '50 of 100', 'all'], ['host of the form', 'collector', 'analyst'])
    >>> [[found["rows"][row]["left"].value for row in rows] for rows in found["shown"]]
    [['whole', 'whole', 'weaker', 'nothing'], [], ['nothing', 'nothing', 'nothing', 'nothing']]
    """
    rows, whole = coalitions_of(plan), texts.numbers.whole
    crowd = whole(plan.promise.crowd)
    some = [row.people for row in rows if row.coalition is Coalition.PEOPLE]
    said = [own.some.format(number=whole(people), crowd=crowd) for people in some]
    every = [own.every] if plan.other_parties else []
    chosen = range(1 + len(some) + len(every))
    several = len(plan.other_parties) > 1
    kinds = {NONE: True, SOME: several, ALL: True}
    return {
        "people": [own.nobody, *said, *every],
        "nodes": list(_nodes(plan, own)),
        "rows": [_row(row, plan, own, texts) for row in rows],
        "shown": [
            [_shown(rows, plan, kind, people) for people in chosen] if possible else []
            for kind, possible in kinds.items()
        ],
        "host": _place(rows, Coalition.PAGE_HOST),
    }


def trust_texts(own: TrustTexts = TEXTS.trust) -> dict[str, Any]:
    """What the script says besides."""
    names = ("lead", "noise", "helpers", "you", "verdicts", "coin", "certain", "row")
    return {name: getattr(own, name) for name in names}


def _shown(rows: tuple[Remainder, ...], plan: Plan, kind: int, people: int) -> int:
    """Which row is that of so many parties, and of the people at this place of the choice."""
    others = bool(plan.other_parties)
    if kind == ALL:
        alone = Coalition.ALL_MIXERS if others else Coalition.ANALYST
        return _place(rows, Coalition.EVERYBODY if people else alone)
    if not people:
        first = Coalition.ANALYST if others else Coalition.READERS
        return _place(rows, Coalition.OTHER_MIXERS if kind == SOME else first)
    some = [place for place, row in enumerate(rows) if row.coalition is Coalition.PEOPLE]
    if kind == SOME or people > len(some):
        return _place(rows, Coalition.ALL_BUT_ONE_MIXER)
    return some[people - 1]


def _place(rows: tuple[Remainder, ...], coalition: Coalition) -> int:
    return next(place for place, row in enumerate(rows) if row.coalition is coalition)


def _row(row: Remainder, plan: Plan, own: TrustTexts, texts: Texts) -> dict[str, Any]:
    right = None if row.epsilon is None else right_in(row.epsilon, row.delta or 0.0)
    who, said = coalition_text(row, plan, texts), remains_text(row, plan, texts)
    guess = ""
    if right is not None:
        times, of = map(texts.numbers.whole, right)
        guess = own.guess.format(right=times, of=of, half=texts.numbers.whole(right[1] // 2))
    words = {"who": who, "said": said, "guess": guess}
    set_texts = {name: typeset(text) for name, text in words.items()}
    return {"left": left_of(row, plan), "right": right, **set_texts}


def _nodes(plan: Plan, own: TrustTexts) -> Iterator[dict[str, str]]:
    """Along the chain; a party with several places stands at its first one.

    `party` and `host` can be chosen; `own` is the analyst's, who works with whoever is chosen.
    Where the analyst runs all mixers, it is the one party.
    """
    trust, names = plan.survey.trust, [mixer.name for mixer in plan.mixing.mixers]
    yield {"kind": "host", "icon": "page", "label": own.host, "name": ""}
    parties = {party[0]: party for party in plan.other_parties}
    for place in range(1, trust.mixers + 1):
        kind = "party" if place in parties else "own"
        if kind == "own" and place not in trust.analyst_runs:
            continue
        places = parties.get(place, (place,))
        roles = [own.mixer.format(number=each) if each > 1 else own.collector for each in places]
        name = names[place - 1] if names and kind == "party" else ""
        yield {"kind": kind, "icon": "mixer", "label": " + ".join(roles), "name": name}
    yield {
        "kind": "own" if parties else "party",
        "icon": "analyst",
        "label": own.analyst,
        "name": "",
    }
