"""Files that programs save are whole, or not there, and as readable as any other file.

What commands write, and full disks, are in cli/test_writing_over.py.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

import krand
from krand.testing import small_plan


def test_a_file_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    """No temporary file stays behind; a missing folder is named."""
    path, plain = tmp_path / "plan.json", tmp_path / "plain"
    path.write_text("old", encoding="utf-8")
    plain.write_text("", encoding="utf-8")
    with pytest.raises(krand.Exists):
        small_plan().save(path)
    assert path.read_text(encoding="utf-8") == "old"
    small_plan().save(path, overwrite=True)
    assert krand.read_plan(path) == small_plan()
    assert path.stat().st_mode == plain.stat().st_mode
    assert set(tmp_path.iterdir()) == {path, plain}
    for nowhere in (tmp_path / "nowhere" / "plan.json", plain / "plan.json"):
        with pytest.raises(krand.InvalidInput, match="writable place"):
            small_plan().save(nowhere)


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last step fails, the old file is untouched and the temporary one is gone."""
    path = tmp_path / "plan.json"
    path.write_text("old", encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(krand.InvalidInput, match="no space left"):
        small_plan().save(path, overwrite=True)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have a name from the beginning")
def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The next one that replaces the file sweeps, but spares whoever is still at work."""
    path = tmp_path / "re[x]"
    left, alive, other = (tmp_path / f".re[x].{end}" for end in ("0" * 16, "a" * 16, "a" * 15))
    for file in (path, left, alive, other):
        file.write_text("old", encoding="utf-8")
    with alive.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        small_plan().save(path, overwrite=True)
        assert {*tmp_path.iterdir()} == {path, alive, other}
    assert krand.read_plan(path) == small_plan()
