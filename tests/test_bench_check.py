"""`make bench-check` notices ratios that have become worse, and nothing else."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
HEAD = "krand is … times as fast"


def page(*ratios: str) -> str:
    rows = "\n".join(f"| numpy | by {n} | {ratio} |" for n, ratio in enumerate(ratios))
    return f"# Results\n\n| {HEAD} | by | q = 0.01 |\n| --- | --: | --: |\n{rows}\n\nThe end.\n"


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("check")


@pytest.mark.parametrize(
    ("now", "larger_is_better", "wrong"),
    [
        (("100", "1,000"), True, []),
        (("51", "9,000"), True, []),
        (("49", "1,000"), True, ["by 0"]),
        (("100", "499"), True, ["by 1"]),
        (("201", "1,000"), False, ["by 0"]),
        (("199", "501"), False, []),
    ],
)
def test_a_ratio_may_differ_by_a_factor(
    check: ModuleType, now: tuple[str, ...], larger_is_better: bool, wrong: list[str]
) -> None:
    """Where larger is better only a smaller one is wrong; all words of a row name it."""
    asked = check.Check("a.md", HEAD, str, 2.0, larger_is_better)
    committed, fresh = (check.rows_of(page(*r), HEAD) for r in (("100", "1,000"), now))
    found = list(check.differences(asked, committed, fresh))
    assert [line.split(", ")[1] for line in found] == wrong


def test_a_table_that_is_gone_is_noticed(check: ModuleType) -> None:
    """Neither a missing table nor one without common rows passes for agreement."""
    with pytest.raises(LookupError, match="no table"):
        check.rows_of(page("1"), "another head")
    rows = check.rows_of(page("1"), HEAD)
    asked = check.Check("a.md", HEAD, str, 2.0, larger_is_better=True)
    assert list(check.differences(asked, rows, {}))


def test_the_committed_results_have_the_tables(check: ModuleType) -> None:
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
