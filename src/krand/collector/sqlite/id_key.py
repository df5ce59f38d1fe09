"""The key of the digests by which a retry is recognized, kept apart from the spool.

Whoever has a copy of the spool's folder, the key and the id of a submission could see whether that
submission was counted. Without the key they cannot. So the key lies elsewhere: in the user's state
folder, or where the operator wants it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, read_whole, state_folder, unwritable

KEY_BYTES = 32
HINT = (
    "without it a retry would be counted twice; start as the user and with the XDG_STATE_HOME of"
    " the first start, name the file with --id-key, or start with an empty folder"
)


def usual_place(spool_id: str) -> Path:
    """Where the key of a spool lies by default."""
    return state_folder() / "spools" / f"{spool_id}.key"


def check_of(key: bytes) -> bytes:
    """What a spool stores about its key: enough to refuse another one."""
    return hashlib.blake2b(b"krand spool", digest_size=16, key=key).digest()


def find_key(path: Path) -> bytes:
    """The key in a file for a new spool, made if it is missing."""
    return _read(path) if os.path.lexists(path) else _new_key(path)


def key_of(spool: Path, path: Path, check: bytes) -> bytes:
    """The key in a file, which must be that of an existing spool."""
    rule = f"must be the key that was made together with {spool}"
    if not path.exists():
        raise InvalidInput("id key", f"{rule}, and is missing", str(path), HINT)
    key = _read(path)
    if check_of(key) != check:
        raise InvalidInput("id key", f"{rule}, and is that of another spool", str(path), HINT)
    return key


def _read(path: Path) -> bytes:
    text = read_whole("id key", path)
    try:
        key = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        rule = "must hold 64 hex digits"
        raise InvalidInput("id key", rule, str(path), "name another file with --id-key")
    return key


def _new_key(path: Path) -> bytes:
    """Random, on the disk before it is used, readable by the collector alone."""
    key = os.urandom(KEY_BYTES)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, OWNER_ONLY), "wb") as file:
            file.write(key.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise unwritable("id key", path, error) from None
    return key
