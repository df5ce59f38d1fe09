"""Figures in one line: a notebook shows each by itself, `save` writes it to a file.

    >>> from krand import Policy, ResponseFormat, plan_noise, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plot = figures.density(plan_noise(policy, ResponseFormat(bits=4)))
    >>> plot.save("density.svg")
    >>> plot.figure.axes[0].get_ylabel()  # matplotlib's own figure
    'density of log R'

They need matplotlib: `pip install 'krand[figures]'`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.figures.draw_copies import COPIES, copies_figure
from krand.figures.draw_density import density_figure
from krand.figures.draw_estimates import estimates_figure
from krand.figures.draw_frontier import frontier_figure
from krand.figures.draw_methods import methods_figure
from krand.figures.draw_rounds import Answers, question_answers, rounds_figure, word_answers
from krand.figures.plot import Plot
from krand.figures.style import require_matplotlib

if TYPE_CHECKING:
    from krand.accounting.frontier import Frontier
    from krand.analysis.estimates.values import QuestionEstimate
    from krand.analysis.results import Results
    from krand.promise import NoisePlan, Policy, ResponseFormat
    from krand.survey.plan import Plan

__all__ = [
    "Plot",
    "copies",
    "density",
    "estimates",
    "frontier",
    "joint",
    "methods",
    "rounds",
]


def density(plan: NoisePlan | Plan) -> Plot:
    """The distribution of the privacy ratio R for a noise plan or a survey's plan.

    >>> from krand import Policy, ResponseFormat, plan_noise, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> figures.density(plan)
    <Plot: Privacy ratio R of one person's answers>
    """
    require_matplotlib()
    return Plot(density_figure(plan), "Privacy ratio R of one person's answers")


def frontier(
    policy: Policy | Frontier,
    responses: ResponseFormat | None = None,
    copies: Sequence[int] | None = None,
) -> Plot:
    """σ versus bytes per person, for all methods that keep a policy, or for a given Frontier.

    >>> from krand import Policy, ResponseFormat, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100_000)
    >>> figures.frontier(policy, ResponseFormat(bits=2), copies=[1, 4])
    <Plot: Precision versus data sent>
    """
    require_matplotlib()
    figure = frontier_figure(_frontier(policy, responses, copies))
    return Plot(figure, "Precision versus data sent")


def methods(
    policy: Policy | Frontier,
    responses: ResponseFormat | None = None,
    copies: Sequence[int] | None = None,
) -> Plot:
    """The margin of error of each method that keeps a policy, the most precise first.

    >>> from krand import Policy, ResponseFormat, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100_000)
    >>> figures.methods(policy, ResponseFormat(bits=2), copies=[1, 4])
    <Plot: Methods that keep one promise>
    """
    require_matplotlib()
    figure = methods_figure(_frontier(policy, responses, copies))
    return Plot(figure, "Methods that keep one promise")


def copies(policy: Policy, bits: int, copies: Sequence[int] = COPIES) -> Plot:
    """Precision versus copies of a whole record, compared with single bits and a curator.

    >>> from krand import Policy, figures
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100_000)
    >>> figures.copies(policy, bits=4, copies=[1, 4])
    <Plot: Precision of a count versus copies k>
    """
    require_matplotlib()
    return Plot(copies_figure(policy, bits, copies), "Precision of a count versus copies k")


def estimates(results: Results | str | Path, question: str) -> Plot:
    """The answers to a question as bars with intervals; results may be given as a path.

    >>> from krand import make_results, figures, randomize_table, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
    >>> plot = figures.estimates(results, "pet")
    >>> [label.get_text() for label in plot.figure.axes[0].get_yticklabels()]
    ['cat', 'dog', 'none', 'unanswered']
    """
    require_matplotlib()
    return Plot(estimates_figure(_question(_read(results), question)), f"Answers to {question}")


def joint(results: Results | str | Path, questions: Sequence[str]) -> Plot:
    """The joint table of two questions as a heat map; results may be given as a path.

    >>> from krand import make_plan, make_results, parse_survey, figures
    >>> from krand import randomize_table, tally_responses
    >>> from krand.testing import SMALL_SURVEY, simulated_table, unsafe_exact_plan
    >>> together = '[[together]]\\nquestions = ["smokes", "pet"]\\n'
    >>> plan = unsafe_exact_plan(parse_survey(SMALL_SURVEY + together))  # without noise
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
    >>> figures.joint(results, ["smokes", "pet"])
    <Plot: smokes × pet>
    """
    require_matplotlib()
    from krand.analysis.results_table import joint_result
    from krand.figures.draw_joint import joint_figure

    table = joint_result(_read(results), questions).table
    return Plot(joint_figure(table), " × ".join(table.questions))


def rounds(
    results: Sequence[Results | str | Path], question: str, answers: Sequence[str] | None = None
) -> Plot:
    """A question over any number of rounds: a line with intervals for each answer.

    Without `answers`, those that are most frequent in the last round; of a yes/no question "yes",
    and of words the first ones that were found. Rounds of one survey are put in order; other
    results are drawn in the order given.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_exact_plan
    >>> survey = krand.parse_survey("rounds = 2\\n" + krand.testing.SMALL_SURVEY)
    >>> plan = unsafe_exact_plan(survey)  # without noise
    >>> found = []
    >>> for number in (1, 2):
    ...     people = simulated_table(plan.survey, 100, seed=number)
    ...     file = f"round-{number}.parquet"
    ...     _ = krand.randomize_table(plan, people, file, round_number=number)
    ...     found.append(krand.make_results(plan, krand.tally_responses(plan, [file])))
    >>> krand.figures.rounds(found, "pet")
    <Plot: Answers to pet over rounds>
    """
    require_matplotlib()
    from krand.analysis.results_comparison import in_order

    if not results:
        raise InvalidInput("results", "must be at least one", len(results))
    order = in_order([_read(each) for each in results])
    shown = [_answers(each, question) for each in order.results]
    if order.by_round:
        places, label = [each.round for each in order.results], "round"
    else:
        places, label = list(range(1, len(shown) + 1)), "results, in the order given"
    figure = rounds_figure(shown, places, label, answers)
    return Plot(figure, f"Answers to {question} over rounds")


def _frontier(
    policy: Policy | Frontier, responses: ResponseFormat | None, copies: Sequence[int] | None
) -> Frontier:
    from krand.accounting import frontier as ways

    if isinstance(policy, ways.Frontier):
        return policy
    if responses is None:
        raise InvalidInput(
            "responses", "must be given with a policy", None, "ResponseFormat(bits=40)"
        )
    return ways.frontier(policy, responses, copies or ways.COPIES)


def _read(results: Results | str | Path) -> Results:
    if not isinstance(results, (str, Path)):
        return results
    from krand.analysis.results_file import read_results

    return read_results(results)


def _answers(results: Results, name: str) -> Answers:
    words = [words for words in results.words if words.question == name]
    if words:
        return word_answers(words[0], results.people)
    return question_answers(_question(results, name))


def _question(results: Results, name: str) -> QuestionEstimate:
    questions = {question.name: question for question in results.questions}
    if name not in questions:
        hint = f"the questions are {', '.join(questions)}"
        raise InvalidInput("question", "must be an estimated question of the results", name, hint)
    return questions[name]
