"""Simulated and exact values, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from krand.wording.phrases import at_most, number

if TYPE_CHECKING:
    from krand_lab.exact.bounds import Bounds, TwoWay
    from krand_lab.intervals import Estimate
    from krand_lab.simulation import Simulation


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


def bounds_text(bounds: Bounds) -> Text:
    """A value above its proven ends."""
    return Text(f"{number(bounds.value)}\n[{number(bounds.lower)}, {at_most(bounds.upper)}]")


def compare(
    simulation: Simulation, delta: TwoWay, eta: TwoWay, copies: int = 1
) -> tuple[Agreement, ...]:
    """δ and η in both directions."""
    return tuple(
        Agreement(
            quantity=quantity,
            direction=direction,
            simulated=getattr(simulation, f"{quantity}_{direction}"),
            exact=getattr(exact, direction),
            bound_only=copies > 1,
        )
        for quantity, exact in (("delta", delta), ("eta", eta))
        for direction in ("forward", "reverse")
    )


def agreement_table(comparison: tuple[Agreement, ...]) -> Table:
    """Simulated values compared with the exact ones."""
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", "simulated\n[95 % interval]", "exact\n[lower, upper]", "agree"):
        table.add_column(Text(heading), justify="right" if heading else "left", no_wrap=True)
    for row in comparison:
        seen = row.simulated
        table.add_row(
            f"{'δ' if row.quantity == 'delta' else 'η'} {row.direction}",
            Text(f"{number(seen.value)}\n[{number(seen.low)}, {number(seen.high)}]"),
            bounds_text(row.exact),
            Text("yes", style="green") if row.agree else Text("no", style="bold red"),
        )
    return table
