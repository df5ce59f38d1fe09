"""What tests cost is written down, test by test, and summed up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from timing import FIXTURES
from write_durations import summary

ROOT = Path(__file__).parents[1]
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
