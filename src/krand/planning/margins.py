"""How precise counts will be, told before anybody is asked: with the people who are expected, for
those asked a question, and within groups.

The margins of a plan are for its crowd, which is the least. With n people instead of N, the noise
of devices adds up n times, so σ grows as √(n/N); dummies of mixers stay as many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from krand.promise import READABLE, Z95
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.questions import Kind, Leveled, Question, Scale
from krand.survey.survey import Survey, Together


def people_shown(survey: Survey) -> int | None:
    """For how many people margins of error are told: as expected, or the least that devices' noise
    allows. None where mixers add the noise and the survey expects no number."""
    if survey.expected is not None:
        return survey.expected
    return None if survey.trust.has_dummies else survey.policy.minimum_crowd


def as_expected(plan: Plan) -> Plan:
    """The plan with the margins that are told: to be shown, not to be written."""
    people = people_shown(plan.survey)
    return plan if people is None else for_people(plan, people)


def for_people(plan: Plan, people: int) -> Plan:
    """The plan with margins of error for so many people."""
    shown = replace(plan)
    shown.__dict__["blocks"] = plan.blocks_for(people)
    return shown


def gate_of(plan: Plan, question: Question) -> Question:
    """The question that a condition looks at."""
    assert question.asked_if is not None
    name = question.asked_if.question
    return next(gate for gate in plan.survey.questions if gate.name == name)


def answers_counted(plan: Plan, question: Leveled) -> int:
    """How many of its answers are counted: all, but of a yes_no alone perhaps "yes" only."""
    grouped = plan.block_of(question.name).block.kind is Kind.TOGETHER
    return question.levels if grouped else question.positions


def counts_asked(plan: Plan, question: Question) -> bool:
    """Whether it is counted how many people a question with a condition is asked.

    It is if the gate takes one answer of each person and those of the condition are counted, or if
    the condition names one item of a list.
    """
    assert question.asked_if is not None
    gate = gate_of(plan, question)
    places = [gate.place_named(answer) for answer in question.asked_if.answers]
    if isinstance(gate, Leveled):
        return max(places) < answers_counted(plan, gate)
    return len(places) == 1


def asked_margin(plan: Plan, question: Question) -> float:
    """The margin of error (95 %) of half of those asked, in people: by the noise of both counts."""
    assert question.asked_if is not None
    top = plan.precision_of(question.name).sigma
    bottom = plan.precision_of(question.asked_if.question).sigma
    return Z95 * math.sqrt(top**2 + len(question.asked_if.answers) * bottom**2 / 4)


# --- results by group: [[together]] of a grouping question and others -----------------------------
#
# A department, say, is analysed together with each of some questions. The noise of a count is the
# same in a small group as in a large one, so that the smallest group decides. How many people it
# will have is not known, but it cannot have more than all people divided by the number of groups.


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

    @property
    def share(self) -> float | None:
        """The margin of error as a part of the smallest group, at least."""
        return self.half_width / self.smallest if self.smallest else None

    @property
    def readable(self) -> bool:
        """Whether counts in the smallest group can say anything."""
        return self.share is None or self.share <= READABLE


def results_by_group(plan: Plan) -> tuple[ByGroup, ...]:
    """Of every grouping question."""
    survey = plan.survey
    names = dict.fromkeys(_grouping(survey, group) for group in survey.together)
    return tuple(_by(plan, name) for name in names)


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
