"""The same questions in several results, or in groups of people, compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from krand.analysis.estimates.difference_tests import Laws
from krand.analysis.estimates.intervals import check_confidence
from krand.analysis.estimates.share_differences import (
    Change,
    Difference,
    compare_surveys,
    confidence_of_all,
    difference_row,
    largest_chance,
    largest_quantile,
)
from krand.analysis.estimates.values import Interval, QuestionEstimate
from krand.analysis.group_comparison import Group, compare_pairs, groups_in
from krand.analysis.linked_tables import linked_table
from krand.analysis.results import Results, law_of
from krand.analysis.words.decoding import WordCount, WordsEstimate
from krand.errors import InvalidInput
from krand.survey.kinds.words import normalized

DECLARE = "declare [[together]] in the next survey; these results have no joint table"


@dataclass(frozen=True, slots=True)
class Ordered:
    """Results, the earliest first."""

    results: tuple[Results, ...]
    places: tuple[int, ...]
    """Where each was given."""
    by_round: bool
    """False where rounds do not tell which is earlier: then it is the order in which they were
    given."""

    @property
    def names(self) -> tuple[str, ...]:
        """round 1, round 2, …, or results 1, results 2, … as they were given."""
        if self.by_round:
            return tuple(f"round {results.round}" for results in self.results)
        return tuple(f"results {place + 1}" for place in self.places)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes in every question, and what could not be compared."""

    order: Ordered
    questions: Mapping[str, tuple[Change, ...]]
    """From each of the results to the next; of more than two also from the first to the last. With
    `by`: between any two groups of one of the results, or of each group from results to results."""
    left_out: Mapping[str, str]
    """Questions, words and groups that cannot be compared, with the reason."""
    by: str | None = None
    """The question whose answers are the groups."""


def compare_results(
    results: Sequence[Results],
    questions: Sequence[str] | None = None,
    confidence: float = 0.95,
    by: str | None = None,
) -> Comparison:
    """The difference of each share, later less earlier, with its intervals; by question.

    All questions that the results share, or those that are named. Later is the higher round of one
    survey, or else what is given later. The results must have been randomized independently, for
    example for different rounds.

    With `by`, a question that was declared together with others: the shares of their answers among
    people who gave different answers to it. Of one of the results any two groups are compared; of
    several each group with itself.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_exact_plan
    >>> survey = krand.parse_survey("rounds = 2\\n" + krand.testing.SMALL_SURVEY)
    >>> plan = unsafe_exact_plan(survey)  # without noise
    >>> found = []
    >>> for number in (1, 2):
    ...     people = simulated_table(survey, 100, seed=number)
    ...     _ = krand.randomize_table(plan, people, f"{number}.parquet", round_number=number)
    ...     tally = krand.tally_responses(plan, [f"{number}.parquet"])
    ...     found.append(krand.make_results(plan, tally))
    >>> (change,) = krand.compare_results(found, ["pet"]).questions["pet"]
    >>> print(change.earlier, "to", change.later)
    round 1 to round 2
    >>> for difference in change.differences:
    ...     print(difference.label, round(difference.difference, 2))
    cat 0.09
    dog 0.01
    none -0.08
    """
    if len(results) < (1 if by else 2):
        hint = "by compares groups within one of them"
        raise InvalidInput("results", "must be at least two", len(results), hint)
    order = in_order(results)
    if any(is_of_one_tally(*pair) for pair in combinations(results, 2)):
        hint = "the same results are given twice; leave one of them out"
        raise InvalidInput("results", "must be different ones", None, hint)
    if by:
        return _by_group(order, questions, check_confidence(confidence), by)
    changes: dict[str, tuple[Change, ...]] = {}
    left_out: dict[str, str] = {}
    for name in _asked(order, questions):
        reason = _obstacle(order, name)
        if reason is not None:
            left_out[name] = reason
            continue
        changes[name] = _changes(order, name, confidence)
        left_out |= _strange_words(order, name)
    if not any(change.differences for each in changes.values() for change in each):
        found = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InvalidInput("question", "must be in all results, asked alike", found or "none is")
    return Comparison(order, changes, left_out)


def moved_by_people(before: float, after: float) -> float:
    """The most that a share changes if some people leave, or come, and nobody else does.

    Of N people n leave, or n come to make N: whatever those n answer, a share of all moves by at
    most n/N. If others take the places of some, nothing bounds it, and nobody knows.
    """
    return abs(after - before) / max(before, after)


def campaign_of(results: Results) -> str:
    """What stays the same when a survey is changed: its campaign, or its id."""
    survey = results.plan.survey
    return survey.schedule.campaign if survey.schedule else survey.id


def is_of_one_tally(one: Results, other: Results) -> bool:
    """Whether both have the same noise."""
    return one.tally_sha256 == other.tally_sha256


def in_order(results: Sequence[Results]) -> Ordered:
    """By round where all are different rounds of one survey, else as they are given.

    A survey that was changed goes on counting rounds; without a schedule it keeps its id.
    """
    surveys = {campaign_of(each) for each in results}
    by_round = len(surveys) == 1 and len({each.round for each in results}) == len(results)
    places = sorted(range(len(results)), key=lambda place: results[place].round if by_round else 0)
    return Ordered(tuple(results[place] for place in places), tuple(places), by_round)


def _asked(order: Ordered, questions: Sequence[str] | None) -> list[str]:
    known = [_names(results) for results in order.results]
    if not questions:
        return list(dict.fromkeys(name for names in known for name in names))
    for name in questions:
        if not any(name in names for names in known):
            hint = f"the questions are {', '.join(known[-1])}"
            raise InvalidInput("question", "must be in the results", name, hint)
    return list(dict.fromkeys(questions))


def _names(results: Results) -> list[str]:
    return [*(q.name for q in results.questions), *(w.question for w in results.words)]


def _estimate(results: Results, name: str) -> QuestionEstimate | WordsEstimate | None:
    questions = (q for q in results.questions if q.name == name)
    words = (w for w in results.words if w.question == name)
    return next(questions, None) or next(words, None)


def _obstacle(order: Ordered, name: str) -> str | None:
    """Why a question cannot be compared; None if it can."""
    found = [_estimate(results, name) for results in order.results]
    without = [place for place, each in zip(order.names, found, strict=True) if each is None]
    if without:
        return f"is not in {', '.join(without)}"
    kinds = [each.kind.value if isinstance(each, QuestionEstimate) else "words" for each in found]
    if len(set(kinds)) > 1:
        told = (f"{kind} in {place}" for kind, place in zip(kinds, order.names, strict=True))
        return f"has different types: {', '.join(told)}"
    answers = [
        [row.label for row in each.rows] if isinstance(each, QuestionEstimate) else []
        for each in found
    ]
    partly = [
        f"{label!r} is an answer only in {', '.join(has)}"
        for label in dict.fromkeys(label for labels in answers for label in labels)
        if len(has := [n for n, at in zip(order.names, answers, strict=True) if label in at])
        < len(answers)
    ]
    return "; ".join(partly) or None


def _changes(order: Ordered, name: str, confidence: float) -> tuple[Change, ...]:
    pairs = _pairs(order)
    return tuple(
        Change(
            order.names[first],
            order.names[second],
            _differences(order, name, (first, second), confidence, len(pairs)),
        )
        for first, second in pairs
    )


def _pairs(order: Ordered) -> list[tuple[int, int]]:
    """Each of the results and the next; of more than two also the first and the last."""
    last = len(order.results) - 1
    return [*pairwise(range(last + 1)), *([(0, last)] if last > 1 else [])]


def _by_group(
    order: Ordered, questions: Sequence[str] | None, confidence: float, by: str
) -> Comparison:
    changes: dict[str, tuple[Change, ...]] = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(questions or _linked_with(order, by)):
        if name == by:
            raise InvalidInput("question", "must not be the one that makes the groups", by)
        tables = [linked_table(each, [by, name], confidence) for each in order.results]
        if any(table.labels != tables[0].labels for table in tables):
            reason = _obstacle(order, by) or _obstacle(order, name)
            left_out[name] = reason or "has the same answers in another order"
            continue
        pairs = zip(order.results, tables, strict=True)
        found = zip(*(groups_in(table, each.sampling) for each, table in pairs), strict=True)
        kept: list[tuple[Group, ...]] = []
        for group in found:
            if any(each.may_be_empty(confidence) for each in group):
                left_out[f"{by} = {group[0].name}"] = "may be empty, as far as the noise tells"
            else:
                kept.append(group)
        if len(order.results) == 1:
            several = list(combinations([(group.name, group) for (group,) in kept], 2))
            changes[name] = compare_pairs(several, confidence, len(several))
            continue
        for group in kept:
            named = list(zip(order.names, group, strict=True))
            among = [(named[first], named[second]) for first, second in _pairs(order)]
            at, number = f"{name}, {by} = {group[0].name}", len(among) * len(kept)
            changes[at] = compare_pairs(among, confidence, number)
    if not any(changes.values()):
        found_out = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        rule = "must have groups of people that can be compared"
        raise InvalidInput("by", rule, found_out or by, "ask more people, or for larger groups")
    return Comparison(order, changes, left_out, by)


def _linked_with(order: Ordered, by: str) -> list[str]:
    """The questions that a table has beside this one."""
    tables = [joint.table.questions for each in order.results for joint in each.joint]
    found = dict.fromkeys(name for names in tables if by in names for name in names if name != by)
    if not found:
        rule = "must be in a joint table: only answers that were declared together are linked"
        hint = "; ".join(dict.fromkeys(" × ".join(names) for names in tables))
        raise InvalidInput("by", rule, by, f"the joint tables are {hint}" if hint else DECLARE)
    return list(found)


def _differences(
    order: Ordered, name: str, pair: tuple[int, int], confidence: float, comparisons: int
) -> tuple[Difference, ...]:
    earlier, later = (order.results[place] for place in pair)
    laws = law_of(earlier, name), law_of(later, name)
    first, second = _estimate(earlier, name), _estimate(later, name)
    if isinstance(first, QuestionEstimate) and isinstance(second, QuestionEstimate):
        return compare_surveys(first, second, laws, confidence, comparisons)
    rows = [_by_word(results, name) for results in order.results]
    words = [
        (rows[pair[0]][word], rows[pair[1]][word])
        for word in _found_words(order, name)
        if _word_obstacle(order, rows, word) is None
    ]
    return compare_words(words, (earlier.people, later.people), laws, confidence, comparisons)


def _by_word(results: Results, name: str) -> dict[str, WordCount]:
    """Words by what the encoder makes of them: spellings may differ."""
    found = _estimate(results, name)
    assert isinstance(found, WordsEstimate)
    return {normalized("words", row.word): row for row in found.rows}


def _found_words(order: Ordered, name: str) -> list[str]:
    """Those that were found in any of the results, the most frequent of the last one first."""
    found: dict[str, None] = {}
    for results in reversed(order.results):
        words = _estimate(results, name)
        assert isinstance(words, WordsEstimate)
        found |= dict.fromkeys(normalized("words", row.word) for row in words.found)
    return list(found)


def _word_obstacle(
    order: Ordered, rows: Sequence[Mapping[str, WordCount]], word: str
) -> str | None:
    without = [name for name, at in zip(order.names, rows, strict=True) if word not in at]
    if without:
        return f"is not among the candidates of {', '.join(without)}"
    if any(at[word].standard_error is None for at in rows):
        return "cannot be told apart from other words"
    return None


def _strange_words(order: Ordered, name: str) -> dict[str, str]:
    """The words of a question that cannot be compared, with the reasons."""
    if not isinstance(_estimate(order.results[0], name), WordsEstimate):
        return {}
    rows = [_by_word(results, name) for results in order.results]
    spelled = {word: row.word for at in rows for word, row in at.items()}
    reasons = {word: _word_obstacle(order, rows, word) for word in _found_words(order, name)}
    return {f"{name}, {spelled[word]}": why for word, why in reasons.items() if why is not None}


def compare_words(
    words: Sequence[tuple[WordCount, WordCount]],
    people: tuple[int, int],
    laws: Laws,
    confidence: float = 0.95,
    comparisons: int = 1,
) -> tuple[Difference, ...]:
    """The same words in two surveys, earlier and later; all of them have standard errors.

    These contain the noise and what other words add, but no sampling.
    """
    levels = check_confidence(confidence), confidence_of_all(confidence, len(words), comparisons)
    quantiles = [largest_quantile(laws, level) for level in levels]
    found = []
    for pair in words:
        before, after = (row.unclipped / n for row, n in zip(pair, people, strict=True))
        shown = pair[1].count / people[1] - pair[0].count / people[0]
        error = math.hypot(
            *((row.standard_error or 0.0) / n for row, n in zip(pair, people, strict=True))
        )
        difference = after - before
        (chance,) = largest_chance(laws, np.array([difference]), np.array([error])).tolist()
        found.append(
            difference_row(
                label=pair[1].word,
                difference=difference,
                shown=shown,
                error=error,
                intervals=[
                    Interval(difference - z * error, difference + z * error) for z in quantiles
                ],
                p_value=chance,
                together=len(words),
                comparisons=comparisons,
            )
        )
    return tuple(found)
