"""A map of trust: who works together, drawn as a small picture for each coalition.

You and the other people send to the collector, which is the first mixer; further mixers follow, and
the analyst comes last. Whoever works with the analyst is filled, and a band joins them. What you
keep then is the sign on you: all of the promise, less, or nothing.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

from markupsafe import Markup

from krand.planning.coalitions import Coalition, Remainder, Remains
from krand.survey.plan import Plan
from krand.wording.promises import SLIGHT, limit_of

HEIGHT, STEP, FIRST = 60, 36, 62
PEOPLE, YOU, CHAIN = 14, 44, 29
"""How far down others, you and the chain are."""
LEFT = 16


class Left(StrEnum):
    """What a person keeps."""

    WHOLE = "whole"
    WEAKER = "weaker"
    NOTHING = "nothing"


def left_of(row: Remainder, plan: Plan) -> Left:
    """All that the survey promised, less, or nothing that deserves the name."""
    policy = plan.survey.policy
    if row.remains is Remains.NOTHING or row.epsilon is None:
        return Left.NOTHING
    if row.remains is Remains.LOCAL:
        return Left.WEAKER if row.epsilon <= SLIGHT else Left.NOTHING
    had = row.eta if policy.delta is None else row.delta
    if had is None or row.epsilon > policy.epsilon or had > limit_of(policy, policy)[1]:
        return Left.WEAKER
    return Left.WHOLE


def colluding_mixers(row: Remainder, plan: Plan) -> set[int]:
    """Places of the chain that work with the analyst; of all but one party, the last is honest.

    >>> from krand.planning.coalitions import coalitions_of
    >>> from krand.testing import small_plan
    >>> [sorted(colluding_mixers(row, small_plan())) for row in coalitions_of(small_plan())]
    [[], [], [], [], [1], [1], []]
    """
    trust = plan.survey.trust
    everyone, own = set(range(1, trust.mixers + 1)), set(trust.analyst_runs)
    if row.coalition in (Coalition.ALL_MIXERS, Coalition.EVERYBODY):
        return everyone
    if row.coalition in (Coalition.READERS, Coalition.PAGE_HOST):
        return set()
    if row.coalition in (Coalition.ANALYST, Coalition.PEOPLE) or not plan.other_parties:
        return own
    smallest = min(map(len, plan.other_parties))
    honest = [party for party in plan.other_parties if len(party) == smallest][-1]
    return everyone - set(honest)


def trust_picture(row: Remainder, plan: Plan) -> Markup:
    """One coalition. Words stand beside it, so it is hidden from screen readers."""
    mixers = plan.survey.trust.mixers
    bad = colluding_mixers(row, plan)
    places = {place: FIRST + STEP * (place - 1) for place in range(1, mixers + 1)}
    analyst = FIRST + STEP * mixers
    reads = row.coalition not in (Coalition.READERS, Coalition.PAGE_HOST)
    host = row.coalition is Coalition.PAGE_HOST
    joined = [(LEFT, PEOPLE)] if row.people else []
    joined += [(places[place], CHAIN) for place in sorted(bad)]
    joined += [(analyst, CHAIN)] if reads else []
    parts = [_path("way", [(LEFT, PEOPLE), (FIRST, CHAIN)], [(LEFT, YOU), (FIRST, CHAIN)])]
    parts.append(_path("way", [(FIRST, CHAIN), (analyst, CHAIN)]))
    parts.append(_band(joined))
    parts.append(_people(LEFT, PEOPLE, _kind(row.people > 0)))
    for place, x in places.items():
        parts += [_dot(x, CHAIN, _kind(place in bad)), _text(x, str(place), place in bad)]
    parts += [_dot(analyst, CHAIN, _kind(reads)), _bars(analyst, reads)]
    parts.append(_page(_kind(host)) if host else "")
    parts.append(_you(left_of(row, plan)))
    width = analyst + 16
    drawn = "".join(parts)
    head = f'class="trust-map" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
    return Markup(f'<svg {head} aria-hidden="true" focusable="false">{drawn}</svg>')


def key_picture(name: str) -> Markup:
    """One sign of the pictures, for their key."""
    drawn = {
        "you": _you(Left.WHOLE),
        "others": _people(LEFT, YOU, _kind(False)),
        "mixers": _dot(LEFT, YOU, _kind(False)) + _text(LEFT, "1", False, YOU),
        "analyst": _dot(LEFT, YOU, _kind(False)) + _bars(LEFT, False, YOU),
        "together": _dot(LEFT, YOU, _kind(True)),
    }[name]
    head = f'class="trust-map" viewBox="0 {YOU - 14} 32 28" width="32" height="28"'
    return Markup(f'<svg {head} aria-hidden="true" focusable="false">{drawn}</svg>')


def _kind(together: bool) -> str:
    return "with" if together else "apart"


def _path(kind: str, *lines: list[tuple[int, int]]) -> str:
    drawn = "".join("M" + "L".join(f"{x} {y}" for x, y in line) for line in lines)
    return f'<path class="{kind}" d="{drawn}"/>'


def _band(joined: list[tuple[int, int]]) -> str:
    """From one to the next; above those whom it leaves out."""
    drawn = ""
    for (x, y), (to, down) in pairwise(joined):
        beside = to - x == STEP or (y == PEOPLE and to == FIRST)
        over = f"L{to} {down}" if beside else f"Q{(x + to) // 2} {y + down - 58} {to} {down}"
        drawn += f"M{x} {y}{over}"
    return f'<path class="band" d="{drawn}"/>' if drawn else ""


def _dot(x: int, y: int, kind: str, radius: int = 11) -> str:
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>'


def _text(x: int, text: str, together: bool, y: int = CHAIN) -> str:
    kind = "on-with" if together else "on-apart"
    return f'<text class="{kind}" x="{x}" y="{y + 5}" text-anchor="middle">{text}</text>'


def _bars(x: int, together: bool, y: int = CHAIN) -> str:
    kind = "line-with" if together else "line-apart"
    return f'<path class="{kind}" d="M{x - 4} {y + 5}v-5M{x} {y + 5}v-10M{x + 4} {y + 5}v-7"/>'


def _people(x: int, y: int, kind: str) -> str:
    return "".join(
        _dot(x + across, y + down, kind, 5) for across, down in ((-7, 3), (7, 3), (0, -4))
    )


def _page(kind: str) -> str:
    return f'<rect class="{kind}" x="{LEFT + 15}" y="{YOU - 8}" width="12" height="16" rx="2"/>'


SIGNS = {
    Left.WHOLE: "m-5 0l4 4 7 -8",
    Left.WEAKER: "m-5 0h10",
    Left.NOTHING: "m-4 -4l8 8m0 -8l-8 8",
}


def _you(left: Left) -> str:
    """With a sign of its own for what is left, besides the colour."""
    dot = _dot(LEFT, YOU, f"you {left}", 13)
    return f'{dot}<path class="sign" d="M{LEFT} {YOU}{SIGNS[left]}"/>'
