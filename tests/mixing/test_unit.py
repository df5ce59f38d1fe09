"""The service unit of a mixer: a command that krand knows, hardened like the collector."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from docs.parsing import krand_calls, parse

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


def settings(unit: Path) -> list[tuple[str, str]]:
    lines = unit.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line[:1].isalpha())
    return [(name, value) for name, _, value in pairs]


def test_it_is_hardened_like_the_collector() -> None:
    """Every restriction of the collector is there, and the network is away altogether."""
    wanted = [pair for pair in settings(COLLECTOR) if pair[0] not in OWN]
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


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_knows_its_settings(tmp_path: Path) -> None:
    """No unknown or misspelled setting; krand itself need not be installed there."""
    text = MIXER.read_text(encoding="utf-8").replace("/opt/krand/bin/krand", "/bin/true")
    (tmp_path / MIXER.name).write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", str(tmp_path / MIXER.name)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert [line for line in told.stderr.splitlines() if MIXER.name in line] == []
