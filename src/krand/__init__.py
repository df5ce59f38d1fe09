"""Anonymous telemetry and surveys by k-randomization.

Users flip each bit of their answer with probability q, a shuffler forgets who sent what, and the
analyst inverts the noise. `plan_noise` finds the smallest q that keeps a promise:

    >>> from krand import Policy, Reports, plan_noise
    >>> plan = plan_noise(Policy(epsilon=2, delta=1e-6, population=10_000_000), Reports(bits=40))
    >>> plan.noise, plan.precision.sigma, plan.guarantee.delta.upper  # doctest: +SKIP

Names are loaded on first use, so `import krand` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.privacy.frontier import frontier
    from krand.privacy.guarantee import (
        Assurance,
        Guarantee,
        Linkage,
        NoisePlan,
        Policy,
        Reports,
    )
    from krand.privacy.planner import assess, plan_noise

__version__ = "0.1.0"

__all__ = [
    "Assurance",
    "Guarantee",
    "Linkage",
    "NoisePlan",
    "Policy",
    "Reports",
    "__version__",
    "assess",
    "frontier",
    "plan_noise",
]

_HOME = {
    "Assurance": "krand.privacy.guarantee",
    "Guarantee": "krand.privacy.guarantee",
    "Linkage": "krand.privacy.guarantee",
    "NoisePlan": "krand.privacy.guarantee",
    "Policy": "krand.privacy.guarantee",
    "Reports": "krand.privacy.guarantee",
    "assess": "krand.privacy.planner",
    "frontier": "krand.privacy.frontier",
    "plan_noise": "krand.privacy.planner",
}
"""The module that each exported name lives in."""


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
