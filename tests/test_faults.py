"""The planted faults are of the code as it is: `python tests/faults.py` plants them."""

from __future__ import annotations

import pytest

from faults import ROOT, Fault, faults

FAULTS = tuple(faults())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.name}: {fault.breaks}")
def test_what_is_replaced_stands_once(fault: Fault) -> None:
    """And the tests beside it are there."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    for name in fault.near:
        file, _, test = name.partition("::")
        assert (ROOT / "tests" / file).exists()
        assert not test or f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_there_are_sixty_in_many_rooms() -> None:
    assert len(FAULTS) >= 60
    assert len({fault.room for fault in FAULTS}) >= 16
