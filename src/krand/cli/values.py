"""Computed values as JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.curator import Curator
    from krand.promise import Assessment, NoisePlan, Precision, ResponseFormat


def _report_values(responses: ResponseFormat) -> dict[str, Any]:
    return {
        "bits": responses.bits,
        "linkage": str(responses.linkage),
        "copies": responses.copies,
        "max_set_bits": responses.max_set_bits,
        "rounds": responses.rounds,
    }


def assessment_values(assessment: Assessment) -> dict[str, Any]:
    """δ and η in both directions with their bounds, and the assumptions."""
    return {
        "delta": asdict(assessment.delta),
        "eta": asdict(assessment.eta),
        "method": str(assessment.promise.method),
        "assumptions": [str(assumption) for assumption in assessment.promise.assumptions],
    }


def plan_values(plan: NoisePlan, curator: Curator) -> dict[str, Any]:
    """A noise plan; its eta and delta are the proven upper bounds of the worse direction."""
    promise = plan.promise
    return {
        "noise": plan.noise,
        "noise_numerator": plan.noise_numerator,
        **asdict(plan.precision),
        "curator_sigma": curator.sigma,
        "curator_noise": str(curator.noise),
        "epsilon": promise.epsilon,
        "eta": promise.eta,
        "delta": promise.delta,
        "local_epsilon": promise.local_epsilon,
        "assurance": str(promise.assurance),
        "method": str(promise.method),
        "crowd": plan.policy.minimum_crowd,
        "colluding": plan.policy.colluding,
        "max_local_epsilon": plan.policy.max_local_epsilon,
        **_report_values(plan.responses),
        "guarantee": assessment_values(plan.assessment),
    }


def privacy_values(
    assessment: Assessment, responses: ResponseFormat, noise: float, precision: Precision
) -> dict[str, Any]:
    """The promise of a given noise."""
    promise = assessment.promise
    return {
        "noise": noise,
        "epsilon": promise.epsilon,
        **assessment_values(assessment),
        "local_epsilon": promise.local_epsilon,
        "assurance": str(promise.assurance),
        "crowd": promise.crowd,
        "colluding": promise.colluding,
        **_report_values(responses),
        **asdict(precision),
    }


def copies_values(plan: NoisePlan) -> dict[str, Any]:
    """What a number of copies costs and gains."""
    from krand.accounting.volume import message_size

    messages, size = message_size(plan)
    return {
        "copies": plan.responses.copies,
        "noise": plan.noise,
        **asdict(plan.precision),
        "messages": messages,
        "bytes_per_user": size,
    }
