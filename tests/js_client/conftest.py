"""The client is built once for each process of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from js_client.javascript import built_internals


@pytest.fixture(scope="session")
def internals() -> Path:
    """All modules of the client in one file."""
    return built_internals()
