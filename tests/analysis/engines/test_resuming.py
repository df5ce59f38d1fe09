"""A count that is interrupted goes on where it was, and ends with the same tally."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from analysis.engines.responses import BIT, LONG, SIGNER, Case, mixed, sealed, unsealed
from krand.analysis.engines import Options, local, tally_source
from krand.analysis.engines.checkpoint import Checkpoint, forget_checkpoint
from krand.analysis.tally_file import read_tally
from krand.errors import InvalidInput
from krand.wire.keys import write_key_pair


class Enough(Exception):
    """Stands for whatever ends a program."""


@pytest.mark.check
@pytest.mark.parametrize(
    ("form", "workers"),
    [(unsealed, 1), (sealed, 1), (sealed, 2), (lambda _, path: mixed(path), 1)],
    ids=["responses", "batch", "batch, two workers", "batch of mixers"],
)
def test_an_interrupted_count_goes_on(
    form: object, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every number of chunks: what was counted is not counted again, nothing is lost."""
    monkeypatch.setattr(local, "COUNTED_AT_A_TIME", 20)
    monkeypatch.setattr(local, "OPENED_AT_A_TIME", 20)
    monkeypatch.setattr(local, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    case: Case = form(LONG, tmp_path / "r")  # type: ignore[operator]
    expected = tally_source(case.source, case.work)
    for stop in (1, 3, 5) if workers == 1 else (2,):
        file, calls = tmp_path / f"checkpoint{stop}", []

        def progress(rows: int, calls: list[int] = calls, stop: int = stop) -> None:
            calls.append(rows)
            if len(calls) == stop + 2:  # the first call tells where it begins
                raise Enough

        with pytest.raises(Enough):
            tally_source(case.source, case.work, options=Options(workers, None, file, progress))
        told: list[int] = []
        found = tally_source(
            case.source, case.work, options=Options(workers, None, file, told.append)
        )
        assert found.same_as(expected)
        assert 0 < told[0] < case.source.rows  # it did go on
        assert sum(told) == case.source.rows
        assert file.exists()  # until somebody has kept the tally
        forget_checkpoint(file)
        assert not file.exists()


def test_a_checkpoint_of_other_work_is_refused(tmp_path: Path) -> None:
    """Another batch or another way to count must not be mixed in; nor a broken file."""
    first, second = unsealed(BIT, tmp_path / "a"), unsealed(BIT, tmp_path / "b", seed=2)
    file = tmp_path / "checkpoint"
    Checkpoint(file, first.source, first.work).save(0, first.work.nothing)
    with pytest.raises(InvalidInput, match="same batch"):
        tally_source(second.source, second.work, options=Options(checkpoint=file))
    file.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be whole"):
        tally_source(first.source, first.work, options=Options(checkpoint=file))


def of_a_collector(folder: Path) -> tuple[Case, list[str]]:
    """A batch of records and its manifest."""
    case = sealed(LONG, folder / "batch.parquet")
    write_key_pair(SIGNER, folder / "c.pem", folder / "c.pub.pem")
    return case, ["--collector-key", "c.pub.pem", "--joint", "c=c0,p=x"]


@pytest.mark.check
@pytest.mark.parametrize(
    "made",
    [of_a_collector, lambda folder: (mixed(folder / "batch.parquet"), [])],
    ids=["collector", "mixers"],
)
def test_a_killed_command_goes_on(
    made: Callable[[Path], tuple[Case, list[str]]], tmp_path: Path
) -> None:
    """kill -9 in the middle of opening; started again, krand tally ends with the same file."""
    case, own = made(tmp_path)
    source = case.source
    (tmp_path / "plan.json").write_bytes(case.plan.bytes)
    key = X25519PrivateKey.from_private_bytes(case.work.key)
    write_key_pair(key, tmp_path / "key.pem", tmp_path / "key.pub.pem")
    options = ["--plan", "plan.json", "--key", "key.pem", *own, "--workers", "1"]
    slow = (
        "import time; from krand.analysis.engines import local; local.OPENED_AT_A_TIME = 10;"
        " local.SECONDS_BETWEEN_CHECKPOINTS = -1.0; was = local.tally_part;"
        " local.tally_part = lambda *a: (time.sleep(SLEEP), was(*a))[1];"
        " from krand.cli.main import main; main()"
    )

    def command(output: str, sleep: float) -> list[str]:
        code = slow.replace("SLEEP", str(sleep))
        return [sys.executable, "-c", code, "tally", "batch.parquet", *options, "-o", output]

    subprocess.run(command("whole.json", 0), cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    child = subprocess.Popen(command("tally.json", 0.1), cwd=tmp_path)
    while not list(tmp_path.glob(".tally.json.*.checkpoint")):
        assert child.poll() is None
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not (tmp_path / "tally.json").exists()
    (kept,) = tmp_path.glob(".tally.json.*.checkpoint")
    assert 0 < json.loads(kept.read_bytes())["rows"] < source.rows
    subprocess.run(command("tally.json", 0), cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "tally.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert read_tally(tmp_path / "tally.json").rejected == case.rejected
    assert not list(tmp_path.glob("*.checkpoint"))
