"""Writing files: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from krand.errors import InvalidInput

__all__ = ["ensure_directory", "write_atomically"]


def write_atomically(field: str, path: Path, text: str) -> None:
    """Replace `path` by `text` in one step: a reader sees the old file or the new one.

    `field` names the option that asked for the file, for the error message.
    """
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise _refusal(field, path, error) from None
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def ensure_directory(field: str, path: Path) -> None:
    """Make the directory and its parents, or say which rule was broken."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(field, path, error) from None


def _refusal(field: str, path: Path, error: OSError) -> InvalidInput:
    reason = (error.strerror or str(error)).lower()
    return InvalidInput(field, "must be a place that can be written to", str(path), reason)


def _umask() -> int:
    """The process's mask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
