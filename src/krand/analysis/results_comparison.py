"""The same questions in several results, compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from krand.analysis.estimates.intervals import check_confidence
from krand.analysis.estimates.share_differences import (
    Change,
    Difference,
    Laws,
    compare_surveys,
    confidence_of_all,
    difference_row,
    largest_chance,
    largest_quantile,
)
from krand.analysis.estimates.values import Interval, QuestionEstimate
from krand.analysis.results import Results, law_of
from krand.analysis.words.decoding import WordCount, WordsEstimate
from krand.errors import InvalidInput
from krand.survey.kinds.words import normalized


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
    """From each of the results to the next; of more than two also from the first to the last."""
    left_out: Mapping[str, str]
    """Questions and words that cannot be compared, with the reason."""


def compare_results(
    results: Sequence[Results],
    questions: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """The difference of each share, later less earlier, with its intervals; by question.

    All questions that the results share, or those that are named. Later is the higher round of one
    survey, or else what is given later. The results must have been randomized independently, for
    example for different rounds.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_exact_plan
    >>> weekly = '[schedule]\\nevery = "week"\\nstarts = 2027-01-04\\n'
    >>> survey = krand.parse_survey(f"rounds = 2\\n{krand.testing.SMALL_SURVEY}{weekly}")
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
    if len(results) < 2:
        raise InvalidInput("results", "must be at least two", len(results))
    order = in_order(results)
    if any(is_of_one_tally(*pair) for pair in combinations(results, 2)):
        hint = "the same results are given twice; leave one of them out"
        raise InvalidInput("results", "must be different ones", None, hint)
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
    known = [
        [*(q.name for q in results.questions), *(w.question for w in results.words)]
        for results in order.results
    ]
    if not questions:
        return list(dict.fromkeys(name for names in known for name in names))
    for name in questions:
        if not any(name in names for names in known):
            hint = f"the questions are {', '.join(known[-1])}"
            raise InvalidInput("question", "must be in the results", name, hint)
    return list(dict.fromkeys(questions))


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
    """From each of the results to the next; of more than two also from the first to the last."""
    last = len(order.results) - 1
    pairs = [*pairwise(range(last + 1)), *([(0, last)] if last > 1 else [])]
    return tuple(
        Change(
            order.names[first],
            order.names[second],
            _differences(order, name, (first, second), confidence, len(pairs)),
        )
        for first, second in pairs
    )


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
    confidence: float,
    comparisons: int,
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
