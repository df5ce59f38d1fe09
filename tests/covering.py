"""Which tests and variants each test command runs: markers at the tests say what is slow.

`slow`: a test of many variants. `make test` tries every level of every parameter, and every pair of
levels where parameters cross; `make check` tries all variants. `check`: left to `make check` as a
whole. `long`: left to `make long`. Whatever is named with `::` on the command line is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest

from effort import CHECK, LONG

SELECTION = pytest.StashKey[tuple[list[pytest.Item], list[pytest.Item]]]()
"""Of the run: what it tries, and what it leaves out."""

Level = tuple[str, Hashable]
"""A parameter's name, and one of its values."""
Variant = Sequence[Mapping[str, Any]]
"""The parameters of a variant, those of one list of cases together."""


def left_out(
    items: Sequence[pytest.Item], named: Iterable[str], check: bool = CHECK, long: bool = LONG
) -> list[pytest.Item]:
    """The tests that this command leaves to a longer one."""
    wanted = tuple(name for name in named if "::" in name)
    for_others = [
        item
        for item in items
        if not _is_named(item, wanted)
        and (
            (item.get_closest_marker("long") and not long)
            or (item.get_closest_marker("check") and not check)
        )
    ]
    if check:
        return for_others
    gone = set(for_others)
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item not in gone and item.get_closest_marker("slow") and not _is_named(item, wanted):
            tests[item.nodeid.partition("[")[0]].append(item)
    for variants in tests.values():
        kept = covering([parameters_of(item) for item in variants])
        for_others += [item for place, item in enumerate(variants) if place not in kept]
    return for_others


def covering(variants: Sequence[Variant]) -> set[int]:
    """Places of few variants in which every level, and every pair of levels that cross, occurs.

    The greedy choice: always the first of those variants that show the most that is not yet seen.
    """
    shows = [set(_seen_in(variant)) for variant in variants]
    missing = set().union(*shows)
    chosen: set[int] = set()
    while missing:
        best = max(range(len(shows)), key=lambda place: len(shows[place] & missing))
        chosen.add(best)
        missing -= shows[best]
    return chosen or set(range(min(1, len(variants))))


def parameters_of(item: pytest.Item) -> Variant:
    """The parameters of a test's variant: one mapping for each `parametrize` or fixture."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ()
    rest = dict(callspec.params)
    groups = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        listed = names.split(",") if isinstance(names, str) else names
        groups.append({name.strip(): rest.pop(name.strip()) for name in listed})
    return (*groups, *({name: value} for name, value in rest.items()))


def _seen_in(variant: Variant) -> Iterator[Level | tuple[Level, Level]]:
    levels = [[(name, _level(value)) for name, value in group.items()] for group in variant]
    for group in levels:
        yield from group
    for one, other in combinations(levels, 2):
        yield from ((a, b) for a in one for b in other)


def _level(value: object) -> Hashable:
    """A value that can be compared; 1 and True are two of them."""
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return type(value), value


def _is_named(item: pytest.Item, wanted: tuple[str, ...]) -> bool:
    """Whether the command line names this test, or its class or function."""
    return any(item.nodeid.startswith(name) for name in wanted)
