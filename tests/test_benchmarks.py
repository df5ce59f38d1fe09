"""Benchmarks find what they take from krand, and their committed results."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_the_committed_results_have_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that `make bench-check` compares."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    check = importlib.import_module("check")
    for one in check.CHECKS:
        text = (BENCHMARKS / one.file).read_text(encoding="utf-8")
        assert len(check.rows_of(text, one.head)) >= 4


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_takes_from_krand_is_there(path: Path) -> None:
    """Most of them run for minutes and by hand: a name that has moved would be found late."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for taken in ast.walk(tree):
        if isinstance(taken, ast.ImportFrom) and (taken.module or "").split(".")[0] == "krand":
            module = importlib.import_module(str(taken.module))
            for name in taken.names:
                found = hasattr(module, name.name)
                assert found or importlib.import_module(f"{taken.module}.{name.name}"), name.name
