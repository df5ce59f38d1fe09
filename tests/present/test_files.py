"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.present.files import ensure_directory, write_atomically


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    """New text replaces old text, and no temporary file stays behind."""
    path = tmp_path / "report.html"
    for text in ("old", "new ε"):
        write_atomically("output", path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last step fails, the old file is untouched and the temporary one is gone."""
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InvalidInput, match="no space left") as caught:
        write_atomically("plot", path, "new")
    assert caught.value.field == "plot"
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_follow_the_mask(tmp_path: Path) -> None:
    """A report is as readable as any other file of its user."""
    path, plain = tmp_path / "a", tmp_path / "b"
    write_atomically("output", path, "")
    plain.write_text("", encoding="utf-8")
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing folder, or a file where a folder should be, is the user's to mend."""
    with pytest.raises(InvalidInput, match="must be a place that can be written to"):
        write_atomically("plot", tmp_path / "nowhere" / "a.svg", "")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        ensure_directory("output", tmp_path / "file" / "folder")
    assert caught.value.field == "output"
