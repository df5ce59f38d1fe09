"""What results by group will be worth, for [[together]] of a grouping question and others.

A department, say, is analysed together with each of some questions. The noise of a count is the
same in a small group as in a large one, so that the smallest group decides. How many people it
will have is not known, but it cannot have more than all people divided by the number of groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from krand.errors import CannotMeet, InvalidInput
from krand.planning.expected import as_expected, people_shown
from krand.planning.making import make_plan
from krand.promise import READABLE
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.questions import Leveled, Scale
from krand.survey.survey import Survey, Together

FEW = 3
"""The most questions by group that are tried without the others."""
TIMES = (2, 4)
"""So many times ε are tried, one after the other."""
MOST_EPSILON = 4.0
"""A larger one would hardly protect anybody: already here a guess may be right 98 times in 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A change of the survey, and the margin of error of counts that it gives, in people."""

    half_width: float
    left_out: int | None = None
    """So many questions by group are not asked, the last ones."""
    epsilon: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByGroup:
    """Counts within the groups that the answers to one question make."""

    question: str
    groups: int
    asked: tuple[str, ...]
    """What is known by group."""
    half_width: float
    """The margin of error (95 %) of a count in a group, in people; of the least precise one."""
    smallest: int | None
    """The most people that the smallest group can have; None if nobody knows how many come."""
    mean_half_width: float | None
    """That of the mean of a scale in the smallest group; None if there is none."""
    needed: int
    """With so many people in a group, counts in it can be read."""
    offers: tuple[Offer, ...] = ()

    @property
    def share(self) -> float | None:
        """The margin of error as a part of the smallest group, at least."""
        return self.half_width / self.smallest if self.smallest else None

    @property
    def readable(self) -> bool:
        """Whether counts in the smallest group can say anything."""
        return self.share is None or self.share <= READABLE


def results_by_group(plan: Plan) -> tuple[ByGroup, ...]:
    """Of every grouping question, with what would help where its results cannot be read."""
    survey = plan.survey
    found = []
    for name in dict.fromkeys(_grouping(survey, group) for group in survey.together):
        known = _by(plan, name)
        offers = () if known.readable else tuple(_offers(survey, known))
        found.append(replace(known, offers=offers))
    return tuple(found)


def _grouping(survey: Survey, group: Together) -> str:
    """The question that makes the groups: the one in most groups, or the first."""
    times = Counter(name for each in survey.together for name in each.questions)
    return max(group.questions, key=lambda name: times[name])


def _by(plan: Plan, name: str) -> ByGroup:
    survey, people = plan.survey, people_shown(plan.survey)
    own = {group.name for group in survey.together if _grouping(survey, group) == name}
    blocks = [each for each in as_expected(plan).blocks if each.name in own]
    widths = [pair for each in blocks for pair in _widths(each, name)]
    half_width = max(width for _, width in widths)
    (groups,) = {q.levels for q in blocks[0].block.levels if q.name == name}
    smallest = None if people is None else people // groups
    means = [width * _spread(q) for q, width in widths if isinstance(q, Scale)]
    return ByGroup(
        question=name,
        groups=groups,
        asked=tuple(dict.fromkeys(question.name for question, _ in widths)),
        half_width=half_width,
        smallest=smallest,
        mean_half_width=max(means) / smallest if means and smallest else None,
        needed=math.ceil(half_width / READABLE),
    )


def _widths(planned: PlannedBlock, name: str) -> Iterator[tuple[Leveled, float]]:
    """Each other question of a block, and the margin of its counts by group: sums over cells."""
    others = [question for question in planned.block.levels if question.name != name]
    for question in others:
        cells = math.prod(other.levels + 1 for other in others if other != question)
        yield question, math.sqrt(cells) * planned.precision.half_width_95


def _spread(question: Scale) -> float:
    """√Σ(v - m)² over the values v with the middle m: noise of counts becomes that of their sum."""
    return math.sqrt(sum((v - (question.levels - 1) / 2) ** 2 for v in range(question.levels)))


def _offers(survey: Survey, known: ByGroup) -> Iterator[Offer]:
    """Fewer questions, and a larger ε: the first with which counts can be read."""
    few = min(FEW, len(known.asked) // 2)
    if few:
        left_out = set(known.asked[few:])
        width = _width(_without(survey, left_out), known.question)
        yield from () if width is None else (Offer(half_width=width, left_out=len(left_out)),)
    larger: list[Offer] = []
    for times in TIMES:
        epsilon = times * survey.policy.epsilon
        if epsilon > MOST_EPSILON or any(_suffices(offer, known) for offer in larger):
            break
        policy = replace(survey.policy, epsilon=epsilon)
        width = _width(replace(survey, policy=policy), known.question)
        larger += [] if width is None else [Offer(half_width=width, epsilon=epsilon)]
    yield from larger[-1:]


def _without(survey: Survey, names: set[str]) -> Survey | None:
    """The survey without some questions, if that is one: others may depend on them."""
    try:
        return replace(
            survey,
            questions=tuple(each for each in survey.questions if each.name not in names),
            together=tuple(each for each in survey.together if not names & {*each.questions}),
        )
    except InvalidInput:
        return None


def _suffices(offer: Offer, known: ByGroup) -> bool:
    return known.smallest is not None and offer.half_width <= READABLE * known.smallest


def _width(survey: Survey | None, name: str) -> float | None:
    if survey is None or not survey.together:
        return None
    try:
        return _by(make_plan(survey, suggestions=False), name).half_width
    except CannotMeet:
        return None
