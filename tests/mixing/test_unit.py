"""The service units: commands that krand knows, hardened like the collector."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from components import require_program
from docs.running import krand_calls, parse

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
MIXER, COLLECTOR = DEPLOY / "krand-mixer.service", DEPLOY / "krand-collector.service"
SERVE, SITE = DEPLOY / "krand-mix-serve.service", DEPLOY / "krand-site.service"
OWN = {
    "Description",
    "ExecStart",
    "DynamicUser",  # others have a user of their own, as whom their operator works
    "StateDirectory",
    "RestrictAddressFamilies",
    "IPAddressAllow",
}
"""Settings in which every service differs from a collector for a reason."""
DIFFERENT = {
    MIXER: {
        "After",  # of the network, which it does not use
        "UMask",  # others fetch what it writes
        "StandardOutput",
    },
    SERVE: {
        "IPAddressDeny",  # partners reach it
        "RestartPreventExitStatus",  # it stops if the clock has moved
    },
    SITE: {"IPAddressDeny"},
}

OPTIONS = ("Environment", "KRAND_OPTIONS=--form")
"""Those of the survey that a collector serves."""


def settings(unit: Path) -> list[tuple[str, str]]:
    lines = unit.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line[:1].isalpha())
    return [(name, value) for name, _, value in pairs]


@pytest.mark.parametrize("unit", DIFFERENT, ids=lambda unit: unit.stem)
def test_it_is_hardened_like_the_collector(unit: Path) -> None:
    """Every restriction of the collector is there."""
    own = OWN | DIFFERENT[unit]
    wanted = [pair for pair in settings(COLLECTOR) if pair[0] not in own and pair != OPTIONS]
    assert len(wanted) > 30
    missing = [pair for pair in wanted if pair not in settings(unit)]
    assert not missing
    found = dict(settings(unit))
    assert found["User"] != "root"
    assert found["KillMode"] == "mixed", "otherwise the processes that it started end first"


def test_a_mixer_that_works_with_files_has_no_network() -> None:
    """Not even that of the machine itself."""
    assert dict(settings(MIXER))["PrivateNetwork"] == "yes"


@pytest.mark.parametrize("unit", DIFFERENT, ids=lambda unit: unit.stem)
def test_its_command_exists(unit: Path) -> None:
    """With every option that it names; an anchor is not in the store's folder."""
    (call,) = krand_calls(dict(settings(unit))["ExecStart"])
    parse(call)
    if "--anchor" in call:
        store, anchor = (Path(call[call.index(name) + 1]) for name in ("--store", "--anchor"))
        assert store.parent not in anchor.parents


@pytest.mark.parametrize("unit", [COLLECTOR, *DIFFERENT], ids=lambda unit: unit.stem)
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
