"""The service unit of a mixer: a command that krand knows, hardened like the collector."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from components import require_program
from docs.running import krand_calls, parse

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
MIXER, COLLECTOR = DEPLOY / "krand-mixer.service", DEPLOY / "krand-collector.service"
OWN = {
    "Description",
    "After",  # of the network, which a mixer does not use
    "ExecStart",
    "DynamicUser",  # a mixer has a user of its own, as whom its operator works
    "StateDirectory",
    "UMask",  # others fetch what it writes
    "RestrictAddressFamilies",
    "IPAddressAllow",
    "StandardOutput",
}
"""Settings in which the two services differ for a reason."""

OPTIONS = ("Environment", "KRAND_OPTIONS=--form")
"""Those of the survey that a collector serves."""


def settings(unit: Path) -> list[tuple[str, str]]:
    lines = unit.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line[:1].isalpha())
    return [(name, value) for name, _, value in pairs]


def test_it_is_hardened_like_the_collector() -> None:
    """Every restriction of the collector is there, and the network is away altogether."""
    wanted = [pair for pair in settings(COLLECTOR) if pair[0] not in OWN and pair != OPTIONS]
    assert len(wanted) > 30
    missing = [pair for pair in wanted if pair not in settings(MIXER)]
    assert not missing
    found = dict(settings(MIXER))
    assert found["PrivateNetwork"] == "yes"
    assert found["User"] != "root"
    assert found["KillMode"] == "mixed", "otherwise the processes that open messages end first"


def test_its_command_exists() -> None:
    """With every option that it names; the anchor is not in the store's folder."""
    (call,) = krand_calls(dict(settings(MIXER))["ExecStart"])
    parse(call)
    store, anchor = (Path(call[call.index(name) + 1]) for name in ("--store", "--anchor"))
    assert store.parent not in anchor.parents
    assert call[:2] == ["mix", "watch"]


@pytest.mark.parametrize("unit", [MIXER, COLLECTOR], ids=lambda unit: unit.stem)
def test_systemd_knows_its_settings(unit: Path, tmp_path: Path) -> None:
    """No unknown or misspelled setting; krand itself need not be installed there."""
    text = unit.read_text(encoding="utf-8").replace("/opt/krand/bin/krand", "/bin/true")
    (tmp_path / unit.name).write_text(text, encoding="utf-8")
    if unit == COLLECTOR:
        (tmp_path / f"{unit.name}.d").mkdir()
        shutil.copy(unit.with_suffix(".conf"), tmp_path / f"{unit.name}.d")
    command = [require_program("systemd-analyze"), "verify", "--man=no", str(tmp_path / unit.name)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert [line for line in told.stderr.splitlines() if unit.stem in line] == []
    assert told.returncode == 0
