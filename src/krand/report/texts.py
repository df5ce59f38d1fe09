"""What a report says, by the part of the page: the names of its sentences.

The English sentences are in `texts_en.toml`, those of other languages in the catalogs of
`krand.languages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from krand.analysis.estimates.values import Base
from krand.survey.questions import Kind
from krand.wording.texts import Plural


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTexts:
    """The frame of the page: title, lead, navigation, what is wrong, footer."""

    document_title: str
    skip: str
    asked: Plural
    round: str
    lead: str
    results: str
    results_lead: str
    results_lead_sample: str
    results_none: str
    contents: str
    all_questions: str
    unreadable: str
    unreadable_answers: Plural
    unreadable_cells: str
    footer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DateTexts:
    """The date that a survey's id may hold."""

    months: tuple[str, ...]
    day: str
    month: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeTexts:
    """Two short labels on top: where the noise came from, and how the promise is known."""

    data_holder: str
    simulation: str
    proven: str
    not_kept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsTexts:
    """The promise on top of the page, as the chance of a guess, and what it relies on."""

    title: str
    nobody: str
    guess: str
    always: str
    only: str
    these_results: str
    all_results: str
    period_results: str
    coin: str
    at_most: str
    certain: str
    less: str
    proven: str
    data_holder: str
    in_symbols: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GlanceTexts:
    """A line for each question; `findings.py` has the rules by which they are written."""

    title: str
    note: str
    note_sample: str
    answered: str
    left_out: str
    answer: str
    close: str
    among: Mapping[Base, str]
    median: str
    given: str
    none_found: str
    not_decoded: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTexts:
    """The key numbers on top."""

    people: str
    simulated: str
    participation: str
    points: str
    margin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTexts:
    """Answers that krand names, not the survey."""

    yes: str
    no: str
    unanswered: str
    not_asked: str
    no_or_unanswered: str
    below: str
    above: str
    under: str
    whole: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTexts:
    """Tables of answers."""

    answer: str
    share: str
    interval: str
    ends: str
    more: str
    more_caption: str
    left_out: str
    unreadable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTexts:
    """Counts of people, in the annex."""

    title: str
    lead: str
    people: str
    raw: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleTexts:
    """A scale in one line."""

    neither: str
    between: str
    very: str
    """What makes "satisfied" the strongest answer; it is left out where several values are told."""
    of_those: str
    all: str
    mean: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTexts:
    """Questions: what each kind is called, and notes below its answers."""

    kinds: Mapping[Kind, str]
    caption: str
    caption_many: str
    caption_end: str
    everybody: str
    histogram: str
    only_yes: str
    picks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTexts:
    """Questions about numbers: their distribution."""

    answered: str
    who_answered: str
    quantile: str
    parts: Mapping[str, str]
    """By the level of the quantile."""
    other_part: str
    open_value: str
    mean: str
    with_interval: str
    ends: str
    or_more: str
    or_less: str
    anything: str
    cdf: str
    cdf_caption: str
    cdf_number: str
    cdf_edge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTexts:
    """Questions about free words."""

    not_decoded: str
    decode: str
    one_of_several: str
    found: Plural
    limit: str
    no_limit: str
    named: str
    all_found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTexts:
    """How answers relate."""

    title: str
    lead: str
    maps_lead: str
    everybody: str
    other: str
    counts: str
    legend: str
    given: str
    given_caption: str
    grey: str
    nobody: str
    points: str
    caption: str
    caption_many: str
    caption_of: str
    chosen: str
    drowns: str
    only_two: str
    not_tested: str
    related: str
    perhaps: str
    unrelated: str
    test: Plural
    less_than: str
    left_out: str
    first_only: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseTexts:
    """What is promised, to whom, and where it ends."""

    title: str
    broken: str
    broken_why: str
    broken_refused: Plural
    not_kept: str
    not_kept_short: str
    to_people: str
    to_nobody: str
    to_table: str
    to_tables: str
    lead: str
    lead_readers: str
    lead_table: str
    rounds: str
    period: str
    slack_delta: str
    slack_eta: str
    odds: str
    odds_text: str
    known: str
    known_text: str
    colluding: str
    organiser: str
    data_holder: str
    data_holder_text: str
    false_answers: str
    false_answers_text: str
    refused: str
    none_refused: str
    coalitions: str
    coalitions_form: str
    coalitions_caption: str
    working_together: str
    remains: str
    remains_symbols: str
    whole_promise: str
    weaker_promise: str
    relies_on: str
    dishonest: str
    dishonest_lead: str
    dishonest_caption: str
    question: str
    too_high: str
    too_low: str
    every_question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedTexts:
    """How the answers were collected."""

    title: str
    sent: str
    handed_on: str
    noise: str
    question: str
    positions: str
    intervals: str
    crowd: str
    sample: str
    unlimited: str
    population: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyTexts:
    """How to verify it."""

    title: str
    lead: str
    what: str
    recount: str
    recount_table: str
    same_tally: str
    simulation: str
    data_holder: str
    plan: str
    files: Plural
    batches: Plural
    no_batches: str
    more_batches: str
    computed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbookTexts:
    """Sheets of a workbook that people read."""

    overview: str
    result: str
    low: str
    high: str
    note: str
    reading: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnexTexts:
    """What only some readers need, folded at the end of the page."""

    title: str
    lead: str
    files: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendTexts:
    """Answers over rounds, on a page of their own or in the report of a round."""

    document_title: str
    lead: str
    missing: Plural
    weaker: str
    title: str
    headline_changed: str
    headline_same: str
    more: Plural
    unchanged: Plural
    rest: Plural
    none: str
    pictures: str
    lines: str
    legend_counted: str
    legend_mean: str
    legend_change: str
    legend_break: str
    scales: str
    now: str
    mean: str
    round_on: str
    round_at: str
    in_round: str
    in_rounds: str
    up: str
    down: str
    latest_up: str
    latest_down: str
    further: str
    turned: str
    more_people: str
    fewer_people: str
    changes: str
    numbers: str
    column_round: str
    column_count: str
    broken: str
    added: str
    removed: str
    added_and_removed: str
    changed: str
    no_answer: Plural
    no_word: Plural
    inexact: str
    inexact_mean: str
    people: str
    people_picture: str
    people_note: str
    how: str
    how_lines: str
    test: str
    promise: str
    promise_sum: str
    noise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All sentences of a report in one language."""

    page: PageTexts
    date: DateTexts
    badges: BadgeTexts
    odds: OddsTexts
    glance: GlanceTexts
    facts: FactTexts
    labels: LabelTexts
    answers: AnswerTexts
    counts: CountTexts
    scales: ScaleTexts
    questions: QuestionTexts
    numbers: NumberTexts
    words: WordTexts
    joint: JointTexts
    promise: PromiseTexts
    collected: CollectedTexts
    verify: VerifyTexts
    annex: AnnexTexts
    workbook: WorkbookTexts
    trend: TrendTexts
