"""The table of faults names what stands in the source, and tests that there are."""

from __future__ import annotations

from collections import Counter

import pytest

from mutations import MUTATIONS, ROOT, SOURCE, Mutation

ROOMS = ("accounting", "wire", "mixing", "collector", "analysis", "client")


@pytest.mark.check
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.breaks)
def test_a_fault_can_be_planted_and_has_tests_near_it(mutation: Mutation) -> None:
    """Whoever rewrites the line rewrites the fault."""
    text = (SOURCE / mutation.file).read_text(encoding="utf-8")
    compile(mutation.planted(text), mutation.file, "exec")
    missing = [name for name in mutation.near.split() if not (ROOT / "tests" / name).exists()]
    assert missing == []


def test_there_are_forty_faults_in_the_rooms_that_promise_something() -> None:
    assert len(MUTATIONS) >= 40
    assert len({mutation.breaks for mutation in MUTATIONS}) == len(MUTATIONS)
    counted = Counter(mutation.room for mutation in MUTATIONS)
    assert set(counted) == set(ROOMS)
    assert min(counted.values()) >= 5
