"""What would make results more precise, or a survey possible: changed surveys, each planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from krand.errors import KrandError
from krand.planning.expected import as_expected
from krand.planning.making import make_plan, quick_plan
from krand.planning.mechanisms.mixers import TYPICAL_CHAIN
from krand.promise import MAX_CROWD
from krand.survey import mechanisms
from krand.survey.kinds.choice import Choice
from krand.survey.kinds.yes_no import COUNTED, YesNo
from krand.survey.plan import Plan
from krand.survey.survey import Survey, Trust
from krand.web.survey_form import SurveyForm
from krand.web.texts import TEXTS
from krand.wording.numbers import parse_count
from krand.wording.phrases import number, people, percent

OWN = TEXTS.advice
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
"""The next one is tried; a larger one than the last would hardly protect anybody."""
LARGER = 1.2
"""How much larger the next ε is at least."""
DELTA_TIMES, DELTA_SHARE = 10, 0.1
"""δ is tried so many times as large, up to this share of 1/N."""
PEOPLE_TIMES, WEIGHT = 2, 4.0
MOST_PERCENT = 50
"""With a wider margin of error an estimate could be anything."""
MOST_DOUBLINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A change, and what it gives."""

    label: str
    becomes: str
    percent: float | None
    """The margin of error that the change is for; None if the survey is not possible."""
    fields: dict[str, str]
    """The fields of the form that make the change; empty if only a survey file can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    label: str
    fields: dict[str, str] = field(default_factory=dict)


def advice_on(form: SurveyForm) -> list[Row]:
    """Every change that the form allows, planned; the most precise first."""
    survey = form.survey()
    rows = [_row(change, form) for change in _changes(form, survey)]
    if len(survey.questions) > 1:
        rows.append(_weighted(survey))
    return sorted(rows, key=lambda row: (row.percent is None, row.percent or 0.0))


def worst_margin(plan: Plan) -> str:
    """± 12 people (2 %), of the least precise question."""
    return _shown(plan, _worst(plan, plan.layout.question_names))


def _worst(plan: Plan, names: tuple[str, ...]) -> str:
    return max(names, key=lambda name: plan.precision_of(name).half_width_percent)


def _shown(plan: Plan, name: str) -> str:
    known = plan.precision_of(name)
    return OWN.margin.format(people=people(known), percent=percent(known.half_width_percent))


def _planned(survey: Survey) -> Plan | None:
    """The plan with the margins that are told; None if its counts would be only noise."""
    planned = survey.trust.noise.planned_crowd(survey.policy.minimum_crowd)
    if planned is not None and quick_plan(survey) is None:
        return None  # within a few percent of that at best
    try:
        plan = make_plan(survey, suggestions=False)
    except KrandError:
        return None
    plan = as_expected(plan)
    widest = max(block.precision.half_width_percent for block in plan.blocks)
    return None if widest >= MOST_PERCENT else plan


def _impossible(label: str, fields: dict[str, str]) -> Row:
    return Row(label=label, becomes=OWN.impossible, percent=None, fields=fields)


def _row(change: _Change, form: SurveyForm) -> Row:
    """The survey that the form gives with the change."""
    plan = _planned(SurveyForm({**form.texts, **change.fields}).survey())
    if plan is None:
        return _impossible(change.label, change.fields)
    share = plan.precision_of(_worst(plan, plan.layout.question_names)).half_width_percent
    shown = worst_margin(plan)
    return Row(label=change.label, becomes=shown, percent=share, fields=change.fields)


def _weighted(survey: Survey) -> Row:
    """More weight for the first question, which only a survey file can say."""
    first, *rest = survey.questions
    label = OWN.weight.format(question=first.text or first.name, number=f"{WEIGHT:g}")
    questions = (replace(first, weight=WEIGHT), *rest)
    plan = _planned(replace(survey, questions=questions))
    if plan is None:
        return _impossible(label, {})
    others = _worst(plan, tuple(question.name for question in rest))
    said = OWN.weighted.format(first=_shown(plan, first.name), others=_shown(plan, others))
    share = plan.precision_of(first.name).half_width_percent
    return Row(label=label, becomes=said, percent=share, fields={})


def _changes(form: SurveyForm, survey: Survey) -> Iterator[_Change]:
    before, people = form.crowd, parse_count("people", form.texts["people"])
    tried = [{"people": str(PEOPLE_TIMES**power * people)} for power in range(1, MOST_DOUBLINGS)]
    tried = [fields for fields in tried if int(fields["people"]) <= MAX_CROWD]
    if tried:
        more = _first_useful(form, tried)
        crowd = SurveyForm({**form.texts, **more}).crowd
        label = OWN.more_people.format(number=f"{crowd:,}", before=f"{before:,}")
        yield _Change(label=label, fields=more)
    yield from _weaker(form, survey)
    yield from _less(form, survey)
    yield from _other_counts(survey)
    yield from _other_noise(survey)


def _other_counts(survey: Survey) -> Iterator[_Change]:
    """What it costs to count "no" as well, or what it saves not to."""
    for counts in {q.counts for q in survey.questions if isinstance(q, YesNo)}:
        (other,) = {*COUNTED} - {counts}
        yield _Change(label=OWN.counts[other], fields={"counts": other})


def _first_useful(form: SurveyForm, tried: Sequence[dict[str, str]]) -> dict[str, str]:
    """The first of some changes after which results are useful; if none is, the first of all."""
    for fields in tried:
        quick = quick_plan(SurveyForm({**form.texts, **fields}).survey())
        if quick is not None and all(block.precision.readable for block in quick.blocks):
            return fields
    return tried[0]


def _weaker(form: SurveyForm, survey: Survey) -> Iterator[_Change]:
    """A larger ε, and a larger δ, where that still protects."""
    epsilon, delta = survey.policy.epsilon, survey.policy.delta or 1.0
    larger = [{"epsilon": f"{one:g}"} for one in EPSILONS if one > LARGER * epsilon]
    if larger:
        fields = _first_useful(form, larger)
        label = OWN.epsilon.format(number=fields["epsilon"], before=number(epsilon))
        yield _Change(label=label, fields=fields)
    more = float(f"{DELTA_TIMES * delta:.3g}")
    if more <= DELTA_SHARE / form.crowd:
        label = OWN.delta.format(number=number(more), before=number(delta))
        yield _Change(label=label, fields={"delta": f"{more:g}"})


def _less(form: SurveyForm, survey: Survey) -> Iterator[_Change]:
    """Fewer choices in the longest question, and one question less."""
    lines, questions = form.lines, survey.questions
    long = max(questions, key=lambda q: len(q.choices) if isinstance(q, Choice) else 0)
    if isinstance(long, Choice) and len(long.choices) > 2:
        half, place = list(long.choices)[: max(2, len(long.choices) // 2)], questions.index(long)
        shorter = f"{lines[place].partition(long.choices[0])[0]}{', '.join(half)}"
        changed = "\n".join((*lines[:place], shorter, *lines[place + 1 :]))
        yield _Change(
            label=OWN.fewer_options.format(
                question=long.text or long.name, number=len(half), before=len(long.choices)
            ),
            fields={"questions": changed},
        )
    if len(questions) > 1:
        label = OWN.fewer_questions.format(question=questions[-1].text or questions[-1].name)
        yield _Change(label=label, fields={"questions": "\n".join(lines[:-1])})


def _other_noise(survey: Survey) -> Iterator[_Change]:
    """Devices' noise, or that of one mixer or of several."""
    if survey.trust != Trust():
        yield _Change(label=OWN.devices, fields={"noise": Trust().noise.code})
    for mixers in (1, TYPICAL_CHAIN):
        other = Trust(noise=mechanisms.MIXERS, mixers=mixers)
        if survey.trust != other:
            yield _Change(
                label=OWN.mixers.of(mixers).format(number=mixers),
                fields={"noise": other.noise.code, "mixers": str(mixers)},
            )
