"""Metrics of a collector: few numbers, coarse, and seldom brought up to date.

A counter that goes up by one when somebody submits would link a person to a time, and so would one
that goes up at every tenth: whoever sends nine of their own sees the next person arrive. So every
number here that people can change is shown as the status shows it (`krand.collector.progress`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

from krand.collector.intake import Counts
from krand.collector.progress import Progress, Seldom, in_steps
from krand.collector.states import State
from krand.collector.store import Batch


class Metrics:
    """What a collector tells of its numbers."""

    def __init__(self, progress: Progress) -> None:
        """`progress` is that of the status: whoever sees both sees no more than one of them."""
        self._progress = progress
        self._faults: dict[str, Seldom[int]] = {
            field.name: Seldom() for field in fields(Counts) if field.name != "accepted"
        }

    def text(self, counts: Counts, now: Sequence[Batch]) -> str:
        """The metrics in the text format of Prometheus."""
        shown = self._progress.batches(now)
        crowd, states = shown[-1].crowd, Counter(batch.state for batch in shown)
        gathered = shown[-1].people if shown[-1].state is State.OPEN else 0
        total = sum(batch.people for batch in shown)
        lines = [
            *_metric("people_planned", "gauge", "The planned crowd of a batch.", crowd),
            *_metric(
                "people_gathered",
                "gauge",
                "People in the open batch, in steps.",
                in_steps(gathered, crowd),
            ),
            "# HELP krand_batches Batches by state.",
            "# TYPE krand_batches gauge",
            *(f'krand_batches{{state="{one.value}"}} {states[one]}' for one in State),
            *_metric(
                "submissions_accepted_total",
                "counter",
                "Submissions in this spool, in steps.",
                in_steps(total, crowd),
            ),
        ]
        for name, fault in self._faults.items():
            count = getattr(counts, name)
            about = "Submissions since the start, in steps."
            value = in_steps(fault.shown(count, count))
            lines += _metric(f"submissions_{name}_total", "counter", about, value)
        return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, about: str, value: int) -> list[str]:
    name = f"krand_{name}"
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", f"{name} {value}"]
