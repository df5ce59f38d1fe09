"""What a party keeps: whole or absent, for itself alone, and overwritten when it is destroyed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import krand
import krand.storage as storage


def test_a_destroyed_file_is_overwritten(tmp_path: Path) -> None:
    """Under whatever other name it has; a second time nothing is left to do."""
    content = os.urandom(3 * 2**20 + 5)
    storage.write(tmp_path / "key", content)
    (tmp_path / "other").hardlink_to(tmp_path / "key")
    storage.destroy(tmp_path / "key")
    storage.destroy(tmp_path / "key")
    assert not (tmp_path / "key").exists()
    assert (tmp_path / "other").read_bytes() == bytes(len(content))


def test_what_is_written_is_whole_and_for_its_owner(tmp_path: Path) -> None:
    """Also in the place of a file, and under another name."""
    for content in (b"first", b"second"):
        storage.write(tmp_path / "key", content)
        assert (tmp_path / "key").read_bytes() == content
    storage.move(tmp_path / "key", tmp_path / "key.used")
    assert [path.name for path in tmp_path.iterdir()] == ["key.used"]
    assert stat.S_IMODE((tmp_path / "key.used").stat().st_mode) == 0o600


def test_keys_are_in_a_folder_that_backups_leave_out(tmp_path: Path) -> None:
    """Its tag begins as the convention says; no other user reads anything on the way to a key."""
    keys = storage.key_folder(tmp_path / "party", "plan")
    assert keys == tmp_path / "party" / "keys" / "plan"
    assert (
        (keys.parent / "CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )
    for folder in (keys, keys.parent, keys.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    keys.parent.parent.chmod(0o777)
    with pytest.raises(krand.InvalidInput, match="nobody else may write"):
        storage.make_folder(keys.parent.parent)
