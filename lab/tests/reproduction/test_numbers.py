"""Every printed number of the drafts is there, with its source, and judged by computation."""

from __future__ import annotations

from typing import Any

import pytest

from krand_lab.reproduction.entries import Number, Section, unit_in_the_last_place

Entries = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def numbers(values: dict[str, Any]) -> Entries:
    """By their keys, as `krand drafts` writes them."""
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


@pytest.mark.check
def test_there_are_at_least_sixty_printed_numbers(numbers: Entries) -> None:
    """Not counting those that a sentence only implies; each names document and place."""
    printed = [entry for entry in numbers.values() if not entry["draft_is_implied"]]
    assert len(printed) >= 60
    for entry in numbers.values():
        assert entry["source"][:4] in ("000 ", "001 ", "003 ")
        assert entry["key"].startswith(entry["source"][:3])
        assert entry["what"]


@pytest.mark.check
def test_every_erratum_has_a_reason_and_every_simulation_a_seed(numbers: Entries) -> None:
    """The reason is written by hand; that it is needed is found by computation."""
    for entry in numbers.values():
        key, seed = entry["key"], entry["seed"]
        assert agrees(entry) or entry["why"], key
        assert (seed is not None) == key.startswith("001-6.3-failure"), key


@pytest.mark.check
def test_what_the_drafts_get_right(numbers: Entries) -> None:
    """Formulas that stand give the printed digits."""
    for key in (
        "000-0.19",
        "000-1.23",
        "000-1.24",
        "000-0.28-low",
        "000-0.28-high",
        "003-4.45",
        "003-4.54-low",
        "003-4.55-high",
        "001-3.3-2-1000-noise",
        "001-3.3-2-3000-noise",
        "001-3.3-e2-5000-noise",
        "001-3.3-e2-1000-tail",
        "001-4.3",
        "001-4-long-noise",
        "001-4-long-local",
    ):
        assert agrees(numbers[key]), key


@pytest.mark.check
def test_the_known_errata_are_found(numbers: Entries) -> None:
    """Each with the value it should have."""
    known = {
        "000-sigma": 6.0,
        "000-0.26-low": 288.6,
        "000-0.26-high": 378.1,
        "000-0.29-low": 16.99,
        "003-4.52-low": 621.95,
        "001-3.3-2-5000-noise": 0.1963,
        "001-3.3-2-1000-tail": 0.007068,
        "001-3.3-2-3000-tail": 0.006412,
        "001-3.3-2-5000-tail": 0.04271,
        "001-3.3-e2-3000-tail": 0.00679,
        "001-3.3-e2-5000-tail": 0.008633,
        "001-3.4-bound-1000": 0.0111,
        "001-3.4-bound-3000": 0.0111,
        "001-3.4-bound-5000": 0.0111,
        "001-4-local-sigma": 7.208,
        "001-6.3-failure-50": 0.608,
        "001-6.3-failure-200": 0.988,
        "001-1.2-one-bit": 0.00461,
    }
    for key, value in known.items():
        assert not agrees(numbers[key]), key
        assert numbers[key]["computed"] == pytest.approx(value, rel=5e-3), key
    for key in ("001-3.4-tail-1000", "001-5-set-bits-1", "001-6.3-failure-16"):
        assert not agrees(numbers[key])
        assert numbers[key]["exposes"]


@pytest.mark.check
def test_what_exposes_people_is_said(numbers: Entries) -> None:
    """Noise too small or a tail larger than printed is marked, a slip of the pen is not."""
    wrong = {key for key, entry in numbers.items() if entry["exposes"]}
    assert {"001-3.3-2-5000-noise", "001-3.3-2-5000-tail", "001-6.3-failure-4"} <= wrong
    assert not {"000-sigma", "000-0.29-low", "001-4-local-sigma", "003-noise-ratio"} & wrong
    for key in wrong:
        if key.endswith("-tail"):
            assert numbers[key]["computed"] > numbers[key]["draft"]
