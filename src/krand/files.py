"""Files: written whole or not at all, and nothing left behind; read with errors that say why.

What is being written has no name until it is complete, so that a crash, a kill or a full disk
leaves the old file, or none. Where the system cannot do that, it has a hidden name for a while.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from krand.errors import InvalidInput

__all__ = [
    "Exists",
    "complete_file",
    "ensure_directory",
    "read_whole",
    "unreadable",
    "unwritable",
    "write_atomically",
]

EVERYBODY = 0o666
"""Less what the process's mask takes away."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Exists(InvalidInput):
    """The file is there already, and is not to be replaced."""


@contextmanager
def complete_file(field: str, path: Path, *, replace: bool, mend: str = "") -> Iterator[BinaryIO]:
    """A stream whose content becomes `path` in one step when the block ends without an error.

    `field` names the option that asked for the file, `mend` what to do if it exists already.
    """
    if not replace and os.path.lexists(path):
        raise Exists(field, "must not exist yet", str(path), mend)
    with _errors_named(field, path):
        stream, name_it, forget_it = _nameless(path) or _hidden(path)
    try:
        with _full_disk_named(field, path), stream:  # closing may meet the limit once more
            yield stream
            with _errors_named(field, path):
                stream.flush()
                os.fsync(stream.fileno())
                try:
                    name_it(replace)
                except FileExistsError:
                    raise Exists(field, "must not exist yet", str(path), mend) from None
                _settle(path.parent)
    finally:
        forget_it()


def write_atomically(field: str, path: Path, text: str) -> None:
    """Replace `path` by `text` in one step: a reader sees the old file or the new one."""
    with complete_file(field, path, replace=True) as stream:
        stream.write(text.encode("utf-8"))


def ensure_directory(field: str, path: Path) -> None:
    """Make the directory and its parents, or say which rule was broken."""
    with _errors_named(field, path):
        path.mkdir(parents=True, exist_ok=True)


def read_whole(field: str, path: str | Path) -> bytes:
    """The content of a file; `field` names the option or argument that asked for it."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(field, path, error) from None


def unreadable(field: str, path: str | Path, error: OSError) -> InvalidInput:
    """The system's refusal to read, in krand's own words."""
    reason = (error.strerror or str(error)).lower()
    return InvalidInput(field, "must be a file that can be read", str(path), reason)


def unwritable(field: str, path: Path, error: OSError) -> InvalidInput:
    """The system's refusal in krand's own words."""
    reason = (error.strerror or str(error)).lower()
    return InvalidInput(field, "must be a place that can be written to", str(path), reason)


Staged = tuple[BinaryIO, Callable[[bool], None], Callable[[], None]]
"""The stream, how it gets its name (replacing what is there, or not), how it is forgotten."""


def _nameless(path: Path) -> Staged | None:
    """A file without any name, where the system has such: the kernel drops it with the process."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        handle = os.open(path.parent, os.O_TMPFILE | os.O_RDWR, EVERYBODY)
    except OSError:  # this file system cannot
        os.close(directory)
        return None

    def name_it(replace: bool) -> None:
        # Through a directory's handle, because only then does Python follow the link in /proc.
        source = f"/proc/self/fd/{handle}"
        if not replace:
            os.link(source, path.name, dst_dir_fd=directory)
            return
        hidden = _hidden_name(path)
        os.link(source, hidden, dst_dir_fd=directory)
        try:
            os.replace(hidden, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            os.unlink(hidden, dir_fd=directory)
            raise

    return os.fdopen(handle, "w+b"), name_it, lambda: os.close(directory)


def _hidden(path: Path) -> Staged:
    """A file under a hidden name beside the one it is to become."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)

    def name_it(replace: bool) -> None:
        os.chmod(temporary, EVERYBODY & ~_umask())
        (os.replace if replace else os.link)(temporary, path)

    def forget_it() -> None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)

    return os.fdopen(handle, "w+b"), name_it, forget_it


def _hidden_name(path: Path) -> str:
    return f".{path.name}.{os.urandom(8).hex()}"


def _settle(directory: Path) -> None:
    """The name too must survive a power cut; not every system lets directories be synced."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _errors_named(field: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(field, path, error) from None


@contextmanager
def _full_disk_named(field: str, path: Path) -> Iterator[None]:
    """Whoever fills the stream may meet its limits; other errors may come from elsewhere."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise unwritable(field, path, error) from None
        raise


def _umask() -> int:
    """The process's mask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
