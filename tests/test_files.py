"""Files are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.files import Exists, complete_file, ensure_directory, write_atomically


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

    def refuse(*_: object, **__: object) -> None:
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
    with pytest.raises(InvalidInput, match="must be a writable place"):
        write_atomically("plot", tmp_path / "nowhere" / "a.svg", "")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        ensure_directory("output", tmp_path / "file" / "folder")
    assert caught.value.field == "output"


@pytest.fixture(params=["nameless", "hidden"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of staging a file: without a name, and where the system cannot, a hidden one."""
    if request.param == "hidden":
        monkeypatch.setattr("krand.files._nameless", lambda path: None)
    return str(request.param)


def written(path: Path, meanwhile: Callable[[], object], *, replace: bool = False) -> None:
    """Write a file; something happens when it is half done."""
    with complete_file("output", path, replace=replace) as stream:
        stream.write(b"half")
        meanwhile()


def fail(error: Exception) -> None:
    raise error


def test_a_new_file_never_replaces_one(tmp_path: Path, way: str) -> None:
    """A file that is there before, or appears meanwhile, stays as it is."""
    path = tmp_path / "responses"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(Exists, match="must not exist yet"):
        written(path, lambda: fail(AssertionError("not reached")))
    path.unlink()
    with pytest.raises(Exists):
        written(path, lambda: path.write_text("somebody else's", encoding="utf-8"))
    assert path.read_text(encoding="utf-8") == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_inside_leaves_nothing(tmp_path: Path, way: str) -> None:
    """What was half written when an error came is gone; the error is the caller's own."""
    with pytest.raises(ZeroDivisionError):
        written(tmp_path / "responses", lambda: fail(ZeroDivisionError()))
    assert not list(tmp_path.iterdir())


def test_while_written_a_file_has_no_name(tmp_path: Path) -> None:
    """A kill at that moment has nothing to leave behind."""
    with complete_file("output", tmp_path / "responses", replace=False) as stream:
        stream.write(b"half")
        stream.flush()
        assert not list(tmp_path.iterdir())
    assert (tmp_path / "responses").read_bytes() == b"half"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "no space left"),
        (OSError(30, "Read-only file system"), "must be a writable place"),
        (OSError(5, "Input/output error"), "must be a writable place"),
    ],
)
def test_a_disk_that_fails_while_a_file_is_filled_is_named(
    error: OSError, message: str, tmp_path: Path, way: str
) -> None:
    """It is the user's to mend; an error of whoever fills the file is not."""
    path = tmp_path / "responses"
    with pytest.raises(InvalidInput, match=message):
        written(path, lambda: fail(error), replace=True)
    with pytest.raises(FileNotFoundError):
        written(path, lambda: (tmp_path / "absent").read_bytes(), replace=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have a name from the beginning")
def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The next one that replaces the file sweeps, but spares whoever is still at work."""
    import fcntl

    path = tmp_path / "re[x]"
    left, alive, other = (tmp_path / f".re[x].{end}" for end in ("0" * 16, "a" * 16, "a" * 15))
    for file in (path, left, alive, other):
        file.write_text("old", encoding="utf-8")
    with alive.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        write_atomically("output", path, "new")
        assert {*tmp_path.iterdir()} == {path, alive, other}
    assert path.read_text(encoding="utf-8") == "new"
