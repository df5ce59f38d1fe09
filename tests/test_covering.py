"""What the tests rest on: variants that are left out, costs that are counted, faults to plant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from covering import SELECTION, covering, left_out, parameters_of
from mutations import MUTATIONS, ROOT, SOURCE, Mutation
from timing import FIXTURES, summary

pytest_plugins = ["pytester"]
SUITE = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("linkage", ["bit", "record"])
@pytest.mark.parametrize(("people", "bits"), [(12, 1), (12, 40), (20_000, 1), (20_000, 40)])
@pytest.mark.parametrize("seed", range(3))
def test_crossed(people, bits, linkage, seed): ...

@pytest.mark.slow
@pytest.mark.parametrize("one", range(5))
def test_alone(one): ...

@pytest.mark.parametrize("one", [1, pytest.param(2, marks=pytest.mark.check)])
def test_with_a_slow_level(one): ...

@pytest.mark.check
def test_whole(): ...

@pytest.mark.loop
def test_repeated(): ...

@pytest.mark.long
def test_endless(): ...
"""
EVERYTHING = 24 + 5 + 2 + 3


@pytest.fixture
def suite(pytester: pytest.Pytester) -> list[pytest.Item]:
    """The tests above, all of them."""
    items, _ = pytester.inline_genitems(pytester.makepyfile(SUITE))
    assert len(items) == EVERYTHING
    return items


def names(items: list[pytest.Item]) -> list[str]:
    return [item.name.partition("[")[0] for item in items]


def run(items: list[pytest.Item], *named: str, **kind: bool) -> list[pytest.Item]:
    gone = left_out(items, named, **{"check": False, "long": False} | kind)
    return [item for item in items if item not in gone]


def test_make_test_tries_every_level_and_every_pair_that_crosses(suite: list[pytest.Item]) -> None:
    """Levels of one list of cases do not cross: (12, 1) and (20,000, 40) show all four."""
    crossed = [item for item in run(suite) if item.name.startswith("test_crossed")]
    seen = [item.callspec.params for item in crossed]  # type: ignore[attr-defined]
    linkages = {"bit", "record"}
    levels: dict[str, set[object]] = {"people": {12, 20_000}, "bits": {1, 40}, "seed": {0, 1, 2}}
    for name, values in levels.items():
        assert {(params[name], params["linkage"]) for params in seen} == {
            *product(values, linkages)
        }
    for one in ("people", "bits"):
        expected = {*product(levels[one], levels["seed"])}
        assert {(params[one], params["seed"]) for params in seen} == expected
    assert 6 <= len(seen) < 24


def test_the_other_markers_leave_out_what_they_say(suite: list[pytest.Item]) -> None:
    quick, check, long = run(suite), run(suite, check=True), run(suite, check=True, long=True)
    assert names(quick).count("test_alone") == 5
    assert names(quick)[-2:] == ["test_with_a_slow_level", "test_repeated"]
    assert [name for name in names(suite) if name not in names(check)] == ["test_endless"]
    assert len(check) == EVERYTHING - 1
    assert long == suite


def test_what_is_named_is_run(suite: list[pytest.Item]) -> None:
    """Whole tests, and single variants; a file's name is not a test's."""
    file = suite[0].nodeid.partition("::")[0]
    chosen = run(suite, f"{file}::test_whole", f"{file}::test_crossed", file)
    assert names(chosen).count("test_crossed") == 24
    assert "test_whole" in names(chosen)
    assert "test_endless" not in names(chosen)


@pytest.mark.parametrize("sizes", [(1,), (4,), (3, 3), (2, 3, 4), (5, 5, 5), (2, 2, 2, 2, 2)])
def test_few_variants_cover_a_product(sizes: tuple[int, ...]) -> None:
    """Every pair of levels is there; three dimensions of five take at most 40 variants of 125."""
    whole = list(product(*map(range, sizes)))
    variants = [[{f"d{place}": level} for place, level in enumerate(one)] for one in whole]
    chosen = [whole[place] for place in covering(variants)]
    for one, other in combinations(range(len(sizes)), 2):
        pairs = {(variant[one], variant[other]) for variant in chosen}
        assert pairs == set(product(range(sizes[one]), range(sizes[other])))
    assert {variant[0] for variant in chosen} == set(range(sizes[0]))
    assert len(chosen) <= max(40, sizes[0]) if len(sizes) > 2 else len(whole)


def test_values_that_cannot_be_hashed_are_levels_too() -> None:
    """And 1 is not True."""
    variants: list[list[dict[str, Any]]] = [[{"a": [1]}], [{"a": [2]}], [{"a": 1}], [{"a": True}]]
    assert covering([*variants, variants[0]]) == {0, 1, 2, 3}


def test_a_test_without_parameters_stays() -> None:
    item: Any = SimpleNamespace(nodeid="tests/a.py::test_a")
    assert parameters_of(item) == ()
    assert covering([parameters_of(item)]) == {0}


def test_every_file_has_a_test_in_make_test(pytestconfig: pytest.Config) -> None:
    """A file that is left to `make check` as a whole says so at its top."""
    kept, gone = pytestconfig.stash[SELECTION]
    for file in {item.path for item in gone} - {item.path for item in kept}:
        text = Path(file).read_text(encoding="utf-8")
        told = re.search(r"^pytestmark = pytest.mark.(check|long)$", text, re.MULTILINE)
        assert told, f"{file}: nothing of it is in make test"


BUSY = "import time\nend = time.process_time() + .2\nwhile time.process_time() < end: pass\n"


def test_a_page_sums_up_folders_files_and_tests() -> None:
    """A test that was run twice counts twice; files beside the folders count for themselves."""
    lines = ["1.50\ttests/a/test_x.py::test_p", "2.00\ttests/a/b/test_y.py::test_q[1]"]
    shared = f"0.50\ttests/a/test_x.py::{FIXTURES}"
    page = summary([*lines, shared, "0.25\ttests/test_z.py::test_r", lines[0]])
    assert "3 tests, 6 s in all." in page
    assert page.index("| `tests/a` | 5.5 |") < page.index("| `tests/test_z.py` | 0.2 |")
    assert page.index("| `tests/a/test_x.py` | 3.5 |") < page.index("| `tests/a/b/test_y.py` | 2.0")
    assert page.index("test_p` | 3.0 |") < page.index("test_q[1]` | 2.0 |")


@pytest.mark.check
def test_work_of_processes_and_of_fixtures_is_counted(tmp_path: Path) -> None:
    """Work in another process costs the test that waits for it; what a fixture does, the file."""
    code = (
        "import subprocess, sys, pytest\n"
        f"def busy(): subprocess.run([sys.executable, '-c', {BUSY!r}])\n"
        "@pytest.fixture(scope='module')\ndef server():\n    yield\n    busy()\n"
        "def test_one(server): busy()\n"
        "def test_two(server): pass\n"
    )
    (tmp_path / "test_busy.py").write_text(code, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom timing import Costs\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(Costs(Path('costs.tsv').absolute()))\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    spent: Counter[str] = Counter()
    for line in (tmp_path / "costs.tsv").read_text(encoding="utf-8").splitlines():
        seconds, name = line.split("\t")
        spent[name.rpartition("::")[2]] += float(seconds)
    assert spent["test_one"] >= 0.2
    assert spent["test_two"] < 0.2 <= spent[FIXTURES]


ROOMS = ("accounting", "wire", "mixing", "collector", "partners", "analysis", "client")


@pytest.mark.check
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.breaks)
def test_a_fault_can_be_planted_and_has_tests_near_it(mutation: Mutation) -> None:
    """Whoever rewrites the line rewrites the fault."""
    text = (SOURCE / mutation.file).read_text(encoding="utf-8")
    compile(mutation.planted(text), mutation.file, "exec")
    missing = [name for name in mutation.near.split() if not (ROOT / "tests" / name).exists()]
    assert missing == []


def test_there_are_forty_faults_in_the_rooms_that_promise_something() -> None:
    assert len(MUTATIONS) >= 40
    assert len({mutation.breaks for mutation in MUTATIONS}) == len(MUTATIONS)
    counted = Counter(mutation.room for mutation in MUTATIONS)
    assert set(counted) == set(ROOMS)
    assert min(counted.values()) >= 5
