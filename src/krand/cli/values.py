"""Computed values as JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.curator import Curator
    from krand.accounting.frontier import Frontier
    from krand.promise import Guarantee, NoisePlan, Policy, Precision, ResponseFormat

__all__ = ["frontier_values", "guarantee_values", "plan_values", "privacy_values"]


def _report_values(responses: ResponseFormat) -> dict[str, Any]:
    return {
        "bits": responses.bits,
        "linkage": str(responses.linkage),
        "copies": responses.copies,
        "max_set_bits": responses.max_set_bits,
        "rounds": responses.rounds,
    }


def _policy_values(policy: Policy) -> dict[str, Any]:
    return {
        "epsilon": policy.epsilon,
        "delta": policy.delta,
        "eta": policy.eta,
        "crowd": policy.minimum_crowd,
        "colluding": policy.colluding,
        "max_local_epsilon": policy.max_local_epsilon,
        "assurance": str(policy.assurance),
    }


def guarantee_values(guarantee: Guarantee) -> dict[str, Any]:
    """δ and η in both directions with their bounds, and the assumptions."""
    return {
        "delta": asdict(guarantee.delta),
        "eta": asdict(guarantee.eta),
        "method": str(guarantee.method),
        "assumptions": [str(assumption) for assumption in guarantee.assumptions],
    }


def plan_values(plan: NoisePlan, curator: Curator) -> dict[str, Any]:
    """A noise plan; its eta and delta are the proven upper bounds of the worse direction."""
    guarantee = plan.guarantee
    return {
        "noise": plan.noise,
        "noise_numerator": plan.noise_numerator,
        **asdict(plan.precision),
        "curator_sigma": curator.sigma,
        "curator_noise": str(curator.noise),
        "epsilon": guarantee.epsilon,
        "eta": guarantee.eta.upper,
        "delta": guarantee.delta.upper,
        "local_epsilon": guarantee.local_epsilon,
        "assurance": str(guarantee.assurance),
        "method": str(guarantee.method),
        "crowd": plan.policy.minimum_crowd,
        "colluding": plan.policy.colluding,
        "max_local_epsilon": plan.policy.max_local_epsilon,
        **_report_values(plan.responses),
        "guarantee": guarantee_values(guarantee),
    }


def privacy_values(
    guarantee: Guarantee, responses: ResponseFormat, noise: float, precision: Precision
) -> dict[str, Any]:
    """The guarantee of a given noise."""
    return {
        "noise": noise,
        "epsilon": guarantee.epsilon,
        **guarantee_values(guarantee),
        "local_epsilon": guarantee.local_epsilon,
        "assurance": str(guarantee.assurance),
        "crowd": guarantee.crowd,
        "colluding": guarantee.colluding,
        **_report_values(responses),
        **asdict(precision),
    }


def frontier_values(frontier: Frontier) -> dict[str, Any]:
    """The frontier: the request, and one object for each method that meets it."""
    settings = _report_values(frontier.responses)
    for free in ("linkage", "copies"):  # the rows differ in these
        settings.pop(free)
    return {
        **_policy_values(frontier.policy),
        **settings,
        "rows": [asdict(r) for r in frontier.rows],
    }
