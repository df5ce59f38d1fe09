"""A mixer's store: keys, and what was mixed, under one lock.

A folder that only its owner may read. In it one SQLite file has everything that decides whether
something is mixed; `outbox` has the batches that were mixed, until their round is closed.

A batch leaves in this order. Its output is written to the outbox, complete. One transaction then
records the input and the output with its hash, and erases the round's opening key: a round has one
batch, and writing or sending its output again needs only what was recorded. Only after that are
files written for others. A process that ends before the transaction has shown nothing; one that
ends after it has recorded the only output that this input will ever have.

**Anchor.** A store that is restored from a backup would draw noise for the same input a second
time. So its keys can be encrypted under a value in a second file, the anchor, which is replaced
with every change: an older store cannot be opened with the anchor of today. The transaction also
holds the next value, encrypted under the present one, so that an interruption between store and
anchor is repaired by the next run; nothing is shown to others before the anchor is replaced. If
store and anchor are restored together, nobody can notice.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from krand.batches.batch import ENDING
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import (
    OWNER_FOLDER,
    OWNER_ONLY,
    read_whole,
    sync_folder,
    unwritable,
    write_atomically,
)
from krand.mixing.keys import EraseReason, MixerKeys, descriptor_bytes
from krand.promise import MAX_ROUNDS
from krand.sqlite_files import connected, make_private, may_pass, transaction
from krand.wire.plan_signatures import (
    PlanSignature,
    parse_signature,
    sign_plan,
    signature_bytes,
)

if TYPE_CHECKING:
    from io import FileIO

    from krand.survey.plan import Mixer, Plan

FILE, LOCK, OUTBOX = "mixer.sqlite", "lock", "outbox"
FORMAT = "krand-mixer-store-1"
ANCHOR_FORMAT = b"krand-anchor-1 "
ANCHOR_BYTES, NONCE_BYTES = 32, 12
SEALED_KEYS, NEXT_ANCHOR = b"krand mixer keys", b"krand next anchor"
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE closed (round INTEGER PRIMARY KEY);
CREATE TABLE mixed (
    input TEXT PRIMARY KEY, round INTEGER NOT NULL UNIQUE, output TEXT NOT NULL,
    chain BLOB NOT NULL, published INTEGER NOT NULL
) WITHOUT ROWID;
"""
WAIT_SECONDS = 5.0
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """What one input became: recorded before anybody sees it."""

    input: str
    """The SHA-256 of the batch that came, or of what a collector's spool gave."""
    round: int
    output: str
    """The SHA-256 of the batch that leaves."""
    chain: bytes
    """The chain file of the output."""
    published: bool = False


def create_store(folder: Path, name: str, keys: MixerKeys, anchor: Path | None = None) -> Mixer:
    """A new store with these keys; the mixer's public description."""
    described = keys.described(name)
    descriptor = descriptor_bytes(described)  # checks the name
    _make_folder(folder)
    if anchor is not None and os.path.lexists(anchor):
        hint = "it may belong to another store: name another file"
        raise InvalidInput("anchor", "must not exist yet", str(anchor), hint)
    connection = _connected(folder / FILE, create=True)
    try:
        value = os.urandom(ANCHOR_BYTES) if anchor is not None else None
        if anchor is not None and value is not None:
            _write_anchor(anchor, value)
        with _transaction(connection):
            for statement in TABLES.split(";"):
                connection.execute(statement)
            _set_fact(connection, "format", FORMAT.encode())
            _set_fact(connection, "name", name.encode())
            _set_fact(connection, "descriptor", descriptor)
            _set_fact(connection, "anchored", bytes((anchor is not None,)))
            _set_fact(connection, "keys", _locked(value, keys.to_bytes(), SEALED_KEYS))
    finally:
        connection.close()
    sync_folder(folder)
    return described


class MixerStore:
    """An open store; nobody else can open it until it is closed."""

    def __init__(self, folder: Path, anchor: Path | None = None) -> None:
        self.folder, self._anchor = folder, anchor
        self._lock = _locked_file(folder)
        try:
            self._connection = _connected(folder / FILE, create=False)
            try:
                self._check_format()
                self._value = self._anchor_value()
                self.keys = self._opened_keys()
                self._empty_journal()  # if a run was killed before it did so
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> MixerStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file and the lock."""
        self._connection.close()
        self._lock.close()

    @property
    def name(self) -> str:
        """What the mixer is called in plans."""
        return self._fact("name").decode()

    @property
    def plan(self) -> str:
        """The hash of the only plan that these keys serve; empty before it is signed or used."""
        return self._fact("plan", b"").decode()

    @property
    def signature(self) -> PlanSignature | None:
        """Of that plan; None before it is signed."""
        content = self._fact("signature", b"")
        return parse_signature(content) if content else None

    def bind(self, plan: Plan) -> PlanSignature:
        """Serve this plan and no other: keys in two plans would be two plans for two people.

        One transaction records the plan, the mixer's description in it, and the signature, before
        anybody else sees the signature.
        """
        hop, signature = self.keys.hop_in(plan), sign_plan(plan, self.keys.identity)
        described = descriptor_bytes(plan.mixers[hop - 1])
        if self.plan not in ("", plan.hash):
            rule = f"must be the plan that this mixer serves, {self.plan}"
            hint = "a store serves one plan; create another one with krand mix keygen"
            raise InvalidInput("plan", rule, plan.hash, hint)
        if self._fact("descriptor", described) != described:
            rule = f"must describe mixer {hop} as its own description does"
            hint = "make the plan from the file that the mixer wrote, without a change"
            raise InvalidInput("plan", rule, plan.mixers[hop - 1].name, hint)
        if self._fact("signature", b"") != signature_bytes(signature):
            with self._changed(self.keys):
                _set_fact(self._connection, "plan", plan.hash.encode())
                _set_fact(self._connection, "descriptor", described)
                _set_fact(self._connection, "signature", signature_bytes(signature))
        return signature

    def is_closed(self, round_number: int) -> bool:
        """Whether nothing of the round is mixed any more."""
        found = "SELECT 1 FROM closed WHERE round = ?"
        return self._connection.execute(found, (round_number,)).fetchone() is not None

    def erased(self, round_number: int) -> EraseReason | None:
        """Why the round's opening key was erased; None if there is one, or never was."""
        reason = self._fact(_erased_name(round_number), b"").decode()
        return EraseReason(reason) if reason else None

    def mixed(self, name: str) -> Mixed | None:
        """What an input became, if it was mixed."""
        return next(self._rows("input = ?", name), None)

    def of_round(self, round_number: int) -> Mixed | None:
        """What the batch of a round became, if it was mixed."""
        return next(self._rows("round = ?", round_number), None)

    @property
    def batches(self) -> int:
        """How many were mixed, in all rounds."""
        (count,) = self._connection.execute("SELECT count(*) FROM mixed").fetchone()
        return int(count)

    def staged(self, name: str) -> Path:
        """Where the output of an input is kept until its round is closed."""
        return self.folder / OUTBOX / f"{name}{ENDING}"

    def record(self, mixed: Mixed) -> None:
        """One transaction: from now on this input has this output, and no other.

        It erases the round's key, which only a further batch would need.
        """
        values = (mixed.input, mixed.round, mixed.output, mixed.chain)
        with self._changed(self.keys.without(mixed.round)):
            self._connection.execute("INSERT INTO mixed VALUES (?, ?, ?, ?, 0)", values)
            self._tell_why(mixed.round, EraseReason.MIXED)

    def mark_published(self, mixed: Mixed) -> None:
        """The files are where they were asked for."""
        with _transaction(self._connection):
            self._connection.execute(
                "UPDATE mixed SET published = 1 WHERE input = ?", (mixed.input,)
            )

    def close_round(self, round_number: int) -> None:
        """Erase the round's key, then forget its output; for ever."""
        if not 1 <= round_number <= MAX_ROUNDS:
            raise InvalidInput("round", f"must be from 1 to {MAX_ROUNDS:,}", round_number)
        mixed = self.of_round(round_number)
        if mixed is not None and not mixed.published:
            rule = "must have been written before its round is closed"
            hint = "mix it again: the output is ready"
            raise InvalidInput("batch", rule, f"round {round_number}", hint)
        self.erase(EraseReason.CLOSED, round_number)
        if mixed is not None:
            self.forget_output(mixed)

    def erase(self, reason: EraseReason, *rounds: int) -> None:
        """Erase the keys of these rounds; nothing more of them is mixed.

        Outputs that were recorded stay.
        """
        with self._changed(self.keys.without(*rounds)):
            for number in rounds:
                self._connection.execute("INSERT OR IGNORE INTO closed VALUES (?)", (number,))
                self._tell_why(number, reason)

    def forget_output(self, mixed: Mixed) -> None:
        """Remove an output: whoever it is for has it."""
        self.staged(mixed.input).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove outputs that an interrupted run left without recording them."""
        for path in (self.folder / OUTBOX).iterdir():
            if self.mixed(path.stem) is None:
                path.unlink()

    def _tell_why(self, round_number: int, reason: EraseReason) -> None:
        """Why the key goes is said once: the first reason is the true one."""
        if round_number in self.keys.opening:
            _set_fact(self._connection, _erased_name(round_number), reason.encode())

    @contextmanager
    def _changed(self, keys: MixerKeys) -> Iterator[None]:
        """A transaction after which the store has these keys; it also replaces the anchor."""
        following = None if self._value is None else os.urandom(ANCHOR_BYTES)
        with _transaction(self._connection):
            yield
            _set_fact(self._connection, "keys", _locked(following, keys.to_bytes(), SEALED_KEYS))
            if self._value is not None and following is not None:
                _set_fact(self._connection, "next", _locked(self._value, following, NEXT_ANCHOR))
        is_smaller, self.keys = len(keys.opening) < len(self.keys.opening), keys
        if self._anchor is not None and following is not None:
            _write_anchor(self._anchor, following)
            self._value = following
        if is_smaller:
            self._empty_journal()

    def _empty_journal(self) -> None:
        """It may still have the page with keys that were erased since."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            raise _failure(self.folder, error) from None

    def _rows(self, condition: str, value: object) -> Iterator[Mixed]:
        names = "input, round, output, chain, published"
        found = f"SELECT {names} FROM mixed WHERE {condition} ORDER BY input"
        for row in self._connection.execute(found, (value,)).fetchall():
            *values, published = row
            fields: dict[str, Any] = dict(zip(names.split(", "), values, strict=False))
            yield Mixed(**fields, published=bool(published))

    def _fact(self, name: str, default: bytes | None = None) -> bytes:
        found = "SELECT value FROM facts WHERE name = ?"
        row = self._connection.execute(found, (name,)).fetchone()
        if row is None and default is None:
            raise self._not_a_store()
        return bytes(default or b"") if row is None else bytes(row[0])

    def _check_format(self) -> None:
        try:
            known = self._fact("format") == FORMAT.encode()
        except sqlite3.DatabaseError as error:
            raise _failure(self.folder, error) from None
        if not known:
            raise self._not_a_store()

    def _not_a_store(self) -> InvalidInput:
        hint = "krand mix keygen creates one"
        return InvalidInput("store", "must be a mixer's store", str(self.folder), hint)

    def _anchor_value(self) -> bytes | None:
        if self._fact("anchored") == b"\0":
            if self._anchor is not None:
                hint = "leave out --anchor, or create a store with it"
                raise InvalidInput("anchor", "must not be given for this store", "", hint)
            return None
        if self._anchor is None:
            hint = "name the file with --anchor, as when the store was created"
            raise InvalidInput("anchor", "must be given for this store", None, hint)
        return _read_anchor(self._anchor)

    def _opened_keys(self) -> MixerKeys:
        sealed = self._fact("keys")
        try:
            return MixerKeys.from_bytes(_unlocked(self._value, sealed, SEALED_KEYS))
        except InvalidTag:
            self._go_on_to_next_anchor()
        return MixerKeys.from_bytes(_unlocked(self._value, sealed, SEALED_KEYS))

    def _go_on_to_next_anchor(self) -> None:
        """A run was interrupted between store and anchor: the anchor is replaced now."""
        assert self._anchor is not None
        try:
            following = _unlocked(self._value, self._fact("next", b""), NEXT_ANCHOR)
            _unlocked(following, self._fact("keys"), SEALED_KEYS)
        except (InvalidTag, ValueError):
            rule = "must be the anchor that was written together with this store"
            hint = (
                "the store or the anchor is an older copy. An older store would add other noise to"
                " batches that have left, so it cannot be used: create a new one, for a new plan"
            )
            raise InvalidInput("anchor", rule, str(self._anchor), hint) from None
        _write_anchor(self._anchor, following)
        self._value = following


def _erased_name(round_number: int) -> str:
    return f"erased {round_number}"


def _locked(value: bytes | None, content: bytes, purpose: bytes) -> bytes:
    """Encrypted under an anchor's value; as it is where there is no anchor."""
    if value is None:
        return content
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(value).encrypt(nonce, content, purpose)


def _unlocked(value: bytes | None, content: bytes, purpose: bytes) -> bytes:
    if value is None:
        return content
    return AESGCM(value).decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], purpose)


def _write_anchor(path: Path, value: bytes) -> None:
    """Replace the file in one step."""
    previous = os.umask(0o077)
    try:
        write_atomically("anchor", path, ANCHOR_FORMAT + value.hex().encode() + b"\n")
        with suppress(OSError):
            sync_folder(path.parent)
    finally:
        os.umask(previous)


def _read_anchor(path: Path) -> bytes:
    content = read_whole("anchor", path)
    text = content.removeprefix(ANCHOR_FORMAT).strip()
    try:
        value = bytes.fromhex(text.decode())
    except (ValueError, UnicodeDecodeError):
        value = b""
    if not content.startswith(ANCHOR_FORMAT) or len(value) != ANCHOR_BYTES:
        raise InvalidInput("anchor", "must be a mixer's anchor", str(path))
    return value


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=OWNER_FOLDER, parents=True)
        (folder / OUTBOX).mkdir(mode=OWNER_FOLDER)
    except FileExistsError:
        hint = "name another folder: the keys in a store exist nowhere else"
        raise InvalidInput("store", "must not exist yet", str(folder), hint) from None
    except OSError as error:
        raise unwritable("store", folder, error) from None


def _locked_file(folder: Path) -> FileIO:
    """Held as long as the store is open."""
    import fcntl
    from io import FileIO

    if not (folder / FILE).is_file():
        hint = "krand mix keygen creates one"
        raise InvalidInput("store", "must be a mixer's store", str(folder), hint)
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    except OSError as error:
        raise unwritable("store", folder, error) from None
    file = FileIO(handle, "r+b")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Unavailable(f"the store {folder} is in use by another process; try again") from None
    return file


def _connected(path: Path, *, create: bool) -> sqlite3.Connection:
    if create:
        make_private(path)
    try:
        return connected(path, *PRAGMAS, seconds=WAIT_SECONDS)
    except sqlite3.DatabaseError as error:
        raise _failure(path, error) from None


def _failure(path: Path, error: sqlite3.DatabaseError) -> KrandError:
    """A disk that is full or fails, which may pass; or a file that is no store."""
    if may_pass(error):
        return Unavailable(f"the store {path} cannot be used now: {error}")
    return InvalidInput("store", "must be a mixer's store", str(path), str(error))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        with transaction(connection):
            yield
    except sqlite3.OperationalError as error:
        raise Unavailable(f"the store cannot be written now: {error}") from None


def _set_fact(connection: sqlite3.Connection, name: str, value: bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
