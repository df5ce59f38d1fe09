"""The sentences of a report, in English, grouped by the part of the page that they are on.

Another language is another `Texts`: all of its groups with sentences of its own, in which the names
in braces stay. How to add one: docs/developing/add-a-language.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from krand.promise import Assurance
from krand.survey.questions import Kind
from krand.wording.texts import Plural, table

__all__ = [
    "ENGLISH",
    "AnnexTexts",
    "AnswerTexts",
    "BadgeTexts",
    "CardTexts",
    "CollectedTexts",
    "DateTexts",
    "FindingTexts",
    "JointTexts",
    "LabelTexts",
    "NumberTexts",
    "OddsTexts",
    "PageTexts",
    "PromiseTexts",
    "QuestionTexts",
    "Texts",
    "UncertaintyTexts",
    "VerifyTexts",
    "WordTexts",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTexts:
    """The frame of the page: title, lead, navigation, what is wrong, footer."""

    document_title: str = "{survey}: answers of {people} people"
    skip: str = "Skip to the content"
    asked: Plural = Plural(
        "{number} question to {people} people", "{number} questions to {people} people"
    )
    round: str = "round {round} of {rounds}"
    lead: str = "{parts}. {how_noisy}"
    results: str = "Results"
    results_lead: str = (
        "All numbers are estimates, because noise was added to protect people. Each bar shows the"
        " estimated share of all {people} people; the line at its end is the confidence interval of"
        " the true share, at the confidence in the heading. Shown are the possible counts that are"
        " nearest to the raw estimates: none is negative, and answers of which each person gives"
        ' exactly one, "unanswered" included, add up to the number of people.'
    )
    results_lead_sample: str = (
        "All numbers are estimates, because noise was added to protect people. Each bar shows the"
        " estimated share of all {people} people; the line at its end is the confidence interval of"
        " the true share of the population that these people are a sample of, at the confidence in"
        " the heading. Shown are the possible counts that are nearest to the raw estimates: none is"
        ' negative, and answers of which each person gives exactly one, "unanswered" included, add'
        " up to the number of people."
    )
    own_scale: str = "Give each question its own scale"
    contents: str = "Contents"
    all_questions: str = "All {number} questions"
    unreadable: str = "Some results are too uncertain to read"
    unreadable_lead: str = (
        "Their margin of error is above {limit} of the crowd, so they tell nothing. They are grey"
        " below: {names}."
    )
    unreadable_answers: Plural = Plural("its only answer", "{number} of {all} answers")
    unreadable_cells: str = "{number} of {all} cells"
    footer: str = "Written by krand. This page needs no network and no script."


@dataclass(frozen=True, slots=True, kw_only=True)
class DateTexts:
    """The date that a survey's id may hold."""

    months: tuple[str, ...] = (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    )
    day: str = "{day} {month} {year}"
    month: str = "{month} {year}"
    year: str = "{year}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeTexts:
    """Two short labels on top: where the noise came from, and how the promise is known."""

    data_holder: str = "Noise added by the data holder"
    simulation: str = "Simulation: nobody was asked"
    assurance: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "Proven: the promise is a theorem",
            Assurance.OUTLIER: "Not proven: the promise is a conjecture",
        }
    )
    not_kept: str = "The promise was not kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsTexts:
    """The promise on top of the page, as odds of a guess, and what it relies on."""

    nobody: str = "Nobody was asked, so nothing is promised to anybody. In a survey with this plan:"
    guess: str = (
        "Anyone who sees {results} and guesses which of two equally likely sets of answers you gave"
        " is right with a probability of at most {percent}: odds of {odds} to 1, where tossing a"
        " coin gives 1 to 1 ({symbols})."
    )
    these_results: str = "these results"
    all_results: str = "the results of all {rounds} rounds"
    less: str = "This is less than the survey promised."
    known: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "This is proven, whatever everybody else answered.",
            Assurance.OUTLIER: "This is exact for one attack. That no other attack is better is a"
            " conjecture.",
        }
    )
    data_holder: str = "It does not protect against the data holder, who saw all answers."


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingTexts:
    """The main findings; `findings.py` has the rule by which they are chosen."""

    title: str = "Main findings"
    note: str = (
        "Shares of all {people} people; ± is the margin of error ({confidence}). First come the"
        " questions to which the survey gives the most weight, then the clearest answers; the"
        " margins do not take this selection into account."
    )
    note_sample: str = (
        "Shares of the population that {people} people are a sample of; ± is the margin of error"
        " ({confidence}). First come the questions to which the survey gives the most weight, then"
        " the clearest answers; the margins do not take this selection into account."
    )
    answer: str = "{question}: {answer}, {share} ± {margin}"
    median: str = "{question}: median {value}"
    mean: str = "{question}: mean {value} ± {margin}"
    given: str = (
        "{question}: {answer}, {share} ± {margin} of those who answered {given_answer} to"
        " {given_question}"
    )
    none: str = "No answer is clear enough to be a main finding."


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTexts:
    """The key numbers on top."""

    people: str = "People"
    privacy: str = "Privacy"
    kept: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "Proven. The survey's promise was kept.",
            Assurance.OUTLIER: "Not proven. The survey's promise was kept.",
        }
    )
    not_kept: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "Proven. The survey's promise was NOT kept.",
            Assurance.OUTLIER: "Not proven. The survey's promise was NOT kept.",
        }
    )
    precision: str = "Precision"
    margin: str = "± {number} people"
    margin_of: str = "typical margin of error ({confidence}), which is {share} of the crowd"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTexts:
    """Answers that krand names, not the survey."""

    yes: str = "yes"
    no: str = "no"
    unanswered: str = "unanswered"
    no_or_unanswered: str = "no or unanswered"
    below: str = "below {high}"
    above: str = "{low} or above"
    under: str = "{low} to under {high}"
    whole: str = "{low} to {high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTexts:
    """Tables of answers."""

    answer: str = "Answer"
    share: str = "Share"
    people: str = "People"
    interval: str = "{confidence} interval"
    ends: str = "{low} to {high}"
    more: str = "{number} more, less frequent (open them to search with the browser)"
    more_caption: str = "{caption}: less frequent"
    left_out: str = (
        "{number} more are in the results file; {command} writes all of them as a table."
    )
    unreadable: str = "too uncertain to read"
    rounded: str = "Because of rounding, the shares shown add up to {sum}."
    raw_counts: str = "Raw counts"
    raw_lead: str = "Raw counts of every question, before they are made possible counts"
    raw_count: str = "Raw count"
    raw_caption: str = (
        "Raw counts of {question}: unbiased estimates, correct on average over the noise; they may"
        " be negative or above the crowd"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTexts:
    """Questions: what each kind is called, and notes below its answers."""

    kinds: Mapping[Kind, str] = table(
        {
            Kind.YES_NO: "yes or no",
            Kind.CHOICE: "one answer of a list",
            Kind.PICK_ANY: "any of a list",
            Kind.NUMBER: "a number, known by its range",
            Kind.SCALE: "a value on a scale",
            Kind.WORDS: "free words, looked for on a list",
        }
    )
    caption: str = "{question}: {kind}"
    caption_many: str = "{question}: {kind}; the most frequent of {number}"
    histogram: str = (
        "Each range is one bar, however wide it is; the bar's length is the share of people."
    )
    diverging: str = (
        "In the bar on top, answers below the middle of the scale are on the left, those above it"
        " on the right."
    )
    only_yes: str = 'Only "yes" was counted: "no" and "no answer" cannot be told apart.'
    picks: str = "Picks per person on average: {picks}."


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTexts:
    """Questions about numbers: their distribution."""

    answered: str = "Among the {number} people who answered: {quantiles}."
    quantile: str = "{part} {value}"
    parts: Mapping[float, str] = table(
        {0.25: "lower quartile", 0.5: "median", 0.75: "upper quartile"}
    )
    other_part: str = "{percent} quantile"
    open_value: str = "a value in an open-ended range"
    mean: str = "The mean is {mean}."
    with_interval: str = "{value} ({interval})"
    ends: str = "{low} to {high}"
    or_more: str = "{low} or more"
    or_less: str = "{high} or less"
    anything: str = "anything"
    cdf: str = "How many are below each edge"
    cdf_caption: str = "{question} below each edge, as a share of those who answered"
    cdf_number: str = "Number"
    cdf_edge: str = "below {edge}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTexts:
    """Questions about free words."""

    not_decoded: str = "Not decoded: words are found with a list of candidates, {command}."
    one_of_several: str = ", or "
    found: Plural = Plural(
        "{number} of {all} words on the list was found; on average at most {rate} of the words"
        " found were named by nobody (false discovery rate).",
        "{number} of {all} words on the list were found; on average at most {rate} of the words"
        " found were named by nobody (false discovery rate).",
    )
    limit: str = (
        "Limit of detection: a word that {number} people named is found with a probability of"
        " {confidence}."
    )
    no_limit: str = "Limit of detection: none; with this noise no word can be found."
    named: str = (
        "About {number} words were named in all, of which {unexplained} are not among those found."
    )
    all_found: str = (
        "About {number} words were named in all; as far as the noise tells, those found are all of"
        " them."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTexts:
    """Questions seen together."""

    title: str = "How answers relate"
    lead: str = (
        "Every cell shows the estimated number of people and its interval. The stronger the colour"
        " of a cell, the more people. Raw counts are in the results file."
    )
    legend: str = "People:"
    given: str = 'Shares: "{question}" by the answer to "{given}"'
    given_caption: str = (
        "The answers to {question} among those who gave each answer to {given} and answered both,"
        " in percent, with {confidence} confidence intervals"
    )
    nobody: str = "nobody"
    table: str = "Table {title}"
    one_table: str = "Table {title} {number}"
    caption: str = "People, with {confidence} confidence intervals"
    caption_many: str = (
        "People, with {confidence} confidence intervals; the most frequent answers of {sizes}"
    )
    caption_of: str = "{chosen}. {caption}"
    chosen: str = "{question} = {answer}"
    ends: str = "{low} to {high}"
    drowns: str = (
        "Single cells tell little here: a cell has {average} people on average, and a margin of"
        " error of ± {margin}."
    )
    only_two: str = "Independence is tested for two questions only."
    not_tested: str = (
        "Independence was not tested: there are too few answers, too many cells, or too much noise"
        " in them."
    )
    related: str = "The answers to the two questions are related."
    perhaps: str = "There is weak evidence that the answers to the two questions are related."
    unrelated: str = "Nothing here shows that the answers to the two questions are related."
    test: Plural = Plural(
        "{verdict} If they were independent, a table at least as uneven as this one would occur"
        " with a probability of {chance} (chi-square {statistic}, {degrees} degree of freedom,"
        " noise taken into account).",
        "{verdict} If they were independent, a table at least as uneven as this one would occur"
        " with a probability of {chance} (chi-square {statistic}, {degrees} degrees of freedom,"
        " noise taken into account).",
    )
    less_than: str = "less than {number}"
    left_out: str = "Left out, because nobody seems to have given them: {answers}."
    first_only: str = "Only the first {number} tables are shown; the results file has them all."


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseTexts:
    """What is promised, to whom, and where it ends."""

    title: str = "What is promised, and to whom"
    broken: str = "The promise was not kept"
    broken_why: str = (
        "The survey promised its participants {asked} at ε = {epsilon}. For the crowd that took"
        " part, only {had} can be shown. These results give participants less than they were"
        " promised."
    )
    broken_refused: Plural = Plural(
        "The survey promised its participants {asked} at ε = {epsilon}. For the crowd that took"
        " part and {number} refused message, only {had} can be shown. These results give"
        " participants less than they were promised.",
        "The survey promised its participants {asked} at ε = {epsilon}. For the crowd that took"
        " part and {number} refused messages, only {had} can be shown. These results give"
        " participants less than they were promised.",
    )
    not_kept: str = "{not_kept} {why} This is what can be promised:"
    not_kept_short: str = "Not kept."
    to_people: str = "This is promised to each of the {people} people who took part."
    to_batches: str = (
        "This is promised to each of the {people} people who took part, who were mixed in batches"
        " of at least {crowd}."
    )
    to_nobody: str = (
        "Nobody was asked. In a survey, this would be promised to each of {people} people."
    )
    to_nobody_batches: str = (
        "Nobody was asked. In a survey, this would be promised to each of {people} people, who were"
        " mixed in batches of at least {crowd}."
    )
    to_table: str = (
        "This is promised to each of the {people} people in the data. It protects against"
        " everybody who sees the responses or these results, but not against the data holder,"
        " who saw all answers."
    )
    to_tables: str = (
        "This is promised to each of the {people} people in the data, who were randomized in tables"
        " of at least {crowd}. It protects against everybody who sees the responses or these"
        " results, but not against the data holder, who saw all answers."
    )
    lead: str = (
        "If you had given any other answers, the probability of anything that the analyst"
        " can see{rounds} would change by a factor of at most {factor}, {slack}."
    )
    lead_table: str = (
        "If you had given any other answers, the probability of anything that can be seen in"
        " the responses and the results{rounds} would change by a factor of at most {factor},"
        " {slack}."
    )
    rounds: str = " in all {rounds} rounds together"
    slack_delta: str = "plus at most δ = {delta}"
    slack_eta: str = "except with probability η = {eta}"
    symbols: str = "In symbols"
    odds: str = "In odds"
    odds_text: str = (
        "Somebody who considers two ways in which you may have answered equally likely may"
        " afterwards consider one of them more likely than the other by a factor of at most"
        " {factor}. The probability of more than that is at most η = {eta}."
    )
    known: str = "How we know"
    known_text: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "Proven: this is a theorem. It holds whatever everybody else"
            " answered and whatever the analyst knew before. Method: {method}.",
            Assurance.OUTLIER: "Not proven: computed exactly for one attack, on a person whose"
            " answers differ from those of a crowd in which everybody else answers alike. That no"
            " other crowd is worse for anybody is a conjecture, not a theorem. Method: {method}.",
        }
    )
    colluding: str = "Colluding participants"
    data_holder: str = "The data holder"
    data_holder_text: str = (
        "The data holder saw every answer before noise was added. Nothing here protects against"
        " the data holder, or against anybody to whom it shows the answers."
    )
    false_answers: str = "False answers"
    false_answers_text: str = "Somebody who answered falsely changed a count by at most 1 person."
    refused: str = "Refused messages"
    none_refused: str = "None: every message could be read."
    coalitions: str = "What remains if others work with the analyst"
    coalitions_form: str = (
        "People who answer on a web page also rely on whoever serves it, who could replace its"
        " code."
    )
    coalitions_caption: str = "What remains for each participant"
    working_together: str = "Working together"
    remains: str = "What remains"
    remains_symbols: str = "In symbols"
    whole_promise: str = "the whole promise"
    weaker_promise: str = "a weaker promise"
    relies_on: str = "What it relies on"
    liars: str = "What a dishonest person could have done"
    liars_lead: Plural = Plural(
        "Nobody can look into a device. One dishonest person could have changed the count of an"
        " answer by at most this many people:",
        "Nobody can look into a device. {number} dishonest people could have changed the count of"
        " an answer by at most this many people:",
    )
    liars_caption: str = "The most by which a count could be off"
    question: str = "Question"
    too_high: str = "Too high by"
    too_low: str = "Too low by"
    every_question: str = "every question"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyTexts:
    """How much of the uncertainty is privacy noise."""

    title: str = "How much of the uncertainty is privacy noise"
    crowd: str = (
        "The intervals in this report are about the crowd itself, these {people} people: for them,"
        " the noise is the only source of uncertainty. If the crowd were a random sample of a far"
        " larger population, sampling would add what the table shows, and the intervals for that"
        " population would be wider. People who decided by themselves to take part are not a random"
        " sample."
    )
    sample: str = (
        "The shares in this report are about {population}, of which the crowd of {people} is"
        " assumed to be a random sample. Intervals of shares cover both noise and sampling, those"
        " of counts only the noise. People who decided by themselves to take part are not a random"
        " sample."
    )
    chosen_end: str = (
        "The survey releases results while it goes on. If somebody looked at them to decide when it"
        " ended, the stated confidence does not hold."
    )
    unlimited: str = "an unlimited population"
    population: str = "{number} people"
    legend: str = (
        "Bars show how the variance divides: {noise_key} privacy noise, {sampling_key} sampling."
    )
    table: str = "Table of noise and sampling"
    caption: str = (
        "The most frequent answer to each question: standard errors of its count, in people"
    )
    question: str = "Question"
    answer: str = "Answer"
    people: str = "People"
    noise: str = "From noise"
    sampling: str = "From sampling"
    both: str = "Both"
    part: str = "Share of the noise"
    count_and_share: str = "{number} ({percent})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedTexts:
    """How the answers were collected."""

    title: str = "How it was collected"
    sent: str = "What was sent"
    handed_on: str = "What was handed on"
    noise: str = "Noise"
    question: str = "Question"
    positions: str = "Positions"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyTexts:
    """How to verify it."""

    title: str = "How to verify it"
    lead: str = (
        "This page shows what the results file says. Anybody who has the file can check it with"
        " krand, on any machine and without a network:"
    )
    what: str = (
        "It computes the promise again, for exactly the noise of the plan and the crowd that took"
        " part, and every standard error, share and interval again from the counts. It checks that"
        " the plan inside has the hash below, that precision and messages follow from the noise,"
        " that the crowd is as large as planned, and that the promise is as good as the survey's."
        " With {plan_option}, the plan that participants were shown, it checks that the plan inside"
        " is the same. With the tally, {tally_command} computes all results again. A check that"
        " needs a file or a key that is not there is shown as not checked. {rest}"
    )
    recount: str = "The messages can be counted again only with the analyst's private key."
    recount_table: str = "The responses can be counted again by whoever has them."
    signed: str = (
        "These parties say that they counted, and signed the counts. Compare the fingerprints of"
        " their keys with those that they publish themselves; with their keys, {command} checks the"
        " signatures."
    )
    signer: str = "{name}, key {fingerprint}"
    unsigned: str = (
        "Nobody signed the counts, so there is only the word of whoever counted; {command} lets a"
        " second party count again and sign."
    )
    simulation: str = "There is nothing else to check: the people are simulated."
    data_holder: str = (
        "No file can show that the data holder randomized as the plan says, and everybody's answers"
        " only once: for that there is only the data holder's word."
    )
    plan: str = "Plan"
    files: Plural = Plural("File of responses, by SHA-256", "Files of responses, by SHA-256")
    batches: Plural = Plural("Batch, by SHA-256", "Batches, by SHA-256")
    no_batches: str = "none named"
    more_batches: str = "and {number} more in the results file"
    computed_by: str = "Computed by"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnexTexts:
    """What only some readers need, folded at the end of the page."""

    title: str = "Technical annex"
    summary: str = "How it was collected, noise and uncertainty, raw counts, files and versions"
    files: str = "Files and versions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All sentences of a report in one language."""

    page: PageTexts
    date: DateTexts
    badges: BadgeTexts
    odds: OddsTexts
    findings: FindingTexts
    cards: CardTexts
    labels: LabelTexts
    answers: AnswerTexts
    questions: QuestionTexts
    numbers: NumberTexts
    words: WordTexts
    joint: JointTexts
    promise: PromiseTexts
    uncertainty: UncertaintyTexts
    collected: CollectedTexts
    verify: VerifyTexts
    annex: AnnexTexts


ENGLISH = Texts(
    page=PageTexts(),
    date=DateTexts(),
    badges=BadgeTexts(),
    odds=OddsTexts(),
    findings=FindingTexts(),
    cards=CardTexts(),
    labels=LabelTexts(),
    answers=AnswerTexts(),
    questions=QuestionTexts(),
    numbers=NumberTexts(),
    words=WordTexts(),
    joint=JointTexts(),
    promise=PromiseTexts(),
    uncertainty=UncertaintyTexts(),
    collected=CollectedTexts(),
    verify=VerifyTexts(),
    annex=AnnexTexts(),
)
