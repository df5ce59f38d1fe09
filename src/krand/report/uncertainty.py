"""How much of the uncertainty is privacy noise, how much sampling: for every question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from krand.analysis.estimates.sampling import Sampling
from krand.analysis.results import Results
from krand.report.figures import WIDTH
from krand.report.labels import Labels
from krand.report.languages import Language
from krand.wording.phrases import some_people


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


def uncertainty_view(results: Results, labels: Labels, language: Language) -> UncertaintyView:
    """The noise; and sampling, as it is or as it would be in a sample of far more people."""
    rows = (_row(top, results.people, language) for top in _tops(results, labels))
    lead = _lead(results, language)
    if results.plan.survey.release_every is not None:
        lead = f"{lead} {language.texts.uncertainty.chosen_end}"
    return UncertaintyView(lead, tuple(rows))


def sampling_error(people: int, share: float, sampling: Sampling | None) -> float:
    """The standard error of a count, in people, of a crowd that is a random sample."""
    factor = (sampling or Sampling()).factor(people)
    return people * math.sqrt(factor * share * (1 - share))


def _tops(results: Results, labels: Labels) -> Iterator[_Top]:
    people = results.people
    for question in results.questions:
        row = max(question.rows, key=lambda row: row.consistent)
        share = min(1.0, max(0.0, row.consistent / people))
        yield _Top(
            question=question.name,
            answer=labels.measured(question.name, row.label),
            share=share,
            error=row.standard_error,
            sampling=question.sampling,
        )
    for words in results.words:
        if words.found and words.found[0].standard_error is not None:
            word, sampling = words.found[0], results.sampling
            share = min(1.0, max(0.0, word.count / people))
            yield _Top(
                question=words.question,
                answer=word.word,
                share=share,
                error=word.standard_error or 0.0,
                sampling=sampling,
            )


def _row(top: _Top, people: int, language: Language) -> UncertaintyRow:
    numbers, own = language.numbers, language.texts.uncertainty
    sampled = sampling_error(people, top.share, top.sampling)
    both = math.hypot(top.error, sampled)
    part = (top.error / both) ** 2 if both else 0.0
    noise, sampling, all_of_it = (
        some_people(error, language.shared) for error in (top.error, sampled, both)
    )
    return UncertaintyRow(
        question=top.question,
        answer=top.answer,
        people=own.count_and_share.format(
            number=numbers.count(people * top.share), percent=numbers.percent_of(top.share, ".3g")
        ),
        noise=noise,
        sampling=sampling,
        both=all_of_it,
        part=numbers.percent_of(part, ".0f"),
        length=round(WIDTH * part, 1),
    )


def _lead(results: Results, language: Language) -> str:
    own, whole, sampling = language.texts.uncertainty, language.numbers.whole, results.sampling
    if sampling is None:
        return own.crowd.format(people=whole(results.people))
    if sampling.population is None:
        population = own.unlimited
    else:
        population = own.population.format(number=whole(sampling.population))
    return own.sample.format(population=population, people=whole(results.people))
