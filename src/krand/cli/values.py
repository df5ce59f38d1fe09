"""The frozen values as plain JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.curator import Curator
    from krand.accounting.frontier import Frontier
    from krand.promise import Guarantee, NoisePlan, Policy, Precision, ResponseFormat

__all__ = ["frontier_values", "guarantee_values", "plan_values", "privacy_values"]


def _report_values(reports: ResponseFormat) -> dict[str, Any]:
    return {
        "bits": reports.bits,
        "linkage": str(reports.linkage),
        "copies": reports.copies,
        "max_set_bits": reports.max_set_bits,
        "rounds": reports.rounds,
    }


def _policy_values(policy: Policy) -> dict[str, Any]:
    return {
        "epsilon": policy.epsilon,
        "delta": policy.delta,
        "eta": policy.eta,
        "population": policy.population,
        "colluding": policy.colluding,
        "max_local_epsilon": policy.max_local_epsilon,
        "assurance": str(policy.assurance),
    }


def guarantee_values(guarantee: Guarantee) -> dict[str, Any]:
    """Both directions of δ and η with their bounds, and what they rest on."""
    return {
        "delta": asdict(guarantee.delta),
        "eta": asdict(guarantee.eta),
        "method": str(guarantee.method),
        "assumptions": [str(assumption) for assumption in guarantee.assumptions],
    }


def plan_values(plan: NoisePlan, curator: Curator) -> dict[str, Any]:
    """A noise plan; its eta and delta are the proven ends of the worse direction."""
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
        "population": plan.policy.population,
        "colluding": plan.policy.colluding,
        "max_local_epsilon": plan.policy.max_local_epsilon,
        **_report_values(plan.reports),
        "guarantee": guarantee_values(guarantee),
    }


def privacy_values(
    guarantee: Guarantee, reports: ResponseFormat, noise: float, precision: Precision
) -> dict[str, Any]:
    """What a given noise gives."""
    return {
        "noise": noise,
        "epsilon": guarantee.epsilon,
        **guarantee_values(guarantee),
        "local_epsilon": guarantee.local_epsilon,
        "assurance": str(guarantee.assurance),
        "population": guarantee.population,
        "colluding": guarantee.colluding,
        **_report_values(reports),
        **asdict(precision),
    }


def frontier_values(frontier: Frontier) -> dict[str, Any]:
    """The frontier: the request and one object for each way to meet it."""
    settings = _report_values(frontier.reports)
    for free in ("linkage", "copies"):  # these are what the rows differ in
        settings.pop(free)
    return {
        **_policy_values(frontier.policy),
        **settings,
        "rows": [asdict(r) for r in frontier.rows],
    }
