"""Metrics of a collector: few numbers, coarse, and seldom brought up to date.

A counter that goes up by one when somebody submits would link a person to a time, and so would one
that goes up at every tenth: whoever sends nine of their own sees the next person arrive. So every
number here that people can change is shown as the status shows it (`krand.collector.progress`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
        about = "Submissions in this spool, in steps."
        found = [
            metric("people_planned", "gauge", "The planned crowd of a batch.", crowd),
            metric(
                "people_gathered",
                "gauge",
                "People in the open batch, in steps.",
                in_steps(gathered, crowd),
            ),
            metric("batches", "gauge", "Batches by state.", {one: states[one] for one in State}),
            metric("submissions_accepted_total", "counter", about, in_steps(total, crowd)),
        ]
        for name, fault in self._faults.items():
            count = getattr(counts, name)
            about = "Submissions since the start, in steps."
            value = in_steps(fault.shown(count, count))
            found.append(metric(f"submissions_{name}_total", "counter", about, value))
        return "".join(found)


def metric(name: str, kind: str, about: str, value: int | Mapping[str, int]) -> str:
    """One metric in the text format of Prometheus; its values may be by state."""
    name = f"krand_{name}"
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    if isinstance(value, int):
        lines.append(f"{name} {value}")
    else:
        lines += [f'{name}{{state="{state}"}} {count}' for state, count in value.items()]
    return "\n".join([*lines, ""])
