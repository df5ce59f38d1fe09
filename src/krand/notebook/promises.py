"""What a notebook shows of policies, promises and plans of noise."""

from __future__ import annotations

import math

from krand.notebook.html import html_of, pairs
from krand.policy import Policy
from krand.promise import NoisePlan, Promise, ResponseFormat
from krand.showing import at_most, number, some
from krand.wording.promises import (
    assumption_texts,
    limit_of,
    method_text,
    promise_symbols,
    protection,
)

Rows = list[tuple[str, str]]


def policy_line(policy: Policy) -> str:
    """The whole policy in one line."""
    return ", ".join(text for _, text in _policy_rows(policy))


def _policy_rows(policy: Policy) -> Rows:
    """What must be promised, and to whom."""
    rows = [
        ("promise", promise_symbols(policy.epsilon, limit_of(policy, policy))),
        ("crowd", _crowd(policy.minimum_crowd, policy.colluding)),
    ]
    if policy.max_local_epsilon is not None:
        rows.append(
            ("if collector and analyst collude", f"ε₀ at most {at_most(policy.max_local_epsilon)}")
        )
    return rows


@html_of.register
def _(policy: Policy) -> str:
    return pairs("Policy", _policy_rows(policy))


@html_of.register
def _(promise: Promise) -> str:
    return pairs("Promise", _promise_rows(promise))


def _promise_rows(promise: Promise) -> Rows:
    """What is promised, how that is known, and what it rests on."""
    delta, eta = at_most(promise.delta), at_most(promise.eta)
    return [
        ("promise", f"ε = {at_most(promise.epsilon)}, δ ≤ {delta}, η ≤ {eta}"),
        ("if they collude", if_they_collude(promise)),
        ("how we know", f"proven: {method_text(promise.method)}"),
        ("crowd", _crowd(promise.crowd, promise.colluding)),
        *(("assumption", text) for text in assumption_texts(promise)),
    ]


@html_of.register
def _(plan: NoisePlan) -> str:
    """The noise, what it costs in precision, and what it promises."""
    known = plan.precision
    rows = [
        ("asked for", policy_line(plan.policy)),
        ("responses", _response_format(plan.responses)),
        ("noise", f"q = {number(plan.noise, 6)}"),
        (
            "a count",
            f"± {number(known.half_width_95, 3)} people at 95 %, σ = {number(known.sigma)}",
        ),
        *_promise_rows(plan.promise)[:3],
    ]
    return pairs("Noise plan", rows)


def if_they_collude(promise: Promise) -> str:
    """What is left if everybody works together who must not."""
    local = promise.local_epsilon
    if math.isinf(local):  # devices add no noise
        return "no protection if all mixers and the analyst collude"
    return f"{protection(local)} if collector and analyst collude (ε₀ = {at_most(local)})"


def _crowd(crowd: int, colluding: int) -> str:
    people = f"{crowd:,} people"
    return f"{people}, {colluding:,} of them colluding" if colluding else people


def _response_format(responses: ResponseFormat) -> str:
    bits = some(responses.bits, "bit")
    together = "linked as a record" if responses.linkage.value == "record" else "each alone"
    parts = [bits if responses.bits == 1 else f"{bits}, {together}"]
    if responses.max_set_bits is not None:
        parts.append(f"at most {responses.max_set_bits:,} set")
    if responses.copies > 1:
        parts.append(f"{responses.copies:,} copies")
    if responses.rounds > 1:
        parts.append(f"{responses.rounds:,} rounds")
    return ", ".join(parts)
