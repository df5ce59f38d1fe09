"""Files are written completely or not at all, and errors say why a file cannot be read.

A file has no name until it is complete, so that a crash, a kill or a full disk leaves the old file,
or none. If the system does not support that, the file has a hidden name in the meantime.
"""

from __future__ import annotations

import errno
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

from krand.errors import InvalidInput

HIDDEN_BYTES = 8
EVERYBODY = 0o666
OWNER_ONLY, OWNER_FOLDER = 0o600, 0o700
"""The permissions of a new file, before the process's umask is applied."""

DEEPEST = 64
"""The deepest nesting of lists and objects in a JSON file; krand's own files need ten."""
LARGEST = 2**63 - 1
"""No count is larger than this."""

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""The disk is full, read-only or failing."""
CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Some file systems have folders that cannot be synced."""


class Exists(InvalidInput):
    """The file exists already and must not be replaced."""


class Unwritable(InvalidInput):
    """The system refuses to write there now: no space, no permission, a failing disk."""


@contextmanager
def complete_file(field: str, path: Path, *, replace: bool, hint: str = "") -> Iterator[BinaryIO]:
    """A stream whose content becomes `path` in one step when the block ends without an error.

    `field` names the option that asked for the file; `hint` says what to do if it exists already.
    """
    if path.exists() and not path.is_file():  # a folder; or a device, which would become a file
        rule, remedy = "must be a file, or not exist yet", "name a file"
        raise InvalidInput(field, rule, str(path), remedy)
    if not replace and os.path.lexists(path):
        raise Exists(field, "must not exist yet", str(path), hint)
    with _errors_named(field, path):
        stream, name_it, forget_it = _nameless(path) or _hidden(path)
    try:
        with _failing_disk_named(field, path), stream:  # closing may meet the limit once more
            yield stream
            with _errors_named(field, path):
                stream.flush()
                os.fsync(stream.fileno())
                try:
                    name_it(replace)
                except FileExistsError:
                    raise Exists(field, "must not exist yet", str(path), hint) from None
                with suppress(OSError):  # not every system can
                    sync_folder(path.parent)
    finally:
        forget_it()


def write_atomically(field: str, path: Path, content: str | bytes) -> None:
    """Replace `path` with `content` in one step: a reader sees the old file or the new one."""
    with complete_file(field, path, replace=True) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


def write_new(field: str, path: Path, text: str, *, overwrite: bool) -> None:
    """Write `text`; a file with other content is replaced only if `overwrite` is true."""
    if not overwrite and path.is_file() and read_whole(field, path) != text.encode("utf-8"):
        hint = "name another file, or replace it with overwrite=True"
        raise Exists(field, "must not exist yet with other content", str(path), hint)
    write_atomically(field, path, text)


def keep_inputs(field: str, output: Path, inputs: Iterable[Path]) -> None:
    """Refuse an output that is also an input, even through another path or link."""
    for path in inputs:
        try:
            is_same = output.samefile(path)  # compares device and inode, so it follows links
        except (OSError, ValueError):  # one of them does not exist, so nothing can be lost
            is_same = False
        if is_same:
            other = "" if str(path) == str(output) else f"it is the same file as {path}; "
            rule = "must not be a file that the command reads"
            raise InvalidInput(field, rule, str(output), f"{other}name another file")


def ensure_directory(field: str, path: Path) -> None:
    """Create the directory and its parents; an error names the field."""
    with _errors_named(field, path):
        path.mkdir(parents=True, exist_ok=True)


def state_folder() -> Path:
    """The folder for state: $XDG_STATE_HOME/krand, or ~/.local/state/krand if it is not set."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / "krand"
    try:
        return Path.home() / ".local" / "state" / "krand"
    except RuntimeError:  # a user without a home, as in some containers
        rule = "must name a folder, because the user has no home folder"
        raise InvalidInput("XDG_STATE_HOME", rule, state, "set it to an absolute path") from None


def check_readable(field: str, path: str | Path) -> None:
    """Name this file if it cannot be read, before one that lies beside it is looked for."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise unreadable(field, path, error) from None


def read_whole(field: str, path: str | Path) -> bytes:
    """The content of a file; `field` names the option or argument that asked for it."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(field, path, error) from None


def read_text(field: str, path: Path, most: int, too_long: str = "") -> str:
    """The UTF-8 text of a file, without a byte order mark; `too_long` says what to do about one of
    more bytes."""
    try:
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise unreadable(field, path, error) from None
    except ValueError as error:  # a name that no file can have
        raise InvalidInput(
            field, "must be a file that can be read", str(path), str(error)
        ) from None
    if len(content) > most:
        raise InvalidInput(field, f"must be at most {most:,} bytes", str(path), too_long)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = f"line {line} is not; save the file as UTF-8"
        raise InvalidInput(field, "must be UTF-8 text", str(path), hint) from None


def json_object(
    field: str, content: bytes, source: str, rule: str = "must be a whole JSON file"
) -> dict[str, Any]:
    """The JSON object in these bytes: unique names, finite numbers, valid text.

    `rule` says in an error what the file must be.
    """
    try:
        values = json.loads(
            content.decode("utf-8"),
            parse_constant=_no_json,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_names_once,
        )
        if not isinstance(values, dict):
            raise ValueError("it is not a JSON object")
        _check_depth(values)
        json.dumps(values, ensure_ascii=False).encode("utf-8")  # fails for half of a surrogate pair
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]
        raise InvalidInput(field, rule, source, reason if content else "it is empty") from None
    return values


def whole(name: str, value: object, low: int = 0, high: int = LARGEST) -> int:
    """The value, if it is a whole number in the range; otherwise a ValueError names it."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(
            f"{name} must be a whole number from {low:,} to {high:,}, found {value!r:.40}"
        )
    return value


def _no_json(constant: str) -> float:
    raise ValueError(f"{constant} is not valid JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _bounded(text: str) -> int:
    if len(text) > len(str(-LARGEST)) or abs(int(text)) > LARGEST:
        raise ValueError(f"{text[:40]} is too large")
    return int(text)


def _names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r:.40} appears twice in one object")
    return found


def _check_depth(values: dict[str, Any]) -> None:
    """Level by level, without recursion; later steps may then recurse safely."""
    level: list[Any] = [values]
    for _ in range(DEEPEST):
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for parts in inside for part in parts if isinstance(part, (dict, list))]
        if not level:
            return
    raise RecursionError


def unreadable(field: str, path: str | Path, error: OSError) -> InvalidInput:
    """The system's read error as one of krand's errors."""
    reason = (error.strerror or str(error)).lower()
    return InvalidInput(field, "must be a file that can be read", str(path), reason)


def unwritable(field: str, path: Path, error: OSError) -> Unwritable:
    """The system's write error as one of krand's errors."""
    reason = (error.strerror or str(error)).lower()
    return Unwritable(field, "must be a writable place", str(path), reason)


Staged = tuple[BinaryIO, Callable[[bool], None], Callable[[], None]]
"""The stream, a function that names the file (replacing or not), and one that cleans up."""


def _nameless(path: Path) -> Staged | None:
    """A file without a name, if the system supports it: the kernel removes it with the process."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        handle = os.open(path.parent, os.O_TMPFILE | os.O_RDWR, EVERYBODY)
    except OSError:  # not supported by this file system
        os.close(directory)
        return None

    def name_it(replace: bool) -> None:
        # With dst_dir_fd, because only then does Python follow the link in /proc.
        source = f"/proc/self/fd/{handle}"
        try:
            os.link(source, path.name, dst_dir_fd=directory)
            return
        except FileExistsError:
            if not replace:
                raise
        hidden = f".{path.name}.{os.urandom(HIDDEN_BYTES).hex()}"
        with suppress(OSError):  # without locks there is no sweeping either
            _lock(handle)
        os.link(source, hidden, dst_dir_fd=directory)
        try:
            os.replace(hidden, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            os.unlink(hidden, dir_fd=directory)
            raise
        _sweep(path)

    return os.fdopen(handle, "w+b"), name_it, lambda: os.close(directory)


def _hidden(path: Path) -> Staged:
    """A file with a hidden name in the same folder."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)

    def name_it(replace: bool) -> None:
        os.chmod(temporary, EVERYBODY & ~_umask())
        (os.replace if replace else os.link)(temporary, path)

    def forget_it() -> None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)

    return os.fdopen(handle, "w+b"), name_it, forget_it


def _lock(handle: int) -> None:
    """Lock the file until it is closed or the process ends; OSError if another process holds it."""
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sweep(path: Path) -> None:
    """Remove the files of processes that were killed while they replaced this file."""
    for left in path.parent.glob(f".{escape(path.name)}.{'[0-9a-f]' * 2 * HIDDEN_BYTES}"):
        with suppress(OSError), left.open("rb") as stream:
            _lock(stream.fileno())
            left.unlink()


def sync_folder(folder: Path) -> None:
    """The names in it survive a power cut from now on."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
    finally:
        os.close(handle)


@contextmanager
def _errors_named(field: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(field, path, error) from None


@contextmanager
def _failing_disk_named(field: str, path: Path) -> Iterator[None]:
    """Rename errors of a failing disk; other errors may have other causes."""
    try:
        yield
    except OSError as error:
        if error.errno in CANNOT_WRITE:
            raise unwritable(field, path, error) from None
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
