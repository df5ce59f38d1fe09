"""Remembers, in this process alone, plans whose promise has been computed, by hash without a key.

The promise does not depend on the key that messages are sealed for. Nothing is kept on the disk:
what somebody else could write there would prove nothing.
"""

from __future__ import annotations

from dataclasses import replace

from krand.survey.plan import Plan

__all__ = ["is_remembered", "remember_here"]

_HERE: set[str] = set()


def is_remembered(plan: Plan) -> bool:
    """Whether this process has computed the promise of this plan."""
    return _name(plan) in _HERE


def remember_here(plan: Plan) -> None:
    """Take the promise of this plan as computed, until the process ends."""
    _HERE.add(_name(plan))


def _name(plan: Plan) -> str:
    return plan.hash if plan.analyst_key is None else replace(plan, analyst_key=None).hash
