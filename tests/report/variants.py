"""Results for which a report says different things: together they need every sentence it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import numpy as np

from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.values import (
    AskedEstimate,
    AskedShare,
    Band,
    Base,
    Distribution,
    Interval,
    MeanEstimate,
    Quantile,
    Statistic,
    Summary,
)
from krand.analysis.results import JointResult, Results
from krand.batches.provenance import Provenance
from krand.partners.siblings import Sibling, Siblings
from krand.planning.coalitions import coalitions_of
from krand.survey import mechanisms
from krand.survey.about import About
from krand.survey.conditions import Condition
from krand.survey.layout import layout_of
from krand.survey.plan import Mixer
from krand.survey.questions import Kind, Number
from krand.survey.survey import Trust
from krand.wire.messages import REPEATED, Rejection
from report.examples import (
    bit_example,
    long_example,
    mixed_example,
    record_example,
    refused_example,
    single_example,
    small_example,
)
from schedules import days

UNKNOWN_REASON = "unheard of"
"""A reason to refuse messages that only a later krand knows."""

ABOUT = About(
    title="Umfrage",
    organiser="Stadtrat",
    contact="rat@example.org",
    language="de",
    closes=date(2026, 12, 4),
)
Change = Callable[[Results], Results]


def _with(**changes: Any) -> Change:
    return lambda results: replace(results, **changes)


def _promise(**changes: Any) -> Change:
    return lambda results: replace(results, promise=replace(results.promise, **changes))


def _survey(**changes: Any) -> Change:
    def changed(results: Results) -> Results:
        survey = replace(results.plan.survey, **changes)
        return replace(results, plan=replace(results.plan, survey=survey))

    return changed


def _policy(**changes: Any) -> Change:
    def changed(results: Results) -> Results:
        return _survey(policy=replace(results.plan.survey.policy, **changes))(results)

    return changed


def _question(name: str, **changes: Any) -> Change:
    def changed(results: Results) -> Results:
        own = (replace(q, **changes) if q.name == name else q for q in results.questions)
        return replace(results, questions=tuple(own))

    return changed


def _words(**changes: Any) -> Change:
    return lambda results: replace(results, words=(replace(results.words[0], **changes),))


def _unreadable(results: Results) -> Results:
    first, *others = results.questions
    rows = tuple(replace(row, readable=False) for row in first.rows)
    (joint, *_) = results.joint
    table = replace(joint.table, readable=np.zeros_like(joint.table.readable))
    questions = (replace(first, rows=rows), *others)
    return replace(results, questions=questions, joint=(replace(joint, table=table),))


def _many_answers(results: Results) -> Results:
    first, *others = results.questions
    row = first.rows[0]
    rows = tuple(replace(row, label=f"{i:04}", consistent=float(i)) for i in range(2_500))
    return replace(results, questions=(replace(first, rows=rows), *others))


def _test(**changes: Any) -> Change:
    def changed(results: Results) -> Results:
        (joint,) = results.joint
        test = replace(joint.independence, **changes)
        return replace(results, joint=(replace(joint, independence=test),))

    return changed


def _nobody_to_divide_by(results: Results) -> Results:
    (joint,) = results.joint
    first, *others = joint.given
    group = tuple(replace(share, share=None, consistent=None) for share in first.groups[0])
    given = (replace(first, groups=(group, *first.groups[1:])), *others)
    return replace(results, joint=(replace(joint, given=given),))


def _large_table(results: Results) -> Results:
    """Three questions with 30, 31 and 13 answers: too many tables, rows and columns."""
    sizes = (30, 31, 13)
    cells = np.ones(sizes)
    joint = results.joint[0]
    table = replace(
        joint.table,
        questions=("smokes", "colour", "drives"),
        labels=tuple(tuple(f"{i:04}" for i in range(size)) for size in sizes),
        answers=sizes,
        counts=cells,
        consistent=cells,
        standard_errors=cells,
        interval=Band(0 * cells, 1234 * cells),
        simultaneous=Band(0 * cells, 1234 * cells),
        readable=cells.astype(bool),
    )
    return replace(results, joint=(JointResult(table, (), None),))


def _scale(results: Results) -> Results:
    mean = Summary(
        statistic=Statistic.MEAN,
        answers=("1", "5"),
        value=3.625,
        unadjusted=3.6,
        interval=Interval(3.55, 3.69),
    )
    share = replace(mean, value=0.625, interval=Interval(0.55, 0.69))
    top = replace(share, statistic=Statistic.TOP_BOX, answers=("4", "5"))
    bottom = replace(share, statistic=Statistic.BOTTOM_BOX, answers=("1", "2", "3"))
    one = replace(share, statistic=Statistic.BOTTOM_BOX, answers=("1",))
    change = _question("colour", kind=Kind.SCALE, summaries=(mean, top, bottom, one))
    return change(results)


def _distribution(results: Results) -> Distribution:
    found = next(q.distribution for q in results.questions if q.name == "age")
    return found


def _open(low: float | None, high: float | None, *, integer: bool) -> Change:
    """Numbers of which some lie in ranges without an end; whole ones, each in its own range."""

    def changed(results: Results) -> Results:
        spread = replace(
            _distribution(results),
            integer=integer,
            exact=integer,
            mean=MeanEstimate(None, None, low, high),
            quantiles=(
                Quantile(0.9, None, 1234.5, None),
                Quantile(0.5, 0.5, None, 1234.5),
                Quantile(0.25, 1e7, None, None),
            ),
        )
        return _question("age", distribution=spread)(results)

    return changed


def _ranges(results: Results) -> Results:
    """Whole numbers, with ranges that are open at both ends."""
    edges = (0, 1, 1500)
    asked = Number(name="age", edges=edges, open_below=True, open_above=True, integer=True)
    names = [asked.level_name(level) for level in range(asked.positions)]
    changed = _question("age", rows=tuple(_rows(results, names)))(results)
    questions = (asked if q.name == "age" else q for q in results.plan.survey.questions)
    return _survey(questions=tuple(questions))(changed)


def _rows(results: Results, names: list[str]) -> Iterator[Any]:
    row = results.questions[0].rows[0]
    return (replace(row, label=name) for name in names)


def _conditional(base: Base | None, *, withheld: bool = False) -> Change:
    """An age that was asked only of some; shares of them, none, or nothing to be shares of."""

    def changed(results: Results) -> Results:
        gate = Condition("smokes", ("yes", "no"))
        asked = results.plan.survey.questions
        own = (replace(q, asked_if=gate) if q.name == "age" else q for q in asked)
        share = AskedShare(
            label="20 to under 40",
            share=0.5,
            consistent=0.5,
            interval=Interval(0.45, 0.55),
            readable=False,
        )
        found = AskedEstimate(
            question="age",
            base=base or Base.ASKED,
            count=1234.5,
            consistent=1234.5,
            interval=Interval(1200, 1300),
            confidence=0.95,
            rows=() if withheld else (share,),
            unanswered=None if withheld else replace(share, label="unanswered", readable=True),
        )
        there = _survey(questions=tuple(own))(results)
        return replace(there, asked=() if base is None else (found,))

    return changed


def _sampling(population: int | None) -> Change:
    def changed(results: Results) -> Results:
        own = (replace(q, sampling=Sampling(population)) for q in results.questions)
        return replace(results, questions=tuple(own))

    return changed


def _alike(results: Results) -> Results:
    plan = results.plan
    shift = replace(plan.blocks[0].shift, too_high=1234.5, too_low=10.0)
    blocks = (replace(b, shift=replace(shift, name=b.name)) for b in plan.blocks)
    return replace(results, plan=replace(plan, blocks=tuple(blocks)))


def _recounted(results: Results) -> Results:
    """With the coalitions of its plan."""
    return replace(results, coalitions=coalitions_of(results.plan, results.crowd))


def _runs(mixers: int, *places: int) -> Change:
    """The analyst runs mixers at these places."""

    def changed(results: Results) -> Results:
        trust = replace(results.plan.survey.trust, mixers=mixers, analyst_runs=places)
        return _recounted(_survey(trust=trust)(results))

    return changed


def _siblings(*others: str) -> Change:
    """Of two of three mixers the lists are known; the last plan is that of another organiser."""

    def changed(results: Results) -> Results:
        names = ("Works <council>", "University", "Chamber")
        mixers = tuple(Mixer(name=n, identity=f"{at:064x}") for at, n in enumerate(names))
        plans = tuple(
            Sibling(
                plan=plan,
                organiser=f"{place:064x}",
                epsilon=1.5,
                delta=1e-6,
                closes="2027-01-31",
                mixers=names[1:],
            )
            for place, plan in enumerate(others)
        )
        mixing = replace(results.plan.mixing, mixers=mixers)
        plan = replace(results.plan, mixing=mixing)
        return replace(results, plan=plan, siblings=Siblings(lists=names[1:], plans=plans))

    return changed


def _one_message(results: Results) -> Results:
    return replace(results, plan=replace(results.plan, messages=1))


def _one_question(results: Results) -> Results:
    plan = results.plan
    survey = replace(plan.survey, questions=plan.survey.questions[:1], together=())
    (block,) = layout_of(survey).blocks
    shift = replace(plan.blocks[0].shift, name=block.name)
    planned = replace(plan.blocks[0], block=block, margins=(), shift=shift)
    asked = replace(plan, survey=survey, blocks=(planned,))
    only = replace(results, plan=asked, questions=results.questions[:1])
    return replace(only, words=(), joint=())


def _several_words(results: Results) -> Results:
    rows = results.words[0].rows
    found = tuple(replace(row, found=True, same_positions=("swing",)) for row in rows)
    return _words(rows=found)(results)


def _all(*changes: Change) -> Change:
    def changed(results: Results) -> Results:
        for change in changes:
            results = change(results)
        return results

    return changed


REASONS = {str(why): 1000 + place for place, why in enumerate((*Rejection, REPEATED))}
BITS: dict[str, Change] = {
    "as they are": _with(),
    "of a table": _with(provenance=Provenance.TABLE),
    "of a table without coalitions": _with(provenance=Provenance.TABLE, coalitions=()),
    "of a simulation": _with(provenance=Provenance.SIMULATION, crowd=10_000),
    "no batch": _with(batches=()),
    "many files": _with(
        provenance=Provenance.TABLE, batches=tuple(f"{i:064}" for i in range(1234))
    ),
    "declared by the analyst": _with(
        provenance=Provenance.TABLE,
        different_people=True,
        ids=("ab" * 16, "cd" * 16),
        batches=("ab" * 32, "cd" * 32),
        crowd=10_000,
    ),
    "unreadable": _unreadable,
    "many answers": _many_answers,
    "in one hand": _all(_runs(1, 1), _promise(local_epsilon=2.0)),
    "in one hand, of a table": _all(_runs(1, 1), _with(provenance=Provenance.TABLE)),
    "real protection": _promise(local_epsilon=0.5),
    "weak protection": _promise(local_epsilon=2.0),
    "no odds": _promise(epsilon=40.0),
    "slight protection": _promise(local_epsilon=5.0),
    "a survey that says who asks": _survey(about=ABOUT),
    "a long number": _promise(local_epsilon=1000.0),
    "one colluder": _promise(colluding=1),
    "some colluders": _promise(colluding=1234),
    "one refused": _all(_promise(colluding=1), _with(rejected={"wrong_length": 1})),
    "refused": _all(_promise(colluding=9000), _with(rejected=REASONS)),
    "refused of a few people": _all(
        _promise(colluding=9000), _policy(colluding=1), _with(rejected={"repeated": 2000})
    ),
    "more colluders than refused": _all(
        _promise(colluding=9000), _policy(colluding=1500), _with(rejected={UNKNOWN_REASON: 2000})
    ),
    "not kept, nothing refused": _with(kept=False),
    "not kept, one refused": _with(kept=False, rejected={"wrong_length": 1}),
    "related": _test(p_value=1e-9, degrees=1),
    "perhaps related": _test(p_value=0.01, left_out=("colour=red", "smokes=unanswered")),
    "not related": _test(p_value=0.5),
    "not tested": lambda results: replace(
        results, joint=(replace(results.joint[0], independence=None),)
    ),
    "a pair alone": _all(_test(p_value=1e-9), _with(questions=(), words=())),
    "a group that may be empty": _nobody_to_divide_by,
    "a large table": _large_table,
    "a scale": _scale,
    "open above": _open(12.5, None, integer=False),
    "open below": _open(None, 1234.5, integer=True),
    "open on both sides": _open(None, None, integer=True),
    "ranges of whole numbers": _ranges,
    "of those asked": _conditional(Base.ASKED),
    "of those asked, withheld": _conditional(Base.ASKED, withheld=True),
    "of those who answered": _conditional(Base.ANSWERED),
    "of those who answered, withheld": _conditional(Base.ANSWERED, withheld=True),
    "of an unknown number": _conditional(None),
    "no limit of detection": _words(detection_limit=None),
    "several words": _several_words,
    "all words found": _words(named=1234.0, unexplained=0.0),
    "no word found": lambda results: _words(
        rows=tuple(replace(row, found=False) for row in results.words[0].rows)
    )(results),
    "words alone": _with(questions=(), joint=()),
    "rounds": _survey(rounds=3, schedule=days(3)),
    "of so many who were invited": _survey(invited=12_345_678),
    "one question": _one_question,
    "sample without limit": _sampling(None),
    "all questions alike": _alike,
    "one message": _one_message,
    "one message of a simulation": _all(
        _one_message, _with(provenance=Provenance.SIMULATION, crowd=10_000)
    ),
    "of one day": _survey(id="habits-2026-03-07"),
}
RECORDS: dict[str, Change] = {
    "as they are": _with(),
    "of a table": _with(provenance=Provenance.TABLE),
    "of a simulation": _with(provenance=Provenance.SIMULATION),
    "one copy": _survey(copies=1),
    "not kept": _with(kept=False),
}
MIXED: dict[str, Change] = {
    "as they are": _with(),
    "of devices": _with(provenance=Provenance.DEVICES),
    "one alone": _all(_survey(trust=Trust(noise=mechanisms.MIXERS)), _recounted),
    "one alone, of devices": _all(
        _survey(trust=Trust(noise=mechanisms.MIXERS)),
        _recounted,
        _with(provenance=Provenance.DEVICES),
    ),
    "one refused": _with(rejected={"wrong_length": 1}),
    "refused": _with(rejected={"wrong_length": 2}),
    "in one hand": _all(_runs(1, 1), _with(provenance=Provenance.DEVICES)),
    "in one hand, of a simulation": _runs(1, 1),
    "no other plan": _siblings(),
    "one other plan": _siblings("ab" * 32),
    "other plans": _siblings("ab" * 32, "cd" * 32),
    "no lists of mixers": _with(siblings=Siblings(lists=(), plans=())),
    "in one hand, several": _runs(3, 1, 2, 3),
    "beside the analyst one": _all(_runs(2, 1), _with(provenance=Provenance.DEVICES)),
    "beside the analyst several": _all(_runs(4, 1, 3), _with(provenance=Provenance.DEVICES)),
}
VARIANTS: dict[str, Callable[[], Results]] = {
    **{f"bits, {name}": lambda c=c: c(bit_example().results) for name, c in BITS.items()},
    **{f"records, {name}": lambda c=c: c(record_example().results) for name, c in RECORDS.items()},
    "not kept": lambda: refused_example().results,
    **{f"mixers, {name}": lambda c=c: c(mixed_example().results) for name, c in MIXED.items()},
    "small": lambda: small_example().results,
    "a single question": lambda: single_example().results,
    "a thousand answers": lambda: long_example().results,
}
"""What makes the results, by name."""


@cache
def results_of(name: str) -> Results:
    """The results of this name, made once."""
    return VARIANTS[name]()
