"""What is said about plans, by the planner and by commands: the room `plans`, plan_texts.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from krand.languages.speaking import Spoken
from krand.wording.texts import Plural, read_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTexts:
    """A plan, compared with its alternatives."""

    promise: str
    promise_of_mixers: str
    no_honest_mixer: str
    one_mixer: Plural
    all_mixers: Plural
    one_party: Plural
    all_parties: Plural
    promise_to_readers: str
    if_crowd: str
    if_noise: str
    reader_helpers: Plural
    however_few: str
    slack_delta: str
    slack_eta: str
    helpers: Plural
    cells_of: str
    above_limit: str
    drowned_cells: str
    unreadable: str
    by_group: str
    smallest_group: str
    group_mean: str
    groups_needed: str
    margins_of_devices: str
    margins_of_mixers: str
    no_shares: str
    asked_least: str
    asked_half: str
    each_cell: str
    each_position: str
    alone: str
    languages: str
    survey_title: str
    survey_columns: tuple[str, str, str, str]
    division: str
    division_of_mixers: str
    mixed_columns: tuple[str, str, str, str]
    by_devices: str
    by_mixers: Plural
    this_one: str
    trusted: Plural
    rests_on_crowd: str
    rests_on_mixers: Plural
    rests_on_curator: str
    alternatives_title: str
    alternatives_columns: tuple[str, str, str, str, str, str, str]
    under_one_promise: Plural
    option_devices: str
    option_mixers: str
    none: str
    not_before: str
    not_below: str
    any_number: str
    curator: str
    between: str
    how_known: str
    trusted_holder: Mapping[str, str]
    if_they_collude: str
    coalitions_title: str
    coalitions_columns: tuple[str, str]
    margin: str
    guess: str
    results: str
    only_results: str
    rounds: str
    period: str
    guess_always: str
    people: str
    half_width: str
    promise_delta: str
    promise_eta: str
    dishonest_can: str
    dishonest_could_have: str
    whole_people: Plural
    against_curator: str
    times_as_large: str
    higher: str
    lower: str


@cache
def plan_texts_in(language: str) -> PlanTexts:
    """The sentences in a language that has all of them."""
    name = "plan_texts.toml"
    return read_texts(PlanTexts, "krand.wording", name, room="plans", language=language)


PLANS = cast(PlanTexts, Spoken(plan_texts_in))
"""Those of the language that is spoken now."""
