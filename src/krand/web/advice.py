"""What would make results more precise, or a survey possible: changed surveys, really planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.noise_sources import TYPICAL_CHAIN
from krand.promise import NoiseSource
from krand.survey.choices import Choices
from krand.survey.kinds.choice import Choice
from krand.survey.plan import Plan
from krand.survey.survey import Survey, Trust
from krand.web.texts import TEXTS
from krand.wording.phrases import number, people, percent

__all__ = ["Change", "Row", "advice_on", "worst_margin"]

OWN = TEXTS.advice
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
"""The next one is tried; a larger one than the last would hardly protect anybody."""
DELTA_TIMES, DELTA_SHARE = 10, 0.1
"""δ is tried so many times as large, up to this share of 1/N."""
PEOPLE_TIMES, WEIGHT = 2, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed survey, and the fields of the form that make the change."""

    label: str
    survey: Survey
    fields: dict[str, str] = field(default_factory=dict)
    first: str = ""
    """The question that the change is for; otherwise the least precise one counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a change gives."""

    label: str
    becomes: str
    percent: float | None
    """The margin of error of the least precise question; None if it is not possible."""
    fields: dict[str, str]


def advice_on(survey: Survey, fields: dict[str, Any]) -> list[Row]:
    """Every change that the survey allows, planned; the most precise first."""
    rows = [_row(change) for change in _changes(survey, fields)]
    return sorted(rows, key=lambda row: (row.percent is None, row.percent or 0.0))


def worst_margin(plan: Plan) -> str:
    """± 12 people (2 %), of the least precise question."""
    return _shown(plan, _worst(plan, plan.layout.question_names))


def _worst(plan: Plan, names: tuple[str, ...]) -> str:
    return max(names, key=lambda name: plan.precision_of(name).half_width_percent)


def _shown(plan: Plan, name: str) -> str:
    known = plan.precision_of(name)
    return OWN.margin.format(people=people(known), percent=percent(known.half_width_percent))


def _row(change: Change) -> Row:
    try:
        plan = make_plan(change.survey, suggestions=False)
    except KrandError:
        return Row(label=change.label, becomes=OWN.impossible, percent=None, fields=change.fields)
    names = tuple(plan.layout.question_names)
    worst = _worst(plan, names)
    becomes = _shown(plan, worst)
    others = tuple(name for name in names if name != change.first)
    if change.first and others:
        said = _shown(plan, change.first), _shown(plan, _worst(plan, others))
        becomes = OWN.weighted.format(first=said[0], others=said[1])
        worst = change.first
    share = plan.precision_of(worst).half_width_percent
    return Row(label=change.label, becomes=becomes, percent=share, fields=change.fields)


def _changes(survey: Survey, fields: dict[str, Any]) -> Iterator[Change]:
    policy = survey.policy
    crowd = PEOPLE_TIMES * policy.minimum_crowd
    told = {"number": f"{crowd:,}", "before": f"{policy.minimum_crowd:,}"}
    yield Change(
        label=OWN.more_people.format(**told),
        survey=replace(survey, policy=replace(policy, minimum_crowd=crowd)),
        fields={"people": str(PEOPLE_TIMES * fields["people"])},
    )
    yield from _weaker(survey)
    yield from _less(survey, fields)
    yield from _other_noise(survey)
    if len(survey.questions) > 1:
        first = survey.questions[0]
        rest = survey.questions[1:]
        yield Change(
            label=OWN.weight.format(question=first.text or first.name, number=f"{WEIGHT:g}"),
            survey=replace(survey, questions=(replace(first, weight=WEIGHT), *rest)),
            first=first.name,
        )


def _weaker(survey: Survey) -> Iterator[Change]:
    policy = survey.policy
    larger = next((epsilon for epsilon in EPSILONS if epsilon > 1.2 * policy.epsilon), None)
    if larger is not None:
        yield Change(
            label=OWN.epsilon.format(number=number(larger), before=number(policy.epsilon)),
            survey=replace(survey, policy=replace(policy, epsilon=larger)),
            fields={"epsilon": f"{larger:g}"},
        )
    if policy.delta is None:
        return
    delta = float(f"{DELTA_TIMES * policy.delta:.3g}")
    if delta <= DELTA_SHARE / policy.minimum_crowd:
        yield Change(
            label=OWN.delta.format(number=number(delta), before=number(policy.delta)),
            survey=replace(survey, policy=replace(policy, delta=delta)),
            fields={"delta": f"{delta:g}"},
        )


def _less(survey: Survey, fields: dict[str, Any]) -> Iterator[Change]:
    """Fewer choices in the longest question, and one question less."""
    lines = [line for line in fields["questions"].splitlines() if line.strip()]
    questions = survey.questions
    long = max(questions, key=lambda q: len(q.choices) if isinstance(q, Choice) else 0)
    if isinstance(long, Choice) and len(long.choices) > 2:
        half = long.choices[: max(2, len(long.choices) // 2)]
        fewer = replace(long, choices=Choices(half))
        place = questions.index(long)
        line = f"{long.text} {', '.join(half)}"
        yield Change(
            label=OWN.fewer_options.format(
                question=long.text or long.name, number=len(half), before=len(long.choices)
            ),
            survey=replace(survey, questions=(*questions[:place], fewer, *questions[place + 1 :])),
            fields={"questions": "\n".join((*lines[:place], line, *lines[place + 1 :]))},
        )
    if len(questions) > 1:
        last = questions[-1]
        yield Change(
            label=OWN.fewer_questions.format(question=last.text or last.name),
            survey=replace(survey, questions=questions[:-1]),
            fields={"questions": "\n".join(lines[:-1])},
        )


def _other_noise(survey: Survey) -> Iterator[Change]:
    if survey.trust.noise is not NoiseSource.DEVICES:
        yield Change(
            label=OWN.devices,
            survey=replace(survey, trust=Trust()),
            fields={"noise": NoiseSource.DEVICES.value},
        )
    chosen = survey.trust.mixers if survey.trust.noise is NoiseSource.MIXERS else 0
    policy = replace(survey.policy, colluding=0)
    for mixers in (1, TYPICAL_CHAIN):
        if mixers != chosen:
            yield Change(
                label=OWN.mixers.of(mixers).format(number=mixers),
                survey=replace(
                    survey, policy=policy, trust=Trust(noise=NoiseSource.MIXERS, mixers=mixers)
                ),
                fields={"noise": NoiseSource.MIXERS.value, "mixers": str(mixers)},
            )
