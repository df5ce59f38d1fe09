"""How much of the doubt is privacy, and how much is sampling: side by side for every question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.estimates.sampling import Sampling
from krand.analysis.published import PublishedRelease
from krand.report.figures import WIDTH, count
from krand.wording.phrases import number

__all__ = ["DoubtRow", "DoubtView", "doubt_view"]


@dataclass(frozen=True, slots=True)
class DoubtRow:
    """The most frequent answer to a question, and what its count owes to each source."""

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
class DoubtView:
    """The section about noise and sampling."""

    lead: str
    rows: tuple[DoubtRow, ...]


@dataclass(frozen=True, slots=True)
class _Top:
    question: str
    answer: str
    share: float
    error: float
    sampling: Sampling | None


def doubt_view(release: PublishedRelease) -> DoubtView:
    """Noise as it was; sampling as it is, or as it would be in a sample of far more people."""
    tops = tuple(_tops(release))
    return DoubtView(_lead(release), tuple(_row(top, release.people) for top in tops))


def sampling_error(people: int, share: float, sampling: Sampling | None) -> float:
    """The standard error of a count, in people, of a crowd that is a random sample."""
    factor = (sampling or Sampling()).factor(people)
    return people * math.sqrt(factor * share * (1 - share))


def _tops(release: PublishedRelease) -> Iterator[_Top]:
    people = release.people
    for question in release.questions:
        row = max(question.rows, key=lambda row: row.consistent)
        share = min(1.0, max(0.0, row.consistent / people))
        yield _Top(question.name, row.label, share, row.standard_error, question.sampling)
    for words in release.words:
        if words.found and words.found[0].standard_error is not None:
            word, sampling = words.found[0], _sampling(release)
            share = min(1.0, max(0.0, word.count / people))
            yield _Top(words.question, word.word, share, word.standard_error or 0.0, sampling)


def _sampling(release: PublishedRelease) -> Sampling | None:
    return release.questions[0].sampling if release.questions else None


def _row(top: _Top, people: int) -> DoubtRow:
    sampled = sampling_error(people, top.share, top.sampling)
    both = math.hypot(top.error, sampled)
    part = (top.error / both) ** 2 if both else 0.0
    return DoubtRow(
        top.question,
        top.answer,
        f"{count(people * top.share)} ({100 * top.share:.3g} %)",
        _error(top.error),
        _error(sampled),
        _error(both),
        f"{100 * part:.0f} %",
        round(WIDTH * part, 1),
    )


def _error(value: float) -> str:
    return count(value) if value >= 10 else number(value, 2)


def _lead(release: PublishedRelease) -> str:
    sampling = _sampling(release)
    if sampling is None:
        return (
            f"The intervals of this report are about the crowd itself, these {release.people:,}"
            " people: there the noise is the only doubt. Were the crowd a random sample of a far"
            " larger population, sampling would add what the table shows, and the intervals for"
            " that population would be wider. A crowd that chose itself is no such sample."
        )
    whom = (
        "a population without limit"
        if sampling.population is None
        else f"{sampling.population:,} people"
    )
    return (
        f"The shares of this report are about {whom}, of which the crowd of {release.people:,} is"
        " taken to be a random sample; the intervals of shares hold both doubts, those of counts"
        " the noise alone. A crowd that chose itself is no such sample."
    )
