"""What else one could do, and how much is sent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from krand.accounting.baselines import (
    gaussian_delta,
    gaussian_eta,
    gaussian_shift,
    rappor_noise,
    rappor_sigma,
)
from krand.accounting.calibration import plan_noise
from krand.accounting.curator import central_gaussian_sigma
from krand.accounting.volume import message_size
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy, ResponseFormat
from krand.survey.reading import parse_survey
from krand.wire.messages import length_at
from survey_texts import question_text, survey_text

POLICY = Policy(epsilon=1.0, minimum_crowd=10**5, delta=1e-6)


@pytest.mark.check
@pytest.mark.parametrize(
    ("bits", "most", "linkage", "copies"),
    [(40, None, "bit", 1), (1000, 1, "bit", 1), (40, None, "record", 1), (41, None, "record", 16)],
)
def test_messages_of_a_user_are_those_of_a_survey(bits, most, linkage, copies):
    """A plan of noise says as many messages and bytes as a survey's plan of the same bits has."""
    keys = {"choices": [f"c{i}" for i in range(bits)]} | ({} if most is None else {"at_most": most})
    promised = {"epsilon": 1, "delta": 1e-6, "minimum_crowd": 100_000}
    asked = question_text("q", "pick_any", **keys)
    text = survey_text("s", asked, linkage=linkage, copies=copies, **promised)
    survey_plan = make_plan(parse_survey(text))
    found = message_size(
        plan_noise(
            POLICY, ResponseFormat(bits, linkage=Linkage(linkage), copies=copies, max_set_bits=most)
        )
    )
    expected = survey_plan.messages
    assert found == (expected, expected * length_at(survey_plan, 1))


def test_gaussian_profile_is_the_integral():
    """δ and η of shifted Gaussians equal numerical integrals of their definitions."""
    shift, epsilon = 0.7, 0.9
    x = np.linspace(-12, 12, 400_001)
    step = x[1] - x[0]
    p = np.exp(-((x - shift) ** 2) / 2) / math.sqrt(2 * math.pi)
    q = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    assert gaussian_delta(shift, epsilon) == pytest.approx(
        float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * step), rel=1e-6
    )
    assert gaussian_eta(shift, epsilon) == pytest.approx(
        float(p[p > math.exp(epsilon) * q].sum() * step), rel=1e-4
    )


def test_the_curator_just_meets_the_policy():
    """The shift found for a policy has exactly its δ."""
    assert gaussian_delta(gaussian_shift(POLICY), 1.0) == pytest.approx(1e-6, rel=1e-6)
    once, thrice = (central_gaussian_sigma(POLICY, ResponseFormat(4, rounds=n)) for n in (1, 3))
    assert thrice == pytest.approx(math.sqrt(3) * once)


def test_local_noise_of_the_drafts():
    """001 §4: L = 40, λ = e² needs q = .4875 locally, and then σ = 20·√N."""
    policy = Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-6)
    assert rappor_noise(policy, ResponseFormat(40)) == pytest.approx(0.4875, abs=5e-5)
    assert rappor_sigma(policy, ResponseFormat(40)) == pytest.approx(
        20 * math.sqrt(10**7), rel=0.01
    )
