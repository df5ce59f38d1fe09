"""What the planner puts together, in English alone: texts.toml; the rest is in its templates.

Names in braces are filled in. Another module of the planner has no sentences of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from krand.wording.texts import Plural, read_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTexts:
    """Labels and hints of fields, by their names; of the experts' page and of the first one."""

    labels: Mapping[str, str]
    hints: Mapping[str, str]
    first_labels: Mapping[str, str]
    first_hints: Mapping[str, str]
    options: Mapping[str, str]
    slider: str
    no_limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormTexts:
    """The form of the first page: presets, rules, and the survey file that it becomes."""

    presets: Mapping[str, str]
    topics: Mapping[str, str]
    questions: Mapping[str, str]
    yes: str
    no: str
    file_comment: str
    must_be_given: str
    for_example: str
    one_of: str
    between: str
    people_rule: str
    too_few: str
    mixers_rule: str
    percent_rule: str
    longest: str
    most_questions: str
    two_choices: str
    question_hint: str
    too_many_here: str
    more_allowed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTexts:
    """Titles and notes of numbers."""

    of_crowd: str
    noise: str
    sigma: str
    people: str
    bytes: str
    bytes_value: str
    sealed: Plural
    collusion: str
    local: str
    proven_delta: str
    eta: str
    krand: str
    rappor: str
    krand_note: str
    width: str
    at_most: str
    noise_q: str
    noise_sigma: str
    density: str
    frontier: str
    said_quick: str
    said: str
    said_refused: str
    said_invalid: str
    quick: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceTexts:
    """Changes of a survey, and what they do."""

    more_people: str
    epsilon: str
    delta: str
    fewer_options: str
    fewer_questions: str
    mixers: Plural
    devices: str
    counts: Mapping[str, str]
    weight: str
    weighted: str
    impossible: str
    margin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeTexts:
    """Comments of the script and of the notebook."""

    script: str
    notebook: str
    plan: str
    answers: str
    randomize: str
    results: str
    devices_only: str
    devices_hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTexts:
    """All groups."""

    fields: FieldTexts
    form: FormTexts
    facts: FactTexts
    advice: AdviceTexts
    recipes: RecipeTexts


TEXTS = read_texts(PlannerTexts, "krand.web", "texts.toml")
"""The planner speaks English."""
