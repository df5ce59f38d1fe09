"""What commands print, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from krand.terminal.plain_console import PlainConsole

TOLD = "It holds for ε = 1, δ = 10⁻⁶ and gives ± 7 people, or 0.5 % of 1,400 people, at 95 %."
FRAME = re.compile("[─-╿]")


def _table(text: str) -> Table:
    table = Table("told")
    table.add_row(text)
    return table


@pytest.mark.parametrize("width", range(24, 60, 3))
@pytest.mark.parametrize("made", [str, Text, Panel, _table])
def test_no_line_ends_between_a_number_and_its_sign(
    width: int, made: Callable[[str], RenderableType]
) -> None:
    """However narrow the terminal is. What is printed are spaces, which people search for."""
    stream = StringIO()
    PlainConsole(file=stream, width=width, color_system=None).print(made(TOLD))
    lines = [FRAME.sub("", line).strip() for line in stream.getvalue().splitlines()]
    assert not [line for line in lines if re.search(r"(^|\s)([εδ=±]|[\d.,]*\d)$", line)]
    assert " ".join(lines).split()[-len(TOLD.split()) :] == TOLD.split()
