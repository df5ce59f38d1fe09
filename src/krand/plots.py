"""Figures in one line, for notebooks: each returns a matplotlib Figure, which Jupyter shows.

    >>> from krand import Policy, ResponseFormat, plan_noise, plots
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> figure = plots.density(plan)
    >>> figure.axes[0].get_ylabel()
    'density of log R'

They need matplotlib: `pip install 'krand[plots]'`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.figures.copies import COPIES, copies_figure
from krand.figures.density import density_figure
from krand.figures.estimates import estimates_figure
from krand.figures.frontier import frontier_figure
from krand.figures.svg import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from krand.accounting.frontier import Frontier
    from krand.analysis.estimates.values import QuestionEstimate
    from krand.analysis.results import Results
    from krand.promise import NoisePlan, Policy, ResponseFormat
    from krand.survey.plan import Plan

__all__ = ["copies", "density", "estimates", "frontier"]


def density(plan: NoisePlan | Plan) -> Figure:
    """The distribution of the privacy ratio R for a noise plan or a survey's plan.

    >>> from krand import Policy, ResponseFormat, plan_noise, plots
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> figure = plots.density(plan)
    >>> figure.legends[0].get_texts()[-1].get_text()
    'limits; proven for every crowd: δ ≤ 0.0001, η ≤ 0.00287'
    """
    require_matplotlib()
    return density_figure(plan)


def frontier(
    policy: Policy | Frontier,
    responses: ResponseFormat | None = None,
    copies: Sequence[int] | None = None,
) -> Figure:
    """σ versus bytes per person, for all methods that keep a policy, or for a given Frontier.

    >>> from krand import Policy, ResponseFormat, plots
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100_000)
    >>> plots.frontier(policy, ResponseFormat(bits=2), copies=[1, 4]).axes[0].get_xlabel()
    'bytes sent per person'
    """
    require_matplotlib()
    from krand.accounting import frontier as ways

    if isinstance(policy, ways.Frontier):
        return frontier_figure(policy)
    if responses is None:
        raise InvalidInput(
            "responses", "must be given with a policy", None, "ResponseFormat(bits=40)"
        )
    return frontier_figure(ways.frontier(policy, responses, copies or ways.COPIES))


def copies(policy: Policy, bits: int, copies: Sequence[int] = COPIES) -> Figure:
    """Precision versus copies of a whole record, compared with single bits and a curator.

    >>> from krand import Policy, plots
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100_000)
    >>> plots.copies(policy, bits=4, copies=[1, 4]).axes[0].get_ylabel()
    'margin of error (95 %), people'
    """
    require_matplotlib()
    return copies_figure(policy, bits, copies)


def estimates(results: Results | str | Path, question: str) -> Figure:
    """The answers to a question as bars with intervals; results may be given as a path.

    >>> import numpy as np
    >>> from krand import Policy, plots
    >>> from krand.analysis.results import make_results
    >>> from krand.analysis.tally import Tally
    >>> from krand.planning.making import make_plan
    >>> from krand.survey.questions import Number
    >>> from krand.survey.survey import Survey
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> asked = (Number(name="children", edges=(0, 1, 3, 9)),)
    >>> plan = make_plan(Survey(id="family", policy=policy, questions=asked))
    >>> ones = np.array([4_000, 3_000, 500])
    >>> tally = Tally(
    ...     plan_hash=plan.hash, linkage=plan.survey.linkage, positions=3, round=1,
    ...     people=10_000, crowd=10_000, responses=10_000, counts=ones,
    ... )
    >>> figure = plots.estimates(make_results(plan, tally), "children")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0 to under 1', '1 to under 3', '3 to under 9', 'unanswered']
    """
    require_matplotlib()
    return estimates_figure(_question(results, question))


def _question(results: Results | str | Path, name: str) -> QuestionEstimate:
    if isinstance(results, (str, Path)):
        from krand.analysis.results_file import read_results

        results = read_results(results)
    questions = {question.name: question for question in results.questions}
    if name not in questions:
        hint = f"the questions are {', '.join(questions)}"
        raise InvalidInput("question", "must be an estimated question of the results", name, hint)
    return questions[name]
