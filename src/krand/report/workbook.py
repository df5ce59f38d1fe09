"""Results as sheets that people read: an overview, then one for each question and each pair."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from krand.analysis.results import Results
from krand.analysis.results_sheets import Sheet, Styled
from krand.report.answers import Estimate, table_decimals
from krand.report.findings import glance
from krand.report.joint import JointView, Rows, joint_views
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.report.page import facts, in_words
from krand.report.promise import badges, promise_box
from krand.report.questions import Asked, QuestionView, asked_in, question_views
from krand.wording.surveys import about_rows

LONGEST_NAME = 31
"""Characters of a sheet's name, as Excel allows them."""
FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f'\s]+")
COUNT = "#,##0"
LONGEST_LINE = 120
Line = tuple[Styled, ...]


def sheets_of(results: Results, invited: int | None) -> tuple[Sheet, ...]:
    """An overview, every question in its order, and every pair, in the survey's language."""
    results, words, labels = in_words(results, None)
    asked = asked_in(results, labels, words)
    views, own = question_views(asked, words), words.texts.workbook
    where = _Names({"results"})
    invited = invited or results.plan.survey.invited
    overview = _overview(results, asked, labels, words, invited)
    made = [Sheet(where.take(own.overview), overview, (60, 80))]
    head = [_bold(text) for text in _above(results, words)]
    for place, (question, view) in enumerate(zip(asked, views, strict=True), 1):
        rows = (*head, *_question(question, view, words))
        made.append(Sheet(where.take(f"{place} {view.title}"), rows, (44, *[11] * 6, 26)))
    for table in joint_views(results, labels, words):
        rows = (*head, *_together(table))
        made.append(Sheet(where.take(table.title), rows, (34, *[16] * 12)))
    return tuple(made)


@dataclass(slots=True)
class _Names:
    """Names of sheets, which must differ in more than the case of letters."""

    taken: set[str]

    def take(self, title: str) -> str:
        """A name for this title."""
        name = FORBIDDEN.sub(" ", title).strip()[:LONGEST_NAME].strip() or "–"
        place = 2
        while name.casefold() in self.taken:
            ending = f" ({place})"
            name, place = f"{name[: LONGEST_NAME - len(ending)]}{ending}", place + 1
        self.taken.add(name.casefold())
        return name


def _above(results: Results, language: Language) -> Iterator[str]:
    """What every sheet begins with: that people are simulated, if they are, or whatever is bad."""
    for badge in badges(results, language):
        if badge.tone in ("warn", "bad"):
            yield badge.text


def _overview(
    results: Results,
    asked: Sequence[Asked],
    labels: Labels,
    language: Language,
    invited: int | None,
) -> tuple[Line, ...]:
    survey, own = results.plan.survey, language.texts.workbook
    about = about_rows(survey, language.shared, round_number=results.round)
    shown, box = glance(results, asked, labels, language), promise_box(results, language)
    lines = [
        _bold(survey.shown_title),
        *(_bold(text) for text in _above(results, language)),
        *(_plain(f"{name}: {text}") for name, text in about),
        *(_plain(f"{value} {name}") for value, name in facts(results, language, invited)),
        (),
        (*_bold(language.texts.promise.question), *_bold(own.result)),
        *(
            (Styled(line.question), Styled(line.found.striptags()))
            for line in (*shown.lines, *shown.pairs)
        ),
        *_wrapped(shown.note),
        (),
        _bold(language.texts.odds.title),
        *_wrapped(" ".join(filter(None, (box.before, box.promise, box.after)))),
        (),
        *_wrapped(own.reading),
    ]
    return tuple(lines)


def _question(asked: Asked, view: QuestionView, language: Language) -> Iterator[Line]:
    if view.above:
        yield _plain(view.above)
    yield _bold(view.title)
    yield _plain(view.caption)
    yield ()
    if asked.among:
        yield from _answers(asked.among, view, language)
        yield from ((), _plain(language.texts.questions.everybody))
    if asked.everybody:
        yield from _answers(asked.everybody, view, language)
    yield ()
    if asked.boxes:
        told = " · ".join(f"{box.share} {box.name} ({box.values})" for box in asked.boxes)
        yield _plain(f"{language.texts.scales.of_those} {told}")
    for note in (view.mean, *view.notes, *view.details, *view.counts.notes):
        yield from _wrapped(note)


def _answers(rows: Sequence[Estimate], view: QuestionView, language: Language) -> Iterator[Line]:
    """Shares as percentages with the digits that mean something; people where they are known."""
    own, texts = language.texts.workbook, language.texts
    digits = table_decimals(rows)
    percent = f"0.{'0' * digits}%" if digits else "0%"
    counted = rows[0].counted is not None
    names = [view.heading, texts.answers.share, own.low, own.high]
    names += [texts.counts.people, own.low, own.high] if counted else []
    yield tuple(Styled(name, bold=True) for name in (*names, own.note))
    for row in rows:
        shares = [Styled(x, format=percent) for x in (row.share, row.low, row.high)]
        if row.counted is not None:
            people = (row.counted.people, row.counted.low, row.counted.high)
            shares += [Styled(x, format=COUNT) for x in people]
        note = "" if row.readable else texts.answers.unreadable
        yield (Styled(row.label), *shares, Styled(note))


def _together(table: JointView) -> Iterator[Line]:
    yield _bold(table.title)
    yield _plain(table.verdict)
    for crossed in table.crossed:
        yield from ((), _plain(f"{crossed.summary} {crossed.caption}"))
        yield from _grid(crossed.given, crossed.columns, crossed.rows)
    for each in table.maps:
        yield from ((), _plain(each.caption))
        yield from _grid(f"{each.rows_are} ↓ {each.columns_are} →", each.columns, each.rows)
    for note in table.notes:
        yield from _wrapped(note)


def _grid(corner: str, columns: Iterable[str], rows: Rows) -> Iterator[Line]:
    """Cells with their intervals, as the page shows them."""
    yield tuple(Styled(name, bold=True) for name in (corner, *columns))
    for label, cells in rows:
        shown = (f"{c.text} ({c.interval})" if c.interval else c.text for c in cells)
        yield (Styled(label, bold=True), *map(Styled, shown))


def _bold(text: str) -> Line:
    return (Styled(text, bold=True),)


def _plain(text: str) -> Line:
    return (Styled(text),)


def _wrapped(text: str) -> Iterator[Line]:
    """A long text in several rows: a spreadsheet would show it as one line."""
    return (_plain(line) for line in textwrap.wrap(text, LONGEST_LINE))
