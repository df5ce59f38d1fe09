"""The page as a whole: what was found, what is promised, every answer, an annex to check it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path

from markupsafe import Markup

from krand.analysis.estimates.intervals import normal_quantile
from krand.analysis.results import Results
from krand.analysis.trends.trend import Trend
from krand.batches.provenance import Provenance
from krand.errors import InvalidInput
from krand.files import write_atomically
from krand.promise import READABLE, Linkage
from krand.report.findings import confidence_of, glance, shortened
from krand.report.joint import JointView, joint_views
from krand.report.labels import Labels, labels_of, spoken_survey
from krand.report.languages import Language
from krand.report.pages import render
from krand.report.promise import Named, badges, broken_promise, promise_box, promise_view
from krand.report.questions import QuestionView, asked_in, question_views
from krand.report.texts import DateTexts
from krand.report.trend_page import TrendView, trend_view
from krand.report.trend_texts import words_for
from krand.survey.rules import DATE_IN_ID
from krand.wording.mechanisms import words_of
from krand.wording.promises import declared
from krand.wording.surveys import about_rows
from krand.wording.texts import Texts as SharedTexts

LONGEST = 70
"""Characters of a title where several are named."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a caller adds; the markup is taken as it is."""

    title: str
    html: Markup


def report_page(
    results: Results,
    extra: Sequence[Section] = (),
    notice: Markup | None = None,
    *,
    language: str | None = None,
    invited: int | None = None,
    trend: Trend | None = None,
) -> str:
    """A whole HTML document that shows results, in one of the `languages` or of the survey's.

    Without `language` it is the survey's own. What krand itself says is English if it lacks that
    language; what the survey says is in its own if it lacks it. Without
    `invited` so many people were asked to take part as the survey says.
    A notice stands right below the title, before anything that could be taken for a result.
    A trend, of this round and earlier ones, becomes a part of the page.
    """
    results, words, labels = in_words(results, language)
    survey, own = results.plan.survey, words.texts.page
    title, people = survey.shown_title, words.numbers.whole(results.people)
    asked = asked_in(results, labels, words)
    questions, joint = question_views(asked, words), joint_views(results, labels, words)
    return render(
        "report.html",
        language=words.code,
        texts=words.texts,
        numbers=words.numbers,
        title=title,
        title_language=survey.language if survey.title else words.code,
        about=about_rows(survey, words.shared, partial(_day, words.texts.date), results.round),
        document_title=own.document_title.format(survey=title, people=people),
        lead=_lead(results, words),
        badges=badges(results, words),
        glance=glance(results, asked, labels, words),
        box=promise_box(results, words),
        notice=notice,
        alarm=broken_promise(results, words),
        results_lead=_results_lead(results, words),
        facts=facts(results, words, invited or survey.invited),
        unreadable=unreadable(questions, joint, words),
        limit=words.numbers.percent_of(READABLE, "g"),
        questions=questions,
        joint=joint,
        extra=extra,
        promise=promise_view(results, words),
        collected=_collected(results, words),
        checked=_nobody_can_check(results, words),
        table=results.provenance is Provenance.TABLE,
        blocks=_blocks(results, words),
        signed=words_of(results.plan.survey.trust.noise).signed(words.shared),
        survey_name=words.shared.about.survey,
        results=results,
        trend=_trend(results, trend, language),
    )


def _trend(results: Results, trend: Trend | None, language: str | None) -> TrendView | None:
    if trend is None:
        return None
    last = trend.rounds[-1]
    if (last.number, last.plan) != (results.round, results.plan.hash):
        rule = f"must end with the round of the report, {results.round:,}"
        raise InvalidInput("trend", rule, last.number, "make it of the results up to that round")
    return trend_view(trend, words_for(trend, language))


def in_words(results: Results, language: str | None) -> tuple[Results, Language, Labels]:
    """The results with the survey's texts in a language, what krand says, and names of answers."""
    counted = results.plan.survey
    words, survey = spoken_survey(counted, language)
    if survey is not counted:
        results = replace(results, plan=results.plan.in_language(survey.language))
    return results, words, labels_of(results.plan.survey, words, counted)


def save_report(
    results: Results,
    path: str | Path,
    *,
    language: str | None = None,
    invited: int | None = None,
    trend: Trend | None = None,
) -> None:
    """Write results as one HTML file that needs nothing but itself.

    The page is in the survey's language, or in another of its or krand's languages. It shows which
    part of the people took part who were invited: so many as the survey says, or `invited`. With
    the `trend` of this round and earlier ones it also shows what changed.

    >>> from pathlib import Path
    >>> from krand import make_results, randomize_table, save_report, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> save_report(make_results(plan, tally_responses(plan, ["responses.parquet"])), "report.html")
    >>> Path("report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    page = report_page(results, language=language, invited=invited, trend=trend)
    write_atomically("output", Path(path), page)


def unreadable(
    questions: Sequence[QuestionView], joint: Sequence[JointView], language: Language
) -> tuple[tuple[str, str, str], ...]:
    """Whatever has too wide a margin of error: its anchor, its title, how much of it."""
    own, whole = language.texts.page, language.numbers.whole
    found = [
        (view.id, view.title, own.unreadable_answers.of(listed), view.unreadable, listed)
        for view in questions
        if view.unreadable and (listed := 0 if view.answers is None else view.answers.listed)
    ]
    for table in joint:
        shown = table.crossed[:1] or table.maps
        cells = [cell for each in shown for _, row in each.rows for cell in row]
        lost = sum(not cell.readable for cell in cells)
        if lost:
            found.append((table.id, table.title, own.unreadable_cells, lost, len(cells)))
    return tuple(
        (
            anchor,
            shortened(title, LONGEST),
            said.format(number=whole(lost), all=whole(all_of_it)),
        )
        for anchor, title, said, lost, all_of_it in found
    )


def _results_lead(results: Results, language: Language) -> str:
    own, confidence = language.texts.page, confidence_of(results)
    if confidence is None:
        return own.results_none
    sampled = any(question.sampling is not None for question in results.questions)
    return (own.results_lead_sample if sampled else own.results_lead).format(
        people=language.numbers.whole(results.people),
        confidence=language.numbers.confidence(confidence),
    )


def _lead(results: Results, language: Language) -> str:
    own, whole = language.texts.page, language.numbers.whole
    survey, asked = results.plan.survey, len(results.plan.survey.questions)
    parts = [own.asked.of(asked).format(number=whole(asked))]
    when = date_in(survey.id, language.texts.date)
    if when:
        parts.append(when)
    if survey.rounds > 1:
        parts.append(own.round.format(round=whole(results.round), rounds=whole(survey.rounds)))
    if results.provenance is Provenance.DEVICES:
        noisy = words_of(results.plan.survey.trust.noise).how_noisy(language.shared)
    else:
        noisy = language.shared.provenance.how_noisy[results.provenance]
    return own.lead.format(parts=", ".join(parts), how_noisy=noisy)


def _day(texts: DateTexts, day: date) -> str:
    return texts.day.format(year=day.year, month=texts.months[day.month - 1], day=day.day)


def date_in(survey_id: str, texts: DateTexts) -> str:
    """The month or day that a survey's id holds, in words; empty if it holds none."""
    found = DATE_IN_ID.search(survey_id)
    if found is None:
        return ""
    year, month, day = found.groups()
    known = texts.day if day else texts.month
    name = texts.months[int(month) - 1]
    return known.format(year=year, month=name, day=(day or "").lstrip("0"))


def facts(results: Results, language: Language, invited: int | None) -> tuple[tuple[str, str], ...]:
    """How many took part, which part of those invited they are, and how exact the results are."""
    own, numbers = language.texts.facts, language.numbers
    simulated = results.provenance is Provenance.SIMULATION
    found = [(numbers.whole(results.people), own.simulated if simulated else own.people)]
    if invited is not None and not simulated:
        share = numbers.short_percent(100 * results.people / invited)
        found.append((share, own.participation.format(invited=numbers.whole(invited))))
    if results.questions:  # the margin of the question in the middle
        errors = [question.rows[0].standard_error for question in results.questions]
        confidence = results.questions[0].confidence
        half = min(1.0, normal_quantile(confidence) * statistics.median(errors) / results.people)
        margin = own.points.format(number=numbers.at_most(100 * half, 2))
        found.append((margin, own.margin.format(confidence=numbers.confidence(confidence))))
    return tuple(found)


def _blocks(
    results: Results, language: Language
) -> tuple[str, str, tuple[tuple[str, str, str], ...]]:
    """A caption, what the noise is called, and of every block its questions, positions, noise."""
    plan, numbers = results.plan, language.numbers
    caption, name, noises = words_of(plan.survey.trust.noise).blocks(results, language.shared)
    rows = tuple(
        (
            " + ".join(block.question_names),
            numbers.whole(block.positions),
            numbers.number(noise),
        )
        for block, noise in zip(plan.layout.blocks, noises, strict=True)
    )
    return caption, name, rows


def _collected(results: Results, language: Language) -> Iterator[Named]:
    """What left each device, or the data holder, in which form, how much noise was added, and whom
    the intervals are about."""
    own, table = language.texts.collected, results.provenance is Provenance.TABLE
    yield Named(own.handed_on if table else own.sent, _travelled(results, language.shared))
    yield Named(
        own.noise, words_of(results.plan.survey.trust.noise).noise(results, language.shared)
    )
    yield Named(own.intervals, _about_whom(results, language))


def _travelled(results: Results, texts: SharedTexts) -> str:
    """What left each person's device, or the data holder, and in which form."""
    plan, whole = results.plan, texts.numbers.whole
    if plan.survey.linkage is Linkage.RECORD:
        own, copies = texts.records, plan.survey.copies
        said = own.records[results.provenance].format(
            copies=own.copies.of(copies).format(number=whole(copies)),
            bits=whole(plan.layout.positions),
        )
        return " ".join((said, own.whole, own.averaged) if copies > 1 else (said, own.whole))
    if results.provenance is Provenance.TABLE:
        return texts.tokens.bits_of_a_table
    simulated = results.provenance is Provenance.SIMULATION
    said_of = texts.tokens.messages_simulation if simulated else texts.tokens.messages
    return said_of.of(plan.messages).format(number=whole(plan.messages))


def _about_whom(results: Results, language: Language) -> str:
    own, whole, sampling = language.texts.collected, language.numbers.whole, results.sampling
    said = own.crowd.format(people=whole(results.people))
    if sampling is not None:
        population = own.unlimited
        if sampling.population is not None:
            population = own.population.format(number=whole(sampling.population))
        return own.sample.format(population=population, people=whole(results.people))
    return said


def _nobody_can_check(results: Results, language: Language) -> str:
    """What nobody can check and somebody has to be trusted with; empty for devices."""
    own = language.texts.verify
    if results.provenance is Provenance.DEVICES:
        return ""
    if results.provenance is Provenance.SIMULATION:
        return own.simulation
    said = declared(results.different_people, len(results.ids), language.shared)
    return " ".join((own.data_holder, *said))
