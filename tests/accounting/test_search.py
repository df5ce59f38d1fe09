"""The search for the smallest noise that passes."""

from __future__ import annotations

import pytest

from krand.accounting.search import Grid, smallest_passing
from krand.errors import InternalError


@pytest.mark.parametrize("crossing", [2, 17, 1_000, 999_999])
def test_it_finds_the_first_that_passes(crossing: int) -> None:
    assert smallest_passing(lambda n, _: (crossing - n) / 100, 50, 1, 10**6) == crossing


@pytest.mark.parametrize("crossing", [2, 17, 700, 2**10, 1_777, 2**11 - 3])
@pytest.mark.parametrize("error", [0.0, 1e-12, -1e-12])
def test_on_a_grid_rounding_errors_do_not_decide(crossing: int, error: float) -> None:
    """The first of the grid that passes, wherever the search begins; its neighbour fails."""
    grid, end = Grid(digits=5, end=2**11), 2**11 - 1
    expected = min(n for n in range(1, end + 1) if grid.up(n) == n and n >= crossing)
    for guess in (1, 500, crossing, end):
        found = smallest_passing(
            lambda n, _: (crossing - 0.5 - n) / 100 + error, guess, 1, end, grid=grid
        )
        assert found == expected
    before = grid.down(expected - 1)
    assert before < crossing
    assert grid.up(before + 1) == expected


def test_a_rise_near_the_limit_is_a_bug() -> None:
    """Whatever is found where the bound rises would be chance."""
    with pytest.raises(InternalError, match="rises"):
        smallest_passing(lambda n, _: n / 100 if n < 900 else -1.0, 600, 1, 1_000)


def test_a_rise_far_below_the_limit_is_rounding() -> None:
    """krand frontier ended with exit code 70 for 10^8 compositions: from 1e-26 to 1e-21."""

    def excess(n: int, _: bool) -> float:
        return 5.0 if n < 300 else -53.6 if n < 800 else -42.6

    assert smallest_passing(excess, 900, 1, 1_000) == 300
