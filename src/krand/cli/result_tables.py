"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from krand.analysis.trends.trend import LAST, Line
from krand.batches.provenance import Provenance
from krand.promise import READABLE
from krand.report.labels import labels_of
from krand.report.languages import language_of
from krand.report.trend_texts import TrendWords
from krand.showing import decimals_for, fixed, number, some
from krand.survey.questions import Kind
from krand.wording.mechanisms import words_of
from krand.wording.number_format import heading, with_unit
from krand.wording.parties import one_hand_text
from krand.wording.phrases import (
    EVENLY,
    asked_texts,
    at_most,
    condition_text,
    dishonest_could_have,
    open_mean,
    summary_text,
)
from krand.wording.plan_texts import PLANS
from krand.wording.promises import declared
from krand.wording.texts import ENGLISH

if TYPE_CHECKING:
    from krand.analysis.estimates.share_differences import Change, Difference
    from krand.analysis.estimates.values import (
        AskedEstimate,
        Distribution,
        Interval,
        QuestionEstimate,
        Row,
    )
    from krand.analysis.results import JointResult, Results
    from krand.analysis.words.decoding import WordsEstimate
    from krand.report.labels import Labels

MOST_ROWS = 20
"""The most answers shown for a question; the file has all of them."""


UNREADABLE = "too noisy"
MOST_DIFFERENCES = 60
"""The most differences shown in one table; --json has all of them."""


def results_tables(results: Results, *, raw: bool = False) -> Iterator[Table]:
    """A table for each question, joint table and list of words, with raw counts on request."""
    labels = labels_of(results.plan.survey, language_of("en"))
    among = {entry.question: entry for entry in results.asked}
    asked = {question.name: question for question in results.plan.survey.questions}
    for question in results.questions:
        found = among.get(question.name)
        table = _question_table(question, labels, raw)
        condition = asked[question.name].asked_if
        if condition is None:
            yield table
            continue
        said = " ".join(
            (condition_text(condition.question, condition.answers), *asked_texts(found))
        )
        table.caption = f"{said}\n{table.caption}" if table.caption else said
        table.caption_justify = "left"
        yield table
        if found is not None and not found.withheld:
            yield _asked_table(found, labels)
    for joint in results.joint:
        if len(joint.table.questions) == 2:
            yield _joint_table(joint, labels, raw)
    for words in results.words:
        yield _words_table(words)


def remarks(results: Results) -> Iterator[str]:
    """What must be said with the numbers."""
    promise, words = results.promise, words_of(results.plan.survey.trust.noise)
    table = results.provenance is Provenance.TABLE  # nobody could collude with the analyst
    hand = one_hand_text(results.plan, local_epsilon=promise.local_epsilon)
    yield (
        f"{some(results.people, 'person')}. Promise for this crowd: ε = {at_most(promise.epsilon)},"
        f" δ = {at_most(promise.delta)}, η = {at_most(promise.eta)} (proven)"
        f".{'' if table else f' {hand or words.collusion(results)}'}"
    )
    if trusted := PLANS.trusted_holder[results.provenance]:
        yield trusted
    yield from declared(results.different_people, len(results.ids))
    if results.rejected:
        yield words.refused(results.plan, promise, results.rejected)
    if table:
        yield "A false answer changed a count by at most 1 person."
        return
    yield dishonest_could_have([block.shift for block in results.plan.blocks])


def not_decoded(results: Results) -> Iterator[str]:
    """The words questions that were left out, and how to look for words in them."""
    decoded = {words.question for words in results.words}
    for question in results.plan.survey.questions:
        if question.kind is Kind.WORDS and question.name not in decoded:
            yield (
                f"Left out: {question.name}, because words are found with a list of candidates:"
                f" --candidates {question.name}=words.txt."
            )


def unreadable(results: Results) -> str:
    """A warning about results that are too noisy to use; empty if there are none."""
    parts = [
        f"{len(q.unreadable):,} of {len(q.all_rows):,} answers to {q.name}"
        for q in results.questions
        if q.unreadable
    ]
    parts += [
        f"{(~j.table.readable).sum():,} of {j.table.readable.size:,} cells of"
        f" {' × '.join(j.table.questions)}"
        for j in results.joint
        if not j.table.readable.all()
    ]
    parts += [
        f"all cells of {' × '.join(j.table.questions)}, whose margins are more than half of what a"
        " cell has on average"
        for j in results.joint
        if j.table.readable.all() and j.table.drowns
    ]
    parts += [
        f"{len(lost):,} of {len(w.found):,} words found for {w.question}"
        for w in results.words
        if (lost := [row for row in w.found if not row.readable])
    ]
    if not parts:
        return ""
    return (
        f"these results are too noisy to use (margin of error above {100 * READABLE:g} % of the"
        f" crowd): {'; '.join(parts)}"
    )


def _question_table(question: QuestionEstimate, labels: Labels, raw: bool) -> Table:
    percent = ENGLISH.numbers.confidence(question.confidence)
    unit = labels.unit(question.name)
    table = Table(title=question.name, title_justify="left")
    table.add_column(heading("answer", unit))
    interval = f"{percent} interval"
    for name in ("people", interval, "share", interval, *(["raw count"] * raw)):
        table.add_column(name, justify="right")
    if question.unreadable:
        table.add_column("", style="bold red")
    rows = sorted(question.rows, key=lambda row: -row.consistent)
    shown = rows[:MOST_ROWS] if len(rows) > MOST_ROWS else list(question.rows)
    named = [(labels.answer(question.name, row.label), row) for row in shown]
    if question.unanswered is not None:
        named.append((labels.silent(question.name), question.unanswered))
    for name, row in named:
        more = [fixed(row.count, 1)] * raw
        mark = ["" if row.readable else UNREADABLE] if question.unreadable else []
        table.add_row(name, *_cells(row), *more, *mark)
    notes = []
    if len(rows) > MOST_ROWS:
        notes.append(f"the {MOST_ROWS} most frequent of {len(rows):,} answers")
    if question.distribution is not None:
        notes += _distribution_notes(question.distribution, unit)
    notes += [summary_text(summary) for summary in question.summaries]
    if question.picks is not None:
        picks = question.picks
        ends = _span(picks.interval.low, picks.interval.high)
        notes.append(f"{picks.consistent:,.4g} picks per person ({ends})")
    if notes:
        table.caption, table.caption_justify = "; ".join(notes), "left"
    return table


def _asked_table(found: AskedEstimate, labels: Labels) -> Table:
    """The same answers, as shares of those who were asked or who answered."""
    of_whom = ENGLISH.asked.heading[found.base]
    table = Table(title=f"{found.question}: {of_whom}", title_justify="left")
    table.add_column("answer")
    for name in ("share", f"{ENGLISH.numbers.confidence(found.confidence)} interval"):
        table.add_column(name, justify="right")
    rows = sorted(found.rows, key=lambda row: -row.consistent)
    shown = rows[:MOST_ROWS] if len(rows) > MOST_ROWS else list(found.rows)
    named = [(labels.answer(found.question, row.label), row) for row in shown]
    if found.unanswered is not None:
        named.append((found.unanswered.label, found.unanswered))
    for name, row in named:
        text = name if row.readable else f"{name} ({UNREADABLE})"
        table.add_row(text, *_share_cells(row.consistent, row.interval))
    return table


def _distribution_notes(spread: Distribution, unit: str) -> Iterator[str]:
    """Median and mean; the intervals hold wherever values lie within their ranges."""
    median = next((q for q in spread.quantiles if q.level == 0.5), None)
    if median is not None:
        value = "in an open-ended range"
        if median.value is not None:
            value = with_unit(f"{median.value:,.4g}", unit)
        yield f"median {value} ({_span(median.low, median.high)})"
    mean = spread.mean
    if mean.value is not None:
        yield f"mean {with_unit(f'{mean.value:,.4g}', unit)} ({_span(mean.low, mean.high)})"
    else:
        yield open_mean(mean, unit=unit)
    if not spread.exact:
        yield EVENLY


def _cells(row: Row) -> tuple[str, ...]:
    return (
        fixed(row.consistent),
        _counts(row.interval.low, row.interval.high),
        *_share_cells(row.consistent_share, row.share_interval),
    )


def _share_cells(share: float, interval: Interval) -> tuple[str, str]:
    low, high = 100 * interval.low, 100 * interval.high
    decimals = decimals_for((high - low) / 2)
    ends = f"{fixed(low, decimals)} to {fixed(high, decimals)}"
    return f"{fixed(100 * share, decimals)} %", ends


def _counts(low: float, high: float) -> str:
    return f"{fixed(low)} to {fixed(high)}"


def _span(low: float | None, high: float | None) -> str:
    ends = ("…" if end is None else f"{end:,.4g}" for end in (low, high))
    return " to ".join(ends)


def _joint_table(joint: JointResult, labels: Labels, raw: bool) -> Table:
    """People with their interval, and raw counts on request."""
    found = joint.table

    def cell(at: tuple[int, int]) -> str:
        low, high = found.interval.low[at], found.interval.high[at]
        lines = [fixed(found.consistent[at]), _counts(low, high)]
        lines += [f"raw {fixed(found.counts[at], 1)}"] * raw
        return "\n".join(lines if found.readable[at] else [*lines, UNREADABLE])

    first, second = found.questions
    title = " × ".join(map(labels.name, found.questions))
    table = Table(title=title, title_justify="left")
    table.add_column(labels.name(first))
    for label in labels.axis(second, found.labels[1], found.answers[1]):
        table.add_column(label, justify="right")
    for row, label in enumerate(labels.axis(first, found.labels[0], found.answers[0])):
        table.add_row(
            label,
            *(cell((row, column)) for column in range(len(found.labels[1]))),
        )
    if joint.independence is not None:
        test = joint.independence
        p_value = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.4f}"
        table.caption = (
            f"test of independence: chi-square {test.statistic:,.1f},"
            f" {test.degrees} {'degree' if test.degrees == 1 else 'degrees'} of freedom, {p_value}"
        )
        table.caption_justify = "left"
    return table


def _words_table(words: WordsEstimate) -> Table:
    table = Table(title=words.question, title_justify="left")
    table.add_column("word")
    for name in ("people", f"{ENGLISH.numbers.confidence(words.confidence)} interval"):
        table.add_column(name, justify="right")
    for row in words.found[:MOST_ROWS]:
        word = row.word if row.readable else f"{row.word} ({UNREADABLE})"
        table.add_row(word, fixed(row.count), _counts(row.low, row.high))
    limit = "none" if words.detection_limit is None else f"{words.detection_limit:,.0f} people"
    table.caption = (
        f"{len(words.found):,} of {len(words.rows):,} candidates found; expected share of false"
        f" discoveries at most {100 * words.false_discovery_rate:.0f} %; detection limit {limit}"
    )
    table.caption_justify = "left"
    return table


def comparison_table(title: str, changes: Sequence[Change]) -> Table:
    """Differences of shares, in percentage points, answer by answer."""
    several = len(changes) > 1
    by_answer = zip(*(change.differences for change in changes), strict=True)
    pairs = [(c, row) for rows in by_answer for c, row in zip(changes, rows, strict=True)]
    many = len(pairs) > 1
    table = Table(title=title, title_justify="left")
    for name in ("answer", *(["change"] * several)):
        table.add_column(name)
    for name in (
        "later - earlier",
        "interval",
        *(["for all together"] * many),
        "p-value",
        "adjusted p-value",
    ):
        table.add_column(name, justify="right")
    clearest = sorted(pairs, key=lambda pair: pair[1].p_value)[:MOST_DIFFERENCES]
    for change, row in pairs if len(pairs) == len(clearest) else clearest:
        between = [f"{change.earlier} to {change.later}"] * several
        label = row.label if row.readable else f"{row.label} ({UNREADABLE})"
        table.add_row(label, *between, *_difference_cells(row, many))
    if len(clearest) < len(pairs):
        table.caption = f"the {len(clearest)} clearest of {len(pairs):,}; --json has all"
    return table


def _difference_cells(row: Difference, many: bool) -> tuple[str, ...]:
    decimals = decimals_for(50 * (row.interval.high - row.interval.low))
    ends = [(100 * i.low, 100 * i.high) for i in (row.interval, *([row.simultaneous] * many))]
    return (
        f"{_signed(100 * row.consistent, decimals)} points",
        *(" to ".join(_signed(end, decimals) for end in pair) for pair in ends),
        number(row.p_value, 3),
        number(row.adjusted_p_value, 3),
    )


def _signed(value: float, decimals: int) -> str:
    text = fixed(value, decimals)
    return f"+{text}" if text.strip("0.,") and value > 0 else text


def trend_table(words: TrendWords, most: int) -> Table:
    """Each answer now, before, and what changed; those with a change first."""
    trend = words.trend
    sure = words.numbers.confidence(trend.confidence)
    table = Table(title=trend.title, title_justify="left", caption_justify="left")
    table.add_column("answer")
    for name in ("counted last", f"{sure} interval", f"mean of last {LAST}", f"{sure} interval"):
        table.add_column(name, justify="right")
    table.add_column("last change found")
    for line in trend.lines[:most]:
        name, is_now = words.name(line), line.last.round == trend.rounds[-1].number
        table.add_row(
            name if is_now else f"{name} ({words.when(line)})",
            *words.share_now(line),
            *(words.mean(line) or ("", "")),
            _arrow(line),
        )
    if len(trend.lines) > most:
        table.caption = f"{some(len(trend.lines) - most, 'more line')}: in --output."
    return table


def _arrow(line: Line) -> str:
    if not line.changes:
        return ""
    last = line.changes[-1]
    return f"{'▲' if last.difference > 0 else '▼'} round {last.found:,}"


def trend_sentences(words: TrendWords, most: int) -> Iterator[str]:
    """What changed, and what has to be said beside an answer."""
    for line in words.trend.lines[:most]:
        if line.changes:
            yield words.headline(line)
        for note in words.notes(line):
            yield f"{words.name(line)}: {note}."
