"""Optional components: a test that needs one says so, and is skipped where it is missing."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest


def require(module: str) -> ModuleType:
    """The module, or a skipped test; with KRAND_REQUIRE_ALL=1 a failed one."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"skipped: missing component {module}"
        if os.environ.get("KRAND_REQUIRE_ALL") == "1":
            pytest.fail(f"missing component {module}, and KRAND_REQUIRE_ALL=1 ({error})")
        pytest.skip(message, allow_module_level=True)
