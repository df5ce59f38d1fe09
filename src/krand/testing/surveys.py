"""A small survey with its plan, and plans whose noise does not hide anything."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from krand.planning.making import planned_from
from krand.planning.promises import take_promise
from krand.promise import Method, Promise
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey

SMALL_SURVEY = """\
id = "pets"

[policy]
epsilon = 2
delta = 1e-3
minimum_crowd = 100

[trust]
noise = "devices"

[[question]]
name = "smokes"
type = "yes_no"

[[question]]
name = "pet"
type = "choice"
choices = ["cat", "dog", "none"]
"""
"""A survey file: two questions to a hundred people."""

MIXED_SURVEY = SMALL_SURVEY.replace("minimum_crowd = 100\n", "").replace(
    'noise = "devices"', "mixers = 2"
)
"""A survey file: the same questions to any number of people, with the noise of two mixers."""


@cache
def small_survey() -> Survey:
    """The survey of `SMALL_SURVEY`.

    >>> from krand.testing import small_survey
    >>> [question.name for question in small_survey().questions]
    ['smokes', 'pet']
    """
    return parse_survey(SMALL_SURVEY)


@cache
def small_plan() -> Plan:
    """What `make_plan(small_survey())` gives, without the second that it takes.

    >>> from krand.testing import small_plan
    >>> small_plan().survey.policy.minimum_crowd
    100
    """
    return parse_plan(files(__package__).joinpath("small_plan.json").read_bytes())


def unsafe_exact_plan(survey: Survey) -> Plan:
    """A plan with next to no noise: counts come out exact, and nobody is hidden.

    One bit in four billion is flipped. It is made at once for any survey, and promises nothing
    (δ = 1). Only the program that made it takes it: any other finds out that this noise does not
    keep the survey's policy.

    >>> from krand.testing import small_survey, unsafe_exact_plan
    >>> max(block.noise for block in unsafe_exact_plan(small_survey()).blocks) < 1e-9
    True
    """
    policy = survey.policy
    promise = Promise(
        epsilon=policy.epsilon,
        delta=1.0,
        eta=1.0,
        local_epsilon=1e9,
        method=Method.NONE,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=(),
    )
    plan = planned_from(survey, (1,) * len(layout_of(survey).blocks))
    take_promise(plan, promise)
    return plan
