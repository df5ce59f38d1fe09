"""A clock for all tests of partners, which goes only when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos import Clock
from components import require
from partners.in_threads import START

for name in ("uvicorn", "starlette", "mnemonic"):
    require(name)


@pytest.fixture
def clock(tmp_path: Path) -> Iterator[Clock]:
    with Clock(tmp_path, START) as found:
        yield found
