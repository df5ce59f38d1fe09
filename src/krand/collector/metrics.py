"""Metrics of a collector: coarse counts only.

A counter that goes up by one when somebody submits would link a person to a time. So counts of
people change in steps of a hundredth of the planned crowd, and counts of refusals in steps of ten.
"""

from __future__ import annotations

from collections.abc import Sequence

from krand.collector.intake import Counts
from krand.collector.states import State
from krand.collector.store import Batch

__all__ = ["coarse", "metrics_text", "step_for"]

STEPS_PER_CROWD = 100
FAULT_STEP = 10


def step_for(crowd: int) -> int:
    """The step of counts of people, at least ten."""
    return max(10, crowd // STEPS_PER_CROWD)


def coarse(count: int, step: int) -> int:
    """Rounded down to whole steps."""
    return count - count % step


def metrics_text(counts: Counts, batches: Sequence[Batch]) -> str:
    """The metrics in the text format of Prometheus."""
    crowd = batches[-1].crowd
    step = step_for(crowd)
    states = {state: sum(batch.state is state for batch in batches) for state in State}
    lines = [
        *_metric("krand_people_planned", "gauge", "The planned crowd of a batch.", crowd),
        *_metric(
            "krand_people_gathered",
            "gauge",
            f"People in the open batch, in steps of {step}.",
            coarse(batches[-1].people, step) if batches[-1].state is State.OPEN else 0,
        ),
        "# HELP krand_batches Batches by state.",
        "# TYPE krand_batches gauge",
        *(f'krand_batches{{state="{state.value}"}} {count}' for state, count in states.items()),
    ]
    for name in ("accepted", "repeated", "refused", "unavailable"):
        coarser = step if name == "accepted" else FAULT_STEP
        lines += _metric(
            f"krand_submissions_{name}_total",
            "counter",
            f"Submissions since the start, in steps of {coarser}.",
            coarse(getattr(counts, name), coarser),
        )
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, about: str, value: int) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", f"{name} {value}"]
