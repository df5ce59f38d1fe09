"""The rounds of one survey, and each answer as it was counted in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from krand.analysis.estimates.intervals import quantile_of
from krand.analysis.estimates.values import QuestionEstimate
from krand.analysis.group_differences import cell_law
from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.results import Results, law_of
from krand.analysis.results_comparison import campaign_of, is_of_one_tally
from krand.analysis.results_file import read_results
from krand.analysis.words.decoding import WordsEstimate
from krand.errors import InvalidInput
from krand.survey.kinds.words import normalized
from krand.survey.questions import Question

NO_BREAK = ("weight", "help", "required", "matrix")
"""Keys of a question that may change without a break."""
SAME = 1e-6
"""Standard errors that differ by less, relatively, are those of one law."""


class LineKind(StrEnum):
    """What a line is about."""

    ANSWER = "answer"
    CELL = "cell"
    """Of a joint table."""
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Break:
    """A round from which on a question is another one: nothing is compared across it."""

    round: int
    reason: str
    added: tuple[str, ...] = ()
    """Options."""
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Keys of the survey file, where more than options changed."""


class Key(NamedTuple):
    """What a line is called."""

    kind: LineKind
    question: str
    """Of a cell, the questions of its table with × between them."""
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One answer in one round."""

    people: int
    count: float
    """Unbiased."""
    error: float
    law: CountModel
    sign: int = 1
    """-1 where the law is that of everybody else's count."""
    exact: bool = True
    """Whether it is the law of this very count, and not only of the counts behind it."""
    found: bool = True
    """False of a word that could as well be noise."""

    def limits(self, confidence: float) -> Floats:
        """Both ends of an interval, in people."""
        if not self.exact:
            half = quantile_of(self.law, confidence) * self.error
            return np.clip([self.count - half, self.count + half], 0, self.people)
        inside = self.count if self.sign > 0 else self.people - self.count
        ones = np.rint(self.law.counted(np.array([inside]))).astype(np.int64)
        low, high = self.law.limits(ones, confidence)[:, 0]
        return np.array([low, high] if self.sign > 0 else [self.people - high, self.people - low])


def summed(rounds: Sequence[Counted]) -> Counted:
    """An answer in several rounds as one count; not exact where the law of the sum is not known."""
    first, others = rounds[0], [each.law for each in rounds[1:]]
    alike = all(each.exact and each.sign == first.sign for each in rounds)
    pooled = first.law.pooled(others) if alike else None
    return Counted(
        people=sum(each.people for each in rounds),
        count=sum(each.count for each in rounds),
        error=math.hypot(*(each.error for each in rounds)),
        law=pooled or min((each.law for each in rounds), key=lambda law: law.spread),
        sign=first.sign,
        exact=pooled is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One answer over rounds."""

    key: Key
    label: str
    """How the answer is spelled."""
    counted: Mapping[int, Counted]
    """By round; rounds in which it was not counted are missing."""
    breaks: tuple[Break, ...]

    def segments(self) -> list[list[int]]:
        """Its rounds between breaks."""
        starts = [each.round for each in self.breaks]
        parts: dict[int, list[int]] = {}
        for number in self.counted:
            parts.setdefault(sum(start <= number for start in starts), []).append(number)
        return list(parts.values())


def rounds_of(results: Sequence[Results | str | Path]) -> dict[int, Results]:
    """Results by round, the first round first; they must be different rounds of one survey."""
    names = [
        str(r) if isinstance(r, (str, Path)) else f"results {i + 1}" for i, r in enumerate(results)
    ]
    found = [read_results(each) if isinstance(each, (str, Path)) else each for each in results]
    if len(found) < 2:
        hint = "give the results of every round so far"
        raise InvalidInput("results", "must be of at least two rounds", len(found), hint)
    first, by_round = found[0], dict[int, tuple[str, Results]]()
    for name, each in zip(names, found, strict=True):
        if campaign_of(each) != campaign_of(first):
            rule = f"must be of one survey, {campaign_of(first)!r} as in {names[0]}"
            hint = "leave it out; krand compare takes results of different surveys"
            raise InvalidInput("results", rule, f"{name}: {campaign_of(each)!r}", hint)
        _check_promise(names[0], first, name, each)
        if each.round in by_round:
            other, same = by_round[each.round]
            twice = is_of_one_tally(same, each)
            rule = f"must be of different rounds; {other} is of round {each.round:,} too"
            hint = "the same results are given twice" if twice else "one round has one tally"
            raise InvalidInput("results", rule, name, f"{hint}; leave one of them out")
        by_round[each.round] = name, each
    return {number: by_round[number][1] for number in sorted(by_round)}


def _check_promise(first: str, one: Results, name: str, other: Results) -> None:
    """Results under another promise are of another collection, whatever their survey is called."""
    own, its = one.plan.survey, other.plan.survey
    if own.rounds != its.rounds:
        rule = f"must be the same in all rounds, {own.rounds} as in {first}"
        hint = "rounds of one trend are under one promise; follow the others in another trend"
        raise InvalidInput("rounds", rule, f"{name}: {its.rounds}", hint)


def series_of(rounds: Mapping[int, Results]) -> tuple[Series, ...]:
    """Every answer, word and cell of all rounds; of words those that were found in some round."""
    counted: dict[Key, dict[int, Counted]] = {}
    labels: dict[Key, str] = {}
    for number, results in rounds.items():
        for key, label, each in _counts(results):
            counted.setdefault(key, {})[number] = each
            labels[key] = label
    breaks = breaks_of(rounds)
    return tuple(
        Series(
            key=key,
            label=labels[key],
            counted=found,
            breaks=tuple(
                each for name in key.question.split(" × ") for each in breaks.get(name, ())
            ),
        )
        for key, found in counted.items()
        if any(each.found for each in found.values())
    )


def answers_counted(results: Results) -> dict[str, int]:
    """How many answers, cells or candidates every question, table or list of words has."""
    sizes: dict[str, int] = {}
    for key, _, _ in _counts(results):
        sizes[key.question] = sizes.get(key.question, 0) + 1
    return sizes


def _counts(results: Results) -> Iterator[tuple[Key, str, Counted]]:
    for question in results.questions:
        yield from _answers(results, question)
    for words in results.words:
        yield from _words(results, words)
    for joint in results.joint:
        yield from _cells(results, joint.table)


def _answers(results: Results, question: QuestionEstimate) -> Iterator[tuple[Key, str, Counted]]:
    law = law_of(results, question.name)
    for row in question.all_rows:
        yield _counted(
            results.people,
            (LineKind.ANSWER, question.name, row.label),
            (row.count, row.standard_error),
            law,
            len(question.rows) if row is question.unanswered else 0,
        )


def _cells(results: Results, table: JointTable) -> Iterator[tuple[Key, str, Counted]]:
    law, name = cell_law(results, table), " × ".join(table.questions)
    if law is None:
        return
    for place in product(*(range(size) for size in table.counts.shape)):
        if all(i >= answers for i, answers in zip(place, table.answers, strict=True)):
            continue  # nobody who answered anything
        label = " × ".join(names[i] for names, i in zip(table.labels, place, strict=True))
        numbers = float(table.counts[place]), float(table.standard_errors[place])
        yield _counted(results.people, (LineKind.CELL, name, label), numbers, law)


def _counted(
    people: int,
    key: tuple[LineKind, str, str],
    numbers: tuple[float, float],
    law: CountModel,
    left_by: int = 0,
) -> tuple[Key, str, Counted]:
    """The law that has this standard error: that of a count, or that of all it is left by."""
    (count, error), sign, exact = numbers, 1, True
    if not math.isclose(error, law.sigma, rel_tol=SAME):
        whole = law.summed(max(1, left_by))
        exact = left_by > 0 and math.isclose(error, whole.sigma, rel_tol=SAME)
        sign, law = (-1, whole) if exact else (1, law)
    counted = Counted(people=people, count=count, error=error, law=law, sign=sign, exact=exact)
    return Key(*key), key[2], counted


def _words(results: Results, words: WordsEstimate) -> Iterator[tuple[Key, str, Counted]]:
    """Sums of counts with weights; words are the same whatever their spelling."""
    law = law_of(results, words.question)
    for row in words.rows:
        if row.standard_error is not None:
            key = Key(LineKind.WORD, words.question, normalized("words", row.word))
            yield (
                key,
                row.word,
                Counted(
                    people=results.people,
                    count=row.unclipped,
                    error=row.standard_error,
                    law=law,
                    exact=False,
                    found=row.found,
                ),
            )


def breaks_of(rounds: Mapping[int, Results]) -> dict[str, tuple[Break, ...]]:
    """Where a question became another one, by its name."""
    found: dict[str, list[Break]] = {}
    asked = {
        number: {question.name: question for question in results.plan.survey.questions}
        for number, results in rounds.items()
    }
    for name in dict.fromkeys(name for questions in asked.values() for name in questions):
        with_it = [number for number in rounds if name in asked[number]]
        for earlier, later in pairwise(with_it):
            found.setdefault(name, []).extend(
                _break(later, asked[earlier][name], asked[later][name])
            )
    return {name: tuple(breaks) for name, breaks in found.items() if breaks}


def _break(number: int, earlier: Question, later: Question) -> Iterator[Break]:
    """What makes it another question; none if it is the same."""
    before, after = earlier.values(), later.values()
    changed = tuple(
        key
        for key in dict.fromkeys((*before, *after))
        if key not in NO_BREAK and before.get(key) != after.get(key)
    )
    if changed == ("choices",):
        old, new = before["choices"], after["choices"]
        added = tuple(each for each in new if each not in old)
        removed = tuple(each for each in old if each not in new)
        parts = [
            f"{', '.join(map(repr, some))} {verb}"
            for verb, some in (("added", added), ("removed", removed))
            if some
        ]
        if parts:  # another order is no other question
            yield Break(number, " and ".join(parts), added, removed)
    elif changed:
        yield Break(number, f"{', '.join(changed)} changed", changed=changed)
