"""Every printed number of the drafts is there, with its source, and judged by computation."""

from __future__ import annotations

from typing import Any

import pytest

from krand_lab.reproduction.entries import Number, Section, unit_in_the_last_place

Entries = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def numbers(values: dict[str, Any]) -> Entries:
    """By their keys, as `krand-lab drafts` writes them."""
    return {entry["key"]: entry for entry in values["numbers"]}


def agrees(entry: dict[str, Any]) -> bool:
    return entry["verdict"] == "agrees"


@pytest.mark.parametrize(
    ("printed", "unit"),
    [("0.2446", 1e-4), ("44.7", 0.1), ("37", 1.0), ("5e-53", 1e-53), ("1.5e4", 1e3)],
)
def test_the_printed_digits_say_how_precise_they_are(printed: str, unit: float) -> None:
    """One step of the last digit, whatever the notation."""
    assert unit_in_the_last_place(printed) == unit


@pytest.mark.parametrize(
    ("printed", "computed", "agrees"),
    [
        ("0.2446", 0.24454, True),  # rounded up
        ("49.94", 49.9469, True),  # cut off
        ("0.0062", 0.00679, False),
        ("10", 11.0, False),  # a whole step is one too many
        ("0.0025", 0.0008, False),
    ],
)
def test_a_number_agrees_if_it_rounds_or_is_cut_to_the_printed_digits(
    printed: str, computed: float, agrees: bool
) -> None:
    """Less than one unit of the last digit, on either side."""
    entry = Number("key", Section.TAIL, "001", "what", printed, computed)
    assert entry.agrees is agrees


@pytest.mark.nightly
def test_there_are_at_least_sixty_printed_numbers(numbers: Entries) -> None:
    """Not counting those that a sentence only implies; each names document and place."""
    printed = [entry for entry in numbers.values() if not entry["draft_is_implied"]]
    assert len(printed) >= 60
    for entry in numbers.values():
        assert entry["source"][:4] in ("000 ", "001 ", "003 ")
        assert entry["key"].startswith(entry["source"][:3])
        assert entry["what"]


@pytest.mark.nightly
def test_every_erratum_has_a_reason_and_every_simulation_a_seed(numbers: Entries) -> None:
    """The reason is written by hand; that it is needed is found by computation."""
    for entry in numbers.values():
        key, seed = entry["key"], entry["seed"]
        assert agrees(entry) or entry["why"], key
        assert (seed is not None) == key.startswith("001-6.3-failure"), key
