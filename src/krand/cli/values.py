"""Computed values as JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.curator import Curator
    from krand.promise import NoisePlan, Precision, Promise, ResponseFormat


def _report_values(responses: ResponseFormat) -> dict[str, Any]:
    return {
        "bits": responses.bits,
        "linkage": str(responses.linkage),
        "copies": responses.copies,
        "max_set_bits": responses.max_set_bits,
        "rounds": responses.rounds,
    }


def plan_values(plan: NoisePlan, curator: Curator) -> dict[str, Any]:
    """A noise plan with its promise."""
    return {
        "noise": plan.noise,
        "noise_numerator": plan.noise_numerator,
        **asdict(plan.precision),
        "curator_sigma": curator.sigma,
        "curator_noise": str(curator.noise),
        **_promise_values(plan.promise),
        "max_local_epsilon": plan.policy.max_local_epsilon,
        **_report_values(plan.responses),
    }


def privacy_values(
    promise: Promise, responses: ResponseFormat, noise: float, precision: Precision
) -> dict[str, Any]:
    """The promise of a given noise."""
    return {
        "noise": noise,
        **_promise_values(promise),
        **_report_values(responses),
        **asdict(precision),
    }


def _promise_values(promise: Promise) -> dict[str, Any]:
    """Its numbers, proven upper bounds of the worse direction, and what it rests on."""
    return {
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "eta": promise.eta,
        "local_epsilon": promise.local_epsilon,
        "method": str(promise.method),
        "assumptions": [str(assumption) for assumption in promise.assumptions],
        "crowd": promise.crowd,
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
