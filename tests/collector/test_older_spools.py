"""Spools that an older krand wrote: of this format they open, of an older one they are refused.

The files in data/ were written by the krand of their format. Version 1: five people in a sealed
batch and two in the open one, at rest and as a crash leaves it. Version 3, and version 4, which is
the present one: twenty and five, at rest.
"""

from __future__ import annotations

import gzip
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from collecting import files_in, message, spool_config, submitted
from collector.crowds import SIGNER, plan_of
from command_line import run
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.states import State
from krand.errors import InvalidInput
from krand.wire.keys import private_key_pem
from krand.wire.submissions import SubmissionFormat

require("uvicorn")
require("starlette")

DATA = Path(__file__).parent / "data"
AGE = ["spool-1-closed", "spool-1-crashed", "spool-3-closed"]
CONFIG = replace(spool_config(5), format=SubmissionFormat(1, 24, 2))
"""What the old spools are for."""


def unpacked(name: str, folder: Path) -> Path:
    folder.mkdir()
    for path in sorted((DATA / name).iterdir()):
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return folder


def rows_in(folder: Path, copy: Path) -> list[str]:
    """Everything that SQLite finds, in a copy, because looking empties the journal."""
    copy.mkdir()
    for name, content in files_in(folder).items():
        (copy / name).write_bytes(content)
    connection = sqlite3.connect(copy / "spool.sqlite")
    rows = sorted(connection.iterdump())
    connection.close()
    return rows


@pytest.mark.parametrize("age", AGE)
def test_an_older_spool_is_refused_and_kept(age: str, tmp_path: Path) -> None:
    """The error names both versions and the way out; nobody in it is lost."""
    folder = unpacked(age, tmp_path / "spool")
    before = rows_in(folder, tmp_path / "before")
    assert sum("INSERT INTO" in row and "messages_" in row for row in before) > 1
    for _ in range(2):
        found = rf"version 4 of the format, found '{age.split('-')[1]}'"
        with pytest.raises(InvalidInput, match=found) as caught:
            Spool(folder, CONFIG)
        assert caught.value.field == "spool"
        assert "release what is in it with the krand that wrote it" in caught.value.hint
    assert rows_in(folder, tmp_path / "after") == before


@pytest.mark.parametrize("command", ["serve", "release", "status"])
def test_commands_refuse_an_older_spool(command: str, tmp_path: Path) -> None:
    """Exit code 2 and the same sentence; not a byte of a spool at rest is changed."""
    folder = unpacked(AGE[0], tmp_path / "spool")
    before = files_in(folder)
    (tmp_path / "plan.json").write_bytes(plan_of(1000).bytes)
    (tmp_path / "key.pem").write_bytes(private_key_pem(SIGNER))
    (tmp_path / "key.pem").chmod(0o600)
    more = {"serve": "--port 0", "release": "--key key.pem -o out"}
    line = f"{command} --plan plan.json --spool spool"
    found = run(line, more.get(command, ""), at=tmp_path)
    assert found.exit_code == 2, found.output
    assert "spool: must be of version" in found.output
    assert "with the krand that wrote it" in found.output
    assert files_in(folder) == before
    assert not (tmp_path / "out").exists()


def test_a_spool_of_the_present_format_opens(tmp_path: Path) -> None:
    """It is undamaged, knows everybody in it, and hands out the messages of its sealed batch."""
    folder, config = unpacked("spool-4-closed", tmp_path / "spool"), spool_config(20)
    key = (folder / "id.key").rename(tmp_path / "id.key")
    with Spool(folder, config, key) as spool:
        spool.check()
        sealed, waiting = spool.batches()
        assert (sealed.state, waiting.state) == (State.SEALED, State.OPEN)
        assert (sealed.people, waiting.people) == (20, 5)
        spool.mark_releasing(sealed)
        found = [row.tobytes() for _, rows in spool.lane_messages(sealed, tmp_path) for row in rows]
        new = spool.add([submitted(number, config.format) for number in range(26)])
    assert sorted(found) == sorted(message(n, copy) for n in range(20) for copy in range(2))
    assert new == [False] * 25 + [True]
