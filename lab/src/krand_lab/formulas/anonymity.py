"""Anonymity A_p and what it is made of (003 §2–3, 004 §1–2), as printed."""

from __future__ import annotations

from collections.abc import Sequence

from krand.errors import InvalidInput
from krand_lab.enumeration import Vector, vectors
from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.synthetic import report_probability_002_2

__all__ = ["anonymity_003_3", "presence_003_2"]


def presence_003_2(s: Vector, collection: Sequence[Vector], q: Real) -> Real:
    """P[s ∈ R(T)] = 1 - Π_(v∈T) [1 - q^(L-m(v,s)) p^m(v,s)]; 004 §1."""
    absent = (1 - q) + q  # 1, in the arithmetic of q
    for v in collection:
        absent = absent * (1 - report_probability_002_2(v, s, q))
    return 1 - absent  # 003 §2


def anonymity_003_3(collection: Sequence[Vector], q: Real) -> Real:
    """A_p = min over v ∈ T and s of P[s ∈ R(T_v)]/P[s = R(v)], T_v = T without v; 004 §2.

    A_p ≥ 1 says that any report is at least as likely to come from somebody else. It does not
    bound the ratio of neighbouring collections: two users who agree have A_p = 1 at every noise.
    """
    if not collection:
        raise InvalidInput("collection", "must hold at least one vector", collection)
    return min(_of_one_user(collection, i, q) for i in range(len(collection)))  # 003 §3


def _of_one_user(collection: Sequence[Vector], i: int, q: Real) -> Real:
    """min over s of P[s ∈ R(T_v)]/P[s = R(v)] for the i-th vector v."""
    v, others = collection[i], [*collection[:i], *collection[i + 1 :]]
    return min(
        presence_003_2(s, others, q) / report_probability_002_2(v, s, q) for s in vectors(len(v))
    )
