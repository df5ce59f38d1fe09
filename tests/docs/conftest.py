"""The documentation is built once for all tests that read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.building import built_documentation


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as HTML."""
    return built_documentation(tmp_path_factory)
