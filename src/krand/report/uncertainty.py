"""How much of the uncertainty is privacy noise, how much sampling: for every question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.estimates.sampling import Sampling
from krand.analysis.results import Results
from krand.report.figures import WIDTH, count
from krand.wording.phrases import number

__all__ = ["UncertaintyRow", "UncertaintyView", "uncertainty_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyRow:
    """The most frequent answer to a question, and how much each source adds to its uncertainty."""

    question: str
    answer: str
    people: str
    noise: str
    sampling: str
    both: str
    part: str
    """Of the variance, what is noise: variances add up, standard errors do not."""
    length: float
    """The same, in units of the drawing."""


@dataclass(frozen=True, slots=True)
class UncertaintyView:
    """The section about noise and sampling."""

    lead: str
    rows: tuple[UncertaintyRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Top:
    question: str
    answer: str
    share: float
    error: float
    sampling: Sampling | None


def uncertainty_view(results: Results) -> UncertaintyView:
    """The noise; and sampling, as it is or as it would be in a sample of far more people."""
    tops = tuple(_tops(results))
    return UncertaintyView(_lead(results), tuple(_row(top, results.people) for top in tops))


def sampling_error(people: int, share: float, sampling: Sampling | None) -> float:
    """The standard error of a count, in people, of a crowd that is a random sample."""
    factor = (sampling or Sampling()).factor(people)
    return people * math.sqrt(factor * share * (1 - share))


def _tops(results: Results) -> Iterator[_Top]:
    people = results.people
    for question in results.questions:
        row = max(question.rows, key=lambda row: row.consistent)
        share = min(1.0, max(0.0, row.consistent / people))
        yield _Top(
            question=question.name,
            answer=row.label,
            share=share,
            error=row.standard_error,
            sampling=question.sampling,
        )
    for words in results.words:
        if words.found and words.found[0].standard_error is not None:
            word, sampling = words.found[0], _sampling(results)
            share = min(1.0, max(0.0, word.count / people))
            yield _Top(
                question=words.question,
                answer=word.word,
                share=share,
                error=word.standard_error or 0.0,
                sampling=sampling,
            )


def _sampling(results: Results) -> Sampling | None:
    return results.questions[0].sampling if results.questions else None


def _row(top: _Top, people: int) -> UncertaintyRow:
    sampled = sampling_error(people, top.share, top.sampling)
    both = math.hypot(top.error, sampled)
    part = (top.error / both) ** 2 if both else 0.0
    return UncertaintyRow(
        question=top.question,
        answer=top.answer,
        people=f"{count(people * top.share)} ({100 * top.share:.3g} %)",
        noise=_error(top.error),
        sampling=_error(sampled),
        both=_error(both),
        part=f"{100 * part:.0f} %",
        length=round(WIDTH * part, 1),
    )


def _error(value: float) -> str:
    return count(value) if value >= 10 else number(value, 2)


def _lead(results: Results) -> str:
    sampling = _sampling(results)
    if sampling is None:
        return (
            f"The intervals in this report are about the crowd itself, these {results.people:,}"
            " people: for them, the noise is the only source of uncertainty. If the crowd were a"
            " random sample of a far larger population, sampling would add what the table shows,"
            " and the intervals for that population would be wider. People who decided by"
            " themselves to take part are not a random sample."
        )
    whom = (
        "an unlimited population"
        if sampling.population is None
        else f"{sampling.population:,} people"
    )
    return (
        f"The shares in this report are about {whom}, of which the crowd of {results.people:,} is"
        " assumed to be a random sample. Intervals of shares cover both noise and sampling, those"
        " of counts only the noise. People who decided by themselves to take part are not a random"
        " sample."
    )
