"""Precision versus data sent: every way to meet one policy, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from krand.accounting.baselines import (
    most_ones,
    optimized_unary_sigma,
    rappor_noise,
    rappor_sigma,
)
from krand.accounting.calibration import plan_noise
from krand.accounting.coupling import allowed_distance
from krand.accounting.curator import curator
from krand.accounting.volume import Tokens, messages_needed
from krand.errors import CannotMeet
from krand.promise import (
    Z95,
    Linkage,
    NoisePlan,
    Policy,
    ResponseFormat,
)
from krand.showing import Shown, one_line, some

COPIES = (1, 2, 4, 16, 64, 256, 1024)
BIT_COPIES = 16
"""Copies of single bits only take away the skewness of few flips; more than this gain nothing."""
SEAL = 50
"""Bytes that a sealed message adds: an X25519 share (32), an authentication tag (16), version and
kind (2)."""
TOKEN = 4
"""Bytes of a position's index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRow:
    """One way to meet the policy and what it costs a user to send."""

    name: str
    linkage: Linkage | None
    copies: int
    noise: float | None
    sigma: float
    half_width_95: float
    messages: int
    bytes_per_user: int
    guarantee: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Frontier(Shown):
    policy: Policy
    responses: ResponseFormat
    rows: tuple[FrontierRow, ...]

    def __repr__(self) -> str:
        best = sum(row.best for row in self.rows)
        return one_line("Frontier", some(len(self.rows), "method"), f"{best:,} of them best")


def message_size(plan: NoisePlan) -> tuple[int, int]:
    """(messages, bytes) one user sends in a round, as in a survey of these bits."""
    return SIZES[plan.responses.linkage](plan)


def _of_records(plan: NoisePlan) -> tuple[int, int]:
    responses = plan.responses
    return responses.copies, responses.copies * (SEAL + math.ceil(responses.bits / 8))


def _of_tokens(plan: NoisePlan) -> tuple[int, int]:
    responses = plan.responses
    ones = sum(most_ones(block) for block in responses.blocks)
    copies = responses.copies
    tokens = Tokens(copies * responses.bits, copies * ones, plan.noise_numerator)
    each = allowed_distance(plan.policy) / (plan.policy.minimum_crowd * responses.rounds)
    messages = messages_needed(tokens, each)
    return messages, messages * (SEAL + TOKEN)


SIZES = {Linkage.BIT: _of_tokens, Linkage.RECORD: _of_records}
"""What is sent, by what travels together."""


def frontier(
    policy: Policy,
    responses: ResponseFormat,
    copies: Sequence[int] = COPIES,
    progress: Callable[[str], None] | None = None,
) -> Frontier:
    """Bit linkage, record linkage with k copies, local DP and the trusted curator.

    Rows are best when no other row that needs no more trust is at least as good in both σ and
    bytes. The trusted curator is a baseline, not a competitor.

    >>> from krand import Policy, ResponseFormat, frontier
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> for row in frontier(policy, ResponseFormat(bits=4), copies=[1]).rows[:3]:
    ...     print(f"{row.name}: ± {row.half_width_95:,.0f}")
    krand bit: ± 14
    krand record: ± 104
    RAPPOR (local): ± 782
    """
    formats = [replace(responses, linkage=Linkage.BIT, copies=k) for k in copies if k <= BIT_COPIES]
    formats += [replace(responses, linkage=Linkage.RECORD, copies=k) for k in copies]
    rows = []
    for one in formats:
        if progress is not None:
            progress(_name(one))
        row = _planned(policy, one)
        if row is not None:
            rows.append(row)
    local = rappor_sigma(policy, responses), optimized_unary_sigma(policy, responses)
    noise, trusted = rappor_noise(policy, responses), curator(policy, responses)
    rows += [
        _peer("RAPPOR (local)", local[0], responses, "local", noise),
        _peer("optimized unary encoding (local)", local[1], responses, "local"),
    ]
    costs = [(row.sigma, row.bytes_per_user) for row in rows]
    marked = [
        replace(row, best=not any(s <= own[0] and b <= own[1] and (s, b) != own for s, b in costs))
        for row, own in zip(rows, costs, strict=True)
    ]
    baseline = f"{trusted.noise} noise (baseline)"
    peer = _peer(baseline, trusted.sigma, responses, "trusted curator")
    return Frontier(policy, responses, (*marked, peer))


def _name(responses: ResponseFormat) -> str:
    copies = f", k = {responses.copies:,}" if responses.copies > 1 else ""
    return f"krand {responses.linkage}{copies}"


def _planned(policy: Policy, responses: ResponseFormat) -> FrontierRow | None:
    try:
        plan = plan_noise(policy, responses, suggestions=False)
    except CannotMeet:
        return None
    messages, size = message_size(plan)
    return FrontierRow(
        name=_name(responses),
        linkage=responses.linkage,
        copies=responses.copies,
        noise=plan.noise,
        sigma=plan.precision.sigma,
        half_width_95=plan.precision.half_width_95,
        messages=messages,
        bytes_per_user=size,
        guarantee=plan.promise.assurance.value,
    )


def _peer(
    name: str, sigma: float, responses: ResponseFormat, guarantee: str, noise: float | None = None
) -> FrontierRow:
    size = SEAL + math.ceil(responses.bits / 8)
    return FrontierRow(
        name=name,
        linkage=None,
        copies=1,
        noise=noise,
        sigma=sigma,
        half_width_95=Z95 * sigma,
        messages=1,
        bytes_per_user=size,
        guarantee=guarantee,
    )
