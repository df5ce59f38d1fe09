"""A device needs krand, numpy and cryptography, and nothing else that krand can use."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from krand.testing import small_plan
from krand.wire.keys import generate_private_key
from krand.wire.plan_signatures import signature_bytes
from mixed_plans import party_for, survey_for

NEEDED = ("krand", "numpy", "cryptography", "cffi", "_cffi_backend")
ABSENT = ("scipy", "pyarrow", "pydantic", "click", "rich", "jinja2")
FORBIDDEN = (*ABSENT, "krand.accounting", "krand.planning", "krand_lab", "krand.survey.reading")

TAKE_PART = """
import json, sys
import krand
plan = krand.read_plan("plan.json")
client = krand.Client(plan, krand.Ledger("ledger.sqlite"), expected_hash=sys.argv[1])
submission = client.prepare({"smokes": True, "pet": "cat"})
print(json.dumps({"messages": len(submission.messages), "planned": plan.messages,
                  "loaded": sorted(sys.modules)}))
"""


THROUGH_MIXERS = """
import json, sys
import krand
from krand.wire.plan_signatures import read_signature
plan = krand.read_plan("plan.json")
signatures = [read_signature(name) for name in sys.argv[2:]]
ledger = krand.Ledger("ledger.sqlite")
client = krand.Client(plan, ledger, expected_hash=sys.argv[1], signatures=signatures)
submission = client.prepare({"smokes": True, "pet": "cat"})
print(json.dumps({"lengths": list(map(len, submission.messages)), "loaded": sorted(sys.modules)}))
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


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with links to what a device needs, made offline."""
    folder = tmp_path_factory.mktemp("device")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout[:-1])
    for module in NEEDED:
        _linked(module, packages)
    return python


def _run(python: Path, code: str, *arguments: str, folder: Path | None = None) -> str:
    command = [str(python), "-I", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ABSENT)
def test_the_device_lacks_what_it_must_not_need(device: Path, module: str) -> None:
    """The other tests can fail: the module cannot be imported there."""
    find = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]))"
    assert _run(device, find, module) == "None\n"


def test_a_device_reads_a_plan_and_makes_a_submission(device: Path, tmp_path: Path) -> None:
    """From plan.json to sealed messages, with numpy and cryptography alone."""
    plan = small_plan().sealed_for(generate_private_key().public_key())
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    said = json.loads(_run(device, TAKE_PART, plan.hash, folder=tmp_path))
    assert said["messages"] == said["planned"] == plan.messages
    assert not set(FORBIDDEN) & set(said["loaded"])


def test_a_device_seals_for_mixers(device: Path, tmp_path: Path) -> None:
    """The plan and its signatures are files; nothing more is needed for layers."""
    chain = party_for(survey_for(3, rounds=1))
    (tmp_path / "plan.json").write_bytes(chain.plan.bytes)
    names = [f"signature-{place}.json" for place in range(3)]
    for name, signature in zip(names, chain.signatures, strict=True):
        (tmp_path / name).write_bytes(signature_bytes(signature))
    code, name = THROUGH_MIXERS, chain.plan.hash
    said = json.loads(_run(device, code, name, *names, folder=tmp_path))
    assert said["lengths"] == [150] * chain.plan.messages
    assert not set(FORBIDDEN) & set(said["loaded"])


def test_the_client_loads_nothing_that_a_device_does_not_need() -> None:
    """Also where everything is installed, and no network before there is something to send."""
    code = "import krand.client.client, json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(_run(Path(sys.executable), code)))
    assert "krand.client.client" in loaded
    assert not {*FORBIDDEN, "http.client", "ssl"} & loaded
    assert "cryptography.hazmat.primitives.serialization.ssh" not in loaded
