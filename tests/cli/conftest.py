"""What tests of commands share."""

from __future__ import annotations

from functools import cache

import pytest

from krand.planning.making import promise_for


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise is not computed twice, where most tests are about one and the same plan."""
    for module in ("planning.making", "analysis.actual_promise"):
        monkeypatch.setattr(f"krand.{module}.promise_for", _promise_for)


_promise_for = cache(promise_for)
