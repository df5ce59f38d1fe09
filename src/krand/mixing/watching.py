"""A mixer as a service: every batch that appears in a folder is mixed into another one.

A batch is a pair of files, `NAME.batch` and `NAME.chain.json`, which the mixer before this one
has written. It is taken when both files are there and have not changed between two looks. What a
batch becomes is recorded in the store, so a service that was stopped or killed goes on where it
was, and no batch is mixed twice.

A batch that cannot be mixed is named once and left where it is; it is tried again if its files
change. What may pass by itself, such as a full disk, is named once and tried again later. Only the
mixer's own store or anchor can end the service. Names of files and numbers of messages are
reported, and nothing about single messages.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from krand.batches.batch import CHAIN_ENDING, batch_beside, sha256_of_file
from krand.batches.chain import Link, read_chain
from krand.errors import InternalError, InvalidInput, KrandError, Unavailable
from krand.files import CANNOT_WRITE, Exists, Unwritable, ensure_directory
from krand.mixing.mixer import MixedFiles, MixOptions, mix_batch
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan

EVERY_SECONDS, RETRY_SECONDS = 5.0, 60.0

Fingerprint = tuple[tuple[int, int, int], ...]
"""Number, size and time of change of both files: whether they are still the same."""


class Happened(StrEnum):
    """What became of a batch."""

    MIXED = "mixed"
    REFUSED = "refused"
    """It cannot be mixed as it is."""
    WAITING = "waiting"
    """It is tried again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something for the log."""

    happened: Happened
    batch: str
    """The name of the file; empty if no batch is concerned."""
    error: KrandError | None = None
    files: MixedFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """How to watch."""

    mixing: MixOptions = field(default_factory=MixOptions)
    every: float = EVERY_SECONDS
    """Seconds between two looks."""
    retry: float = RETRY_SECONDS
    """Seconds until something is tried again that could not be done."""
    before: Callable[[Link], None] = lambda _: None
    """Told the last link of a batch before it is mixed for the first time; an error prevents it."""


@dataclass(frozen=True, slots=True)
class _Batch:
    data: Path
    chain: Path
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class _Tried:
    """What is known about a batch that needs no attention now."""

    fingerprint: Fingerprint
    again: float | None = None
    """When to try again, by the clock of the process; never, if it is None."""
    reported: str = ""
    """What the log has about it."""


class _Stopped(Exception):
    """The service was told to end while it mixed."""


class Watch:
    """Batches of one folder on their way to another."""

    def __init__(
        self,
        open_store: Callable[[], MixerStore],
        plan: Plan,
        source: Path,
        target: Path,
        report: Callable[[Event], None],
        options: WatchOptions | None = None,
    ) -> None:
        self._open_store, self._plan, self._report = open_store, plan, report
        self._source, self._target = source, target
        self._options = options or WatchOptions()
        self._stop = threading.Event()
        self._seen: dict[str, Fingerprint] = {}
        """At the last look."""
        self._tried: dict[str, _Tried] = {}
        self._reported = ""
        """What the log has about the folder or the store."""
        self._hop = self._checked()

    def stop(self) -> None:
        """End soon; what is being mixed is given up, and nothing of it is visible."""
        self._stop.set()

    def run(self) -> None:
        """Look again and again until stopped."""
        while not self._stop.is_set():
            self.look()
            self._stop.wait(self._options.every)

    def look(self, *, settled: bool = False) -> tuple[Event, ...]:
        """Mix what is there now; `settled` says that no file is being copied any more.

        What happened, also what the log has already.
        """
        try:
            found = {batch.data.name: batch for batch in _batches_in(self._source)}
        except OSError as error:
            reason = f"the folder {self._source} cannot be read now: {_reason(error)}"
            return self._troubled(Unavailable(reason))
        ready = [
            batch
            for name, batch in sorted(found.items())
            if settled or self._seen.get(name) == batch.fingerprint
        ]
        self._seen = {name: batch.fingerprint for name, batch in found.items()}
        self._tried = {name: tried for name, tried in self._tried.items() if name in found}
        return self._all_mixed([batch for batch in ready if self._wants(batch)])

    def _checked(self) -> int:
        """The mixer's place in the chain; mistakes of the operator end the service here."""
        if not self._source.is_dir():
            rule = "must be a folder, into which the mixer before this one writes"
            raise InvalidInput("folder", rule, str(self._source))
        ensure_directory("to", self._target)
        with self._open_store() as store:
            hop = store.keys.hop_in(self._plan)
        if hop == 1:
            hint = "krand release mixes what a collector has received"
            raise InvalidInput("store", "must not be the collector's", "mixer 1", hint)
        return hop

    def _wants(self, batch: _Batch) -> bool:
        """Whether there is anything to do."""
        tried = self._tried.get(batch.data.name)
        if tried is None or tried.fingerprint != batch.fingerprint:
            return True
        return tried.again is not None and time.monotonic() >= tried.again

    def _all_mixed(self, batches: list[_Batch]) -> tuple[Event, ...]:
        if not batches:
            return ()
        try:
            store = self._open_store()
        except Unavailable as error:
            return self._troubled(error)
        events: list[Event] = []
        with store:
            self._reported = ""
            for batch in batches:
                if self._stop.is_set():
                    break
                events += self._tended(store, batch)
        return tuple(events)

    def _tended(self, store: MixerStore, batch: _Batch) -> Iterator[Event]:
        """Mix one batch, whatever it holds, and remember what became of it."""
        try:
            event = self._outcome(store, batch)
        except _Stopped:
            return
        name, error = batch.data.name, str((event and event.error) or "")
        waits = event is not None and event.happened is Happened.WAITING
        again = time.monotonic() + self._options.retry if waits else None
        before, now = self._tried.get(name), _Tried(batch.fingerprint, again, error)
        self._tried[name] = now
        if event is not None:
            if before is None or (before.fingerprint, before.reported) != (now.fingerprint, error):
                self._report(event)
            yield event

    def _outcome(self, store: MixerStore, batch: _Batch) -> Event | None:
        """None if there was nothing to do."""
        try:
            files = self._mixed(store, batch)
        except _Stopped:
            raise
        except Exception as failure:
            if self._stop.is_set() and isinstance(failure, BrokenProcessPool):
                raise _Stopped from None  # the processes were told to end, too
            error, passing = failure_of(failure)
            happened = Happened.WAITING if passing else Happened.REFUSED
            return Event(happened=happened, batch=batch.data.name, error=error)
        if files is None:
            return None
        return Event(happened=Happened.MIXED, batch=batch.data.name, files=files)

    def _mixed(self, store: MixerStore, batch: _Batch) -> MixedFiles | None:
        """None if there was nothing to do: the batch has left, or is for another mixer."""
        links = read_chain(batch.chain)
        if len(links) != self._hop - 1:
            return None
        known = store.mixed(sha256_of_file(batch.data))
        if known is None:
            self._options.before(links[-1].record)
        elif known.published:
            return None
        options = replace(self._options.mixing, progress=self._progress)
        return mix_batch(store, self._plan, batch.data, self._target, options)

    def _progress(self, done: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._options.mixing.progress(done)

    def _troubled(self, error: KrandError) -> tuple[Event, ...]:
        """The folder or the store cannot be used now; the next look tries again."""
        event = Event(happened=Happened.WAITING, batch="", error=error)
        if self._reported != str(error):
            self._reported = str(error)
            self._report(event)
        return (event,)


def _batches_in(folder: Path) -> Iterator[_Batch]:
    """Pairs of ordinary files; a pipe or a device of such a name would block."""
    for chain in folder.iterdir():
        if not chain.name.endswith(CHAIN_ENDING):
            continue
        data = batch_beside(chain)
        try:
            if chain.is_file() and data.is_file():
                yield _Batch(data, chain, (_state(data), _state(chain)))
        except FileNotFoundError:  # it was taken away just now
            continue


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def failure_of(error: Exception) -> tuple[KrandError, bool]:
    """The failure as one of krand's, and whether it may pass by itself."""
    if isinstance(error, KrandError):
        return error, isinstance(error, (Unavailable, Unwritable, Exists))
    if isinstance(error, BrokenProcessPool):
        return Unavailable("a process that opens messages was ended from outside"), True
    if isinstance(error, OSError):
        reason = f"the disk cannot be used now: {_reason(error)}"
        return Unavailable(reason), error.errno in CANNOT_WRITE
    if isinstance(error, sqlite3.OperationalError):
        return Unavailable(f"the store cannot be used now: {error}"), True
    return InternalError(f"{type(error).__name__} while mixing; please report it"), False


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
