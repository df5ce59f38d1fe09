"""The same questions in two results, compared."""

from __future__ import annotations

from collections.abc import Sequence

from krand.analysis.estimates.comparison import Difference, compare_surveys
from krand.analysis.results import Results, laws_of
from krand.errors import InvalidInput

__all__ = ["compare_results"]

RULE = "must be in both results files"


def compare_results(
    first: Results,
    second: Results,
    questions: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> dict[str, tuple[Difference, ...]]:
    """The difference of each share, first less second, with its interval; by question.

    All questions that both have, or those that are named. The two must have been randomized
    independently, for example for two rounds.

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
    >>> for difference in krand.compare_results(*found, questions=["pet"])["pet"]:
    ...     print(difference.label, round(difference.difference, 2))
    cat -0.09
    dog -0.01
    none 0.08
    """
    here, there = ({each.name: each for each in results.questions} for results in (first, second))
    shared = list(questions or (name for name in here if name in there))
    for name in shared:
        if name not in here or name not in there:
            raise InvalidInput("question", RULE, name)
    if not shared:
        raise InvalidInput("question", RULE, "none is")
    return {
        name: compare_surveys(here[name], there[name], confidence, laws_of((first, second), name))
        for name in shared
    }
