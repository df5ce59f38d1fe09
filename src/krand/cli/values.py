"""Computed values as JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.baselines import Curator
    from krand.promise import NoisePlan, Precision, Promise, ResponseFormat
    from krand.survey.plan import Plan, PlannedBlock


def _report_values(responses: ResponseFormat) -> dict[str, Any]:
    return {
        "bits": responses.bits,
        "linkage": str(responses.linkage),
        "copies": responses.copies,
        "max_set_bits": responses.max_set_bits,
        "rounds": responses.rounds,
    }


def survey_plan_values(plan: Plan) -> dict[str, Any]:
    """What a plan holds, and what follows from it, in full digits."""
    from krand.planning.promises import promise_of

    return {
        "hash": plan.hash,
        **plan.values(),
        "messages": plan.messages,
        "promise": _promise_values(promise_of(plan)),
        "blocks": [_block_values(block) for block in plan.blocks],
    }


def _block_values(planned: PlannedBlock) -> dict[str, Any]:
    """A question or group, and how precise its counts will be."""
    block = planned.block
    return {
        "name": block.name,
        "kind": block.kind.value,
        "questions": list(block.question_names),
        "offset": block.offset,
        "positions": block.positions,
        "sensitivity": block.sensitivity,
        "most_ones": block.most_ones,
        "noise": planned.noise,
        **asdict(planned.precision),
        "too_high": planned.shift.too_high,
        "too_low": planned.shift.too_low,
        "margins": [
            {"question": margin.question, "cells": margin.cells, **asdict(margin.precision)}
            for margin in planned.margins
        ],
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


def copies_values(copies: int, plan: NoisePlan | None) -> dict[str, Any]:
    """What a number of copies costs and gains; its number alone where the promise is not kept."""
    from krand.accounting.volume import message_size

    if plan is None:
        return {"copies": copies}
    messages, size = message_size(plan)
    return {
        "copies": copies,
        "noise": plan.noise,
        **asdict(plan.precision),
        "messages": messages,
        "bytes_per_user": size,
    }
