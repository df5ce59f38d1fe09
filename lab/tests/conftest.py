"""Settings that the tests of krand-lab share with those of krand."""

from __future__ import annotations

from pathlib import Path

import pytest

import conftest as shared
from conftest import own_state as own_state
from conftest import plain_terminal as plain_terminal

TESTS_OF_KRAND = Path(__file__).parents[2] / "tests" / "conftest.py"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The same choice and order of tests, once if the tests of krand run as well."""
    if not config.pluginmanager.has_plugin(str(TESTS_OF_KRAND)):
        shared.pytest_collection_modifyitems(config, items)
