"""Simulated and exact values, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krand.accounting.simulation import Estimate, Simulation
    from krand.promise import Bounds, Guarantee

__all__ = ["Agreement", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
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
        Agreement(
            quantity="delta",
            direction="forward",
            simulated=simulation.delta_forward,
            exact=delta.forward,
            bound_only=several,
        ),
        Agreement(
            quantity="delta",
            direction="reverse",
            simulated=simulation.delta_reverse,
            exact=delta.reverse,
            bound_only=several,
        ),
        Agreement(
            quantity="eta",
            direction="forward",
            simulated=simulation.eta_forward,
            exact=eta.forward,
            bound_only=several,
        ),
        Agreement(
            quantity="eta",
            direction="reverse",
            simulated=simulation.eta_reverse,
            exact=eta.reverse,
            bound_only=several,
        ),
    )
