"""A plan as people read it, compared with its alternatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import curator
from krand.errors import KrandError
from krand.planning.expected import as_expected, people_shown
from krand.planning.making import make_plan
from krand.planning.noise_sources import SourceOption
from krand.planning.record import record_reports
from krand.promise import READABLE, Z95, Assurance, Linkage, cells_drown
from krand.survey import mechanisms
from krand.survey.questions import Kind
from krand.wording.collusion import if_they_collude, what_remains
from krand.wording.guarantees import how_known
from krand.wording.guessing import guess_sentence
from krand.wording.phrases import MARGIN, at_most, factor, number, people, percent, some_people
from krand.wording.surveys import survey_name
from krand.wording.texts import ENGLISH

if TYPE_CHECKING:
    from krand.promise import Precision
    from krand.survey.layout import Block
    from krand.survey.plan import Plan, Promise
    from krand.survey.survey import Survey

__all__ = [
    "EACH",
    "Alternative",
    "alternatives",
    "alternatives_table",
    "division_sentence",
    "margins_sentence",
    "mixers_instead",
    "promise_sentence",
    "promised_guess",
    "sources_table",
    "survey_table",
    "unreadable",
]


TEXTS = ENGLISH.plans
"""The planner and the terminal speak English only; a report has none of these sentences."""
COPIES = 16
"""How many copies of a record the planner tries beside one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another method with the same promise; `best` and `worst` are half-widths (95 %) in people,
    of the most and the least precise question."""

    name: str
    best: float
    worst: float
    local_epsilon: float | None
    messages: int | None
    note: str = ""


def alternatives(
    plan: Plan, progress: Callable[[str], None] | None = None
) -> tuple[Alternative, ...]:
    """This plan, its variants (assurance, linkage, copies), and the baselines at the same ε."""
    survey = plan.survey
    found = [_planned(TEXTS.this_plan, plan)]
    for name, changes in _variants(survey):
        if progress is not None:
            progress(name)
        try:
            found.append(_planned(name, make_plan(replace(survey, **changes))))
        except KrandError as refusal:  # the counts would be nothing but noise
            found.append(
                Alternative(
                    name=name,
                    best=math.nan,
                    worst=math.nan,
                    local_epsilon=None,
                    messages=None,
                    note=str(refusal),
                )
            )
    return (*found, *_baselines(plan))


def _variants(survey: Survey) -> list[tuple[str, dict[str, Any]]]:
    """Variants of the survey, as changes to it; mixers' noise is compared elsewhere."""
    if survey.trust.noise.has_dummies:
        return []
    alike = tuple(replace(question, weight=1.0) for question in survey.questions)
    record = {"questions": alike, "together": (), "linkage": Linkage.RECORD}
    variants: list[tuple[str, dict[str, Any]]] = [
        (TEXTS.one_copy, {**record, "copies": 1}),
        (TEXTS.several_copies.format(copies=COPIES), {**record, "copies": COPIES}),
    ]
    if survey.policy.assurance is Assurance.CERTIFIED:
        weaker = replace(survey.policy, assurance=Assurance.OUTLIER)
        variants.insert(0, (TEXTS.outlier, {"policy": weaker}))
    if survey.linkage is Linkage.RECORD:
        variants.append((TEXTS.bits, {"linkage": Linkage.BIT, "copies": 1}))
    return variants


def _planned(name: str, plan: Plan) -> Alternative:
    names = plan.layout.question_names
    widths = [plan.precision_of(name).half_width_95 for name in names]
    return Alternative(
        name=name,
        best=min(widths),
        worst=max(widths),
        local_epsilon=_finite(plan.promise.local_epsilon),
        messages=plan.messages,
    )


def _finite(local_epsilon: float) -> float | None:
    """None where a response has no noise of its own."""
    return local_epsilon if math.isfinite(local_epsilon) else None


def _baselines(plan: Plan) -> tuple[Alternative, ...]:
    """RAPPOR's noise grows with the crowd, which nobody knows where mixers add the noise."""
    policy = plan.survey.policy
    responses = replace(record_reports(plan.survey, plan.layout), copies=1)
    rappor = Z95 * rappor_sigma(policy, responses)
    trusted = curator(policy, responses)
    width = Z95 * trusted.sigma
    found = (
        Alternative(
            name=TEXTS.rappor,
            best=rappor,
            worst=rappor,
            local_epsilon=policy.epsilon,
            messages=1,
            note=TEXTS.rappor_note.format(noise=number(rappor_noise(policy, responses))),
        ),
        Alternative(
            name=TEXTS.curator,
            best=width,
            worst=width,
            local_epsilon=None,
            messages=None,
            note=TEXTS.curator_note.format(noise=trusted.noise),
        ),
    )
    return found if plan.survey.trust.noise.has_flips else found[1:]


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    question, kind, positions, noise = COLUMNS[plan.survey.trust.noise]
    title = TEXTS.survey_title.format(survey=survey_name(plan.survey))
    table = Table(title=title, title_justify="left")
    table.add_column(question)
    table.add_column(kind)
    table.add_column(positions, justify="right")
    table.add_column(MARGIN, justify="right")
    table.add_column(noise, justify="right")
    for planned, amount in zip(as_expected(plan).blocks, _amounts(plan), strict=True):
        block = planned.block
        table.add_row(
            " + ".join(block.question_names),
            block.kind.value,
            f"{block.positions:,}",
            f"{_width(plan, planned.precision)}{EACH.get(block.kind, '')}",
            amount,
        )
        for margin in planned.margins:
            name = TEXTS.alone.format(question=margin.question)
            table.add_row(name, "", "", _width(plan, margin.precision), "")
    return table


def _amounts(plan: Plan) -> list[str]:
    """The noise of every block: q of devices, or how many dummies a mixer adds to a position."""
    flips, source = [number(block.noise) for block in plan.blocks], plan.survey.trust.noise
    if not source.has_dummies:
        return flips
    means = {lane.block: plan.law_of(lane).mean for lane in plan.lanes}
    dummies = [f"{means[block.name]:,}" for block in plan.layout.blocks]
    if not source.has_flips:
        return dummies
    return [
        TEXTS.both_amount.format(noise=noise, dummies=added)
        for noise, added in zip(flips, dummies, strict=True)
    ]


COLUMNS = {
    mechanisms.DEVICES: TEXTS.survey_columns,
    mechanisms.MIXERS: TEXTS.mixed_columns,
    mechanisms.BOTH: TEXTS.both_columns,
}
EACH = {Kind.TOGETHER: TEXTS.each_cell, Kind.WORDS: TEXTS.each_position}
"""What a precision refers to: the count of an answer may be the sum of several noisy counts."""


def _width(plan: Plan, precision: Precision) -> str:
    """A share only where a number of people is known."""
    if people_shown(plan.survey) is None:
        return people(precision)
    return f"{people(precision)} ({percent(precision.half_width_percent)})"


def unreadable(plan: Plan) -> str:
    """A warning about questions whose counts would be too noisy to use; empty if there are none.

    Where mixers add the noise, it can be given only with the number of people who are expected.
    """
    expected = people_shown(plan.survey)
    if expected is None:
        return ""
    shown = as_expected(plan)
    names = [n for n in plan.layout.question_names if not shown.precision_of(n).readable]
    cells = [
        (planned.block, planned.precision)
        for planned in shown.blocks
        if planned.block.kind is Kind.TOGETHER
    ]
    names += [_cells_of(block) for block, precision in cells if not precision.readable]
    drowned = [
        _drowned_cells(block, precision, expected)
        for block, precision in cells
        if precision.readable and cells_drown(precision.half_width_95, expected, block.positions)
    ]
    limit = ENGLISH.numbers.percent_of(READABLE, "g")
    parts = [TEXTS.above_limit.format(names=", ".join(names), limit=limit)] if names else []
    if not parts and not drowned:
        return ""
    return TEXTS.unreadable.format(parts="; ".join((*parts, *drowned)))


def _cells_of(block: Block) -> str:
    return TEXTS.cells_of.format(block=" + ".join(block.question_names))


def _drowned_cells(block: Block, precision: Precision, expected: int) -> str:
    average = some_people(expected / block.positions)
    return TEXTS.drowned_cells.format(
        cells=_cells_of(block), margin=people(precision), average=average
    )


def margins_sentence(plan: Plan) -> str:
    """For how many people margins are told, and what a chosen end does to them; may be empty."""
    expected, every = plan.survey.expected, plan.survey.release_every
    said = []
    if expected is not None:
        flips = plan.survey.trust.noise.has_flips
        text = TEXTS.margins_of_devices if flips else TEXTS.margins_of_mixers
        said.append(text.format(people=f"{expected:,}"))
    elif people_shown(plan.survey) is None:
        said.append(TEXTS.no_shares)
    if every is not None:
        said.append(TEXTS.batches_of.format(people=f"{every:,}"))
        said.append(TEXTS.chosen_end)
    return " ".join(said)


def promised_guess(plan: Plan) -> str:
    """The same without symbols: how often somebody is right who guesses a person's answers."""
    return guess_sentence(plan.promise.epsilon, plan.promise.delta, plan.survey.rounds)


def promise_sentence(plan: Plan) -> str:
    """What the survey promises to each participant."""
    promise, policy, rounds = plan.promise, plan.survey.policy, plan.survey.rounds
    slack = _slack(plan, promise)
    if plan.survey.trust.noise.has_dummies:
        return _promise_of_mixers(plan, slack) + _promise_of_flips(plan)
    return TEXTS.promise.format(
        crowd=f"{policy.minimum_crowd:,}",
        rounds=_in_rounds(rounds),
        factor=factor(promise.epsilon),
        slack=slack,
        how_known=how_known(policy.assurance),
        helpers=_helpers(promise.colluding),
        if_they_collude=if_they_collude(promise.local_epsilon),
    )


def _promise_of_mixers(plan: Plan, slack: str) -> str:
    promise, mixers = plan.promise, plan.survey.trust.mixers
    everybody = _all_mixers(mixers)
    return TEXTS.promise_of_mixers.format(
        one_mixer=TEXTS.one_mixer.of(mixers).format(number=mixers),
        rounds=_in_rounds(plan.survey.rounds),
        factor=factor(promise.epsilon),
        slack=slack,
        how_known=how_known(promise.assurance),
        however_few=TEXTS.however_few,
        otherwise="" if plan.flips else TEXTS.no_honest_mixer.format(all_mixers=everybody),
    )


def _all_mixers(mixers: int) -> str:
    return TEXTS.all_mixers.of(mixers).format(number=mixers)


def _promise_of_flips(plan: Plan) -> str:
    """What the noise of devices alone promises, where mixers add noise too."""
    flips = plan.flips
    if flips is None:
        return ""
    return " " + TEXTS.promise_of_flips.format(
        crowd=f"{flips.crowd:,}",
        slack=_slack(plan, flips),
        helpers=_helpers(flips.colluding),
        all_mixers=_all_mixers(plan.survey.trust.mixers),
        remains=what_remains(flips.local_epsilon),
        epsilon=at_most(flips.local_epsilon),
    )


def _slack(plan: Plan, promise: Promise) -> str:
    if plan.survey.policy.delta is not None:
        return TEXTS.slack_delta.format(delta=at_most(promise.delta))
    return TEXTS.slack_eta.format(eta=at_most(promise.eta))


def _in_rounds(rounds: int) -> str:
    return "" if rounds == 1 else TEXTS.rounds.format(rounds=f"{rounds:,}")


def division_sentence(plan: Plan) -> str:
    """How the noise is divided among questions."""
    source = plan.survey.trust.noise
    if source is mechanisms.BOTH:
        return f"{TEXTS.division} {TEXTS.division_of_dummies}"
    return TEXTS.division_of_mixers if source.has_dummies else TEXTS.division


def _helpers(colluding: int) -> str:
    if not colluding:
        return ""
    return TEXTS.helpers.of(colluding).format(number=f"{colluding:,}")


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """The alternatives, one row each."""
    method_name, width, local, messages, note = TEXTS.methods_columns
    table = Table(title=TEXTS.methods_title, title_justify="left")
    table.add_column(method_name)
    table.add_column(width, justify="right")
    table.add_column(local, justify="right")
    table.add_column(messages, justify="right")
    table.add_column(note)
    for method in found:
        table.add_row(
            method.name,
            _widths(method),
            "" if method.local_epsilon is None else at_most(method.local_epsilon),
            "" if method.messages is None else f"{method.messages:,}",
            Text(method.note),
        )
    return table


def sources_table(options: tuple[SourceOption, ...], plan: Plan) -> Table:
    """Devices' and mixers' noise, one row each."""
    table = Table(title=TEXTS.sources_title, title_justify="left")
    first, *figures, last = TEXTS.sources_columns
    table.add_column(first)
    for column in figures:
        table.add_column(column, justify="right")
    table.add_column(last)
    for option in options:
        name = _source(option)
        table.add_row(
            TEXTS.this_one.format(option=name) if option.chosen else name,
            _between(option.best, option.worst),
            f"{option.messages:,}",
            f"{option.bytes:,}",
            f"{option.dummies:,.0f}" if option.dummies else "",
            _rests_on(option, plan),
        )
    return table


def mixers_instead(options: tuple[SourceOption, ...]) -> str:
    """What mixers' noise would give, for a survey with devices' noise; empty for others."""
    mixed = [option for option in options if option.noise == mechanisms.MIXERS.code]
    if not mixed or any(option.chosen for option in mixed):
        return ""
    said = [
        TEXTS.instead_option.format(
            widths=_between(option.best, option.worst), mixers=_source(option)
        )
        for option in mixed
    ]
    return TEXTS.instead.format(options=", ".join(said))


def _rests_on(option: SourceOption, plan: Plan) -> str:
    code = option.noise
    if mechanisms.mechanism_of(option.noise).has_dummies and option.mixers == 1:
        code = "collector"
    return TEXTS.rests_on[code].format(honest=f"{plan.survey.policy.honest:,}")


def _source(option: SourceOption) -> str:
    if option.noise == mechanisms.DEVICES.code:
        return TEXTS.by_devices
    if option.noise == mechanisms.BOTH.code:
        return TEXTS.by_both.of(option.mixers).format(number=option.mixers)
    return TEXTS.by_mixers.of(option.mixers).format(number=option.mixers)


def _widths(method: Alternative) -> str:
    if math.isnan(method.best):
        return TEXTS.not_possible
    return _between(method.best, method.worst)


def _between(least: float, most: float) -> str:
    best, worst = some_people(least), some_people(most)
    return best if best == worst else TEXTS.between.format(best=best, worst=worst)
