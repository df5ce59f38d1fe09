"""What tests cost is written down, test by test, and summed up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from timing import DURATIONS, slowest_files
from write_durations import summary

ROOT = Path(__file__).parents[1]
BUSY = "import time\nend = time.process_time() + .2\nwhile time.process_time() < end: pass\n"


def test_a_page_sums_up_folders_and_names_the_slowest() -> None:
    """A test that was run twice counts twice; files beside the folders count for themselves."""
    lines = ["1.50\t9.00\ttests/a/test_x.py::test_p", "2.00\t2.00\ttests/a/b/test_y.py::test_q[1]"]
    page = summary([*lines, "0.25\t0.30\ttests/test_z.py::test_r", lines[0]])
    assert "3 tests, 5 s in all." in page
    assert page.index("| `tests/a` | 5.0 |") < page.index("| `tests/test_z.py` | 0.2 |")
    slowest = page[page.index("## The slowest") :]
    assert slowest.index("test_p` | 3.0 |") < slowest.index("test_q[1]` | 2.0 |")


def test_the_slowest_files_are_known_from_the_page() -> None:
    """Their tests add up, and a file that is not in the table counts as nothing."""
    lines = [f"1{n}00.00\t9.00\ttests/a/test_x.py::test_p[{n}::1]" for n in (1, 2)]
    found = slowest_files(summary([*lines, "2.00\t2.00\ttests/test_z.py::test_r"]))
    assert found == {"tests/a/test_x.py": 2300.0, "tests/test_z.py": 2.0}
    assert found["tests/test_other.py"] == 0
    assert len(slowest_files(DURATIONS.read_text(encoding="utf-8"))) > 10


def test_the_tests_of_the_slowest_files_come_first(pytestconfig: pytest.Config) -> None:
    """Whatever their names are."""
    plugin = pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    names = [
        "tests/a/test_fast.py::test_q",
        f"{slowest()}::test_p[1]",
        "tests/a/test_fast.py::test_r",
    ]
    items = [SimpleNamespace(nodeid=name) for name in names]
    plugin.pytest_collection_modifyitems(pytestconfig, items)
    assert [item.nodeid for item in items] == [names[1], names[0], names[2]]


def slowest() -> str:
    seconds = slowest_files(DURATIONS.read_text(encoding="utf-8"))
    return max(seconds, key=seconds.__getitem__)


def test_processes_that_a_test_starts_are_counted(tmp_path: Path) -> None:
    """Work in another process costs the test that waits for it."""
    code = (
        f"import subprocess, sys\ndef test_one(): subprocess.run([sys.executable, '-c', {BUSY!r}])"
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
    (line,) = (tmp_path / "costs.tsv").read_text(encoding="utf-8").splitlines()
    spent, _, name = line.split("\t")
    assert name.endswith("test_busy.py::test_one")
    assert float(spent) >= 0.2
