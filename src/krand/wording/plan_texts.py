"""The sentences about plans, which the planner and commands show in English alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from krand.promise import Assurance
from krand.wording.texts import Plural, table

__all__ = ["PLANS", "PlanTexts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTexts:
    """A plan, compared with its alternatives."""

    promise: str = (
        "If at least {crowd} people take part, changing your answers changes the probability of"
        " anything the analyst can see{rounds} by a factor of at most {factor}, {slack}"
        " ({how_known}).{helpers} {if_they_collude}."
    )
    promise_of_flips: str = (
        "Devices add noise too. If at least {crowd} people take part, this noise alone promises the"
        " same factor against the analyst, {slack}.{helpers} If {all_mixers} and the analyst work"
        " together, {remains} (ε₀ = {epsilon})."
    )
    promise_of_mixers: str = (
        "{one_mixer}, changing your answers changes the probability of anything that all others"
        " together can see{rounds} by a factor of at most {factor}, {slack} ({how_known})."
        " {however_few}"
    )
    no_honest_mixer: str = (
        " If {all_mixers} and the analyst work together, nothing protects your answers."
    )
    one_mixer: Plural = Plural(
        "If the collector is honest", "If at least one of the {number} mixers is honest"
    )
    all_mixers: Plural = Plural("the collector", "all {number} mixers")
    however_few: str = "It holds however few people take part and however many of them collude."
    slack_delta: str = "plus at most δ = {delta}"
    slack_eta: str = "except with probability η = {eta}"
    helpers: Plural = Plural(
        " It holds even if {number} of them colludes with the analyst.",
        " It holds even if {number} of them collude with the analyst.",
    )
    cells_of: str = "cells of {block}"
    above_limit: str = "{names} (the margin of error would be above {limit} of the people)"
    drowned_cells: str = "{cells} ({margin} where a cell has {average} on average)"
    unreadable: str = (
        "too noisy to use: {parts}; ask more people or fewer questions, or allow a larger epsilon"
        " or delta"
    )
    margins_of_devices: str = (
        "Margins of error are for the {people} people who are expected; devices' noise grows with"
        " the square root of their number."
    )
    margins_of_mixers: str = (
        "Shares are of the {people} people who are expected; mixers' noise is the same however many"
        " come."
    )
    no_shares: str = (
        "How many people will come is not known: say expected = … in the survey file to see margins"
        " as shares of them."
    )
    batches_of: str = "A batch is released whenever {people} more people have come."
    chosen_end: str = (
        "Say beforehand when the survey ends: if you look at the results of earlier batches to"
        " decide it, the 95 % no longer hold."
    )
    each_cell: str = " per cell"
    each_position: str = " per position"
    alone: str = "  {question} alone"
    survey_title: str = "{survey}: expected precision"
    survey_columns: tuple[str, str, str, str] = ("question", "type", "positions", "noise q")
    division: str = (
        "The noise is divided so that its variance pq/(p-q)² grows with √(t/w), where t is the"
        " number of bits that one person can change and w is the weight of the question."
    )
    division_of_mixers: str = (
        "The noise is divided so that its variance grows with a power of t/w, where t is the number"
        " of positions that one person can change and w is the weight of the question. The dummies"
        " in the table are those that each mixer adds to one position, on average."
    )
    division_of_dummies: str = (
        "The variance of dummies grows with a power of t/w. The dummies in the table are those that"
        " each mixer adds to one position, on average."
    )
    mixed_columns: tuple[str, str, str, str] = ("question", "type", "positions", "dummies")
    both_columns: tuple[str, str, str, str] = ("question", "type", "positions", "noise q, dummies")
    both_amount: str = "{noise}, {dummies}"
    sources_title: str = (
        "who adds the noise, with the same promise (messages and bytes per person, dummies per"
        " mixer and batch)"
    )
    sources_columns: tuple[str, str, str, str, str, str] = (
        "noise of",
        "± people (95 %)",
        "messages",
        "bytes",
        "dummies",
        "rests on",
    )
    by_devices: str = "devices"
    by_mixers: Plural = Plural("{number} mixer", "{number} mixers")
    by_both: Plural = Plural("devices and {number} mixer", "devices and {number} mixers")
    this_one: str = "{option} (this plan)"
    trusted: Plural = Plural("collector", "1 of {number} mixers")
    rests_on_crowd: str = "{honest} people and the collector"
    rests_on_mixers: Plural = Plural("the collector", "one of the mixers")
    rests_on_either: str = "{one}; or {other}"
    option_devices: str = "each person's device"
    option_mixers: str = "the mixers"
    option_both: str = "both"
    noise_q: str = "noise q"
    noise_sigma: str = "noise σ"
    none: str = "none"
    any: str = "any number"
    at_least: str = "at least {crowd}"
    not_before: str = "nothing is released before"
    not_below: str = ", but nothing is released below {crowd}"
    any_number: str = "the promise holds for any number of people"
    shares_of: str = "; the percentages are of {people}"
    crowd_of_both: str = "for the promise of the devices; that of the mixers needs no crowd"
    needed_by_both: str = "for the promise of the devices; that of the mixers holds for any number"
    flipped: str = "flipped every bit with probability q = {noise}"
    flipped_nothing: str = "added no noise"
    instead: str = (
        'With noise = "mixers" in [trust] no crowd is needed, only one honest mixer. The margin of'
        " error (95 %) would be {options}."
    )
    instead_option: str = "± {widths} people with {mixers}"
    methods_title: str = "other methods with the same promise"
    methods_columns: tuple[str, str, str, str, str] = (
        "method",
        "± people (95 %)",
        "ε₀",
        "messages",
        "note",
    )
    this_plan: str = "this plan"
    one_copy: str = "whole records, one copy"
    several_copies: str = "whole records, {copies} copies"
    outlier: str = "with a promise that is not proven"
    bits: str = "each bit separately"
    rappor: str = "RAPPOR"
    rappor_note: str = "no collector to trust, q = {noise}"
    curator: str = "trusted curator"
    curator_note: str = "sees all raw answers, adds {noise} noise"
    not_possible: str = "not possible"
    between: str = "{best} to {worst}"
    assurances: Mapping[Assurance, str] = table(
        {
            Assurance.CERTIFIED: "proven, whatever the other participants answer",
            Assurance.OUTLIER: "not proven: exact for the attack analysed in the drafts,"
            " otherwise a conjecture",
        }
    )
    trusted_holder: Mapping[str, str] = table(
        {
            "devices": "",
            "table": "A data holder saw all answers and randomized them. The promise is about what"
            " others can learn from the responses or these results, not about the data holder.",
            "simulation": "Nobody was asked: people and answers are simulated, so there is no"
            " promise to anybody.",
        }
    )
    if_they_collude: str = "If collector and analyst collude, {said} (ε₀ = {epsilon})"
    coalitions_title: str = "what protects a person if others work together"
    coalitions_columns: tuple[str, str] = ("working together", "what remains")
    margin: str = "typical margin of error (95 %)"
    guess: str = (
        "Anyone who sees the results{rounds} and guesses which of two equally likely sets of"
        " answers you gave is right at most {right} times in {of}; tossing a coin, {half} times."
    )
    rounds: str = " in all {rounds} rounds together"
    guess_always: str = (
        "Anyone who sees the results{rounds} may be able to tell what you answered: this survey's"
        " noise is too small to hide it."
    )
    people: str = "± {number} people"
    half_width: str = "{margin} {people} ({percent})"
    promise_delta: str = (
        "Changing one person's answers changes the probability of anything the analyst can see by"
        " a factor of at most {factor}, plus at most δ = {delta}."
    )
    promise_eta: str = (
        "Changing one person's answers changes the probability of what the analyst sees by a"
        " factor of at most {factor}, except with probability η = {eta}."
    )
    liars_can: Plural = Plural(
        "One dishonest client can raise the count of an answer by at most {high} ({name}), or"
        " lower a count by at most {low}.",
        "{number} dishonest clients together can raise the count of an answer by at most {high}"
        " ({name}), or lower a count by at most {low}.",
    )
    liars_could_have: Plural = Plural(
        "One dishonest client could have raised the count of an answer by at most {high} ({name}),"
        " or lowered a count by at most {low}.",
        "{number} dishonest clients together could have raised the count of an answer by at most"
        " {high} ({name}), or lowered a count by at most {low}.",
    )
    whole_people: Plural = Plural("{number} person", "{number} people")
    against_curator: str = "a trusted curator ({noise} noise) would reach σ = {sigma}; {gap}"
    times_as_large: str = "krand's σ is {ratio} times as large"
    higher: str = "krand's σ is {percent} higher"
    lower: str = "krand's σ is {percent} lower"


PLANS = PlanTexts()
