"""The sentences that the planner puts together; all others are in its templates.

Names in braces are filled in. Another module of the planner has no sentences of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from krand.wording.texts import Plural, table

__all__ = [
    "TEXTS",
    "AdviceTexts",
    "AskedTexts",
    "FactTexts",
    "FieldTexts",
    "PlannerTexts",
    "RecipeTexts",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTexts:
    """Labels and hints of fields, by their names; of the experts' page and of the first one."""

    labels: Mapping[str, str] = table(
        {
            "people": "People that you ask",
            "rate": "Percent who answer, at least",
            "topic": "About",
            "questions": "Questions, one on each line",
            "noise": "Who adds the noise",
            "mixers": "Mixers",
            "epsilon": "ε",
            "delta": "δ",
            "eta": "η",
            "crowd": "Crowd",
            "bits": "Questions",
            "max_set_bits": 'Maximum "yes" answers per person',
            "copies": "Copies",
            "promise": "Promise",
            "linkage": "What is sent together",
            "assurance": "How we know",
        }
    )
    hints: Mapping[str, str] = table(
        {
            "people": "for example 800, 5k or 5M",
            "rate": "if fewer answer, nothing is released",
            "topic": "the title that people see",
            "questions": "Write the choices after the question mark, with commas between them."
            " Without choices it is a yes/no question.",
            "mixers": "parties that pass the responses on; the collector is the first",
            "epsilon": "e^ε bounds the privacy ratio",
            "delta": "probability that is added to the bound",
            "eta": "probability that the ratio may exceed e^ε",
            "crowd": "number of participants, for example 10M, 1e7 or 10_000_000",
            "bits": "yes/no facts about each person",
            "max_set_bits": "empty: no limit",
            "copies": "noisy copies per person",
        }
    )
    first_labels: Mapping[str, str] = table(
        {"epsilon": "Protection ε", "delta": "Remaining risk δ"}
    )
    first_hints: Mapping[str, str] = table(
        {
            "epsilon": "smaller protects more, and makes results less precise; 1 is strong,"
            " 5 is weak",
            "delta": "should be far below 1 divided by the number of people",
        }
    )
    options: Mapping[str, str] = table(
        {
            "promise-delta": "ε with δ",
            "promise-eta": "ε with η",
            "linkage-bit": "each bit separately",
            "linkage-record": "the whole record",
            "assurance-certified": "proven",
            "assurance-outlier": "not proven: exact for the drafts' attack",
        }
    )
    slider: str = "{label}, slider"
    no_limit: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTexts:
    """The form of the first page: presets, rules, and the survey file that it becomes."""

    presets: Mapping[str, str] = table(
        {
            "staff": "Staff survey of 800",
            "clinic": "Clinic of 5,000",
            "app": "App of 5 million",
        }
    )
    topics: Mapping[str, str] = table(
        {
            "staff": "work and workload",
            "clinic": "care after an operation",
            "app": "how the app is used",
        }
    )
    questions: Mapping[str, str] = table(
        {
            "staff": "How satisfied are you with your work? very, rather, hardly, not at all\n"
            "Is your workload too high?\n"
            "Do you want to work here in two years?",
            "clinic": "How strong is your pain today? none, weak, medium, strong\n"
            "Do you take painkillers?\n"
            "Did you drink alcohol this week?\n"
            "Which care do you need at home? none, a visit a week, a visit a day, more",
            "app": "Which device do you use? phone, tablet, desktop, television\n"
            "Did the app crash this week?\n"
            "Is location switched on?\n"
            "How often did you open it this week? never, once, daily, more often",
        }
    )
    yes: str = "yes"
    file_comment: str = "# Planned with krand web. docs/reference/survey-file.md explains the file."
    must_be_given: str = "must be given"
    for_example: str = "for example {example}"
    one_of: str = "must be one of {words}"
    between: str = "must be above 0 and at most {most}"
    people_rule: str = "must be a whole number from 2 to {most}"
    too_few: str = "must be high enough that at least 2 people answer"
    mixers_rule: str = "must be a whole number from 1 to {most}"
    percent_rule: str = "must be a number from 1 to 100"
    longest: str = "must have at most {most} characters"
    most_questions: str = "must be at most {most} lines"
    two_choices: str = "must have at least two choices, or none for a yes/no question"
    question_hint: str = "for example: How are you? well, fair, badly"
    too_many_here: str = "must be at most {most} on this page"
    more_allowed: str = "the command line allows more"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTexts:
    """Titles and notes of numbers."""

    of_crowd: str = "{percent} of the crowd"
    noise: str = "Noise q"
    sigma: str = "σ of a count"
    people: str = "people"
    bytes: str = "Each person sends"
    bytes_value: str = "{number} bytes"
    sealed: Plural = Plural("in {number} sealed message", "in {number} sealed messages")
    collusion: str = "If collector and analyst collude"
    local: str = "ε₀ = {epsilon}"
    proven_delta: str = "Proven δ"
    eta: str = "η = {eta}"
    krand: str = "krand"
    rappor: str = "RAPPOR at the same ε"
    curator: str = "trusted curator"
    krand_note: str = "q = {noise}"
    rappor_note: str = "no collector to trust, q = {noise}"
    curator_note: str = "sees all raw answers, adds {noise} noise: {gap}"
    width: str = "± {number} people"
    at_most: str = "at most {width}"
    noise_q: str = "noise q"
    noise_sigma: str = "noise σ"
    density: str = "Density of the privacy ratio R, with the promised limit"
    frontier: str = "σ of an estimated count against the bytes that each person sends"
    said_quick: str = "At most {width}. Searching for the least noise …"
    said: str = "Typical margin of error: {width}."
    said_refused: str = "This promise is not possible."
    said_invalid: str = "A value is invalid."
    quick_delta: str = (
        "Proven: noise with this precision keeps ε = {epsilon} and δ = {limit}"
        " (its own δ is at most {bound})."
    )
    quick_eta: str = (
        "Proven: noise with this precision keeps ε = {epsilon} and η = {limit}"
        " (its own η is at most {bound})."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceTexts:
    """Changes of a survey, and what they do."""

    more_people: str = "{number} people answer instead of {before}"
    epsilon: str = "ε = {number} instead of {before}"
    delta: str = "δ = {number} instead of {before}"
    fewer_options: str = "“{question}” has {number} choices instead of {before}"
    fewer_questions: str = "leave out “{question}”"
    mixers: Plural = Plural(
        "the collector adds the noise, not the devices", "{number} mixers add the noise"
    )
    devices: str = "the devices add the noise, not the mixers"
    weight: str = "give “{question}” the weight {number}"
    weighted: str = "{first}; other questions up to {others}"
    impossible: str = "hardly more than noise"
    margin: str = "{people} ({percent})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeTexts:
    """Comments of the script and of the notebook."""

    script: str = (
        "Runs the survey on a table of answers: plan, noise, counts, estimates, report.\n\n"
        "    python run_survey.py answers.csv\n\n"
        "Each row of the CSV or Parquet file is a person, each column a question:\n{columns}.\n"
        "Without a file, simulated people answer."
    )
    notebook: str = (
        "# {title}\n\nRuns the survey on a table of answers: plan, noise, counts, estimates,"
        " report.\nEach row of a CSV or Parquet file, or of a data frame, is a person, each column"
        " a question: {columns}.\nSet `ANSWERS` to it. With `None`, simulated people answer."
    )
    plan: str = "The least noise that keeps the promise."
    answers: str = "Simulated people if there is no table."
    randomize: str = "Noise is added once. A ledger refuses a second time for the same people."
    results: str = "Counts, estimates with intervals, and the report."
    devices_only: str = "must be the devices' for a table: mixers add noise to sealed messages"
    devices_hint: str = "choose the devices, or collect with krand serve and krand mix"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTexts:
    """All groups."""

    fields: FieldTexts = FieldTexts()
    asked: AskedTexts = AskedTexts()
    facts: FactTexts = FactTexts()
    advice: AdviceTexts = AdviceTexts()
    recipes: RecipeTexts = RecipeTexts()


TEXTS = PlannerTexts()
"""The planner speaks English."""
