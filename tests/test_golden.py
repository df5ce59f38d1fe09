"""Golden numbers: what standard surveys promise and find stays equal while rooms are rebuilt.

`golden/` has a survey of every sort and, beside it, counts that were drawn once from a simulation.
Of its plan are kept the noise, the promise and what follows from them, of its results every
estimate with its interval; nothing of formats, hashes or keys.

    python tests/test_golden.py --update    # write what krand finds now; read the difference
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import pytest

import krand
import world

# No public name gives the differences between groups that a report shows.
from krand.analysis.group_differences import group_differences
from krand.analysis.joint.tables import joint_table

NAMES = world.COUNTED
DIGITS = 15
CLOSE = 1e-12
"""How far two numbers may be apart, as a part of the larger one. Estimates, which are differences
of larger numbers, may be so far apart as a part of the largest number beside them."""
BOUNDS = ("plan", "promise", "coalitions")
"""What is proven, and so no difference of larger numbers."""
CHANCES = ("p_value", "adjusted_p_value", "adjusted")
TAIL = 1e-8
"""The same for a p-value, which moves by z times as much as z does."""
SMALL = ("delta", "eta")
SUM = 1e-10
"""The same for δ, a small difference of sums: on another processor they were 9e-12 apart."""

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "kinds": [{"candidates": {"town": world.TOWNS}}, {"confidence": 0.9, "sample_of": 1_000_000}],
    "branches": [{"quantiles": (0.1, 0.5)}],
    "copies": [{"joint": (("smokes", "pet"), ("smokes", "pet", "satisfaction"))}],
    "records": [{"joint": (("smokes", "pet"), ("age", "features=sync"))}],
    "mixers": [{"candidates": {"town": world.TOWNS}}, {"sample_of": "everybody"}],
}
"""How each is estimated, where not by default alone."""
GROUPS = {"branches": "region", "copies": "pet", "mixers": "department"}
"""Questions whose answers are groups that are compared."""


@cache
def kept(name: str) -> dict[str, Any]:
    """What the file of a survey has: the counts of every round, and what krand found in them."""
    values = json.loads((world.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(values, dict)
    return values


@cache
def results_of(name: str) -> tuple[krand.Results, ...]:
    """Of every round and every way to estimate."""
    options = [krand.ResultsOptions(**each) for each in OPTIONS.get(name, [{}])]
    return tuple(
        krand.make_results(world.plan(name), world.tally(name, number), each)
        for number in range(1, len(world.counts(name)) + 1)
        for each in options
    )


def plan_values(name: str) -> dict[str, Any]:
    plan = world.plan(name)
    charge = plan.charge(1)
    return {
        "promise": promise_values(krand.promise_of(plan)),
        "messages": plan.messages,
        "charge": charge and plain(charge),
        "blocks": {
            block.name: {
                "numerator": block.numerator,
                "room": block.room,
                "offset": block.offset,
                "positions": block.positions,
                "sensitivity": block.block.sensitivity,
                "most_ones": block.block.most_ones,
                "precision": plain(block.precision),
                "margins": plain(block.margins),
                "too_high": block.shift.too_high,
                "too_low": block.shift.too_low,
            }
            for block in plan.blocks
        },
        "lanes": [[lane.offset, lane.positions, lane.messages] for lane in plan.lanes],
        "dummies": {
            "laws": [list(law.half) for law in plan.laws],
            "lanes": [lane.law for lane in plan.lanes if plan.laws],
            "paddings": [lane.padding for lane in plan.lanes if plan.laws],
            "expected": plan.expected_dummies,
        },
    }


def promise_values(promise: Any) -> dict[str, Any]:
    names = ("epsilon", "delta", "eta", "local_epsilon", "crowd", "colluding")
    return {name: plain(getattr(promise, name)) for name in names}


def results_values(results: krand.Results) -> dict[str, Any]:
    return {
        "people": results.people,
        "promise": promise_values(results.promise),
        "kept": results.kept,
        "coalitions": plain(results.coalitions),
        "questions": plain(results.questions),
        "asked": plain(results.asked),
        "joint": plain(results.joint),
        "words": plain(results.words),
    }


def change_values(name: str) -> dict[str, Any]:
    """What changed from round to round, and what the exact tests find in all rounds together."""
    results = results_of(name)
    trend = krand.make_trend(results)
    return {
        "comparison": plain(krand.compare_results(results).questions),
        "trend": {
            f"{line.question}: {line.answer}": {
                "points": [
                    plain([point.count, point.share, point.standard_error, point.interval])
                    for point in line.points
                ],
                "changes": plain(line.changes),
            }
            for line in trend.lines
        },
        "spent": [trend.epsilon, trend.delta],
    }


def group_values(name: str) -> dict[str, Any]:
    """How much more often an answer is given in one group than in another."""
    results, by = results_of(name)[0], GROUPS[name]
    tally = world.tally(name)
    asked = [joint.table.questions for joint in results.joint if by in joint.table.questions]
    found: dict[str, Any] = {}
    for question in dict.fromkeys(each for names in asked for each in names if each != by):
        table = joint_table(world.plan(name), tally, [by, question])
        groups, labels = table.labels
        for row in group_differences(results, table, axis=0):
            first, second = (groups[place] for place in row.groups)
            answers = found.setdefault(f"{question}: {first} to {second}", {})
            numbers = plain([row.difference, row.standard_error, row.interval])
            answers[labels[row.answer]] = numbers
    return found


def found(name: str) -> dict[str, Any]:
    """All that is kept of a survey, as krand finds it now; of several rounds two."""
    results = results_of(name)
    shown = (*results[:1], *results[1:][-1:])
    values = {"plan": plan_values(name), "results": [results_values(each) for each in shown]}
    if world.plan(name).survey.rounds > 1:
        values["changes"] = change_values(name)
    if name in GROUPS:
        values["groups"] = group_values(name)
    return values


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what is not a finite number is its name."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value) if each.compare]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def differences(kept: Any, now: Any, place: str, near: float | None = None) -> Iterator[str]:
    """Where the two differ; what krand finds besides is no difference."""
    if isinstance(kept, dict) and isinstance(now, dict):
        beside = near if near is None else _near(kept.values())
        for key, entry in kept.items():
            at = f"{place}.{key}"
            if key not in now:
                yield f"{at} is gone"
            elif key in CHANCES + SMALL and isinstance(entry, float):
                if not math.isclose(entry, now[key], rel_tol=TAIL if key in CHANCES else SUM):
                    yield f"{at} was {entry}, is {now[key]}"
            else:
                yield from differences(entry, now[key], at, None if key in BOUNDS else beside)
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        beside = near if near is None else _near(kept)
        for number, (entry, other) in enumerate(zip(kept, now, strict=True)):
            yield from differences(entry, other, f"{place}[{number}]", beside)
    elif not _same(kept, now, near or 0.0):
        yield f"{place} was {kept!r:.80}, is {now!r:.80}"


def _near(values: Iterable[Any]) -> float:
    """How far numbers that stand beside each other may be apart."""
    return CLOSE * max((abs(each) for each in values if isinstance(each, float)), default=0.0)


def _same(kept: Any, now: Any, near: float) -> bool:
    if isinstance(kept, float) and isinstance(now, int | float):
        return math.isclose(kept, now, rel_tol=CLOSE, abs_tol=near)
    return type(kept) is type(now) and bool(kept == now)


def written(values: Mapping[str, Any]) -> str:
    """JSON with a list of numbers, or a small object, on a line."""
    text = json.dumps(values, indent=1, ensure_ascii=False)
    flat = re.sub(r"([\[{])\s+([^][{}]*?)\s+([]}])", _on_one_line, text)
    return f"{flat}\n"


def _on_one_line(match: re.Match[str]) -> str:
    return match[1] + re.sub(r"\n\s+", " ", match[2]) + match[3]


@pytest.mark.parametrize("name", NAMES)
def test_golden_numbers(name: str) -> None:
    """Every number of the plan and the results of a standard survey is what it was, but for 1e-12.

    A list that became longer or shorter, or a name that is gone, is a difference too.
    """
    expected = {key: value for key, value in kept(name).items() if key != "tallies"}
    assert list(differences(expected, found(name), name, CLOSE)) == []


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        raise SystemExit(__doc__)
    for name in NAMES:
        values = {"tallies": kept(name)["tallies"], **found(name)}
        (world.FOLDER / f"{name}.json").write_text(written(values), encoding="utf-8")
