"""Tallies add up in any order, each batch once, and come back from their files."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import reduce
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collecting import exact_plan
from krand.analysis.checks import State
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, empty_tally, merged, read_tally, tally_from
from krand.analysis.tally_checks import tally_checks
from krand.errors import InvalidInput
from krand.promise import Linkage

NOTHING = empty_tally("ab" * 32, Linkage.RECORD, 3, joint=((0, 2),), lanes=1)


def tally(seed: int, **changes: Any) -> Tally:
    """Some numbers, all different."""
    random = np.random.default_rng(seed)
    values: dict[str, Any] = {
        "people": 100 + seed,
        "crowd": 100 + seed,
        "responses": 200 + seed,
        "counts": random.integers(0, 99, 3),
        "table": random.integers(0, 99, 8),
        "joint": {(0, 2): random.integers(0, 99, 4)},
        "histogram": random.integers(0, 99, 4),
        "nulls": seed,
        "lane_nulls": np.array([seed]),
        "rejected": {"wrong_length": seed, f"reason {seed % 2}": 1},
        "batches": (f"{seed:064x}",),
    }
    return replace(NOTHING, **{**values, **changes})


def test_any_order_and_grouping_gives_the_same() -> None:
    """Addition is associative and commutative, with nothing as its zero."""
    parts = [tally(seed) for seed in range(4)]
    expected = reduce(merged, parts)
    for order in permutations(parts):
        first, second, third, fourth = order
        assert merged(merged(first, second), merged(third, fourth)).same_as(expected)
        assert merged(first, merged(second, merged(third, fourth))).same_as(expected)
    assert merged(NOTHING, expected).same_as(expected)
    assert merged(expected, NOTHING).same_as(expected)
    assert expected.people == 406
    assert expected.crowd == 100  # the smallest batch: each was shuffled alone
    assert expected.rejected["wrong_length"] == 6
    assert np.array_equal(expected.counts, sum(part.counts for part in parts))
    assert expected.lane_nulls.tolist() == [6]


def test_whoever_answered_nothing_is_counted_too() -> None:
    """Thirty of forty people gave one answer: ten gave none."""
    plan = exact_plan(30, Linkage.BIT)
    nobody = empty_tally(plan.hash, Linkage.BIT, plan.layout.positions)
    counts = np.zeros(plan.layout.positions, np.int64)
    counts[0] = 30
    counted = replace(nobody, people=40, crowd=40, responses=40, counts=counts)
    (block,) = block_counts(plan, counted)
    assert block.consistent()[:2] == pytest.approx([10, 30], abs=1e-6)


@pytest.mark.check
@pytest.mark.parametrize(("responses", "state"), [(80, State.PASSED), (81, State.FAILED)])
def test_nobody_has_more_responses_than_copies(responses: int, state: State) -> None:
    """Forty people with two copies of a record each, and one response too many."""
    plan = exact_plan(30, Linkage.RECORD, copies=2)
    nobody = empty_tally(plan.hash, Linkage.RECORD, plan.layout.positions)
    counted = replace(nobody, people=40, crowd=40, responses=responses, histogram=None, table=None)
    (found,) = (one for one in tally_checks(plan, counted) if one.name == "counts")
    assert found.state is state


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (tally(2, plan_hash="cd" * 32), "cdcd"),
        (tally(2, round=2), "round"),
        (tally(2, batches=tally(1).batches), "counted twice"),
        (tally(2, joint={}), "the same bits jointly"),
    ],
)
def test_what_does_not_belong_together_is_refused(other: Tally, message: str) -> None:
    """Another plan or round, a batch that is in both, other joint counts."""
    with pytest.raises(InvalidInput, match=message):
        merged(tally(1), other)


@pytest.mark.parametrize(
    "of",
    [
        tally(3),
        tally(3, joint={}, rejected={}),
        tally(3, lane_nulls=None, nulls=0),
        NOTHING,
        empty_tally("ab" * 32, Linkage.BIT, 50),
    ],
)
def test_files_give_back_every_number(of: Tally, tmp_path: Path) -> None:
    """Written, read, and sent to another process."""
    of.save(tmp_path / "t.json")
    assert read_tally(tmp_path / "t.json").same_as(of)
    assert pickle.loads(pickle.dumps(of)).same_as(of)


BROKEN: list[dict[str, Any]] = [
    {"format": "krand-tally-9"},
    {"people": -1},
    {"people": 1.5},
    {"people": True},
    {"counts": [1, 2]},
    {"counts": [1, 2, -3]},
    {"counts": [1, 2, 2**63]},
    {"counts": ["1", "2", "3"]},
    {"table": None},
    {"table": [0] * 7},
    {"histogram": [0] * 3},
    {"linkage": "none"},
    {"joint": [{"bits": [0, 1], "counts": [1]}]},
    {"rejected": []},
    *({"lane_nulls": nulls} for nulls in (None, [], [-1], "many", [1, 2])),
]


@pytest.mark.parametrize("change", BROKEN)
def test_other_files_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    """With the name of the format; never a traceback."""
    values = {**tally(1).values(), **change}
    (tmp_path / "t.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InvalidInput, match="krand-tally-1"):
        read_tally(tmp_path / "t.json")


def test_values_are_plain() -> None:
    """What is written can be read by anybody's JSON, and missing keys are noticed."""
    values = tally(1).values()
    assert tally_from(json.loads(json.dumps(values))).same_as(tally(1))
    for key in values:
        with pytest.raises((KeyError, ValueError)):
            tally_from({k: v for k, v in values.items() if k != key})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the system's reason."""
    with pytest.raises(InvalidInput, match="no such file"):
        read_tally(tmp_path / "absent")
