"""Simulated and exact values, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.simulation import Estimate, Simulation
    from krand.promise import Bounds, Guarantee

__all__ = ["Agreement", "compare"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One number, computed in two ways."""

    quantity: str
    direction: str
    simulated: Estimate
    exact: Bounds
    bound_only: bool = False
    """With several copies the exact value, of copies shuffled separately, is an upper bound."""

    @property
    def key(self) -> str:
        return f"{self.quantity}_{self.direction}"

    @property
    def agree(self) -> bool:
        """Whether the confidence interval overlaps the proven one, or lies below an upper bound."""
        slack = 1e-12 * abs(self.exact.upper)
        below = self.simulated.low <= self.exact.upper + slack
        return below and (self.bound_only or self.simulated.high >= self.exact.lower - slack)

    def values(self) -> dict[str, Any]:
        simulated, exact = self.simulated, self.exact
        return {
            "simulated": {"value": simulated.value, "low": simulated.low, "high": simulated.high},
            "exact": {"value": exact.value, "lower": exact.lower, "upper": exact.upper},
            "agree": self.agree,
        }


def compare(simulation: Simulation, guarantee: Guarantee, copies: int = 1) -> tuple[Agreement, ...]:
    """δ and η in both directions."""
    delta, eta, several = guarantee.delta, guarantee.eta, copies > 1
    return (
        Agreement("delta", "forward", simulation.delta_forward, delta.forward, several),
        Agreement("delta", "reverse", simulation.delta_reverse, delta.reverse, several),
        Agreement("eta", "forward", simulation.eta_forward, eta.forward, several),
        Agreement("eta", "reverse", simulation.eta_reverse, eta.reverse, several),
    )
