"""Optional components: a test that needs one says so, and is skipped where it is missing."""

from __future__ import annotations

import importlib
import os
import shutil
from types import ModuleType
from typing import NoReturn

import pytest


def require(module: str) -> ModuleType:
    """The module, or a skipped test; with KRAND_REQUIRE_ALL=1 a failed one."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing(module, str(error))


def require_program(name: str) -> str:
    """The path of a program, or a skipped test; with KRAND_REQUIRE_ALL=1 a failed one."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return found or missing(name, "it is not installed")


def missing(component: str, reason: str) -> NoReturn:
    """A skipped test; with KRAND_REQUIRE_ALL=1 a failed one."""
    if os.environ.get("KRAND_REQUIRE_ALL") == "1":
        pytest.fail(f"missing component {component}, and KRAND_REQUIRE_ALL=1 ({reason})")
    pytest.skip(f"skipped: missing component {component}", allow_module_level=True)
