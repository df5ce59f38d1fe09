"""A device needs numpy, cryptography and pydantic, and nothing else that krand can use."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from vectors import CASES

NEEDED = (
    *("krand", "numpy", "cryptography", "cffi", "_cffi_backend"),
    *("pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"),
)
ABSENT = ("scipy", "pyarrow", "click", "rich", "jinja2")
FORBIDDEN = {*ABSENT, "krand.accounting", "krand.planning", "krand_lab", "krand.survey.reading"}

TAKE_PART = """
import json, sys
import krand
plan = krand.read_plan("plan.json")
signatures = krand.read_signatures("signatures.json")
ledger = krand.Ledger("ledger.sqlite")
client = krand.Client(plan, ledger, expected_hash=sys.argv[1], signatures=signatures)
schedule = plan.survey.schedule
if schedule:
    client.now = lambda: schedule.window(int(sys.argv[2]))[0]
made = client.prepare({"smokes": True}, int(sys.argv[2]))
print(json.dumps({"lengths": list(map(len, made.messages)), "loaded": sorted(sys.modules)}))
"""


def _linked(module: str, folder: Path) -> None:
    """Put a package, or a compiled module, there as a link, with the libraries in its wheel."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    place = Path(spec.origin)
    place = place.parent if place.name == "__init__.py" else place
    (folder / place.name).symlink_to(place)
    libraries = place.with_name(f"{module}.libs")  # where numpy's wheel for Linux keeps BLAS
    if libraries.is_dir():
        (folder / libraries.name).symlink_to(libraries)


def _run(python: Path, code: str, *arguments: str, folder: Path | None = None) -> str:
    command = [str(python), "-I", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with links to what a device needs, made offline."""
    folder = tmp_path_factory.mktemp("device")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    packages = _run(python, "import sysconfig; print(sysconfig.get_path('purelib'))")
    for module in NEEDED:
        _linked(module, Path(packages.strip()))
    find = "import importlib.util as u, sys; print([m for m in sys.argv[1:] if u.find_spec(m)])"
    assert _run(python, find, *ABSENT) == "[]\n"
    return python


@pytest.mark.parametrize("name", ["every kind", "three mixers, third round"])
def test_a_device_reads_a_plan_and_makes_a_submission(
    device: Path, tmp_path: Path, name: str
) -> None:
    """The plan and its signatures are files; numpy and cryptography seal all layers."""
    case = CASES[name]
    (tmp_path / "plan.json").write_bytes(case["plan"].encode())
    (tmp_path / "signatures.json").write_text(json.dumps(case["signatures"]), encoding="utf-8")
    given = (case["hash"], str(case["round"]))
    said = json.loads(_run(device, TAKE_PART, *given, folder=tmp_path))
    length = 19 + sum(said["lengths"])
    assert (len(said["lengths"]), length) == (len(case["messages"]), case["submission_length"])
    assert not FORBIDDEN & set(said["loaded"])


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("krand.client.client", {*FORBIDDEN, "numpy", "http.client", "ssl"}),
        ("krand.wire.messages", {"numpy", "cryptography"}),
        ("krand.wire.layers", {"numpy"}),
        ("krand.cli.commands.keygen", {"numpy", "cryptography", "rich"}),
    ],
)
def test_nothing_is_loaded_before_it_is_needed(module: str, heavy: set[str]) -> None:
    """Also where everything is installed: many an app only shows a survey."""
    code = f"import {module}, json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(_run(Path(sys.executable), code)))
    assert module in loaded
    assert not heavy & loaded
