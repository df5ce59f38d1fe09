"""Quick plans: proven for what the survey asks, and never more precise than the plan itself."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from effort import LONG
from krand.accounting.calibration import assess, plan_noise, quick_noise
from krand.errors import CannotMeet
from krand.planning.checking import verify_promise
from krand.planning.making import make_plan, quick_plan
from krand.planning.mechanisms import QuickPlan
from krand.planning.mechanisms.devices import planned_from
from krand.promise import NOISE_GRID, Linkage, Policy, ResponseFormat
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey

SURVEYS = range(60 if LONG else 5)
REQUESTS = range(60 if LONG else 6)


def random_survey(seed: int) -> Survey:
    """Any promise, crowd, noise and questions."""
    chance = random.Random(seed)
    questions = ""
    for number in range(chance.choice([1, 2, 3, 5, 10] if LONG else [1, 2, 3])):
        questions += f'[[question]]\nname = "q{number}"\nweight = {chance.choice([1, 2, 4])}\n'
        choices = [f"c{choice}" for choice in range(chance.randint(2, 8))]
        kind = f'type = "choice"\nchoices = {choices}\n'
        questions += 'type = "yes_no"\n' if chance.random() < 0.5 else kind
    noise = ("devices", "mixers")[seed % 2]
    trust = "" if noise == "devices" else f'noise = "{noise}"\nmixers = {chance.choice([1, 3])}\n'
    limit = chance.choice(["delta", "delta", "eta"])
    return parse_survey(
        f'id = "quick"\n[policy]\nepsilon = {chance.choice([0.5, 1, 2, 5])}\n'
        f"{limit} = {chance.choice([1e-3, 1e-5, 1e-9])}\n"
        f"minimum_crowd = {int(10 ** chance.uniform(2.5, 6.5))}\n[trust]\n{trust}{questions}"
    )


def flips_of(quick: QuickPlan) -> Plan:
    """A plan of devices with the quick plan's noise; its promise is only a placeholder."""
    survey = replace(quick.survey, trust=replace(quick.survey.trust, noise="devices", mixers=1))
    like = make_plan(replace(quick.survey, trust=replace(quick.survey.trust, noise="mixers")))
    return planned_from(survey, tuple(b.numerator for b in quick.blocks), like.promise)


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("seed", SURVEYS)
def test_a_quick_plan_is_proven_and_the_plan_is_at_least_as_precise(seed: int) -> None:
    """δ or η of its noise, computed once more, is what the survey asks for or less."""
    survey = random_survey(seed)
    quick = quick_plan(survey)
    try:
        exact = make_plan(survey, suggestions=False)
    except CannotMeet:
        assert quick is None
        return
    if quick is None:  # allowed, but then nothing is shown
        return
    for quickly, exactly in zip(quick.blocks, exact.blocks, strict=True):
        assert quickly.precision.sigma >= exactly.precision.sigma
    policy = survey.policy
    limit = policy.delta if policy.eta is None else policy.eta
    assert quick.bound <= limit
    if survey.trust.noise is not mechanisms.MIXERS:
        found = verify_promise(flips_of(quick))
        assert (found.delta if policy.eta is None else found.eta) <= limit


@pytest.mark.loop
def test_most_surveys_have_a_quick_plan() -> None:
    """Otherwise the test above would say nothing."""
    assert sum(quick_plan(random_survey(seed)) is not None for seed in range(6)) >= 4


@pytest.mark.loop
@pytest.mark.parametrize("seed", REQUESTS)
def test_quick_noise_is_proven_and_not_below_the_smallest(seed: int) -> None:
    """For bits and records; the promise of that noise is assessed independently."""
    chance = random.Random(seed)
    policy = Policy(
        epsilon=chance.choice([0.5, 1, 2, 4]),
        minimum_crowd=int(10 ** chance.uniform(3, 7)),
        delta=chance.choice([1e-3, 1e-6]),
    )
    linkage, bits = list(Linkage)[seed % 2], chance.choice([1, 4, 20])
    responses = ResponseFormat(bits, linkage=linkage)
    found = quick_noise(policy, responses)
    try:
        exact = plan_noise(policy, responses, suggestions=False)
    except CannotMeet:
        assert found is None
        return
    if found is None:
        return
    numerator, bound = found
    assert numerator >= exact.noise_numerator
    assert numerator <= 1.5 * exact.noise_numerator
    true = assess(responses, numerator / NOISE_GRID, policy.minimum_crowd, policy.epsilon)
    assert true.delta <= bound * (1 + 1e-9)
    assert bound <= policy.delta


@pytest.mark.loop
def test_a_survey_of_only_noise_has_no_quick_plan() -> None:
    """A bound that says nothing is not shown."""
    survey = random_survey(0)
    policy = replace(survey.policy, epsilon=0.001, minimum_crowd=100, colluding=1)
    assert quick_plan(replace(survey, policy=policy)) is None
