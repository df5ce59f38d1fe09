"""What a notebook shows of policies, promises, plans of noise and frontiers."""

from __future__ import annotations

from krand.accounting.frontier import Frontier
from krand.promise import NoisePlan, Policy, Promise, ResponseFormat
from krand.showing import at_most, number
from krand.wording.promises import assumption_texts, known_word, limit_of, method_text, protection

__all__ = [
    "FRONTIER_HEAD",
    "frontier_rows",
    "noise_plan_rows",
    "policy_line",
    "policy_rows",
    "promise_rows",
]

Rows = list[tuple[str, str]]

FRONTIER_HEAD = ("way", "guarantee", "noise", "± people at 95 %", "bytes a person")


def policy_line(policy: Policy) -> str:
    """The whole policy in one line."""
    return ", ".join(text for _, text in policy_rows(policy))


def policy_rows(policy: Policy) -> Rows:
    """What must be promised, and to whom."""
    name, limit = limit_of(policy, policy)
    rows = [
        ("promise", f"ε = {policy.epsilon:g}, {name} = {at_most(limit)}"),
        ("crowd", _crowd(policy.minimum_crowd, policy.colluding)),
        ("how we know", policy.assurance.shown),
    ]
    if policy.max_local_epsilon is not None:
        rows.append(
            ("if collector and analyst collude", f"ε₀ at most {policy.max_local_epsilon:g}")
        )
    return rows


def promise_rows(promise: Promise) -> Rows:
    """What is promised, how that is known, and what it rests on."""
    delta, eta = at_most(promise.delta), at_most(promise.eta)
    local = promise.local_epsilon
    return [
        ("guarantee", f"ε = {at_most(promise.epsilon)}, δ ≤ {delta}, η ≤ {eta}"),
        ("if collector and analyst collude", f"{protection(local)} (ε₀ = {at_most(local)})"),
        ("how we know", f"{promise.assurance.shown}: {method_text(promise.method)}"),
        ("crowd", _crowd(promise.crowd, promise.colluding)),
        *(("assumption", text) for text in assumption_texts(promise)),
    ]


def noise_plan_rows(plan: NoisePlan) -> Rows:
    """The noise, what it costs in precision, and what it promises."""
    known = plan.precision
    return [
        ("asked for", policy_line(plan.policy)),
        ("responses", _response_format(plan.responses)),
        ("noise", f"q = {number(plan.noise, 6)}"),
        (
            "a count",
            f"± {number(known.half_width_95, 3)} people at 95 %, σ = {number(known.sigma)}",
        ),
        *promise_rows(plan.promise)[:3],
    ]


def frontier_rows(frontier: Frontier) -> list[tuple[str, ...]]:
    """Every way to keep the policy; those that no other one beats are marked."""
    return [
        (
            row.name + (" ★" if row.best else ""),
            known_word(row.guarantee),
            "" if row.noise is None else number(row.noise),
            number(row.half_width_95),
            f"{row.bytes_per_user:,}",
        )
        for row in frontier.rows
    ]


def _crowd(crowd: int, colluding: int) -> str:
    people = f"{crowd:,} people"
    return f"{people}, {colluding:,} of them colluding" if colluding else people


def _response_format(responses: ResponseFormat) -> str:
    bits = "1 bit" if responses.bits == 1 else f"{responses.bits:,} bits"
    together = "linked as a record" if responses.linkage.value == "record" else "each alone"
    parts = [bits if responses.bits == 1 else f"{bits}, {together}"]
    if responses.max_set_bits is not None:
        parts.append(f"at most {responses.max_set_bits:,} set")
    if responses.copies > 1:
        parts.append(f"{responses.copies:,} copies")
    if responses.rounds > 1:
        parts.append(f"{responses.rounds:,} rounds")
    return ", ".join(parts)
